package sqlite

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/relational"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	if path := os.Getenv(crashEnv); path != "" {
		crashChild(path)
		return
	}
	goleak.VerifyTestMain(m)
}

// run opens a database in a folder of its own and runs it for as long as the
// test lasts; at the end it must be consistent.
func run(tb testing.TB, opts Options) *DB {
	tb.Helper()
	db := open(tb, filepath.Join(tb.TempDir(), "flowdrive.db"), opts)
	start(tb, db)
	return db
}

// open opens the database; it is closed at the end of the test.
func open(tb testing.TB, path string, opts Options) *DB {
	tb.Helper()
	db, err := Open(tb.Context(), path, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return db
}

// start runs the database until the end of the test or until the function
// that it returns is called.
func start(tb testing.TB, db *DB) (stop func()) {
	tb.Helper()
	ctx, cancel := contextOf(tb)
	done := make(chan error, 1)
	go func() { done <- db.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			tb.Errorf("run: %v", err)
		}
		consistent(tb, db)
	}
	tb.Cleanup(stop)
	return stop
}

// contextOf returns a context that lasts until it is canceled: that of a test
// ends before its clean-up begins.
func contextOf(tb testing.TB) (context.Context, context.CancelFunc) {
	tb.Helper()
	return context.WithCancel(context.WithoutCancel(tb.Context()))
}

// consistent checks what must hold of every database: its structure, its
// references, and that what is derived agrees with what it is derived from.
func consistent(tb testing.TB, db *DB) {
	tb.Helper()
	err := db.ViewConn(context.Background(), func(c *relational.Conn) error {
		return check(relational.NewSource(c), func(f Fault) error {
			tb.Errorf("%s: %s", f.What, f.Row)
			return nil
		})
	})
	if err != nil {
		tb.Error(err)
	}
}

// What package relational does at a time, and keeps.
const (
	maxBatch     = 256
	walkChunk    = 512
	few          = 256
	fewRoutes    = 8
	reserveAhead = 1024
)

func mustUpdate(tb testing.TB, db *DB, f func(store.Tx) error) {
	tb.Helper()
	if err := db.Update(tb.Context(), f); err != nil {
		tb.Fatal(err)
	}
}

func mustView(tb testing.TB, db *DB, f func(store.Reader) error) {
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
func get(tb testing.TB, db *DB, key string) (value string) {
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
func addUser(tb testing.TB, db *DB, name identity.Name) identity.ID {
	tb.Helper()
	p := store.Party{
		Party:   identity.Party{ID: identity.ID(db.NextID()), Name: name, Kind: identity.User},
		Created: noon(), Modified: noon(),
	}
	mustUpdate(tb, db, func(tx store.Tx) error { return tx.Write().Parties().Put(&p) })
	return p.ID
}

// newCase returns a queued case of the starter.
func newCase(db *DB, starter identity.ID, routeID int64) *store.Case {
	return &store.Case{
		ID: db.NextID(), RouteID: routeID, ContextID: starter, StarterID: starter, State: "queued", Priority: 200,
		Version: 1, Revision: 1, Marking: []byte(`{"l":"queued"}`), Form: []byte(`{"state":"queued"}`),
		Created: noon(), Modified: noon(), Access: []identity.ID{starter},
	}
}
