package relational_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/relational"
	"flowdrive/store/storetest"
)

// newFile returns a small file of the author with the text's content.
func newFile(folder int64, author identity.ID, name, text string) *store.Document {
	return &store.Document{
		ParentID: folder, Name: name, AuthorID: author, Revision: 1, MediaType: "text/plain", Size: int64(len(text)),
		SHA256: digest(text), Content: []byte(text), Created: noon(), Modified: noon(),
	}
}

func newFolder(folder int64, author identity.ID, name string) *store.Document {
	return &store.Document{
		ParentID: folder, Name: name, Folder: true, AuthorID: author, Revision: 1, Created: noon(), Modified: noon(),
	}
}

func insertDocuments(t *testing.T, db *storetest.DB, all ...*store.Document) {
	t.Helper()
	mustUpdate(t, db, func(tx store.Tx) error {
		for _, d := range all {
			if err := tx.Write().Documents().Insert(d); err != nil {
				return err
			}
		}
		return nil
	})
}

// rootOf returns the root of the context.
func rootOf(t *testing.T, db *storetest.DB, context identity.ID) *store.Document {
	t.Helper()
	found := along(t, db, context)
	if len(found) != 1 {
		t.Fatalf("the root of %d: got %d documents", context, len(found))
	}
	return &found[0]
}

func along(t *testing.T, db *storetest.DB, context identity.ID, names ...string) (found []store.Document) {
	t.Helper()
	mustView(t, db, func(r store.Reader) (err error) {
		found, err = r.Documents().Along(context, names)
		return err
	})
	return found
}

func documentNames(all []store.Document) []string {
	names := []string{}
	for i := range all {
		names = append(names, all[i].Name)
	}
	return names
}

func storedBytes(t *testing.T, db *storetest.DB, author identity.ID) (n int64) {
	t.Helper()
	mustView(t, db, func(r store.Reader) (err error) {
		n, err = r.Blobs().StoredBytes(author)
		return err
	})
	return n
}

func TestDocumentsAlong(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	root := rootOf(t, db, sam)
	if !root.Folder || root.ContextID != sam || root.ParentID != 0 || root.Name != "" || !root.Created.Equal(noon()) {
		t.Errorf("the root is %+v", root)
	}
	reports := newFolder(root.ID, sam, "reports")
	insertDocuments(t, db, reports)
	year := newFolder(reports.ID, sam, "2012")
	insertDocuments(t, db, year)
	file := newFile(year.ID, sam, `wéird "name'.csv`, "a;b\n")
	insertDocuments(t, db, file)
	for _, tt := range []struct {
		context identity.ID
		path    []string
		want    []string
	}{
		{sam, []string{"reports", "2012", file.Name}, []string{"", "reports", "2012", file.Name}},
		{sam, []string{"reports", "2012", "other.csv"}, []string{"", "reports", "2012"}},
		{sam, []string{"reports", "2013", file.Name}, []string{"", "reports"}},
		{sam, []string{"reports", "2012", file.Name, "below"}, []string{"", "reports", "2012", file.Name}},
		{sam, []string{"Reports"}, []string{""}},
		{sam, []string{"2012"}, []string{""}},
		{sam, []string{""}, []string{""}},
		{ann, []string{"reports"}, []string{""}},
		{sam + 1000, []string{"reports"}, []string{}},
	} {
		if got := documentNames(along(t, db, tt.context, tt.path...)); !slices.Equal(got, tt.want) {
			t.Errorf("along %q of %d: got %q, want %q", tt.path, tt.context, got, tt.want)
		}
	}
	got := along(t, db, sam, "reports", "2012", file.Name)[3]
	if diff := cmp.Diff(file, &got); diff != "" {
		t.Errorf("the file (-stored +read):\n%s", diff)
	}
}

func TestDocumentNamesAreUniqueInAFolder(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	root := rootOf(t, db, sam)
	sub := newFolder(root.ID, sam, "a")
	insertDocuments(t, db, sub, newFile(root.ID, sam, "A", "x"), newFile(root.ID, sam, "b", ""))
	insertDocuments(t, db, newFile(sub.ID, sam, "a", "y"))
	for _, d := range []*store.Document{newFile(root.ID, sam, "a", "z"), newFolder(root.ID, sam, "b")} {
		err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Documents().Insert(d) })
		if !errs.Is(err, errs.NameTaken) {
			t.Errorf("a second %q: got %v, want name-taken", d.Name, err)
		}
	}
}

func TestDocumentListings(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	root := rootOf(t, db, sam)
	for _, name := range []string{"c", "a", "d", "b"} {
		insertDocuments(t, db, newFile(root.ID, sam, name, name))
	}
	sub := newFolder(root.ID, sam, "sub")
	insertDocuments(t, db, sub)
	insertDocuments(t, db, newFile(sub.ID, sam, "e", "e"))
	insertDocuments(t, db, newFile(rootOf(t, db, ann).ID, ann, "f", "f"))
	mustView(t, db, func(r store.Reader) error {
		top, members, err := r.Documents().Under(sam, nil, store.Under{Limit: -1})
		if err != nil {
			return err
		}
		got := documentNames(members)
		slices.Sort(got)
		if want := []string{"a", "b", "c", "d", "sub"}; !slices.Equal(got, want) || len(top) != 1 || top[0].ID != root.ID {
			t.Errorf("members: got %q of %v, want %q", got, top, want)
		}
		if members[0].Content != nil {
			t.Error("a listing reads contents")
		}
		for _, tt := range []struct{ names, along, below []string }{
			{[]string{"sub"}, []string{"", "sub"}, []string{"e"}},
			{[]string{"sub", "e"}, []string{"", "sub", "e"}, []string{}},
			{[]string{"sub", "f"}, []string{"", "sub"}, []string{}},
			{[]string{"other"}, []string{""}, []string{}},
		} {
			along, below, err := r.Documents().Under(sam, tt.names, store.Under{Deep: true, Limit: 10})
			if err != nil {
				return err
			}
			if got := documentNames(along); !slices.Equal(got, tt.along) {
				t.Errorf("along %q: got %q", tt.names, got)
			}
			if got := documentNames(below); !slices.Equal(got, tt.below) {
				t.Errorf("below %q: got %q", tt.names, got)
			}
		}
		var paged []string
		for after := int64(0); ; {
			page, err := r.Documents().Page(root.ID, after, 2)
			if err != nil {
				return err
			}
			paged = append(paged, documentNames(page)...)
			if len(page) < 2 {
				break
			}
			after = page[1].ID
		}
		if want := []string{"c", "a", "d", "b", "sub"}; !slices.Equal(paged, want) {
			t.Errorf("pages: got %q, want %q", paged, want)
		}
		for limit, want := range map[int]int{100: 6, 6: 6, 4: 4, 1: 1} {
			_, tree, err := r.Documents().Under(sam, nil, store.Under{Deep: true, Limit: limit})
			if err != nil {
				return err
			}
			if len(tree) != want {
				t.Errorf("the tree of at most %d: got %q", limit, documentNames(tree))
			}
		}
		for _, tt := range []struct {
			contexts []identity.ID
			want     int
		}{{nil, 2}, {[]identity.ID{ann}, 1}, {[]identity.ID{}, 0}, {[]identity.ID{sam, ann, 1000}, 2}} {
			roots, err := r.Documents().Roots(tt.contexts)
			if err != nil {
				return err
			}
			if len(roots) != tt.want {
				t.Errorf("roots of %v: got %d, want %d", tt.contexts, len(roots), tt.want)
			}
		}
		return nil
	})
}

// TestDocumentContents replaces a file by a larger one and back, which moves
// its content out of the row and into it again; the counters follow.
func TestDocumentContents(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	root := rootOf(t, db, sam)
	d := newFile(root.ID, sam, "a.txt", "small")
	insertDocuments(t, db, d)
	if got := storedBytes(t, db, sam); got != 5 {
		t.Errorf("bytes after the first: got %d, want 5", got)
	}
	d.AuthorID, d.Revision, d.MediaType, d.Size, d.SHA256 = ann, 2, "text/csv", 9000, digest("large")
	d.InFile, d.Content, d.Modified = true, nil, noon().Add(time.Hour)
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Documents().Replace(d) })
	if got := along(t, db, sam, "a.txt")[1]; !cmp.Equal(*d, got) {
		t.Errorf("the larger one (-want +got):\n%s", cmp.Diff(*d, got))
	}
	if s, a := storedBytes(t, db, sam), storedBytes(t, db, ann); s != 0 || a != 9000 {
		t.Errorf("bytes after the second: got %d and %d, want 0 and 9000", s, a)
	}
	if n := refs(t, db, "large"); n != 1 {
		t.Errorf("references to the larger content: got %d, want 1", n)
	}
	d.Size, d.SHA256, d.InFile, d.Content = 0, digest(""), false, nil
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Documents().Replace(d) })
	got := along(t, db, sam, "a.txt")[1]
	if got.InFile || got.Content == nil || len(got.Content) != 0 {
		t.Errorf("an empty file is %+v", got)
	}
	if n := refs(t, db, "large"); n != 0 {
		t.Errorf("references to the larger content in the end: got %d, want 0", n)
	}
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Documents().TouchFolder(root.ID, noon().Add(2*time.Hour)) })
	if touched := rootOf(t, db, sam); touched.Revision != root.Revision+1 || !touched.Modified.Equal(noon().Add(2*time.Hour)) {
		t.Errorf("the touched root is %+v", touched)
	}
	for what, f := range map[string]func(store.Tx) error{
		"replace a folder": func(tx store.Tx) error { r := *d; r.ID = root.ID; return tx.Write().Documents().Replace(&r) },
		"touch a file":     func(tx store.Tx) error { return tx.Write().Documents().TouchFolder(d.ID, noon()) },
		"detach a file":    func(tx store.Tx) error { return tx.Write().Documents().DetachFolder(d.ID) },
		"detach a root":    func(tx store.Tx) error { return tx.Write().Documents().DetachFolder(root.ID) },
		"delete a root":    func(tx store.Tx) error { return tx.Write().Documents().Delete(root.ID) },
		"delete nothing":   func(tx store.Tx) error { return tx.Write().Documents().Delete(1 << 40) },
	} {
		if err := db.Update(t.Context(), f); !errs.Is(err, errs.NotFound) {
			t.Errorf("%s: got %v, want not-found", what, err)
		}
	}
}

// TestPurgeDocuments deletes a tree in steps that each change a bounded
// number of rows, while nothing finds the tree any more.
func TestPurgeDocuments(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	root := rootOf(t, db, sam)
	top := newFolder(root.ID, sam, "top")
	insertDocuments(t, db, top, newFile(root.ID, sam, "stays", "stays"))
	rows := 1
	for i := range 5 {
		sub := newFolder(top.ID, sam, fmt.Sprint("sub", i))
		insertDocuments(t, db, sub)
		deeper := newFolder(sub.ID, sam, "deeper")
		insertDocuments(t, db, deeper)
		rows += 2
		for j := range 7 {
			insertDocuments(t, db, newFile(sub.ID, sam, fmt.Sprint(j), "x"), newFile(deeper.ID, sam, fmt.Sprint(j), "y"))
			rows += 2
		}
	}
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Documents().DetachFolder(top.ID) })
	if got := documentNames(along(t, db, sam, "top", "sub1")); !slices.Equal(got, []string{""}) {
		t.Errorf("a detached folder is found: %q", got)
	}
	insertDocuments(t, db, newFolder(root.ID, sam, "top")) // its name is free
	const atOnce = 10
	steps := 0
	for more := true; more; steps++ {
		before := countDocuments(t, db)
		mustUpdate(t, db, func(tx store.Tx) (err error) {
			more, err = tx.Write().Documents().Purge(atOnce)
			return err
		})
		if gone := before - countDocuments(t, db); gone > 2*atOnce {
			t.Errorf("step %d deleted %d rows", steps, gone)
		}
		if steps > 2*rows {
			t.Fatal("it does not end")
		}
	}
	if steps < rows/(2*atOnce) {
		t.Errorf("%d rows went in %d steps", rows, steps)
	}
	if got := countDocuments(t, db); got != 3 {
		t.Errorf("%d documents are left, want the root, the file and the new folder", got)
	}
	if got := storedBytes(t, db, sam); got != 5 {
		t.Errorf("bytes: got %d, want 5", got)
	}
	mustView(t, db, func(r store.Reader) error {
		waits, err := r.Documents().Detached()
		if waits {
			t.Error("something waits to be purged")
		}
		return err
	})
}

func countDocuments(t *testing.T, db *storetest.DB) (n int) {
	t.Helper()
	err := db.ViewConn(t.Context(), func(c *relational.Conn) error {
		_, err := c.Row(`SELECT count(*) FROM documents`).Scan(&n)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestRootsComeAndGoWithParties deletes users: one with an empty root goes,
// one with documents, or who wrote some, does not.
func TestRootsComeAndGoWithParties(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann, bob := addUser(t, db, "sam"), addUser(t, db, "ann"), addUser(t, db, "bob")
	insertDocuments(t, db, newFile(rootOf(t, db, sam).ID, ann, "by-ann.txt", "x"))
	for _, tt := range []struct {
		id   identity.ID
		want errs.Kind
	}{{sam, errs.InUse}, {ann, errs.InUse}, {bob, ""}, {bob, errs.NotFound}} {
		err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Parties().Delete(tt.id) })
		if errs.KindOf(err) != tt.want {
			t.Errorf("delete %d: got %v, want %q", tt.id, err, tt.want)
		}
	}
	if got := along(t, db, bob); len(got) != 0 {
		t.Errorf("a root without its user: %+v", got)
	}
	if got := rootOf(t, db, sam); got.ContextID != sam {
		t.Errorf("the root of sam is %+v", got)
	}
}

// TestMessagesCount counts the bytes of messages to who wrote them.
func TestMessagesCount(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	c := newCase(db, sam, 1)
	message := func(author identity.ID, label, text string) *store.Message {
		return &store.Message{
			CaseID: c.ID, Label: label, AuthorID: author, MediaType: "text/plain", Size: int64(len(text)),
			SHA256: digest(text), Content: []byte(text), Version: 1, Created: noon(), Modified: noon(),
		}
	}
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().Insert(c) })
	for i, tt := range []struct {
		m        *store.Message
		sam, ann int64
	}{
		{message(sam, "a", "abc"), 3, 0},
		{message(ann, "b", "abcd"), 3, 4},
		{message(ann, "a", "ab"), 0, 6},
		{message(0, "c", "nobody's"), 0, 6},
		{message(0, "b", "nobody's"), 0, 2},
		{message(sam, "c", "x"), 1, 2},
		{message(sam, "d", ""), 1, 2},
	} {
		mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().Messages().Put(tt.m) })
		if s, a := storedBytes(t, db, sam), storedBytes(t, db, ann); s != tt.sam || a != tt.ann {
			t.Errorf("message %d: got %d and %d, want %d and %d", i, s, a, tt.sam, tt.ann)
		}
	}
}
