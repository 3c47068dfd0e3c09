package store

import (
	"time"

	"flowdrive/internal/identity"
)

// EndedEntry is what is kept of a schedule entry that has ended, so that people
// find for thirty days what became of it. Its occurrences are kept for good.
type EndedEntry struct {
	UUID      UUID
	ContextID identity.ID
	Author    identity.ID // of its given name, 0: it had none
	Name      string      // its given name
	Actor     string      // who deleted it, "": its last instant has passed
	Ended     time.Time
	Form      []byte // its complete form, as it was last
}

// EndedReader reads entries that have ended.
type EndedReader interface {
	Ended(uuid UUID) (*EndedEntry, error)
	// AllEnded returns the entries of the contexts, of all if they are nil, that have
	// ended after an instant: the newest first, at most limit.
	AllEnded(contexts []identity.ID, after time.Time, limit int) ([]EndedEntry, error)
}

// EndedWriter writes entries that have ended.
type EndedWriter interface {
	PutEnded(e *EndedEntry) error
	DeleteEnded(uuid UUID) error                         // nothing if there is none
	DeleteEndedBefore(before time.Time, limit int) error // at most so many
}
