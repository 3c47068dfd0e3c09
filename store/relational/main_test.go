package relational_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What package relational does at a time, and keeps.
const (
	maxBatch  = 256
	walkChunk = 512
	few       = 256
	fewRoutes = 8
)

func mustUpdate(tb testing.TB, db *storetest.DB, f func(store.Tx) error) {
	tb.Helper()
	if err := db.Update(tb.Context(), f); err != nil {
		tb.Fatal(err)
	}
}

func mustView(tb testing.TB, db *storetest.DB, f func(store.Reader) error) {
	tb.Helper()
	if err := db.View(tb.Context(), f); err != nil {
		tb.Fatal(err)
	}
}

// put returns a unit that writes a setting.
func put(key, value string) func(store.Tx) error {
	return func(tx store.Tx) error { return tx.Write().Settings().Put(key, value) }
}

// get returns a setting as it is stored.
func get(tb testing.TB, db *storetest.DB, key string) (value string) {
	tb.Helper()
	mustView(tb, db, func(r store.Reader) (err error) {
		value, err = r.Settings().Get(key)
		return err
	})
	return value
}

// noon is the instant at which tests take place.
func noon() time.Time { return time.Date(2012, 11, 9, 12, 0, 0, 0, time.UTC) }

// addUser stores a user and returns its id.
func addUser(tb testing.TB, db *storetest.DB, name identity.Name) identity.ID {
	tb.Helper()
	p := store.Party{
		Party:   identity.Party{ID: identity.ID(db.NextID()), Name: name, Kind: identity.User},
		Created: noon(), Modified: noon(),
	}
	mustUpdate(tb, db, func(tx store.Tx) error { return tx.Write().Parties().Put(&p) })
	return p.ID
}

// newCase returns a queued case of the starter.
func newCase(db *storetest.DB, starter identity.ID, routeID int64) *store.Case {
	return &store.Case{
		ID: db.NextID(), RouteID: routeID, ContextID: starter, StarterID: starter, State: "queued", Priority: 200,
		Version: 1, Revision: 1, Marking: []byte(`{"l":"queued"}`), Form: []byte(`{"state":"queued"}`),
		Created: noon(), Modified: noon(), Access: []identity.ID{starter},
	}
}

func caseIDs(all []store.Case) []int64 {
	ids := []int64{}
	for i := range all {
		ids = append(ids, all[i].ID)
	}
	return ids
}

func sorted[T interface{ ~int64 }](ids ...T) []T {
	slices.Sort(ids)
	return ids
}

// consistent checks what must hold of every store.
func consistent(tb testing.TB, db *storetest.DB) {
	tb.Helper()
	faults, err := db.Faults(context.Background())
	if err != nil {
		tb.Error(err)
	}
	for _, f := range faults {
		tb.Errorf("%s: %s", f.What, f.Row)
	}
}
