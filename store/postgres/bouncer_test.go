package postgres

import (
	"strings"
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/pgtest"
	"flowdrive/store"
)

// TestBehindPgBouncer: the transactions of a node go by PgBouncer in transaction mode, what
// needs a session past it; and what is missing in the addresses is said.
func TestBehindPgBouncer(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	direct, bouncer := server.Address("flow"), server.Bouncer(t, "transaction")
	exec := bouncer + "&default_query_exec_mode=exec"
	db := node(t, Options{Address: exec, Direct: direct, Node: "one"})
	for range 20 {
		if err := put(db, "a", "1"); err != nil {
			t.Fatal(err)
		}
		err := db.View(t.Context(), func(r store.Reader) error {
			_, err := r.Settings().Get("a")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := query(t, direct, `SELECT count(DISTINCT pid)::text || ' ' || count(*) FILTER (WHERE application_name = 'flowdrive one')::text FROM pg_stat_activity WHERE datname = 'flow' AND pid <> pg_backend_pid()`); got[0] > "4 4" { // three, and the one past it
		t.Errorf("there are more sessions than PgBouncer may have: %s", got)
	}

	other := pgtest.New(t)
	first, err := Open(t.Context(), Options{Address: other, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{Address: exec}, "give the address of the database itself with --db-direct"},
		{Options{Address: bouncer}, "add default_query_exec_mode=exec to --db"},
		{Options{Address: exec, Direct: exec}, "needs a session"},
		{Options{Address: exec, Direct: other}, "are not of one database"},
		{Options{Address: direct + "&default_query_exec_mode=simple_protocol"}, "leave it out"},
	} {
		test.o.Now = time.Now
		wrong, err := Open(t.Context(), test.o)
		if err == nil {
			_ = wrong.Close()
		}
		if !errs.Is(err, errs.Unavailable) || !IsRefusal(err) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s, %s: %v", test.o.Address, test.o.Direct, err)
		}
	}
}
