package jqworker

import (
	"context"
	"slices"
	"sync"

	"flowdrive/internal/identity"
)

// turns lets a few work at a time. Who waits gets a turn after the others who wait, one
// for each owner; of an owner's own, who came first comes first.
type turns struct {
	mu      sync.Mutex
	free    int
	waiting map[identity.ID][]chan struct{} // closed when the turn comes
	order   []identity.ID                   // of the owners that wait, by whose turn is next
}

// begin waits for a turn. It errs if ctx ends before that; otherwise end must follow.
func (t *turns) begin(ctx context.Context, owner identity.ID) error {
	t.mu.Lock()
	if t.free > 0 && ctx.Err() == nil {
		t.free--
		t.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	if t.waiting == nil {
		t.waiting = map[identity.ID][]chan struct{}{}
	}
	if len(t.waiting[owner]) == 0 {
		t.order = append(t.order, owner)
	}
	t.waiting[owner] = append(t.waiting[owner], turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	at := slices.Index(t.waiting[owner], turn)
	if at >= 0 {
		t.remove(owner, at)
	}
	t.mu.Unlock()
	if at < 0 { // it came at the same moment, and is passed on
		t.end()
	}
	return ctx.Err()
}

// end gives a turn to who is next.
func (t *turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.order) == 0 {
		t.free++
		return
	}
	owner := t.order[0]
	close(t.waiting[owner][0])
	t.remove(owner, 0)
	if at := slices.Index(t.order, owner); at == 0 { // it has more, and is the last now
		t.order = append(t.order[1:], owner)
	}
}

// remove takes one that waits out of its line.
func (t *turns) remove(owner identity.ID, at int) {
	if t.waiting[owner] = slices.Delete(t.waiting[owner], at, at+1); len(t.waiting[owner]) > 0 {
		return
	}
	delete(t.waiting, owner)
	t.order = slices.DeleteFunc(t.order, func(id identity.ID) bool { return id == owner })
}
