package machine

import (
	"time"

	"flowdrive/internal/document"
	"flowdrive/route"
)

// Timers returns the names of the timers of a case that a listing shows: those of
// the case and the state, the user-defined ones in order of definition, then those
// of the enabled actions. Timers without a limit are left out, except user-defined
// ones. TimerForm finds them all the same, so that people can set a limit.
func Timers(c *Case, r *route.Route) []string {
	var names []string
	limited := func(name string) {
		at, ok := findTimer(c, r, name)
		if !ok {
			return
		}
		if t := at.stored(c); at.limit(c, r, &t).Kind != route.NoLimit {
			names = append(names, name)
		}
	}
	limited(route.TimerCase)
	limited(route.TimerState)
	for i := range r.Timers {
		names = append(names, r.Timers[i].Name)
	}
	for i := range c.Enabled {
		for _, what := range []string{route.TimerOffer, route.TimerDue, route.TimerTimeout} {
			limited(route.ActionTimer(c.Enabled[i].Action, what))
		}
	}
	return names
}

// TimerForm returns the complete form of a timer, indented JSON
// (docs/contract/timers.md#setting-a-limit), or nil if the case has no timer with
// that name now.
func TimerForm(c *Case, r *route.Route, name string) []byte {
	at, ok := findTimer(c, r, name)
	if !ok {
		return nil
	}
	t := at.stored(c)
	state := "off"
	if at.on(c, &t) {
		state = "running"
		if c.suspended() {
			state = "suspended"
		}
	}
	limit := at.limit(c, r, &t)
	b := make([]byte, 0, 256)
	b = appendString(b, `{"name":`, name)
	b = appendString(b, `,"kind":`, string(at.kind))
	b = appendString(b, `,"state":`, state)
	b = appendTextOrNull(b, `,"limit":`, limit.String())
	if limit.Kind == route.NoLimit {
		b = append(b, `,"relative":null`...)
	} else {
		b = appendBool(b, `,"relative":`, limit.Kind == route.RelativeLimit)
	}
	b = appendTimeOrNull(b, `,"expirationDate":`, t.due())
	b = appendBool(b, `,"expired":`, t.Expired)
	action := ""
	if at.ofAction() {
		action = r.Actions[at.action].Name
	}
	return document.Indent(append(appendTextOrNull(b, `,"action":`, action), "}\n"...))
}

// TimerSince returns since when the case has the timer: since its task was enabled,
// or since the case was created.
func TimerSince(c *Case, r *route.Route, name string) time.Time {
	if at, ok := findTimer(c, r, name); ok && at.ofAction() {
		return c.Enabled[at.place].Since
	}
	return c.Created
}

// MaySetTimer reports whether the actor may set the limit of the timer. For the timer
// of a task these are its assignees and their deputies, for others the starter.
// Administrators of the route may set all (docs/contract/drive.md#rights-table).
func MaySetTimer(c *Case, r *route.Route, name string, actor Actor, starter bool) bool {
	at, ok := findTimer(c, r, name)
	switch {
	case !ok:
		return false
	case actor.RouteAdmin:
		return true
	case !at.ofAction():
		return starter
	}
	a := &r.Actions[at.action]
	_, may := actor.assignee(c, r.State(c.Status), a, &c.Enabled[at.place])
	return may && a.Trigger == route.TriggerUser
}

// Dates returns by when a task is to be performed and, while it is offered, by
// when it is to be accepted. Zero means no date.
func (e *Enabled) Dates() (due, acceptBy time.Time) {
	if e.DoBy != nil {
		due = e.DoBy.due()
	}
	if e.AcceptBy != nil && e.State == Offered {
		acceptBy = e.AcceptBy.due()
	}
	return due, acceptBy
}
