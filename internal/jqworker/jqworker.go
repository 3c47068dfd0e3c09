// Package jqworker runs jq filters in processes of their own: a filter that a
// stranger wrote can ask for any time and memory, and nothing but the
// operating system can refuse that for every filter there is. Each filter has
// a process, which is this program again, is told nothing but the filter and
// its input, and ends with it.
package jqworker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"syscall"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/confine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route/jq"
)

// What one filter may take.
const (
	processorTime = 1                // second
	memory        = 256 << 20        // bytes
	patience      = 10 * time.Second // for a machine that is busy with other things
	atATime       = 2
)

// job is what a process is sent, and result what it answers.
type job struct {
	Filter string          `json:"filter"`
	Input  json.RawMessage `json:"input"`
	Xattr  json.RawMessage `json:"xattr"`
	Case   json.RawMessage `json:"case"`
}

type result struct {
	Output json.RawMessage `json:"output,omitempty"`
	Fault  string          `json:"fault,omitempty"`
}

// Pool runs filters, a few at a time.
type Pool struct {
	arguments []string // with which this program becomes a worker
	turns     turns
}

// New returns a pool of workers. The arguments are those with which the
// running program calls Serve.
func New(arguments ...string) *Pool {
	return &Pool{arguments: arguments, turns: turns{free: atATime}}
}

// Filter applies a filter for a user or team. Those that wait get their turn one after
// the other, however many filters each has waiting. Faults of the filter, and time or memory beyond its
// limits, are in the result. It returns an error if filters cannot be run at
// all.
func (p *Pool) Filter(ctx context.Context, owner identity.ID, f machine.Filter) (machine.Filtered, error) {
	text, err := json.Marshal(job{
		Filter: f.Filter, Input: json.RawMessage(f.Input), Xattr: json.RawMessage(f.Xattr), Case: json.RawMessage(f.Case),
	})
	if err != nil {
		return machine.Filtered{Fault: "the input is not JSON"}, nil
	}
	if err := p.turns.begin(ctx, owner); err != nil {
		return machine.Filtered{}, unavailable(err)
	}
	defer p.turns.end()
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(limited, confine.Program)
	cmd.Args = append([]string{"flowdrive"}, p.arguments...)
	cmd.Env = []string{"GOMAXPROCS=1", "TZ=UTC"} // no secret of the server's is among them
	cmd.Dir = "/"
	cmd.Stdin = bytes.NewReader(text)
	out := &confine.Output{Most: 2 * jq.MaxJSON}
	cmd.Stdout = out
	err = cmd.Run()
	if ctx.Err() != nil {
		return machine.Filtered{}, unavailable(ctx.Err())
	}
	if err == nil {
		return read(out.Bytes())
	}
	return ended(limited, err)
}

// read reads what a worker answered.
func read(text []byte) (machine.Filtered, error) {
	var r result
	if err := json.Unmarshal(text, &r); err != nil {
		return machine.Filtered{}, unavailable(fmt.Errorf("a jq worker answered %.100q: %w", text, err))
	}
	return machine.Filtered{Output: r.Output, Fault: r.Fault}, nil
}

// ended says why a worker ended without an answer.
func ended(ctx context.Context, err error) (machine.Filtered, error) {
	exit, ran := errors.AsType[*exec.ExitError](err)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) { // it will not be better later
		return machine.Filtered{Fault: "filters cannot be run on this machine: " + confine.Program + " cannot be started"}, nil
	}
	if !ran && ctx.Err() == nil {
		return machine.Filtered{}, unavailable(err)
	}
	if ran {
		status, ok := exit.Sys().(syscall.WaitStatus)
		switch {
		case ok && status.Exited() && status.ExitStatus() == notLimited:
			return machine.Filtered{Fault: "this system cannot limit what a process takes"}, nil
		case ok && status.Exited():
			return machine.Filtered{Fault: fmt.Sprintf("the filter needs more than the %d MiB of memory that it may use", memory>>20)}, nil
		}
	}
	return machine.Filtered{Fault: "the filter takes longer than the second that it may take"}, nil
}

func unavailable(err error) error {
	return &errs.Error{Kind: errs.Unavailable, Detail: "jq filters cannot be run at the moment; try again later.", Err: err}
}

// notLimited is the exit status of a worker that could not bound itself, and
// therefore does nothing.
const notLimited = 3

// Serve is the worker process: it sets its limits, reads a job, and writes the
// result. It returns the exit status of the process.
func Serve(in io.Reader, out io.Writer) (status int) {
	if err := confine.Self(confine.Limits{Processor: processorTime, Memory: memory, ReadOnly: true}); err != nil {
		return notLimited
	}
	var j job
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		return notLimited
	}
	r := run(&j)
	answer := json.NewEncoder(out)
	answer.SetEscapeHTML(false)
	if err := answer.Encode(r); err != nil {
		return 1
	}
	return 0
}

// run runs the filter. That the library panics would be a defect of it, which
// must not look like too much memory.
func run(j *job) (r result) {
	defer func() {
		if p := recover(); p != nil {
			r = result{Fault: clip(fmt.Sprintf("the filter failed: %v", p))}
		}
	}()
	output, err := jq.Run(j.Filter, j.Input, j.Xattr, j.Case)
	if err != nil {
		return result{Fault: clip(err.Error())}
	}
	return result{Output: output}
}

// clip shortens a fault, which may quote a value.
func clip(text string) string { return errs.Clip(text, 300) }
