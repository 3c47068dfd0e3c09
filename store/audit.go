package store

import "time"

// AuditDay is what there is of a day of the audit log: a text that only grows, a
// line of JSON a row.
type AuditDay struct {
	Day   int64 // since 1 January 1970
	Size  int64
	First time.Time
	Last  time.Time
}

// AuditDayOf returns the day of an instant, in UTC.
func AuditDayOf(t time.Time) int64 {
	const day = 24 * 60 * 60
	seconds := t.Unix()
	return (seconds - ((seconds%day)+day)%day) / day
}

// AuditReader reads the audit log.
type AuditReader interface {
	Days() ([]AuditDay, error) // ascending
	Day(day int64) (*AuditDay, error)

	// Text returns a part of a day's text that begins at the offset, of
	// at most that many lines; nothing at its end.
	Text(day, offset int64, lines int) ([]byte, error)
}

// AuditWriter writes the audit log.
type AuditWriter interface {
	Append(when time.Time, line []byte) error // line ends the line
}
