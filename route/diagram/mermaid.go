package diagram

import (
	"bytes"
	"fmt"
	"strings"

	"flowdrive/route"
)

// Mermaid writes the picture in the language of Mermaid: a state diagram, or a flow
// chart in the dependency model. With marks the state of a case has a class.
func (p *Picture) Mermaid(m *Marks) []byte {
	var b bytes.Buffer
	if m == nil {
		m = &Marks{}
	}
	if p.graph.TooLarge {
		line(&b, "%%%% This route has too many states and actions to be drawn. Its text lists them.")
		return b.Bytes()
	}
	if p.graph.Model == route.Dependency {
		p.flow(&b, m)
	} else {
		p.stateDiagram(&b, m)
	}
	return b.Bytes()
}

func (p *Picture) stateDiagram(b *bytes.Buffer, m *Marks) {
	line(b, "stateDiagram-v2")
	line(b, "  direction LR")
	for i := range p.graph.Nodes {
		n := &p.graph.Nodes[i]
		switch n.Kind {
		case Begin:
		case Decision:
			line(b, "  state n%d <<choice>>", i)
		case Join:
			line(b, "  state n%d <<join>>", i)
		default:
			line(b, `  state "%s" as n%d`, quoted(n.Title), i)
		}
	}
	for i := range p.graph.Edges {
		e := &p.graph.Edges[i]
		from := fmt.Sprintf("n%d", e.From)
		if p.graph.Nodes[e.From].Kind == Begin {
			from = "[*]"
		}
		line(b, "  %s --> n%d%s", from, e.To, colon(e.Labels))
	}
	for i := range p.graph.Nodes {
		switch p.graph.Nodes[i].Kind {
		case Kind(route.StateComplete), Kind(route.StateDenied), Kind(route.StateCancelled):
			line(b, "  n%d --> [*]", i)
		default:
		}
	}
	p.classes(b, m)
}

func (p *Picture) flow(b *bytes.Buffer, m *Marks) {
	line(b, "flowchart LR")
	for i := range p.graph.Nodes {
		n := &p.graph.Nodes[i]
		switch n.Kind {
		case Begin:
			line(b, "  n%d((start))", i)
		case Final:
			line(b, `  n%d(["%s"])`, i, quoted(n.Title))
		default:
			line(b, `  n%d["%s"]`, i, quoted(n.Title))
		}
	}
	for i := range p.graph.Edges {
		e := &p.graph.Edges[i]
		label := ""
		if len(e.Labels) > 0 {
			label = fmt.Sprintf(`|"%s"|`, quoted(joined(e.Labels)))
		}
		line(b, "  n%d -->%s n%d", e.From, label, e.To)
	}
	p.classes(b, m)
}

// classes marks the nodes as the marks say.
func (p *Picture) classes(b *bytes.Buffer, m *Marks) {
	defined := false
	for i := range p.graph.Nodes {
		mark := m.of(&p.graph.Nodes[i])
		if mark != Here && mark != Reached {
			continue
		}
		if !defined {
			defined = true
			line(b, "  classDef here stroke-width:3px")
		}
		line(b, "  class n%d here", i)
	}
}

func colon(labels []Label) string {
	if len(labels) == 0 {
		return ""
	}
	return " : " + quoted(joined(labels))
}

func joined(labels []Label) string {
	texts := make([]string, len(labels))
	for i, l := range labels {
		texts[i] = l.Text
	}
	return strings.Join(texts, ", ")
}

// escapes are the characters that mean something to Mermaid, as it wants them.
var escapes = strings.NewReplacer(`"`, "#quot;", "#", "#35;", ";", "#59;", ":", "#58;", "<", "#lt;", ">", "#gt;", "{", "#123;", "}", "#125;", "|", "#124;", "`", "#96;", "\\", "#92;", "%", "#37;")

// quoted returns a text that stands in quotes, or after a colon, as one line.
func quoted(text string) string { return escapes.Replace(plain(text)) }
