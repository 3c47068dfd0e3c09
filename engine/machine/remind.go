package machine

import (
	"slices"
	"strings"
	"time"

	"flowdrive/route"
)

// reminds reports whether assignees are reminded of the task in that place
// (docs/contract/routes.md#reminders): if it waits for people and has assignees. Of
// an action that is only allowed to some nobody is reminded.
func (d caseTimers) reminds(place int) bool {
	i := d.actions[place]
	if d.foresees || d.route.Remind == nil || i == unknown || !d.route.Actions[i].IsTask() || d.c.Life != Active {
		return false
	}
	e := &d.c.Enabled[place]
	return e.State.forPeople() && !d.isToldOverdue(place) && len(holders(d.c, d.status, &d.route.Actions[i], e)) > 0
}

// isToldOverdue reports whether the task in that place was not done or accepted in time, and
// the route has no handler for that: those who have it are told daily that it is overdue, and
// are not reminded of it as well.
func (d caseTimers) isToldOverdue(place int) bool {
	e, a := &d.c.Enabled[place], &d.route.Actions[d.actions[place]]
	past := func(t *Timer) bool {
		return t != nil && (t.Expired || !t.due().IsZero() && !t.due().After(d.now))
	}
	return past(e.DoBy) && len(a.OnDue) == 0 || e.State == Offered && past(e.AcceptBy) && len(a.OnOfferTimeout) == 0
}

// holders returns the parties that have a task: the user who has accepted it, else
// those to whom it is offered.
func holders(c *Case, status int, a *route.Action, e *Enabled) []string {
	if e.State == Accepted {
		return []string{e.By}
	}
	return assignees(c, status, a, e)
}

// updateReminders sets the dates of reminders of tasks that have none, and removes
// those that are not needed any more. A suspended case keeps its dates.
func (d caseTimers) updateReminders() {
	if d.c.suspended() {
		return
	}
	for i := range d.c.Enabled {
		e := &d.c.Enabled[i]
		switch reminds := d.reminds(i); {
		case reminds && e.Remind.IsZero():
			d.remindAgain(e)
		case !reminds && !e.Remind.IsZero():
			e.Remind, d.changed = time.Time{}, true
		}
	}
}

// remindAgain sets the date of the next reminder.
func (d caseTimers) remindAgain(e *Enabled) {
	if next := d.route.ReminderLimit().From(d.now); !next.Equal(e.Remind) {
		e.Remind, d.changed = next, true
	}
}

// remind logs a reminder and sets the date of the next one. The caller notifies the
// users.
func (d caseTimers) remind(place int) {
	e := &d.c.Enabled[place]
	if d.isToldOverdue(place) { // as of this very instant
		e.Remind, d.changed = time.Time{}, true
		return
	}
	d.remindAgain(e)
	if d.logFull() {
		return
	}
	names := holders(d.c, d.status, &d.route.Actions[d.actions[place]], e)
	if at := slices.Index(names, PartyAdmins); at >= 0 {
		names[at] = "the administrators of the route"
	}
	d.add(LogEntry{
		Kind: LogTask, Action: new(e.Action), Actor: new(ActorTimer), Trigger: new(ByTime),
		Text: "Reminded " + strings.Join(names, ", "),
	})
}
