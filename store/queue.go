package store

import "time"

// Lane is the queued cases of a route, or of a route within a group, that could
// be started.
type Lane struct {
	Group   string // "" for none
	RouteID int64
}

// QueuedCase is a case in a lane.
type QueuedCase struct {
	ID       int64
	Priority int
}

// DueKind is a kind of things that become due. At one instant they come in the
// order of the constants.
type DueKind int

// The kinds of things that become due.
const (
	DueEntry      DueKind = iota // an instant of a schedule entry
	DueCase                      // a timed action of a case, or its start
	DueAttachment                // an attachment expires
	DueRetirement                // the retention of an ended case is over
	DuePurge                     // the children of a deleted case are to go
	DueTrouble                   // people are told again of what is still wrong
	DueMail                      // mails that a user wanted later
	DueSecret                    // a user is told that an app password ends
)

// DueRow is one thing that is due.
type DueRow struct {
	Due  time.Time
	Kind DueKind
	UUID UUID  // of the schedule entry or attachment, else zero
	ID   int64 // of the case, trouble, user or app password, else 0

	Context int64 // whose schedule entry or case it is, as DueShares returns it; else 0
}

// QueueReader reads what is due, what is queued, and what is held.
type QueueReader interface {
	// Lanes returns the lanes that have cases, ascending. Cases that
	// wait for an instant or for earlier ones of their entry are in none.
	Lanes() ([]Lane, error)
	QueuedCases(lane Lane, limit int) ([]QueuedCase, error) // by priority, higher first, then id

	// GroupBusy reports whether a case of the group, other than those ids,
	// keeps others from starting.
	GroupBusy(group string, but []int64) (bool, error)

	// Due returns what is due at or before upTo, by (due, row), at most limit,
	// and when something else is due next. NextDue returns the earliest due
	// time of all. Zero means that nothing is due.
	Due(upTo time.Time, limit int) (rows []DueRow, next time.Time, err error)
	NextDue() (time.Time, error)
	// DueShares returns of more than limit things that are due at or before upTo at
	// most limit, so that each user and team has an equal share, by (due, row).
	DueShares(upTo time.Time, limit int) ([]DueRow, error)

	// Ahead says what a unit is about to read. A store that is far away reads it at once.
	Ahead(of Ahead) error

	HoldReader
}

// Ahead is what a unit is about to read.
type Ahead struct {
	Entries     []UUID  // schedule entries that are fired
	Occurrences int     // so many of the last ones of each of them
	Cases       []int64 // cases that are decided on, with the schedule entries that have made them
}

// QueueWriter writes what holds cases back.
type QueueWriter interface{ HoldWriter }
