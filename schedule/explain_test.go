package schedule_test

import (
	"strings"
	"testing"

	"flowdrive/schedule"
)

// TestExplained: the next instants say what the clocks and the exclusions have to do
// with them. Stockholm goes forward on 31 March 2013 and back on 28 October 2012 and
// 27 October 2013.
func TestExplained(t *testing.T) {
	t.Parallel()
	const stockholm = `"timezone": "Europe/Stockholm"`
	for _, test := range []struct {
		name, doc, now string
		n              int
		want           string
	}{
		{
			"a gap shifts", with("cron", `"day": "last sun", "hour": 2, "minute": 30, `+stockholm), "2013-02-01T00:00:00", 3,
			"2013-02-24T01:30 | 2013-03-31T01:00 clocks go forward: there is no 02:30 | 2013-04-28T00:30",
		},
		{
			"a gap is left out", with("cron", `"day": "last sun", "hour": 2, "minute": 30, "dstGap": "skip", `+stockholm), "2013-02-01T00:00:00", 2,
			"2013-02-24T01:30 | -2013-03-31T01:00 left out: clocks go forward, there is no 02:30 | 2013-04-28T00:30",
		},
		{
			"the first of two", with("cron", `"hour": 2, "minute": 30, `+stockholm), "2012-10-27T12:00:00", 2,
			"2012-10-28T00:30 02:30 comes twice; the first counts | 2012-10-29T01:30",
		},
		{
			"the last of two", with("cron", `"hour": 2, "minute": 30, "dstOverlap": "last", `+stockholm), "2012-10-27T12:00:00", 2,
			"2012-10-28T01:30 02:30 comes twice; the second counts | 2012-10-29T01:30",
		},
		{
			"both of two", with("cron", `"hour": 2, "minute": 30, "dstOverlap": "both", `+stockholm), "2012-10-27T12:00:00", 2,
			"2012-10-28T00:30 02:30 comes twice; this is the first time | 2012-10-28T01:30 02:30 comes twice; this is the second time",
		},
		{
			"every real hour", with("cron", `"minute": 30, `+stockholm), "2012-10-28T00:00:00", 2,
			"2012-10-28T00:30 | 2012-10-28T01:30",
		},
		{
			"an excluded day", with("cron", `"hour": 8, "minute": 0, "exclude": ["2012-11-10", "2012-11-11"]`), "2012-11-09T12:00:00", 2,
			"-2012-11-10T08:00 left out: 2012-11-10 (exclude) | -2012-11-11T08:00 left out: 2012-11-11 (exclude) | 2012-11-12T08:00 | 2012-11-13T08:00",
		},
		{"a repeat", with("interval", `"hours": 6, "repeat": 2`), "2012-11-09T12:00:00", 10, "2012-11-09T18:00 | 2012-11-10T00:00"},
		{"once", with("simple", `"date": "2012-11-09T13:00:00"`), "2012-11-09T12:00:00", 10, "2012-11-09T13:00"},
		{"paused", with("interval", `"hours": 6, "paused": true`), "2012-11-09T12:00:00", 10, ""},
	} {
		now := at(test.now)
		var lines []string
		for _, i := range schedule.Explained(entry(t, test.doc, now, nil), now, test.n) {
			line := i.At.Format("2006-01-02T15:04")
			if i.Left {
				line = "-" + line
			}
			lines = append(lines, strings.TrimSpace(line+" "+i.Why))
		}
		if got := strings.Join(lines, " | "); got != test.want {
			t.Errorf("%s: got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestExcluded: what an entry leaves out, the last of it; other entries leave nothing out.
func TestExcluded(t *testing.T) {
	t.Parallel()
	e := entry(t, with("interval", `"hours": 6, "date": "2012-11-09T00:00:00", "exclude": ["2012-11-10"]`), friday, nil)
	if got := e.Excluded(friday, at("2012-11-20T00:00:00"), 2); len(got) != 2 || !got[1].Equal(at("2012-11-10T18:00:00")) {
		t.Errorf("got %v", got)
	}
	if got := entry(t, with("interval", `"hours": 6`), friday, nil).Excluded(friday, at("2012-11-20T00:00:00"), 2); len(got) > 0 {
		t.Errorf("without exclusions: got %v", got)
	}
}

// TestDoubts: free minutes are said to people before they store an entry.
func TestDoubts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ doc, want string }{
		{with("cron", `"hour": "23"`), `Every minute from 23:00 to 23:59: is that meant? The minute is free, and does not stand for 0.`},
		{with("crontab", `"spec": "* * 1 * *"`), `Every minute on day 1 of the month: is that meant? The minute is free, and does not stand for 0.`},
		{with("cron", `"minute": "*"`), ""},
		{with("cron", `"hour": "23", "minute": 0`), ""},
		{with("crontab", `"spec": "@daily"`), ""},
		{with("interval", `"minutes": 90`), ""},
	} {
		e := entry(t, test.doc, friday, nil)
		if got := strings.Join(e.Doubts(), " "); got != test.want {
			t.Errorf("%s: %s; want %s", test.doc, got, test.want)
		}
	}
}
