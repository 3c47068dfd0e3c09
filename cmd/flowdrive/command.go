package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"flowdrive/document"
)

// usageError is an error in the command line or configuration.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func exitCode(err error) int {
	if _, usage := errors.AsType[usageError](err); usage {
		return 2
	}
	return 1
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "flowdrive",
		Short: "A workflow and schedule server that you mount as a network drive",
		Long: "Flowdrive keeps routes, cases, tasks and schedules as files below /dav/.\n" +
			"Every flag can also be set by the environment (FLOWDRIVE_<FLAG>) and in a\n" +
			"YAML file (--config); a flag beats the environment, which beats the file.",
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return configure(cmd.Flags())
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.PersistentFlags().String("config", "", "YAML file with the values of flags")
	root.AddCommand(serveCommand(), userCommand(), teamCommand(), scheduleCommand(), routeCommand(), versionCommand())
	return root
}

const environmentPrefix = "FLOWDRIVE_"

// configure gives every flag that the command line does not set its value
// from the environment or the configuration file. A key of the file that is
// no flag of the command is an error.
func configure(flags *pflag.FlagSet) error {
	file, err := readConfig(flags)
	if err != nil {
		return usageError{err}
	}
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || failed != nil {
			return
		}
		name := environmentPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, from := "", ""
		if v, ok := os.LookupEnv(name); ok {
			value, from = v, name
		} else if v, ok := file[f.Name]; ok {
			value, from = v, "the configuration file, key "+f.Name
		} else {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			failed = usageError{fmt.Errorf("%s: %w", from, err)}
		}
	})
	return failed
}

// readConfig returns the keys of the configuration file that --config or
// FLOWDRIVE_CONFIG names.
func readConfig(flags *pflag.FlagSet) (map[string]string, error) {
	path, err := flags.GetString("config")
	if err != nil {
		return nil, err
	}
	if path == "" {
		path = os.Getenv(environmentPrefix + "CONFIG")
	}
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	node, err := document.ParseYAML(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if node.Kind == document.Null {
		return nil, nil
	}
	if node.Kind != document.Object {
		return nil, fmt.Errorf("%s: the configuration must be keys with values, not %s", path, node.Kind)
	}
	var known []string
	flags.VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	values := make(map[string]string, len(node.Members))
	for _, m := range node.Members {
		at := fmt.Sprintf("%s:%d:%d", path, m.Value.Line, m.Value.Column)
		if flags.Lookup(m.Key) == nil || m.Key == "config" {
			return nil, fmt.Errorf("%s: %q is not a known key%s", at, m.Key, document.Hint(m.Key, known))
		}
		switch m.Value.Kind {
		case document.String, document.Number:
			values[m.Key] = m.Value.Text
		case document.Bool:
			values[m.Key] = fmt.Sprint(m.Value.Bool)
		case document.List:
			items := make([]string, len(m.Value.Items))
			for i, item := range m.Value.Items {
				items[i] = item.Text
			}
			values[m.Key] = strings.Join(items, ",")
		case document.Null, document.Object:
			return nil, fmt.Errorf("%s: %q must be a single value or a list", at, m.Key)
		}
	}
	return values, nil
}
