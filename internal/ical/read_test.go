package ical_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones of the tests, whatever the machine has

	"github.com/teambition/rrule-go"

	"flowdrive/internal/ical"
)

func zoneNamed(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil
	}
	return zone
}

func options(tb testing.TB, zone string) ical.Options {
	tb.Helper()
	return ical.Options{Zone: zoneNamed(zone), Zones: zoneNamed, Until: instant(tb, "2020-01-01T00:00:00Z")}
}

// calendar returns a calendar of events, each of the given lines.
func calendar(events ...string) string {
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n")
	for _, e := range events {
		b.WriteString("BEGIN:VEVENT\r\n" + strings.ReplaceAll(e, "\n", "\r\n") + "\r\nEND:VEVENT\r\n")
	}
	return b.String() + "END:VCALENDAR\r\n"
}

func TestDaysOffAreReadFromACalendar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, zone, events, want string }{
		{"a day", "UTC", "DTSTART;VALUE=DATE:20121224", "2012-12-24T00:00 24h"},
		{"a day in the entry's zone", "Europe/Berlin", "DTSTART;VALUE=DATE:20121224\nDTEND;VALUE=DATE:20121226", "2012-12-23T23:00 48h"},
		{"a day of 25 hours", "Europe/Berlin", "DTSTART;VALUE=DATE:20121028", "2012-10-27T22:00 25h"},
		{"an end on the same day", "UTC", "DTSTART;VALUE=DATE:20121224\nDTEND;VALUE=DATE:20121224", "2012-12-24T00:00 24h"},
		{"a duration in days", "UTC", "DTSTART;VALUE=DATE:20121224\nDURATION:P1W2D", "2012-12-24T00:00 216h"},
		{"UTC", "Europe/Berlin", "DTSTART:20121224T080000Z\nDTEND:20121224T090000Z", "2012-12-24T08:00 1h"},
		{"a zone", "UTC", "DTSTART;TZID=Europe/Berlin:20121224T080000\nDURATION:PT1H30M", "2012-12-24T07:00 1h30m"},
		{"a floating time", "Europe/Berlin", "DTSTART:20121224T080000\nDURATION:PT8H", "2012-12-24T07:00 8h"},
		{"a zone that nobody knows", "Asia/Tokyo", `DTSTART;TZID="W. Europe; Standard":20121224T080000` + "\nDURATION:PT8H", "2012-12-23T23:00 8h"},
		{"a moment takes no time", "UTC", "DTSTART:20121224T080000Z", ""},
		{"canceled", "UTC", "DTSTART;VALUE=DATE:20121224\nSTATUS:CANCELLED", ""},
		{"every year, but one", "UTC", "DTSTART;VALUE=DATE:20161224\nRRULE:FREQ=YEARLY\nEXDATE;VALUE=DATE:20181224", "2016-12-24T00:00 24h|2017-12-24T00:00 24h|2019-12-24T00:00 24h"},
		{"dates besides", "UTC", "DTSTART;VALUE=DATE:20121224\nRDATE;VALUE=DATE:20121227,20130101", "2012-12-24T00:00 24h|2012-12-27T00:00 24h|2013-01-01T00:00 24h"},
		{"every week across a change of the clocks", "UTC", "DTSTART;TZID=Europe/Berlin:20121020T080000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=3", "2012-10-20T06:00 1h|2012-10-27T06:00 1h|2012-11-03T07:00 1h"},
		{"until a time in UTC", "UTC", "DTSTART;TZID=Europe/Berlin:20121020T080000\nDURATION:PT1H\nRRULE:FREQ=DAILY;UNTIL=20121021T060000Z", "2012-10-20T06:00 1h|2012-10-21T06:00 1h"},
		{"Thanksgiving", "UTC", "DTSTART;VALUE=DATE:20161124\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;COUNT=2", "2016-11-24T00:00 24h|2017-11-23T00:00 24h"},
		{"long ago", "UTC", "DTSTART;VALUE=DATE:16011224\nRRULE:FREQ=YEARLY;UNTIL=19711231", "1970-12-24T00:00 24h|1971-12-24T00:00 24h"},
		{"one of them is moved", "UTC", "UID:a\nDTSTART;VALUE=DATE:20161224\nRRULE:FREQ=YEARLY;COUNT=2\nEND:VEVENT\nBEGIN:VEVENT\nUID:a\nRECURRENCE-ID;VALUE=DATE:20171224\nDTSTART;VALUE=DATE:20171225", "2016-12-24T00:00 24h|2017-12-25T00:00 24h"},
		{"alarms and what is folded", "UTC", "DTSTART;VALUE=\n DATE:2012\n 1224\nBEGIN:VALARM\nDTSTART:nonsense\nEND:VALARM\nSUMMARY:a:b;c", "2012-12-24T00:00 24h"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			spans, err := ical.Read([]byte(calendar(c.events)), options(t, c.zone))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range spans {
				length := strings.TrimSuffix(s.To.Sub(s.From).String(), "0s")
				got = append(got, s.From.Format("2006-01-02T15:04 ")+strings.Replace(length, "h0m", "h", 1))
			}
			if strings.Join(got, "|") != c.want {
				t.Errorf("got %s, want %s", strings.Join(got, "|"), c.want)
			}
		})
	}
}

// The zone of the calendar stands in for one that it alone describes.
func TestReadOwnZone(t *testing.T) {
	t.Parallel()
	text := strings.Replace(calendar("DTSTART;TZID=Somewhere:20121224T080000\nDURATION:PT1H"), "VERSION:2.0", "X-WR-TIMEZONE:Europe/Berlin", 1)
	spans, err := ical.Read([]byte(text), options(t, "UTC"))
	if err != nil || len(spans) != 1 || !spans[0].From.Equal(instant(t, "2012-12-24T07:00:00Z")) {
		t.Errorf("got %v (%v)", spans, err)
	}
}

func TestReadFaults(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("DTSTART:x\nEND:VEVENT\nBEGIN:VEVENT\n", 3)
	for text, want := range map[string]string{
		"":                       "is empty",
		"\r\n\r\n":               "is empty",
		"hello":                  "line 1: is not a valid line of a calendar",
		"SUMMARY:x\r\n":          "line 1: is outside",
		"BEGIN:VEVENT\r\nX:y":    "line 2: is outside",
		"BEGIN:VCALENDAR":        `line 1: is the last line, but "VCALENDAR" is not ended`,
		"BEGIN:VCALENDAR\nEND:X": `line 2: ends "X"`,
		"BEGIN:VCALENDAR\nEND:VCALENDAR\nEND:VCALENDAR":            "line 3: is outside",
		calendar("SUMMARY:x"):                                      "line 3: begins an event without DTSTART",
		calendar("DTSTART;VALUE=DATE"):                             "line 4: has no value",
		calendar(`DTSTART;X="a:b`):                                 "line 4: has no value",
		calendar("DTSTART;=x:y"):                                   "line 4: has a parameter without a value",
		calendar("DTSTART:2012-12-24"):                             `line 4: "2012-12-24" is not a valid date`,
		calendar("DTSTART:20121324"):                               `line 4: "20121324" is not a valid date`,
		calendar(many):                                             `line 4: "x" is not a valid date`,
		calendar("DTSTART:20121224\nDTEND:20121223"):               "line 5: is before DTSTART",
		calendar("DTSTART:20121224\nDTEND:20121225T080000"):        "line 5: is a date but",
		calendar("DTSTART:20121224\nDURATION:P"):                   `line 5: "P" is not a valid duration`,
		calendar("DTSTART:20121224\nDURATION:-P1D"):                "is not a valid duration",
		calendar("DTSTART:20121224\nDURATION:PT"):                  "is not a valid duration",
		calendar("DTSTART:20121224\nDURATION:P1H"):                 "is not a valid duration",
		calendar("DTSTART:20121224\nRRULE:FREQ=HOURLY"):            `line 5: the part "FREQ=HOURLY" of the rule is not supported`,
		calendar("DTSTART:20121224\nRRULE:FREQ=DAILY;BYHOUR=3"):    `"BYHOUR=3" of the rule is not supported`,
		calendar("DTSTART:20121224\nRRULE:INTERVAL=2"):             "line 5: is a rule without FREQ",
		calendar("DTSTART:20121224\nRRULE:FREQ=DAILY;INTERVAL=0"):  "not supported",
		calendar("DTSTART:20121224\nRRULE:FREQ=DAILY;BYDAY=XX"):    "not supported",
		calendar("DTSTART:20121224\nRRULE:FREQ=DAILY;UNTIL=never"): `"NEVER" is not a valid date`,
		calendar("DTSTART:20121224\nEXDATE:x"):                     `"x" is not a valid date`,
		calendar("DTSTART:20121224\nRDATE:20121225,y"):             `"y" is not a valid date`,
		calendar(strings.Repeat("BEGIN:X\n", 20) + "X:y"):          "is nested too deep",
		calendar("DTSTART:20121224\nX:" + strings.Repeat("a", 60<<10) + "\n " + strings.Repeat("a", 60<<10)): "is longer than",
		strings.Repeat("a", ical.MaxSize+1): "is not read",
		calendar(strings.Repeat("DTSTART:20121224\nEND:VEVENT\nBEGIN:VEVENT\n", ical.MaxSpans) + "DTSTART:20121224"):                                                                                 "a calendar may have 10000",
		calendar(strings.Repeat("DTSTART:17000101\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30\nEND:VEVENT\nBEGIN:VEVENT\n", 5000) + "DTSTART:20121224"):                                                "takes too much work to read",
		calendar("UID:a\nDTSTART:20121224" + strings.Repeat("\nEND:VEVENT\nBEGIN:VEVENT\nUID:a\nDTSTART:20121224\nRECURRENCE-ID:20121224\nEND:VEVENT\nBEGIN:VEVENT\nUID:a\nDTSTART:20121224", 3000)): "takes too much work to read",
	} {
		_, err := ical.Read([]byte(text), options(t, "UTC"))
		fault, ok := errors.AsType[*ical.Fault](err)
		if !ok || !strings.Contains(fault.Error(), want) {
			t.Errorf("%.200q: %v, want %q", text, err, want)
		}
	}
}

// TestRules compares the days of drawn rules with those that another finds.
func TestRules(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	o := options(t, "UTC")
	some := func(values ...string) string {
		n := 1 + r.IntN(3)
		out := make([]string, n)
		for i := range out {
			out[i] = values[r.IntN(len(values))]
		}
		return strings.Join(out, ",")
	}
	compared := 0
	for range 400 {
		freq := []string{"YEARLY", "MONTHLY", "WEEKLY", "DAILY"}[r.IntN(4)]
		parts := []string{"FREQ=" + freq}
		add := func(chance int, part string) {
			if r.IntN(chance) == 0 {
				parts = append(parts, part)
			}
		}
		add(3, fmt.Sprintf("INTERVAL=%d", 1+r.IntN(4)))
		add(2, "BYMONTH="+some("1", "2", "5", "11", "12"))
		if freq != "WEEKLY" {
			add(3, "BYMONTHDAY="+some("1", "13", "29", "31", "-1", "-2"))
		}
		if freq == "YEARLY" || freq == "MONTHLY" {
			if r.IntN(2) == 0 { // the other finds nothing where both kinds are mixed
				add(2, "BYDAY="+some("MO", "SU"))
			} else {
				add(2, "BYDAY="+some("1TU", "2WE", "-1FR", "4TH"))
			}
		} else {
			add(2, "BYDAY="+some("MO", "SU", "TU", "FR"))
		}
		if freq == "YEARLY" {
			add(5, "BYYEARDAY="+some("1", "100", "-1", "366"))
		}
		if freq == "MONTHLY" && strings.Contains(strings.Join(parts, ";"), "BYDAY") {
			add(3, "BYSETPOS="+some("1", "-1", "2"))
		}
		if r.IntN(2) == 0 {
			parts = append(parts, fmt.Sprintf("COUNT=%d", 1+r.IntN(20)))
		} else {
			parts = append(parts, fmt.Sprintf("UNTIL=%d1231", 2012+r.IntN(4)))
		}
		text := strings.Join(parts, ";")
		begin := instant(t, "2012-01-01T00:00:00Z").AddDate(0, 0, r.IntN(400))
		option, err := rrule.StrToROption(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		option.Dtstart = begin
		other, err := rrule.NewRRule(*option)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var want []string
		for _, at := range other.Between(begin, o.Until.Add(-1), true) {
			want = append(want, at.Format(time.DateOnly))
		}
		spans, err := ical.Read([]byte(calendar("DTSTART;VALUE=DATE:"+begin.Format("20060102")+"\nRRULE:"+text)), o)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var got []string
		for _, s := range spans {
			got = append(got, s.From.Format(time.DateOnly))
		}
		compared += len(want)
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("from %s, %s: got %v, want %v", begin.Format(time.DateOnly), text, got, want)
		}
	}
	if compared < 1000 {
		t.Errorf("only %d days were compared", compared)
	}
}

// FuzzRead: no calendar takes long, or gives spans that are none.
func FuzzRead(f *testing.F) {
	f.Add([]byte(calendar("UID:a\nDTSTART;TZID=Europe/Berlin:20121224T080000\nDURATION:P1DT2H\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=-1FR,2MO;BYSETPOS=1\nEXDATE:20131224T080000")))
	f.Add([]byte(calendar("DTSTART;VALUE=DATE:20121224\nRDATE;VALUE=PERIOD:20121224T080000Z/PT1H\nRRULE:FREQ=WEEKLY;WKST=SU;BYDAY=SA;INTERVAL=3;COUNT=9")))
	for _, name := range []string{"feed.ics", "empty.ics"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		spans, err := ical.Read(data, options(t, "Europe/Berlin"))
		if _, ok := errors.AsType[*ical.Fault](err); err != nil && !ok {
			t.Errorf("an error of another kind: %v", err)
		}
		for i, s := range spans {
			if !s.To.After(s.From) || i > 0 && s.From.Before(spans[i-1].From) {
				t.Errorf("span %d: %v", i, s)
			}
		}
	})
}
