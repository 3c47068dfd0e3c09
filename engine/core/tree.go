package core

import (
	"slices"
	"time"
)

// tree is one call of Decide: what the cases that the event touches have in
// common.
type tree struct {
	now    time.Time
	facts  Facts
	sweeps bool // no person waits for the answer: loops are escalated
	needs  []Need

	performed int // performances in this event, undone ones too
	steps     int // steps of handlers likewise
}

func newTree(in Input) *tree {
	// A monotonic reading or a zone would make equal instants unequal.
	return &tree{now: in.Now.UTC().Round(0), facts: in.Facts}
}

// need notes that a fact is absent.
func (t *tree) need(n Need) {
	if !slices.Contains(t.needs, n) {
		t.needs = append(t.needs, n)
	}
}
