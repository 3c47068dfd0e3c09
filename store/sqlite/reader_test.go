package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"

	"flowdrive/internal/errs"
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
