package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"flowdrive/engine/files"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

func (u user) patch(at string, changes ...store.Property) (failed int, err error) {
	return u.Files.PatchDocument(u.Context(), u.request(nil), path(at), files.Patch{Properties: changes})
}

func property(name, value string) store.Property {
	return store.Property{Space: "urn:x", Name: name, XML: "<" + name + ` xmlns="urn:x">` + value + "</" + name + ">"}
}

// properties returns the names of the properties of a document.
func (u user) properties(at string) []string {
	u.Helper()
	out := []string{}
	for _, p := range try(u.mustDocument(at).Properties.List()).must(u.world, "the properties of "+at) {
		out = append(out, p.Name)
	}
	return out
}

// TestProperties: they are set and removed in order, stay when the content is
// replaced, change the ETag of the folder and nothing else, and go with the
// document.
func TestProperties(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutDocument("sam/a.txt", "a")
	before, folder := sam.mustDocument("sam/a.txt"), sam.mustDocument("sam").ETag()
	if failed, err := sam.patch("sam/a.txt", property("one", "1"), property("two", "2"), store.Property{Space: "urn:x", Name: "one"}, property("three", "3")); failed >= 0 || err != nil {
		t.Fatal(failed, err)
	}
	same(t, "properties", sam.properties("sam/a.txt"), []string{"two", "three"})
	after := sam.mustDocument("sam/a.txt")
	if after.ETag() != before.ETag() || !after.Modified.Equal(before.Modified) || after.Revision != before.Revision {
		t.Error("the document has changed")
	}
	if sam.mustDocument("sam").ETag() == folder {
		t.Error("the folder's ETag stays")
	}
	if got, want := sam.used(), int64(len("a")+len(after.Properties)); got != want {
		t.Errorf("%d bytes are used, want %d", got, want)
	}
	folder = sam.mustDocument("sam").ETag()
	if _, err := sam.patch("sam/a.txt", property("two", "2")); err != nil {
		t.Fatal(err)
	}
	if sam.mustDocument("sam").ETag() != folder {
		t.Error("what changes nothing changes the folder's ETag")
	}
	sam.mustPutDocument("sam/a.txt", "other")
	same(t, "properties", sam.properties("sam/a.txt"), []string{"two", "three"})
	for _, m := range sam.listing("sam", files.Members(true)).Below {
		if m.Properties != after.Properties || m.Unread {
			t.Errorf("in the listing are %q", m.Properties)
		}
	}
	for _, m := range sam.listing("sam", store.Under{Deep: true, Limit: 10, Properties: 10}).Below {
		if m.Properties != "" || !m.Unread {
			t.Errorf("in a listing without room are %q", m.Properties)
		}
	}
	w.kind("DELETE", sam.deleteDocument("sam/a.txt"), "")
	if got := sam.used(); got != 0 {
		t.Errorf("%d bytes are used, want none", got)
	}
	_, err := sam.patch("sam/a.txt", property("one", ""))
	w.kind("of what is gone", err, errs.NotFound)
	if failed, err := sam.patch("sam", property("one", "")); failed >= 0 || err != nil {
		t.Errorf("of the root: %v", err)
	}
}

// TestPropertiesAreCopied: what is copied or moved has the properties of its
// source, also where it replaces something (RFC 4918, sections 9.8.2 and 9.9.1).
func TestPropertiesAreCopied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustMakeFolder("sam/from")
	for _, at := range []string{"sam/from/a", "sam/old"} {
		sam.mustPutDocument(at, at)
		if _, err := sam.patch(at, property("of-"+at[len(at)-1:], "")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := sam.patch("sam/from", property("folder", "")); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"new", "old"} {
		try(sam.Files.CopyDocument(t.Context(), sam.request(nil), path("sam/from/a"), path("sam/"+to), files.Transfer{Overwrite: true})).must(w, "COPY onto "+to)
		same(t, "properties of "+to, sam.properties("sam/"+to), []string{"of-a"})
	}
	try(sam.Files.CopyDocument(t.Context(), sam.request(nil), path("sam/from"), path("sam/to"), files.Transfer{})).must(w, "COPY of the folder")
	same(t, "properties of the folder", sam.properties("sam/to"), []string{"folder"})
	same(t, "properties below", sam.properties("sam/to/a"), []string{"of-a"})
	try(sam.Files.MoveDocument(t.Context(), sam.request(nil), path("sam/to/a"), path("sam/old"), files.Transfer{Overwrite: true})).must(w, "MOVE")
	same(t, "properties of what was moved", sam.properties("sam/old"), []string{"of-a"})
	for _, at := range []string{"sam/from", "sam/to", "sam/old", "sam/new"} {
		w.kind("DELETE of "+at, sam.deleteDocument(at), "")
	}
	if got := sam.used(); got != 0 {
		t.Errorf("%d bytes are used, want none", got)
	}
}

// TestPropertiesAreBounded: too many, too large, beyond the quota; nothing is
// changed then.
func TestPropertiesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutDocument("sam/a.txt", "a")
	var many []store.Property
	for i := range 257 {
		many = append(many, property(fmt.Sprintf("p%d", i), ""))
	}
	failed, err := sam.patch("sam/a.txt", many...)
	w.kind("too many", err, errs.Full)
	if failed != 256 {
		t.Errorf("the change %d failed, want 256", failed)
	}
	failed, err = sam.patch("sam/a.txt", property("small", ""), property("large", strings.Repeat("x", 64<<10)))
	w.kind("too large", err, errs.Full)
	if failed != 1 {
		t.Errorf("the change %d failed, want 1", failed)
	}
	same(t, "properties", sam.properties("sam/a.txt"), []string{})
}

// TestPropertiesNeedRights: members set them, administrators only read.
func TestPropertiesNeedRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutDocument("sam/a.txt", "a")
	failed, err := w.as("admin").patch("sam/a.txt", property("one", ""))
	w.kind("an administrator", err, errs.NotAllowed)
	if failed != 0 {
		t.Errorf("the change %d failed, want 0", failed)
	}
	failed, err = w.as("ann").patch("sam/a.txt", property("one", ""))
	w.kind("somebody else", err, errs.NotFound)
	if failed >= 0 {
		t.Errorf("the change %d failed, want the whole", failed)
	}
}
