package machine

import (
	"slices"
	"strings"
	"time"

	"flowdrive/route"
)

// Deadline is a timer that runs and will expire.
type Deadline struct {
	Timer  string
	Kind   TimerKind
	Action string // the title of its action, "" for a timer of the case
	At     time.Time
}

// RunsOut says that the time of a timer runs out: of the action with a title, or of the case.
func RunsOut(timer, action string) string {
	switch {
	case action != "":
		return "The time for “" + OneLine(action) + "” runs out"
	case timer == route.TimerCase:
		return "The time for the case runs out"
	case timer == route.TimerState:
		return "The time for this state runs out"
	}
	return "The timer “" + OneLine(timer) + "” runs out"
}

// Deadlines returns the timers of a case that will expire, in order of their dates:
// those of tasks for which mine is true and, if all is set, those that are not of
// tasks. A suspended case has none.
func Deadlines(c *Case, r *route.Route, mine func(action string) bool, all bool) []Deadline {
	if c.suspended() {
		return nil
	}
	var out []Deadline
	for _, name := range Timers(c, r) {
		at, ok := findTimer(c, r, name)
		if !ok {
			continue
		}
		t := at.stored(c)
		if !at.pending(c, &t) {
			continue
		}
		d := Deadline{Timer: name, Kind: at.kind, At: t.Date}
		shown := all
		if at.ofAction() {
			a := &r.Actions[at.action]
			if d.Action = a.Title; d.Action == "" {
				d.Action = a.Name
			}
			if a.Trigger == route.TriggerUser {
				shown = mine(a.Name)
			}
		}
		if shown {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b Deadline) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return strings.Compare(a.Timer, b.Timer)
	})
	return out
}
