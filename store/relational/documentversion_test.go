package relational_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/relational"
	"flowdrive/store/storetest"
)

// keep makes a version of a document that is stored, as that of a folder.
func keep(t *testing.T, db *storetest.DB, d *store.Document, context identity.ID, folder string, replaced time.Time) *store.Version {
	t.Helper()
	v := &store.Version{
		Document: *d, Place: store.VersionPlace{Context: context, Folder: folder},
		Shown: replaced.Format("20060102T150405Z ") + d.Name, Replaced: replaced, Replacer: context, Owner: d.AuthorID,
	}
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Documents().Versions().Keep(v) })
	return v
}

// TestVersionsOfDocuments: versions are found where the documents were, and by nothing else.
func TestVersionsOfDocuments(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	root := rootOf(t, db, sam)
	file, folder := newFile(root.ID, sam, "f", "one"), newFolder(root.ID, sam, "d")
	insertDocuments(t, db, file, folder)
	inner := newFile(folder.ID, ann, "e", strings.Repeat("e", 10))
	insertDocuments(t, db, inner)
	v := &store.Version{Document: *file, Place: store.VersionPlace{Context: sam}, Shown: "1 f", Replaced: noon(), Replacer: ann, Owner: sam}
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Documents().Versions().KeepCopy(v) })
	if v.ID == file.ID {
		t.Error("the copy is the file")
	}
	keep(t, db, folder, sam, "", noon().Add(time.Second))
	if got := along(t, db, sam, "d", "e"); len(got) != 1 {
		t.Errorf("what was kept is still at its place: %v", got)
	}
	mustView(t, db, func(r store.Reader) error {
		all, err := r.Documents().Versions().In(v.Place, noon().Add(-time.Second))
		if err != nil || len(all) != 2 || all[0].Shown != "1 f" || all[0].Replacer != ann || !all[0].Replaced.Equal(noon()) || !all[1].Folder {
			t.Errorf("in the folder: %+v, %v", all, err)
		}
		if later, err := r.Documents().Versions().In(v.Place, noon()); err != nil || len(later) != 1 {
			t.Errorf("after the instant: %+v, %v", later, err)
		}
		got, err := r.Documents().Versions().Get(v.Place, "1 f")
		if err != nil || string(got.Content) != "one" || got.Place != v.Place {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := r.Documents().Versions().Get(v.Place, "f"); !errs.Is(err, errs.NotFound) {
			t.Errorf("by its old name: %v", err)
		}
		below, err := r.Documents().Versions().Along(folder.ID, []string{"e", "x"})
		if err != nil || len(below) != 2 || below[1].Name != "e" {
			t.Errorf("in the deleted folder: %+v, %v", below, err)
		}
		n, err := r.Documents().Versions().Bytes(sam)
		if err != nil || n != 3 {
			t.Errorf("sam's hold %d bytes of sam's, %v", n, err)
		}
		if waits, err := r.Documents().Detached(); err != nil || waits {
			t.Errorf("versions wait to be deleted: %t, %v", waits, err)
		}
		return nil
	})
	err := db.ViewConn(t.Context(), func(c *relational.Conn) error {
		for id, want := range map[int64]string{file.ID: "sam/f", v.ID: "sam/.history/1 f", inner.ID: "sam/.history/20121109T120001Z d/e"} {
			if got, err := relational.NewSource(c).DocumentPath(id); got != want || err != nil {
				t.Errorf("the path of %d is %q, %v; want %q", id, got, err, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestVersionsComeAndGo: what is taken back is a document again; what is dropped is gone,
// a folder of versions with all that is below it and nothing beside it.
func TestVersionsComeAndGo(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	root := rootOf(t, db, sam)
	at := func(folder string) store.VersionPlace { return store.VersionPlace{Context: sam, Folder: folder} }
	for i, folder := range []string{"", "a", "a/b", "a0", "a!", "ab", "a/b/c"} {
		d := newFile(root.ID, sam, "f", folder+"x")
		insertDocuments(t, db, d)
		keep(t, db, d, sam, folder, noon().Add(time.Duration(i)*time.Second))
	}
	folders := func(folder string) (all []string) {
		t.Helper()
		mustView(t, db, func(r store.Reader) (err error) {
			all, err = r.Documents().Versions().Folders(at(folder), noon().Add(-time.Hour))
			return err
		})
		return all
	}
	if diff := cmp.Diff([]string{"", "a", "a!", "a/b", "a/b/c", "a0", "ab"}, folders("")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "a/b", "a/b/c"}, folders("a")); diff != "" {
		t.Error(diff)
	}
	var taken *store.Version
	mustUpdate(t, db, func(tx store.Tx) (err error) {
		if taken, err = tx.Documents().Versions().Get(at("a0"), "20121109T120003Z f"); err != nil {
			return err
		}
		if err := tx.Write().Documents().Versions().TakeBack(taken.ID, root.ID, "back"); err != nil {
			return err
		}
		n, err := tx.Write().Documents().Versions().DropIn(at("a"), 100)
		if err == nil && n != 3 {
			t.Errorf("%d were dropped", n)
		}
		return err
	})
	if diff := cmp.Diff([]string{"", "a!", "ab"}, folders("")); diff != "" {
		t.Error(diff)
	}
	if got := along(t, db, sam, "back"); len(got) != 2 || got[1].ID != taken.ID {
		t.Errorf("what was taken back: %v", got)
	}
	mustUpdate(t, db, func(tx store.Tx) error {
		n, err := tx.Write().Documents().Versions().DropBefore(noon().Add(4*time.Second), 100)
		if err == nil && n != 2 {
			t.Errorf("%d were too old", n)
		}
		return err
	})
	mustView(t, db, func(r store.Reader) error {
		first, err := r.Documents().Versions().First()
		if err == nil && !first.Equal(noon().Add(5*time.Second)) {
			t.Errorf("the oldest is of %v", first)
		}
		return err
	})
	err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Documents().Versions().TakeBack(4711, root.ID, "none") })
	if !errs.Is(err, errs.NotFound) {
		t.Errorf("what is no version is taken back: %v", err)
	}
}
