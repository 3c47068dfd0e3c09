package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"flowdrive/document"
	"flowdrive/errs"
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

// faultLines returns what is wrong with a file, a line each, as compilers
// write it: file:line:column: what.
func faultLines(path string, err error) []string {
	e, ok := errors.AsType[*errs.Error](err)
	if !ok {
		return []string{fmt.Sprintf("%s: %v", path, err)}
	}
	if line, ok := e.Extra["line"]; ok {
		return []string{fmt.Sprintf("%s:%v:%v: %s", path, line, e.Extra["column"], e.Detail)}
	}
	if len(e.Faults) == 0 {
		return []string{fmt.Sprintf("%s: %v", path, err)}
	}
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = faultLine(path, "", f)
	}
	return lines
}

// faultLine returns one fault; note comes before what is wrong.
func faultLine(path, note string, f errs.Fault) string {
	if f.Line > 0 {
		path = fmt.Sprintf("%s:%d:%d", path, f.Line, f.Column)
	}
	if f.Pointer == "" {
		return fmt.Sprintf("%s: %s%s", path, note, f.Detail)
	}
	return fmt.Sprintf("%s: %s%s: %s", path, note, f.Pointer, f.Detail)
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
			return configure(cmd)
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.PersistentFlags().String("config", "", "YAML file with the values of flags")
	root.AddCommand(serveCommand(), userCommand(), teamCommand(), scheduleCommand(), routeCommand(), simulateCommand(), benchCommand(), versionCommand())
	root.SetHelpCommand(helpCommand())
	root.Version = version
	strict(root)
	return root
}

// strict makes every wrong number of arguments and every unknown subcommand a
// usage error. A command that only groups others shows its help.
func strict(cmd *cobra.Command) {
	wanted := cmd.Args
	if !cmd.Runnable() {
		cmd.DisableFlagsInUseLine = true
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		wanted = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownCommand(cmd, args[0])
		}
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if wanted == nil {
			return nil
		}
		if err := wanted(cmd, args); err != nil {
			// The program's name stands before every error anyway.
			if path, below := strings.CutPrefix(cmd.CommandPath(), cmd.Root().Name()+" "); below {
				err = fmt.Errorf("%s: %w", path, err)
			}
			return usageError{err}
		}
		return nil
	}
	for _, sub := range cmd.Commands() {
		strict(sub)
	}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	var known []string
	for _, sub := range cmd.Commands() {
		known = append(known, sub.Name())
	}
	return fmt.Errorf("there is no command %q%s", name, document.Hint(name, known))
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND...]", Short: "Help about a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil {
				return usageError{err}
			}
			if len(rest) > 0 {
				return usageError{unknownCommand(found, rest[0])}
			}
			found.InitDefaultHelpFlag()
			found.InitDefaultVersionFlag()
			return found.Help()
		},
	}
}

const environmentPrefix = "FLOWDRIVE_"

// configure gives every flag that the command line does not set its value
// from the environment or the configuration file. A key of the file that is
// no flag of any command is an error; one file does for all commands.
func configure(cmd *cobra.Command) error {
	flags := cmd.Flags()
	file, err := readConfig(flags, flagNames(cmd.Root()))
	if err != nil {
		return usageError{err}
	}
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || failed != nil {
			return
		}
		name := environmentPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		from := name
		value, ok := os.LookupEnv(name)
		if !ok {
			from = "the configuration file, key " + f.Name
			value, ok = file[f.Name]
		}
		if !ok {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			failed = usageError{fmt.Errorf("%s: %w", from, err)}
		}
	})
	return failed
}

// flagNames returns the names of the flags of the command and of all below
// it.
func flagNames(cmd *cobra.Command) []string {
	var names []string
	add := func(f *pflag.Flag) {
		if f.Name != "config" && f.Name != "help" && f.Name != "version" && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	cmd.Flags().VisitAll(add)
	cmd.PersistentFlags().VisitAll(add)
	for _, sub := range cmd.Commands() {
		for _, name := range flagNames(sub) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// readConfig returns the keys of the configuration file that --config or
// FLOWDRIVE_CONFIG names.
func readConfig(flags *pflag.FlagSet, known []string) (map[string]string, error) {
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
		return nil, errors.New(strings.Join(faultLines(path, err), "\n"))
	}
	if node.Kind == document.Null {
		return nil, nil
	}
	if node.Kind != document.Object {
		return nil, fmt.Errorf("%s: the configuration must be keys with values, not %s", path, node.Kind)
	}
	values := make(map[string]string, len(node.Members))
	for _, m := range node.Members {
		at := fmt.Sprintf("%s:%d:%d", path, m.Value.Line, m.Value.Column)
		if !slices.Contains(known, m.Key) {
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
