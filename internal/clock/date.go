package clock

import (
	"fmt"
	"strings"
	"time"
)

// DateForm names the forms in which people write dates, with examples.
const DateForm = "2012-11-09T23:00:00, 2012-11-09 23:00, 20121109T230000, 2012-11-09, or one of these times with an offset, as 2012-11-09T23:00:00+01:00"

// Date is a date as somebody has written it.
type Date struct {
	Time  time.Time // its instant, in UTC, to the second
	Day   bool      // there is no time of day: Time is the beginning of the day
	Fixed bool      // it has an offset, so that no zone was asked
}

// DateError says why a text is not a date.
type DateError struct {
	Range  bool // it has the form of a date, but there is no such date, or it is not in the years 1970 to 9999
	Detail string
}

// Error implements error.
func (e *DateError) Error() string { return e.Detail }

// ParseDate reads a date: 2012-11-09T23:00:00, 2012-11-09 23:00:00 or
// 20121109T230000, with or without seconds and an offset (RFC 3339), or
// 2012-11-09. Without an offset it is a date of the zone; nil is UTC. A time
// that the zone's clocks pass over is as much later as they are put forward, of
// one that they show twice it is the first. A fraction of a second is cut off.
func ParseDate(text string, zone *time.Location) (Date, *DateError) {
	text = strings.TrimSpace(text)
	s := dateScanner{rest: text}
	d, inRange := s.date(zone)
	const firstSecond, lastSecond = 0, 253402300799 // 1970-01-01T00:00:00Z, 9999-12-31T23:59:59Z
	switch {
	case s.bad:
		return Date{}, notADate(text)
	case !inRange:
		return Date{}, &DateError{true, fmt.Sprintf("%q does not exist in the calendar", text)}
	case d.Time.Unix() < firstSecond || d.Time.Unix() > lastSecond:
		return Date{}, &DateError{true, fmt.Sprintf("%q is not in the years 1970 to 9999", text)}
	}
	return d, nil
}

// ParseEnd reads until when something lasts, as [ParseDate] does. A date without a time of
// day includes that whole day: it ends when the next one begins.
func ParseEnd(text string, zone *time.Location) (Date, *DateError) {
	d, err := ParseDate(text, zone)
	if err != nil || !d.Day {
		return d, err
	}
	at := d.Time
	if zone != nil {
		at = at.In(zone)
	}
	return ParseDate(at.AddDate(0, 0, 1).Format(time.DateOnly), zone)
}

func notADate(text string) *DateError {
	const longest = 40
	if r := []rune(text); len(r) > longest {
		text = string(r[:longest]) + "…"
	}
	return &DateError{false, fmt.Sprintf("%q is not a date: write %s", text, DateForm)}
}

// inZone returns the instant at which clocks of the zone show the time that t
// shows in UTC.
func inZone(t time.Time, zone *time.Location) time.Time {
	if zone == nil {
		return t
	}
	at := func(near time.Duration) time.Time {
		_, offset := t.Add(near).In(zone).Zone()
		return t.Add(-time.Duration(offset) * time.Second)
	}
	shows := func(at time.Time) bool {
		_, offset := at.In(zone).Zone()
		return at.Add(time.Duration(offset) * time.Second).Equal(t)
	}
	const day = 24 * time.Hour // no zone is as far from UTC
	before, after := at(-day), at(day)
	if !shows(before) && shows(after) {
		return after
	}
	return before
}

// dateScanner takes a date apart from left to right.
type dateScanner struct {
	rest string
	bad  bool
}

// date reads the whole text. inRange is false if a number is too large for its
// place.
func (d *dateScanner) date(zone *time.Location) (out Date, inRange bool) {
	year := d.number(4)
	dashes := d.skip("-")
	month := d.number(2)
	if dashes {
		d.must("-")
	}
	day := d.number(2)
	var hour, minute, second int
	var offset time.Duration
	inRange = true
	switch {
	case dashes && d.rest == "":
		out.Day = true
	case d.skip("Tt") || dashes && d.skip(" "):
		hour, minute, second = d.clock(dashes)
		out.Fixed = d.rest != ""
		offset, inRange = d.offset()
	default:
		d.bad = true
	}
	if d.rest != "" {
		d.bad = true
	}
	if d.bad {
		return Date{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	if y, m, on := t.Date(); y != year || int(m) != month || on != day || hour > 23 || minute > 59 || second > 59 {
		inRange = false
	}
	if out.Time = t.Add(-offset); !out.Fixed {
		out.Time = inZone(t, zone)
	}
	return out, inRange
}

// clock reads hour, minute, and seconds with a fraction if there are any.
func (d *dateScanner) clock(colons bool) (hour, minute, second int) {
	hour = d.number(2)
	if colons {
		d.must(":")
	}
	minute = d.number(2)
	if colons && d.skip(":") || !colons && d.rest != "" && d.rest[0] >= '0' && d.rest[0] <= '9' {
		second = d.number(2)
		if d.skip(".,") {
			d.number(1)
			d.rest = strings.TrimLeft(d.rest, "0123456789")
		}
	}
	return hour, minute, second
}

// offset reads Z, +01:00, +0100 or nothing.
func (d *dateScanner) offset() (offset time.Duration, inRange bool) {
	if d.rest == "" || d.skip("Zz") {
		return 0, true
	}
	west := d.rest[0] == '-'
	d.must("+-")
	hours := d.number(2)
	d.skip(":")
	minutes := d.number(2)
	offset = time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if west {
		offset = -offset
	}
	return offset, hours <= 23 && minutes <= 59
}

// number takes exactly n digits.
func (d *dateScanner) number(n int) int {
	if len(d.rest) < n {
		d.bad = true
		return 0
	}
	value := 0
	for _, c := range []byte(d.rest[:n]) {
		if c < '0' || c > '9' {
			d.bad = true
			return 0
		}
		value = 10*value + int(c-'0')
	}
	d.rest = d.rest[n:]
	return value
}

// skip takes one character if it is one of set.
func (d *dateScanner) skip(set string) bool {
	if d.rest == "" || strings.IndexByte(set, d.rest[0]) < 0 {
		return false
	}
	d.rest = d.rest[1:]
	return true
}

func (d *dateScanner) must(set string) {
	if !d.skip(set) {
		d.bad = true
	}
}
