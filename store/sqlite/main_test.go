package sqlite

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"flowdrive/internal/identity"
	"flowdrive/store"
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
	for _, check := range []struct{ what, query string }{
		{"a broken structure", `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'`},
		{"a reference to nothing", `SELECT "table" || ' ' || rowid FROM pragma_foreign_key_check`},
		{"an access row too many", `
			SELECT case_id || ' ' || party_id FROM case_access
			EXCEPT SELECT cases.id || ' ' || value FROM cases, json_each(cases.access) WHERE archived IS NULL`},
		{"an access row too few", `
			SELECT cases.id || ' ' || value FROM cases, json_each(cases.access) WHERE archived IS NULL
			EXCEPT SELECT case_id || ' ' || party_id FROM case_access`},
		{"an access row of the archive too many", `
			SELECT case_id || ' ' || party_id || ' ' || month FROM archive_access
			EXCEPT SELECT cases.id || ' ' || value || ' ' || archived FROM cases, json_each(cases.access)`},
		{"an access row of the archive too few", `
			SELECT cases.id || ' ' || value || ' ' || archived FROM cases, json_each(cases.access) WHERE archived IS NOT NULL
			EXCEPT SELECT case_id || ' ' || party_id || ' ' || month FROM archive_access`},
		{"a task or a name in the archive", `
			SELECT id FROM cases WHERE archived IS NOT NULL AND (named = 1 OR id IN (
				SELECT case_id FROM tasks UNION ALL SELECT case_id FROM route_tasks UNION ALL SELECT case_id FROM given_names))`},
		{"an archived case that is open", `SELECT id FROM cases WHERE archived IS NOT NULL AND state IN ('queued', 'active', 'suspended')`},
		{"a wrong count of open cases", `
			SELECT starter_id || ' ' || route_id || ' ' || n FROM open_cases
			WHERE n <> (SELECT count(*) FROM cases c WHERE c.starter_id = open_cases.starter_id
				AND c.route_id = open_cases.route_id AND c.state IN ('queued', 'active', 'suspended'))`},
		{"a wrong count of references to a content", `
			SELECT hex(sha256) || ' ' || sum(n) FROM (
				SELECT sha256, refs AS n FROM blobs
				UNION ALL SELECT sha256, -1 FROM messages WHERE content IS NULL
				UNION ALL SELECT sha256, -1 FROM attachments
				UNION ALL SELECT sha256, -1 FROM documents WHERE folder = 0 AND content IS NULL
				UNION ALL SELECT sha256, -1 FROM scratch WHERE content IS NULL
			) GROUP BY sha256 HAVING sum(n) <> 0`},
		{"a wrong count of stored bytes", `
			SELECT author_id || ' ' || sum(n) FROM (
				SELECT author_id, n FROM stored_bytes
				UNION ALL SELECT author_id, -size FROM attachments
				UNION ALL SELECT author_id, -size - coalesce(octet_length(properties), 0) FROM documents
				UNION ALL SELECT author_id, -size FROM messages WHERE author_id <> 0
				UNION ALL SELECT author_id, -size FROM scratch
				UNION ALL SELECT author_id, -length(source) FROM history
			) GROUP BY author_id HAVING sum(n) <> 0`},
		{"a wrong count of scratch", `
			SELECT author_id || ' ' || sum(n) FROM (
				SELECT author_id, n FROM scratch_bytes
				UNION ALL SELECT author_id, -size - 4096 FROM scratch
			) GROUP BY author_id HAVING sum(n) <> 0`},
		{"a document in what is no folder", `
			SELECT d.id FROM documents d JOIN documents above ON above.id = d.parent_id WHERE above.folder = 0`},
		{"a user or team without a root", `
			SELECT id FROM parties EXCEPT SELECT context_id FROM documents`},
		{"an alias that does not follow its case", `
			SELECT aliases.name FROM aliases JOIN cases ON cases.id = case_id
			WHERE aliases.open <> (state IN ('queued', 'active', 'suspended'))`},
		{"an id beyond the sequence", `
			SELECT id FROM (SELECT id FROM cases UNION ALL SELECT id FROM routes UNION ALL SELECT id FROM parties)
			WHERE id >= (SELECT next FROM sequence)`},
	} {
		err := db.view(context.Background(), func(r *reader) error {
			return r.c.each(check.query, func(scan scan) error {
				var row string
				err := scan(&row)
				tb.Errorf("%s: %s", check.what, row)
				return err
			})
		})
		if err != nil {
			tb.Errorf("%s: %v", check.what, err)
		}
	}
}

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
