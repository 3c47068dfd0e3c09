// Package layered arranges boxes and the arrows between them in layers, so
// that arrows go forwards if they can and cross as little as possible. It is
// pure: equal graphs have equal layouts. What it follows is the method of
// Sugiyama, Tagawa and Toda (docs/decisions/0032-pictures-are-laid-out-here.md).
package layered

// Size is how large something is, in pixels.
type Size struct{ Width, Height float64 }

// Point is a place, in pixels from the upper left corner.
type Point struct{ X, Y float64 }

// Box is what arrows connect. Round says that arrows touch it only in the
// middle of a side, as they do a circle.
type Box struct {
	Size
	Round bool
}

// Arrow leads from a box to another one, both by index. Its label has no size
// if there is none. An arrow from a box to itself is not laid out.
type Arrow struct {
	From, To int
	Label    Size
}

// Graph is what is to be laid out. The order of boxes and arrows decides
// whatever the method leaves open. If Down is set, arrows go downwards instead
// of to the right.
type Graph struct {
	Boxes  []Box
	Arrows []Arrow
	Down   bool
}

// Curve is the way of an arrow: its start, then three points for each cubic
// Bézier curve. Label is the middle of its label. An arrow that is not laid
// out has no points.
type Curve struct {
	Points []Point
	Label  Point
}

// Layout says where everything is. Boxes are the middles of the boxes.
type Layout struct {
	Size
	Boxes  []Point
	Arrows []Curve
}

// maxVertices bounds what is laid out: the boxes, and a place for each layer that
// an arrow passes.
const maxVertices = 2000

// Place returns the layout of a graph. ok is false if the graph is too large to
// be of use to anybody: more than 2,000 boxes and places that arrows pass.
func Place(g *Graph) (l *Layout, ok bool) {
	if len(g.Boxes) > maxVertices {
		return nil, false
	}
	n := newNet(g)
	n.breakCycles()
	n.rank()
	if !n.split() {
		return nil, false
	}
	n.arrange()
	n.align()
	n.spread()
	return n.layout(), true
}
