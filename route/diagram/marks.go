package diagram

import (
	"strconv"
	"strings"
)

// Mark says how a case stands to a node.
type Mark string

// Marks of nodes.
const (
	Here    Mark = "here"    // the case is in this state; the action is under way
	Been    Mark = "been"    // it was in this state; the action was performed
	Reached Mark = "reached" // it ended in this state
	Far     Mark = "dim"     // cannot be performed yet, in the dependency model
)

// Count is how many cases are in a state, and how many of them are late.
type Count struct {
	Cases, Late int
	More        bool   // there are older ones that were not counted
	Href        string // where they are listed, "": nowhere
}

// number returns how many cases there are, as a picture shows it.
func (c Count) number() string {
	if c.More {
		return strconv.Itoa(c.Cases) + "+"
	}
	return strconv.Itoa(c.Cases)
}

// words says how many cases there are: "4 cases, 1 late".
func (c Count) words() string {
	text := c.number() + " cases"
	if c.number() == "1" {
		text = "1 case"
	}
	if c.Late > 0 {
		text += ", " + strconv.Itoa(c.Late) + " late"
	}
	return text
}

// CountWords says how many cases are in each state, in the order of the graph: "Claimed: 4
// cases, 1 late.".
func CountWords(g *Graph, counts map[string]Count) string {
	var out []string
	for i := range g.Nodes {
		if c := counts[g.Nodes[i].State]; g.Nodes[i].State != "" && c.Cases > 0 {
			out = append(out, g.Nodes[i].Title+": "+c.words()+".")
		}
	}
	return strings.Join(out, " ")
}

// Marks are what a picture shows beside the route itself. All maps are by the names of
// states, or of actions.
type Marks struct {
	Title   string // of the picture; "": the route's
	Text    string // sentences that say the same as the marks; "": the route's
	States  map[string]Mark
	Actions map[string]Mark   // nodes of the dependency model, and stacks
	Flag    string            // at the state that is marked Here: "now, 2 days"
	Went    []Way             // the way that a case took
	Can     []Way             // where it can go to
	Stacks  map[string]string // instead of the line of a stack: "2 of 4 ended"; it has the room of "cases of tip-vote"
	Counts  map[string]Count
	Times   map[string]int // how often each action was performed, for the table
}

// of returns the mark of a node.
func (m *Marks) of(n *Node) Mark {
	if n.State != "" {
		return m.States[n.State]
	}
	return m.Actions[n.Action]
}

// edge returns how a case stands to an arrow: "went", "can" or "".
func (m *Marks) edge(e *Edge) string {
	switch {
	case among(m.Went, e.Ways):
		return "went"
	case among(m.Can, e.meant()):
		return "can"
	}
	return ""
}

// among reports whether a case took one of the ways that an arrow stands for.
func among(taken, ways []Way) bool {
	for _, w := range ways {
		for _, t := range taken {
			if agree(w.Action, t.Action) && agree(w.From, t.From) && agree(w.To, t.To) {
				return true
			}
		}
	}
	return false
}

// agree reports whether two names are the same, or one of them stands for any.
func agree(a, b string) bool { return a == "" || b == "" || a == b }
