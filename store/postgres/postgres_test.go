package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"flowdrive/internal/errs"
	"flowdrive/internal/pgtest"
	"flowdrive/store"
	"flowdrive/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// query returns the rows of a query, with a bar between columns.
func query(t *testing.T, address, text string) (all []string) {
	t.Helper()
	c, err := pgconn.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
	results, err := c.Exec(t.Context(), text).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, row := range results[len(results)-1].Rows {
		columns := make([]string, len(row))
		for i, raw := range row {
			columns[i] = string(raw)
		}
		all = append(all, strings.Join(columns, "|"))
	}
	return all
}

// node opens the database as a node that runs as long as the test.
func node(t *testing.T, opts Options) *DB {
	t.Helper()
	opts.Now = time.Now
	db, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, db.Close()); err != nil && db.Cause() == nil {
			t.Error(err)
		}
	})
	return db
}

func put(db *DB, key, value string) error {
	return db.Update(context.Background(), func(tx store.Tx) error { return tx.Write().Settings().Put(key, value) })
}

// TestSchemas: both databases have the same tables, columns, types, and keys, but for the
// tables in which PostgreSQL has its nodes.
func TestSchemas(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	node(t, Options{Address: address})
	got := query(t, address, `
		SELECT table_name, column_name, data_type, is_nullable, coalesce(collation_name, '') FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name NOT IN ('tenure', 'nodes', 'goose_db_version') ORDER BY 1, 2`)

	path := filepath.Join(t.TempDir(), "flowdrive.db")
	lite, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := lite.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	rows, err := raw.QueryContext(t.Context(), `
		SELECT m.name, c.name, c.type, c."notnull", c.pk FROM sqlite_schema m, pragma_table_xinfo(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'goose%' AND m.name NOT LIKE 'sqlite%' ORDER BY 1, 2`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var want []string
	for rows.Next() {
		var table, column, kind string
		var notNull bool
		var key int
		if err := rows.Scan(&table, &column, &kind, &notNull, &key); err != nil {
			t.Fatal(err)
		}
		kind, nullable := map[string]string{"INTEGER": "bigint|%s|", "TEXT": "text|%s|C", "BLOB": "bytea|%s|"}[kind], "YES"
		if notNull || key > 0 {
			nullable = "NO"
		}
		want = append(want, table+"|"+column+"|"+fmt.Sprintf(kind, nullable))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a migration of schema/sql is missing in schema/postgres, or differs (-SQLite +PostgreSQL):\n%s", diff)
	}
}

// TestOneIsActive: a second node stands by until the first one has ended.
func TestOneIsActive(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	first, err := Open(t.Context(), Options{Address: address, Node: "one", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Address: address, Node: "two", Now: time.Now}); !errors.Is(err, ErrStandby) {
		t.Errorf("a second node: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	// The server frees the lock when it notices that the session has ended.
	query(t, address, `SELECT pg_advisory_lock(1178882646, hashtext(current_schema())), pg_advisory_unlock(1178882646, hashtext(current_schema()))`)
	second := node(t, Options{Address: address, Node: "two"})
	if err := put(second, "a", "1"); err != nil {
		t.Error(err)
	}
}

// TestStandbyKeepsItsConnection: a node that stands by looks again and again by one connection,
// makes another one if the server has ended it, and becomes the active node by it.
func TestStandbyKeepsItsConnection(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	first, err := Open(t.Context(), Options{Address: address, Node: "one", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	waiting := &Waiting{}
	opts := Options{Address: address, Node: "two", Now: time.Now, Waiting: waiting}
	look := func() string {
		if _, err := Open(t.Context(), opts); !errors.Is(err, ErrStandby) {
			t.Fatalf("a second node: %v", err)
		}
		pids := query(t, address, `SELECT pid FROM pg_stat_activity WHERE application_name = 'flowdrive two' AND datname = current_database()`)
		if len(pids) != 1 {
			t.Fatalf("it has %d connections", len(pids))
		}
		return pids[0]
	}
	pid := look()
	for range 3 {
		if now := look(); now != pid {
			t.Errorf("it has made another connection: %s after %s", now, pid)
		}
	}
	query(t, address, `SELECT pg_terminate_backend(`+pid+`, 60000)`)
	if pid = look(); pid == "" {
		t.Error("it has no connection")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	const whoHasTheLock = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	for len(query(t, address, whoHasTheLock)) > 0 { // the server notices soon that the session has ended
	}
	second := node(t, opts)
	if active := query(t, address, whoHasTheLock); active[0] != pid {
		t.Errorf("the lock is held by %s, not by %s", active, pid)
	}
	if err := put(second, "a", "1"); err != nil {
		t.Error(err)
	}
	second.lose(errors.New("enough"))
	if err := put(second, "a", "2"); !errs.Is(err, errs.Unavailable) {
		t.Errorf("after it was lost: %v", err)
	}
	if err := waiting.Close(); err != nil {
		t.Error(err)
	}
}

// TestWakesTooLate: a node whose lock was taken from it writes nothing and reads nothing,
// whatever it believes.
func TestWakesTooLate(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	old := node(t, Options{Address: address, Node: "old"})
	if err := put(old, "a", "old"); err != nil {
		t.Fatal(err)
	}
	// What the server does with a session that says nothing for too long.
	query(t, address, `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	var fresh *DB
	for fresh == nil { // the session ends soon
		db, err := Open(t.Context(), Options{Address: address, Node: "new", Now: time.Now})
		if err != nil && !errors.Is(err, ErrStandby) {
			t.Fatal(err)
		}
		fresh = db
	}
	defer fresh.Close()
	if err := put(old, "a", "older"); !errs.Is(err, errs.Unavailable) {
		t.Errorf("a write of the old node: %v", err)
	}
	err := old.View(t.Context(), func(r store.Reader) error {
		_, err := r.Settings().Get("a")
		return err
	})
	if !errs.Is(err, errs.Unavailable) {
		t.Errorf("a read of the old node: %v", err)
	}
	<-old.Lost()
	if got := query(t, address, `SELECT value FROM settings WHERE key = 'a'`); len(got) != 1 || got[0] != "old" {
		t.Errorf("stored is %q", got)
	}
}

// TestLooksOnlyInTime: a node that could not speak to the database for a while regards its
// time as over, also if what it was asked is in memory alone.
func TestLooksOnlyInTime(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	now := time.Now()
	db, err := Open(t.Context(), Options{Address: address, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	look := func() error { return db.View(t.Context(), func(store.Reader) error { return nil }) }
	if err := look(); err != nil {
		t.Error(err)
	}
	now = now.Add(db.opts.ownTenure() + time.Second)
	if err := look(); !errs.Is(err, errs.Unavailable) {
		t.Errorf("after a pause: %v", err)
	}
}

// TestRefusals: what no waiting mends is one sentence each, and never has a password.
func TestRefusals(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	with := func(change func(*url.URL)) string {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		change(u)
		return u.String()
	}
	foreign := pgtest.New(t)
	query(t, foreign, `CREATE TABLE invoices (id int)`)
	cut := pgtest.New(t)
	query(t, cut, `CREATE TABLE flowdrive_copying (kind text)`)
	own := pgtest.Start(t)
	for _, statement := range []string{
		`CREATE DATABASE latin ENCODING LATIN1 TEMPLATE template0`, `CREATE DATABASE owned`, `CREATE ROLE guest LOGIN`,
	} {
		own.Execute(t, "flow", statement)
	}
	at := func(database, user string) string {
		u, err := url.Parse(own.Address(database))
		if err != nil {
			t.Fatal(err)
		}
		if user != "" {
			u.User = url.User(user)
		}
		return u.String()
	}
	newer := pgtest.New(t)
	node(t, Options{Address: newer})
	query(t, newer, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`)
	query(t, newer, `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	for _, tt := range []struct{ what, address, want string }{
		{"no address", "mysql://u:secret-word@h/d", "it begins with postgres://"},
		{"a bad port", "postgres://u:secret-word@h:port/d", "is not a valid address"},
		{"a bad parameter", "postgres://u:secret-word@h/d?sslmode=perhaps", "is not a valid address"},
		{"no such database", with(func(u *url.URL) { u.Path = "/nothing" }), `There is no database "nothing"`},
		{"no such user", with(func(u *url.URL) { u.User = url.UserPassword("nobody", "secret-word") }), `refuses the log-in of the user "nobody"`},
		{"a foreign database", foreign, "has tables of another program"},
		{"a newer schema", newer, "was last used by a newer program"},
		{"a copy that was cut", cut, "run the same flowdrive copy again"},
		{"an encoding that holds few letters", at("latin", ""), "has the encoding LATIN1"},
		{"a user without rights", at("owned", "guest"), "ALTER DATABASE owned OWNER TO guest"},
		{"no schema", with(func(u *url.URL) { u.RawQuery += "&search_path=nowhere" }), "search_path"},
		{"an unknown parameter", with(func(u *url.URL) { u.RawQuery += "&color=red" }), "Check what follows the question mark"},
		{"an impossible value", with(func(u *url.URL) { u.RawQuery += "&lock_timeout=red" }), "Check what follows the question mark"},
	} {
		var err error
		for err == nil || errors.Is(err, ErrStandby) { // a session ends soon
			var db *DB
			if db, err = Open(t.Context(), Options{Address: tt.address, Now: time.Now}); err == nil {
				_ = db.Close()
				break
			}
		}
		if err == nil || !IsRefusal(err) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret-word") {
			t.Errorf("%s: %v", tt.what, err)
		}
	}
	if _, err := Open(t.Context(), Options{Address: "postgres://u@127.0.0.1:1/d", Now: time.Now}); !errs.Is(err, errs.Unavailable) || IsRefusal(err) {
		t.Errorf("a server that is not there: %v", err)
	}
}

// TestOddTexts: what a database of texts cannot hold is replaced, and refuses nothing.
func TestOddTexts(t *testing.T) {
	t.Parallel()
	db := node(t, Options{Address: pgtest.New(t)})
	if err := put(db, "odd", "a\x00b\xffc"); err != nil {
		t.Fatal(err)
	}
	var got string
	err := db.View(t.Context(), func(r store.Reader) (err error) {
		got, err = r.Settings().Get("odd")
		return err
	})
	if err != nil || got != "a\ufffdb\ufffdc" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAddressesAreShownWithoutPassword(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"postgres://u:secret-word@h/d", "postgres://u@h/d?password=secret-word", "postgres://u:secret-word@h:port/d", "postgres://u:secret-word@a,b:5433/d",
		"postgres://u@h:port/d?password=secret-word",
	} {
		if shown := Redacted(address); strings.Contains(shown, "secret-word") || !HasPassword(address) {
			t.Errorf("%s is shown as %s", address, shown)
		}
	}
	for _, address := range []string{
		"host=h dbname=d password=secret-word", "u:secret-word@127.0.0.1:5432/d", "postgres:u:secret-word@h/d", "secret-word",
		"postgres://u:1/secret-word@h/d", "postgres://u:1?secret-word@h/d", "postgres://u:1#secret-word@h/d", "postgres://u@h/d?sslpassword=secret-word",
	} {
		if shown := Redacted(address); strings.Contains(shown, "secret-word") {
			t.Errorf("%s is shown as %s", address, shown)
		}
		if err := CheckAddress(address); err != nil && strings.Contains(err.Error(), "secret-word") {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"postgres://u@h/d?sslmode=disable", "postgres://u@h:port/d", "postgres://u@a:5432,b:5433/d"} {
		if HasPassword(address) {
			t.Errorf("%s has no password", address)
		}
	}
	if shown := Redacted("postgres://u@h:port/d"); shown != "postgres://…@h:port/d" {
		t.Errorf("shown as %s", shown)
	}
}
