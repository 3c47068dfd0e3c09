package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"flowdrive/cmd/flowdrive/output"
	"flowdrive/cmd/flowdrive/remote"
	"flowdrive/internal/document"
)

const (
	environmentPrefix = "FLOWDRIVE_"
	fileSuffix        = "_FILE" // of a variable that names the file with the value

	// credentialsVariable names the folder in which systemd puts credentials
	// (systemd.exec(5), LoadCredential=), stateVariable the one for data (StateDirectory=).
	credentialsVariable = "CREDENTIALS_DIRECTORY"
	stateVariable       = "STATE_DIRECTORY"

	systemConfig = "/etc/flowdrive/config.yaml"

	// origin is the annotation of a flag that says where its value comes from.
	origin          = "flowdrive-origin"
	fromCommandLine = "command line"
)

// configure gives every flag that the command line does not set its value from the
// environment, a credential or the configuration file, in this order, and notes on each
// where it comes from. A key of the file that is not a flag of any command is a fault; one
// file does for all commands. It returns every fault.
func configure(cmd *cobra.Command) error { return configureFlags(cmd.Flags(), flagNames(cmd.Root())) }

// configureFlags does what configure does; known are the keys that the file may have.
func configureFlags(flags *pflag.FlagSet, known []string) error {
	file, wrong := readConfig(flags, known)
	wrong = errors.Join(wrong, keptFaults(flags))
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "config" {
			return
		}
		from, err := configureFlag(flags, f, file)
		wrong = errors.Join(wrong, err)
		if err := flags.SetAnnotation(f.Name, origin, []string{from}); err != nil {
			wrong = errors.Join(wrong, err)
		}
	})
	if wrong != nil {
		return configError{wrong}
	}
	return nil
}

// configureFlag gives a flag its value unless the command line has set it, and returns
// where the value comes from.
func configureFlag(flags *pflag.FlagSet, f *pflag.Flag, file *config) (from string, err error) {
	name := variableOf(f)
	if f.Changed {
		if isSecret(f) {
			return "", fmt.Errorf("--%s: every user of the machine can read a command line; give it by %s or in the configuration file", f.Name, name)
		}
		return fromCommandLine, nil
	}
	value, set := os.LookupEnv(name)
	path, inFile := "", false
	if !hasFileFlag(flags, f) {
		path, inFile = os.LookupEnv(name + fileSuffix)
	}
	credential := os.Getenv(credentialsVariable)
	switch {
	case set && inFile:
		return "", fmt.Errorf("%s and %s%s: give one of them", name, name, fileSuffix)
	case set:
		return name, setFlag(flags, f, name, value)
	case inFile:
		text, err := readSecretFile(path)
		if err != nil {
			return "", fmt.Errorf("%s%s: %w", name, fileSuffix, err)
		}
		return name + fileSuffix, setFlag(flags, f, name+fileSuffix, text)
	case credential != "":
		text, err := readSecretFile(filepath.Join(credential, f.Name))
		if err == nil {
			from := "credential " + f.Name
			return from, setFlag(flags, f, from, text)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("credential %s: %w", f.Name, err)
		}
	}
	if node := file.value(f.Name); node != nil {
		return file.place(node), file.set(flags, f, node)
	}
	if state := os.Getenv(stateVariable); f.Name == "data" && state != "" {
		first, _, _ := strings.Cut(state, ":")
		return stateVariable, setFlag(flags, f, stateVariable, first)
	}
	return "default", nil
}

// variableOf returns the name of the variable of a flag.
func variableOf(f *pflag.Flag) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// hasFileFlag reports whether a flag of its own names the file with the value of this
// one, as --smtp-password-file does.
func hasFileFlag(flags *pflag.FlagSet, f *pflag.Flag) bool {
	return flags.Lookup(f.Name+"-file") != nil
}

// setFlag gives a flag a value from elsewhere than the command line. The
// library quotes a value that it refuses; a secret must not be shown.
func setFlag(flags *pflag.FlagSet, f *pflag.Flag, from, value string) error {
	set := func() error { return flags.Set(f.Name, value) }
	if isSecret(f) {
		set = func() error { return f.Value.Set(value) }
	}
	if err := plainly(set()); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return nil
}

// plainly says in words of people what the library says of a value that a flag has refused.
func plainly(err error) error {
	if refused, is := errors.AsType[*pflag.InvalidValueError](err); is {
		return fmt.Errorf("%q: %s", refused.GetValue(), mustBe(refused.Unwrap()))
	}
	return err
}

// keeper is the value of a setting while the command line is read. The library ends at the
// first value that is refused; this keeps what is wrong, so that all faults are told
// together with those of the environment and the file.
type keeper struct {
	pflag.Value
	refused string // the last text that was refused
	wrong   error
}

// Set implements pflag.Value.
func (k *keeper) Set(text string) error {
	if k.wrong = k.Value.Set(text); k.wrong != nil {
		k.refused = text
	}
	return nil
}

// keepFaults makes the flags take every value until keptFaults is called. Lists and secrets
// are left as they are: the library knows lists by their types, and a secret is refused on
// the command line whatever it is.
func keepFaults(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if _, list := f.Value.(pflag.SliceValue); !list && f.Value.Type() != "string" && !isSecret(f) {
			f.Value = &keeper{Value: f.Value}
		}
	})
}

// keptFaults gives the flags their values back, and returns what was refused.
func keptFaults(flags *pflag.FlagSet) error {
	var wrong error
	flags.VisitAll(func(f *pflag.Flag) {
		k, is := f.Value.(*keeper)
		if !is {
			return
		}
		f.Value = k.Value
		if k.wrong != nil {
			wrong = errors.Join(wrong, fmt.Errorf("--%s: %q: %s", f.Name, k.refused, mustBe(k.wrong)))
		}
	})
	return wrong
}

// mustBe says what a value must be that a flag has refused.
func mustBe(cause error) string {
	number, is := errors.AsType[*strconv.NumError](cause)
	switch {
	case is && number.Func == "ParseBool":
		return "must be true or false"
	case is && errors.Is(number.Err, strconv.ErrRange):
		return "is too large a number"
	case is:
		return "must be a whole number"
	}
	return cause.Error()
}

func isSecret(f *pflag.Flag) bool {
	s, ok := f.Value.(interface{ isSecret() bool })
	return ok && s.isSecret()
}

// flagNames returns the names of the flags of the command and of all below
// it.
func flagNames(cmd *cobra.Command) []string {
	var names []string
	if _, is := cmd.Annotations[remote.Annotation]; is {
		return nil // those of a client are not settings
	}
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

// otherVariables are those that are no setting.
var otherVariables = []string{"FLOWDRIVE_CONFIG", "FLOWDRIVE_ADMIN_PASSWORD", "FLOWDRIVE_ADMIN_PASSWORD_FILE", "FLOWDRIVE_URL", "FLOWDRIVE_USER", "FLOWDRIVE_PASSWORD", "FLOWDRIVE_PROFILE", "FLOWDRIVE_CACERT"}

// unknownVariables returns a sentence for each variable of the environment that looks like
// a setting and is none, in the order of their names.
func unknownVariables(root *cobra.Command, environment []string) []string {
	known := slices.Clone(otherVariables)
	for _, name := range flagNames(root) {
		variable := variableOf(&pflag.Flag{Name: name})
		known = append(known, variable, variable+fileSuffix)
	}
	var unknown []string
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, environmentPrefix) && !strings.HasPrefix(name, secretVariable) && !slices.Contains(known, name) {
			unknown = append(unknown, fmt.Sprintf("%s is not a known setting%s", name, document.Hint(name, known)))
		}
	}
	slices.Sort(unknown)
	return unknown
}

// config is a configuration file; nil stands for no file.
type config struct {
	path   string
	values map[string]*document.Node
}

// configPath returns the configuration file that --config or FLOWDRIVE_CONFIG names, else
// that of the user, else that of the system, "" for none. Only commands that have a data
// folder look for one that nobody has named: a client may not be allowed to read it.
func configPath(flags *pflag.FlagSet) (path string, err error) {
	if path, err = flags.GetString("config"); err != nil || path != "" {
		return path, err
	}
	if path = os.Getenv(environmentPrefix + "CONFIG"); path != "" {
		return path, nil
	}
	if flags.Lookup("data") == nil {
		return "", nil
	}
	places := []string{systemConfig}
	if folder, err := os.UserConfigDir(); err == nil {
		places = []string{filepath.Join(folder, "flowdrive", "config.yaml"), systemConfig}
	}
	for _, path := range places {
		switch _, err := os.Stat(path); {
		case err == nil:
			return path, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("look for the configuration: %w", err)
		}
	}
	return "", nil
}

// readConfig returns the configuration file, and every fault of its form.
func readConfig(flags *pflag.FlagSet, known []string) (*config, error) {
	path, err := configPath(flags)
	if path == "" || err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	node, err := document.ParseYAML(data)
	if err != nil {
		return nil, errors.New(strings.Join(output.FaultLines(path, err), "\n"))
	}
	if node.Kind == document.Null {
		return nil, nil
	}
	if node.Kind != document.Object {
		return nil, fmt.Errorf("%s: the configuration must be keys with values, not %s", path, node.Kind)
	}
	c := &config{path: path, values: make(map[string]*document.Node, len(node.Members))}
	var wrong error
	for _, m := range node.Members {
		if !slices.Contains(known, m.Key) {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %q is not a known key%s", c.place(m.Value), m.Key, document.Hint(m.Key, known)))
		}
		c.values[m.Key] = m.Value
	}
	return c, wrong
}

func (c *config) place(n *document.Node) string {
	return fmt.Sprintf("%s:%d:%d", c.path, n.Line, n.Column)
}

// value returns what the file has for a key, nil for nothing.
func (c *config) value(key string) *document.Node {
	if c == nil {
		return nil
	}
	return c.values[key]
}

// set gives a flag the value that the file has for it.
func (c *config) set(flags *pflag.FlagSet, f *pflag.Flag, node *document.Node) error {
	if m, ok := f.Value.(*mapFlag); ok {
		if err := m.take(node, c.path); err != nil {
			return fmt.Errorf("%s: %q %w", c.place(node), f.Name, err)
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
			if item.Kind == document.List || item.Kind == document.Object || item.Kind == document.Null {
				return fmt.Errorf("%s: %q must be a single value or a list of values", c.place(item), f.Name)
			}
			items[i] = item.Text
		}
		text = strings.Join(items, ",")
	case document.Null, document.Object:
		return fmt.Errorf("%s: %q must be a single value or a list", c.place(node), f.Name)
	}
	return setFlag(flags, f, c.place(node)+": "+f.Name, text)
}
