package relational_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/relational"
	"flowdrive/store/storetest"
)

// digest returns the digest of a text.
func digest(text string) store.Digest { return sha256.Sum256([]byte(text)) }

// newAttachment returns an attachment of the owner with the text's content.
func newAttachment(n byte, owner identity.ID, text string) *store.Attachment {
	return &store.Attachment{
		UUID: store.UUID{0: 0xa7, 15: n}, ContextID: owner, AuthorID: owner, Name: fmt.Sprintf("%d.txt", n), MediaType: "text/plain",
		Size: int64(len(text)), SHA256: digest(text), Lifetime: "P30D", Expires: noon().AddDate(0, 0, 30), Created: noon(),
	}
}

func insertAttachments(t *testing.T, db *storetest.DB, all ...*store.Attachment) {
	t.Helper()
	mustUpdate(t, db, func(tx store.Tx) error {
		for _, a := range all {
			if err := tx.Write().Blobs().Note(a.SHA256); err != nil {
				return err
			}
			if err := tx.Write().Attachments().Insert(a); err != nil {
				return err
			}
		}
		return nil
	})
}

// refs returns how many rows refer to the text's content, -1 where it is not
// known.
func refs(t *testing.T, db *storetest.DB, text string) (n int64) {
	t.Helper()
	mustView(t, db, func(r store.Reader) error {
		count, known, err := r.Blobs().Refs(digest(text))
		if n = count; !known {
			n = -1
		}
		return err
	})
	return n
}

func TestAttachments(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	a := newAttachment(1, sam, "abc")
	err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Attachments().Insert(a) })
	kind(t, "an attachment of a content that is not known", err, errs.Internal)
	insertAttachments(t, db, a)
	if a.Seq == 0 {
		t.Error("a new attachment has no Seq")
	}
	read := func() (got *store.Attachment) {
		t.Helper()
		mustView(t, db, func(r store.Reader) (err error) {
			got, err = r.Attachments().Get(a.UUID)
			return err
		})
		return got
	}
	same(t, "stored", a, read())
	for _, expires := range []time.Time{{}, noon().Add(time.Hour)} {
		mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Attachments().SetExpiry(a.UUID, expires) })
		a.Expires = expires
		same(t, "with another expiry", a, read())
	}
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Attachments().SetName(a.UUID, "other.pdf") })
	a.Name = "other.pdf"
	same(t, "with another name", a, read())
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Attachments().Delete(a.UUID) })
	for what, f := range map[string]func(store.Tx) error{
		"read":    func(tx store.Tx) error { _, err := tx.Attachments().Get(a.UUID); return err },
		"deleted": func(tx store.Tx) error { return tx.Write().Attachments().Delete(a.UUID) },
		"renamed": func(tx store.Tx) error { return tx.Write().Attachments().SetName(a.UUID, "a") },
		"changed": func(tx store.Tx) error { return tx.Write().Attachments().SetExpiry(a.UUID, noon()) },
	} {
		kind(t, what+" after its end", db.Update(t.Context(), f), errs.NotFound)
	}
}

func TestAttachmentFilters(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann, bob := addUser(t, db, "sam"), addUser(t, db, "ann"), addUser(t, db, "bob")
	seven, eight := newCase(db, sam, 7), newCase(db, bob, 8)
	seven.Access = sorted(sam, ann)
	insertCases(t, db, seven, eight)
	all := []*store.Attachment{
		newAttachment(1, sam, "a"), newAttachment(2, ann, "b"), newAttachment(3, sam, "c"),
		newAttachment(4, sam, "d"), newAttachment(5, bob, "e"), newAttachment(6, sam, "f"),
	}
	all[2].CaseID, all[4].CaseID = seven.ID, eight.ID
	all[5].Expires = time.Time{}
	all[3].Expires = noon() // gone at noon
	insertAttachments(t, db, all...)
	for _, test := range []struct {
		what string
		f    store.AttachmentFilter
		want []byte
	}{
		{"all", store.AttachmentFilter{}, []byte{1, 2, 3, 4, 5, 6}},
		{"all at noon", store.AttachmentFilter{Now: noon()}, []byte{1, 2, 3, 5, 6}},
		{"in a hundred days", store.AttachmentFilter{Now: noon().AddDate(0, 0, 100)}, []byte{6}},
		{"a page", store.AttachmentFilter{After: all[1].Seq, Limit: 2}, []byte{3, 4}},
		{"of nobody", store.AttachmentFilter{Access: []identity.ID{}}, nil},
		{"of sam", store.AttachmentFilter{Access: []identity.ID{sam}}, []byte{1, 3, 4, 6}},
		{"of sam, bound to nothing", store.AttachmentFilter{Access: []identity.ID{sam}, Unbound: true}, []byte{1, 4, 6}},
		{"of ann, with those of the case she sees", store.AttachmentFilter{Access: []identity.ID{ann}}, []byte{2, 3}},
		{"of bob", store.AttachmentFilter{Access: []identity.ID{bob}}, []byte{5}},
		{"of bob, who administers route 7", store.AttachmentFilter{Access: []identity.ID{bob}, Routes: []int64{7}}, []byte{3, 5}},
		{"of both", store.AttachmentFilter{Access: sorted(sam, ann)}, []byte{1, 2, 3, 4, 6}},
		{"of a case", store.AttachmentFilter{CaseID: seven.ID}, []byte{3}},
		{"of no case", store.AttachmentFilter{CaseID: 999}, nil},
	} {
		mustView(t, db, func(r store.Reader) error {
			list, err := r.Attachments().List(test.f)
			var got []byte
			for i := range list {
				got = append(got, list[i].UUID[15])
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: %v, want %v", test.what, got, test.want)
			}
			return err
		})
	}
}

// TestAttachmentOfEntry: an entry names its attachment in a column, which
// says whether the attachment is in use.
func TestAttachmentOfEntry(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	a := newAttachment(1, sam, "abc")
	insertAttachments(t, db, a)
	used := func(want bool) {
		t.Helper()
		mustView(t, db, func(r store.Reader) error {
			got, err := r.Attachments().InUse(a.UUID)
			if got != want {
				t.Errorf("in use %t, want %t", got, want)
			}
			return err
		})
	}
	used(false)
	e := newEntry(1, sam)
	e.Attachment = a.UUID
	insertEntries(t, db, e)
	same(t, "stored", e, entry(t, db, e.UUID))
	used(true)
	e.Revision++
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Entries().Update(e) })
	used(true)
	e.Attachment = store.UUID{}
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Entries().Update(e) })
	same(t, "without", e, entry(t, db, e.UUID))
	used(false)
	e.Attachment = a.UUID
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Entries().Update(e) })
	used(true)
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Entries().Delete(e.UUID) })
	used(false)
}

func TestAttachmentsAreDue(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	first, never := newAttachment(1, sam, "a"), newAttachment(2, sam, "b")
	first.Expires, never.Expires = noon().Add(time.Second), time.Time{}
	insertAttachments(t, db, first, never)
	insertEntries(t, db, newEntry(1, sam)) // at the same second
	mustView(t, db, func(r store.Reader) error {
		rows, _, err := r.Queue().Due(noon().Add(time.Second), 10)
		want := []store.DueRow{{Due: first.Expires, Kind: store.DueEntry, UUID: store.UUID{15: 1}}, {Due: first.Expires, Kind: store.DueAttachment, UUID: first.UUID}}
		same(t, "due", want, rows)
		return err
	})
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Entries().Delete(store.UUID{15: 1}) })
	mustView(t, db, func(r store.Reader) error {
		next, err := r.Queue().NextDue()
		if !next.Equal(first.Expires) {
			t.Errorf("due next: %v, want %v", next, first.Expires)
		}
		return err
	})
}

// TestReferences: what refers to a content is counted, whatever happens to
// the rows; run checks at the end that the counts are right.
func TestReferences(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	c := newCase(db, sam, 7)
	insertCases(t, db, c)
	message := func(label, text string, inFile bool) {
		t.Helper()
		m := &store.Message{
			UUID: store.UUID{0: 1}, CaseID: c.ID, Label: label, MediaType: "text/plain", Size: int64(len(text)), SHA256: digest(text),
			InFile: inFile, Version: 1, Created: noon(), Modified: noon(),
		}
		if !inFile {
			m.Content = []byte(text)
		}
		mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().Messages().Put(m) })
	}
	expect := func(what string, want map[string]int64) {
		t.Helper()
		for text, n := range want {
			if got := refs(t, db, text); got != n {
				t.Errorf("%s: %d refer to %q, want %d", what, got, text, n)
			}
		}
	}
	message("one", "a", true)
	message("two", "a", true)
	message("three", "b", false)
	expect("two messages of one content", map[string]int64{"a": 2, "b": -1})
	message("one", "b", true)
	expect("replaced", map[string]int64{"a": 1, "b": 1})
	message("one", "b", true)
	expect("replaced by the same", map[string]int64{"a": 1, "b": 1})
	message("one", "b", false)
	expect("moved into the row", map[string]int64{"a": 1, "b": 0})
	message("three", "a", true)
	expect("moved into the file", map[string]int64{"a": 2, "b": 0})

	bound := newAttachment(1, sam, "a")
	bound.CaseID = c.ID
	insertAttachments(t, db, bound, newAttachment(2, sam, "a"), newAttachment(3, sam, "b"))
	expect("attachments", map[string]int64{"a": 4, "b": 1})
	mustView(t, db, func(r store.Reader) error {
		n, err := r.Blobs().StoredBytes(sam)
		if n != 3 {
			t.Errorf("sam has stored %d bytes, want 3", n)
		}
		return err
	})
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Attachments().Delete(store.UUID{0: 0xa7, 15: 3}) })
	expect("one deleted", map[string]int64{"a": 4, "b": 0})

	// What belongs to a case goes with it.
	mustUpdate(t, db, func(tx store.Tx) error {
		for _, query := range []string{`DELETE FROM messages`, `DELETE FROM case_access`, `DELETE FROM open_cases`, `DELETE FROM cases`} {
			if _, err := relational.ConnOf(tx).Exec(query); err != nil {
				return err
			}
		}
		return nil
	})
	expect("the case has gone", map[string]int64{"a": 1, "b": 0})
	mustView(t, db, func(r store.Reader) error {
		_, err := r.Attachments().Get(bound.UUID)
		kind(t, "what was bound to it", err, errs.NotFound)
		n, err := r.Blobs().StoredBytes(sam)
		if n != 1 {
			t.Errorf("sam has stored %d bytes, want 1", n)
		}
		return err
	})
}

// TestWithin: a unit that asks later whether there is room is told so by its end, and what it writes
// before it asks counts.
func TestWithin(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	insertAttachments(t, db, newAttachment(1, sam, "four"))
	for _, test := range []struct {
		author      identity.ID
		added       byte // the number of an attachment that the unit adds before it asks, 0 for none
		most        int64
		within      bool
		description string
	}{
		{sam, 0, 4, true, "as much as there is"},
		{sam, 0, 3, false, "less than there is"},
		{ann, 0, 0, true, "nothing, of somebody who has nothing"},
		{ann, 0, -1, false, "less than nothing, of somebody who has nothing"},
		{sam, 2, 7, false, "less than there is with what was added"},
		{sam, 3, 8, true, "as much as there is with what was added"},
	} {
		unit := func(later bool) (within bool, err error) {
			err = db.Update(t.Context(), func(tx store.Tx) error {
				if later {
					tx.Write().Later()
				}
				if test.added > 0 {
					a := newAttachment(test.added, test.author, "more")
					if err := errors.Join(tx.Write().Blobs().Note(a.SHA256), tx.Write().Attachments().Insert(a)); err != nil {
						return err
					}
				}
				if within, err = tx.Write().Blobs().Within(test.author, test.most); err == nil && !within {
					return errRefused
				}
				return err
			})
			return within, err
		}
		if within, err := unit(true); !test.within && !errors.Is(err, store.ErrAgain) && !errors.Is(err, errRefused) || test.within && (err != nil || !within) {
			t.Errorf("%s, later: %v, %v", test.description, within, err)
		}
		if test.within && test.added > 0 {
			continue // it is there now
		}
		if within, err := unit(false); within != test.within || !test.within && !errors.Is(err, errRefused) {
			t.Errorf("%s: %v, %v", test.description, within, err)
		}
	}
}

func TestUnusedBlobs(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	var all []store.Digest
	for _, text := range []string{"a", "b", "c", "d"} {
		all = append(all, digest(text))
	}
	slices.SortFunc(all, func(a, b store.Digest) int { return slices.Compare(a[:], b[:]) })
	mustUpdate(t, db, func(tx store.Tx) error {
		for _, d := range append(all, all...) { // a second time it is known
			if err := tx.Write().Blobs().Note(d); err != nil {
				return err
			}
		}
		return nil
	})
	list := func(after store.Digest, limit int) (out []store.Digest) {
		t.Helper()
		mustView(t, db, func(r store.Reader) (err error) {
			out, err = r.Blobs().Unused(after, limit)
			return err
		})
		return out
	}
	same(t, "unused", all, list(store.Digest{}, 10))
	same(t, "a page of them", all[1:3], list(all[0], 2))
	insertAttachments(t, db, newAttachment(1, sam, "c"))
	used := digest("c")
	kind(t, "forgetting what is referred to",
		db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Blobs().Forget(used) }), errs.InUse)
	for _, d := range all {
		if d != used {
			mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Blobs().Forget(d) })
			mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Blobs().Forget(d) }) // is forgotten
		}
	}
	same(t, "unused, when they are forgotten", []store.Digest{}, list(store.Digest{}, 10))
	if got := refs(t, db, "c"); got != 1 {
		t.Errorf("%d refer to what is used, want 1", got)
	}
}
