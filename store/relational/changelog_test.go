package relational_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

// TestChangedCases wants to know which cases were changed since a moment, of units that
// were committed alone, and that this is not known after very many changes.
func TestChangedCases(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	update := func(f func(tx store.Tx) error) {
		t.Helper()
		if err := db.Update(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	changed := func(what string, since uint64, want ...int64) {
		t.Helper()
		got, all := db.ChangedCases(since)
		if diff := cmp.Diff(want, got); diff != "" || all {
			t.Errorf("%s (all: %v) (-want +got):\n%s", what, all, diff)
		}
	}
	begin := db.Changes()
	one, two := newCase(db, sam, 7), newCase(db, sam, 7)
	update(func(tx store.Tx) error {
		return errors.Join(tx.Write().Cases().Insert(one), tx.Write().Cases().Insert(two))
	})
	inserted := db.Changes()
	changed("inserted", begin, one.ID, two.ID)
	changed("nothing since", inserted)

	failed := errors.New("failed")
	if err := db.Update(t.Context(), func(tx store.Tx) error {
		return errors.Join(tx.Write().Cases().Insert(newCase(db, sam, 7)), failed)
	}); !errors.Is(err, failed) {
		t.Fatal(err)
	}
	two.Revision++
	update(func(tx store.Tx) error { return tx.Write().Cases().Update(two, two.Revision-1) })
	changed("updated", inserted, two.ID)
	updated := db.Changes()
	update(func(tx store.Tx) error { return tx.Write().Cases().Delete(one.ID, store.UUID{}, one.Created) })
	changed("deleted", updated, one.ID)
	changed("all", begin, one.ID, two.ID)

	if _, all := db.ChangedCases(begin - 1000); !all {
		t.Error("it says what was changed before it was opened")
	}
	update(func(tx store.Tx) error {
		for range 5000 {
			if err := tx.Write().Cases().Insert(newCase(db, sam, 7)); err != nil {
				return err
			}
		}
		return nil
	})
	if ids, all := db.ChangedCases(begin); !all {
		t.Errorf("after very many changes it says %d", len(ids))
	}
	changed("nothing since very many", db.Changes())
}

// TestRevisionsAmong wants of some cases those with tasks, as all of them are found.
func TestRevisionsAmong(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	var ids []int64
	for i, shares := range [][]store.TaskShare{
		{{Party: ann, Lists: machine.OnOffered}},
		{{Party: sam, Lists: machine.OnOffered}},
		{{Party: 0, Lists: machine.OnEscalated}},
		{{Party: ann, Lists: machine.OnWarnings}},
		{{Party: ann, Lists: machine.OnOffered}, {Party: 0, Lists: machine.OnOffered}},
	} {
		c := newCase(db, sam, int64(7+i%2))
		c.Tasks = shares
		if err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Cases().Insert(c) }); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, c.ID)
	}
	err := db.View(t.Context(), func(r store.Reader) error {
		for _, f := range []store.TaskFilter{
			{Lists: machine.OnOffered, Parties: []identity.ID{ann}},
			{Lists: machine.OnOffered | machine.OnEscalated, Parties: []identity.ID{ann, sam}, Routes: []int64{7}},
			{Lists: machine.OnEscalated, Routes: []int64{7, 8}},
			{Lists: machine.OnOffered},
		} {
			want, err := r.Cases().Tasks().TaskRevisions(f)
			if err != nil {
				return err
			}
			f.Among = ids
			got, err := r.Cases().Tasks().TaskRevisions(f)
			if err != nil {
				return err
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%+v (-want +got):\n%s", f, diff)
			}
			f.Among = ids[1:4]
			want = slices.DeleteFunc(want, func(c store.CaseRevision) bool { return !slices.Contains(f.Among, c.ID) })
			if got, err = r.Cases().Tasks().TaskRevisions(f); err != nil {
				return err
			}
			if diff := cmp.Diff(want, got); len(want)+len(got) > 0 && diff != "" {
				t.Errorf("%+v (-want +got):\n%s", f, diff)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
