// Package diagram makes pictures of routes and of how their cases stand in them:
// as SVG, as a table of text and in the language of Mermaid
// (docs/contract/drive.md#pictures). It is pure.
package diagram

import "flowdrive/route"

// Kind is what a node of a picture is. States have the kind of their type.
type Kind string

// Kinds of nodes beside the types of states.
const (
	Begin    Kind = "begin"  // where a case begins
	Decision Kind = "decide" // from which each outcome leads on
	Join     Kind = "join"   // where the actions meet that a transition requires
	Stack    Kind = "stack"  // children of an action
	Task     Kind = "task"   // action in the dependency model
	Final    Kind = "final"  // action that ends a case in the dependency model
)

// Icon says how something is done.
type Icon string

// Icons of actions.
const (
	NoIcon    Icon = ""
	ByPeople  Icon = "people"
	ByItself  Icon = "itself"
	ByTime    Icon = "time"
	ByMessage Icon = "message"
	ByCases   Icon = "cases" // by its children
	Again     Icon = "again" // does not leave the state
	OnFailure Icon = "failed"
)

// Label is a line of text, with an icon.
type Label struct {
	Icon   Icon
	Text   string
	Action string // that it is of
}

// Node is something that arrows connect: a state, an action in the dependency
// model, or what stands between states.
type Node struct {
	Kind   Kind
	State  string // its name, if it is a state
	Action string // its name, if it is an action, or stands for one
	Title  string
	Lines  []Label // below the title
}

// Way is what an arrow stands for: an action that leads from a state to another
// one, by their names; in the dependency model an action that the action To waits
// for. An empty name stands for any.
type Way struct {
	Action, From, To string
	Fails            bool // it is taken if the action fails
}

// Edge is an arrow between two nodes, by index.
type Edge struct {
	From, To int
	Labels   []Label
	Ways     []Way
}

// meant returns what the arrow stands for beside failures.
func (e *Edge) meant() (ways []Way) {
	for _, w := range e.Ways {
		if !w.Fails {
			ways = append(ways, w)
		}
	}
	return ways
}

// fails reports whether the arrow stands for nothing but what fails.
func (e *Edge) fails() bool { return len(e.meant()) == 0 }

// Graph is the picture of a route, before anything has a place.
type Graph struct {
	Title string
	Model route.Model
	Nodes []Node
	Edges []Edge
	Below []Label // actions that can be performed in every state
	Rows  []Row   // the same in words

	TooLarge bool // it has more than can be drawn, and only the first of it
}

// Of returns the graph of a route. Nodes and arrows are in order of definition.
func Of(r *route.Route) *Graph {
	b := &builder{r: r, g: &Graph{Title: titleOr(r.Title, r.Name), Model: r.Model}, edges: map[[2]int]int{}}
	if r.Model == route.Dependency {
		b.dependencies()
	} else {
		b.states()
	}
	b.g.Rows = rowsOf(r)
	return b.g
}

// builder makes a graph.
type builder struct {
	r     *route.Route
	g     *Graph
	edges map[[2]int]int // by the nodes that they connect
	parts int            // arrows, labels and lines so far
}

// mostParts bounds the arrows, labels and lines of a graph: each of 1,000 actions can be
// possible in each of 1,000 states.
const mostParts = 10_000

// room reports whether the graph takes another part.
func (b *builder) room() bool {
	b.parts++
	b.g.TooLarge = b.g.TooLarge || b.parts > mostParts
	return !b.g.TooLarge
}

func (b *builder) node(n Node) int {
	b.g.Nodes = append(b.g.Nodes, n)
	return len(b.g.Nodes) - 1
}

// edge adds an arrow, or a line to the one that is there already between the two.
// What a transition requires has an arrow each: one line below the other would read
// as if one of them were enough.
func (b *builder) edge(from, to int, way Way, labels ...Label) {
	if !b.room() {
		return
	}
	if i, ok := b.edges[[2]int{from, to}]; ok && b.g.Nodes[to].Kind != Join {
		e := &b.g.Edges[i]
		e.Labels = append(e.Labels, labels...)
		e.Ways = append(e.Ways, way)
		return
	}
	b.edges[[2]int{from, to}] = len(b.g.Edges)
	b.g.Edges = append(b.g.Edges, Edge{From: from, To: to, Labels: labels, Ways: []Way{way}})
}

func titleOr(title, name string) string {
	if title == "" {
		return name
	}
	return title
}
