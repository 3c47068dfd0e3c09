package engine

import (
	"slices"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
)

// troubleCondition begins the names of troubles that an expression cannot be evaluated.
const troubleCondition = "condition "

// unevaluatedSince returns the expressions that cannot be evaluated since the change, and
// so count as false (docs/contract/engine.md#failures).
func (c *caseChange) unevaluatedSince() (out []named) {
	before := c.was.Unevaluated()
	for _, u := range c.after.Unevaluated() {
		if !slices.ContainsFunc(before, sameExpression(&u)) {
			out = append(out, named{troubleCondition + u.Name, trouble{What: notice.WhatCondition, Text: u.Text, Task: u.Action}})
		}
	}
	return out
}

// evaluatedSince adds how each of those is over that could not be evaluated before the
// change.
func (c *caseChange) evaluatedSince(over map[string]notice.End) {
	after := c.after.Unevaluated()
	for _, u := range c.was.Unevaluated() {
		if !slices.ContainsFunc(after, sameExpression(&u)) {
			over[troubleCondition+u.Name] = endOf(u.End(c.after, c.route))
		}
	}
}

func sameExpression(u *machine.Unevaluated) func(machine.Unevaluated) bool {
	return func(other machine.Unevaluated) bool { return other.Name == u.Name }
}
