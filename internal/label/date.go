package label

import (
	"strconv"
	"strings"
	"time"

	"flowdrive/internal/clock"
)

// isoDate is the form of every date that arithmetic works on.
const isoDate = "2006-01-02"

// local returns the time as clocks of the zone show it.
func (v *Values) local(t time.Time) time.Time {
	if v.Zone == nil || t.IsZero() {
		return t.UTC()
	}
	return t.In(v.Zone)
}

// instant returns the labels of a moment that are not a plain YYYY-MM-DD.
func (v *Values) instant(name string) (value string, known bool) {
	now := v.local(v.Now)
	var layout string
	switch name {
	case "DATE":
		layout = "20060102"
	case "USCIVILIANDATE":
		layout = "01/02/2006"
	case "DATETIME":
		layout = "20060102T15:04"
	case "OMPHALOSDATETIME":
		layout = "2006-01-02 15:04"
	case "NOW_Y2":
		layout = "06"
	case "NOW_Y4":
		layout = "2006"
	case "NOW_M2":
		layout = "01"
	case "WEEKOFMONTH":
		return weekOfMonth(now), inYears(now)
	case "SCHEDULEDFOR":
		if v.ScheduledFor.IsZero() {
			return "", true
		}
		at := v.ScheduledFor.UTC()
		return at.Format(time.RFC3339), inYears(at)
	default:
		return "", false
	}
	return now.Format(layout), inYears(now)
}

// date returns a YYYY-MM-DD label, with its arithmetic done: NAME, or NAME
// followed by a sign, digits and D, W, M or Y.
func (v *Values) date(name string) (value string, known bool) {
	arithmetic := ""
	if i := strings.IndexAny(name, "+-"); i >= 0 {
		name, arithmetic = name[:i], name[i:]
	}
	t, known := v.day(name)
	if !known {
		return "", false
	}
	var shift func(time.Time) time.Time
	if arithmetic != "" {
		if shift = parseShift(arithmetic); shift == nil {
			return "", false
		}
	}
	if t.IsZero() && name == "INITDATE" { // there is no case yet
		return "", true
	}
	if shift != nil && inYears(t) {
		t = shift(t)
	}
	return t.Format(isoDate), inYears(t)
}

// day returns the day that the label names, at midnight.
func (v *Values) day(name string) (t time.Time, known bool) {
	year, month, day := v.local(v.Now).Date()
	date := func(month time.Month, day int) (time.Time, bool) {
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC), true
	}
	switch name {
	case "TODAY", "OMPHALOSDATE":
		return date(month, day)
	case "YESTERDAY":
		return date(month, day-1)
	case "TOMORROW":
		return date(month, day+1)
	case "WEEKAGO":
		return date(month, day-7)
	case "FORTNIGHTAGO":
		return date(month, day-14)
	case "MONTHAGO": // exactly 30 days, in any month
		return date(month, day-30)
	case "MONTHSTART":
		return date(month, 1)
	case "MONTHEND":
		return date(month+1, 0)
	case "LASTMONTHSTART":
		return date(month-1, 1)
	case "LASTMONTHEND":
		return date(month, 0)
	case "YEARSTART":
		return date(time.January, 1)
	case "QUARTERSTART":
		return date(month-(month-1)%3, 1)
	case "WEEKSTART":
		return date(month, day-sinceMonday(v.local(v.Now)))
	case "INITDATE":
		return v.local(v.Created), true
	}
	return time.Time{}, false
}

// parseShift reads a sign, digits and a unit; nil for anything else, and for
// numbers that leave the calendar anyway.
func parseShift(text string) func(time.Time) time.Time {
	const mostDigits = 7 // 9,999 years are 3,652,059 days
	if len(text) < len("+1D") {
		return nil
	}
	digits, unit := text[1:len(text)-1], text[len(text)-1]
	if len(digits) > mostDigits || strings.Trim(digits, "0123456789") != "" {
		return nil
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return nil
	}
	if text[0] == '-' {
		n = -n
	}
	switch unit {
	case 'D':
		return func(t time.Time) time.Time { return t.AddDate(0, 0, n) }
	case 'W':
		return func(t time.Time) time.Time { return t.AddDate(0, 0, 7*n) }
	case 'M':
		return func(t time.Time) time.Time { return clock.AddMonths(t, n) }
	case 'Y':
		return func(t time.Time) time.Time { return clock.AddMonths(t, 12*n) }
	}
	return nil
}

// inYears reports whether four digits can name the year.
func inYears(t time.Time) bool { return 1 <= t.Year() && t.Year() <= 9999 }

// sinceMonday counts the days of the week before t's.
func sinceMonday(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

// weekOfMonth returns the days of t's week, Monday to Sunday, that are in t's
// month: "05-11", and "01-04" if a month begins on a Thursday.
func weekOfMonth(t time.Time) string {
	monday := t.Day() - sinceMonday(t)
	last := time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return twoDigits(max(monday, 1)) + "-" + twoDigits(min(monday+6, last))
}

func twoDigits(n int) string { return string([]byte{byte('0' + n/10), byte('0' + n%10)}) }
