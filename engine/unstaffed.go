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
			if !e.hasStaff(c, task.Parties) {
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
			c.Warnings = append(c.Warnings, machine.Warning{Timer: m.Action, Time: c.Modified, Enablement: m.Number, Text: nobodyCan + m.Title})
		}
	}
}

// hasStaff reports whether one of the parties has a user who may log in.
func (e *decider) hasStaff(c *machine.Case, parties []string) bool {
	return slices.ContainsFunc(parties, func(party string) bool {
		switch party {
		case string(identity.Everyone), machine.PartyAdmins: // the administrators of the server are among these
			return true
		case machine.PartyStakeholders:
			return slices.ContainsFunc(c.Stakeholders, func(one string) bool { return len(e.persons(one)) > 0 })
		}
		return len(e.persons(party)) > 0
	})
}

func isUnstaffed(w machine.Warning) bool { return strings.HasPrefix(w.Text, nobodyCan) }

// unstaffedSince returns the tasks that nobody can do since the change.
func (c *caseChange) unstaffedSince() (out []named) {
	for _, w := range c.after.Warnings {
		if isUnstaffed(w) && (c.was == nil || !slices.ContainsFunc(c.was.Warnings, sameTask(w))) {
			text := "No user who may log in can do this task. Give its role to somebody, or somebody to its team."
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
			return c.after.Life != machine.Active || !e.hasStaff(c.after, task.Parties)
		}
	}
	return false
}
