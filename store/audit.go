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

// AuditHead says how far the audit log goes.
type AuditHead struct {
	Number     int64    // of the last line, 0 if none has a number
	SHA256     [32]byte // of the last line, without its end
	Unnumbered int64    // how many older lines there are that have no numbers
}

// AuditReader reads the audit log.
type AuditReader interface {
	Days() ([]AuditDay, error) // ascending
	Day(day int64) (*AuditDay, error)

	// Text returns a part of a day's text that begins at the offset, of
	// at most that many lines; nothing at its end.
	Text(day, offset int64, lines int) ([]byte, error)

	// Lines returns at most n lines of a day that begin at the offset or behind it, each
	// with the offset at which it was written.
	Lines(day, from int64, n int) ([]AuditLine, error)

	Head() (AuditHead, error)
}

// AuditLine is a line of the audit log.
type AuditLine struct {
	Start int64 // the offset in the text of its day
	Text  []byte
}

// AuditWriter writes the audit log.
type AuditWriter interface {
	Append(when time.Time, line []byte) error // line ends the line
	PutHead(AuditHead) error
}
