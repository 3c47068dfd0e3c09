package relational_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

var errRefused = errors.New("refused by the test")

// together runs units in one transaction, in their order, and returns their outcomes.
func together(t *testing.T, place storetest.Place, made func(db *storetest.DB) []func(store.Tx) error) []error {
	t.Helper()
	db, err := place.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	units, before := made(db), db.Stats().Commits
	outcomes := make([]chan error, len(units))
	for i, f := range units {
		outcomes[i] = make(chan error, 1)
		go func() { outcomes[i] <- db.Update(context.WithoutCancel(t.Context()), f) }()
		for db.Queued() <= i {
			runtime.Gosched()
		}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx) }()
	got := make([]error, len(units))
	for i := range units {
		got[i] = <-outcomes[i]
	}
	if n := db.Stats().Commits - before; n != 1 {
		t.Errorf("%d commits, not one", n)
	}
	consistent(t, db)
	cancel()
	if err := errors.Join(<-ended, db.Close()); err != nil {
		t.Error(err)
	}
	return got
}

// TestLater: what units write later is stored with one commit. What one of them could not write
// undoes all that it has written, and nothing of the others; and it is told so.
func TestLater(t *testing.T) {
	t.Parallel()
	place := storetest.NewPlace(t, t.TempDir())
	cases := make([]*store.Case, 9)
	stored := func(i int) func(store.Tx) error {
		return func(tx store.Tx) error { return tx.Write().Cases().Insert(cases[i]) }
	}
	begun := together(t, place, func(db *storetest.DB) []func(store.Tx) error {
		starter := store.Party{
			Party:   identity.Party{ID: identity.ID(db.NextID()), Name: "starter", Kind: identity.User},
			Created: noon(), Modified: noon(),
		}
		for i := range cases {
			cases[i] = newCase(db, starter.ID, 1<<30)
		}
		return []func(store.Tx) error{func(tx store.Tx) error { return tx.Write().Parties().Put(&starter) }, stored(0), stored(1), stored(2)}
	})
	for i, err := range begun {
		if err != nil {
			t.Fatalf("unit %d: %v", i, err)
		}
	}

	log := []byte(`[{"seq": 1}]`)
	changed := func(i int, base int64, then func(tx store.Tx) error) func(store.Tx) error {
		return func(tx store.Tx) error {
			tx.Write().Later()
			c := *cases[i]
			c.Revision, c.State = 2, "active"
			err := tx.Write().Cases().AppendLog(c.ID, 1, log)
			return errors.Join(err, tx.Write().Cases().Update(&c, base), then(tx))
		}
	}
	inserted := func(i int, then func(tx store.Tx) error) func(store.Tx) error {
		return func(tx store.Tx) error {
			tx.Write().Later()
			if err := tx.Write().Settings().Put("by", cases[i].State); err != nil {
				return err
			}
			return errors.Join(tx.Write().Cases().Insert(cases[i]), then(tx))
		}
	}
	nothing := func(store.Tx) error { return nil }
	isAgain := func(kind errs.Kind) func(error) bool {
		return func(err error) bool { return errors.Is(err, store.ErrAgain) || errs.Is(err, kind) }
	}
	isNil := func(err error) bool { return err == nil }
	tests := []struct {
		what string
		unit func(store.Tx) error
		want func(error) bool
	}{
		{"a change", changed(0, 1, nothing), isNil},
		{"a change of what has changed", changed(1, 7, nothing), isAgain(errs.Precondition)},
		{"a new case", inserted(3, nothing), isNil},
		{"one that there is", inserted(2, nothing), isAgain(errs.NameTaken)},
		{"a unit that fails", inserted(4, func(store.Tx) error { return errRefused }), func(err error) bool { return errors.Is(err, errRefused) }},
		{"one that reads what it has written", inserted(5, func(tx store.Tx) error {
			_, err := tx.Cases().Get(cases[5].ID)
			return err
		}), isNil},
		{"one that reads, and then fails", inserted(6, func(tx store.Tx) error {
			_, err := tx.Cases().Get(cases[6].ID)
			return errors.Join(err, errRefused)
		}), func(err error) bool { return errors.Is(err, errRefused) }},
		{"one that reads what could not be written", inserted(2, func(tx store.Tx) error {
			_, _ = tx.Cases().Get(cases[2].ID) // it goes on as if nothing were
			return nil
		}), isAgain(errs.NameTaken)},
		{"one that does not write later", put("at once", "1"), isNil},
		{"a part of one that fails", inserted(7, func(tx store.Tx) error {
			err := store.Savepoint(tx, func() error { return errors.Join(tx.Write().Settings().Put("part", "1"), errRefused) })
			if !errors.Is(err, errRefused) {
				return errs.Wrap("a part", err)
			}
			return tx.Write().Cases().AppendLog(cases[7].ID, 1, log)
		}), isNil},
		{"a part whose writes do not come out", inserted(8, func(tx store.Tx) error {
			err := store.Savepoint(tx, func() error {
				tx.Write().Later()
				tx.AfterCommit(func() { t.Error("the hook of a part that was undone ran") })
				return errors.Join(tx.Write().Settings().Put("part", "1"), tx.Write().Cases().Insert(cases[2]))
			})
			if !isAgain(errs.NameTaken)(err) {
				return errs.Wrap("a part", err)
			}
			return store.Savepoint(tx, func() error {
				tx.Write().Later()
				return tx.Write().Settings().Put("second part", "1")
			})
		}), isNil},
		{"one that settles", inserted(2, func(tx store.Tx) error { return errors.Join(tx.Write().Settle(), errRefused) }), isAgain(errs.NameTaken)},
		{"a log of no case", func(tx store.Tx) error {
			tx.Write().Later()
			return tx.Write().Cases().AppendLog(1<<40, 1, log)
		}, isAgain(errs.NotFound)},
		{"the last", put("last", "1"), isNil},
	}
	units := make([]func(store.Tx) error, len(tests))
	for i, test := range tests {
		units[i] = func(tx store.Tx) error {
			if want := test.want; !want(nil) {
				tx.AfterCommit(func() { t.Errorf("%s: its hook ran", test.what) })
			}
			return test.unit(tx)
		}
	}
	for i, err := range together(t, place, func(*storetest.DB) []func(store.Tx) error { return units }) {
		if !tests[i].want(err) {
			t.Errorf("%s: %v", tests[i].what, err)
		}
	}

	db, err := place.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var got []string
	mustView(t, db, func(r store.Reader) error {
		for i, c := range cases {
			found, err := store.OrNil(r.Cases().Get(c.ID))
			if err != nil {
				return err
			}
			state := "none"
			if found != nil {
				text, err := r.Cases().Log(c.ID)
				if err != nil {
					return err
				}
				state = found.State + " " + string(text)
			}
			got = append(got, state)
			cases[i] = c
		}
		return nil
	})
	want := []string{"active [{\"seq\": 1}]", "queued []", "queued []", "queued []", "none", "queued []", "none", "queued [{\"seq\": 1}]", "queued []"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is stored (-want +got):\n%s", diff)
	}
	for key, want := range map[string]string{"by": "queued", "at once": "1", "part": "", "second part": "1", "last": "1"} {
		if got := get(t, db, key); got != want {
			t.Errorf("the setting %s is %q, not %q", key, got, want)
		}
	}
}

// TestLaterAlone: a unit that is alone in its transaction, and could not write what it wrote
// later, has written nothing.
func TestLaterAlone(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	c := newCase(db, addUser(t, db, "starter"), 1<<30)
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().Insert(c) })
	err := db.Update(t.Context(), func(tx store.Tx) error {
		tx.Write().Later()
		return errors.Join(tx.Write().Settings().Put("a", "1"), tx.Write().Cases().Insert(c))
	})
	if !errors.Is(err, store.ErrAgain) && !errs.Is(err, errs.NameTaken) {
		t.Errorf("a case that there is: %v", err)
	}
	mustUpdate(t, db, put("b", "1"))
	if a, b := get(t, db, "a"), get(t, db, "b"); a != "" || b != "1" {
		t.Errorf("the settings are %q and %q", a, b)
	}
}
