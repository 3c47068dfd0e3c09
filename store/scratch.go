package store

import (
	"fmt"
	"time"

	"golang.org/x/text/unicode/norm"

	"flowdrive/internal/identity"
)

// ScratchKind says what a row of the scratch area is.
type ScratchKind string

// The kinds of scratch (docs/contract/drive.md#side-files).
const (
	SideFile      ScratchKind = "side"     // written by an editor or desktop next to a document
	ScratchFolder ScratchKind = "folder"   // the same, a folder
	Draft         ScratchKind = "draft"    // a document without content yet, which does nothing
	Rejected      ScratchKind = "rejected" // what was refused, and why
)

// ScratchPlace is a place in a user's scratch area: a name in a folder of
// the drive. Both are compared folded, as the names of the workflow are.
type ScratchPlace struct {
	Folder string // its decoded path, from "/dav", without a slash at its end
	Name   string
}

// Path returns the place as a folder's path.
func (p ScratchPlace) Path() string { return p.Folder + "/" + p.Name }

// Scratch is a file or folder of a user's scratch area. It is never validated,
// started or shown to others, and is deleted after a day by the machine's
// clock.
type Scratch struct {
	ID        int64
	Author    identity.ID
	Place     ScratchPlace
	Kind      ScratchKind
	Locked    bool // of a draft: it ends with the lock that made it
	MediaType string
	Size      int64
	SHA256    Digest
	InFile    bool   // the content is the blob SHA256
	Content   []byte // unless InFile; nil if it was left out
	Created   time.Time
	Modified  time.Time
	Expires   time.Time
}

// ETag is the entity tag of a scratch file, quoted: its content's.
func (s *Scratch) ETag() string { return fmt.Sprintf(`"%x"`, s.SHA256[:16]) }

// ScratchReader reads scratch areas. What has expired is still read.
type ScratchReader interface {
	Get(author identity.ID, at ScratchPlace) (*Scratch, error)

	// In returns what is in the folders, by folder and folded name,
	// without Content.
	In(author identity.ID, folders ...string) ([]Scratch, error)

	// Notes returns why things were refused, and what else the author was told: the files
	// of the kind Rejected with the extension .txt in the folders Rejected/ of the drive,
	// except for what was sent, the newest first, without Content.
	Notes(author identity.ID, limit int) ([]Scratch, error)

	Bytes(author identity.ID) (int64, error)         // with 4 KiB for each row
	Oldest(author identity.ID) (id int64, err error) // the one that was changed first, 0 for none
	NextExpiry() (time.Time, error)                  // the earliest, zero for none
}

// ScratchWriter writes scratch areas.
type ScratchWriter interface {
	// Put stores a row or replaces the one of that author and place,
	// and sets its ID.
	Put(s *Scratch) error

	// Move gives the row, and of a folder all below it, another place,
	// which must be free.
	Move(author identity.ID, from, to ScratchPlace) error
	Delete(author identity.ID, at ScratchPlace) error // and all below it
	DeleteByID(id int64) error

	// DeleteExpired deletes what has expired by then, at most limit
	// rows, and reports how many those were.
	DeleteExpired(now time.Time, limit int) (int64, error)
}

// Normal returns the place with its name in NFC.
func (p ScratchPlace) Normal() ScratchPlace { return ScratchPlace{p.Folder, norm.NFC.String(p.Name)} }

// LockKey is what locks on a side file or draft are on.
func (s *Scratch) LockKey() LockKey { return ScratchKey(s.Author, s.Place) }
