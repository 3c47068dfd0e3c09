package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"flowdrive/internal/document"
	"flowdrive/store/postgres"
)

// hidden stands for what is not shown.
const hidden = "…"

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and check the settings of the server",
		// The commands read the settings themselves, to say everything that is wrong.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(configShowCommand(), configCheckCommand())
	return cmd
}

func configShowCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print every setting, its value, and where it comes from",
		Long: "Prints a line for each setting of \"serve\": its key, the value that is in force, and\n" +
			"behind # where it comes from. Secrets are not shown. The lines are YAML, so that they can\n" +
			"begin a configuration file. Exits with 78 if a setting is wrong.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			wrong := s.faults(cmd)
			s.fillIn()
			return errors.Join(writeSettings(cmd.OutOrStdout(), cmd.Flags()), wrong)
		},
	}
	s.register(cmd.Flags())
	return cmd
}

func configCheckCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check the settings without starting the server",
		Long: "Checks the command line, the environment and the configuration file as \"serve\" would,\n" +
			"and prints every fault with its place. A variable FLOWDRIVE_… that is not a setting is a\n" +
			"fault here, and so is FLOWDRIVE_ADMIN_PASSWORD if the first start would not take it.\n" +
			"FILE is a configuration file, as --config names it. Nothing is made or changed. Exits\n" +
			"with 0 if all is well, else with 78.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if err := cmd.Flags().Set("config", args[0]); err != nil {
					return err
				}
			}
			wrong := s.faults(cmd)
			if err := placed(cmd.Flags(), s.certificateErr()); err != nil && wrong == nil {
				wrong = err
			}
			wrong = errors.Join(wrong, placed(cmd.Flags(), s.backup.folderErr(s.data)))
			for _, text := range unknownVariables(cmd.Root(), os.Environ()) {
				wrong = errors.Join(wrong, configError{errors.New(text)})
			}
			if fault := s.adminPasswordFault(); fault != "" {
				wrong = errors.Join(wrong, configError{errors.New(fault)})
			}
			if wrong != nil {
				return wrong
			}
			if text := readableSecrets(cmd.Flags()); text != "" {
				if _, err := fmt.Fprintln(cmd.ErrOrStderr(), "warning: "+text); err != nil {
					return err
				}
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "The settings are in order.")
			return err
		},
	}
	s.register(cmd.Flags())
	return cmd
}

// adminPasswordFault says what the first start would find wrong with the password of
// admin; "" if it would not look at it, because there are users already, or in a sandbox.
// Whether a database on PostgreSQL has users is not asked.
func (s *settings) adminPasswordFault() string {
	if s.sandbox != "" || s.database.address != "" {
		return ""
	}
	if _, err := os.Stat(filepath.Join(s.data, databaseName)); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return adminPasswordFault()
}

// faults reads the settings and returns everything that is wrong with them, in the order of
// the configuration file.
func (s *settings) faults(cmd *cobra.Command) error {
	err := errors.Join(configure(cmd), placed(cmd.Flags(), s.validate()))
	if _, wrong := errors.AsType[configError](err); !wrong {
		return err
	}
	lines := strings.Split(err.Error(), "\n")
	slices.SortStableFunc(lines, func(a, b string) int { return slices.Compare(placeIn(a), placeIn(b)) })
	return configError{errors.New(strings.Join(lines, "\n"))}
}

var placeInText = regexp.MustCompile(`^.+?:(\d+):(\d+): `)

// placeIn returns the line and the column with which a text begins. What has none comes last.
func placeIn(text string) []int {
	found := placeInText.FindStringSubmatch(text)
	if found == nil {
		return []int{math.MaxInt}
	}
	line, err := strconv.Atoi(found[1])
	column, also := strconv.Atoi(found[2])
	if err != nil || also != nil {
		return []int{math.MaxInt}
	}
	return []int{line, column}
}

var flagInText = regexp.MustCompile(`--([a-z][a-z-]*)`)

// placed puts before each line of an error the place in the configuration file that has
// the first of the settings which the line names.
func placed(flags *pflag.FlagSet, err error) error {
	if err == nil {
		return nil
	}
	var lines []error
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimRight(line, "\n")
		lines = append(lines, errors.New(placeOf(flags, line)+line))
	}
	return configError{errors.Join(lines...)}
}

// placeOf returns the place with a colon behind it, "" for none.
func placeOf(flags *pflag.FlagSet, line string) string {
	for _, named := range flagInText.FindAllStringSubmatch(line, -1) {
		if f := flags.Lookup(named[1]); f != nil {
			if from := originOf(f); strings.Contains(from, ":") {
				return from + ": "
			}
		}
	}
	return ""
}

func originOf(f *pflag.Flag) string {
	if from := f.Annotations[origin]; len(from) == 1 && from[0] != "" {
		return from[0]
	}
	return "default"
}

// writeSettings writes a line for each setting, by name.
func writeSettings(out io.Writer, flags *pflag.FlagSet) error {
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "config" || f.Name == "help" || err != nil {
			return
		}
		_, err = fmt.Fprintf(out, "%s: %s # %s\n", f.Name, shown(f), originOf(f))
	})
	return err
}

// shown returns the value of a setting as YAML on one line, without what is secret.
func shown(f *pflag.Flag) string {
	switch v := f.Value.(type) {
	case *mapFlag:
		return v.shown()
	case *secretFlag:
		if v.text == "" {
			return `""`
		}
		return hidden
	case pflag.SliceValue:
		items := v.GetSlice()
		for i, item := range items {
			items[i] = plainYAML(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	text := f.Value.String()
	if f.Value.Type() != "string" && text != "" {
		return text
	}
	return plainYAML(withoutPassword(f.Name, text))
}

// shown returns the keys of a map, or how many values a list has: the values may contain
// secrets.
func (m *mapFlag) shown() string {
	if m.node == nil || m.node.Kind == document.Null {
		if m.list {
			return "[]"
		}
		return "{}"
	}
	var parts []string
	for _, member := range m.node.Members {
		parts = append(parts, plainYAML(member.Key)+": "+hidden)
	}
	for range m.node.Items {
		parts = append(parts, hidden)
	}
	if m.list {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// withoutPassword hides what may be secret in a URL: a password, and the path and query of
// an address of the web, as those of webhooks contain their key. The address of a database is
// shown only as far as it can be read as one: others have their password elsewhere.
func withoutPassword(flag, text string) string {
	u, err := url.Parse(text)
	if (flag == "db" || flag == "db-direct") && text != "" && (err != nil || !postgres.IsAddress(text)) {
		return postgres.Redacted(text)
	}
	if err != nil || u.Scheme == "" || u.Host == "" {
		return text
	}
	user := u.User.Username()
	if _, has := u.User.Password(); has {
		user += ":" + hidden
	}
	if user != "" {
		user += "@"
	}
	rest := ""
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		rest = "/" + hidden
	}
	return u.Scheme + "://" + user + u.Host + rest
}

// plainYAML returns a text as a scalar of YAML: plain if it is read as the same text, else
// quoted.
func plainYAML(text string) string {
	node, err := document.ParseYAML([]byte("[" + text + "]"))
	if err == nil && node.Kind == document.List && len(node.Items) == 1 && node.Items[0].Kind == document.String && node.Items[0].Text == text {
		return text
	}
	return string(document.AppendString(nil, text))
}
