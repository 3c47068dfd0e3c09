package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"flowdrive/cmd/flowdrive/remote"
	"flowdrive/internal/clock"
	"flowdrive/internal/document"
)

// usageError is an error in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// configError says what is wrong with the settings, wherever they were given.
type configError struct{ error }

func (e configError) Unwrap() error { return e.error }

// exitConfig is the exit code for it: EX_CONFIG of sysexits.h.
const exitConfig = 78

// exitCut is the exit code of a server that ended although something was still
// going on: EX_TEMPFAIL of sysexits.h, what supervisors take for a fault that
// passes.
const exitCut = 75

// exitInterrupted is the exit code of a command that a signal has ended, as shells have it.
const exitInterrupted = 130

func exitCode(err error) int {
	if errors.Is(err, errNotChecked) || errors.Is(err, errNotVerified) {
		return 2 // whatever keeps a check from looking, its caller must not take that for a finding
	}
	if _, wrong := errors.AsType[configError](err); wrong {
		return exitConfig
	}
	if _, usage := errors.AsType[usageError](err); usage {
		return 2
	}
	if code, ok := remote.ExitCode(err); ok {
		return code
	}
	if wasCut(err) {
		return exitCut
	}
	return 1
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "flowdrive",
		Short: "A workflow and schedule server that you mount as a network drive",
		Long: "Flowdrive keeps routes, cases, tasks and schedules as files below /dav/.\n" +
			"Every flag of the server can also be set by the environment (FLOWDRIVE_<FLAG>) and in a\n" +
			"YAML file (--config); a flag beats the environment, which beats the file.\n" +
			"\"flowdrive config show\" tells what is set, and where.\n" + listTopics(),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return configure(cmd)
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if refused, is := errors.AsType[*pflag.InvalidValueError](err); is {
			err = fmt.Errorf("--%s: %w", refused.GetFlag().Name, plainly(refused))
		}
		return usageError{err}
	})
	root.PersistentFlags().String("config", "", "YAML file with the values of flags (default: flowdrive/config.yaml in the folder for configuration of the user,\nelse /etc/flowdrive/config.yaml)")
	root.AddCommand(serveCommand(), initCommand(), userCommand(), teamCommand(), scheduleCommand(), routeCommand(), simulateCommand(), configCommand(), doctorCommand(), healthcheckCommand(), backupCommand(), restoreCommand(), copyCommand(), checkCommand(), auditCommand(), manCommand(), versionCommand())
	root.AddCommand(remoteCommands().Commands()...)
	imports := &cobra.Command{Use: "import", Short: "Take over what other programs do"}
	imports.AddCommand(remoteCommands().ImportCommand())
	root.AddCommand(imports)
	root.SetHelpCommand(helpCommand())
	root.Version = version()
	strict(root)
	return root
}

// remoteCommands are the commands that speak to a server as a user of it.
func remoteCommands() *remote.Env {
	return remote.Machine(version(), clock.Real{}.Now, func(err error) error { return usageError{err} })
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
			if !cmd.HasSubCommands() {
				err = fmt.Errorf("%w; %s", err, cmd.UseLine())
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
	// What other programs call it has no letter in common with what it is called here.
	other := map[string]string{"del": "rm", "delete": "rm", "remove": "rm", "create": "add", "new": "add", "edit": "set"}[name]
	if slices.Contains(known, other) {
		return fmt.Errorf("there is no command %q; did you mean %q?", name, other)
	}
	return fmt.Errorf("there is no command %q%s", name, document.Hint(name, known))
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND...|TOPIC]", Short: "Help about a command or a topic", ValidArgsFunction: completeHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if printed, err := printTopic(cmd, args[0]); printed || err != nil {
					return err
				}
			}
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

// completeHelp completes a command, or a topic in the place of the first.
func completeHelp(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	found, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, sub := range found.Commands() {
		if sub.IsAvailableCommand() {
			words = append(words, sub.Name()+"\t"+sub.Short)
		}
	}
	if len(args) == 0 {
		for _, t := range topics() {
			words = append(words, t.name+"\t"+t.about)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
