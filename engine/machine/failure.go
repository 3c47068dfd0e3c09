package machine

import (
	"slices"
	"time"

	"flowdrive/route"
)

// FailureKind says in what way something failed. Expressions see it as error.kind
// (docs/contract/engine.md#failures).
type FailureKind string

// The kinds of failures.
const (
	FailureExit    FailureKind = "exit"    // a command ended with an exit status other than 0
	FailureTimeout FailureKind = "timeout" // it took longer than it may
	FailureSignal  FailureKind = "signal"  // a signal ended a command
	FailureStatus  FailureKind = "status"  // a service answered with a status that is not 2xx
	FailureNetwork FailureKind = "network" // the other side could not be reached, or did not keep to the protocol
	FailureFault   FailureKind = "fault"   // anything else, as a fault of the route
)

// Failure is something that the engine could not do in a case: a delivery that has
// failed for good, an action that is escalated, or the start of the case.
type Failure struct {
	Name    string      // of the task in Worklist/Escalated/ that mends it; "" for a case that could not start
	Action  string      // the action that it is of, or the timer of the case or of a state; "" if the case could not start
	Step    string      // the verb of the step that failed; "" if no step did
	Kind    FailureKind // never ""
	Status  int64       // exit status, number of the signal or HTTP status, by the kind; else 0
	Text    string      // one line of bounded length
	Output  string      // the end of what a command wrote, of bounded length; "" for nothing
	Handled bool        // onError has led the case elsewhere: nobody needs to mend this
	Handler string      // of a handler that has failed, which no task mends: its name; else ""
	Over    FailureEnd  // of Output.Mended: how it is over
	At      time.Time
}

// FailureEnd says how something that had failed is over.
type FailureEnd string

// How a failure is over.
const (
	FailureMended  FailureEnd = "mended"   // it was done when it was tried again
	FailureGivenUp FailureEnd = "given-up" // somebody gave it up, or had it count as done
	FailurePassed  FailureEnd = "passed"   // the case has gone on without it
	FailureGone    FailureEnd = "gone"     // the case does not warn of the handler any more, which has not run since
)

// Shown returns the life of the case as people see it. It is failed while something
// that has failed waits for somebody to mend it, and in a state of the type failed
// (docs/contract/engine.md#failures). That of a draft is StateDraft. Decisions are made
// by Life.
func (c *Case) Shown() Life {
	if c.IsDraft() {
		return StateDraft
	}
	if c.Failing && (c.Life == Active || c.Life == Completed) {
		return Failed
	}
	return c.Life
}

// outputTail is the end of what the command of a delivery wrote that failed in this
// event.
type outputTail struct {
	seq, step int64
	text      string
}

// failures is what fails in a case and what is mended.
type failures struct{ *caseDecision }

func (d *caseDecision) failures() failures { return failures{d} }

// failed notes that something has failed in this event.
func (d failures) failed(f Failure) {
	f.At = d.now
	d.broke = append(d.broke, f)
}

// open returns what has failed for good in a case and is neither mended nor given up.
// What is being tried again is open, too.
func (d failures) open(c *Case) (out []Failure) {
	if c == nil {
		return nil
	}
	for i := range c.Outbox {
		if o := &c.Outbox[i]; o.Fault != "" {
			out = append(out, o.failure())
		}
	}
	for i := range c.Enabled {
		if e := &c.Enabled[i]; e.State == Escalated {
			out = append(out, Failure{Name: e.Action, Action: e.Action, Step: e.Step, Kind: FailureFault, Text: e.Fault})
		}
	}
	if b := c.Broken; b != nil {
		out = append(out, Failure{Name: b.Action, Action: b.Action, Step: b.Step, Kind: FailureFault, Text: b.Fault})
	}
	if c.Life == Failed {
		out = append(out, Failure{Kind: FailureFault})
	}
	return out
}

// mended returns what had failed before the event and has not any more: it was
// delivered or performed when it was tried again, was given up, or the case went on
// without it.
func (d failures) mended() (out []Failure) {
	now := d.open(d.c)
	for _, f := range d.open(d.from) {
		if !slices.ContainsFunc(now, func(still Failure) bool { return still.Name == f.Name }) {
			f.At, f.Over = d.now, d.howOver(f.Name)
			out = append(out, f)
		}
	}
	return append(out, d.handlersOver()...)
}

// howOver says how a failure of that name, which there is no more, is over.
func (d failures) howOver(name string) FailureEnd {
	if slices.Contains(d.gaveUp, name) {
		return FailureGivenUp
	}
	for i := range d.from.Outbox {
		o := &d.from.Outbox[i]
		if o.Name() != name {
			continue
		}
		for j := range d.outbox {
			if p := &d.outbox[j]; p.Seq == o.Seq && p.Step == o.Step && p.End == EndFailed {
				return FailurePassed
			}
		}
		return FailureMended
	}
	done := func(e LogEntry) bool { return e.Kind == LogAction && e.Action != nil && *e.Action == name }
	if d.c.enablement(name) != nil || d.from.Life == Failed || slices.ContainsFunc(d.log, done) {
		return FailureMended
	}
	return FailurePassed
}

// told returns what has failed in this event.
func (d failures) told() []Failure {
	open := d.open(d.c)
	for i := range d.broke {
		f := &d.broke[i]
		f.Handled = f.Handler == "" && d.c.Shown() != Failed && !slices.ContainsFunc(open, func(still Failure) bool { return still.Name == f.Name })
	}
	return withHandlers(d.broke)
}

// settle says whether the case is broken now, and logs it if that has changed.
func (d failures) settle() {
	d.forgetHandlers()
	d.forgetEnableIf()
	is := d.isBroken()
	if is == d.c.Failing {
		return
	}
	was := d.c.Shown()
	d.c.Failing = is
	d.changed = true
	if now := d.c.Shown(); now != was && (d.c.Life == Active || d.c.Life == Completed) {
		text := textFailed
		switch {
		case is:
		case d.c.Life == Completed: // onError had led it from one complete state into another
			text = textCompleted
		default:
			text = textMended
		}
		d.add(LogEntry{Kind: LogLife, From: new(string(was)), To: new(string(now)), Text: text})
	}
}

// textMended is what the log says of a case that was failed and is active again.
const textMended = "Active again"

// endsFailed reports whether the status is a state of the type failed.
func (d *caseDecision) endsFailed() bool {
	return has(d.route.States, d.status) && d.route.States[d.status].Type == route.StateFailed
}

func (d failures) isBroken() bool {
	switch d.c.Life {
	case Active:
	case Completed:
		return d.endsFailed()
	default:
		return false
	}
	return slices.ContainsFunc(d.c.Outbox, func(o Outgoing) bool { return o.Failed && o.From == "" }) ||
		slices.ContainsFunc(d.c.Enabled, func(e Enabled) bool { return e.State == Escalated })
}
