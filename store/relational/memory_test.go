package relational_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

// TestLockedKeys wants what is remembered of locks to hide none: after each
// change, of one that failed and within the unit too, and whether there are
// few or many.
func TestLockedKeys(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	lock := func(n int, on store.LockKey) *store.Lock {
		return &store.Lock{
			Token: store.UUID{byte(n), byte(n >> 8), 1}, On: on, HolderID: sam, Root: "/", Lasts: time.Hour, Expires: noon().Add(time.Hour),
		}
	}
	count := func(r store.Reader, keys ...store.LockKey) int {
		t.Helper()
		on, err := r.Locks().On(keys, noon())
		if err != nil {
			t.Fatal(err)
		}
		below, err := r.Locks().Below("case/", noon())
		if err != nil {
			t.Fatal(err)
		}
		if len(keys) == 1 && len(below) < len(on) {
			t.Errorf("%d locks on %s, %d below", len(on), keys[0], len(below))
		}
		return len(on)
	}
	undone := errors.New("undone")
	steps := []struct {
		what   string
		change func(store.Tx) error
		fails  bool
		one    int // locks on case/1
		two    int // on case/2
		known  bool
	}{
		{"nothing", func(store.Tx) error { return nil }, false, 0, 0, true},
		{"a lock that is not kept", func(tx store.Tx) error { return errors.Join(tx.Write().Locks().Insert(lock(1, "case/1")), undone) }, true, 0, 0, true},
		{"a lock", func(tx store.Tx) error { return tx.Write().Locks().Insert(lock(1, "case/1")) }, false, 1, 0, true},
		{"another", func(tx store.Tx) error { return tx.Write().Locks().Insert(lock(2, "case/1")) }, false, 2, 0, true},
		{"a move that is not kept", func(tx store.Tx) error { return errors.Join(tx.Write().Locks().Move("case/1", "case/2"), undone) }, true, 2, 0, true},
		{"a move", func(tx store.Tx) error { return tx.Write().Locks().Move("case/1", "case/2") }, false, 0, 2, true},
		{"one gone", func(tx store.Tx) error { return tx.Write().Locks().Delete(store.UUID{1, 0, 1}) }, false, 0, 1, true},
		{"many", func(tx store.Tx) (err error) {
			for i := range few {
				err = errors.Join(err, tx.Write().Locks().Insert(lock(3+i, store.LockKey(fmt.Sprint("case/", 3+i)))))
			}
			return err
		}, false, 0, 1, false},
		{"all gone", func(tx store.Tx) error { return tx.Write().Locks().DeleteOf(sam) }, false, 0, 0, true},
	}
	for _, step := range steps {
		err := db.Update(t.Context(), func(tx store.Tx) error {
			err := step.change(tx)
			if one, two := count(tx, "case/1"), count(tx, "case/2"); !step.fails && (one != step.one || two != step.two) {
				t.Errorf("%s: in the unit %d and %d locks", step.what, one, two)
			}
			return err
		})
		if (err != nil) != step.fails {
			t.Fatalf("%s: %v", step.what, err)
		}
		if err := db.View(t.Context(), func(r store.Reader) error {
			if one, two := count(r, "case/1"), count(r, "case/2"); one != step.one || two != step.two {
				t.Errorf("%s: %d and %d locks, not %d and %d", step.what, one, two, step.one, step.two)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		before := db.Stats().Statements
		if err := db.View(t.Context(), func(r store.Reader) error {
			_, err := r.Locks().On([]store.LockKey{"case/none"}, noon())
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if known := db.Stats().Statements == before; known != step.known {
			t.Errorf("%s: known %t", step.what, known)
		}
	}
	before := db.Stats().Statements
	if err := db.View(t.Context(), func(r store.Reader) error { count(r, "case/1", "case/2"); return nil }); err != nil {
		t.Fatal(err)
	}
	if ran := db.Stats().Statements - before; ran != 0 {
		t.Errorf("that nothing is locked takes %d statements", ran)
	}
}

// TestHoldsInMemory wants what is remembered of holds to be what is stored,
// in the unit that changes them and after it, and of one that failed.
func TestHoldsInMemory(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	undone := errors.New("undone")
	hold := &store.Hold{Name: "stop", Engine: true, Author: "sam", Revision: 1, Created: noon(), Modified: noon()}
	var id int64 // of the last one
	put := func(tx store.Tx) error {
		h := *hold
		err := tx.Write().Queue().PutHold(&h)
		id = h.ID
		return err
	}
	for _, step := range []struct {
		what   string
		change func(store.Tx) error
		fails  bool
		want   int
	}{
		{"nothing", func(store.Tx) error { return nil }, false, 0},
		{"one that is not kept", func(tx store.Tx) error { return errors.Join(put(tx), undone) }, true, 0},
		{"one", put, false, 1},
		{"one that is not deleted", func(tx store.Tx) error { return errors.Join(tx.Write().Queue().DeleteHold(id), undone) }, true, 1},
		{"none", func(tx store.Tx) error { return tx.Write().Queue().DeleteHold(id) }, false, 0},
	} {
		count := func(r store.Reader) int {
			all, err := r.Queue().Holds()
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		err := db.Update(t.Context(), func(tx store.Tx) error {
			err := step.change(tx)
			if got := count(tx); !step.fails && got != step.want {
				t.Errorf("%s: %d in the unit, want %d", step.what, got, step.want)
			}
			return err
		})
		if (err != nil) != step.fails {
			t.Fatalf("%s: %v", step.what, err)
		}
		before := db.Stats().Statements
		mustView(t, db, func(r store.Reader) error {
			if got := count(r); got != step.want {
				t.Errorf("%s: %d, want %d", step.what, got, step.want)
			}
			return nil
		})
		if ran := db.Stats().Statements - before; ran != 0 {
			t.Errorf("%s: asking for holds takes %d statements", step.what, ran)
		}
	}
}

// TestStampsInMemory wants the same of the versions of routes.
func TestStampsInMemory(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	tip := newRoute(db, "tip", sam, sam)
	second := *tip
	second.Version = 2
	undone := errors.New("undone")
	stamp := func(r store.Reader) int64 {
		version, err := r.Routes().CurrentVersion(tip.ID)
		if err != nil && !errs.Is(err, errs.NotFound) {
			t.Fatal(err)
		}
		return version
	}
	for _, step := range []struct {
		what   string
		change func(store.Tx) error
		fails  bool
		inside int64 // 0: there is none
		after  int64
	}{
		{"one that is not kept", func(tx store.Tx) error { return errors.Join(tx.Write().Routes().Put(tip), undone) }, true, 1, 0},
		{"a route", func(tx store.Tx) error { return tx.Write().Routes().Put(tip) }, false, 1, 1},
		{"a version that is not kept", func(tx store.Tx) error { return errors.Join(tx.Write().Routes().Put(&second), undone) }, true, 2, 1},
		{"a version", func(tx store.Tx) error { return tx.Write().Routes().Put(&second) }, false, 2, 2},
		{"one that stays", func(tx store.Tx) error { return errors.Join(tx.Write().Routes().Delete(tip.ID), undone) }, true, 0, 2},
		{"none", func(tx store.Tx) error { return tx.Write().Routes().Delete(tip.ID) }, false, 0, 0},
	} {
		err := db.Update(t.Context(), func(tx store.Tx) error {
			err := step.change(tx)
			if got := stamp(tx); got != step.inside {
				t.Errorf("%s: %d in the unit, want %d", step.what, got, step.inside)
			}
			return err
		})
		if (err != nil) != step.fails {
			t.Fatalf("%s: %v", step.what, err)
		}
		before := db.Stats().Statements
		mustView(t, db, func(r store.Reader) error {
			if got := stamp(r); got != step.after {
				t.Errorf("%s: %d, want %d", step.what, got, step.after)
			}
			return nil
		})
		if ran := db.Stats().Statements - before; ran != 0 {
			t.Errorf("%s: asking for a version takes %d statements", step.what, ran)
		}
	}
}
