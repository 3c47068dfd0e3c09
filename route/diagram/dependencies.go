package diagram

import (
	"fmt"

	"flowdrive/route"
)

// dependencies makes the graph of a route whose actions wait for each other.
func (b *builder) dependencies() {
	for i := range b.r.Actions {
		b.g.Nodes = append(b.g.Nodes, actionNode(&b.r.Actions[i]))
	}
	for i := range b.r.Actions {
		for _, after := range b.r.Actions[i].After {
			before := &b.r.Actions[after.Action]
			var labels []Label
			if after.Min > 1 {
				labels = append(labels, Label{Text: fmt.Sprintf("×%d", after.Min)})
			}
			b.edge(after.Action, i, Way{Action: before.Name, To: b.r.Actions[i].Name}, labels...)
		}
	}
	b.begin()
}

// begin connects what waits for nothing with the action that begins a case, or with
// where cases begin.
func (b *builder) begin() {
	from := b.r.Init
	if from < 0 {
		from = b.node(Node{Kind: Begin})
	}
	for i := range b.r.Actions {
		if i != from && len(b.r.Actions[i].After) == 0 {
			b.edge(from, i, Way{Action: b.g.Nodes[from].Action, To: b.r.Actions[i].Name})
		}
	}
}

// actionNode returns the box of an action.
func actionNode(a *route.Action) Node {
	if a.Child != nil {
		return stackOf(a)
	}
	n := Node{Kind: Task, Action: a.Name, Title: titleOr(a.Title, a.Name)}
	if a.Final {
		n.Kind = Final
	}
	if l := labelOf(a); l.Icon != ByPeople && l.Icon != NoIcon {
		n.Lines = append(n.Lines, Label{Icon: l.Icon, Text: whenOf(a)})
	}
	return n
}
