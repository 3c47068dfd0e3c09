package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/schedule"
)

// friday is the moment at which most of these tests happen.
var friday = at("2012-11-09T12:34:56")

func at(text string) time.Time {
	t, err := time.Parse("2006-01-02T15:04:05.999999999", text)
	if err != nil {
		panic(err)
	}
	return t
}

// coming returns the first n instants after t, in the form of entries.
func coming(s schedule.Schedule, t time.Time, n int) []string {
	var out []string
	for range n {
		if t = s.Next(t); t.IsZero() {
			return append(out, "never")
		}
		out = append(out, t.Format("2006-01-02T15:04:05"))
	}
	return out
}

func mustCron(tb testing.TB, fields schedule.CronFields) schedule.Schedule {
	tb.Helper()
	s, _, faults := schedule.ParseCron(fields)
	if len(faults) > 0 {
		tb.Fatalf("ParseCron(%+v): %v", fields, faults)
	}
	return s
}

// What comes next after 2012-11-09T12:34:56. The grammar is that of APScheduler
// 2.1, which yields the same instants.
func TestCronNext(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fields schedule.CronFields
		want   string
	}{
		{schedule.CronFields{Weekday: "3,5", Hour: "23", Minute: "0"}, "2012-11-10T23:00:00 2012-11-15T23:00:00 2012-11-17T23:00:00 2012-11-22T23:00:00"},
		{schedule.CronFields{Weekday: "3,6", Hour: "23", Minute: "0"}, "2012-11-11T23:00:00 2012-11-15T23:00:00 2012-11-18T23:00:00 2012-11-22T23:00:00"},
		{schedule.CronFields{Hour: "23"}, "2012-11-09T23:00:00 2012-11-09T23:01:00 2012-11-09T23:02:00 2012-11-09T23:03:00"},
		{schedule.CronFields{Minute: "*/20"}, "2012-11-09T12:40:00 2012-11-09T13:00:00 2012-11-09T13:20:00 2012-11-09T13:40:00"},
		{schedule.CronFields{Minute: "5/20"}, "2012-11-09T12:45:00 2012-11-09T13:05:00 2012-11-09T13:25:00 2012-11-09T13:45:00"},
		{schedule.CronFields{Day: "last", Hour: "0", Minute: "0"}, "2012-11-30T00:00:00 2012-12-31T00:00:00 2013-01-31T00:00:00 2013-02-28T00:00:00"},
		{schedule.CronFields{Day: "2nd tue,4th tue", Hour: "6", Minute: "30"}, "2012-11-13T06:30:00 2012-11-27T06:30:00 2012-12-11T06:30:00 2012-12-25T06:30:00"},
		{schedule.CronFields{Weekday: "mon-fri", Hour: "5", Minute: "30"}, "2012-11-12T05:30:00 2012-11-13T05:30:00 2012-11-14T05:30:00 2012-11-15T05:30:00"},
		{schedule.CronFields{Weekday: "sat,sun", Hour: "5", Minute: "30"}, "2012-11-10T05:30:00 2012-11-11T05:30:00 2012-11-17T05:30:00 2012-11-18T05:30:00"},
		{schedule.CronFields{Day: "31", Hour: "0", Minute: "0"}, "2012-12-31T00:00:00 2013-01-31T00:00:00 2013-03-31T00:00:00 2013-05-31T00:00:00"},
		{schedule.CronFields{Month: "2", Day: "29", Hour: "0", Minute: "0"}, "2016-02-29T00:00:00 2020-02-29T00:00:00 2024-02-29T00:00:00 2028-02-29T00:00:00"},
		{schedule.CronFields{Hour: "8-10,14", Minute: "0,30"}, "2012-11-09T14:00:00 2012-11-09T14:30:00 2012-11-10T08:00:00 2012-11-10T08:30:00"},
		{schedule.CronFields{Year: "2012", Month: "12", Day: "31", Hour: "23", Minute: "59"}, "2012-12-31T23:59:00 never"},
		{schedule.CronFields{Year: "2011", Hour: "0", Minute: "0"}, "never"},

		// What the vectors leave out.
		{schedule.CronFields{Weekday: "3, 5", Hour: "23 ", Minute: " 0"}, "2012-11-10T23:00:00 2012-11-15T23:00:00 2012-11-17T23:00:00 2012-11-22T23:00:00"},
		{schedule.CronFields{Month: "2", Day: "30"}, "never"},
		{schedule.CronFields{Week: "53", Weekday: "fri", Hour: "3", Minute: "0"}, "2016-01-01T03:00:00 2021-01-01T03:00:00 2027-01-01T03:00:00 2032-12-31T03:00:00"},
		{schedule.CronFields{Day: "13", Weekday: "4", Hour: "0", Minute: "0"}, "2013-09-13T00:00:00 2013-12-13T00:00:00 2014-06-13T00:00:00 2015-02-13T00:00:00"},
		{schedule.CronFields{Day: "last fri,5th thu", Hour: "0", Minute: "0"}, "2012-11-29T00:00:00 2012-11-30T00:00:00 2012-12-28T00:00:00 2013-01-25T00:00:00"},
		{schedule.CronFields{Year: "2013,2016-2018/2,9999", Month: "1", Day: "1", Hour: "0", Minute: "0"}, "2013-01-01T00:00:00 2016-01-01T00:00:00 2018-01-01T00:00:00 9999-01-01T00:00:00"},
		{schedule.CronFields{Week: "1", Weekday: "mon", Hour: "0", Minute: "0"}, "2012-12-31T00:00:00 2013-12-30T00:00:00 2014-12-29T00:00:00 2016-01-04T00:00:00"},
	} {
		s, _, faults := schedule.ParseCron(test.fields)
		if len(faults) > 0 {
			t.Errorf("%+v: %v", test.fields, faults)
			continue
		}
		if got := strings.Join(coming(s, friday, 4), " "); !strings.HasPrefix(got, test.want) {
			t.Errorf("%+v\n got %s\nwant %s", test.fields, got, test.want)
		}
	}
}

func TestCronEnds(t *testing.T) {
	t.Parallel()
	every := mustCron(t, schedule.CronFields{})
	for _, test := range []struct{ after, want string }{
		{"1815-06-18T11:00:00", "1970-01-01T00:00:00"},
		{"1969-12-31T23:59:59.9", "1970-01-01T00:00:00"},
		{"1970-01-01T00:00:00", "1970-01-01T00:01:00"},
		{"2012-11-09T12:34:00", "2012-11-09T12:35:00"},
		{"2012-11-09T12:34:00.000000001", "2012-11-09T12:35:00"},
		{"2012-11-09T12:34:59.999999999", "2012-11-09T12:35:00"},
		{"9999-12-31T23:58:59", "9999-12-31T23:59:00"},
		{"9999-12-31T23:59:00", "never"},
	} {
		if got := coming(every, at(test.after), 1)[0]; got != test.want {
			t.Errorf("after %s: got %s, want %s", test.after, got, test.want)
		}
	}
	if got := every.Next(time.Unix(1<<55, 0)); !got.IsZero() {
		t.Errorf("after the year 9999: got %v", got)
	}
	if got := every.Next(time.Time{}); got.Location() != time.UTC {
		t.Errorf("got %v, want UTC", got)
	}
	zone := time.FixedZone("", 5*60*60+30*60)
	if got, want := every.Next(friday.In(zone)), at("2012-11-09T12:35:00"); got != want {
		t.Errorf("from another zone: got %v, want %v", got, want)
	}
}

func TestCronCanonicalText(t *testing.T) {
	t.Parallel()
	given := schedule.CronFields{
		Year: "2012 , 02014-2020/02", Month: "*/03", Day: "LAST, Last  Fri,2ND\tTUE ,007", Week: "01-053",
		Weekday: "MON-Fri,sun, 3", Hour: "8/02", Minute: "*",
	}
	want := schedule.CronFields{
		Year: "2012,2014-2020/2", Month: "*/3", Day: "last,last fri,2nd tue,7", Week: "1-53",
		Weekday: "mon-fri,sun,3", Hour: "8/2", Minute: "*",
	}
	s, got, faults := schedule.ParseCron(given)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("canonical text (-want +got):", diff)
	}
	again, _, _ := schedule.ParseCron(got)
	if diff := cmp.Diff(coming(s, friday, 20), coming(again, friday, 20)); diff != "" {
		t.Error("the canonical text means something else:", diff)
	}
	if _, got, _ := schedule.ParseCron(schedule.CronFields{}); got.Year != "*" || got.Minute != "*" {
		t.Errorf("empty fields: got %+v", got)
	}
}

func TestCronFaults(t *testing.T) {
	t.Parallel()
	const format, outOfRange = errs.CodeFormat, errs.CodeRange
	for _, test := range []struct {
		field, text string
		want        errs.Code
	}{
		// The original's own list, where "3, 5" is accepted now.
		{"minute", "5-3", outOfRange},
		{"minute", "*/0", outOfRange},
		{"weekday", "monday", format},
		{"month", "jan", format},
		{"minute", "x", format},
		{"minute", " ", format},
		{"minute", "-5", format},
		{"day", "6th mon", format},
		{"day", "last xyz", format},
		{"weekday", "fri-mon", outOfRange},
		{"minute", "5,", format},

		// Numbers out of range.
		{"hour", "24", outOfRange},
		{"hour", "25", outOfRange},
		{"minute", "60", outOfRange},
		{"month", "0", outOfRange},
		{"month", "13", outOfRange},
		{"day", "0", outOfRange},
		{"day", "32", outOfRange},
		{"week", "54", outOfRange},
		{"week", "0", outOfRange},
		{"year", "1969", outOfRange},
		{"year", "10000", outOfRange},
		{"weekday", "7", outOfRange},
		{"weekday", "0-7", outOfRange},
		{"hour", "99999999999999999999", outOfRange},
		{"minute", "*/61", outOfRange},
		{"hour", "1-30/2", outOfRange},

		// What follows a valid expression.
		{"weekday", "mon-fri/2", format},
		{"day", "lastx", format},
		{"day", "last fri sat", format},
		{"day", "1st", format},
		{"minute", "1-5/2/3", format},
		{"minute", "1-5-6", format},
		{"minute", "*/", format},
		{"minute", "/5", format},
		{"minute", "*5", format},
		{"minute", "1 5", format},
		{"minute", "1 - 5", format},
		{"minute", ",", format},
		{"minute", ",5", format},
		{"minute", "+5", format},
		{"minute", "5.", format},
		{"weekday", "mon-4", format},
		{"weekday", "0-fri", format},
		{"weekday", "last", format},
		{"weekday", "2nd tue", format},
		{"month", "last", format},
		{"day", "mon", format},
		{"day", "last 5", format},
		{"day", "1th fri", format},
		{"minute", "５", format},
		{"minute", "*-5", format},
		{"minute", strings.Repeat("1,", 600) + "1", outOfRange},
	} {
		fields := schedule.CronFields{}
		for name, field := range map[string]*string{
			"year": &fields.Year, "month": &fields.Month, "day": &fields.Day, "week": &fields.Week,
			"weekday": &fields.Weekday, "hour": &fields.Hour, "minute": &fields.Minute,
		} {
			if name == test.field {
				*field = test.text
			}
		}
		s, _, faults := schedule.ParseCron(fields)
		if s != nil || len(faults) != 1 || faults[0].Pointer != "/"+test.field || faults[0].Code != test.want {
			t.Errorf("%s %q: got %v, want one fault of code %s", test.field, test.text, faults, test.want)
		}
	}
	_, _, faults := schedule.ParseCron(schedule.CronFields{Weekday: "7"})
	if got := faults[0].Detail; !strings.Contains(got, "0 = Monday") || !strings.Contains(got, "6 = Sunday") {
		t.Errorf("weekday 7: %q does not say how weekdays are counted", got)
	}
	_, _, faults = schedule.ParseCron(schedule.CronFields{Hour: "25", Minute: "x", Day: "0"})
	if len(faults) != 3 {
		t.Errorf("got %v, want three faults", faults)
	}
}

// pattern is a random cron field: its text, and what it means said once more
// in another way.
type pattern struct {
	text    string
	matches func(value int, t time.Time) bool
}

func randomPattern(r *rand.Rand, field string, low, high int) pattern {
	if r.IntN(3) > 0 {
		return pattern{"*", func(int, time.Time) bool { return true }}
	}
	var items []pattern
	for range 1 + r.IntN(3) {
		items = append(items, randomItem(r, field, low, high))
	}
	var texts []string
	for _, item := range items {
		texts = append(texts, item.text)
	}
	return pattern{strings.Join(texts, ","), func(value int, t time.Time) bool {
		for _, item := range items {
			if item.matches(value, t) {
				return true
			}
		}
		return false
	}}
}

func randomItem(r *rand.Rand, field string, low, high int) pattern {
	a := low + r.IntN(high-low+1)
	b := a + r.IntN(high-a+1)
	step := 1 + r.IntN(high-low+1)
	names := []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	weekday := r.IntN(7)
	switch kind := r.IntN(8); {
	case field == "day" && kind == 0:
		return pattern{"last", func(_ int, t time.Time) bool { return t.AddDate(0, 0, 1).Day() == 1 }}
	case field == "day" && kind == 1:
		return pattern{"last " + names[weekday], func(_ int, t time.Time) bool {
			return fromMonday(t) == weekday && t.AddDate(0, 0, 7).Month() != t.Month()
		}}
	case field == "day" && kind <= 3:
		n := r.IntN(5)
		return pattern{[]string{"1st ", "2nd ", "3rd ", "4th ", "5th "}[n] + names[weekday], func(_ int, t time.Time) bool {
			return fromMonday(t) == weekday && (t.Day()-1)/7 == n
		}}
	case field == "weekday" && kind == 0:
		return pattern{names[a] + "-" + names[b], func(v int, _ time.Time) bool { return a <= v && v <= b }}
	case kind == 4:
		return pattern{fmt.Sprintf("*/%d", step), func(v int, _ time.Time) bool { return (v-low)%step == 0 }}
	case kind == 5:
		return pattern{fmt.Sprintf("%d/%d", a, step), func(v int, _ time.Time) bool { return v >= a && (v-a)%step == 0 }}
	case kind == 6:
		return pattern{fmt.Sprintf("%d-%d/%d", a, b, step), func(v int, _ time.Time) bool { return a <= v && v <= b && (v-a)%step == 0 }}
	case kind == 7:
		return pattern{fmt.Sprintf("%d-%d", a, b), func(v int, _ time.Time) bool { return a <= v && v <= b }}
	}
	return pattern{fmt.Sprint(a), func(v int, _ time.Time) bool { return v == a }}
}

func fromMonday(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

// TestCronAgainstDayByDay compares Next and Latest with a walk through the
// days and minutes that knows nothing of bits.
func TestCronAgainstDayByDay(t *testing.T) {
	t.Parallel()
	const cases, horizon = 3000, 9 * 366
	r := rand.New(rand.NewPCG(1, 2))
	for range cases {
		year := randomPattern(r, "year", 2005, 2018)
		if strings.HasPrefix(year.text, "*/") || strings.Contains(year.text, ",*/") {
			year = pattern{"*", func(int, time.Time) bool { return true }} // steps count from 1970, not from 2005
		}
		month, day := randomPattern(r, "month", 1, 12), randomPattern(r, "day", 1, 31)
		week, weekday := randomPattern(r, "week", 1, 53), randomPattern(r, "weekday", 0, 6)
		hour, minute := randomPattern(r, "hour", 0, 23), randomPattern(r, "minute", 0, 59)
		fields := schedule.CronFields{
			Year: year.text, Month: month.text, Day: day.text, Week: week.text,
			Weekday: weekday.text, Hour: hour.text, Minute: minute.text,
		}
		dayMatches := func(d time.Time) bool {
			_, isoWeek := d.ISOWeek()
			return year.matches(d.Year(), d) && month.matches(int(d.Month()), d) && day.matches(d.Day(), d) &&
				week.matches(isoWeek, d) && weekday.matches(fromMonday(d), d)
		}
		start := time.Date(2005, 1, 1, 0, 0, r.IntN(14*366*24*60*60), r.IntN(2), time.UTC)
		want := walk(start, horizon, dayMatches, func(m time.Time) bool {
			return hour.matches(m.Hour(), m) && minute.matches(m.Minute(), m)
		})
		s := mustCron(t, fields)
		got := s.Next(start)
		if want.IsZero() {
			if !got.IsZero() && got.Before(start.AddDate(0, 0, horizon)) {
				t.Fatalf("%+v after %v: got %v, want none in the next %d days", fields, start, got, horizon)
			}
			continue
		}
		if got != want {
			t.Fatalf("%+v after %v: got %v, want %v", fields, start, got, want)
		}
		if back, more := schedule.Latest(s, start, want, 1); len(back) != 1 || back[0] != want || more {
			t.Fatalf("%+v: the latest in (%v, %v] is %v (more: %v)", fields, start, want, back, more)
		}
		if back, _ := schedule.Latest(s, start, want.Add(-1), 1); len(back) != 0 {
			t.Fatalf("%+v: the latest in (%v, %v) is %v, want none", fields, start, want, back)
		}
	}
}

// walk returns the first matching minute after start within so many days.
func walk(start time.Time, days int, dayMatches, minuteMatches func(time.Time) bool) time.Time {
	first := start.Truncate(24 * time.Hour)
	for d := range days {
		day := first.AddDate(0, 0, d)
		if !dayMatches(day) {
			continue
		}
		for m := range 24 * 60 {
			if minute := day.Add(time.Duration(m) * time.Minute); minute.After(start) && minuteMatches(minute) {
				return minute
			}
		}
	}
	return time.Time{}
}
