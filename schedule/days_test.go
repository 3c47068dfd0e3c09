package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestPlainDates: a date without time means the same in start, end and exclude: that
// day in the entry's zone, the whole of it in end.
func TestPlainDates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ fields, want string }{
		{`"timezone": "Asia/Tokyo", "start": "2012-12-15"`, "12-15 12-16 12-17"},
		{`"timezone": "Asia/Tokyo", "start": "2012-12-15", "end": "2012-12-16"`, "12-15 12-16"},
		{`"timezone": "Asia/Tokyo", "start": "2012-12-15", "exclude": ["2012-12-15"]`, "12-16 12-17 12-18"},
		{`"timezone": "Asia/Tokyo", "start": "2012-12-15", "end": "2012-12-15"`, "12-15"},
		{`"timezone": "America/New_York", "start": "2012-12-15", "end": "2012-12-16"`, "12-15 12-16"},
		{`"start": "2012-12-15", "end": "2012-12-16"`, "12-15 12-16"},
		{`"start": "2012-12-15T08:00:00", "end": "2012-12-16T08:00:00"`, "12-15 12-16"},
		{`"start": "2012-12-15T08:00:01", "end": "2012-12-16T07:59:59"`, ""},
	} {
		e, faults := read(t, with("cron", `"hour": 8, "minute": 0, `+test.fields), friday, nil)
		if len(faults) > 0 {
			if test.want != "" || !strings.Contains(fmt.Sprint(faults), "never-fires") {
				t.Errorf("%s: %v", test.fields, faults)
			}
			continue
		}
		var days []string
		zone := zoneNamed(e.Timezone)
		for at := e.NextIteration; !at.IsZero() && len(days) < 3; at = e.Schedule().Next(at) {
			days = append(days, at.In(zone).Format("01-02"))
		}
		if got := strings.Join(days, " "); got != test.want {
			t.Errorf("%s: %s; want %s", test.fields, got, test.want)
		}
		again := entry(t, string(e.Form()), friday.Add(time.Hour), e)
		if !again.Start.Equal(e.Start) || !again.End.Equal(e.End) {
			t.Errorf("%s: saved again it is from %v to %v, was from %v to %v", test.fields, again.Start, again.End, e.Start, e.End)
		}
	}
}

// TestNextHasAnOffset: the complete form shows the next instant as a clock on the wall
// of the zone does.
func TestNextHasAnOffset(t *testing.T) {
	t.Parallel()
	e := entry(t, with("cron", `"hour": 8, "minute": 0, "timezone": "Asia/Tokyo"`), friday, nil)
	if form := string(e.Form()); !strings.Contains(form, `"next": "2012-11-10T08:00:00+09:00"`) || !strings.Contains(form, `"nextIteration": "2012-11-09T23:00:00"`) {
		t.Error(form)
	}
}

// TestWarnings: steps that are not equally far apart are allowed, and said.
func TestWarnings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ doc, want string }{
		{with("crontab", `"spec": "*/90 * * * *"`), `"*/90" in the minute means minute 0 alone, once an hour: a step of 90 is more than the hour has; use the type interval for every 90 minutes.`},
		{with("crontab", `"spec": "0 */30 * * *"`), `"*/30" in the hour means hour 0 alone, once a day: a step of 30 is more than the day has; use the type interval for every 30 hours.`},
		{with("crontab", `"spec": "*/25 * * * *"`), `"*/25" in the minute begins anew with each hour: the last step of it is 10 minutes long, not 25.`},
		{with("cron", `"hour": "*/5", "minute": 0`), `"*/5" in the hour begins anew with each day: the last step of it is 4 hours long, not 5.`},
		{with("crontab", `"spec": "5/90 * * * *"`), `"5/90" in the minute means minute 5 alone: a step of 90 leads past 59.`},
		{with("crontab", `"spec": "0-59/90 * * * *"`), `"0-59/90" in the minute means minute 0 alone: a step of 90 leads past 59.`},
		{with("crontab", `"spec": "0 0 */40 * *"`), `"*/40" in the day means day 1 alone: a step of 40 leads past 31.`},
		{with("crontab", `"spec": "0 0 1 */13 *"`), `"*/13" in the month means month 1 alone: a step of 13 leads past 12.`},
		{with("crontab", `"spec": "0 0 * * */8"`), `"*/8" in the weekday means weekday 0 alone: a step of 8 leads past 6.`},
		{with("crontab", `"spec": "0 9 1-31 * 1"`), `The day "1-31" and the weekday "1" are both given, and either of them is enough in a crontab: this is every day. Write * for the one that is not to choose.`},
		{with("crontab", `"spec": "0 9 1-15 * 1"`), ""},
		{with("crontab", `"spec": "0 0 1 */12 */7"`), ""},
		{with("crontab", `"spec": "0 0 */2 * *"`), ""},
		{with("crontab", `"spec": "*/20 */8 * * *"`), ""},
		{with("crontab", `"spec": "5/7 8-17/2 * * *"`), ""},
		{with("crontab", `"spec": "@daily"`), ""},
		{with("interval", `"minutes": 90`), ""},
		{with("interval", `"weeks": 1, "start": "2012-11-16 09:00"`), `The first instant is at 2012-11-16 12:34, not at 2012-11-16 09:00: start says before when nothing happens, and the instants are counted from date. To begin with start, write "date": "2012-11-16 09:00".`},
		{with("interval", `"weeks": 1, "date": "2012-11-16 09:00", "start": "2012-11-16 09:00"`), ""},
		{with("interval", `"minutes": 30, "start": "2012-11-16 09:00"`), ""},
	} {
		e := entry(t, test.doc, friday, nil)
		if got := strings.Join(e.Warnings(), " "); got != test.want {
			t.Errorf("%s: %s; want %s", test.doc, got, test.want)
		}
	}
}
