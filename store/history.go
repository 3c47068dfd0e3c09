package store

import (
	"time"

	"flowdrive/internal/identity"
)

// Past is a source document that was overwritten or deleted: its author and
// administrators find it under .history/ of its folder for thirty days
// (docs/contract/drive.md#history).
type Past struct {
	ID       int64
	Folder   Folder
	AuthorID identity.ID
	Name     string    // of the file
	Replaced time.Time // when, in whole seconds; unique for a name
	ETag     string
	Size     int64
	Source   []byte // nil where it was left out
}

// HistoryReader reads what was stored before.
type HistoryReader interface {
	// List returns what was replaced in the folder after the instant, of
	// the author or, where that is 0, of all, without Source, by author, name
	// and time.
	List(folder Folder, author identity.ID, after time.Time) ([]Past, error)
	Get(id int64) (*Past, error)

	// Departed returns what the user deleted under the name after the instant.
	Departed(user identity.ID, folder Folder, name string, after time.Time) (remains []byte, err error)
}

// HistoryWriter writes what was stored before.
type HistoryWriter interface {
	// Insert stores a source, in the next second that the name has free.
	Insert(p *Past) error
	DeleteBefore(t time.Time, limit int) error

	// PutDeparted notes what a user has deleted, as JSON, and forgets what was
	// deleted before the instant.
	PutDeparted(user identity.ID, folder Folder, name string, deleted time.Time, remains []byte, before time.Time) error
	DeleteDeparted(user identity.ID, folder Folder, name string) error
}
