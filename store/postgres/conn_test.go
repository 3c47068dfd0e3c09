package postgres

import (
	"database/sql/driver"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"flowdrive/internal/pgtest"
	"flowdrive/store/relational"
)

// TestPrepareFails: a statement that cannot be prepared fails what is sent with it, and is not
// taken for one that was prepared; nor are those beside it.
func TestPrepareFails(t *testing.T) {
	t.Parallel()
	pg, err := pgconn.Connect(t.Context(), pgtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	c := &conn{pg: pg, lost: func(err error) { t.Errorf("the connection is lost: %v", err) }}
	defer func() { _ = c.Close() }()
	question := func(query string, arg any) relational.Question {
		s, err := c.Prepare(query)
		if err != nil {
			t.Fatal(err)
		}
		return relational.Question{Stmt: s, Args: []driver.NamedValue{{Ordinal: 1, Value: arg}}}
	}
	good, bad := question(`SELECT $1::bigint + 1`, int64(41)), question(`SELECT $1 FROM nowhere`, "x")
	for range 2 {
		if _, err := c.Ask([]relational.Question{good, bad}); err == nil {
			t.Error("what cannot be prepared was asked")
		}
	}
	none := good
	none.Args = []driver.NamedValue{{Ordinal: 1}}
	found, err := c.Ask([]relational.Question{good, none, good})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []driver.Value{int64(42), nil, int64(42)} {
		row := make([]driver.Value, 1)
		if err := found[i].Next(row); err != nil || row[0] != want {
			t.Errorf("answer %d is %v, not %v (%v)", i, row[0], want, err)
		}
	}
	if c.names != 5 {
		t.Errorf("%d statements were prepared, not 5: two in vain, twice, and one", c.names)
	}
}
