package sqlite

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/relational"
)

func TestViewIsOneSnapshot(t *testing.T) {
	t.Parallel()
	db := run(t, Options{})
	mustUpdate(t, db, put("a", "before"))
	mustView(t, db, func(r store.Reader) error {
		for range 2 {
			if got, err := r.Settings().Get("a"); got != "before" || err != nil {
				t.Errorf("a is %q, %v", got, err)
			}
			mustUpdate(t, db, put("a", "after"))
		}
		return nil
	})
	if got := get(t, db, "a"); got != "after" {
		t.Errorf("a is %q", got)
	}
}

func TestViewCannotWrite(t *testing.T) {
	t.Parallel()
	db := run(t, Options{})
	err := db.ViewConn(t.Context(), func(c *relational.Conn) error {
		_, err := c.Exec(`INSERT INTO settings (key, value) VALUES ('a', '1')`)
		return failure("write", err)
	})
	if !errs.Is(err, errs.Unavailable) {
		t.Errorf("a write in a view: %v", err)
	}
}

func TestViewReturnsItsError(t *testing.T) {
	t.Parallel()
	db := run(t, Options{Readers: 1})
	for range 3 { // the only reader comes back each time
		if err := db.View(t.Context(), func(store.Reader) error { return errRefused }); !errors.Is(err, errRefused) {
			t.Errorf("view: %v", err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a panic did not reach the caller")
				}
			}()
			_ = db.View(t.Context(), func(store.Reader) error { panic("a test's panic") })
		}()
	}
}

func TestViewContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "flowdrive.db")
	synctest.Test(t, func(t *testing.T) {
		db := open(t, path, Options{Readers: 2})
		start(t, db)
		mustView(t, db, func(store.Reader) error {
			mustView(t, db, func(store.Reader) error {
				ctx, cancel := context.WithCancel(t.Context())
				outcome := make(chan error, 1)
				go func() {
					outcome <- db.View(ctx, func(store.Reader) error {
						t.Error("a third view of two at a time")
						return nil
					})
				}()
				synctest.Wait()
				cancel()
				if err := <-outcome; !errors.Is(err, context.Canceled) {
					t.Errorf("a view that waits: %v", err)
				}
				return nil
			})
			return nil
		})
	})
}

// TestListReadsWhatItReturns: a page of a listing costs what is on it, not what follows. A
// page of four cases read 512 of them, which took gigabytes if they were large.
func TestListReadsWhatItReturns(t *testing.T) { //nolint:paralleltest // what it counts is the process's
	db := run(t, Options{})
	starter := addUser(t, db, "ann")
	const cases, form = 40, 256 << 10
	mustUpdate(t, db, func(tx store.Tx) error {
		route := newRoute(db, "large", starter, starter)
		if err := tx.Write().Routes().Put(route); err != nil {
			return err
		}
		for range cases {
			c := newCase(db, starter, route.ID)
			c.Form = bytes.Repeat([]byte("x"), form)
			if err := tx.Write().Cases().Insert(c); err != nil {
				return err
			}
		}
		return nil
	})
	for _, f := range []store.CaseFilter{
		{Limit: 2},
		{Limit: 2, After: 7},
		{Limit: 2, Access: []identity.ID{starter}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		mustView(t, db, func(r store.Reader) error {
			list, err := r.Cases().List(f)
			if len(list) != 2 {
				t.Errorf("%+v: %d cases", f, len(list))
			}
			return err
		})
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 8*form {
			t.Errorf("%+v: %d bytes were read for two cases of %d", f, took, form)
		}
	}
}
