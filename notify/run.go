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
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/propagation"

	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/confine"
)

// mostStarts is how often a command is started whose process ends before it becomes
// the command: that one has not run.
const mostStarts = 3

// run runs a command. How it ends is final; whether it is run again is for its step
// to say.
func (g *Gateway) run(ctx context.Context, d *outbox.Delivery, secrets *hidden) (*outbox.Reply, error) {
	c := d.Exec
	allowed, ok := g.Commands.named[c.Name]
	if !ok {
		return nil, final("%s", g.RefusesCommand(c.Name))
	}
	for starts := 1; ; starts++ {
		p := &process{name: c.Name, allowed: allowed, discards: c.Discards, stdout: tail{hidden: secrets}, stderr: tail{hidden: secrets}}
		cmd, err := g.once(ctx, d, p)
		if errors.Is(err, errNotBecome) && starts < mostStarts && ctx.Err() == nil && cmd.ProcessState.ExitCode() != confine.NotBecome {
			continue
		}
		reply, failure := p.ended(ctx, cmd, err)
		if failure != nil {
			failure.Output = p.said()
			return nil, failure
		}
		return reply, nil
	}
}

// errNotBecome is the error of a process that ended before it became the command.
var errNotBecome = errors.New("it could not be started")

// once starts a command, waits for its end, and has told by then what it wrote.
func (g *Gateway) once(ctx context.Context, d *outbox.Delivery, p *process) (*exec.Cmd, error) {
	c := d.Exec
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
	limited, cancel := context.WithTimeout(ctx, p.allowed.Timeout)
	defer cancel()
	p.out = confine.Output{Most: int(p.allowed.Output), Full: func() { p.full = true; cancel() }}
	cmd := exec.CommandContext(limited, confine.Program)
	cmd.Args = append([]string{"flowdrive"}, g.Confined...)
	seconds := uint64(p.allowed.Timeout/time.Second) + 1 // for one that outlives the server; the clock is for the others
	family := g.guardian.family()
	unwatched := func(err error) {
		g.Log.Warn().Err(err).Msg("commands: what they start may go on if the server is killed")
	}
	if err := g.guardian.watch(g.Confined, unwatched); err != nil {
		unwatched(err)
	}
	limits := confine.Limits{Processor: seconds, Memory: uint64(p.allowed.Memory), Family: family}
	cmd.Args = append(cmd.Args, confine.Arguments(limits, p.allowed.Path, slices.Concat(p.allowed.Args, c.Args))...)
	cmd.Env = []string{keyVariable + "=" + d.Key} // never nil, which would be the server's, with its secrets
	traced := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, traced)
	for _, name := range slices.Sorted(maps.Keys(traced)) {
		cmd.Env = append(cmd.Env, strings.ToUpper(name)+"="+traced[name])
	}
	for _, name := range slices.Sorted(maps.Keys(p.allowed.Env)) {
		cmd.Env = append(cmd.Env, name+"="+p.allowed.Env[name])
	}
	cmd.Dir = folder
	cmd.Stdin = bytes.NewReader(c.Input)
	cmd.Stdout, cmd.Stderr = stdout{p}, &p.stderr
	cmd.WaitDelay = g.limits.postMortem
	follow := p.follow(d.Wrote, g.limits.follow)
	err = group(cmd, p.allowed.Path, family)
	follow()
	p.late = errors.Is(limited.Err(), context.DeadlineExceeded)
	return cmd, err
}

// process is a command that runs, or ran.
type process struct {
	name     string
	allowed  Command
	discards bool // its output is nobody's answer
	late     bool // it took longer than it may
	out      confine.Output
	full     bool // it wrote more than it may
	stdout   tail
	stderr   tail
}

// stdout is what a command writes to: as an answer, which is kept as a whole, and
// for people, of whom the end is kept.
type stdout struct{ p *process }

// Write implements io.Writer.
func (s stdout) Write(b []byte) (int, error) {
	n, err := s.p.stdout.Write(b)
	if !s.p.discards {
		return s.p.out.Write(b)
	}
	return n, err
}

// follow tells from time to time what the process has written, if there is something
// new, and once more when the function that it returns is called.
func (p *process) follow(wrote func(outbox.Output), every time.Duration) (end func()) {
	if wrote == nil {
		return func() {}
	}
	told := int64(0)
	tell := func() {
		out, n := p.stdout.copied()
		errors, m := p.stderr.copied()
		if n+m > told {
			told = n + m
			wrote(outbox.Output{Stdout: out, Stderr: errors})
		}
	}
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(every) //nolint:forbidigo // what a running command writes is looked at now and then, on the machine's time
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				tell()
			case <-over:
				tell()
				return
			}
		}
	}()
	return func() { close(over); <-done }
}

// ended says what became of a command. That something it started still holds its
// output when it is over (exec.ErrWaitDelay) is not looked at, nor that it did not
// read its input.
func (p *process) ended(ctx context.Context, cmd *exec.Cmd, err error) (*outbox.Reply, *outbox.Failed) {
	fault := func(format string, args ...any) *outbox.Failed {
		return &outbox.Failed{Kind: machine.FailureFault, Err: final(format, args...)}
	}
	switch {
	case ctx.Err() != nil:
		return nil, &outbox.Failed{Kind: machine.FailureFault, Err: fmt.Errorf("%s was stopped: %w", p.name, ctx.Err())}
	case p.full:
		return nil, fault("%s wrote more than the %d bytes that a step may take of it by into (output of the command in the settings)", p.name, p.allowed.Output)
	case p.late:
		return nil, &outbox.Failed{Kind: machine.FailureTimeout, Err: final("%s took longer than %s%s", p.name, short(p.allowed.Timeout), said(p.stderr.end()))}
	case cmd == nil || cmd.ProcessState == nil:
		return nil, fault("%s cannot be run: %v", p.name, err)
	case errors.Is(err, errNotBecome):
		return nil, fault("%s could not be started%s", p.name, said(p.stderr.end()))
	}
	state := cmd.ProcessState
	if state.Success() {
		return p.reply(), nil
	}
	f := &outbox.Failed{Kind: machine.FailureExit, Status: int64(state.ExitCode())}
	if number := signalOf(state); number != 0 {
		f.Kind, f.Status = machine.FailureSignal, number
	}
	f.Err = final("%s ended with %s%s", p.name, state, said(p.stderr.end()))
	return nil, f
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

// said returns the end of what the command wrote, of stderr if it wrote there.
func (p *process) said() string {
	text := bytes.TrimSpace(p.stderr.last(outbox.MostTold))
	if len(text) == 0 {
		text = bytes.TrimSpace(p.stdout.last(outbox.MostTold))
	}
	return string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
}

// tail keeps the end of what is written to it. It is safe for concurrent use.
type tail struct {
	hidden  *hidden // what must not be told of it
	mu      sync.Mutex
	kept    []byte
	written int64
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	const most = outbox.MostKept
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written += int64(len(p))
	t.kept = append(t.kept, p[max(0, len(p)-most):]...)
	if len(t.kept) > 2*most { // not at each line that is written
		t.kept = slices.Delete(t.kept, 0, len(t.kept)-most)
	}
	return len(p), nil
}

// copied returns what is kept, without what must not be told, and how much was written
// in all.
func (t *tail) copied() ([]byte, int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := slices.Clone(t.kept[max(0, len(t.kept)-outbox.MostKept):])
	return t.hidden.piece(kept, t.written > int64(len(kept))), t.written
}

// last returns at most so many of the last bytes.
func (t *tail) last(most int) []byte {
	kept, _ := t.copied()
	return kept[max(0, len(kept)-most):]
}

// end returns the last characters, from the beginning of a line if a line
// begins among them.
func (t *tail) end() []byte {
	const most = 200
	kept, _ := t.copied()
	text := bytes.TrimSpace(kept)
	if len(text) <= most {
		return text
	}
	text = text[len(text)-most:]
	if _, line, found := bytes.Cut(text, []byte("\n")); found {
		return line
	}
	return text
}

// short writes a duration without units that are zero: "2h" for 2h0m0s.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
