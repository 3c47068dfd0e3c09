package machine

import (
	"slices"
	"strings"

	"flowdrive/route"
)

// Lists are worklists, as a set.
type Lists uint8

// The lists of tasks that somebody has (docs/contract/drive.md#worklists).
const (
	OnOffered   Lists = 1 << iota // may be accepted or performed
	OnAccepted                    // was accepted by this person, or on their behalf
	OnWarnings                    // is this person's and has warnings
	OnEscalated                   // the engine failed to perform it, this person may retry it
)

// Task is an enabled action on somebody's lists, or a delivery that failed.
type Task struct {
	Action  int // index in the route
	Enabled *Enabled
	Failed  *Outgoing // without Action and Row
	Lists   Lists

	// Assigned says that it is the actor's, or of whom it stands in for, by
	// role or because it was delegated, or that the actor administers the
	// route: then the case is seen by whoever has it.
	Assigned bool
}

// TaskRoles returns the roles to which the action is assigned in the present
// status of the case.
func TaskRoles(c *Case, r *route.Route, a *route.Action) []string {
	return assignedRoles(a, r.State(c.Status))
}

// Tasks returns what the actor has to do in the case, in order of definition:
// for itself and for those whose active deputy it is. Only active cases have
// tasks to be done. What was not delivered comes last, in order.
func Tasks(c *Case, r *route.Route, actor Actor) []Task {
	failed := undelivered(c, actor)
	if c.Life != Active {
		return failed
	}
	status := r.State(c.Status)
	var few [16]int
	actions := appendActions(few[:0], r, c.Enabled)
	var out []Task
	for i, at := range actions {
		e := &c.Enabled[i]
		if at == unknown {
			continue
		}
		task := Task{Action: at, Enabled: e, Assigned: actor.RouteAdmin}
		if a := &r.Actions[at]; a.Trigger == route.TriggerUser {
			_, assigned := actor.assignee(c, status, a, e)
			task.Assigned = task.Assigned || assigned
			task.Lists = actor.lists(c, e, assigned)
		}
		if e.State == Escalated && actor.RouteAdmin {
			task.Lists |= OnEscalated
		}
		if task.Lists != 0 {
			out = append(out, task)
		}
	}
	slices.SortFunc(out, func(a, b Task) int { return a.Action - b.Action })
	return append(out, failed...)
}

// undelivered returns what was not delivered, of whatever case that people are
// to look after, for administrators of the route.
func undelivered(c *Case, actor Actor) (out []Task) {
	if !actor.RouteAdmin || c.suspended() {
		return nil
	}
	for i := range c.Outbox {
		if c.Outbox[i].Failed {
			out = append(out, Task{Failed: &c.Outbox[i], Lists: OnEscalated, Assigned: true})
		}
	}
	return out
}

// lists returns on which lists of the actor a user action is.
func (a *Actor) lists(c *Case, e *Enabled, assigned bool) (on Lists) {
	_, holds := a.hasAccepted(e)
	switch {
	case holds:
		on = OnAccepted
	case e.State == Accepted || !assigned:
		return 0
	case e.State == Offered:
		on = OnOffered
	}
	if c.warned(e.Number) {
		on |= OnWarnings
	}
	return on
}

// warned reports whether the enablement has warnings.
func (c *Case) warned(number int64) bool {
	return slices.ContainsFunc(c.Warnings, func(w Warning) bool { return w.Enablement == number })
}

// Share says that a party may have tasks in a case, and on which lists; the
// administrators of the route are PartyAdmins.
type Share struct {
	Party string
	Lists Lists
}

// Shares returns who may have tasks in the case, in order of name: an index by
// which worklists find it. Tasks says who does.
func Shares(c *Case, r *route.Route) (out []Share) {
	if len(undelivered(c, Actor{RouteAdmin: true})) > 0 {
		out = []Share{{PartyAdmins, OnEscalated}}
	}
	if c.Life != Active {
		return out
	}
	add := func(party string, on Lists) {
		if on == 0 || party == "" {
			return
		}
		at, found := slices.BinarySearchFunc(out, party, func(s Share, name string) int { return strings.Compare(s.Party, name) })
		if !found {
			out = slices.Insert(out, at, Share{Party: party})
		}
		out[at].Lists |= on
	}
	status := r.State(c.Status)
	var few [16]int
	for i, at := range appendActions(few[:0], r, c.Enabled) {
		e := &c.Enabled[i]
		if e.State == Escalated {
			add(PartyAdmins, OnEscalated)
		}
		if at == unknown || r.Actions[at].Trigger != route.TriggerUser {
			continue
		}
		var on Lists
		if c.warned(e.Number) {
			on = OnWarnings
		}
		if e.State == Accepted {
			add(e.By, on|OnAccepted)
			add(e.For, on|OnAccepted)
			continue
		}
		if e.State == Offered {
			on |= OnOffered
		}
		for _, party := range assignees(c, status, &r.Actions[at], e) {
			add(party, on)
		}
	}
	return out
}
