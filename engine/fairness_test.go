package engine_test

import (
	"fmt"
	"testing"
	"time"

	"flowdrive/engine"
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
