package relational_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

// TestJournals: they are replaced, listed in order, bounded, and go with their case.
func TestJournals(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	c := newCase(db, addUser(t, db, "sam"), 1)
	insertCases(t, db, c)
	journal := func(seq, step int64, form string) *store.Journal {
		return &store.Journal{CaseID: c.ID, Seq: seq, Step: step, Name: "run", Created: noon(), Modified: noon().Add(time.Duration(len(form)) * time.Second), Form: []byte(form)}
	}
	first, second, other := journal(3, 2, "{}"), journal(3, 10, "{}"), journal(12, 1, "{}")
	changed := journal(3, 2, `{"a": 1}`)
	mustUpdate(t, db, func(tx store.Tx) error {
		for _, j := range []*store.Journal{other, second, first, changed} {
			if err := tx.Write().Outbox().PutJournal(j); err != nil {
				return err
			}
		}
		return nil
	})
	mustView(t, db, func(r store.Reader) error {
		all, err := r.Outbox().Journals(c.ID)
		if diff := cmp.Diff([]store.Journal{*changed, *second, *other}, all); diff != "" || err != nil {
			t.Errorf("journals (-want +got):\n%s%v", diff, err)
		}
		newest, err := r.Outbox().NewestJournals(c.ID, 2)
		if diff := cmp.Diff([]store.Journal{*other, *second}, newest); diff != "" || err != nil {
			t.Errorf("the newest journals (-want +got):\n%s%v", diff, err)
		}
		one, err := r.Outbox().Journal(c.ID, 3, 2)
		if diff := cmp.Diff(changed, one); diff != "" || err != nil {
			t.Errorf("journal (-want +got):\n%s%v", diff, err)
		}
		if _, err := r.Outbox().Journal(c.ID, 3, 3); !errs.Is(err, errs.NotFound) {
			t.Errorf("no journal: %v", err)
		}
		return nil
	})
	mustUpdate(t, db, func(tx store.Tx) error {
		for seq := range int64(store.MostJournals) {
			if err := tx.Write().Outbox().PutJournal(journal(100+seq, 1, "{}")); err != nil {
				return err
			}
		}
		return nil
	})
	mustView(t, db, func(r store.Reader) error {
		all, err := r.Outbox().Journals(c.ID)
		if len(all) != store.MostJournals || all[0].Seq != 100 {
			t.Errorf("%d journals are kept, the first of %d", len(all), all[0].Seq)
		}
		return err
	})
}
