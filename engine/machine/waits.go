package machine

import (
	"cmp"
	"slices"
	"time"

	"flowdrive/route"
)

// Wait is something that a case waits for: an enabled action, or a delivery.
type Wait struct {
	Action   string // the name of the action, or that of the delivery
	Title    string // of the action; of a delivery its verb
	State    TaskState
	Delivery bool
	Who      []string // whom it waits for, or who may do it; PartyAdmins for the administrators of the route
	Assigned []string // the parties to whom it is assigned
	By       string   // who has accepted it, "" for nobody
	For      string   // on whose behalf, "" on their own
	Warned   bool     // it has warnings
	Optional bool     // it can be done, and nothing waits for it
	Without  []string // users to whom it is not offered any more: they have rejected it, or performed their part of it
	Since    time.Time
	Due      time.Time // by when it is to be performed; zero: no date
	AcceptBy time.Time // by when it is to be accepted; zero: no date
	At       time.Time // when the engine performs it; zero: it does not
	Remind   time.Time // when people are reminded next; zero: never
	Need     *Quorum   // how far it is, if several must perform it; nil: one does
	Children int64     // how many children are open
	Fault    string    // of a delivery, or of what cannot be done: what went wrong last; of what is Waiting: why its guard could not be evaluated
	Delay    *Delay    // of a delivery: attempts have failed, and there is another one; nil: none has
	Source   string    // of a delivery: the action or timer that has asked for it
}

// Waits returns what the case waits for, in order of definition. An ended case waits
// for nothing, except for deliveries and for what can still be done with it.
func Waits(c *Case, r *route.Route) (out []Wait) {
	if c.IsDraft() {
		return waitsOfDraft(c, r)
	}
	status := r.State(c.Status)
	for i := range r.Actions {
		a := &r.Actions[i]
		place := slices.IndexFunc(c.Enabled, func(e Enabled) bool { return e.Action == a.Name })
		if place < 0 {
			continue
		}
		e := &c.Enabled[place]
		w := Wait{Action: a.Name, Title: cmp.Or(a.Title, a.Name), State: e.State, Since: e.Since, At: e.Due, Remind: e.Remind}
		w.Due, w.AcceptBy = e.Dates()
		w.Need = quorum(a, e)
		if a.Trigger == route.TriggerUser {
			w.Assigned, w.By, w.For, w.Warned = assignees(c, status, a, e), e.By, e.For, c.warned(e.Number)
			w.Who = Performers(c, r, e)
		}
		w.Optional = a.Trigger == route.TriggerUser && e.State != Escalated && e.State != Accepted && e.To == "" &&
			(c.Life.Ended() || len(assignedRoles(a, status)) == 0)
		w.Without = slices.Clone(e.Rejected)
		for i := range e.Votes {
			w.Without = append(w.Without, e.Votes[i].counts())
		}
		if e.State == Escalated {
			w.Who, w.Fault = []string{PartyAdmins}, e.Fault
		}
		if e.State == Waiting {
			w.Fault = c.unevaluated(keyGuard, e)
		}
		if e.Children != nil {
			w.Children = e.Children.open()
		}
		out = append(out, w)
	}
	if b := c.Broken; b != nil {
		w := Wait{Action: b.Action, Title: b.Action, State: Escalated, Who: []string{PartyAdmins}, Since: b.At, Fault: b.Fault}
		if i := r.Action(b.Action); i != unknown {
			w.Title = title(&r.Actions[i])
		}
		out = append(out, w)
	}
	for i := range c.Outbox {
		o := &c.Outbox[i]
		w := Wait{Action: o.Name(), Title: string(o.Verb), State: Running, Delivery: true, Since: o.At, Fault: o.Fault, Delay: o.Delay, Source: o.Source}
		if o.Failed {
			w.State, w.Who = Escalated, []string{PartyAdmins}
		}
		out = append(out, w)
	}
	return out
}

// Performers returns the parties for whom an enabled action of people waits, or if there
// are none, those who may perform it. Administrators of the route always may.
func Performers(c *Case, r *route.Route, e *Enabled) []string {
	who := Assignees(c, r, e)
	if i := r.Action(e.Action); i != unknown && len(who) == 0 {
		who = allowedParties(c, &r.Actions[i])
	}
	return who
}

// Refused returns the actions that an active case would have enabled but for their
// enableIf, in order of definition.
func Refused(c *Case, r *route.Route) (out []*route.Action) {
	if c.Life != Active {
		return nil
	}
	status := r.State(c.Status)
	for i := range r.Actions {
		a := &r.Actions[i]
		inStatus := a.Always || r.Model == route.Dependency || enabledIn(a, status)
		if a.EnableIf != nil && a.Trigger != route.TriggerInit && inStatus && c.enablement(a.Name) == nil && c.leaves(r, a) {
			out = append(out, a)
		}
	}
	return out
}

// unevaluated returns why the expression of a key of an enablement could not be
// evaluated when it was last, "" if it could.
func (c *Case) unevaluated(key string, e *Enabled) string {
	for i := range c.Warnings {
		if w := &c.Warnings[i]; w.Timer == e.Action && w.Enablement == e.Number {
			if why, is := w.unevaluated(key); is {
				return why
			}
		}
	}
	return ""
}

// allowedParties returns who may perform an action that is assigned to nobody, each
// once. It is "everyone" if that is whoever sees the case.
func allowedParties(c *Case, a *route.Action) (out []string) {
	for _, allowed := range a.Allowed {
		var list []string
		switch allowed.Kind {
		case route.AllowedRole:
			list = c.RoleParties(allowed.Name)
		case route.AllowedUser, route.AllowedTeam:
			list = []string{allowed.Name}
		case route.AllowedEveryone, route.AllowedReaders:
			return []string{"everyone"}
		}
		for _, party := range list {
			if !slices.ContainsFunc(out, func(have string) bool { return sameName(have, party) }) {
				out = append(out, party)
			}
		}
	}
	return out
}

// DueBy returns by when something is to be done with a task: accepted while it is
// offered, or performed. It is zero if there is no date.
func (e *Enabled) DueBy() time.Time {
	due, acceptBy := e.Dates()
	if due.IsZero() || !acceptBy.IsZero() && acceptBy.Before(due) {
		return acceptBy
	}
	return due
}

// FirstDue returns when the first task of the case is due, zero if none is.
func (c *Case) FirstDue() (first time.Time) {
	for i := range c.Enabled {
		if due := c.Enabled[i].DueBy(); !due.IsZero() && (first.IsZero() || due.Before(first)) {
			first = due
		}
	}
	return first
}

// Last returns the last performance of an action in the case, nil for none, and what
// the log says of it.
func Last(c *Case, r *route.Route) (last *Performed, text string) {
	for i := range c.Performed {
		if p := &c.Performed[i]; last == nil || p.Seq > last.Seq {
			last = p
		}
	}
	if last == nil {
		return nil, ""
	}
	if i := r.Action(last.Action); i != unknown {
		return last, past(&r.Actions[i])
	}
	return last, last.Action
}
