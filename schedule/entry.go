package schedule

import (
	"slices"
	"time"

	"flowdrive/internal/errs"
)

// Type is the kind of an entry's recurrence.
type Type string

// The types of entries.
const (
	TypeSimple   Type = "simple"   // once, at a date
	TypeInterval Type = "interval" // at a start and then every so many seconds
	TypeCron     Type = "cron"     // by the fields of a calendar
	TypeCrontab  Type = "crontab"  // by a crontab line
)

// Entry is a schedule entry with every field of its complete form
// (docs/contract/schedule.md#1-the-entry). Times are UTC and cut to seconds.
// The zero time, 0 and "" stand for the form's null.
type Entry struct {
	UUID      string // 32 lower-case hexadecimal digits
	Type      Type
	RouteID   int64
	Route     string
	ContextID int64
	Context   string
	Priority  int

	Cron     CronFields    // cron: canonical text
	Spec     string        // crontab: canonical text
	Units    Units         // interval: as they were given
	Interval time.Duration // interval: their total
	Date     time.Time     // simple: the instant; interval: the start of the grid

	XattrDict      []XAttr
	AttachmentUUID string // 32 lower-case hexadecimal digits
	Document       string // decoded path

	NextIteration       time.Time
	IterationsPerformed int64
	IterationsRemaining int64 // -1: without limit
	Repeat              int64 // 0: without limit

	Policies
	Heartbeat Heartbeat
	Paused    bool
	Note      string
	Title     string

	Description   string
	Upcoming      []time.Time // the next few, NextIteration first
	LastIteration time.Time
	LastCase      int64
	LastError     string
	CannotStart   []string // warnings of the server: what keeps all cases from starting
	Unknown       []string // warnings of the server: XATTRs that the route does not know
	Unfilled      []string // a warning of the server: labels that nothing has filled in the last case
	Created       time.Time
	Modified      time.Time // of the definition; firings leave it alone

	recurrence backward
	calendar   *calendar // of cron and crontab, in wall time
	zones      Zones
	holidays   []Span    // of its ExcludeCalendar
	held       time.Time // what would be next if the entry were not paused; set by Read
}

// Units are the parts of an interval as its document gave them, nil for those
// that it did not give.
type Units struct {
	Weeks, Days, Hours, Minutes, Seconds *int64
}

// upcomingCount is how many instants Upcoming holds at most.
const upcomingCount = 5

// Schedule returns the entry's recurrence, or nil if its definition has faults.
func (e *Entry) Schedule() Schedule {
	if e.recurrence == nil && e.compile() != nil {
		return nil
	}
	return e.recurrence
}

// compile makes the recurrence from the fields of the entry's type.
func (e *Entry) compile() (p *problem) {
	c, p := e.pattern()
	if p != nil {
		return p
	}
	return e.place(c)
}

// place puts the recurrence, with c its calendar if it has one, into the
// entry's zone and between its bounds.
func (e *Entry) place(c *calendar) *problem {
	zone := e.location()
	if zone == nil {
		return problemf(errs.CodeNotFound, "there is no time zone %q", e.Timezone)
	}
	e.calendar = c
	if c != nil && zone != time.UTC {
		e.recurrence = inZone(c, zone, &e.Policies)
	} else if c != nil {
		e.recurrence = c
	}
	e.recurrence = e.restricted(e.recurrence, zone)
	return nil
}

// location returns the entry's time zone, or nil if there is no zone of that
// name.
func (e *Entry) location() *time.Location {
	if e.Timezone == zoneUTC || e.Timezone == "" {
		return time.UTC
	}
	if e.zones == nil {
		return nil
	}
	return e.zones(e.Timezone)
}

// pattern makes the recurrence in UTC. c is nil for types without a calendar,
// which have no zones.
func (e *Entry) pattern() (c *calendar, p *problem) {
	switch e.Type {
	case TypeSimple:
		e.recurrence = once(e.Date.Unix())
	case TypeInterval:
		e.recurrence = grid{anchor: e.Date.Unix(), period: max(int64(e.Interval/time.Second), 1)}
	case TypeCron:
		fields := e.Cron
		c = parseFields(&fields, func(_ int, found *problem) { p = found })
	case TypeCrontab:
		c, _, p = parseCrontab(e.Spec)
	default:
		p = problemf(errs.CodeRange, "%q is not a type of entry", e.Type)
	}
	return c, p
}

// sameRecurrence reports whether both entries happen at the same instants.
func (e *Entry) sameRecurrence(other *Entry) bool {
	return e.Type == other.Type && e.Cron == other.Cron && e.Spec == other.Spec &&
		e.Interval == other.Interval && e.Date.Equal(other.Date) && e.Timezone == other.Timezone &&
		e.DSTGap == other.DSTGap && e.DSTOverlap == other.DSTOverlap && e.Start.Equal(other.Start) && e.End.Equal(other.End) &&
		slices.Equal(e.Exclude, other.Exclude) && e.ExcludeCalendar == other.ExcludeCalendar
}

// setNext puts the entry's next instant, zero for none, and what is derived
// from it.
func (e *Entry) setNext(next time.Time) {
	e.NextIteration = next
	e.IterationsRemaining = e.remaining()
	e.Upcoming = nil
	if !next.IsZero() {
		e.Upcoming = Preview(e, next, upcomingCount)
	}
}

// remaining returns how many cases the entry will still create, -1 for
// without limit.
func (e *Entry) remaining() int64 {
	switch {
	case e.Type == TypeSimple:
		return 1
	case e.Repeat == 0:
		return -1
	}
	return e.Repeat - e.IterationsPerformed
}

// Preview returns the entry's next n instants from the given one on, as far
// as its repeat allows. It begins with NextIteration at the earliest.
func Preview(e *Entry, from time.Time, n int) []time.Time {
	s := e.Schedule()
	at := e.NextIteration
	if at.IsZero() || s == nil {
		return nil
	}
	if at.Before(from) {
		at = s.Next(from.Add(-1))
	}
	if left := e.remaining(); left >= 0 {
		n = int(min(int64(n), left))
	}
	var out []time.Time
	for ; len(out) < n && !at.IsZero(); at = s.Next(at) {
		out = append(out, at)
	}
	return out
}
