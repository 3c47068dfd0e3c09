package label

import (
	"strings"

	"flowdrive/internal/document"
)

// expansion resolves the references between the values of a dictionary. It
// is Tarjan's search for strongly connected components: a component comes
// out after those that it refers to, and one of more than one key, or of a
// key that refers to itself, is a cycle.
type expansion struct {
	substitution
	out   Dict // sorted; its values are replaced as they are resolved
	texts [][]piece

	order     int   // of discovery
	found     []int // order in which a key was found, 0 for not yet
	low       []int // the earliest key of the stack that is within reach
	stack     []int
	component []int // of each resolved key, 0 while it is on the stack
}

// piece is a part of a text: a literal, or a reference to a key.
type piece struct {
	literal string // as written for a reference
	ref     bool
	key     string
}

func (e *expansion) run() {
	e.texts = make([][]piece, len(e.out))
	referring := false
	for i := range e.out {
		value := &e.out[i].Value
		if value.Kind != document.String || !strings.Contains(value.Text, opening) {
			continue
		}
		var pieces []piece
		refs := false
		e.split(value.Text, func(s string) {
			pieces = append(pieces, piece{literal: s})
		}, func(key, written string) {
			refs = true
			pieces = append(pieces, piece{literal: written, ref: true, key: key})
		})
		if !refs {
			value.Text = join(pieces)
			continue
		}
		e.texts[i], referring = pieces, true
	}
	if !referring {
		return
	}
	n := len(e.out)
	e.found, e.low, e.component = make([]int, n), make([]int, n), make([]int, n)
	for i := range e.out {
		if e.found[i] == 0 {
			e.visit(i)
		}
	}
	for i := range e.texts {
		for _, p := range e.texts[i] {
			if p.ref { // resolve has made literals of the others
				e.unknown.add(p.literal)
			}
		}
	}
}

func join(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.literal)
	}
	return b.String()
}

// visit finds what the key refers to and resolves its component.
func (e *expansion) visit(i int) {
	e.order++
	e.found[i], e.low[i] = e.order, e.order
	e.stack = append(e.stack, i)
	for _, p := range e.texts[i] {
		j := index(e.out, p.key)
		switch {
		case !p.ref || j < 0:
		case e.found[j] == 0:
			e.visit(j)
			e.low[i] = min(e.low[i], e.low[j])
		case e.component[j] == 0:
			e.low[i] = min(e.low[i], e.found[j])
		}
	}
	if e.low[i] != e.found[i] {
		return
	}
	for top := -1; top != i; {
		top = e.stack[len(e.stack)-1]
		e.stack = e.stack[:len(e.stack)-1]
		e.component[top] = e.found[i]
		e.resolve(top, e.found[i])
	}
}

// resolve puts the values of other components into the text of a key. A
// reference within the component is part of a cycle and stays.
func (e *expansion) resolve(i, component int) {
	pieces := e.texts[i]
	if pieces == nil {
		return
	}
	for k := range pieces {
		p := &pieces[k]
		if !p.ref {
			continue
		}
		j := index(e.out, p.key)
		if j < 0 || j == i || e.component[j] == 0 || e.component[j] == component {
			continue
		}
		*p = piece{literal: e.fit(e.out[j].Value.Text, p.literal)}
	}
	e.out[i].Value.Text = join(pieces)
}
