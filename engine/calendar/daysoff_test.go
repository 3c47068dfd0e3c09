package calendar

import (
	"testing"
	"time"

	"flowdrive/internal/errs"
)

const newYear = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART;VALUE=DATE:20120101\r\nRRULE:FREQ=YEARLY\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"

// TestDaysOffAreOfTheEntrysZone: a day off is one of the entry's zone, and what recurs is looked for
// so many years ahead.
func TestDaysOffAreOfTheEntrysZone(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("East", 10*60*60)
	zones := func(name string) *time.Location {
		if name == "East" {
			return east
		}
		return nil
	}
	for _, tt := range []struct {
		zone  string
		first time.Time
	}{
		{"UTC", time.Date(2012, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"East", time.Date(2012, 1, 1, 0, 0, 0, 0, east)},
	} {
		d := readDaysOff(daysKeyOf([32]byte{1}, tt.zone, noon()), []byte(newYear), zones)
		if d.Fault != nil || len(d.Spans) == 0 {
			t.Fatalf("%s: %+v", tt.zone, d)
		}
		if got := d.Spans[0]; !got.From.Equal(tt.first) {
			t.Errorf("%s: the first day off is %+v, want %s", tt.zone, got, tt.first)
		}
		if got := d.Spans[len(d.Spans)-1].From.In(tt.first.Location()).Year(); got < 2012+years {
			t.Errorf("%s: the last day off is in %d", tt.zone, got)
		}
	}
	if d := readDaysOff(daysKeyOf([32]byte{1}, "East", noon()), []byte(newYear), nil); !d.Spans[0].From.Equal(time.Date(2012, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("without zones the first day off is %+v", d.Spans[0])
	}
	if d := readDaysOff(daysKey{}, []byte("no calendar"), zones); !errs.Is(d.Fault, errs.Invalid) || d.Spans != nil {
		t.Errorf("what is no calendar: %+v", d)
	}
}

func TestCalendarIsKeptForItsContentZoneAndYear(t *testing.T) {
	t.Parallel()
	var c daysOffCache
	key := daysKeyOf([32]byte{1}, "UTC", noon())
	if _, ok := c.Get(key); ok {
		t.Error("an empty cache has something")
	}
	fault := errs.New(errs.Invalid, "is no calendar")
	c.Put(key, daysOff{Fault: fault})
	if d, ok := c.Get(key); !ok || d.Fault == nil {
		t.Errorf("what was put is %+v, %t", d, ok)
	}
	for _, other := range []daysKey{daysKeyOf([32]byte{2}, "UTC", noon()), daysKeyOf([32]byte{1}, "East", noon()), daysKeyOf([32]byte{1}, "UTC", noon().AddDate(1, 0, 0))} {
		if _, ok := c.Get(other); ok {
			t.Errorf("%+v has what is of %+v", other, key)
		}
	}
	for i := range mostCalendars {
		c.Put(daysKey{until: i}, daysOff{})
	}
	if len(c.read) > mostCalendars {
		t.Errorf("%d calendars are kept", len(c.read))
	}
}
