package machine

import (
	"slices"
	"strings"

	"flowdrive/internal/identity"
	"flowdrive/route"
)

// Lists is a set of worklists.
type Lists uint8

// The worklists of a user (docs/contract/drive.md#worklists).
const (
	OnOffered   Lists = 1 << iota // the user may accept or perform it
	OnAccepted                    // the user has accepted it, or somebody on their behalf
	OnWarnings                    // the user has it, and it has warnings
	OnEscalated                   // the engine failed to perform it, and the user may retry it

	// The lists on which the starter of a case, and the administrators of its route,
	// watch tasks that are not theirs.
	WatchedWarnings  // the task or the case has warnings
	WatchedEscalated // the engine failed to perform it
)

// OwnLists are the lists of tasks that the user can do something with.
const OwnLists = OnOffered | OnAccepted | OnWarnings | OnEscalated

// Task is an enabled action on the lists of an actor, something that has failed, or
// the warnings of a case.
type Task struct {
	Action  int // index in the route
	Enabled *Enabled
	Failed  *Undone // if set, Action and Enabled are not
	OfCase  bool    // it is the case itself that has warnings; then they are not set either
	OfDraft bool    // it asks for what a draft lacks; then they are not set either
	Lists   Lists

	// Assigned says that the actor, or a user whose deputy the actor is, has the
	// task by role or because it was delegated, or that the actor started the case or
	// administers its route. Then the actor may see the case.
	Assigned bool
}

// TaskRoles returns the roles to which the action is assigned in the present
// status of the case.
func TaskRoles(c *Case, r *route.Route, a *route.Action) []string {
	return assignedRoles(a, r.State(c.Status))
}

// Tasks returns the tasks of the actor in the case, in order of definition: their
// own, those of users whose active deputy the actor is, and those that the actor
// watches. Only active cases have tasks, and those in a state of the type failed. What
// has failed and is not enabled comes last, in order, and then the case itself if it
// has warnings.
func Tasks(c *Case, r *route.Route, actor Actor) []Task {
	if c.IsDraft() {
		return tasksOfDraft(c, actor)
	}
	watches := actor.watches(c)
	failed := undone(c, actor)
	if watches && c.warnsOfItself() {
		failed = append(failed, Task{OfCase: true, Lists: WatchedWarnings, Assigned: true})
	}
	if !c.hasTasks() {
		return failed
	}
	var few [16]int
	actions := appendActions(few[:0], r, c.Enabled)
	var out []Task
	for i, at := range actions {
		e := &c.Enabled[i]
		if at == unknown {
			continue
		}
		task := Task{Action: at, Enabled: e, Assigned: watches}
		if a := &r.Actions[at]; a.Trigger == route.TriggerUser {
			_, assigned := actor.has(c, r, a, e)
			task.Assigned = task.Assigned || assigned
			task.Lists = actor.lists(c, e, assigned)
		}
		if e.State == Escalated && actor.RouteAdmin {
			task.Lists |= OnEscalated
		}
		if watches {
			task.Lists |= c.watched(e)
		}
		if task.Lists != 0 {
			out = append(out, task)
		}
	}
	slices.SortFunc(out, func(a, b Task) int { return a.Action - b.Action })
	return append(out, failed...)
}

// has reports whether the actor has the enabled action as a task, and for whom as a deputy:
// one who has voted, or may not do it after what they have done before, has not.
func (a *Actor) has(c *Case, r *route.Route, action *route.Action, e *Enabled) (behalf string, yes bool) {
	behalf, yes = a.assignee(c, r.State(c.Status), action, e)
	return behalf, yes && !e.votedBy(a.Name) && !e.votedBy(behalf) && !isBarred(c, r, action, a.Name) && !isBarred(c, r, action, behalf)
}

// LentTo reports whether the deputy has a task of the case only for a user whose deputy it is.
func LentTo(deputy Actor, c *Case, r *route.Route, action string) bool {
	i, e := r.Action(action), c.enablement(action)
	if c.IsDraft() || i == unknown || e == nil {
		return false
	}
	behalf, yes := deputy.has(c, r, &r.Actions[i], e)
	return yes && behalf != ""
}

// hasTasks reports whether people may have tasks in the case: in an active one, and in
// one that waits in a state of the type failed for somebody to say how it goes on.
func (c *Case) hasTasks() bool { return c.Life == Active || c.Life == Completed && c.Failing }

// watches reports whether the actor watches what becomes of the case: who started it,
// and the administrators of its route. Nobody started the cases of everyone.
func (a *Actor) watches(c *Case) bool {
	return a.RouteAdmin || c.Starter != string(identity.Everyone) && a.is(c.Starter)
}

// watched returns the lists on which those who watch the case find the enablement.
func (c *Case) watched(e *Enabled) (on Lists) {
	if c.warned(e.Number) {
		on |= WatchedWarnings
	}
	if e.State == Escalated {
		on |= WatchedEscalated
	}
	return on
}

// warnsOfItself reports whether the case has warnings that are not those of a task,
// and may still be helped. A suspended case is on no list, nor is a canceled one.
func (c *Case) warnsOfItself() bool {
	return c.Life != Canceled && (!c.Life.Ended() || c.Life == Failed || len(LateDeliveries(c)) > 0) && !c.suspended() && c.warned(0)
}

// undone returns what has failed in a case and is not enabled, for administrators of
// the route, who may retry it, and for its starter. In a suspended case that is nothing.
func undone(c *Case, actor Actor) (out []Task) {
	if !actor.watches(c) || c.suspended() {
		return nil
	}
	on := WatchedEscalated
	if actor.RouteAdmin {
		on |= OnEscalated
	}
	for _, u := range c.AllUndone() {
		out = append(out, Task{Failed: u, Lists: on, Assigned: true})
	}
	return out
}

// lists returns the lists of the actor that a task is on.
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

// Share says that a party may have tasks in a case, and on which lists. The
// administrators of the route are PartyAdmins.
type Share struct {
	Party string
	Lists Lists
}

// Shares returns who may have tasks in the case, in order of names. Worklists find
// the case by them; Tasks says who has tasks.
func Shares(c *Case, r *route.Route) (out []Share) {
	if c.IsDraft() {
		return sharesOfDraft(c)
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
	watch := func(on Lists) {
		add(PartyAdmins, on)
		if c.Starter != string(identity.Everyone) {
			add(c.Starter, on)
		}
	}
	if len(undone(c, Actor{RouteAdmin: true})) > 0 {
		add(PartyAdmins, OnEscalated)
		watch(WatchedEscalated)
	}
	if c.warnsOfItself() {
		watch(WatchedWarnings)
	}
	if !c.hasTasks() {
		return out
	}
	status := r.State(c.Status)
	var few [16]int
	for i, at := range appendActions(few[:0], r, c.Enabled) {
		e := &c.Enabled[i]
		watch(c.watched(e))
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
