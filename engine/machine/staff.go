package machine

import (
	"slices"
	"time"

	"flowdrive/route"
)

// Unstaffed is a task of a case and the parties who could do it.
type Unstaffed struct {
	Number  int64 // of its enablement
	Action  string
	Title   string
	Parties []string // who may be symbolic parties or have no users
	Need    int      // how many users must do it
	Without []string // users who do not count: they have rejected it, or may not perform it
	Barred  []string // those of them who may not, for what they have performed
}

// Excludes reports whether a user does not count.
func (u *Unstaffed) Excludes(user string) bool {
	return slices.ContainsFunc(u.Without, func(name string) bool { return sameName(name, user) })
}

// StaffedTasks returns the tasks of a case that wait for somebody and that roles are
// to do, with all parties who can do them. A task is left out if it is not something
// to do, as to withdraw, or if its roles are of stakeholders alone: a case need not
// have any.
func StaffedTasks(c *Case, r *route.Route) (out []Unstaffed) {
	status := r.State(c.Status)
	for i := range c.Enabled {
		e := &c.Enabled[i]
		at := r.Action(e.Action)
		if at == unknown || !r.Actions[at].IsTask() || e.State != Offered && e.State != Accepted || isWayOut(r, at) {
			continue
		}
		a := &r.Actions[at]
		roles := assignedRoles(a, status)
		allowed, anyone := c.allowedParties(a)
		if len(roles) == 0 || anyone {
			continue
		}
		task := Unstaffed{Number: e.Number, Action: a.Name, Title: title(a), Parties: slices.Concat(holders(c, status, a, e), allowed), Need: 1}
		if a.Need != nil {
			task.Need, task.Without = a.Need.Count, e.Rejected
		}
		if task.Barred = barred(c, r, a); len(task.Barred) > 0 {
			task.Without = slices.Concat(task.Without, task.Barred)
		}
		onlyStakeholders := len(task.Parties) == 0
		for _, role := range roles {
			parties := c.RoleParties(role)
			for _, party := range parties {
				onlyStakeholders = onlyStakeholders && party == PartyStakeholders
			}
			onlyStakeholders = onlyStakeholders && len(parties) > 0
		}
		if !onlyStakeholders {
			out = append(out, task)
		}
	}
	return out
}

// allowedParties returns the parties who may perform an action although it is not assigned
// to them; anyone says that all who see the case may.
func (c *Case) allowedParties(a *route.Action) (parties []string, anyone bool) {
	for _, allowed := range a.Allowed {
		switch allowed.Kind {
		case route.AllowedEveryone, route.AllowedReaders:
			return nil, true
		case route.AllowedRole:
			parties = append(parties, c.RoleParties(allowed.Name)...)
		case route.AllowedUser, route.AllowedTeam:
			parties = append(parties, allowed.Name)
		}
	}
	return parties, false
}

// barred returns the users who may not perform an action, because they have performed
// one that somebody else must perform (docs/contract/routes.md#distinct-performers).
func barred(c *Case, r *route.Route, a *route.Action) (users []string) {
	for _, i := range a.Distinct {
		last := c.performed(r.Actions[i].Name)
		if last == nil {
			continue
		}
		for _, did := range []string{last.By, last.For} {
			if did != "" && !slices.ContainsFunc(users, func(one string) bool { return sameName(one, did) }) {
				users = append(users, did)
			}
		}
	}
	return users
}

// isBarred reports whether the user is one of those.
func isBarred(c *Case, r *route.Route, a *route.Action, user string) bool {
	if len(a.Distinct) == 0 || user == "" {
		return false
	}
	return slices.ContainsFunc(barred(c, r, a), func(one string) bool { return sameName(one, user) })
}

// OfferedAs returns the tasks of a case that are offered to a user because they are one of some
// parties, none if these are nothing but ways out: to refuse or withdraw is not something to do.
func OfferedAs(c *Case, r *route.Route, user string, parties []string) (tasks []TaskRef) {
	if c.Life != Active || !c.hasTasks() {
		return nil
	}
	status, something := r.State(c.Status), false
	for i := range c.Enabled {
		e := &c.Enabled[i]
		at := r.Action(e.Action)
		if at == unknown || !r.Actions[at].IsTask() || e.State != Offered || e.rejectedBy(user) || isBarred(c, r, &r.Actions[at], user) {
			continue
		}
		have := holders(c, status, &r.Actions[at], e)
		is := func(party string) bool {
			return slices.ContainsFunc(have, func(one string) bool { return sameName(one, party) })
		}
		if !slices.ContainsFunc(parties, is) || is(user) && !slices.ContainsFunc(parties, func(party string) bool { return sameName(party, user) }) {
			continue
		}
		tasks, something = append(tasks, TaskRef{c.ID, e.Action}), something || !isWayOut(r, at)
	}
	if !something {
		return nil
	}
	return tasks
}

// Judged returns the case for its warnings to be changed, as of an instant: others can
// do its tasks now, and nothing else has changed.
func (c *Case) Judged(now time.Time) *Case {
	out := c.clone()
	out.Revision++
	if now.After(out.Modified) {
		out.Modified = now
	}
	return out
}
