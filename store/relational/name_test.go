package relational_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

func TestGivenNames(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	e1, e2, e3 := newEntry(1, sam), newEntry(2, sam), newEntry(3, sam)
	insertEntries(t, db, e1, e2, e3)
	c := newCase(db, sam, 7)
	insertCases(t, db, c)
	name := func(author identity.ID, text string, entry *store.Entry) *store.GivenName {
		source := []byte(`{"name": "` + text + `"}`)
		return &store.GivenName{
			Folder: store.FolderSchedule, Author: author, Name: text, Entry: entry.UUID,
			Source: source, Size: int64(len(source)), ETag: `"e"`, Modified: noon(),
		}
	}
	nightly, same1, theirs := name(sam, "Nightly Ä.json", e1), name(sam, "b.json", e2), name(ann, "b.json", e3)
	ofCase := &store.GivenName{
		Folder: store.FolderCases, Author: sam, Name: "b.json", CaseID: c.ID, Source: []byte{}, ETag: `"c"`, Modified: noon(),
	}
	put := func(n *store.GivenName) error {
		return db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Names().Put(n) })
	}
	all := []*store.GivenName{nightly, same1, theirs, ofCase}
	for _, n := range all {
		kind(t, n.Name, put(n), "")
	}
	nightly.Name, nightly.Source, nightly.Size, nightly.Modified = "NIGHTLY ä.json", []byte("# new"), 5, noon().Add(time.Hour)
	kind(t, "put again, in another case", put(nightly), "")
	mustView(t, db, func(r store.Reader) error {
		for _, n := range all {
			got, err := r.Names().Get(n.Folder, n.Author, strings.ToLower(n.Name))
			same(t, "by name", n, got)
			kind(t, "by name", err, "")
			got, err = r.Names().Of(n.Folder, n.Entry, n.CaseID)
			same(t, "by resource", n, got)
			kind(t, "by resource", err, "")
		}
		_, err := r.Names().Get(store.FolderCases, ann, "b.json")
		kind(t, "another's", err, errs.NotFound)
		_, err = r.Names().Of(store.FolderCases, store.UUID{}, 999)
		kind(t, "of nothing", err, errs.NotFound)
		return nil
	})
	list := func(folder store.Folder, entries []store.UUID, cases []int64) (got []string) {
		mustView(t, db, func(r store.Reader) error {
			names, err := r.Names().List(folder, entries, cases)
			for _, n := range names {
				if n.Source != nil || n.Size == 0 && folder == store.FolderSchedule {
					t.Errorf("%s is listed with its source or without its size", n.Name)
				}
				got = append(got, n.Name)
			}
			slices.Sort(got)
			return err
		})
		return got
	}
	same(t, "of entries", []string{"NIGHTLY ä.json", "b.json"}, list(store.FolderSchedule, []store.UUID{e3.UUID, {9}, e1.UUID}, nil))
	same(t, "of cases", []string{"b.json"}, list(store.FolderCases, nil, []int64{999, c.ID}))
	same(t, "of none", []string{}, list(store.FolderSchedule, nil, nil))

	kind(t, "a second name", put(name(sam, "second.json", e1)), errs.NameTaken)
	remove := func(tx store.Tx) error { return tx.Write().Names().Delete(store.FolderSchedule, sam, "B.JSON") }
	mustUpdate(t, db, remove)
	kind(t, "deleted twice", db.Update(t.Context(), remove), errs.NotFound)
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Entries().Delete(e1.UUID) })
	same(t, "a deleted entry's name goes with it", []string{"b.json"},
		list(store.FolderSchedule, []store.UUID{e1.UUID, e2.UUID, e3.UUID}, nil))
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	answer := func(user identity.ID, key string, age time.Duration) *store.Answer {
		return &store.Answer{
			User: user, Key: key, Request: store.Digest{1}, URL: store.Digest{2},
			Answer: []byte("201 " + key), Created: noon().Add(-age),
		}
	}
	all := []*store.Answer{answer(sam, "k", 0), answer(ann, "k", time.Hour), answer(sam, "K", 25*time.Hour)}
	for _, a := range all {
		mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Answers().Put(a) })
	}
	err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Answers().Put(answer(sam, "k", time.Hour)) })
	kind(t, "a key in use", err, errs.NameTaken)
	read := func(a *store.Answer, want errs.Kind) {
		t.Helper()
		mustView(t, db, func(r store.Reader) error {
			got, err := r.Answers().Get(a.User, a.Key)
			kind(t, a.Key, err, want)
			if want == "" {
				same(t, a.Key, a, got)
			}
			return nil
		})
	}
	for _, a := range all {
		read(a, "")
	}
	all[1].Answer = []byte("200 ann's")
	mustUpdate(t, db, func(tx store.Tx) error {
		if err := tx.Write().Answers().Amend(ann, "none", all[1].Answer); err != nil {
			return err
		}
		return tx.Write().Answers().Amend(ann, "k", all[1].Answer)
	})
	read(all[0], "")
	read(all[1], "")
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Answers().DeleteBefore(noon().Add(-time.Hour), 0, "", 100) })
	read(all[0], "")
	read(all[1], "")
	read(all[2], errs.NotFound)
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Parties().Delete(ann) })
	read(all[1], errs.NotFound)
}

func TestSettings(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	for _, value := range []string{"", "sandbox", "real"} {
		if value != "" {
			mustUpdate(t, db, put("mode", value))
		}
		same(t, "mode", value, get(t, db, "mode"))
	}
}

// TestOldAnswersGoInParts: one change deletes some of the old answers, the oldest
// first, and that of its own key.
func TestOldAnswersGoInParts(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	const many, most = 250, 100
	sam := addUser(t, db, "sam")
	mustUpdate(t, db, func(tx store.Tx) error {
		for i := range many {
			a := &store.Answer{User: sam, Key: fmt.Sprintf("k%03d", i), Answer: []byte("204"), Created: noon().Add(time.Duration(i) * time.Second)}
			if err := tx.Write().Answers().Put(a); err != nil {
				return err
			}
		}
		return nil
	})
	left := func(key string) bool {
		found := false
		mustView(t, db, func(r store.Reader) error {
			_, err := r.Answers().Get(sam, key)
			found = err == nil
			return nil
		})
		return found
	}
	mustUpdate(t, db, func(tx store.Tx) error {
		return tx.Write().Answers().DeleteBefore(noon().Add(many*time.Second), sam, "k200", most)
	})
	for key, want := range map[string]bool{"k000": false, "k099": false, "k100": true, "k200": false, "k249": true} {
		if left(key) != want {
			t.Errorf("%s is left: %t", key, !want)
		}
	}
	mustUpdate(t, db, func(tx store.Tx) error {
		return tx.Write().Answers().DeleteBefore(noon().Add(time.Second), sam, "k249", most)
	})
	if !left("k249") {
		t.Error("an answer that is not old is deleted")
	}
}
