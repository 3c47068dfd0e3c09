package main

import (
	"testing"

	"flowdrive/internal/cable"
	"flowdrive/internal/pgtest"
)

// TestTripsToPostgreSQL: what a case costs does not grow with the statements that it takes, but with how
// often their answers are waited for: once for a start, and three times for an action, which reads
// the case first.
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
	const prepared = 8 // as often as there are readers at least: each prepares what it asks
	for i := range prepared + 1 {
		begin := way.Trips()
		id, err := h.startCase(t.Context(), routeOnce)
		if err != nil {
			t.Fatal(err)
		}
		started := way.Trips()
		if err := h.perform(t.Context(), id, "finish"); err != nil {
			t.Fatal(err)
		}
		// Another session asks now and then whether this is the active node still.
		if start, action := started-begin, way.Trips()-started; i == prepared && (start > 2 || action > 4) {
			t.Errorf("a start takes %d trips, an action %d", start, action)
		}
	}
}
