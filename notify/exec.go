package notify

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"flowdrive/internal/confine"
	"flowdrive/internal/document"
)

// Command is a program that routes may run, with its limits.
type Command struct {
	Path    string   // absolute
	Args    []string // they come before those of the route
	Env     map[string]string
	Hidden  []string // names in Env whose values must not be told
	Timeout time.Duration
	Memory  int64 // bytes, of each of its processes
	Output  int64 // bytes
}

// The limits of a command if the administrator sets none.
const (
	defaultTimeout = 30 * time.Second
	defaultMemory  = 256 << 20
	defaultOutput  = 1 << 20
)

// The most that an administrator may allow.
const (
	mostTimeout = 24 * time.Hour
	mostOutput  = 16 << 20
)

// Commands are what routes may run, each by its name.
type Commands struct{ named map[string]Command }

// CheckCommands returns the commands, with defaults for what is zero. All
// faults are in one error.
func CheckCommands(commands map[string]Command) (Commands, error) {
	c := Commands{named: map[string]Command{}}
	var faults []error
	if len(commands) > 0 {
		faults = append(faults, confine.Supported())
	}
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		one := commands[name].withDefaults()
		for _, wrong := range one.Refuses() {
			faults = append(faults, fmt.Errorf("%s: %s: %s", name, wrong.Part, wrong.Detail))
		}
		c.named[name] = one
	}
	return c, errors.Join(faults...)
}

func (c Command) withDefaults() Command {
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	c.Memory = cmp.Or(c.Memory, defaultMemory)
	c.Output = cmp.Or(c.Output, defaultOutput)
	return c
}

// Refuses returns what is wrong with a command. What is zero has its default.
func (c Command) Refuses() (wrong []Refusal) {
	const leastMemory = 1 << 20
	refuse := func(part, format string, args ...any) {
		wrong = append(wrong, Refusal{part, fmt.Sprintf(format, args...)})
	}
	c = c.withDefaults()
	switch info, err := os.Stat(c.Path); {
	case !filepath.IsAbs(c.Path):
		refuse("path", "%q must be absolute", c.Path)
	case err != nil:
		refuse("path", "%v", err)
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		refuse("path", "%s is not a program that can be run", c.Path)
	}
	if c.Timeout < 0 || c.Timeout > mostTimeout {
		refuse("timeout", "must be above zero and at most 24h")
	}
	if c.Memory < leastMemory {
		refuse("memory", "must be at least 1MiB")
	}
	if c.Output < 0 || c.Output > mostOutput {
		refuse("output", "must be above zero and at most 16MiB")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		if name == "" || name == keyVariable || strings.ContainsAny(name, "=\x00") || strings.Contains(c.Env[name], "\x00") {
			refuse("env", "%q cannot be a variable", name)
		}
	}
	return wrong
}

// RefusesCommand implements engine.Outside.
func (g *Gateway) RefusesCommand(name string) string {
	if _, ok := g.Commands.named[name]; ok {
		return ""
	}
	known := slices.Sorted(maps.Keys(g.Commands.named))
	return fmt.Sprintf("routes may not run %q%s; an administrator allows it with the setting commands", name, document.Hint(name, known))
}

// keyVariable is the variable by which a command is told the key of its run:
// the same each time that the run is repeated, as services are told by the
// header Idempotency-Key.
const keyVariable = "IDEMPOTENCY_KEY"
