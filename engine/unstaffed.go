package engine

import (
	"fmt"
	"slices"
	"strings"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/internal/identity"
	"flowdrive/route"
)

// How the warning of a case begins that nobody can do a task, and that fewer can do it
// than it needs.
const (
	nobodyCan = "Nobody can do it: "
	tooFewCan = "Its quorum cannot be reached: "
)

// unstaffed is a task of a case that waits, and how many users can do it, who are too few.
type unstaffed struct {
	machine.Unstaffed
	can      int
	counted  bool     // it may be told how many can
	disabled []string // users who would be among them, and teams that have such
}

// warnUnstaffed keeps the warnings of a case in step with who there is: of each task
// that waits and that no user who may log in can do, or too few of them, there is one
// (docs/contract/engine.md#5-tasks).
func (e *decider) warnUnstaffed(c *machine.Case, r *route.Route) {
	had := slices.ContainsFunc(c.Warnings, isUnstaffed)
	if c.Life == machine.Suspended {
		return // its tasks wait until it is resumed, and nobody has become able to do them
	}
	var missing []unstaffed
	if c.Life == machine.Active {
		for _, task := range machine.StaffedTasks(c, r) {
			if can, lacks := (staffing{e}).lacksStaff(c, task); lacks {
				missing = append(missing, unstaffed{task, can, countTold(e.directory(), c, task), staffing{e}.disabledStaff(c, task)})
			}
		}
	}
	if !had && len(missing) == 0 {
		return
	}
	before := c.Warnings
	c.Warnings = nil
	for _, w := range before {
		at := slices.IndexFunc(missing, func(m unstaffed) bool { return m.Number == w.Enablement })
		switch {
		case !isUnstaffed(w):
		case at < 0:
			continue
		default:
			w.Text = missing[at].text() // there may be others by now
		}
		c.Warnings = append(c.Warnings, w)
	}
	for _, m := range missing {
		if !slices.ContainsFunc(c.Warnings, func(w machine.Warning) bool { return isUnstaffed(w) && w.Enablement == m.Number }) {
			c.Warnings = append(c.Warnings, machine.Warning{Timer: m.Action, Time: c.Modified, Enablement: m.Number, Text: m.text()})
		}
	}
}

// text says it, and of a task why there are too few who can do it, if that is not that its
// role has nobody.
func (u *unstaffed) text() string {
	text := nobodyCan + u.Title
	switch {
	case u.Need >= 2 && u.can > 0 && !u.counted:
		text = fmt.Sprintf("%s%s (it needs %d, and fewer can do it)", tooFewCan, u.Title, u.Need)
	case u.Need >= 2 && u.can > 0:
		text = fmt.Sprintf("%s%s (it needs %d, and only %d can do it)", tooFewCan, u.Title, u.Need, u.can)
	case u.Need >= 2:
		text += fmt.Sprintf(" (it needs %d)", u.Need)
	}
	if len(u.Barred) > 0 {
		has := "has"
		if len(u.Barred) > 1 {
			has = "have"
		}
		text += fmt.Sprintf(" (%s %s done an earlier step, and may not do this one)", firstOf(u.Barred), has)
	}
	if len(u.disabled) > 0 {
		verb := "is"
		if len(u.disabled) > 1 {
			verb = "are"
		}
		text += fmt.Sprintf(" (%s %s disabled)", firstOf(u.disabled), verb)
	}
	return text
}

// staffing says what of who can do a task is told.
type staffing struct{ *decider }

// lacksStaff returns how many users can do the task, and whether these are too few. How many
// are in a team is not for every author to know: by a route that needs some number of them one
// could find that out. So of a route whose author is not told it, one is enough.
func (e staffing) lacksStaff(c *machine.Case, task machine.Unstaffed) (can int, lacks bool) {
	can = e.staff(c, task)
	return can, can < task.Need && (can == 0 || e.staffTold(c, task))
}

// staffTold reports whether who answers for the route of the case is told who is in the teams
// that can do the task.
func (e staffing) staffTold(c *machine.Case, task machine.Unstaffed) bool {
	return !slices.ContainsFunc(staffParties(c, task), func(party string) bool {
		p := e.directory().ByName(identity.Name(party))
		return p != nil && p.Kind == identity.Team && !routeAuthors{e.base}.mayName(machine.MemberRight{Team: party, By: c.RouteID})
	})
}

// disabledStaff returns the users who could do the task if they were not disabled, by name,
// and the teams that have such members, who are not named to all who see the case: the author
// of its route must be told who is in the team. Those are not meant who are among everyone or
// the administrators: there are others.
func (e staffing) disabledStaff(c *machine.Case, task machine.Unstaffed) (out []string) {
	d, told := e.directory(), e.staffTold(c, task)
	excludes := func(p *identity.Party) bool { return task.Excludes(string(p.Name)) }
	for _, party := range staffParties(c, task) {
		p := d.ByName(identity.Name(party))
		switch {
		case p == nil || p.Name == identity.Everyone:
		case p.Kind == identity.User && p.Disabled && !excludes(p):
			out = append(out, string(p.Name))
		case p.Kind == identity.Team && told && slices.ContainsFunc(d.Parties(), func(user *identity.Party) bool {
			return user.Kind == identity.User && user.Disabled && !excludes(user) && slices.Contains(d.Contexts(user.ID), p.ID)
		}):
			out = append(out, "a member of the team "+string(p.Name))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// staffParties returns the parties of a task, its stakeholders by their names.
func staffParties(c *machine.Case, task machine.Unstaffed) (out []string) {
	for _, party := range task.Parties {
		if party == machine.PartyStakeholders {
			out = append(out, c.Stakeholders...)
			continue
		}
		out = append(out, party)
	}
	return out
}

// countTold reports whether it may be told how many users can do the task: how many a team
// has is for those to know who see its members.
func countTold(d *identity.Directory, c *machine.Case, task machine.Unstaffed) bool {
	return !slices.ContainsFunc(staffParties(c, task), func(party string) bool {
		p := d.ByName(identity.Name(party))
		return p != nil && p.Kind == identity.Team
	})
}

// staff returns how many users who may log in the parties have, or as many as the task
// needs if that is enough to know. Who may not perform it does not count.
func (e *decider) staff(c *machine.Case, task machine.Unstaffed) int {
	var users []string
	for _, party := range task.Parties {
		list := []string{party}
		switch party {
		case string(identity.Everyone), machine.PartyAdmins: // the administrators of the server are among these
			if len(task.Barred) == 0 {
				return task.Need
			}
			if party == machine.PartyAdmins {
				list = e.allAdmins(c.RouteID)
			}
		case machine.PartyStakeholders:
			list = c.Stakeholders
		}
		for _, one := range list {
			users = append(users, e.persons(one)...)
		}
	}
	slices.Sort(users)
	return len(slices.DeleteFunc(slices.Compact(users), task.Excludes))
}

// allAdmins returns the parties that administer a route, those who administer the
// server included.
func (e *decider) allAdmins(routeID int64) []string {
	parties := e.rights.Admins(routeID)
	for _, p := range e.directory().Parties() {
		if p.Kind == identity.User && p.Admin {
			parties = append(parties, string(p.Name))
		}
	}
	return parties
}

func isUnstaffed(w machine.Warning) bool {
	return strings.HasPrefix(w.Text, nobodyCan) || strings.HasPrefix(w.Text, tooFewCan)
}

// unstaffedSince returns the tasks that nobody can do since the change.
func (c *caseChange) unstaffedSince() (out []named) {
	for _, w := range c.after.Warnings {
		if isUnstaffed(w) && (c.was == nil || !slices.ContainsFunc(c.was.Warnings, sameTask(w))) {
			text := "No user who may log in can do this task. Give its role to somebody else, or somebody else to its team."
			if strings.HasPrefix(w.Text, tooFewCan) {
				text = "Fewer users who may log in can do this task than it needs. Give its role to further users, or further users to its team."
			}
			out = append(out, named{unstaffedName(w), trouble{What: notice.WhatUnstaffed, Word: w.Text, Text: text, Task: w.Timer}})
		}
	}
	return out
}

// staffedSince adds the tasks that somebody can do since the change, was given up, or that
// the case does not wait for any more.
func (c *caseChange) staffedSince(over map[string]notice.End) {
	for _, w := range c.was.Warnings {
		if !isUnstaffed(w) || slices.ContainsFunc(c.after.Warnings, sameTask(w)) {
			continue
		}
		waits := slices.ContainsFunc(c.after.Enabled, func(e machine.Enabled) bool { return e.Number == w.Enablement })
		switch {
		case waits:
			over[unstaffedName(w)] = notice.EndMended
		case machine.GivenUp(c.log, w.Timer):
			over[unstaffedName(w)] = notice.EndGivenUp
		default:
			over[unstaffedName(w)] = notice.EndPassed
		}
	}
}

func sameTask(w machine.Warning) func(machine.Warning) bool {
	return func(other machine.Warning) bool { return isUnstaffed(other) && other.Enablement == w.Enablement }
}

func unstaffedName(w machine.Warning) string {
	return troubleNobody + fmt.Sprintf("%s %d", w.Timer, w.Enablement)
}

// stillUnstaffed reports whether there is nobody for the task that is named.
func (e *decider) stillUnstaffed(c *caseChange, name string) bool {
	for _, task := range machine.StaffedTasks(c.after, c.route) {
		if fmt.Sprintf("%s %d", task.Action, task.Number) == name {
			_, lacks := staffing{e}.lacksStaff(c.after, task)
			return c.after.Life != machine.Active || lacks
		}
	}
	return false
}
