package relational_test

import (
	"testing"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

// TestUpcoming reads what is due first of some contexts.
func TestUpcoming(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann, bob := addUser(t, db, "sam"), addUser(t, db, "ann"), addUser(t, db, "bob")
	for i, e := range []*store.Entry{newEntry(9, sam), newEntry(1, ann), newEntry(5, bob), newEntry(3, sam), newEntry(7, sam)} {
		if i == 4 {
			e.Due = time.Time{}
		}
		insertEntries(t, db, e)
	}
	add := func(context identity.ID, due int, shares ...store.TaskShare) *store.Case {
		t.Helper()
		c := newCase(db, context, 7)
		if c.Tasks = shares; due > 0 {
			c.Due = noon().Add(time.Duration(due) * time.Second)
		}
		mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().Insert(c) })
		return c
	}
	late := add(sam, 9, store.TaskShare{Party: bob, Lists: machine.OnOffered})
	early := add(sam, 2, store.TaskShare{Party: bob, Lists: machine.OnOffered | machine.OnWarnings})
	add(sam, 0, store.TaskShare{Party: bob, Lists: machine.OnOffered})
	other := add(bob, 1, store.TaskShare{Party: ann, Lists: machine.OnEscalated})
	accepted := add(ann, 4, store.TaskShare{Party: bob, Lists: machine.OnAccepted}, store.TaskShare{Party: sam, Lists: machine.OnAccepted})

	entries := func(before, limit int, contexts ...identity.ID) (uuids []byte) {
		t.Helper()
		mustView(t, db, func(r store.Reader) error {
			all, err := r.Entries().Upcoming(contexts, noon().Add(time.Duration(before)*time.Second), limit)
			for _, e := range all {
				uuids = append(uuids, e.UUID[15])
			}
			return err
		})
		return uuids
	}
	same(t, "entries", entries(100, 10, sam, ann), []byte{9, 1, 3})
	same(t, "the first entries", entries(100, 2, ann, sam), []byte{1, 3})
	same(t, "entries before", entries(9, 10, sam), []byte{3})
	same(t, "nobody's entries", len(entries(9, 10)), 0)

	cases := func(read func(store.Reader) ([]store.Case, error)) (ids []int64) {
		t.Helper()
		mustView(t, db, func(r store.Reader) error {
			all, err := read(r)
			for i := range all {
				if len(all[i].Marking) == 0 || all[i].Form != nil {
					t.Errorf("case %d: form %q, marking %q", all[i].ID, all[i].Form, all[i].Marking)
				}
			}
			ids = caseIDs(all)
			return err
		})
		return ids
	}
	own := func(limit int, contexts ...identity.ID) []int64 {
		return cases(func(r store.Reader) ([]store.Case, error) { return r.Cases().Upcoming(contexts, limit) })
	}
	same(t, "cases", own(10, sam, bob), sorted(other.ID, early.ID, late.ID))
	same(t, "the first cases", own(2, sam, bob), sorted(other.ID, early.ID))
	tasks := func(limit int, parties ...identity.ID) []int64 {
		return cases(func(r store.Reader) ([]store.Case, error) {
			return r.Cases().Tasks().UpcomingTasks(machine.OnOffered|machine.OnAccepted, parties, limit)
		})
	}
	same(t, "tasks", tasks(10, bob, sam), sorted(early.ID, accepted.ID, late.ID))
	same(t, "the first tasks", tasks(1, bob), []int64{early.ID})
	same(t, "no tasks", tasks(10, ann), []int64{})
}
