package relational_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

// newEntry returns an entry of the owner that is due at noon.
func newEntry(n byte, owner identity.ID) *store.Entry {
	return &store.Entry{
		UUID: store.UUID{15: n}, ContextID: owner, AuthorID: owner, RouteID: 7, Type: "cron", Definition: 1, Revision: 1,
		Due: noon().Add(time.Duration(n) * time.Second), Form: []byte(`{"type":"cron"}`), Created: noon(), Modified: noon(),
	}
}

func insertEntries(t *testing.T, db *storetest.DB, entries ...*store.Entry) {
	t.Helper()
	mustUpdate(t, db, func(tx store.Tx) error {
		for _, e := range entries {
			if err := tx.Write().Entries().Insert(e); err != nil {
				return err
			}
		}
		return nil
	})
}

func entry(t *testing.T, db *storetest.DB, uuid store.UUID) (e *store.Entry) {
	t.Helper()
	mustView(t, db, func(r store.Reader) (err error) {
		e, err = r.Entries().Get(uuid)
		return err
	})
	return e
}

func TestEntries(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	e := newEntry(1, sam)
	insertEntries(t, db, e)
	if e.Seq == 0 {
		t.Error("a new entry has no Seq")
	}
	same(t, "stored", e, entry(t, db, e.UUID))

	e.Due, e.Form, e.Revision, e.Modified = time.Time{}, []byte(`{"paused":true}`), 2, noon().Add(time.Hour)
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Entries().Update(e) })
	same(t, "advanced", e, entry(t, db, e.UUID))

	e.ContextID, e.AuthorID, e.RouteID, e.Type, e.Definition, e.Due = ann, ann, 8, "interval", 2, noon()
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Entries().Update(e) })
	same(t, "replaced", e, entry(t, db, e.UUID))

	err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Entries().Insert(newEntry(1, sam)) })
	kind(t, "a UUID twice", err, errs.Internal)
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Entries().Delete(e.UUID) })
	for what, f := range map[string]func(store.Tx) error{
		"read":    func(tx store.Tx) error { _, err := tx.Entries().Get(e.UUID); return err },
		"updated": func(tx store.Tx) error { return tx.Write().Entries().Update(e) },
		"deleted": func(tx store.Tx) error { return tx.Write().Entries().Delete(e.UUID) },
	} {
		kind(t, what+" after its end", db.Update(t.Context(), f), errs.NotFound)
	}
}

func TestEntryFilters(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann, bob := addUser(t, db, "sam"), addUser(t, db, "ann"), addUser(t, db, "bob")
	var all []*store.Entry
	for i := range byte(12) {
		e := newEntry(i+1, []identity.ID{sam, ann}[i%2])
		e.AuthorID = sam
		e.RouteID = 7 + int64(i%3)
		e.Type = []string{"cron", "interval", "simple", "crontab"}[i%4]
		all = append(all, e)
	}
	insertEntries(t, db, all...)
	seq := func(i int) int64 { return all[i].Seq }
	for _, test := range []struct {
		name   string
		filter store.EntryFilter
		want   []int
	}{
		{"all", store.EntryFilter{}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		{"a context", store.EntryFilter{Contexts: []identity.ID{ann}}, []int{1, 3, 5, 7, 9, 11}},
		{"contexts", store.EntryFilter{Contexts: []identity.ID{bob, ann, sam}}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		{"no context", store.EntryFilter{Contexts: []identity.ID{}}, nil},
		{"a route", store.EntryFilter{RouteID: 8}, []int{1, 4, 7, 10}},
		{"a type", store.EntryFilter{Type: "simple"}, []int{2, 6, 10}},
		{"route and context", store.EntryFilter{RouteID: 8, Contexts: []identity.ID{sam}}, []int{4, 10}},
		{"a page", store.EntryFilter{After: seq(3), Limit: 3}, []int{4, 5, 6}},
		{"the last page", store.EntryFilter{After: seq(9), Limit: 3}, []int{10, 11}},
		{"a page of a type", store.EntryFilter{Type: "cron", After: seq(0), Limit: 1}, []int{4}},
	} {
		var got []int
		mustView(t, db, func(r store.Reader) error {
			entries, err := r.Entries().List(test.filter)
			for i := range entries {
				at := slices.IndexFunc(all, func(e *store.Entry) bool { return e.UUID == entries[i].UUID })
				same(t, test.name, *all[at], entries[i])
				got = append(got, at)
			}
			return err
		})
		same(t, test.name, test.want, got)
	}
	mustView(t, db, func(r store.Reader) error {
		of, err := r.Entries().Count(sam)
		none, err2 := r.Entries().Count(ann)
		same(t, "counts", [2]int64{12, 0}, [2]int64{of, none})
		return errors.Join(err, err2)
	})
}

func TestOccurrences(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	e := newEntry(1, sam)
	insertEntries(t, db, e, newEntry(2, sam))
	occurrence := func(minute int) store.Occurrence {
		instant := noon().Add(time.Duration(minute) * time.Minute)
		return store.Occurrence{
			Entry: e.UUID, ContextID: sam, Instant: instant, Outcome: "skipped", Reason: "misfire",
			CaseID: int64(minute), FiredAt: instant.Add(time.Second),
		}
	}
	for _, minute := range []int{2, 0, 1} {
		o := occurrence(minute)
		mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Entries().InsertOccurrence(&o) })
	}
	again := occurrence(1)
	again.Outcome, again.FiredAt = "fired", noon()
	err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Entries().InsertOccurrence(&again) })
	kind(t, "an instant twice", err, errs.NameTaken)
	err = db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Entries().RedoOccurrence(&again) })
	kind(t, "one with a case again", err, errs.NameTaken)
	again.Entry = newEntry(2, sam).UUID
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Entries().InsertOccurrence(&again) })
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Entries().Delete(e.UUID) })
	mustView(t, db, func(r store.Reader) error {
		all, err := r.Entries().Occurrences(e.UUID, 0)
		same(t, "all", []store.Occurrence{occurrence(2), occurrence(1), occurrence(0)}, all)
		newest, err2 := r.Entries().Occurrences(e.UUID, 2)
		same(t, "newest", []store.Occurrence{occurrence(2), occurrence(1)}, newest)
		none, err3 := r.Entries().Occurrences(store.UUID{9}, 10)
		same(t, "of nobody", 0, len(none))
		return errors.Join(err, err2, err3)
	})
	redone := occurrence(0) // which has no case
	redone.Outcome, redone.Reason, redone.CaseID, redone.FiredAt = "backfilled", "", 7, noon().Add(time.Hour)
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Entries().RedoOccurrence(&redone) })
	fresh := occurrence(5)
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Entries().RedoOccurrence(&fresh) })
	mustView(t, db, func(r store.Reader) error {
		all, err := r.Entries().Occurrences(e.UUID, 0)
		same(t, "redone", []store.Occurrence{fresh, occurrence(2), occurrence(1), redone}, all)
		return err
	})
}

// TestEntriesAndCasesAreDueInOneOrder wants entries and cases in one order.
func TestEntriesAndCasesAreDueInOneOrder(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	mustView(t, db, func(r store.Reader) error {
		next, err := r.Queue().NextDue()
		same(t, "nothing is due", time.Time{}, next)
		return err
	})
	minute := func(n int) time.Time { return noon().Add(time.Duration(n) * time.Minute) }
	var entries []*store.Entry
	for i, due := range []time.Time{minute(3), minute(1), {}, minute(5)} {
		e := newEntry(byte(i+1), sam)
		e.Due = due
		entries = append(entries, e)
	}
	insertEntries(t, db, entries...)
	var cases []*store.Case
	for _, due := range []time.Time{minute(2), minute(3), {}, minute(1)} {
		c := newCase(db, sam, 7)
		c.Due = due
		cases = append(cases, c)
		mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().Insert(c) })
	}
	want := []store.DueRow{
		{Due: minute(1), Kind: store.DueEntry, UUID: entries[1].UUID},
		{Due: minute(1), Kind: store.DueCase, ID: cases[3].ID},
		{Due: minute(2), Kind: store.DueCase, ID: cases[0].ID},
		{Due: minute(3), Kind: store.DueEntry, UUID: entries[0].UUID},
		{Due: minute(3), Kind: store.DueCase, ID: cases[1].ID},
		{Due: minute(5), Kind: store.DueEntry, UUID: entries[3].UUID},
	}
	mustView(t, db, func(r store.Reader) error {
		for limit := range len(want) + 2 {
			got, next, err := r.Queue().Due(minute(5), limit)
			same(t, "limited", want[:min(limit, len(want))], got)
			kind(t, "limited", err, "")
			var more time.Time
			if limit < len(want) {
				more = want[limit].Due
			}
			same(t, fmt.Sprintf("due beyond %d", limit), more, next)
		}
		for upTo, want := range map[time.Time]struct {
			rows []store.DueRow
			next time.Time
		}{
			minute(1).Add(-time.Millisecond): {nil, minute(1)},
			minute(1):                        {want[:2], minute(2)},
			minute(2):                        {want[:3], minute(3)},
			minute(3):                        {want[:5], minute(5)},
			minute(9):                        {want, time.Time{}},
		} {
			got, next, err := r.Queue().Due(upTo, math.MaxInt)
			same(t, "up to and with "+upTo.String(), want.rows, got)
			same(t, "next after "+upTo.String(), want.next, next)
			kind(t, "up to and with", err, "")
		}
		next, err := r.Queue().NextDue()
		same(t, "next", minute(1), next)
		return err
	})
}

// TestDueShares: of more than can be taken at once each context gets an equal share, what
// it does not need goes to the others, and all are in the order of instants.
func TestDueShares(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann, bob := addUser(t, db, "sam"), addUser(t, db, "ann"), addUser(t, db, "bob")
	minute := func(n int) time.Time { return noon().Add(time.Duration(n) * time.Minute) }
	mustUpdate(t, db, func(tx store.Tx) error {
		for i := range 60 { // of sam 40 entries, of ann 20 cases, of bob 2 entries
			e, c := newEntry(byte(i+1), sam), newCase(db, ann, 7)
			e.Due, c.Due = minute(i), minute(100+i)
			if i >= 40 {
				e.ContextID, e.Due = bob, minute(200+i)
			}
			if i >= 42 {
				e.Due = time.Time{}
			}
			if err := tx.Write().Entries().Insert(e); err != nil {
				return err
			}
			if i >= 20 {
				continue
			}
			if err := tx.Write().Cases().Insert(c); err != nil {
				return err
			}
		}
		return nil
	})
	mustView(t, db, func(r store.Reader) error {
		for _, test := range []struct {
			upTo, limit    int
			sam, ann, bobs int
		}{{1000, 12, 5, 5, 2}, {1000, 30, 14, 14, 2}, {1000, 3, 1, 1, 1}, {1000, 1, 1, 0, 0}, {119, 40, 20, 20, 0}, {99, 10, 10, 0, 0}, {1000, 100, 40, 20, 2}, {-1, 10, 0, 0, 0}} {
			rows, err := r.Queue().DueShares(minute(test.upTo), test.limit)
			if err != nil {
				return err
			}
			got := map[int64]int{}
			for i := range rows {
				got[rows[i].Context]++
				if i > 0 && rows[i].Due.Before(rows[i-1].Due) {
					t.Errorf("up to %d, at most %d: not in order", test.upTo, test.limit)
				}
			}
			want := map[int64]int{}
			for id, n := range map[int64]int{int64(sam): test.sam, int64(ann): test.ann, int64(bob): test.bobs} {
				if n > 0 {
					want[id] = n
				}
			}
			same(t, fmt.Sprintf("shares up to %d, at most %d", test.upTo, test.limit), want, got)
		}
		return nil
	})
}

func TestFailedCases(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	first, second, third := newCase(db, sam, 7), newCase(db, sam, 7), newCase(db, sam, 7)
	first.State, third.State = "failed", "failed"
	insertCases(t, db, first, second, third)
	mustView(t, db, func(r store.Reader) error {
		failed, err := r.Entries().FailedCases([]int64{third.ID, second.ID, first.ID, 99999})
		same(t, "failed ones", []int64{first.ID, third.ID}, failed)
		none, err2 := r.Entries().FailedCases(nil)
		same(t, "of none", 0, len(none))
		return errors.Join(err, err2)
	})
}
