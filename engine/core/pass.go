package core

import (
	"slices"
	"time"

	"flowdrive/errs"
	"flowdrive/route"
)

// settle brings the case to rest: pass after pass, until one performs
// nothing (design: the engine, section 3). A case in which nothing is wanted
// is at rest.
func (d *decision) settle() error {
	if d.c.Life != Active && d.c.Life != Completed {
		return nil
	}
	if d.status == route.NoState {
		return errs.New(errs.Internal, "core: case %d has the status %q, which its route does not", d.c.ID, d.c.Status)
	}
	for {
		performed, err := pass{d}.run()
		if err != nil || !performed {
			return err
		}
	}
}

// pass is one pass over a case. It holds what is true for this pass alone.
type pass struct{ *decision }

// run takes the numbered steps of a pass. Steps 2 (enableIf), 4 (guards) and
// 5 (while) concern keys of the language that routes do not have yet. It
// reports whether something was performed, upon which a new pass begins.
func (p pass) run() (performed bool, err error) {
	p.unenable()
	p.enable()
	if due, ok := p.due(); ok {
		return true, p.unit(due)
	}
	p.conclude()
	return false, nil
}

// wanted reports whether the action is to be enabled in the present status.
func (p pass) wanted(action int) bool {
	a := &p.route.Actions[action]
	return a.Trigger != route.TriggerInit && (a.Always || a.In.Has(p.status) || a.EnabledIn.Has(p.status))
}

// unenable is step 1: rows of what is not wanted go, whatever they are
// doing. Rows of what is wanted stay untouched, and so do their due times.
func (p pass) unenable() {
	kept := 0
	for i, action := range p.actions {
		if action == unknown || !p.wanted(action) {
			if action != unknown {
				p.enabled[action] = false
			}
			continue
		}
		p.c.Enabled[kept], p.actions[kept] = p.c.Enabled[i], action
		kept++
	}
	if kept < len(p.actions) {
		p.changed = true
		p.c.Enabled, p.actions = slices.Delete(p.c.Enabled, kept, len(p.actions)), p.actions[:kept]
	}
}

// enable is step 3: what is wanted and has no row gets one, in order of
// definition, all of them before anything is performed.
func (p pass) enable() {
	for i := range p.route.Actions {
		if p.enabled[i] || !p.wanted(i) {
			continue
		}
		a := &p.route.Actions[i]
		p.c.LastRow++
		p.c.Enabled = append(p.c.Enabled, Enabled{
			Row: p.c.LastRow, Action: a.Name, State: initialState(a), Since: p.now, Due: dueTime(a, p.now),
		})
		p.actions = append(p.actions, i)
		p.enabled[i] = true
		p.changed = true
	}
}

func initialState(a *route.Action) TaskState {
	if a.Trigger == route.TriggerUser {
		return Offered
	}
	return Running
}

// dueTime returns when an action that is enabled now performs itself, zero
// for never. What lies beyond the years that a date can carry is never.
func dueTime(a *route.Action, now time.Time) time.Time {
	const lastYear = 9999 // RFC 3339
	var due time.Time
	switch {
	case a.Trigger == route.TriggerAuto:
		due = now
	case a.Timeout != nil:
		due = a.Timeout.After(now)
	}
	if due.Year() > lastYear {
		return time.Time{}
	}
	return due
}

// due is the choice of step 6: the one thing to be done now, by the smallest
// due time and row.
func (p pass) due() (performance, bool) {
	first := -1
	for i := range p.c.Enabled {
		e := &p.c.Enabled[i]
		if e.Due.IsZero() || e.Due.After(p.now) {
			continue
		}
		if first < 0 || e.Due.Before(p.c.Enabled[first].Due) {
			first = i // rows ascend: of equal due times the first row wins
		}
	}
	if first < 0 {
		return performance{}, false
	}
	action, trigger := p.actions[first], ByTime
	if p.route.Actions[action].Trigger == route.TriggerAuto {
		trigger = ByAuto
	}
	return performance{action: action, row: p.c.Enabled[first].Row, trigger: trigger}, true
}

// conclude is step 7: at rest, the state of the life cycle follows from the
// status.
func (p pass) conclude() {
	complete := isComplete(&p.route.States[p.status])
	if complete == (p.c.Life == Completed) {
		return
	}
	var entry LogEntry
	if p.last.trigger != "" {
		entry.Actor, entry.Trigger = p.last.by(), new(p.last.trigger)
	}
	if complete {
		p.c.Completed = p.now
		entry.Text = textCompleted
		p.live(Completed, entry)
	} else {
		p.c.Completed = time.Time{}
		entry.Text = textReopened
		p.live(Active, entry)
	}
}

func isComplete(s *route.State) bool {
	switch s.Type {
	case route.StateComplete, route.StateDenied, route.StateCancelled:
		return true
	case route.StateStart, route.StateNormal:
	}
	return s.Complete
}

// unit performs something that the engine does. It is a unit of its own: a
// fault undoes it to before it began and escalates its enablement, and never
// undoes what set it off (design: the engine, section 2, Failures). A person's
// request that sets off a loop fails whole.
func (d *decision) unit(p performance) error {
	before := d.snapshot()
	err := d.perform(p)
	if !d.sweeps || !errs.Is(err, errs.EndlessLoop) {
		return err
	}
	d.restore(before)
	d.escalate(p, err)
	// The event has had its share: what else is due is of the loop, or would
	// be performed into it, and waits for somebody as well.
	for more, ok := (pass{d}).due(); ok; more, ok = (pass{d}).due() {
		d.escalate(more, err)
	}
	return nil
}

// escalate keeps the row of what failed, without its due time, until somebody
// attends to it or it is un-enabled.
func (d *decision) escalate(p performance, err error) {
	for i := range d.c.Enabled {
		if e := &d.c.Enabled[i]; e.Row == p.row {
			e.State, e.Due = Escalated, time.Time{}
		}
	}
	d.changed = true
	a := &d.route.Actions[p.action]
	d.add(LogEntry{Kind: LogError, Action: new(a.Name), Actor: p.by(), Trigger: new(p.trigger), Text: "Escalated: " + err.Error()})
}
