package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/simulate"
	"flowdrive/notify"
	"flowdrive/route"
)

// anywhere lets routes name anything outside. Commands end as a scenario says; what
// it says nothing of is recorded. The engine asks one after the other.
type anywhere struct {
	*notify.Gateway
	runs map[string][]simulate.Run
}

func (*anywhere) RefusesURL(string) string     { return "" }
func (*anywhere) RefusesAddress(string) string { return "" }
func (*anywhere) RefusesCommand(string) string { return "" }
func (*anywhere) RefusesSecret(*outbox.Author, route.ReachKind, string) string {
	return ""
}

// Rehearse implements outbox.Rehearser.
func (a *anywhere) Rehearse(d *outbox.Delivery) (reply *outbox.Reply, err error, known bool) { //nolint:revive // as the interface has it
	if d.Exec == nil || len(a.runs[d.Exec.Name]) == 0 {
		return nil, nil, false
	}
	name := d.Exec.Name
	run := a.runs[name][0]
	if len(a.runs[name]) > 1 {
		a.runs[name] = a.runs[name][1:]
	}
	d.Wrote(outbox.Output{Stdout: []byte(run.Stdout), Stderr: []byte(run.Stderr)})
	said := ""
	if text := machine.OneLine(run.Stderr); text != "" {
		said = ": " + text
	}
	f := &outbox.Failed{Kind: machine.FailureExit, Status: run.Exit, Output: string(bytes.TrimSpace([]byte(run.Stderr + run.Stdout)))}
	var text string
	switch {
	case run.Timeout:
		f.Kind, f.Status, text = machine.FailureTimeout, 0, fmt.Sprintf("%s took longer than it may%s", name, said)
	case run.Signal != 0:
		f.Kind, f.Status, text = machine.FailureSignal, run.Signal, fmt.Sprintf("%s ended with signal %d%s", name, run.Signal, said)
	case run.Exit != 0:
		text = fmt.Sprintf("%s ended with exit status %d%s", name, run.Exit, said)
	default:
		r := &outbox.Reply{MediaType: "text/plain", Content: []byte(run.Stdout)}
		if json.Valid(r.Content) {
			r.MediaType = "application/json"
		}
		return r, nil, true
	}
	f.Err = &outbox.Final{Reason: text}
	return nil, f, true
}

var _ outbox.Rehearser = (*anywhere)(nil)
