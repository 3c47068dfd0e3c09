package notify

import (
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
		one := commands[name]
		one.Timeout = orElse(one.Timeout, defaultTimeout)
		one.Memory = orElse(one.Memory, defaultMemory)
		one.Output = orElse(one.Output, defaultOutput)
		if err := one.check(); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
		}
		c.named[name] = one
	}
	return c, errors.Join(faults...)
}

func orElse[T comparable](given, otherwise T) T {
	var zero T
	if given == zero {
		return otherwise
	}
	return given
}

func (c *Command) check() error {
	const leastMemory = 1 << 20
	switch {
	case !filepath.IsAbs(c.Path):
		return fmt.Errorf("path: %q must be absolute", c.Path)
	case c.Timeout < 0 || c.Timeout > mostTimeout:
		return errors.New("timeout: must be above zero and at most 24h")
	case c.Memory < leastMemory:
		return errors.New("memory: must be at least 1MiB")
	case c.Output < 0 || c.Output > mostOutput:
		return errors.New("output: must be above zero and at most 16MiB")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		if name == "" || name == keyVariable || strings.ContainsAny(name, "=\x00") || strings.Contains(c.Env[name], "\x00") {
			return fmt.Errorf("env: %q cannot be a variable", name)
		}
	}
	info, err := os.Stat(c.Path)
	if err != nil {
		return fmt.Errorf("path: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return fmt.Errorf("path: %s is not a program that can be run", c.Path)
	}
	return nil
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
