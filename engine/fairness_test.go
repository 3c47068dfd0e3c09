package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// TestBacklogIsShared: if more is due than one batch holds, what one user has left
// undone keeps nobody else waiting, although it has been due for longer.
func TestBacklogIsShared(t *testing.T) {
	t.Parallel()
	const many, batch = 600, 256
	s := &spy{}
	w := newWorld(t, spied(s), func(w *world) { w.config = func(cfg *engine.Config) { cfg.Sandbox = false } })
	sam, ann := w.as("sam"), w.as("ann")
	for i := range many {
		sam.mustPutEntry(fmt.Sprintf("e%d.json", i), every)
	}
	w.clock.Set(w.clock.Now().Add(time.Second))
	for i := range 3 {
		ann.mustPutEntry(fmt.Sprintf("e%d.json", i), every)
	}
	w.clock.Set(w.clock.Now().Add(2 * time.Minute))
	var who []store.UUID
	all := make(chan struct{})
	annID := ann.id()
	fired := map[bool][]int{} // places in the order, by whether they are ann's
	s.mu.Lock()
	s.before = func(write write) error {
		if o, is := write.row.(*store.Occurrence); is {
			fired[o.ContextID == annID] = append(fired[o.ContextID == annID], len(who))
			if who = append(who, o.Entry); len(who) == many+3 {
				close(all)
			}
		}
		return nil
	}
	s.mu.Unlock()
	stop := w.running()
	<-all
	stop()
	if mine := fired[true]; len(mine) != 3 || mine[2] >= batch {
		t.Errorf("of %d firings ann's were number %v; want all in the first batch of %d", len(who), mine, batch)
	}
	if len(fired[false]) != many {
		t.Errorf("%d of sam's %d entries fired", len(fired[false]), many)
	}
}

// deafFilters runs no filter of one owner until it is told to, and those of others.
type deafFilters struct {
	filters
	deaf    identity.ID
	begun   chan struct{}
	release chan struct{}
}

func (d *deafFilters) Filter(ctx context.Context, owner identity.ID, f machine.Filter) (machine.Filtered, error) {
	if owner == d.deaf {
		select {
		case d.begun <- struct{}{}:
		default:
		}
		select {
		case <-d.release:
		case <-ctx.Done():
			return machine.Filtered{}, ctx.Err()
		}
	}
	return d.filters.Filter(ctx, owner, f)
}

// TestFiltersKeepNobodyWaiting: what is due of others is fired, and their filters are
// run, while one user's filters take their time; that user's cases go on afterwards.
func TestFiltersKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	const many = 40 // more than are put aside at once
	f := &deafFilters{begun: make(chan struct{}, 1), release: make(chan struct{})}
	w := newWorld(t, func(w *world) {
		w.config = func(cfg *engine.Config) { cfg.Sandbox, cfg.Filters = false, f }
	})
	w.as("admin").mustPutRoute("list", routeFilter)
	sam, ann := w.as("sam"), w.as("ann")
	f.deaf = sam.id()
	sorted := func(of user, id int64) func() bool {
		return func() bool { return of.caseForm(id).get("status") == `"sorted"` }
	}
	var ids []int64
	for range many {
		ids = append(ids, sam.startCase(`{"route": "list", "input": [2, 1]}`))
	}
	hers := ann.startCase(`{"route": "list", "input": [2, 1]}`)
	w.clock.Set(w.clock.Now().Add(2 * time.Hour))
	stop := w.running()
	<-f.begun
	until(sorted(ann, hers))
	for _, id := range ids {
		sam.caseForm(id).wants("status", `"open"`)
	}
	close(f.release)
	for _, id := range ids {
		until(sorted(sam, id))
	}
	stop()
}

// until waits for what others do in this process.
func until(done func() bool) {
	for !done() {
		runtime.Gosched()
	}
}
