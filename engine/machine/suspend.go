package machine

import (
	"fmt"
	"time"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
)

// A suspended case keeps its enablements with their due times. Nothing happens to it
// by itself: no pass runs, and nothing is due except the date on which it resumes
// (docs/contract/engine.md#suspension).

// What the log says of a suspension.
const (
	textSuspended = "Suspended"
	textResumed   = "Resumed"
	textCostly    = "The expressions of one event cost more than %d, taken together, so the case is suspended. Correct the route, then resume the case."
)

// suspension is the suspension that a step asks for.
type suspension struct {
	until  time.Time // zero: no date
	source string    // the action or timer whose step it is
}

// until returns the words for a date, "" if there is none.
func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " until " + t.Format(time.RFC3339)
}

// suspendByPerson suspends the case for a person. If the date has come already, the
// case resumes at once.
func (d personal) suspendByPerson(e Suspend) error {
	switch d.c.Life {
	case Active, Suspended:
	case Queued:
		if d.c.IsDraft() {
			return d.refusals().notDraft()
		}
		err := errs.New(errs.CaseNotOpen, "The case is queued, and nothing happens to it before it starts. To have it start later, set startAt instead.")
		err.Extra = map[string]any{"state": string(d.c.Life)}
		return err
	case Completed, Closed, Canceled, Failed:
		return d.refusals().notOpen()
	}
	date := e.Until.UTC().Round(0)
	if e.Until.IsZero() {
		date = time.Time{}
	}
	if d.c.SuspendedSelf && d.c.SuspendedUntil.Equal(date) {
		return nil
	}
	d.suspensions().suspend(date, LogEntry{Actor: new(e.Actor.Name), Trigger: new(ByUser), Comment: comment(e.Comment)})
	return d.suspensions().wake()
}

// suspensions suspends the case, and resumes it.
type suspensions struct{ *caseDecision }

func (d *caseDecision) suspensions() suspensions { return suspensions{d} }

// suspend suspends the case by itself, until a date or, if that is zero, for good.
func (d suspensions) suspend(date time.Time, entry LogEntry) {
	d.c.SuspendedSelf, d.c.SuspendedUntil = true, date
	entry.Text = textSuspended + until(date)
	d.setLife(Suspended, entry)
	d.relations().tellChildren(true)
}

// suspendCostly suspends the case if its expressions have used up what those of an event
// may cost, and no person waits for the answer: its timers would have it do so again and
// again.
func (d suspensions) suspendCostly() {
	if !d.sweeps || d.foresees || d.values.Cost < MaxCost || d.c.Life != Active {
		return
	}
	d.add(LogEntry{Kind: LogError, Text: fmt.Sprintf(textCostly, MaxCost)})
	d.suspend(time.Time{}, LogEntry{Actor: new(ActorTimer)})
}

// suspendLater notes that a step suspends the case. The pass does it before
// anything else is performed.
func (d stepRun) suspendLater(s *route.Step) error {
	value, ok, err := d.value(s.Until)
	if err != nil {
		return err
	}
	h := suspension{source: d.source}
	if ok {
		date, readable := clock.ParseMoment(value.Text, d.zone)
		if value.Kind != document.String || !readable {
			return routeFault("suspend until %q, which is not %s", clip(value.Text), clock.InstantForm)
		}
		h.until = date
	}
	d.suspension = &h
	return nil
}

// suspendByStep suspends the case if a step has asked for it. It reports whether the
// case is suspended then; the date may have come already. A complete case is not
// suspended. Other requests of steps to a suspended case have no effect.
func (p *pass) suspendByStep() bool {
	h := p.suspension
	if h == nil {
		return false
	}
	p.suspension = nil
	if p.complete() {
		p.changed = true
		p.add(LogEntry{Kind: LogTask, Trigger: new(ByStep), Text: "No effect: suspend by " + h.source})
		step := handler{name: "suspend by " + h.source, source: h.source}
		p.failures().didNothing(step, step.name+" had no effect: the case is complete")
		return false
	}
	p.conclude()
	p.suspensions().suspend(h.until, LogEntry{Trigger: new(ByStep)})
	if p.mustWake() {
		p.suspensions().endSuspension(LogEntry{Actor: new(ActorTimer), Trigger: new(ByTime)})
		return false
	}
	for _, r := range p.stepRequests {
		p.noEffect(r)
	}
	p.stepRequests = nil
	return true
}

// mustWake reports whether the date on which the case resumes has come.
func (d *caseDecision) mustWake() bool {
	return d.c.Life == Suspended && d.c.SuspendedSelf && !d.c.SuspendedUntil.IsZero() && !d.c.SuspendedUntil.After(d.now)
}

// wakeFor resumes the case before an event that comes after its date, as the
// sweeper would have done. An event that ends the suspension itself does not need
// that.
func (d suspensions) wakeFor(event Event) error {
	switch event.(type) {
	case Due, Delivered, Attempted, Undelivered, Recorded:
		d.sweeps = true
	case Cancel, Resume, Migrate:
		return nil
	}
	if !d.mustWake() {
		return nil
	}
	return d.wake()
}

// wake resumes the case if its date has come, and brings it to rest.
func (d suspensions) wake() error {
	if d.mustWake() {
		d.endSuspension(LogEntry{Actor: new(ActorTimer), Trigger: new(ByTime)})
	}
	return d.bringToRest()
}

// resumeByPerson ends the suspension for a person.
func (d personal) resumeByPerson(e Resume) error {
	switch d.c.Life {
	case Suspended:
	case Active:
		return d.bringToRest() // it resumed at its date, a moment ago
	case Queued, Completed, Closed, Canceled, Failed:
		return d.refusals().notOpen()
	}
	d.suspensions().endSuspension(LogEntry{Actor: new(e.Actor.Name), Trigger: new(ByUser), Comment: comment(e.Comment)})
	return d.bringToRest()
}

// endSuspension ends the case's own suspension. The caller brings it to rest, which
// does what has become due meanwhile.
func (d suspensions) endSuspension(entry LogEntry) {
	d.c.SuspendedSelf, d.c.SuspendedUntil = false, time.Time{}
	entry.Text = textResumed
	if d.ancestorSuspended {
		entry.Text = "Its own suspension is over; it goes on with the case that it belongs to"
		d.setLife(Suspended, entry)
		return
	}
	d.resume(entry)
}
