package clock_test

import (
	"testing"
	"time"

	"flowdrive/internal/clock"
)

// TestParseDate: a date without an offset is one of the zone. Where clocks pass
// over a time it is later by as much, where they show it twice it is the first.
func TestParseDate(t *testing.T) {
	t.Parallel()
	zones := new(clock.Zones)
	for _, test := range []struct {
		text, zone, want string
		day, fixed       bool
	}{
		{text: "2012-12-01", zone: "Europe/Berlin", want: "2012-11-30T23:00:00Z", day: true},
		{text: "2012-12-01 08:00", zone: "Europe/Berlin", want: "2012-12-01T07:00:00Z"},
		{text: "2012-07-01T08:00:30", zone: "Europe/Berlin", want: "2012-07-01T06:00:30Z"},
		{text: "20121201T0800", zone: "Asia/Tokyo", want: "2012-11-30T23:00:00Z"},
		{text: "2012-12-01 08:00", want: "2012-12-01T08:00:00Z"},
		{text: "2012-12-01T08:00:00Z", zone: "Asia/Tokyo", want: "2012-12-01T08:00:00Z", fixed: true},
		{text: "2012-12-01 08:00+0200", zone: "Asia/Tokyo", want: "2012-12-01T06:00:00Z", fixed: true},
		{text: "2012-03-25 02:30", zone: "Europe/Berlin", want: "2012-03-25T01:30:00Z"},       // 03:30
		{text: "2012-10-28 02:30", zone: "Europe/Berlin", want: "2012-10-28T00:30:00Z"},       // the first
		{text: "2012-10-07 02:15", zone: "Australia/Lord_Howe", want: "2012-10-06T15:45:00Z"}, // 02:45
		{text: "2012-10-21", zone: "America/Sao_Paulo", want: "2012-10-21T03:00:00Z", day: true},
		{text: "2011-12-30 12:00", zone: "Pacific/Apia", want: "2011-12-30T22:00:00Z"}, // a day that was left out
	} {
		d, err := clock.ParseDate(test.text, zones.Zone(test.zone))
		if err != nil || d.Time.Format(time.RFC3339) != test.want || d.Day != test.day || d.Fixed != test.fixed {
			t.Errorf("%s in %q: %v, day %v, fixed %v, %v; want %s", test.text, test.zone, d.Time, d.Day, d.Fixed, err, test.want)
		}
	}
	for text, inRange := range map[string]bool{"2012-02-30": false, "1969-12-31": false, "2012-13-01": false, "next friday": true, "": true, "2012-12-1": true, "12:00": true} {
		if d, err := clock.ParseDate(text, time.UTC); err == nil || err.Range == inRange {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
	if at, ok := clock.ParseMoment("2012-12-01T08:00:00.5Z", nil); !ok || at.Nanosecond() == 0 {
		t.Errorf("an instant: %v", at)
	}
}
