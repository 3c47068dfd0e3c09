package relational_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/store"
	"flowdrive/store/storetest"
)

// TestAhead: what a unit has read ahead is for it what it has written since, whatever that was.
func TestAhead(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	starter := addUser(t, db, "starter")
	entries := []*store.Entry{newEntry(1, starter), newEntry(2, starter)}
	insertEntries(t, db, entries...)
	uuids := []store.UUID{entries[0].UUID, entries[1].UUID, {15: 3}}
	cases := make([]*store.Case, 4)
	for i := range cases {
		cases[i] = newCase(db, starter, 7)
		cases[i].Entry = uuids[i%2]
	}
	cases[2].Waits = true
	ids := []int64{cases[0].ID, cases[1].ID, cases[2].ID, cases[3].ID}
	of := store.Ahead{Entries: uuids, Occurrences: 5, Cases: ids}
	read := func(r store.Reader) (all []string, err error) {
		say := func(what string, row any, failed error) {
			if failed != nil {
				row = failed
			}
			all = append(all, fmt.Sprintf("%s: %+v", what, row))
		}
		for _, uuid := range uuids {
			entry, err := r.Entries().Get(uuid)
			say("entry", entry, err)
			name, err := r.Names().Of(store.FolderSchedule, uuid, 0)
			say("name", name, err)
			troubles, err := r.Troubles().OfEntry(uuid)
			say("troubles", troubles, err)
			occurrences, err := r.Entries().Occurrences(uuid, of.Occurrences)
			say("occurrences", occurrences, err)
			ended, err := r.Entries().Ended(uuid)
			say("ended", ended, err)
		}
		for _, id := range ids {
			row, err := r.Cases().Get(id)
			say("case", row, err)
			troubles, err := r.Troubles().OfCase(id)
			say("troubles", troubles, err)
		}
		return all, nil
	}
	changed := func(c *store.Case, state string, base int64) func(store.Tx) error {
		return func(tx store.Tx) error {
			c.State, c.Revision, c.Modified = state, base+1, noon().Add(time.Hour)
			return tx.Write().Cases().Update(c, base)
		}
	}
	trouble := &store.Trouble{Entry: uuids[0], Name: "a", Due: noon(), Data: []byte("{}")}
	ofCase := &store.Trouble{CaseID: ids[0], Name: "a", Due: noon(), Data: []byte("{}")}
	name := &store.GivenName{Folder: store.FolderSchedule, Author: starter, Name: "nightly.json", Entry: uuids[0], ETag: "1", Modified: noon(), Source: []byte("{}")}
	occurred := &store.Occurrence{Entry: uuids[0], ContextID: starter, Instant: noon(), Outcome: "failed", FiredAt: noon()}
	for _, test := range []struct {
		what  string
		write func(tx store.Tx) error
	}{
		{"a case", func(tx store.Tx) error { return tx.Write().Cases().Insert(cases[0]) }},
		{"a case of another entry", func(tx store.Tx) error { return tx.Write().Cases().Insert(cases[1]) }},
		{"a case that waits", func(tx store.Tx) error { return tx.Write().Cases().Insert(cases[2]) }},
		{"a name", func(tx store.Tx) error { return tx.Write().Names().Put(name) }},
		{"a trouble", func(tx store.Tx) error { return tx.Write().Troubles().Insert(trouble) }},
		{"a trouble of a case", func(tx store.Tx) error { return tx.Write().Troubles().Insert(ofCase) }},
		{"an occurrence", func(tx store.Tx) error { return tx.Write().Entries().InsertOccurrence(occurred) }},
		{"its case", func(tx store.Tx) error {
			occurred.CaseID, occurred.Outcome = ids[0], "backfilled"
			return tx.Write().Entries().RedoOccurrence(occurred)
		}},
		{"a log", func(tx store.Tx) error { return tx.Write().Cases().AppendLog(ids[0], 1, []byte(`[{"seq": 1}]`)) }},
		{"a change of its case", changed(cases[0], "active", 1)},
		{"the end of its case", changed(cases[0], "completed", 2)},
		{"what waited for it", func(tx store.Tx) error {
			released, err := tx.Write().Cases().ReleaseNext(uuids[0])
			if err == nil && !released {
				err = errors.New("no case was released")
			}
			return err
		}},
		{"nothing more that waits", func(tx store.Tx) error {
			released, err := tx.Write().Cases().ReleaseNext(uuids[0])
			if released {
				err = errors.New("a case was released")
			}
			return err
		}},
		{"a relation", func(tx store.Tx) error {
			return tx.Write().Cases().PutLinks(ids[0], []store.CaseLink{{Relation: "see", Target: ids[1]}})
		}},
		{"the archive", func(tx store.Tx) error {
			return tx.Write().Cases().Archive(ids[0], store.Month(202603), time.Time{}, noon())
		}},
		{"another entry", func(tx store.Tx) error {
			entries[1].Revision, entries[1].Due = 2, noon().Add(time.Hour)
			return tx.Write().Entries().Update(entries[1])
		}},
		{"a trouble that is over", func(tx store.Tx) error { return tx.Write().Troubles().Delete(trouble.ID) }},
		{"the end of an entry", func(tx store.Tx) error {
			return errors.Join(
				tx.Write().Entries().PutEnded(&store.EndedEntry{UUID: uuids[0], ContextID: starter, Ended: noon(), Form: []byte("{}")}),
				tx.Write().Names().Delete(store.FolderSchedule, starter, "nightly.json"),
				tx.Write().Entries().Delete(uuids[0]))
		}},
		{"the end of a named entry", func(tx store.Tx) error {
			name.Entry = uuids[1]
			return errors.Join(tx.Write().Names().Put(name), tx.Write().Entries().Delete(uuids[1]))
		}},
		{"what is forgotten of an entry", func(tx store.Tx) error {
			return tx.Write().Entries().DeleteEndedBefore(noon().Add(time.Hour), 10)
		}},
	} {
		var then []string
		mustUpdate(t, db, func(tx store.Tx) (err error) {
			if err := tx.Queue().Ahead(of); err != nil {
				return err
			}
			tx.Write().Later()
			if err := test.write(tx); err != nil {
				return err
			}
			then, err = read(tx)
			return err
		})
		var after []string
		mustView(t, db, func(r store.Reader) (err error) {
			after, err = read(r)
			return err
		})
		if diff := cmp.Diff(after, then); diff != "" {
			t.Errorf("%s: what the unit has read (-stored +read):\n%s", test.what, diff)
		}
	}
}

// TestAheadOfWhatIsUndone: what a part has read ahead of what it wrote itself is forgotten with it.
func TestAheadOfWhatIsUndone(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	entry := newEntry(1, addUser(t, db, "starter"))
	insertEntries(t, db, entry)
	of := store.Ahead{Entries: []store.UUID{entry.UUID}, Occurrences: 1}
	mustUpdate(t, db, func(tx store.Tx) error {
		errs := tx.Write().Parts([]func() error{
			func() error {
				tx.Write().Later()
				return errors.Join(tx.Write().Entries().Delete(entry.UUID), tx.Queue().Ahead(of), errRefused)
			},
			func() error {
				_, err := tx.Entries().Get(entry.UUID)
				return err
			},
		})
		if !errors.Is(errs[0], errRefused) {
			return errors.Join(errs...)
		}
		return errs[1]
	})
}

// TestParts: a part that fails, or whose writes do not come out, is undone alone, with what it has
// registered.
func TestParts(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	starter := addUser(t, db, "starter")
	there, fresh, other := newCase(db, starter, 7), newCase(db, starter, 7), newCase(db, starter, 7)
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().Insert(there) })
	var ran []string
	var got []error
	mustUpdate(t, db, func(tx store.Tx) error {
		written := func(key string, c *store.Case, err error) func() error {
			return func() error {
				tx.Write().Later()
				tx.AfterCommit(func() { ran = append(ran, key) })
				return errors.Join(tx.Write().Settings().Put(key, "1"), tx.Write().Cases().Insert(c), err)
			}
		}
		tx.AfterCommit(func() { ran = append(ran, "before") })
		if err := tx.Write().Settings().Put("whole", "1"); err != nil {
			return err
		}
		got = tx.Write().Parts([]func() error{
			written("first", fresh, nil),
			written("there is one", there, nil),
			written("refused", newCase(db, starter, 7), errRefused),
			func() error { // which sends what waits, and does not write later
				tx.AfterCommit(func() { ran = append(ran, "reads") })
				if _, err := tx.Cases().Get(fresh.ID); err != nil {
					return err
				}
				return tx.Write().Settings().Put("reads", "1")
			},
			func() error { panic("a part panics") },
			written("last", other, nil),
			func() error {
				return errors.Join(tx.Write().Parts([]func() error{func() error { return tx.Write().Settings().Put("inner", "1") }})...)
			},
		})
		return tx.Write().Settings().Put("whole", "2")
	})
	for i, failed := range []bool{false, true, true, false, true, false, false} {
		if failed != (got[i] != nil) {
			t.Errorf("part %d: %v", i, got[i])
		}
	}
	if diff := cmp.Diff([]string{"before", "first", "reads", "last"}, ran); diff != "" {
		t.Errorf("the hooks that ran (-want +got):\n%s", diff)
	}
	for key, want := range map[string]string{"whole": "2", "first": "1", "there is one": "", "refused": "", "reads": "1", "last": "1", "inner": "1"} {
		if value := get(t, db, key); value != want {
			t.Errorf("the setting %q is %q, not %q", key, value, want)
		}
	}
}
