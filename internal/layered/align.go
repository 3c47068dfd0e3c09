package layered

// Distances between what is drawn, in pixels.
const (
	boxGap   = 26 // between two boxes of a layer
	lineGap  = 16 // if one of the two is an arrow or a label
	shortGap = 22 // between two layers, if arrows go straight
	longGap  = 76 // at most
)

// passes is how often the layers are aligned with their neighbours.
const passes = 40

// align gives each vertex its place across: close to what it is connected with,
// in the order of its layer, and far enough from its neighbours.
func (n *net) align() {
	for _, layer := range n.layers {
		at := 0.0
		for i, v := range layer {
			if i > 0 {
				at += n.gap(layer[i-1], v)
			}
			n.vertices[v].across = at
		}
	}
	for pass := range passes {
		for i := range n.layers {
			layer := n.layers[i]
			if pass%2 == 1 {
				layer = n.layers[len(n.layers)-1-i]
			}
			n.alignLayer(layer)
		}
	}
	first := 0.0
	for i := range n.vertices {
		first = min(first, n.vertices[i].across-n.vertices[i].width/2)
	}
	for i := range n.vertices {
		n.vertices[i].across -= first
	}
}

// alignLayer moves the vertices of a layer as close as they may come to the means
// of their neighbours in the layers beside.
func (n *net) alignLayer(layer []int) {
	wanted := make([]want, len(layer))
	for i, v := range layer {
		at := &n.vertices[v]
		sum, weight := 0.0, 0.0
		for _, next := range [2][]int{at.in, at.out} {
			for _, w := range next {
				k := n.weight(v, w)
				sum += k * n.vertices[w].across
				weight += k
			}
		}
		wanted[i] = want{at: at.across, weight: 0.1}
		if weight > 0 {
			wanted[i] = want{at: sum / weight, weight: weight}
		}
		if i > 0 {
			wanted[i].gap = n.gap(layer[i-1], v)
		}
	}
	for i, at := range apart(wanted) {
		n.vertices[layer[i]].across = at
	}
}

// weight says how much the arrow between two vertices wants to be straight: most
// within an arrow that passes many layers.
func (n *net) weight(v, w int) float64 {
	places := 0
	for _, x := range [2]int{v, w} {
		if n.vertices[x].box < 0 {
			places++
		}
	}
	return [3]float64{1, 2, 8}[places]
}

// gap is the distance between the middles of two neighbours in a layer.
func (n *net) gap(v, w int) float64 {
	a, b := &n.vertices[v], &n.vertices[w]
	between := float64(lineGap)
	if a.box >= 0 && b.box >= 0 {
		between = boxGap
	}
	return a.width/2 + between + b.width/2
}

// want is where something would like to be, how much, and how far it has to be
// at least from the one before it.
type want struct{ at, weight, gap float64 }

// apart returns places in the given order and distances whose squared, weighted
// differences from what is wanted are least: isotonic regression, by pooling
// neighbours that would come too close.
func apart(wanted []want) []float64 {
	type pool struct {
		at, weight float64
		count      int
	}
	var pools []pool
	shift := make([]float64, len(wanted)) // sum of the gaps so far
	for i, w := range wanted {
		if i > 0 {
			shift[i] = shift[i-1] + w.gap
		}
		p := pool{w.at - shift[i], w.weight, 1}
		for len(pools) > 0 && pools[len(pools)-1].at > p.at {
			q := pools[len(pools)-1]
			pools = pools[:len(pools)-1]
			total := p.weight + q.weight
			p = pool{(p.at*p.weight + q.at*q.weight) / total, total, p.count + q.count}
		}
		pools = append(pools, p)
	}
	out := make([]float64, 0, len(wanted))
	for _, p := range pools {
		for range p.count {
			out = append(out, p.at+shift[len(out)])
		}
	}
	return out
}

// spread gives each layer its place along: the further arrows have to go across
// between two layers, the more room they get.
func (n *net) spread() {
	n.starts = make([]float64, len(n.layers))
	n.lengths = make([]float64, len(n.layers))
	at := 0.0
	for i, layer := range n.layers {
		far := 0.0
		for _, v := range layer {
			n.lengths[i] = max(n.lengths[i], n.vertices[v].length)
			for _, w := range n.vertices[v].out {
				far = max(far, n.vertices[w].across-n.vertices[v].across, n.vertices[v].across-n.vertices[w].across)
			}
		}
		n.starts[i] = at
		for _, v := range layer {
			n.vertices[v].along = at + n.lengths[i]/2
		}
		at += n.lengths[i] + min(max(shortGap, far*0.45), longGap)
	}
}
