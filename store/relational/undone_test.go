package relational_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/store"
	"flowdrive/store/storetest"
)

// TestIfUndone: what is to run if something is undone runs with the unit or the part that
// failed, before the next unit does, and with nothing else.
func TestIfUndone(t *testing.T) {
	t.Parallel()
	var ran []string
	unit := func(key string, end func(store.Tx) error) func(store.Tx) error {
		return func(tx store.Tx) error {
			ran = append(ran, key)
			tx.IfUndone(func() { ran = append(ran, key+" undone") })
			return errors.Join(tx.Write().Settings().Put(key, "1"), end(tx))
		}
	}
	fine := func(store.Tx) error { return nil }
	refused := func(store.Tx) error { return errRefused }
	part := func(tx store.Tx, key string, end func(store.Tx) error) func() error {
		return func() error { return unit(key, end)(tx) }
	}
	got := together(t, storetest.NewPlace(t, t.TempDir()), func(*storetest.DB) []func(store.Tx) error {
		return []func(store.Tx) error{
			unit("a", fine),
			unit("b", refused),
			unit("c", func(store.Tx) error { panic("a test's panic") }),
			unit("d", func(tx store.Tx) error {
				if err := store.Savepoint(tx, part(tx, "d1", refused)); !errors.Is(err, errRefused) {
					t.Errorf("d1: %v", err)
				}
				_ = tx.Write().Parts([]func() error{part(tx, "d2", fine), part(tx, "d3", refused), part(tx, "d4", fine)})
				return nil
			}),
			unit("e", func(tx store.Tx) error {
				tx.IfUndone(func() { panic("a test's panic") })
				return errors.Join(store.Savepoint(tx, part(tx, "e1", fine)), errRefused)
			}),
			unit("f", fine),
		}
	})
	for i, failed := range []bool{false, true, true, false, true, false} {
		if failed != (got[i] != nil) {
			t.Errorf("unit %d: %v", i, got[i])
		}
	}
	want := []string{
		"a", "b", "b undone", "c", "c undone", "d", "d1", "d1 undone", "d2", "d3", "d3 undone", "d4",
		"e", "e1", "e undone", "e1 undone", "f",
	}
	if diff := cmp.Diff(want, ran); diff != "" {
		t.Errorf("what ran (-want +got):\n%s", diff)
	}
}

// TestIfUndoneLater: so does what is to run if what a unit or a part has written later does not come out.
func TestIfUndoneLater(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	there := newCase(db, addUser(t, db, "starter"), 7)
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().Insert(there) })
	var ran []string
	again := func(tx store.Tx, key string) error {
		tx.Write().Later()
		tx.IfUndone(func() { ran = append(ran, key) })
		return tx.Write().Cases().Insert(there)
	}
	err := db.Update(t.Context(), func(tx store.Tx) error { return again(tx, "the unit") })
	if err == nil {
		t.Error("a case is there twice")
	}
	mustUpdate(t, db, func(tx store.Tx) error {
		tx.IfUndone(func() { ran = append(ran, "the unit of parts") })
		for i, err := range tx.Write().Parts([]func() error{func() error { return again(tx, "first") }, func() error { return again(tx, "second") }}) {
			if err == nil {
				t.Errorf("part %d: a case is there twice", i)
			}
		}
		return nil
	})
	if diff := cmp.Diff([]string{"the unit", "first", "second"}, ran); diff != "" {
		t.Errorf("what ran (-want +got):\n%s", diff)
	}
}
