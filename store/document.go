package store

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// Document is a file or folder below Documents/
// (docs/contract/labels-attachments.md#5-documents). Content is held here while
// it is small; else a file named by SHA256 holds it.
type Document struct {
	ID        int64       // order of creation, set by the store
	ContextID identity.ID // of a root, else 0
	ParentID  int64       // the folder it lies in, 0 of a root
	Name      string      // of a root the context's, which the store does not know
	Folder    bool
	AuthorID  identity.ID // the author of the content: it counts against their quota
	Revision  int64       // counts changes; for a folder also those of its members
	MediaType string
	Size      int64
	SHA256    Digest
	InFile    bool   // the content is the blob SHA256
	Content   []byte // of a file, unless InFile; nil if it was left out
	Created   time.Time
	Modified  time.Time // of a folder also when a member was changed, came or went

	Properties Properties // "" also if they were left out
	Unread     bool       // there are Properties, more than were asked for
}

// DocumentReader reads the trees below Documents/.
type DocumentReader interface {
	Versions() VersionReader

	// Along returns what lies along the path from the root of the
	// context down: the root, and as many of the names as exist.
	Along(context identity.ID, names []string) ([]Document, error)

	// Under returns the same without Content, and the members of what is at the
	// end of the path, in no order. It is one statement for any number of
	// members.
	Under(context identity.ID, names []string, o Under) (along, below []Document, err error)

	// The following leave out Content and Properties. DocumentRoots returns the
	// roots of the contexts, nil for all, in no order. DocumentPage returns a
	// part of the members of a folder, by id, after the given one.
	Roots(contexts []identity.ID) ([]Document, error)
	Page(folder, after int64, limit int) ([]Document, error)

	// Detached reports whether anything waits for PurgeDocuments.
	Detached() (bool, error)
}

// Under says what DocumentsUnder looks for.
type Under struct {
	Deep       bool // at any depth, else in the folder itself
	Limit      int  // at most so many, -1: all
	Properties int  // so many bytes of properties in all, 0: none
}

// DocumentWriter writes the trees below Documents/.
type DocumentWriter interface {
	Versions() VersionWriter

	// Insert stores a new document or folder and sets its ID. A name
	// in use in its folder is errs.NameTaken.
	Insert(d *Document) error
	Replace(d *Document) error                      // a file, by ID
	TouchFolder(id int64, modified time.Time) error // counts a change of its members
	SetProperties(id int64, p Properties) error
	SetModified(id int64, modified time.Time) error
	Delete(id int64) error // a file, or a folder without members

	// Move puts a document or folder, with all that is below it, into
	// another folder or under another name. CopyDocument stores a copy of a
	// file, or of a folder without its members, and returns its id.
	Move(id, folder int64, name string) error
	Copy(id, folder int64, name string, author identity.ID, now time.Time) (int64, error)

	// DetachFolder takes a folder with all that is below it out of its tree in
	// one statement. PurgeDocuments deletes it later.
	DetachFolder(id int64) error

	// Purge deletes about that many rows of detached folders, and reports
	// whether there are more.
	Purge(limit int) (more bool, err error)
}

// ETag is the entity tag of a document, quoted: of a file its content, of a
// folder its counter of changes.
func (d *Document) ETag() string {
	if d.Folder {
		return fmt.Sprintf(`"%x-%x.%d"`, d.ID, d.Created.UnixMilli(), d.Revision)
	}
	tag := append(make([]byte, 0, 34), '"')
	return string(append(hex.AppendEncode(tag, d.SHA256[:16]), '"'))
}

// Property is a dead property: a client has stored it with a document for
// itself (RFC 4918, section 4). The store does not know what it means.
type Property struct {
	Space string `json:"s"`
	Name  string `json:"n"`
	XML   string `json:"x"` // the whole element, well-formed by itself; "" in a change: remove it
}

// Properties are the dead properties of a document, as they are stored: a
// JSON array of Property, "" for none.
type Properties string

// List returns the properties, in the order in which they were set first.
func (p Properties) List() ([]Property, error) {
	if p == "" {
		return nil, nil
	}
	var out []Property
	err := json.Unmarshal([]byte(p), &out)
	return out, errs.Wrap("read the properties of a document", err)
}
