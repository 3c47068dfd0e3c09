package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"flowdrive/engine/outbox"
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
	mostTimeout = 10 * time.Minute
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
		return fmt.Errorf("timeout: must be above zero and at most %s", mostTimeout)
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

// tryAgain is the exit status by which a command asks to be run again later
// (EX_TEMPFAIL of sysexits.h).
const tryAgain = 75

// keyVariable is the variable by which a command is told the key of its run:
// the same each time that the run is repeated, as services are told by the
// header Idempotency-Key.
const keyVariable = "IDEMPOTENCY_KEY"

// run runs a command.
func (g *Gateway) run(ctx context.Context, key string, c *outbox.Command) (_ *outbox.Reply, err error) {
	allowed, ok := g.Commands.named[c.Name]
	if !ok {
		return nil, final("%s", g.RefusesCommand(c.Name))
	}
	folder, err := os.MkdirTemp(g.Scratch, "command-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for %s: %w", c.Name, err)
	}
	defer func() {
		// The command has done its work. A folder that stays concerns only the
		// administrator.
		if err := os.RemoveAll(folder); err != nil {
			g.Log.Warn().Err(err).Str("command", c.Name).Msg("commands: could not remove the folder of a run")
		}
	}()
	limited, cancel := context.WithTimeout(ctx, allowed.Timeout)
	defer cancel()
	p := &process{name: c.Name, allowed: allowed}
	p.out = confine.Output{Most: int(allowed.Output), Full: func() { p.full = true; cancel() }}
	cmd := exec.CommandContext(limited, confine.Program)
	cmd.Args = append([]string{"flowdrive"}, g.Confined...)
	seconds := uint64(allowed.Timeout/time.Second) + 1 // for one that outlives the server; the clock is for the others
	cmd.Args = append(cmd.Args, confine.Arguments(confine.Limits{Processor: seconds, Memory: uint64(allowed.Memory)}, allowed.Path, slices.Concat(allowed.Args, c.Args))...)
	cmd.Env = []string{keyVariable + "=" + key} // never nil, which would be the server's, with its secrets
	for _, name := range slices.Sorted(maps.Keys(allowed.Env)) {
		cmd.Env = append(cmd.Env, name+"="+allowed.Env[name])
	}
	cmd.Dir = folder
	cmd.Stdin = bytes.NewReader(c.Input)
	cmd.Stdout, cmd.Stderr = &p.out, &p.errors
	cmd.WaitDelay = g.limits.postMortem
	err = group(cmd)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s was stopped: %w", c.Name, ctx.Err())
	case p.full:
		return nil, final("%s wrote more than the %d bytes that it may", c.Name, allowed.Output)
	case limited.Err() != nil:
		return nil, fmt.Errorf("%s took longer than %s%s", c.Name, allowed.Timeout, said(p.errors.end()))
	}
	return p.ended(cmd, err)
}

// process is a command that ran.
type process struct {
	name    string
	allowed Command
	out     confine.Output
	errors  tail
	full    bool
}

// ended says what became of it. That something it started still holds its
// output when it is over (exec.ErrWaitDelay) is not looked at, nor that it
// did not read its input.
func (p *process) ended(cmd *exec.Cmd, err error) (*outbox.Reply, error) {
	state := cmd.ProcessState
	switch {
	case state == nil && neverStarts(err):
		return nil, final("%s cannot be run: %v", p.name, err)
	case state == nil:
		return nil, fmt.Errorf("%s cannot be run: %w", p.name, err)
	case state.Success():
		return p.reply(), nil
	case state.ExitCode() == tryAgain:
		return nil, fmt.Errorf("%s asks to be run again later%s", p.name, said(p.errors.end()))
	}
	return nil, final("%s ended with %s%s", p.name, state, said(p.errors.end()))
}

func (p *process) reply() *outbox.Reply {
	content := slices.Clone(p.out.Bytes())
	r := &outbox.Reply{MediaType: "text/plain", Content: content}
	switch {
	case json.Valid(content):
		r.MediaType = "application/json"
	case !utf8.Valid(content):
		r.MediaType = "application/octet-stream"
	}
	return r
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	const most = 4 << 10
	t.kept = append(t.kept, p[max(0, len(p)-most):]...)
	t.kept = slices.Delete(t.kept, 0, max(0, len(t.kept)-most))
	return len(p), nil
}

// end returns the last characters, from the beginning of a line if a line
// begins among them.
func (t *tail) end() []byte {
	const most = 200
	text := bytes.TrimSpace(t.kept)
	if len(text) <= most {
		return text
	}
	text = text[len(text)-most:]
	if _, line, found := bytes.Cut(text, []byte("\n")); found {
		return line
	}
	return text
}
