package clock

import "time"

// InstantForm says how an instant is written.
const InstantForm = `an instant with its zone, as "2012-11-09T12:34:56Z" or "2012-11-09T13:34:56+01:00"`

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
