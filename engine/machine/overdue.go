package machine

import (
	"fmt"
	"slices"

	"flowdrive/route"
)

// Overdue is a timer of a case that has expired without the route dealing with it.
type Overdue struct {
	Name    string // tells it from the others of the case
	Word    string // "Overdue: Approve"
	Text    string // what was to be done, and by when
	Action  string // of a task's timer: the action; else ""
	Holders []string

	offer bool // the task was to be accepted
}

// OverdueTimers returns the timers of a case that are overdue, in the order in
// which they expired: those that left a warning because the route has no handlers
// for them. They are overdue until the task is done, the state is left or the limit
// is set again.
func OverdueTimers(c *Case, r *route.Route) (out []Overdue) {
	if c == nil || len(c.Warnings) == 0 {
		return nil
	}
	d := &caseDecision{route: r, c: c}
	d.index()
	for i := range c.Warnings {
		w := &c.Warnings[i]
		at, known := findTimer(c, r, w.Timer)
		if !known || at.kind == UserTimer || !at.stored(c).Expired || len(d.timers().handlers(at)) > 0 {
			continue
		}
		o := Overdue{Name: fmt.Sprintf("%s %d", w.Timer, w.Enablement), Word: at.word(r), Text: w.Text}
		if at.ofAction() {
			o.Action = r.Actions[at.action].Name
			o.Holders = holders(c, d.status, &r.Actions[at.action], &c.Enabled[at.place])
		}
		o.offer = at.kind == OfferTimer
		out = append(out, o)
	}
	// A task that was not accepted in time, and is not done in time either, is one thing.
	return slices.DeleteFunc(out, func(o Overdue) bool {
		return o.offer && slices.ContainsFunc(out, func(other Overdue) bool { return other.Action == o.Action && !other.offer })
	})
}

// IsOverdue reports whether the task of an action has not been done in time, with a timer of
// which people are told.
func IsOverdue(c *Case, r *route.Route, action string) bool {
	return action != "" && slices.ContainsFunc(OverdueTimers(c, r), func(o Overdue) bool { return o.Action == action })
}

// word says what the expiry of a timer means to people.
func (at timerRef) word(r *route.Route) string {
	switch at.kind {
	case DueTimer:
		return "Overdue: " + title(&r.Actions[at.action])
	case OfferTimer:
		return "Not accepted in time: " + title(&r.Actions[at.action])
	case CaseTimer, StateTimer, UserTimer, TimeoutTimer, reminder:
	}
	return "Overdue"
}

// handled says to people that a timer has expired which the route deals with: that nothing
// was done in time is not told as something that is wrong.
func (at timerRef) handled(r *route.Route) string {
	switch at.kind {
	case DueTimer:
		return "Time is up: " + title(&r.Actions[at.action])
	case OfferTimer:
		return "Time to accept is up: " + title(&r.Actions[at.action])
	case UserTimer:
		return "The timer " + at.name + " has expired"
	case CaseTimer, StateTimer, TimeoutTimer, reminder:
	}
	return "Time is up"
}
