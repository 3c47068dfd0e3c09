package relational_test

import (
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/relational"
	"flowdrive/store/storetest"
)

// TestEndedEntries: what has ended is found by its contexts and its age, the newest
// first, until it is forgotten.
func TestEndedEntries(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	ended := func(n byte, context identity.ID) *store.EndedEntry {
		return &store.EndedEntry{
			UUID: store.UUID{15: n}, ContextID: context, Author: context, Name: "once.json", Actor: "sam",
			Ended: noon().Add(time.Duration(n) * time.Hour), Form: []byte(`{"a":1}`),
		}
	}
	first, second, others := ended(1, sam), ended(2, sam), ended(3, ann)
	mustUpdate(t, db, func(tx store.Tx) error {
		for _, e := range []*store.EndedEntry{first, second, others, first} {
			if err := tx.Write().Entries().PutEnded(e); err != nil {
				return err
			}
		}
		return nil
	})
	list := func(contexts []identity.ID, after time.Time) (uuids []byte) {
		mustView(t, db, func(r store.Reader) error {
			all, err := r.Entries().AllEnded(contexts, after, 10)
			for i := range all {
				uuids = append(uuids, all[i].UUID[15])
			}
			return err
		})
		return uuids
	}
	same(t, "of sam", []byte{2, 1}, list([]identity.ID{sam}, noon()))
	same(t, "of all", []byte{3, 2, 1}, list(nil, noon()))
	same(t, "of late", []byte{3, 2}, list(nil, noon().Add(90*time.Minute)))
	mustUpdate(t, db, func(tx store.Tx) error {
		e, err := tx.Entries().Ended(first.UUID)
		same(t, "stored", first, e)
		if err == nil {
			err = tx.Write().Entries().DeleteEnded(second.UUID)
		}
		if err == nil {
			err = tx.Write().Entries().DeleteEndedBefore(noon().Add(2*time.Hour), 10)
		}
		return err
	})
	same(t, "left", []byte{3}, list(nil, noon()))
	mustView(t, db, func(r store.Reader) error {
		_, err := r.Entries().Ended(first.UUID)
		kind(t, "forgotten", err, errs.NotFound)
		return nil
	})
}

// TestDone: what a user has performed is found by its age, the newest first.
func TestDone(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	c := newCase(db, sam, 7)
	done := func(n int64, user identity.ID) *store.DoneTask {
		return &store.DoneTask{User: user, Time: noon().Add(time.Duration(n) * time.Hour), CaseID: c.ID, Seq: n, Action: "fix", Form: []byte("{}")}
	}
	mustUpdate(t, db, func(tx store.Tx) error {
		if err := tx.Write().Cases().Insert(c); err != nil {
			return err
		}
		for _, d := range []*store.DoneTask{done(1, sam), done(2, sam), done(3, ann)} {
			if err := tx.Write().Cases().InsertDone(d); err != nil {
				return err
			}
		}
		return nil
	})
	list := func(after time.Time) (seqs []int64) {
		mustView(t, db, func(r store.Reader) error {
			all, err := r.Cases().Done(sam, after, 10)
			for i := range all {
				seqs = append(seqs, all[i].Seq)
			}
			return err
		})
		return seqs
	}
	same(t, "all", []int64{2, 1}, list(noon()))
	same(t, "late", []int64{2}, list(noon().Add(90*time.Minute)))
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().DeleteDoneBefore(noon().Add(2*time.Hour), 10) })
	same(t, "left", []int64{2}, list(noon()))

	// A limit leaves the rest to the next time, and never stops at one instant.
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().DeleteDoneBefore(noon().Add(4*time.Hour), 1) })
	same(t, "the limit deletes the oldest", []int64(nil), list(noon()))
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().InsertDone(done(4, sam)) })
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().DeleteDoneBefore(noon().Add(5*time.Hour), 1) })
	same(t, "ann's is older", []int64{4}, list(noon()))
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().DeleteDoneBefore(noon().Add(5*time.Hour), 1) })
	same(t, "none is left", []int64(nil), list(noon()))
}

// TestDoneOfADeletedCase: what was performed in a case goes with it, and nothing else does.
func TestDoneOfADeletedCase(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	gone, stays := newCase(db, sam, 7), newCase(db, sam, 7)
	gone.Modified, stays.Modified = noon().Add(time.Hour), noon().Add(time.Hour)
	mustUpdate(t, db, func(tx store.Tx) error {
		for _, c := range []*store.Case{gone, stays} {
			if err := tx.Write().Cases().Insert(c); err != nil {
				return err
			}
			for n, at := range []time.Time{c.Created, c.Modified} {
				d := store.DoneTask{User: sam, Time: at, CaseID: c.ID, Seq: int64(n), Action: "fix", Form: []byte("{}")}
				if err := tx.Write().Cases().InsertDone(&d); err != nil {
					return err
				}
			}
		}
		_, err := relational.ConnOf(tx).Exec(`DELETE FROM cases WHERE id = ?1`, gone.ID)
		return err
	})
	mustView(t, db, func(r store.Reader) error {
		all, err := r.Cases().Done(sam, noon().Add(-time.Hour), 10)
		of := []int64{}
		for i := range all {
			of = append(of, all[i].CaseID)
		}
		same(t, "left", []int64{stays.ID, stays.ID}, of)
		return err
	})
}
