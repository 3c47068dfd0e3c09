package sqlite

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"flowdrive/internal/identity"
	"flowdrive/store"
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

// same compares what was stored with what is read: an empty list is none.
func same(tb testing.TB, what string, want, got any) {
	tb.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func newRoute(db *DB, name string, owner, author identity.ID) *store.Route {
	source := []byte("# the route " + name + "\nroute: " + name + "\n")
	return &store.Route{
		ID: db.NextID(), Name: name, ContextID: owner, AuthorID: author, Version: 1, YAML: true,
		Source: source, SourceSize: int64(len(source)), ETag: `"etag"`, Form: []byte(`{"route":"` + name + `"}`),
		Created: noon(), Modified: noon(),
	}
}

// newEntry returns an entry of the owner that is due at noon.
func newEntry(n byte, owner identity.ID) *store.Entry {
	return &store.Entry{
		UUID: store.UUID{15: n}, ContextID: owner, AuthorID: owner, RouteID: 7, Type: "cron", Definition: 1, Revision: 1,
		Due: noon().Add(time.Duration(n) * time.Second), Form: []byte(`{"type":"cron"}`), Created: noon(), Modified: noon(),
	}
}
