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
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/confine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route/jq"
)

// What one filter may take beside memory.
const (
	processorTime = 1                // second
	patience      = 10 * time.Second // for a machine that is busy with other things
)

// Share is how much memory filters may take together.
type Share struct {
	Each    uint64 // bytes of the process of a filter, LeastEach at least
	AtATime int
}

// How much memory a filter may take. A process of the Go runtime takes memory by the arena of
// so many bytes: it has the first one before it reads anything.
const (
	LeastEach = 128 << 20
	MostEach  = 256 << 20
	arena     = 64 << 20
	// besideHeap is what a process takes beside its heap: stacks of threads, and what the
	// runtime knows of the heap.
	besideHeap = 16 << 20
)

// ShareOf returns the share of so many bytes: two filters at a time if each can have enough.
func ShareOf(bytes uint64) Share {
	if bytes < 2*LeastEach {
		return Share{LeastEach, 1}
	}
	return Share{min(bytes/2, MostEach), 2}
}

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
	argument string // with which this program becomes a worker
	share    Share
	turns    turns
}

// New returns a pool of workers. The argument, and behind it a number of bytes, are those with
// which the running program calls Serve.
func New(share Share, argument string) *Pool {
	return &Pool{argument: argument, share: share, turns: turns{free: share.AtATime}}
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
	cmd.Args = []string{"flowdrive", p.argument, strconv.FormatUint(p.share.Each, 10)}
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
	return p.ended(limited, err)
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
func (p *Pool) ended(ctx context.Context, err error) (machine.Filtered, error) {
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
			return machine.Filtered{Fault: fmt.Sprintf("the filter needs more than the %d MiB of memory that it may use", p.share.Each>>20)}, nil
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
func Serve(memory string, in io.Reader, out io.Writer) (status int) {
	each, err := strconv.ParseUint(memory, 10, 63)
	if err != nil || each < LeastEach {
		return notLimited
	}
	if err := confine.Self(confine.Limits{Processor: processorTime, Memory: each - arena + besideHeap, ReadOnly: true}); err != nil {
		return notLimited
	}
	debug.SetMemoryLimit(int64(each / 2))
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
