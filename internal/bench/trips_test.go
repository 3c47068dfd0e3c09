package main

import (
	"sync/atomic"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/cable"
	"flowdrive/internal/pgtest"
)

// TestTripsToPostgreSQL: what a case costs does not grow with the statements that it takes, but with how
// often their answers are waited for: once for a start, and twice for an action, which reads the
// case first. The end of reading goes beside.
func TestTripsToPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	way := cable.New(t, server.Dial)
	h, err := openHouse(t.Context(), t.TempDir(), houseOptions{postgres: "postgres://flowdrive@" + way.Address + "/flow?sslmode=disable"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.close(); err != nil {
			t.Error(err)
		}
	}()
	const prepared, measured = 16, 8 // more often than there are readers: each prepares what it asks
	leastStart, leastAction := 1<<20, 1<<20
	for i := range prepared + measured {
		begin := way.Trips()
		id, err := h.startCase(t.Context(), routeOnce)
		if err != nil {
			t.Fatal(err)
		}
		started := way.Trips()
		if err := h.perform(t.Context(), id, "finish"); err != nil {
			t.Fatal(err)
		}
		if i >= prepared { // another session asks now and then whether this is the active node still
			leastStart, leastAction = min(leastStart, started-begin), min(leastAction, way.Trips()-started)
		}
	}
	if leastStart != 1 || leastAction > 3 {
		t.Errorf("a start takes %d trips, an action %d", leastStart, leastAction)
	}
}

// handClock is a clock that stands until it is set.
type handClock struct{ at atomic.Pointer[time.Time] }

func (c *handClock) Now() time.Time   { return *c.at.Load() }
func (c *handClock) set(at time.Time) { c.at.Store(&at) }

// endings counts cases that have come to their end.
type endings struct {
	firings
	ended chan struct{}
}

// CaseEnded implements engine.Observer.
func (e *endings) CaseEnded(string) { e.ended <- struct{}{} }

// TestTripsOfDueEntries: what entries cost that are due at the same instant does not grow with how
// many they are.
func TestTripsOfDueEntries(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	way := cable.New(t, server.Dial)
	at, most := &handClock{}, 100
	at.set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	seen := &endings{ended: make(chan struct{}, most)}
	address := "postgres://flowdrive@" + way.Address + "/flow?sslmode=disable"
	h, err := openHouse(t.Context(), t.TempDir(), houseOptions{postgres: address, clock: at, observer: seen})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.close(); err != nil {
			t.Error(err)
		}
	}()
	put := func(req engine.Request, document string) {
		t.Helper()
		if _, err := h.engine.Schedules.PutEntry(t.Context(), req, engine.Ref{}, []byte(document)); err != nil {
			t.Fatal(err)
		}
	}
	fire := func(n int) (trips int) {
		t.Helper()
		req := h.request()
		for range n - 1 {
			put(req, soon(60))
		}
		at.set(req.Now.Add(time.Minute))
		before := way.Trips()
		put(req, soon(30)) // what is due first wakes the sweeper
		for range n {
			<-seen.ended
		}
		return way.Trips() - before
	}
	first := fire(3) // in which all is prepared that is asked
	fire(3)
	few, many := fire(3), fire(60)
	// Another session asks now and then whether this is the active node still.
	if first > 32 || few > 25 || many > few+4 {
		t.Errorf("3 entries that are due take %d trips, at first %d; 60 take %d", few, first, many)
	}
}
