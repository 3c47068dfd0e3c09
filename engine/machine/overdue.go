package machine

import (
	"fmt"

	"flowdrive/route"
)

// Overdue is a timer of a case that has expired without the route dealing with it.
type Overdue struct {
	Name    string // tells it from the others of the case
	Word    string // "Overdue: Approve"
	Text    string // what was to be done, and by when
	Action  string // of a task's timer: the action; else ""
	Holders []string
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
		out = append(out, o)
	}
	return out
}

// word says what the expiry of a timer means to people.
func (at timerRef) word(r *route.Route) string {
	switch at.kind {
	case DueTimer:
		return "Overdue: " + title(&r.Actions[at.action])
	case OfferTimer:
		return "Not accepted in time: " + title(&r.Actions[at.action])
	case UserTimer:
		return "The timer " + at.name + " has expired"
	case CaseTimer, StateTimer, TimeoutTimer, reminder:
	}
	return "Overdue"
}
