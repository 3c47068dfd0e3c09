// Package picture says how a case stands in the picture of its route: where it is,
// how it came there and where it can go to (docs/contract/drive.md#pictures). It
// knows no engine.
package picture

import (
	"fmt"
	"slices"
	"strings"

	"flowdrive/engine/machine"
	"flowdrive/route"
	"flowdrive/route/diagram"
)

// Case is what the marks of a case are made from. Log is all of it, oldest entry
// first.
type Case struct {
	Case  *machine.Case
	Route *route.Route // of the version that the case has
	Log   []machine.LogEntry
	Rows  []diagram.Row // of the route's graph
}

// Marks returns the marks of the case.
func (c *Case) Marks() *diagram.Marks {
	m := &diagram.Marks{
		States: map[string]diagram.Mark{}, Actions: map[string]diagram.Mark{}, Stacks: map[string]string{}, Times: map[string]int{},
	}
	for i := range c.Case.Performed {
		p := &c.Case.Performed[i]
		m.Times[p.Action] = int(p.Count)
	}
	for i := range c.Case.Enabled {
		if k := c.Case.Enabled[i].Children; k != nil {
			m.Stacks[c.Case.Enabled[i].Action] = childrenOf(k)
		}
	}
	if c.Route.Model == route.Dependency {
		c.markActions(m)
	} else {
		c.markStates(m)
	}
	m.Title = c.title()
	m.Text = c.text(m)
	return m
}

// childrenOf says how far the children of an action are: "2 of 4 ended".
func childrenOf(k *machine.ChildSummary) string {
	return fmt.Sprintf("%d of %d ended", k.Completed+k.Canceled, k.Total)
}

// markStates marks the states that the case has been in, and the arrows that it went
// along or can go along.
func (c *Case) markStates(m *diagram.Marks) {
	went := map[diagram.Way]bool{}
	for i := range c.Log {
		e := &c.Log[i]
		if !c.moves(e) {
			continue
		}
		w := diagram.Way{Action: text(e.Action), From: text(e.From), To: *e.To}
		m.States[w.To] = diagram.Been
		if !went[w] {
			went[w] = true
			m.Went = append(m.Went, w)
		}
	}
	if c.Case.Status == "" {
		return
	}
	m.States[c.Case.Status], m.Flag = diagram.Here, "now"
	if c.Case.Life.Ended() {
		m.States[c.Case.Status], m.Flag = diagram.Reached, ""
		return
	}
	for i := range c.Case.Enabled {
		w := diagram.Way{Action: c.Case.Enabled[i].Action, From: c.Case.Status}
		if !slices.Contains(m.Can, w) {
			m.Can = append(m.Can, w)
		}
	}
}

// moves reports whether an entry of the log tells that the case came into a state of
// the route, and not of its life.
func (c *Case) moves(e *machine.LogEntry) bool {
	return e.To != nil && e.Kind != machine.LogLife && c.Route.State(*e.To) >= 0
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// markActions marks the actions that were performed, those that children work on, and
// those that have to wait.
func (c *Case) markActions(m *diagram.Marks) {
	enabled := map[string]*machine.Enabled{}
	for i := range c.Case.Enabled {
		enabled[c.Case.Enabled[i].Action] = &c.Case.Enabled[i]
	}
	for i := range c.Route.Actions {
		name := c.Route.Actions[i].Name
		switch e := enabled[name]; {
		case e != nil && e.Children != nil:
			m.Actions[name] = diagram.Here
		case e != nil:
		case m.Times[name] > 0:
			m.Actions[name] = diagram.Been
		default:
			m.Actions[name] = diagram.Far
		}
		// An arrow leads to what was done or is under way, or to what can be done.
		w := diagram.Way{To: name}
		switch {
		case m.Actions[name] == diagram.Been || m.Actions[name] == diagram.Here:
			m.Went = append(m.Went, w)
		case enabled[name] != nil:
			m.Can = append(m.Can, w)
		}
	}
}

func (c *Case) title() string {
	title := c.Route.Title
	if title == "" {
		title = c.Route.Name
	}
	if c.Route.Model == route.Dependency {
		return fmt.Sprintf("%s: how far case %d is", title, c.Case.ID)
	}
	return fmt.Sprintf("%s: where case %d is", title, c.Case.ID)
}

// text says the same as the marks in sentences.
func (c *Case) text(m *diagram.Marks) string {
	if c.Route.Model == route.Dependency {
		return c.progress(m)
	}
	var out []string
	switch {
	case c.Case.Status == "":
		out = append(out, "The case has not started.")
	case c.Case.Life.Ended():
		out = append(out, fmt.Sprintf("The case has ended in %s.", c.state(c.Case.Status)))
	default:
		out = append(out, fmt.Sprintf("The case is in %s.", c.state(c.Case.Status)))
	}
	if way := c.way(); way != "" {
		out = append(out, "It went: "+way+".")
	}
	if next := c.next(); next != "" {
		out = append(out, "From here: "+next+".")
	}
	return strings.Join(out, " ")
}

// longest is how many steps of its way are told of a case, the latest ones.
const longest = 20

// way says how the case came to where it is: "Claim to Claimed, Approve to Paid".
func (c *Case) way() string {
	var steps []string
	for i := range c.Log {
		e := &c.Log[i]
		if !c.moves(e) {
			continue
		}
		step := "to " + c.state(*e.To)
		if e.Action != nil {
			step = c.action(*e.Action) + " " + step
		}
		steps = append(steps, step)
	}
	if over := len(steps) - longest; over > 0 {
		steps = append([]string{fmt.Sprintf("%d steps before", over)}, steps[over:]...)
	}
	return strings.Join(steps, ", ")
}

// next says where the actions lead that are enabled.
func (c *Case) next() string {
	if c.Case.Life.Ended() {
		return ""
	}
	targets := map[string][]string{}
	for _, row := range c.Rows {
		targets[row.Action] = row.To
	}
	var out []string
	for i := range c.Case.Enabled {
		name := c.Case.Enabled[i].Action
		if to := targets[name]; len(to) > 0 {
			out = append(out, c.action(name)+" leads to "+strings.Join(to, " or "))
		}
	}
	return strings.Join(out, ", ")
}

// progress says what was done, what is under way and what can be done.
func (c *Case) progress(m *diagram.Marks) string {
	var done, under, possible []string
	for i := range c.Case.Enabled {
		name := c.Case.Enabled[i].Action
		if m.Actions[name] == diagram.Here {
			under = append(under, c.action(name)+" ("+m.Stacks[name]+")")
			continue
		}
		possible = append(possible, c.action(name))
	}
	for i := range c.Route.Actions {
		if name := c.Route.Actions[i].Name; m.Times[name] > 0 {
			done = append(done, c.action(name))
		}
	}
	var out []string
	for _, part := range []struct {
		what  string
		names []string
	}{{"Performed", done}, {"Under way", under}, {"Possible", possible}} {
		if len(part.names) > 0 {
			out = append(out, part.what+": "+strings.Join(part.names, ", ")+".")
		}
	}
	return strings.Join(out, " ")
}

// state returns the title of a state, and action that of an action. An action that only
// an earlier version of the route had is told by its name.
func (c *Case) state(name string) string {
	if i := c.Route.State(name); i >= 0 && c.Route.States[i].Title != "" {
		return c.Route.States[i].Title
	}
	return name
}

func (c *Case) action(name string) string {
	if i := c.Route.Action(name); i >= 0 && c.Route.Actions[i].Title != "" {
		return c.Route.Actions[i].Title
	}
	return name
}
