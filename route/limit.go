package route

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"flowdrive/internal/clock"
)

// LimitKind is the kind of a timer's limit.
type LimitKind string

// The kinds of limits.
const (
	NoLimit       LimitKind = ""
	RelativeLimit LimitKind = "relative"
	AbsoluteLimit LimitKind = "absolute"
)

// Limit is how long a timer runs, or until when. The zero Limit stands for no
// limit.
type Limit struct {
	Kind  LimitKind     `json:"k,omitempty"`
	After time.Duration `json:"s,omitempty"` // of a relative one
	At    time.Time     `json:"t,omitzero"`  // of an absolute one
}

// LimitForm says which forms a limit has, wherever one is set.
const LimitForm = "a duration in weeks, days, hours, minutes, seconds such as P3D or PT5M, whole seconds, " +
	"an instant such as 2004-09-15T21:59:00+01:00, a date such as 2004-09-15 or 2004-09-15 21:59, or null"

// ParseLimit reads the text of a limit: a duration without years and months,
// whole seconds, an instant, or a date of the zone
// (docs/contract/timers.md#limits). The error says what a limit must be.
func ParseLimit(text string, zone *time.Location) (Limit, error) {
	text = strings.TrimSpace(text)
	if limit, ok := secondsLimit(text); ok {
		return limit, nil
	}
	if strings.HasPrefix(text, "P") {
		d, err := clock.ParseDuration(text)
		switch {
		case err != nil:
			return Limit{}, fmt.Errorf("must be %s, not %q", LimitForm, clip(text))
		case d.Months != 0:
			return Limit{}, errors.New("must not have years or months, which have no fixed length: give the date instead, or days")
		}
		return Limit{Kind: RelativeLimit, After: d.Exact}, nil
	}
	at, ok := clock.ParseMoment(text, zone)
	if !ok || at.IsZero() {
		return Limit{}, fmt.Errorf("must be %s, not %q%s", LimitForm, clip(text), writeLong(text))
	}
	return Limit{Kind: AbsoluteLimit, At: at}, nil
}

// writeLong says how a length of time in short is written in documents, "" of any other text.
func writeLong(text string) string {
	if long := clock.Longhand(text); long != "" {
		return ": write " + long
	}
	return ""
}

// secondsLimit reads a limit that is a text of digits.
func secondsLimit(text string) (l Limit, ok bool) {
	const longest = 7 // digits; more are rather a date without its separators
	if len(text) > longest || strings.Trim(text, "0123456789") != "" {
		return Limit{}, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return Limit{}, false
	}
	return SecondsLimit(n)
}

// SecondsLimit returns the relative limit of n seconds; ok is false if n is
// negative or too large.
func SecondsLimit(n int64) (l Limit, ok bool) {
	d, ok := clock.Seconds(n)
	return Limit{Kind: RelativeLimit, After: d.Exact}, ok
}

// limitOf returns the limit that a definition gives; nil stands for no limit.
func limitOf(d *clock.Duration) Limit {
	if d == nil {
		return Limit{}
	}
	return Limit{Kind: RelativeLimit, After: d.Exact}
}

// From returns the instant at which a timer expires that begins to run now,
// zero for never. What lies beyond the years that a date can carry is never.
func (l Limit) From(now time.Time) time.Time {
	const lastYear = 9999 // RFC 3339
	var at time.Time
	switch l.Kind {
	case RelativeLimit:
		at = clock.Trim(now.Add(l.After))
	case AbsoluteLimit:
		at = l.At
	case NoLimit:
	}
	if at.Year() > lastYear {
		return time.Time{}
	}
	return at
}

// String returns the limit as a resource shows it, "" for none.
func (l Limit) String() string {
	switch l.Kind {
	case RelativeLimit:
		return clock.Duration{Exact: l.After}.String()
	case AbsoluteLimit:
		return l.At.UTC().Format(time.RFC3339)
	case NoLimit:
	}
	return ""
}
