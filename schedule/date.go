package schedule

import (
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// ParseTime reads a date of a document: 20121109T230000, 2012-11-09 23:00:00 or
// 2012-11-09T23:00:00, all with or without seconds and an offset (RFC 3339),
// 2012-11-09, or seconds since 1970. It is UTC unless an offset is given, and
// must be in the years 1970 to 9999. A fraction of a second is cut off. If the
// text is not such a date, ok is false and v has a fault.
func ParseTime(v document.Value) (t time.Time, ok bool) {
	if v.Node != nil && v.Node.Kind == document.Number {
		s, ok := v.Int(0, lastSecond)
		return time.Unix(s, 0).UTC(), ok
	}
	text, ok := v.Str()
	if !ok {
		return time.Time{}, false
	}
	t, p := parseTime(text)
	if p != nil {
		v.Fail(p.code, "%s", p.detail)
		return time.Time{}, false
	}
	return t, true
}

// ParseTimeText reads a date as [ParseTime] does. The error is of kind
// Invalid.
func ParseTimeText(text string) (time.Time, error) {
	t, p := parseTime(text)
	if p != nil {
		return time.Time{}, errs.New(errs.Invalid, "%s", p.detail)
	}
	return t, nil
}

func parseTime(text string) (time.Time, *problem) {
	text = strings.TrimSpace(text)
	if _, ok := digits(text); ok {
		return parseEpoch(text)
	}
	d := dateScanner{rest: text}
	t, inRange := d.date()
	switch {
	case d.bad:
		return time.Time{}, notADate(text)
	case !inRange:
		return time.Time{}, problemf(errs.CodeRange, "%q does not exist in the calendar", text)
	case t.Unix() < 0 || t.Unix() > lastSecond:
		return time.Time{}, problemf(errs.CodeRange, "%q is not in the years %d to %d", text, firstYear, lastYear)
	}
	return t, nil
}

// parseEpoch reads seconds since 1970 that came as a string. 8, 12 and 14
// digits are rather a date without its separators, so only lengths that
// cannot be one are taken.
func parseEpoch(text string) (time.Time, *problem) {
	const shortest, longest = 9, 11 // 1973 to 5138
	if len(text) < shortest || len(text) > longest {
		return time.Time{}, notADate(text)
	}
	var s int64
	for i := range len(text) {
		s = 10*s + int64(text[i]-'0')
	}
	return time.Unix(s, 0).UTC(), nil
}

func notADate(text string) *problem {
	if r := []rune(text); len(r) > 40 {
		text = string(r[:40]) + "…"
	}
	return problemf(errs.CodeFormat,
		"%q is not a date: write 2012-11-09T23:00:00, 2012-11-09 23:00, 20121109T230000, 2012-11-09, 2012-11-09T23:00:00+01:00, or seconds since 1970 as a number", text)
}

// dateScanner takes a date apart from left to right.
type dateScanner struct {
	rest string
	bad  bool
}

// date reads the whole text. inRange is false if a number is too large for its
// place.
func (d *dateScanner) date() (t time.Time, inRange bool) {
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
	case d.skip("Tt") || dashes && d.skip(" "):
		hour, minute, second = d.clock(dashes)
		offset, inRange = d.offset()
	default:
		d.bad = true
	}
	if d.rest != "" {
		d.bad = true
	}
	if d.bad {
		return time.Time{}, false
	}
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59 {
		inRange = false
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC).Add(-offset), inRange
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
	value, ok := digits(d.rest[:n])
	d.rest = d.rest[n:]
	d.bad = d.bad || !ok
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
