package engine_test

import (
	"fmt"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/store"
)

// What a person starts is there when the answer is, whatever waits, unless
// what waits comes first: the manager starts by priority, then by id.
func TestStartsNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.mayBeUnsound = true
		w.config = func(c *engine.Config) { c.Sandbox = false } // in which nobody starts what waits while this test does not
	})
	sam := w.as("sam")
	first := sam.startCase(`{"route": "ask"}`)
	w.update(func(tx store.Tx) error {
		c, err := tx.Cases().Get(first)
		if err != nil {
			return err
		}
		c.ID, c.State, c.Priority, c.Named = w.db.NextID(), string(machine.Queued), 300, false
		return tx.Write().Cases().Insert(c)
	})
	w.reopen()
	sam = w.as("sam")
	for priority, want := range map[int]string{200: `"queued"`, 300: `"queued"`, 301: `"active"`} {
		id := sam.startCase(fmt.Sprintf(`{"route": "ask", "priority": %d}`, priority))
		if got := sam.caseForm(id).get("state"); got != want {
			t.Errorf("priority %d: %s, want %s", priority, got, want)
		}
	}
	dropped, err := sam.drop("ask", "a.txt", "x", func(d *engine.Drop) { d.Priority = new(301) })
	if err != nil || dropped.Life != machine.Active {
		t.Errorf("a dropped file: %v %v", dropped, err)
	}
}

// What is due alone is started with its firing; what cannot be is queued, and
// fails where queued cases do.
func TestStartedWithTheFiring(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	sam := w.as("sam")
	sam.mustPutEntry("", every)
	updates := 0
	s.before = func(wr write) error {
		if wr.method == "UpdateCase" {
			updates++
		}
		return nil
	}
	w.advance(2 * time.Minute)
	w.cases()[0].wants("state", `"completed"`)
	same(t, "cases stored again", updates, 0)
	before := len(w.cases())
	sam.mustPutEntry("", every)
	w.advance(2 * time.Minute)
	if updates == 0 || len(w.cases()) < before+2 {
		t.Errorf("of several at an instant %d cases of %d were stored again", updates, len(w.cases()))
	}
}
