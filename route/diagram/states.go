package diagram

import (
	"strings"

	"flowdrive/route"
)

// firstState is the index of the first state's node: that where cases begin comes
// before it.
const firstState = 1

// states makes the graph of a route of states.
func (b *builder) states() {
	b.node(Node{Kind: Begin})
	for i := range b.r.States {
		s := &b.r.States[i]
		b.node(Node{Kind: Kind(s.Type), State: s.Name, Title: titleOr(s.Title, s.Name)})
	}
	for i := range b.r.Actions {
		b.action(&b.r.Actions[i])
	}
	for i := range b.r.Transitions {
		b.transition(&b.r.Transitions[i])
	}
	b.failures()
	for i := range b.r.States {
		if limit := b.r.States[i].Timeout; limit != nil {
			b.line(i, Label{Icon: ByTime, Text: "Time limit of " + limit.Words()})
		}
	}
}

// line adds a line to the box of a state.
func (b *builder) line(state int, l Label) {
	if !b.room() {
		return
	}
	n := &b.g.Nodes[firstState+state]
	n.Lines = append(n.Lines, l)
}

// action adds the arrows of an action, or its lines if it does not lead anywhere.
func (b *builder) action(a *route.Action) {
	switch {
	case len(a.Transitions) > 0: // they have the arrows
	case a.Trigger == route.TriggerInit:
		b.leads(a, []int{route.NoState})
	case a.Always:
		b.g.Below = append(b.g.Below, labelOf(a))
	case a.Child != nil:
		b.children(a)
	default:
		b.leads(a, b.sources(a))
	}
}

// sources returns the states in which an action can be performed.
func (b *builder) sources(a *route.Action) []int {
	var out []int
	for i := range b.r.States {
		if a.In.Has(i) || a.EnabledIn.Has(i) {
			out = append(out, i)
		}
	}
	return out
}

// at returns the node of a state; that where cases begin for none.
func at(state int) int {
	if state == route.NoState {
		return 0
	}
	return firstState + state
}

func (b *builder) name(state int) string {
	if state == route.NoState {
		return ""
	}
	return b.r.States[state].Name
}

// leads adds the arrows of an action from each of the states.
func (b *builder) leads(a *route.Action, from []int) {
	if a.Decide != nil {
		b.decides(a, from)
		return
	}
	for _, s := range from {
		way := Way{Action: a.Name, From: b.name(s), To: b.name(a.To)}
		switch {
		case a.To != route.NoState && a.To != s:
			b.edge(at(s), at(a.To), way, labelOf(a))
		case s != route.NoState:
			b.line(s, lineOf(a))
		}
	}
}

// decides adds a rhombus for an action that decides where it leads to.
func (b *builder) decides(a *route.Action, from []int) {
	node := b.node(Node{Kind: Decision, Action: a.Name})
	for _, s := range from {
		b.edge(at(s), node, Way{Action: a.Name, From: b.name(s)}, labelOf(a))
	}
	b.outcomes(a, node)
	if stays := keysTo(a, route.NoState); len(from) == 1 && from[0] != route.NoState && len(stays) > 0 {
		b.edge(node, at(from[0]), Way{Action: a.Name, To: b.name(from[0])}, Label{Text: strings.Join(stays, ", ")})
	}
}

// outcomes adds an arrow to each state that the outcomes of an action lead to.
func (b *builder) outcomes(a *route.Action, node int) {
	done := map[int]bool{route.NoState: true}
	for _, o := range a.Outputs {
		if done[o.To] {
			continue
		}
		done[o.To] = true
		keys, to := keysTo(a, o.To), b.name(o.To)
		var labels []Label
		if len(keys) > 1 || keys[0] != to {
			labels = append(labels, Label{Text: strings.Join(keys, ", ")})
		}
		b.edge(node, at(o.To), Way{Action: a.Name, To: to}, labels...)
	}
}

// keysTo returns the outcomes of an action that lead to a state.
func keysTo(a *route.Action, state int) []string {
	var out []string
	for _, o := range a.Outputs {
		if o.To == state {
			out = append(out, o.Name)
		}
	}
	return out
}

// children adds a stack for the children of an action: between the states in which
// it asks for them and those that it leads to.
func (b *builder) children(a *route.Action) {
	node := b.node(stackOf(a))
	meanwhile := a.Child.While
	for _, s := range b.sources(a) {
		if meanwhile == route.NoState || meanwhile == s {
			b.edge(at(s), node, Way{Action: a.Name, From: b.name(s)}, Label{Icon: ByCases, Text: "asks " + askedOf(a.Child), Action: a.Name})
			continue
		}
		b.edge(at(s), at(meanwhile), Way{Action: a.Name, From: b.name(s), To: b.name(meanwhile)},
			Label{Icon: ByItself, Text: titleOr(a.Title, a.Name) + " begins", Action: a.Name})
		b.edge(at(meanwhile), node, Way{Action: a.Name}, Label{Icon: ByCases, Text: "asks " + askedOf(a.Child), Action: a.Name})
	}
	b.outcomes(a, node)
	if a.To != route.NoState {
		b.edge(node, at(a.To), Way{Action: a.Name, To: b.name(a.To)})
	}
}

// transition adds the arrows of actions that lead on together: they meet in a bar.
func (b *builder) transition(t *route.Transition) {
	from, to := b.name(t.From), b.name(t.To)
	if len(t.Requires) == 1 {
		a := &b.r.Actions[t.Requires[0]]
		if t.From == t.To {
			b.line(t.From, lineOf(a))
			return
		}
		b.edge(at(t.From), at(t.To), Way{Action: a.Name, From: from, To: to}, labelOf(a))
		return
	}
	node := b.node(Node{Kind: Join})
	for _, i := range t.Requires {
		a := &b.r.Actions[i]
		b.edge(at(t.From), node, Way{Action: a.Name, From: from}, labelOf(a))
		b.edge(node, at(t.To), Way{Action: a.Name, From: from, To: to})
	}
}
