package machine

import (
	"time"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
)

// A suspended case keeps its rows with their due times, and nothing happens
// to it by itself: no pass, nothing due but the date on which it wakes
// (docs/contract/engine.md#suspension).

// What the log says of a suspension.
const (
	textSuspended = "Suspended"
	textResumed   = "Resumed"
)

// halt is what a step says of a suspension.
type halt struct {
	until  time.Time // zero: no date
	source string    // the action or timer whose step it is
}

// until words a date, if there is one.
func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " until " + t.Format(time.RFC3339)
}

// suspend holds the case for a person. A date that has come wakes it at once.
func (d *decision) suspend(e Suspend) error {
	switch d.c.Life {
	case Active, Suspended:
	case Queued:
		err := errs.New(errs.CaseNotOpen, "The case is queued: nothing happens to it before it starts. To have that happen later give startAt instead.")
		err.Extra = map[string]any{"state": string(d.c.Life)}
		return err
	case Completed, Closed, Canceled, Failed:
		return d.notOpen()
	}
	date := e.Until.UTC().Round(0)
	if e.Until.IsZero() {
		date = time.Time{}
	}
	if d.c.Held && d.c.HeldUntil.Equal(date) {
		return nil
	}
	d.hold(date, LogEntry{Actor: new(e.Actor.Name), Trigger: new(ByUser), Comment: comment(e.Comment)})
	return d.wake()
}

// hold puts the case's own mark on it.
func (d *decision) hold(date time.Time, entry LogEntry) {
	d.c.Held, d.c.HeldUntil = true, date
	entry.Text = textSuspended + until(date)
	d.live(Suspended, entry)
	d.grips(true)
}

// suspendLater notes that a step suspends the case. It is done in the pass,
// before anything else is performed.
func (d *decision) suspendLater(s *route.Step, source, actor string) error {
	value, ok, err := d.value(s.Until, actor)
	if err != nil {
		return err
	}
	h := halt{source: source}
	if ok {
		date, readable := clock.ParseInstant(value.Text)
		if value.Kind != document.String || !readable {
			return routeFault("suspend until %q, which is not %s", clip(value.Text), clock.InstantForm)
		}
		h.until = date
	}
	d.suspends = &h
	return nil
}

// halts suspends the case if a step said so, and reports whether it stays so:
// a date may have come. A case that is complete cannot be suspended. What
// steps want done to the actions of a suspended one has no effect.
func (p *pass) halts() bool {
	h := p.suspends
	if h == nil {
		return false
	}
	p.suspends = nil
	if p.complete() {
		p.changed = true
		p.add(LogEntry{Kind: LogTask, Trigger: new(ByStep), Text: "No effect: suspend by " + h.source})
		return false
	}
	p.conclude()
	p.hold(h.until, LogEntry{Trigger: new(ByStep)})
	if p.wakes() {
		p.release(LogEntry{Actor: new(ActorTimer), Trigger: new(ByTime)})
		return false
	}
	for _, r := range p.queue {
		p.noEffect(r)
	}
	p.queue = nil
	return true
}

// wakes reports whether the date has come.
func (d *decision) wakes() bool {
	return d.c.Life == Suspended && d.c.Held && !d.c.HeldUntil.IsZero() && !d.c.HeldUntil.After(d.now)
}

// wakeFor resumes the case before an event that comes after its date: what
// the sweeper would have done. One that ends the suspension itself needs
// none.
func (d *decision) wakeFor(event Event) error {
	switch event.(type) {
	case Due, Delivered, Undelivered, Recorded:
		d.sweeps = true
	case Cancel, Resume, Migrate:
		return nil
	}
	if !d.wakes() {
		return nil
	}
	return d.wake()
}

// wake resumes the case where its date has come, and brings it to rest.
func (d *decision) wake() error {
	if d.wakes() {
		d.release(LogEntry{Actor: new(ActorTimer), Trigger: new(ByTime)})
	}
	return d.settle()
}

// resume lets the case go on for a person.
func (d *decision) resume(e Resume) error {
	switch d.c.Life {
	case Suspended:
	case Active:
		return d.settle() // it woke a moment ago
	case Queued, Completed, Closed, Canceled, Failed:
		return d.notOpen()
	}
	d.release(LogEntry{Actor: new(e.Actor.Name), Trigger: new(ByUser), Comment: comment(e.Comment)})
	return d.settle()
}

// release takes the mark off. What became due meanwhile is done when the case
// is brought to rest, which must follow.
func (d *decision) release(entry LogEntry) {
	d.c.Held, d.c.HeldUntil = false, time.Time{}
	entry.Text = textResumed
	if d.under {
		entry.Text = "Its own suspension is over; it goes on with the case that it belongs to"
		d.live(Suspended, entry)
		return
	}
	d.goOn(entry)
}
