package diagram

import (
	"fmt"

	"flowdrive/internal/layered"
)

// Picture is a graph whose nodes and arrows have their places, once for wide pages
// and once for narrow ones. It is never changed, so that any number of cases share
// that of their route.
type Picture struct {
	graph *Graph
	wide  *layered.Layout // nil: too large
	tall  *layered.Layout
}

// Draw gives everything in a graph its place.
func Draw(g *Graph) *Picture {
	p := &Picture{graph: shortened(g)}
	if g.TooLarge {
		return p
	}
	p.wide, _ = layered.Place(p.layered(false))
	p.tall, _ = layered.Place(p.layered(true))
	return p
}

// Graph returns what is drawn.
func (p *Picture) Graph() *Graph { return p.graph }

// shortened returns the graph with at most three lines on each arrow.
func shortened(g *Graph) *Graph {
	out := *g
	out.Edges = append([]Edge(nil), g.Edges...)
	for i := range out.Edges {
		e := &out.Edges[i]
		if n := len(e.Labels); n > mostLines {
			e.Labels = append(e.Labels[:mostLines-1:mostLines-1], Label{Text: fmt.Sprintf("%d more", n-mostLines+1)})
		}
	}
	return &out
}

func (p *Picture) layered(down bool) *layered.Graph {
	g := &layered.Graph{Down: down}
	for i := range p.graph.Nodes {
		box := boxOf(&p.graph.Nodes[i])
		if down && p.graph.Nodes[i].Kind == Join {
			box.Width, box.Height = box.Height, box.Width
		}
		g.Boxes = append(g.Boxes, box)
	}
	for _, e := range p.graph.Edges {
		g.Arrows = append(g.Arrows, layered.Arrow{From: e.From, To: e.To, Label: labelBox(e.Labels)})
	}
	return g
}
