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

// nobodyCan begins the warning of a case that nobody can do a task.
const nobodyCan = "Nobody can do it: "

// warnUnstaffed keeps the warnings of a case in step with who there is: of each task
// that waits and that no user who may log in can do, there is one
// (docs/contract/engine.md#5-tasks).
func (e *decider) warnUnstaffed(c *machine.Case, r *route.Route) {
	had := slices.ContainsFunc(c.Warnings, isUnstaffed)
	var missing []machine.Unstaffed
	if c.Life == machine.Active {
		for _, task := range machine.StaffedTasks(c, r) {
			if !e.hasStaff(c, task) {
				missing = append(missing, task)
			}
		}
	}
	if !had && len(missing) == 0 {
		return
	}
	before := c.Warnings
	c.Warnings = nil
	for _, w := range before {
		if !isUnstaffed(w) || slices.ContainsFunc(missing, func(m machine.Unstaffed) bool { return m.Number == w.Enablement }) {
			c.Warnings = append(c.Warnings, w)
		}
	}
	for _, m := range missing {
		if !slices.ContainsFunc(c.Warnings, func(w machine.Warning) bool { return isUnstaffed(w) && w.Enablement == m.Number }) {
			c.Warnings = append(c.Warnings, machine.Warning{Timer: m.Action, Time: c.Modified, Enablement: m.Number, Text: nobodyCan + m.Title + fewer(m)})
		}
	}
}

// fewer says of a task why there are too few who can do it, if that is not that its
// role has nobody.
func fewer(task machine.Unstaffed) (why string) {
	if task.Need >= 2 {
		why = fmt.Sprintf(" (it needs %d, and there are fewer)", task.Need)
	}
	if len(task.Barred) > 0 {
		why += fmt.Sprintf(" (not by %s, for what they have performed before)", strings.Join(task.Barred, ", "))
	}
	return why
}

// hasStaff reports whether the parties have as many users who may log in as the task
// needs. Who may not perform it does not count.
func (e *decider) hasStaff(c *machine.Case, task machine.Unstaffed) bool {
	var users []string
	for _, party := range task.Parties {
		list := []string{party}
		switch party {
		case string(identity.Everyone), machine.PartyAdmins: // the administrators of the server are among these
			if len(task.Barred) == 0 {
				return true
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
	users = slices.DeleteFunc(slices.Compact(users), func(user string) bool {
		return slices.ContainsFunc(task.Without, func(name string) bool { return identity.Fold(name) == identity.Fold(user) })
	})
	return len(users) >= task.Need
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

func isUnstaffed(w machine.Warning) bool { return strings.HasPrefix(w.Text, nobodyCan) }

// unstaffedSince returns the tasks that nobody can do since the change.
func (c *caseChange) unstaffedSince() (out []named) {
	for _, w := range c.after.Warnings {
		if isUnstaffed(w) && (c.was == nil || !slices.ContainsFunc(c.was.Warnings, sameTask(w))) {
			text := "No user who may log in can do this task. Give its role to somebody else, or somebody else to its team."
			out = append(out, named{unstaffedName(w), trouble{What: notice.WhatUnstaffed, Word: w.Text, Text: text, Task: w.Timer}})
		}
	}
	return out
}

// staffedSince returns the names of tasks that somebody can do since the change, or
// that are done.
func (c *caseChange) staffedSince() (names []string) {
	for _, w := range c.was.Warnings {
		if isUnstaffed(w) && !slices.ContainsFunc(c.after.Warnings, sameTask(w)) {
			names = append(names, unstaffedName(w))
		}
	}
	return names
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
			return c.after.Life != machine.Active || !e.hasStaff(c.after, task)
		}
	}
	return false
}
