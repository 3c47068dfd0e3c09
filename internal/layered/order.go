package layered

import (
	"cmp"
	"math"
	"slices"
)

// rounds is how often the layers are put in order; more changes little.
const rounds = 16

// arrange puts the vertices of each layer in an order in which few arrows cross.
func (n *net) arrange() {
	var best [][]int
	crossings := math.MaxInt
	keep := func() {
		if c := n.crossings(); c < crossings {
			best, crossings = n.orders(), c
		}
	}
	for _, backwards := range []bool{false, true} {
		n.collect(backwards)
		keep()
		for round := 0; round < rounds && crossings > 0; round++ {
			n.sweep(round)
			n.exchange()
			keep()
		}
	}
	for i, order := range best {
		n.put(i, order)
	}
}

// collect fills the layers in the order in which a search from the sources comes
// to the vertices; it follows the arrows of each in order or backwards.
func (n *net) collect(backwards bool) {
	ranks := 0
	for i := range n.vertices {
		ranks = max(ranks, n.vertices[i].rank+1)
	}
	n.layers = make([][]int, ranks)
	seen := make([]bool, len(n.vertices))
	var visit func(v int)
	visit = func(v int) {
		if seen[v] {
			return
		}
		seen[v] = true
		at := &n.vertices[v]
		at.at = len(n.layers[at.rank])
		n.layers[at.rank] = append(n.layers[at.rank], v)
		for i := range at.out {
			if backwards {
				i = len(at.out) - 1 - i
			}
			visit(at.out[i])
		}
	}
	for v := range n.vertices {
		if len(n.vertices[v].in) == 0 {
			visit(v)
		}
	}
}

func (n *net) orders() [][]int {
	out := make([][]int, len(n.layers))
	for i := range n.layers {
		out[i] = slices.Clone(n.layers[i])
	}
	return out
}

func (n *net) put(layer int, order []int) {
	n.layers[layer] = order
	for i, v := range order {
		n.vertices[v].at = i
	}
}

// sweep orders each layer by the middle of what its vertices are connected with
// in the layer before, or in the one after. In every other pair of rounds vertices
// with the same middle change places, so that no order is tried for ever.
func (n *net) sweep(round int) {
	forwards, reversed := round%2 == 0, round%4 >= 2
	for i := range n.layers {
		layer := i
		if !forwards {
			layer = len(n.layers) - 1 - i
		}
		middles := make(map[int]float64, len(n.layers[layer]))
		for _, v := range n.layers[layer] {
			next := n.vertices[v].in
			if !forwards {
				next = n.vertices[v].out
			}
			middles[v] = n.middle(v, next)
		}
		order := slices.Clone(n.layers[layer])
		if reversed {
			slices.Reverse(order)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(middles[a], middles[b]) })
		n.put(layer, order)
	}
}

// middle returns the mean place of the neighbours of a vertex, its own if it has
// none.
func (n *net) middle(v int, neighbours []int) float64 {
	if len(neighbours) == 0 {
		return float64(n.vertices[v].at)
	}
	sum := 0.0
	for _, w := range neighbours {
		sum += float64(n.vertices[w].at)
	}
	return sum / float64(len(neighbours))
}

// exchange swaps neighbours in a layer as long as fewer arrows cross then.
func (n *net) exchange() {
	for again, pass := true, 0; again && pass < rounds; pass++ {
		again = false
		for _, layer := range n.layers {
			for i := range len(layer) - 1 {
				a, b := &n.vertices[layer[i]], &n.vertices[layer[i+1]]
				if n.crossed(a.in, b.in)+n.crossed(a.out, b.out) <= n.crossed(b.in, a.in)+n.crossed(b.out, a.out) {
					continue
				}
				layer[i], layer[i+1] = layer[i+1], layer[i]
				a.at, b.at = b.at, a.at
				again = true
			}
		}
	}
}

// crossed counts the crossings between the arrows of two vertices, the first of
// which comes first in its layer.
func (n *net) crossed(first, second []int) int {
	count := 0
	for _, v := range first {
		for _, w := range second {
			if n.vertices[v].at > n.vertices[w].at {
				count++
			}
		}
	}
	return count
}

func (n *net) crossings() int {
	count := 0
	for _, layer := range n.layers {
		// The places in the next layer that arrows from earlier vertices lead to.
		var before []int
		for _, v := range layer {
			was := len(before)
			for _, w := range n.vertices[v].out {
				at := n.vertices[w].at
				for _, b := range before[:was] {
					if b > at {
						count++
					}
				}
				before = append(before, at)
			}
		}
	}
	return count
}
