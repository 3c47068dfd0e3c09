package store

import (
	"time"

	"flowdrive/internal/identity"
)

// Attachment is a file that a user has uploaded: as the input of cases, or as
// an additional file of a case. It never changes
// (docs/contract/labels-attachments.md#4-attachfs).
type Attachment struct {
	Seq       int64 // order of creation, set by the store
	UUID      UUID
	ContextID identity.ID
	AuthorID  identity.ID
	CaseID    int64 // that it is bound to, 0: none
	Name      string
	MediaType string
	Size      int64
	SHA256    Digest
	Lifetime  string    // how long it lives while no entry names it, an ISO 8601 duration; "" for ever
	Expires   time.Time // zero: not while it is named, or not at all
	Created   time.Time
}

// AttachmentFilter selects attachments. Zero fields select all.
type AttachmentFilter struct {
	Access  []identity.ID // nil: all; else what belongs to one of these or to a case that one of them sees …
	Routes  []int64       // … or to a case of one of these routes
	Unbound bool          // only what is bound to no case
	CaseID  int64         // only what is bound to it
	Now     time.Time     // what has expired by then is left out
	After   int64         // Seq
	Limit   int           // 0: all
}

// AttachmentReader reads attachments.
type AttachmentReader interface {
	Get(uuid UUID) (*Attachment, error) // also one that has expired
	List(f AttachmentFilter) ([]Attachment, error)
	InUse(uuid UUID) (bool, error) // whether a schedule entry names it
}

// AttachmentWriter writes attachments.
type AttachmentWriter interface {
	Insert(a *Attachment) error // sets Seq; its content must be known, see NoteBlob
	SetExpiry(uuid UUID, expires time.Time) error
	SetName(uuid UUID, name string) error
	Delete(uuid UUID) error
}

// ETag is the entity tag of an attachment, quoted: its identity, since it
// never changes.
func (a *Attachment) ETag() string { return `"` + a.UUID.String() + `"` }
