package clock

import (
	"testing"
	"time"
)

func TestParseInstant(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"2012-11-09T12:34:56Z":         time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC),
		"2012-11-09T13:34:56+01:00":    time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC),
		"2012-11-09T12:34:56.1234567Z": time.Date(2012, 11, 9, 12, 34, 56, 123e6, time.UTC),
		"9999-12-31T23:59:59Z":         time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		"0001-01-01T00:00:00+01:00":    {},
		"9999-12-31T23:59:59-01:00":    {},
		"2012-11-09T12:34:56":          {},
		"2012-11-09":                   {},
		"2012-02-30T00:00:00Z":         {},
		"P2D":                          {},
		"":                             {},
	} {
		got, ok := ParseInstant(text)
		if !got.Equal(want) || ok == want.IsZero() || ok && got.Location() != time.UTC {
			t.Errorf("ParseInstant(%q) = %v, %t; want %v", text, got, ok, want)
		}
	}
}

func FuzzParseInstant(f *testing.F) {
	f.Add("2012-11-09T12:34:56Z")
	f.Add("2012-11-09T13:34:56.5+01:00")
	f.Add("next friday")
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := ParseInstant(text)
		if !ok {
			return
		}
		again, ok := ParseInstant(got.Format(time.RFC3339Nano))
		if !ok || !again.Equal(got) {
			t.Errorf("%q is read as %v, which is read as %v", text, got, again)
		}
	})
}
