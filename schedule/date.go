package schedule

import (
	"strings"
	"time"

	"flowdrive/internal/clock"
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
	d, err := clock.ParseDate(text, time.UTC)
	switch {
	case err == nil:
		return d.Time, nil
	case err.Range:
		return time.Time{}, problemf(errs.CodeRange, "%s", err.Detail)
	}
	return time.Time{}, notADate(err)
}

// parseEpoch reads seconds since 1970 that came as a string. 8, 12 and 14
// digits are rather a date without its separators, so only lengths that
// cannot be one are taken.
func parseEpoch(text string) (time.Time, *problem) {
	const shortest, longest = 9, 11 // 1973 to 5138
	if len(text) < shortest || len(text) > longest {
		_, err := clock.ParseDate(text, time.UTC)
		return time.Time{}, notADate(err)
	}
	var s int64
	for i := range len(text) {
		s = 10*s + int64(text[i]-'0')
	}
	return time.Unix(s, 0).UTC(), nil
}

// notADate adds to the forms of a date that schedules also take seconds.
func notADate(err *clock.DateError) *problem {
	return problemf(errs.CodeFormat, "%s; or seconds since 1970 as a number", err.Detail)
}
