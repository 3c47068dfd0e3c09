package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"flowdrive/internal/errs"
	"flowdrive/schedule"
)

func mustCrontab(tb testing.TB, spec string) schedule.Schedule {
	tb.Helper()
	s, _, fault := schedule.ParseCrontab(spec)
	if fault != nil {
		tb.Fatalf("ParseCrontab(%q): %v", spec, fault)
	}
	return s
}

func TestCrontabNext(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ spec, canonical, want string }{
		{"30 5 * * 1-5", "30 5 * * 1-5", "2012-11-12T05:30:00 2012-11-13T05:30:00"},
		{" 30\t5  * * MON-Fri ", "30 5 * * mon-fri", "2012-11-12T05:30:00 2012-11-13T05:30:00"},
		{"0 0 * * 0", "0 0 * * 0", "2012-11-11T00:00:00 2012-11-18T00:00:00"},
		{"30 2 * * 7", "30 2 * * 7", "2012-11-11T02:30:00 2012-11-18T02:30:00"},
		{"0 0 * * 5-7", "0 0 * * 5-7", "2012-11-10T00:00:00 2012-11-11T00:00:00"},
		{"0 0 * * sat-sun", "0 0 * * sat-sun", "2012-11-10T00:00:00 2012-11-11T00:00:00"},
		{"0 0 * * 1-7/3", "0 0 * * 1-7/3", "2012-11-11T00:00:00 2012-11-12T00:00:00"},
		{"0 0 * * mon-sun", "0 0 * * mon-sun", "2012-11-10T00:00:00 2012-11-11T00:00:00"},
		{"0 0 * * 0,7", "0 0 * * 0,7", "2012-11-11T00:00:00 2012-11-18T00:00:00"},
		{"0 0 13 * 7", "0 0 13 * 7", "2012-11-11T00:00:00 2012-11-13T00:00:00"}, // either
		{"0 0 * * sun,wed", "0 0 * * sun,wed", "2012-11-11T00:00:00 2012-11-14T00:00:00"},
		{"0 0 13 * fri", "0 0 13 * fri", "2012-11-13T00:00:00 2012-11-16T00:00:00"}, // either
		{"0 0 13 * *", "0 0 13 * *", "2012-11-13T00:00:00 2012-12-13T00:00:00"},
		{"0 0 ? dec fri", "0 0 ? dec fri", "2012-12-07T00:00:00 2012-12-14T00:00:00"},
		{"0 0 1-31 * fri", "0 0 1-31 * fri", "2012-11-10T00:00:00 2012-11-11T00:00:00"},
		{"*/25 */8 * * *", "*/25 */8 * * *", "2012-11-09T16:00:00 2012-11-09T16:25:00"},
		{"@yearly", "@yearly", "2013-01-01T00:00:00 2014-01-01T00:00:00"},
		{"@Annually ", "@annually", "2013-01-01T00:00:00 2014-01-01T00:00:00"},
		{"@monthly", "@monthly", "2012-12-01T00:00:00 2013-01-01T00:00:00"},
		{"@weekly", "@weekly", "2012-11-11T00:00:00 2012-11-18T00:00:00"},
		{"@daily", "@daily", "2012-11-10T00:00:00 2012-11-11T00:00:00"},
		{"@midnight", "@midnight", "2012-11-10T00:00:00 2012-11-11T00:00:00"},
		{"@hourly", "@hourly", "2012-11-09T13:00:00 2012-11-09T14:00:00"},
		{"0 0 30 2 *", "0 0 30 2 *", "never"},
	} {
		s, canonical, fault := schedule.ParseCrontab(test.spec)
		if fault != nil {
			t.Errorf("%q: %v", test.spec, fault)
			continue
		}
		if got := strings.Join(coming(s, friday, 2), " "); got != test.want || canonical != test.canonical {
			t.Errorf("%q\n got %q %s\nwant %q %s", test.spec, canonical, got, test.canonical, test.want)
		}
	}
}

// robfig's own search ends after five years, and 2100 is no leap year.
func TestCrontabSearchesBeyondFiveYears(t *testing.T) {
	t.Parallel()
	s := mustCrontab(t, "0 0 29 2 *")
	if got, want := coming(s, at("2096-02-29T00:00:00"), 1)[0], "2104-02-29T00:00:00"; got != want {
		t.Errorf("after 29 February 2096: got %s, want %s", got, want)
	}
	if got, want := coming(s, at("2096-01-01T00:00:00"), 1)[0], "2096-02-29T00:00:00"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCrontabFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ spec, says string }{
		{"", "five fields"},
		{"* * * *", "five fields"},
		{"* * * * * *", "five fields"},
		{"0 * * * * *", "five fields"},
		{"@every 5m", "interval"},
		{"@every", "interval"},
		{"@EVERY 1h", "interval"},
		{"@reboot", "not known"},
		{"@", "not known"},
		{"@daily 5", "not known"},
		{"TZ=UTC", "zone"},
		{"CRON_TZ=Europe/Berlin", "zone"},
		{"tz=UTC * * * * *", "zone"},
		{" CRON_TZ=UTC 0 5 * * *", "zone"},
		{"TZ=", "zone"},
		{"* * * * 8", "0 and 7 = Sunday"},
		{"* * * * 5-8", "0 and 7 = Sunday"},
		{"* * * * 7-5", "must not end before it begins"},
		{"60 * * * *", "60"},
		{"* 24 * * *", "24"},
		{"* * 0 * *", "0"},
		{"* * * 13 *", "13"},
		{"5-3 * * * *", "5-3"},
		{"*/0 * * * *", "0"},
		{"*-5 * * * *", "not understood"},
		{", * * * *", "not understood"},
		{"1,,2 * * * *", "not understood"},
		{"+5 * * * *", "not understood"},
		{"1-2-3 * * * *", "not understood"},
		{"1/2/3 * * * *", "not understood"},
		{"1/ * * * *", "not understood"},
		{"x * * * *", `"x" is not a valid minute: write 0 to 59`},
		{"0 l * * *", `"l" is not a valid hour: write 0 to 23`},
		{"0 0 l * *", `"l" is not a valid day of the month: write 1 to 31`},
		{"0 0 1 l *", `"l" is not a valid month: write 1 to 12 (1 = January), or the names jan to dec`},
		{"0 0 * * l", `"l" is not a valid weekday: write 0 to 7 (0 and 7 = Sunday), or the names sun to sat`},
		{"0 0 * * */0", `"*/0": the step of the weekday must be at least 1`},
		{"* * * jan-x *", "x"},
		{"99999999999999999999 * * * *", "99999999999999999999"},
		{"* * * * fri-mon", "fri-mon"},
		{"* * * * * # comment", "five fields"},
		{strings.Repeat("1,", 600) + "1 * * * *", "longer"},
	} {
		s, _, fault := schedule.ParseCrontab(test.spec)
		if s != nil || fault == nil || fault.Pointer != "/spec" || !strings.Contains(fault.Detail, test.says) {
			t.Errorf("%q: got %v, want a fault that speaks of %q", test.spec, fault, test.says)
		}
		if fault != nil && strings.Contains(fault.Detail, "strconv") {
			t.Errorf("%q: %s", test.spec, fault.Detail)
		}
		if fault != nil && fault.Code != errs.CodeFormat && fault.Code != errs.CodeRange {
			t.Errorf("%q: got code %s", test.spec, fault.Code)
		}
	}
}

// Within its five years robfig's own Next is a second opinion.
func TestCrontabAgainstRobfig(t *testing.T) {
	t.Parallel()
	const cases = 3000
	r := rand.New(rand.NewPCG(3, 4))
	for range cases {
		spec := fmt.Sprintf("%s %s %s %s %s", randomCrontab(r, 0, 59), randomCrontab(r, 0, 23), randomCrontab(r, 1, 31), randomCrontab(r, 1, 12), randomCrontab(r, 0, 6))
		start := time.Unix(r.Int64N(4e9), r.Int64N(2)).UTC()
		theirs, err := cron.ParseStandard(spec)
		if err != nil {
			t.Fatal(err)
		}
		ours := mustCrontab(t, spec)
		want, got := theirs.Next(start), ours.Next(start)
		if want.IsZero() && got.After(start.AddDate(4, 0, 0)) {
			continue
		}
		if !got.Equal(want) {
			t.Fatalf("%q after %v: got %v, want %v", spec, start, got, want)
		}
	}
}

func randomCrontab(r *rand.Rand, low, high int) string {
	a := low + r.IntN(high-low+1)
	switch r.IntN(8) {
	case 0:
		return fmt.Sprint(a)
	case 1:
		return fmt.Sprintf("%d-%d", a, a+r.IntN(high-a+1))
	case 2:
		return fmt.Sprintf("*/%d", 1+r.IntN(high))
	case 3:
		return fmt.Sprintf("%d,%d/%d", a, low+r.IntN(high-low+1), 1+r.IntN(high))
	}
	return "*"
}
