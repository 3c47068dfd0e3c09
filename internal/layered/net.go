package layered

// vertex is a box, or a place where an arrow passes a layer. Along is the
// direction of the layers' sequence, across that within a layer.
type vertex struct {
	box           int // -1: a place of an arrow
	label         bool
	rank, at      int // layer, and place in it
	along, across float64
	length, width float64 // along and across
	in, out       []int   // vertices
}

// chain is an arrow as it goes through the layers, from the lower one to the
// higher one. Backwards says that the arrow itself goes the other way.
type chain struct {
	from, to  int // boxes
	arrow     int
	backwards bool
	through   []int // vertices, both ends included
}

// net is a graph while it is laid out.
type net struct {
	graph    *Graph
	vertices []vertex
	chains   []chain
	layers   [][]int // vertices in order
	starts   []float64
	lengths  []float64 // of the layers, along
}

func newNet(g *Graph) *net {
	n := &net{graph: g}
	for i := range g.Boxes {
		length, width := n.turned(g.Boxes[i].Size)
		n.vertices = append(n.vertices, vertex{box: i, length: length, width: width})
	}
	for i, a := range g.Arrows {
		if a.From != a.To {
			n.chains = append(n.chains, chain{from: a.From, to: a.To, arrow: i})
		}
	}
	return n
}

// turned returns a size as along and across.
func (n *net) turned(s Size) (along, across float64) {
	if n.graph.Down {
		return s.Height, s.Width
	}
	return s.Width, s.Height
}

// breakCycles turns the arrows around that lead back to a box that the search
// in order of definition has come from.
func (n *net) breakCycles() {
	out := make([][]int, len(n.graph.Boxes))
	entered := make([]bool, len(n.graph.Boxes))
	for i := range n.chains {
		out[n.chains[i].from] = append(out[n.chains[i].from], i)
		entered[n.chains[i].to] = true
	}
	const (
		untouched = iota
		open
		done
	)
	state := make([]int, len(n.graph.Boxes))
	var visit func(box int)
	visit = func(box int) {
		state[box] = open
		for _, i := range out[box] {
			c := &n.chains[i]
			switch state[c.to] {
			case open:
				c.backwards = true
			case untouched:
				visit(c.to)
			}
		}
		state[box] = done
	}
	for _, sources := range []bool{true, false} {
		for box := range n.graph.Boxes {
			if state[box] == untouched && entered[box] != sources {
				visit(box)
			}
		}
	}
	for i := range n.chains {
		if c := &n.chains[i]; c.backwards {
			c.from, c.to = c.to, c.from
		}
	}
}

// rank gives each box its layer: boxes have even ones, what stands on arrows has
// the odd ones between.
func (n *net) rank() {
	waits := make([]int, len(n.graph.Boxes))
	out := make([][]int, len(n.graph.Boxes))
	for i := range n.chains {
		waits[n.chains[i].to]++
		out[n.chains[i].from] = append(out[n.chains[i].from], i)
	}
	var ready, source []int
	for box, w := range waits {
		if w == 0 {
			ready, source = append(ready, box), append(source, box)
		}
	}
	for len(ready) > 0 {
		box := ready[0]
		ready = ready[1:]
		for _, i := range out[box] {
			to := n.chains[i].to
			n.vertices[to].rank = max(n.vertices[to].rank, n.vertices[box].rank+2)
			if waits[to]--; waits[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
	for _, box := range source {
		n.approach(box, out[box])
	}
}

// approach moves a box that nothing leads to close to what it leads to.
func (n *net) approach(box int, out []int) {
	for k, i := range out {
		before := n.vertices[n.chains[i].to].rank - 2
		if k == 0 || before < n.vertices[box].rank {
			n.vertices[box].rank = before
		}
	}
}

// split makes a place for each arrow in each layer that it passes; the label
// stands in the one next to where the arrow begins. It reports whether there are
// not too many.
func (n *net) split() bool {
	for i := range n.chains {
		c := &n.chains[i]
		first, last := n.vertices[c.from].rank, n.vertices[c.to].rank
		if len(n.vertices)+last-first > maxVertices {
			return false
		}
		labelled := first + 1
		if c.backwards {
			labelled = last - 1
		}
		c.through = append(c.through, c.from)
		for rank := first + 1; rank < last; rank++ {
			v := vertex{box: -1, rank: rank}
			if label := n.graph.Arrows[c.arrow].Label; rank == labelled && label.Width > 0 {
				v.label = true
				v.length, v.width = n.turned(label)
			}
			c.through = append(c.through, len(n.vertices))
			n.vertices = append(n.vertices, v)
		}
		c.through = append(c.through, c.to)
		for k, v := range c.through[1:] {
			n.vertices[c.through[k]].out = append(n.vertices[c.through[k]].out, v)
			n.vertices[v].in = append(n.vertices[v].in, c.through[k])
		}
	}
	return true
}
