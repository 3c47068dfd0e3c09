package store

import "time"

// Lane is where queued cases wait that could be started: those of a route, or
// those of a route within a group.
type Lane struct {
	Group   string // "" for none
	RouteID int64
}

// QueuedCase is a case in a lane.
type QueuedCase struct {
	ID       int64
	Priority int
}

// DueRow is a schedule entry or case of which something is due, an attachment
// that expires, a case whose retention is over, or a deleted one whose children
// are to go.
type DueRow struct {
	Due        time.Time
	Entry      UUID  // of a schedule entry, else zero
	CaseID     int64 // of a case, else 0
	Attachment UUID  // of an attachment, else zero
	Retired    int64 // of a case whose retention is over, else 0
	Purge      int64 // of a deleted case, else 0
}

// QueueReader reads what is due, what is queued, and what is held.
type QueueReader interface {
	// Lanes returns the lanes that have cases, ascending. Cases that
	// wait for an instant or for earlier ones of their entry are in none.
	Lanes() ([]Lane, error)
	QueuedCases(lane Lane, limit int) ([]QueuedCase, error) // by priority, higher first, then id

	// GroupBusy reports whether a case of the group, but for those ids, keeps
	// others from starting.
	GroupBusy(group string, but []int64) (bool, error)

	// Due returns what is due at or before upTo, by (due, row), at most
	// limit, and when something else is due next; NextDue the earliest due
	// instant of all. Zero is none.
	Due(upTo time.Time, limit int) (rows []DueRow, next time.Time, err error)
	NextDue() (time.Time, error)

	HoldReader
}

// QueueWriter writes what holds cases back.
type QueueWriter interface{ HoldWriter }
