package status

import (
	"strings"
	"testing"
	"time"
)

// TestReason: people read the name of the field that is at fault, not its place.
func TestReason(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/xattrDict/amount: is required by the route": "amount is required by the route",
		"/route: names nothing":                       "route names nothing",
		"There is no document \"a/b: c\".":            "There is no document \"a/b: c\".",
		"two\nlines":                                  "two lines",
	} {
		if got := reason(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestZone: dates are those of the zone, with its name; instants within texts of the
// log become such dates.
func TestZone(t *testing.T) {
	t.Parallel()
	zone := Zone{time.FixedZone("Test/East", 5*3600+1800)}
	at := time.Date(2012, 11, 9, 20, 0, 0, 0, time.UTC)
	if got := zone.Minute(at); got != "2012-11-10 01:30 Test/East" {
		t.Error(got)
	}
	if got := zone.words("due by 2012-11-09T20:00:00Z, 2012-99-99T20:00:00Z"); got != "due by 2012-11-10 01:30 Test/East, 2012-99-99T20:00:00Z" {
		t.Error(got)
	}
	if day := zone.Day(at); !day.Equal(time.Date(2012, 11, 9, 18, 30, 0, 0, time.UTC)) {
		t.Error(day)
	}
	if got := *zone.instant(at); got != "2012-11-10T01:30:00+05:30" {
		t.Error(got)
	}
}

// TestTable: columns are aligned by characters, and no line ends in blanks.
func TestTable(t *testing.T) {
	t.Parallel()
	var p page
	p.table([][]string{{"ä", "b", ""}, {"longer", "c", "d"}}, "")
	if got := p.String(); got != "  ä        b\n  longer   c   d\n" || strings.Contains(got, " \n") {
		t.Errorf("%q", got)
	}
}
