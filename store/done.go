package store

import (
	"time"

	"flowdrive/internal/identity"
)

// DoneTask is a performance of an action by a user, kept for a while so that the
// user can look it up.
type DoneTask struct {
	User   identity.ID
	Time   time.Time
	CaseID int64
	Seq    int64 // of its log entry
	Action string
	Form   []byte // one line of JSON
}

// DoneReader reads what users have performed.
type DoneReader interface {
	// Done returns what the user has performed after an instant, the newest first, at
	// most limit.
	Done(user identity.ID, after time.Time, limit int) ([]DoneTask, error)
}

// DoneWriter writes what users have performed.
type DoneWriter interface {
	InsertDone(d *DoneTask) error
	DeleteDoneBefore(before time.Time, limit int) error // at most so many, and those of the last instant
}
