package machine

import (
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
