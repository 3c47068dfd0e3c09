package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestAgenda: an entry that comes once a day at most is shown by its instants,
// another by its days (docs/contract/drive.md#the-calendar).
func TestAgenda(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, doc string
		days      bool
		n         int
		first     string
		last      string
	}{
		{"daily", with("cron", nightly), false, 30, "2012-11-09T23:00:00Z", "2012-12-08T23:00:00Z"},
		{"weekly", with("interval", `"weeks": 1`), false, 4, "2012-11-16T12:34:56Z", "2012-12-07T12:34:56Z"},
		{"once", with("simple", `"date": "2012-11-20T10:00:00"`), false, 1, "2012-11-20T10:00:00Z", "2012-11-20T10:00:00Z"},
		{"later", with("simple", `"date": "2012-12-09T00:00:00"`), false, 0, "", ""},
		{"twice a week", with("cron", `"weekday": "mon", "hour": "9,17", "minute": "0"`), false, 8, "2012-11-12T09:00:00Z", "2012-12-03T17:00:00Z"},
		{"every two minutes", with("interval", `"minutes": 2`), true, 30, "2012-11-09T00:00:00Z", "2012-12-08T00:00:00Z"},
		{"every second", with("interval", `"seconds": 1`), true, 30, "2012-11-09T00:00:00Z", "2012-12-08T00:00:00Z"},
		{"twice a day", with("cron", `"hour": "6,18", "minute": "0"`), true, 30, "2012-11-09T00:00:00Z", "2012-12-08T00:00:00Z"},
		{"each minute of Mondays", with("cron", `"weekday": "mon"`), true, 4, "2012-11-12T00:00:00Z", "2012-12-03T00:00:00Z"},
		{"five times within minutes", with("interval", `"minutes": 2, "repeat": 5`), true, 1, "2012-11-09T00:00:00Z", "2012-11-09T00:00:00Z"},
		{"a hundred times an hour apart", with("interval", `"hours": 1, "repeat": 100`), true, 5, "2012-11-09T00:00:00Z", "2012-11-13T00:00:00Z"},
		{"the days of its zone", with("cron", `"hour": "*/6", "minute": "0", "timezone": "Asia/Tokyo"`), true, 30, "2012-11-10T00:00:00+09:00", "2012-12-09T00:00:00+09:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			times, days := entry(t, c.doc, friday, nil).Agenda(friday.Truncate(24*time.Hour).AddDate(0, 0, 30))
			var first, last string
			if len(times) > 0 {
				first, last = times[0].Format(time.RFC3339), times[len(times)-1].Format(time.RFC3339)
			}
			got := fmt.Sprint(days, len(times), first, last)
			if want := fmt.Sprint(c.days, c.n, c.first, c.last); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestAgendaOfClockChanges: the hour that comes twice, and the one that does
// not come, make no daily entry one that comes oftener.
func TestAgendaOfClockChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, policy, want string }{
		{"2012-10-25T12:00:00Z", `"dstOverlap": "both"`, "26 00:30|27 00:30|28 00:30|28 01:30|29 01:30"},
		{"2012-10-25T12:00:00Z", `"dstOverlap": "last"`, "26 00:30|27 00:30|28 01:30|29 01:30"},
		{"2013-03-29T12:00:00Z", `"dstGap": "shift"`, "30 01:30|31 01:00|01 00:30|02 00:30"},
		{"2013-03-29T12:00:00Z", `"dstGap": "skip"`, "30 01:30|01 00:30|02 00:30"},
	} {
		now, err := time.Parse(time.RFC3339, c.from)
		if err != nil {
			t.Fatal(err)
		}
		e := entry(t, with("cron", `"hour": "2", "minute": "30", "timezone": "Europe/Berlin", `+c.policy), now, nil)
		times, days := e.Agenda(now.AddDate(0, 0, 30))
		var got []string
		for _, at := range times[:min(len(times), 1+strings.Count(c.want, "|"))] {
			got = append(got, at.Format("02 15:04"))
		}
		if days || strings.Join(got, "|") != c.want {
			t.Errorf("from %s, %s: %v, %s, want %s", c.from, c.policy, days, strings.Join(got, "|"), c.want)
		}
		for i, at := range e.Upcoming {
			if !at.Equal(times[i]) {
				t.Errorf("from %s, %s: upcoming has %s where the calendar has %s", c.from, c.policy, at, times[i])
			}
		}
	}
}
