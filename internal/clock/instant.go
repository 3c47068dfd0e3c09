package clock

import "time"

// InstantForm says how an instant is written.
const InstantForm = `an instant or a date, as "2012-11-09T12:34:56Z", "2012-11-09 12:34" or "2012-11-09"`

// ParseMoment reads what people write for an instant: an instant, or a date of
// the zone as [ParseDate] reads it. A date without a time is the beginning of its
// day.
func ParseMoment(text string, zone *time.Location) (t time.Time, ok bool) {
	if t, ok = ParseInstant(text); ok {
		return t, true
	}
	d, err := ParseDate(text, zone)
	return d.Time, err == nil
}

// ParseInstant reads an instant: RFC 3339, zone included, of a year that can
// be written in UTC as well. What is finer than Precision is cut off.
func ParseInstant(text string) (t time.Time, ok bool) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, false
	}
	if t = Trim(t); t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, false
	}
	return t, true
}
