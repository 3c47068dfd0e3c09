package machine

import (
	"slices"

	"flowdrive/route"
)

// Way is an action that somebody may perform now, with the states in which the case may
// be afterwards.
type Way struct {
	Action  int      // index in the route
	To      []string // in order of definition, without the state in which the case is
	Decided bool     // only the performance tells to which of them it leads
}

// Ways returns the actions of people that the actor may perform now and that may lead the
// case to another state, in order of definition. A guard can refuse one of them still: it
// is judged when the action is performed.
func Ways(c *Case, r *route.Route, actor Actor) (out []Way) {
	if c.Life != Active && c.Life != Completed {
		return nil
	}
	for i := range c.Enabled {
		e := &c.Enabled[i]
		at := r.Action(e.Action)
		if !has(r.Actions, at) || !mayLead(c, r, &r.Actions[at], e, actor) {
			continue
		}
		a := &r.Actions[at]
		way := Way{Action: at, Decided: a.Decide != nil || len(a.Transitions) > 0}
		for _, to := range LeadsTo(c, r, a) {
			if to != c.Status {
				way.To = append(way.To, to)
			}
		}
		if len(way.To) > 0 {
			out = append(out, way)
		}
	}
	return out
}

// Possible returns the actions of people that the actor may perform now though they are
// not among their tasks, in order of definition: they are allowed to, or administer the
// route. A guard can refuse one of them still.
func Possible(c *Case, r *route.Route, actor Actor) (out []Task) {
	if c.Life != Active && c.Life != Completed {
		return nil
	}
	tasks := Tasks(c, r, actor)
	for i := range r.Actions {
		e := c.enablement(r.Actions[i].Name)
		if e == nil || slices.ContainsFunc(tasks, func(t Task) bool { return t.Enabled == e && t.Lists&OwnLists != 0 }) {
			continue
		}
		if mayLead(c, r, &r.Actions[i], e, actor) {
			out = append(out, Task{Action: i, Enabled: e})
		}
	}
	return out
}

// mayLead reports whether the actor may perform the enabled action now.
func mayLead(c *Case, r *route.Route, a *route.Action, e *Enabled, actor Actor) bool {
	if a.Trigger != route.TriggerUser || a.Child != nil || !e.State.forPeople() || a.MustAccept && e.State != Accepted || isBarred(c, r, a, actor.Name) {
		return false
	}
	if _, holds := actor.hasAccepted(e); e.State == Accepted && !holds && !actor.RouteAdmin {
		return false
	}
	_, may := mayPerform(c, r.State(c.Status), a, actor)
	return may
}
