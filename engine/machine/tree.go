package machine

import (
	"cmp"
	"slices"
	"time"

	"flowdrive/route/expr"
)

// tree is one call of Decide: what the cases that the event touches have in
// common, and the effects that they have on each other. The case of the event
// comes to rest first. Then tree messages are delivered in order, and each
// brings the case that it is for to rest again
// (docs/contract/engine.md#6-trees-and-transactions).
type tree struct {
	now      time.Time
	zone     *time.Location
	labels   *time.Location // the zone of the dates that labels stand for
	facts    Facts
	batch    int
	foresees bool // see Input
	sweeps   bool // no person waits for the answer, so endless loops are escalated
	needs    []Need

	performed int // performances in this event, also those that were rolled back
	steps     int // steps of handlers, counted the same way
	filters   int // jq filters, counted the same way
	values    expr.Values
	scoped    int64 // id of the case whose values these are

	eventCase        int64 // id of the event's case
	cases            map[int64]*caseDecision
	order            []*caseDecision // all of cases except the event's own, in the order in which they were touched
	pending          []treeMessage
	childChanges     []childChange
	childrenStarted  map[childStarter]int // how often it got children in this event
	latePerformances []latePerformance
	taken            int // identities of facts.New in use
	touched          int // stored children that tree messages were delivered to

	stores int64 // bytes for which the event took room
	full   bool  // there was no room for something
}

// childStarter is an action of a case that has children.
type childStarter struct {
	id     int64
	action int
}

// treeMessage is an effect of one case on another. It is delivered once the case
// that it comes from is at rest.
type treeMessage interface{ deliver(t *tree) error }

func newTree(in Input) *tree {
	// With a monotonic reading or a zone, equal instants would not be equal values.
	t := &tree{now: in.Now.UTC().Round(0), zone: in.Zone, labels: in.LabelZone, facts: in.Facts, batch: cmp.Or(in.batch, Batch), foresees: in.foresees}
	if in.Exhausted {
		t.values.Cost = MaxCost
	}
	return t
}

// need notes that a fact is absent.
func (t *tree) need(n Need) {
	if !slices.Contains(t.needs, n) {
		t.needs = append(t.needs, n)
	}
}

// add makes a case part of the event.
func (t *tree) add(d *caseDecision) {
	t.cases[d.c.ID] = d
	t.order = append(t.order, d)
}

// related returns the decision on a case, nil if there is no such case.
func (t *tree) related(id int64) (*caseDecision, error) {
	if d := t.cases[id]; d != nil {
		return d, nil
	}
	stored, known := t.facts.Cases[id]
	if !known {
		t.need(Need{Case: id})
		return nil, errAbsent
	}
	if stored == nil {
		return nil, nil
	}
	d := &caseDecision{tree: t, route: stored.Route, c: stored.Case.clone(), from: stored.Case, stored: stored.Messages, types: stored.Types}
	d.reported = childStatusOf(d.c)
	d.index()
	t.add(d)
	return d, nil
}

// deliver delivers all tree messages, and those that they give rise to. Changes
// of children are reported upwards once nothing else is left to do, from the
// bottom of the tree, so that a parent is told once where all of its children
// have ended up.
func (t *tree) deliver() error {
	for {
		switch {
		case len(t.pending) > 0:
			l := t.pending[0]
			t.pending = t.pending[1:]
			if err := l.deliver(t); err != nil {
				return err
			}
		case len(t.childChanges) > 0:
			if err := t.reportToParent(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// reportToParent reports the changes of its children to one parent: to the one
// deepest in the tree.
func (t *tree) reportToParent() error {
	id, depth := int64(0), -1
	for _, n := range t.childChanges {
		if n.child.c.Depth > depth {
			id, depth = n.child.c.Parent, n.child.c.Depth
		}
	}
	parent, err := t.related(id)
	if err != nil {
		return err
	}
	var rest []childChange
	for _, n := range t.childChanges {
		if n.child.c.Parent != id {
			rest = append(rest, n)
		} else if parent != nil {
			parent.relations().countChild(n)
		}
	}
	t.childChanges = rest
	if parent == nil {
		return nil
	}
	return parent.relations().afterChildrenBelow()
}

// afterChildrenBelow does what the changes of children ask for as far as the
// ancestors of the case allow. Their own changes may not have reached the case
// yet and count all the same: it ends if its parent has moved on, and waits
// while an ancestor is suspended.
func (d relations) afterChildrenBelow() error {
	above, err := d.ancestry(Due{})
	if err != nil {
		return err
	}
	switch {
	case above.parentGone:
		d.changedChildren = nil
		d.endWithParent()
		return nil
	case above.suspended:
		d.suspendWithParent()
	}
	return d.afterChildren()
}

// point is a state that a tree can be taken back to, as long as no tree message
// has been delivered since.
type point struct {
	pending, order, taken int
	stores                int64
}

func (t *tree) point() point { return point{len(t.pending), len(t.order), t.taken, t.stores} }

func (t *tree) undo(to point) {
	for _, d := range t.order[to.order:] {
		if d.from == nil {
			delete(t.cases, d.c.ID)
		}
	}
	// Cases that were only looked at may stay.
	kept := slices.DeleteFunc(slices.Clone(t.order[to.order:]), func(d *caseDecision) bool { return d.from == nil })
	t.order = append(t.order[:to.order], kept...)
	t.pending, t.taken, t.stores = t.pending[:to.pending], to.taken, to.stores
}

// identity returns the identity of a new case.
func (t *tree) identity() (Identity, error) {
	switch {
	case t.taken < len(t.facts.New):
	case t.facts.Full != "":
		return Identity{}, routeFault("%s", t.facts.Full)
	default:
		return Identity{}, t.needNew(t.taken + 1)
	}
	t.taken++
	return t.facts.New[t.taken-1], nil
}

// needNew asks for n identities in all. Each time the event is decided from the
// beginning, so one that goes on asking gets more than it asks for.
func (t *tree) needNew(n int) error {
	const few = 16
	if have := len(t.facts.New); have >= few {
		n = max(n, 2*have)
	}
	t.need(Need{New: n})
	return errAbsent
}

// definition returns the latest version of a route, nil if there is none.
func (t *tree) definition(name string) (*Definition, error) {
	def, known := t.facts.Routes[name]
	if !known {
		t.need(Need{Route: name})
		return nil, errAbsent
	}
	return def, nil
}
