package layered

import (
	"cmp"
	"math"
	"slices"
)

// corner is how much of each end of a box's side arrows do not touch, portGap how
// far from each other they do.
const (
	corner  = 10
	portGap = 11
)

// layout returns what was found in the terms of the graph.
func (n *net) layout() *Layout {
	l := &Layout{Boxes: make([]Point, len(n.graph.Boxes)), Arrows: make([]Curve, len(n.graph.Arrows))}
	along, across := 0.0, 0.0
	for i := range n.vertices {
		v := &n.vertices[i]
		along = max(along, v.along+v.length/2)
		across = max(across, v.across+v.width/2)
		if v.box >= 0 {
			l.Boxes[v.box] = n.point(v.along, v.across)
		}
	}
	end := n.point(along, across)
	l.Size = Size{end.X, end.Y}
	leaves, arrives := n.ports(true), n.ports(false)
	for i := range n.chains {
		c := &n.chains[i]
		l.Arrows[c.arrow] = n.curve(c, leaves[i], arrives[i])
	}
	return l
}

func (n *net) point(along, across float64) Point {
	if n.graph.Down {
		return Point{across, along}
	}
	return Point{along, across}
}

// ports returns for each chain where it touches the box that it leaves, or the one
// that it arrives at: in the order of where it goes to or comes from.
func (n *net) ports(leaving bool) []float64 {
	out := make([]float64, len(n.chains))
	at := make([][]int, len(n.graph.Boxes))
	for i := range n.chains {
		box := n.chains[i].to
		if leaving {
			box = n.chains[i].from
		}
		at[box] = append(at[box], i)
	}
	next := func(i int) float64 {
		through := n.chains[i].through
		if leaving {
			return n.vertices[through[1]].across
		}
		return n.vertices[through[len(through)-2]].across
	}
	for box, chains := range at {
		slices.SortStableFunc(chains, func(a, b int) int { return cmp.Compare(next(a), next(b)) })
		v := &n.vertices[box]
		half := max(0, v.width/2-corner)
		if n.graph.Boxes[box].Round {
			half = 0
		}
		gap := min(portGap, 2*half/float64(max(1, len(chains)-1)))
		wanted := make([]want, len(chains))
		for k, i := range chains {
			// Room is left for those before and after.
			low, high := v.across-half+gap*float64(k), v.across+half-gap*float64(len(chains)-1-k)
			wanted[k] = want{at: min(max(next(i), low), high), weight: 1, gap: gap}
		}
		for k, place := range apart(wanted) {
			out[chains[k]] = place
		}
	}
	return out
}

// curve returns the way of an arrow: straight through labels and the layers that it
// passes, bent between them.
func (n *net) curve(c *chain, leaves, arrives float64) Curve {
	first, last := &n.vertices[c.from], &n.vertices[c.to]
	w := way{net: n, along: first.along + first.length/2, across: leaves}
	w.points = append(w.points, n.point(w.along, w.across))
	var label Point
	places := c.through[1 : len(c.through)-1]
	for i, v := range places {
		if n.vertices[v].label {
			label = n.point(n.vertices[v].along, n.vertices[v].across)
			w.pass(places[:i], stop{n.starts[n.vertices[v].rank], n.vertices[v].across})
			w.straight(n.end(n.vertices[v].rank))
			places = places[i+1:]
			break
		}
	}
	w.pass(places, stop{last.along - last.length/2, arrives})
	if c.backwards {
		slices.Reverse(w.points)
	}
	return Curve{Points: w.points, Label: label}
}

// stop is where an arrow goes to next.
type stop struct{ along, across float64 }

// pass goes to a stop: at once if nothing is in the way, else through the places of
// the arrow in the layers between, until nothing is in the way any more.
func (w *way) pass(places []int, to stop) {
	for _, i := range places {
		if !w.blocked(to) {
			break
		}
		v := &w.net.vertices[i]
		if w.net.lengths[v.rank] > 0 {
			w.bend(w.net.starts[v.rank], v.across)
			w.straight(w.net.end(v.rank))
		}
	}
	w.bend(to.along, to.across)
}

// distance is how far from boxes and labels an arrow stays that does not keep to its
// places.
const distance = 7

// blocked reports whether the bend to a stop would touch a box or a label.
func (w *way) blocked(to stop) bool {
	const samples = 24
	for i := 1; i < samples; i++ {
		t := float64(i) / samples
		// Both ends of the bend go along, so its course is that of a Bézier curve
		// whose inner points have the middle's place along.
		along := w.along + (to.along-w.along)*(1.5*t*(1-t)+t*t*t)
		across := w.across + (to.across-w.across)*t*t*(3-2*t)
		if w.net.occupied(along, across) {
			return true
		}
	}
	return false
}

// occupied reports whether a box or a label is at a place, or close to it across.
func (n *net) occupied(along, across float64) bool {
	for rank, layer := range n.layers {
		if along <= n.starts[rank] || along >= n.end(rank) {
			continue
		}
		for _, i := range layer {
			v := &n.vertices[i]
			if v.width > 0 && math.Abs(along-v.along) < v.length/2 && math.Abs(across-v.across) < v.width/2+distance {
				return true
			}
		}
	}
	return false
}

// end is where a layer ends.
func (n *net) end(rank int) float64 { return n.starts[rank] + n.lengths[rank] }

// way is an arrow's curve while it is made.
type way struct {
	net           *net
	along, across float64
	points        []Point
}

func (w *way) straight(to float64) {
	if to > w.along {
		w.bend(to, w.across)
	}
}

// bend goes on to a point; it leaves and arrives along.
func (w *way) bend(along, across float64) {
	middle := (w.along + along) / 2
	w.points = append(w.points, w.net.point(middle, w.across), w.net.point(middle, across), w.net.point(along, across))
	w.along, w.across = along, across
}
