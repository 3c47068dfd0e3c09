package store

import (
	"time"

	"flowdrive/internal/identity"
)

// HistoryEntry is a source document that was overwritten or deleted: its author and
// administrators find it under .history/ of its folder for thirty days
// (docs/contract/drive.md#history).
type HistoryEntry struct {
	ID       int64
	Folder   Folder
	AuthorID identity.ID
	Name     string    // of the file
	Replaced time.Time // when, in whole seconds; unique for a name
	ETag     string
	Size     int64
	Source   []byte // nil if it was left out
}

// Tombstone is what is kept of a deleted entry or route for a while, so that a
// PUT of the same name restores it.
type Tombstone struct {
	User    identity.ID // who deleted it
	Folder  Folder
	Name    string
	Deleted time.Time
	Kept    []byte // JSON
}

// HistoryReader reads what was stored before.
type HistoryReader interface {
	// List returns what was replaced in the folder after the instant, without
	// Source, by author, name and time. If author is 0 it returns that of all
	// authors.
	List(folder Folder, author identity.ID, after time.Time) ([]HistoryEntry, error)
	Get(id int64) (*HistoryEntry, error)

	// Any reports whether List would return something.
	Any(folder Folder, author identity.ID, after time.Time) (bool, error)

	// Tombstone returns the tombstone of what the user deleted under the name
	// after the instant. It returns errs.NotFound if there is none.
	Tombstone(user identity.ID, folder Folder, name string, after time.Time) (kept []byte, err error)
}

// HistoryWriter writes what was stored before.
type HistoryWriter interface {
	// Insert stores a source, in the next second that the name has free.
	Insert(p *HistoryEntry) error
	DeleteBefore(t time.Time, limit int) error

	// PutTombstone stores a tombstone, and deletes those from before the
	// instant.
	PutTombstone(t *Tombstone, before time.Time) error
	DeleteTombstone(user identity.ID, folder Folder, name string) error
}
