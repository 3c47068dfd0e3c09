package store

import (
	"time"

	"flowdrive/internal/identity"
)

// Entry is a stored schedule entry. Everything about it is in Form, the
// complete form; the other fields are what the store looks entries up by.
type Entry struct {
	Seq        int64 // order of creation, set by the store
	UUID       UUID
	ContextID  identity.ID
	AuthorID   identity.ID
	RouteID    int64
	Type       string
	Definition int64     // counts PUTs; If-Match compares it
	Revision   int64     // counts every change of Form
	Due        time.Time // zero: never again
	Attachment UUID      // that its cases take as their input, zero: none
	Paused     time.Time // since when, zero: it is not
	Form       []byte
	Created    time.Time
	Modified   time.Time
}

// EntryFilter selects schedule entries. Zero fields select all.
type EntryFilter struct {
	Contexts []identity.ID // nil: all
	RouteID  int64
	Type     string
	After    int64 // Seq
	Limit    int   // 0: all
}

// EntryReader reads schedule entries.
type EntryReader interface {
	Get(uuid UUID) (*Entry, error)
	List(f EntryFilter) ([]Entry, error) // by Seq
	Count(author identity.ID) (int64, error)
	Holding(text string) ([]Entry, error) // those in whose forms the text stands, by Seq
	// Upcoming returns the entries of the contexts that are due before
	// an instant: those that are due first, by Seq.
	Upcoming(contexts []identity.ID, before time.Time, limit int) ([]Entry, error)
	Occurrences(entry UUID, limit int) ([]Occurrence, error) // newest first
	// OccurrencesBefore returns the newest ones whose instants are before one.
	OccurrencesBefore(entry UUID, before time.Time, limit int) ([]Occurrence, error)
	FailedCases(ids []int64) ([]int64, error) // those of the cases that have failed, by ID

	EndedReader
}

// EntryWriter writes schedule entries.
type EntryWriter interface {
	Insert(e *Entry) error  // sets Seq
	Update(e *Entry) error  // by UUID
	Delete(uuid UUID) error // with its given name

	// InsertOccurrence records what became of an instant. The pair (entry,
	// instant) is unique: a second one is errs.NameTaken. Occurrences outlive
	// their entry.
	InsertOccurrence(o *Occurrence) error
	// RedoOccurrence is InsertOccurrence, but it replaces an occurrence that
	// has no case.
	RedoOccurrence(o *Occurrence) error

	EndedWriter
}

// Occurrence records the outcome of one instant of an entry.
type Occurrence struct {
	Entry     UUID
	ContextID identity.ID // of the entry: its members may read the row
	Instant   time.Time
	Outcome   string // fired, late, skipped, failed
	Reason    string
	CaseID    int64 // 0: none
	FiredAt   time.Time

	// What has become of its case; "" without one. Set by the store.
	State     string
	Status    string
	Completed time.Time // zero while it is not
}
