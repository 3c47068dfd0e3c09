package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// usageError is an error in the command line or configuration.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// exitCut is the exit code of a server that ended although something was still
// going on: EX_TEMPFAIL of sysexits.h, what supervisors take for a fault that
// passes.
const exitCut = 75

func exitCode(err error) int {
	if _, usage := errors.AsType[usageError](err); usage || errors.Is(err, errNotChecked) {
		return 2
	}
	if wasCut(err) {
		return exitCut
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
	root.AddCommand(serveCommand(), userCommand(), teamCommand(), scheduleCommand(), routeCommand(), simulateCommand(), backupCommand(), restoreCommand(), checkCommand(), versionCommand())
	root.SetHelpCommand(helpCommand())
	root.Version = version()
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
		if failed == nil {
			failed = configureFlag(flags, f, file)
		}
	})
	return failed
}

// configureFlag gives a flag its value from the environment or the file, unless
// the command line has set it.
func configureFlag(flags *pflag.FlagSet, f *pflag.Flag, file *config) error {
	name := environmentPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
	if f.Changed {
		if isSecret(f) {
			return usageError{fmt.Errorf("--%s: every user of the machine can read a command line; give it by %s or in the configuration file", f.Name, name)}
		}
		return nil
	}
	if value, ok := os.LookupEnv(name); ok {
		return setFlag(flags, f, name, value)
	}
	return file.set(flags, f)
}

// setFlag gives a flag a value from elsewhere than the command line. The
// library quotes a value that it refuses; a secret must not be shown.
func setFlag(flags *pflag.FlagSet, f *pflag.Flag, from, value string) error {
	set := func() error { return flags.Set(f.Name, value) }
	if isSecret(f) {
		set = func() error { return f.Value.Set(value) }
	}
	if err := set(); err != nil {
		return usageError{fmt.Errorf("%s: %w", from, err)}
	}
	return nil
}

func isSecret(f *pflag.Flag) bool {
	s, ok := f.Value.(interface{ isSecret() bool })
	return ok && s.isSecret()
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

// config is a configuration file; nil stands for no file.
type config struct {
	path   string
	values map[string]*document.Node
}

// readConfig returns the configuration file that --config or FLOWDRIVE_CONFIG
// names.
func readConfig(flags *pflag.FlagSet, known []string) (*config, error) {
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
	c := &config{path: path, values: make(map[string]*document.Node, len(node.Members))}
	for _, m := range node.Members {
		if !slices.Contains(known, m.Key) {
			return nil, fmt.Errorf("%s: %q is not a known key%s", c.place(m.Value), m.Key, document.Hint(m.Key, known))
		}
		c.values[m.Key] = m.Value
	}
	return c, nil
}

func (c *config) place(n *document.Node) string {
	return fmt.Sprintf("%s:%d:%d", c.path, n.Line, n.Column)
}

// set gives a flag the value that the file has for it.
func (c *config) set(flags *pflag.FlagSet, f *pflag.Flag) error {
	if c == nil || c.values[f.Name] == nil {
		return nil
	}
	node := c.values[f.Name]
	if m, ok := f.Value.(*mapFlag); ok {
		if err := m.take(node, c.path); err != nil {
			return usageError{fmt.Errorf("%s: %q %w", c.place(node), f.Name, err)}
		}
		return nil
	}
	var text string
	switch node.Kind {
	case document.String, document.Number:
		text = node.Text
	case document.Bool:
		text = fmt.Sprint(node.Bool)
	case document.List:
		items := make([]string, len(node.Items))
		for i, item := range node.Items {
			items[i] = item.Text
		}
		text = strings.Join(items, ",")
	case document.Null, document.Object:
		return usageError{fmt.Errorf("%s: %q must be a single value or a list", c.place(node), f.Name)}
	}
	return setFlag(flags, f, "the configuration file, key "+f.Name, text)
}
