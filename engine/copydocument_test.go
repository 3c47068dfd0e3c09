package engine_test

import (
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/engine/files"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

func (u user) copyDocument(from, to string, how files.Transfer, options ...option) (*engine.Outcome, error) {
	return u.Files.CopyDocument(u.Context(), u.request(options), path(from), path(to), how)
}

func (u user) moveDocument(from, to string, how files.Transfer, options ...option) (*engine.Outcome, error) {
	return u.Files.MoveDocument(u.Context(), u.request(options), path(from), path(to), how)
}

// moveAway moves a document that is in use, which cannot be deleted.
func (u user) moveAway(from string) error {
	_, err := u.moveDocument(from, from+".gone", files.Transfer{Overwrite: true})
	return err
}

// tree returns what is below a folder, as paths in order.
func (u user) tree(at string) string {
	u.Helper()
	var out []string
	for _, name := range u.members(at) {
		out = append(out, name)
		if below := at + "/" + name; u.mustDocument(below).Folder {
			out[len(out)-1] += "(" + u.tree(below) + ")"
		}
	}
	return strings.Join(out, " ")
}

// furnishTree makes a(b(c d) e) f in the root.
func furnishTree(u user, root string) {
	u.Helper()
	u.mustMakeFolder(root + "/a")
	u.mustMakeFolder(root + "/a/b")
	u.mustPutDocument(root+"/a/b/c", "c")
	u.mustPutDocument(root+"/a/b/d", large("d"))
	u.mustPutDocument(root+"/a/e", "e")
	u.mustPutDocument(root+"/f", "f")
}

// TestTransferDocuments is what COPY and MOVE make of a tree (RFC 4918,
// sections 9.8 and 9.9).
func TestTransferDocuments(t *testing.T) {
	t.Parallel()
	over := files.Transfer{Overwrite: true}
	const before = "a(b(c d) e) f"
	for _, tt := range []struct {
		what     string
		move     bool
		from, to string
		how      files.Transfer
		want     errs.Kind
		after    string // of sam's root
	}{
		{"COPY of a file", false, "sam/f", "sam/g", over, "", "a(b(c d) e) f g"},
		{"COPY of a file over a file", false, "sam/f", "sam/a/e", over, "", before},
		{"COPY of a tree", false, "sam/a", "sam/g", over, "", "a(b(c d) e) f g(b(c d) e)"},
		{"COPY of a folder alone", false, "sam/a", "sam/g", files.Transfer{Shallow: true}, "", "a(b(c d) e) f g()"},
		{"COPY of a tree over a file", false, "sam/a/b", "sam/f", over, "", "a(b(c d) e) f(c d)"},
		{"COPY of a file over a tree", false, "sam/f", "sam/a", over, "", "a f"},
		{"COPY from another root", false, "core/a/b", "sam/b", over, "", "a(b(c d) e) b(c d) f"},
		{"COPY of a root", false, "core", "sam/core", over, "", "a(b(c d) e) core(a(b(c d) e) f) f"},
		{"MOVE of a file", true, "sam/f", "sam/a/g", over, "", "a(b(c d) e g)"},
		{"MOVE of a tree", true, "sam/a/b", "sam/b", over, "", "a(e) b(c d) f"},
		{"MOVE over a file", true, "sam/f", "sam/a/e", over, "", "a(b(c d) e)"},
		{"MOVE over a tree", true, "sam/f", "sam/a", over, "", "a"},
		{"MOVE from another root", true, "core/a", "sam/g", over, "", "a(b(c d) e) f g(b(c d) e)"},

		{"COPY without Overwrite", false, "sam/f", "sam/a/e", files.Transfer{}, errs.Precondition, before},
		{"MOVE without Overwrite", true, "sam/f", "sam/a", files.Transfer{}, errs.Precondition, before},
		{"COPY onto itself", false, "sam/a", "SAM/a", over, errs.NotAllowed, before},
		{"COPY into itself", false, "sam/a", "sam/a/b/g", over, errs.NotAllowed, before},
		{"COPY of a folder alone into itself", false, "sam/a", "sam/a/b/g", files.Transfer{Shallow: true}, "", "a(b(c d g()) e) f"},
		{"MOVE into itself", true, "sam/a", "sam/a/b/g", over, errs.NotAllowed, before},
		{"COPY over what holds it", false, "sam/a/b", "sam/a", over, errs.NotAllowed, before},
		{"MOVE over what holds it", true, "sam/a/b/c", "sam/a", over, errs.NotAllowed, before},
		{"MOVE of a root", true, "sam", "core/sam", over, errs.NotMovable, before},
		{"COPY over a root", false, "sam/f", "core", over, errs.NotAllowed, before},
		{"COPY of nothing", false, "sam/g", "sam/h", over, errs.NotFound, before},
		{"COPY without a folder [section 9.8.5]", false, "sam/f", "sam/gone/f", over, errs.MissingParent, before},
		{"MOVE without a folder", true, "sam/a", "sam/f/a", over, errs.MissingParent, before},
		{"MOVE to a root that is not to be seen", true, "sam/f", "bob/f", over, errs.MissingParent, before},
		{"MOVE to a root that is not there", true, "sam/f", "nobody/f", over, errs.MissingParent, before},
		{"MOVE to where one only reads", true, "sam/f", "everyone/f", over, errs.NotAllowed, before},
		{"MOVE from where one only reads", true, "everyone/f", "sam/g", over, errs.NotAllowed, before},
		{"COPY from where one only reads", false, "everyone/f", "sam/g", over, "", "a(b(c d) e) f g"},
		{"COPY to a name that cannot be", false, "sam/f", "sam/a\x00b", over, errs.NameNotAllowed, before},
	} {
		w := newWorld(t)
		sam := w.as("sam")
		furnishTree(sam, "sam")
		furnishTree(sam, "core")
		w.as("admin").mustPutDocument("everyone/f", "f")
		transfer := sam.copyDocument
		if tt.move {
			transfer = sam.moveDocument
		}
		_, err := transfer(tt.from, tt.to, tt.how)
		w.kind(tt.what, err, tt.want)
		same(t, tt.what, sam.tree("sam"), tt.after)
		if tt.want != "" {
			same(t, tt.what+": the other root", sam.tree("core"), before)
		}
		w.collect()
		if root := "sam"; strings.Contains(tt.after, "b(c d)") && tt.want == "" {
			for _, at := range []string{"/a/b/d", "/b/d", "/g/b/d", "/f/d"} {
				if d, err := sam.document(root + at); err == nil && d != nil {
					same(t, tt.what+": the content of "+at, sam.readDocument(root+at), "application/octet-stream: "+large("d"))
				}
			}
		}
	}
}

// TestCopyCounts: a copy counts against the quota of who makes it, and what is
// moved against that of who has written it.
func TestCopyCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	sam.mustPutDocument("core/a", "12345")
	if out := try(ann.copyDocument("core/a", "core/b", files.Transfer{})).must(w, "COPY"); !out.Created || out.ETag != sam.mustDocument("core/a").ETag() {
		t.Errorf("COPY: %+v", out)
	}
	same(t, "ann has copied", ann.used(), 5)
	try(ann.moveDocument("core/a", "core/c", files.Transfer{})).must(w, "MOVE")
	same(t, "sam has written what ann moved", sam.used(), 5)
	same(t, "ann", ann.used(), 5)
}

// TestMoveIsThePut: a MOVE out of Documents/ deletes the source in the unit of
// the PUT, or neither is done.
func TestMoveIsThePut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	const nightly = `{"route": "auto", "type": "cron", "hour": "23", "minute": "0"}`
	named := engine.Ref{Author: sam.by().ID, Name: "nightly.json"}
	take := func(at string) option {
		taken := try(w.Files.MayTake(t.Context(), sam.request(nil), path(at))).must(w, "take "+at)
		return func(r *engine.Request) { r.Takes = taken }
	}
	put := func(body string, options ...option) error {
		_, err := w.Schedules.PutEntry(t.Context(), sam.request(options), named, []byte(body))
		return err
	}
	sam.mustPutDocument("sam/a", nightly)
	w.kind("what is no entry", put(`{`, take("sam/a")), errs.NotParseable)
	same(t, "the source stays", sam.tree("sam"), "a")
	stale := take("sam/a")
	sam.mustPutDocument("sam/a", nightly+" ")
	w.kind("what was changed meanwhile", put(nightly, stale), errs.InUse)
	_, err := w.Schedules.Entry(t.Context(), sam.by(), named)
	w.kind("nothing was stored", err, errs.NotFound)
	w.kind("an entry", put(nightly, take("sam/a")), "")
	same(t, "the source has gone", sam.tree("sam"), "")
	_, err = w.Files.MayTake(t.Context(), sam.request(nil), path("everyone"))
	w.kind("a folder", err, errs.NotFound)
}

// TestRename: MOVE in Schedule/ gives another name and keeps everything else.
func TestRename(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	const nightly = `{"route": "auto",  "type": "cron", "hour": "23", "minute": "0"}`
	ref := func(name string) engine.Ref { return engine.Ref{Author: sam.by().ID, Name: name} }
	out := try(w.Schedules.PutEntry(t.Context(), sam.request(nil), ref("a.json"), []byte(nightly))).must(w, "PUT")
	rename := func(u user, from, to string, overwrite bool) error {
		_, err := w.Schedules.RenameEntry(t.Context(), u.request(nil), ref(from), to, overwrite)
		return err
	}
	w.kind("another's", rename(ann, "a.json", "b.json", true), errs.NotFound)
	w.kind("to another language", rename(sam, "a.json", "b.yaml", true), "")
	w.kind("and back", rename(sam, "b.yaml", "b.json", true), "")
	moved := try(w.Schedules.Entry(t.Context(), sam.by(), ref("b.json"))).must(w, "the entry")
	if moved.Name != out.Name || string(moved.Source) != nightly || moved.SourceETag != out.ETag {
		t.Errorf("moved: %s %s %s", moved.Name, moved.Source, moved.SourceETag)
	}
	_, err := w.Schedules.Entry(t.Context(), sam.by(), ref("a.json"))
	w.kind("the old name", err, errs.NotFound)
	other := try(w.Schedules.PutEntry(t.Context(), sam.request(nil), ref("c.json"), []byte(nightly))).must(w, "PUT")
	w.kind("onto another without Overwrite", rename(sam, "b.json", "c.json", false), errs.Precondition)
	w.kind("onto another", rename(sam, "b.json", "c.json", true), "")
	if got := try(w.Schedules.Entry(t.Context(), sam.by(), ref("c.json"))).must(w, "the entry"); got.Name != out.Name || got.Name == other.Name {
		t.Errorf("c.json is %s, want %s", got.Name, out.Name)
	}
	uuid, _ := store.ParseUUID(other.Name)
	_, err = w.Schedules.Entry(t.Context(), sam.by(), engine.Ref{Entry: uuid})
	w.kind("what was replaced", err, errs.NotFound)
	try(w.Schedules.PutEntry(t.Context(), sam.request(nil), ref("d.yaml"), []byte("route: auto\ntype: cron\nhour: 23\n"))).must(w, "PUT of YAML")
	w.kind("YAML as JSON", rename(sam, "d.yaml", "d.json", true), errs.NameNotAllowed)
}
