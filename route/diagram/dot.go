package diagram

import (
	"bytes"
	"strings"

	"flowdrive/route"
)

// DOT writes the picture in the language of Graphviz, without places: Graphviz finds its
// own.
func (p *Picture) DOT() []byte {
	var b bytes.Buffer
	line(&b, "digraph %s {", dotText(p.graph.Title))
	if p.graph.TooLarge {
		line(&b, "  // This route has too many states and actions to be drawn. Its text lists them.")
		line(&b, "}")
		return b.Bytes()
	}
	line(&b, "  rankdir=LR;")
	line(&b, "  node [shape=box, style=rounded, fontname=\"sans-serif\"];")
	line(&b, "  edge [fontname=\"sans-serif\"];")
	for i := range p.graph.Nodes {
		n := &p.graph.Nodes[i]
		switch n.Kind {
		case Begin:
			line(&b, "  n%d [shape=point, label=\"\"];", i)
		case Decision:
			line(&b, "  n%d [shape=diamond, style=\"\", label=%s];", i, dotText(n.Title))
		case Join:
			line(&b, "  n%d [shape=box, style=filled, fillcolor=black, width=0.1, label=\"\"];", i)
		case Final, Kind(route.StateComplete), Kind(route.StateDenied), Kind(route.StateCancelled):
			line(&b, "  n%d [peripheries=2, label=%s];", i, dotText(n.Title))
		default:
			line(&b, "  n%d [label=%s];", i, dotText(n.Title))
		}
	}
	for i := range p.graph.Edges {
		e := &p.graph.Edges[i]
		var attributes []string
		if len(e.Labels) > 0 {
			attributes = append(attributes, "label="+dotText(joined(e.Labels)))
		}
		if e.fails() {
			attributes = append(attributes, "style=dashed")
		}
		list := ""
		if len(attributes) > 0 {
			list = " [" + strings.Join(attributes, ", ") + "]"
		}
		line(&b, "  n%d -> n%d%s;", e.From, e.To, list)
	}
	line(&b, "}")
	return b.Bytes()
}

// dotText returns a text in quotes, as one line.
func dotText(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(plain(text)) + `"`
}
