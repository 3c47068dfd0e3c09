package schedule_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/schedule"
)

func TestIntervalNext(t *testing.T) {
	t.Parallel()
	s := schedule.Interval(at("2012-11-09T12:00:00"), 2*time.Minute)
	// "The first instant not before" is Next of a moment earlier.
	for _, test := range []struct{ now, want string }{
		{"2012-11-09T11:00:00", "2012-11-09T12:00:00"},
		{"2012-11-09T12:00:00", "2012-11-09T12:00:00"},
		{"2012-11-09T12:00:00.5", "2012-11-09T12:02:00"},
		{"2012-11-09T12:02:00", "2012-11-09T12:02:00"},
		{"2012-11-10T00:00:01", "2012-11-10T00:02:00"},
	} {
		if got := coming(s, at(test.now).Add(-1), 1)[0]; got != test.want {
			t.Errorf("at %s: got %s, want %s", test.now, got, test.want)
		}
	}
	if got, want := coming(s, at("2012-11-09T12:00:00"), 1)[0], "2012-11-09T12:02:00"; got != want {
		t.Errorf("after an instant of the grid: got %s, want %s", got, want)
	}
	century := schedule.Interval(at("2012-11-09T12:00:00"), 36525*24*time.Hour)
	if diff := cmp.Diff([]string{"9913-01-08T12:00:00", "never"}, coming(century, at("9900-01-01T00:00:00"), 2)); diff != "" {
		t.Error("a century (-want +got):", diff)
	}
	if got := s.Next(time.Unix(1<<60, 0)); !got.IsZero() {
		t.Errorf("after the year 9999: got %v", got)
	}
	second := schedule.Interval(friday, time.Millisecond)
	if got, want := second.Next(friday), friday.Add(time.Second); got != want {
		t.Errorf("a period below a second: got %v, want %v", got, want)
	}
}

func TestOnceHasOneInstant(t *testing.T) {
	t.Parallel()
	s := schedule.Once(friday)
	if got := s.Next(friday.Add(-1)); got != friday {
		t.Errorf("got %v, want %v", got, friday)
	}
	if got := s.Next(friday); !got.IsZero() {
		t.Errorf("got %v, want none", got)
	}
	if got, more := schedule.Latest(s, friday.Add(-1), friday, 5); len(got) != 1 || got[0] != friday || more {
		t.Errorf("got %v, %v", got, more)
	}
	if got, _ := schedule.Latest(s, friday, friday.Add(time.Hour), 5); len(got) != 0 {
		t.Errorf("got %v, want none", got)
	}
}

// forward hides that a recurrence can be walked backwards.
type forward struct{ schedule.Schedule }

// all is Latest in the plainest way.
func all(s schedule.Schedule, after, upTo time.Time, n int) ([]time.Time, bool) {
	var out []time.Time
	for at := s.Next(after); !at.IsZero() && !at.After(upTo); at = s.Next(at) {
		out = append(out, at)
	}
	if len(out) > n {
		return out[len(out)-n:], true
	}
	return out, false
}

func TestLatestAgreesWithNext(t *testing.T) {
	t.Parallel()
	const cases = 400
	r := rand.New(rand.NewPCG(5, 6))
	for range cases {
		for name, s := range map[string]schedule.Schedule{
			"interval": schedule.Interval(friday.Add(-time.Duration(r.IntN(1e6))*time.Second), time.Duration(1+r.IntN(5000))*time.Second),
			"cron":     mustCron(t, schedule.CronFields{Hour: "8-10,14", Minute: "5/20", Weekday: "mon-fri"}),
			"leap day": mustCron(t, schedule.CronFields{Month: "2", Day: "29", Hour: "*/6", Minute: "0"}),
			"years":    mustCron(t, schedule.CronFields{Year: "2010,2012", Month: "11", Day: "last", Hour: "7", Minute: "*/30"}),
			"crontab":  mustCrontab(t, "0 0 13 * fri"),
		} {
			upTo := friday.Add(time.Duration(r.IntN(1e6)-5e5) * time.Second).Add(time.Duration(r.IntN(2)))
			after := upTo.Add(-time.Duration(r.IntN(4e5)) * time.Second)
			if name == "leap day" || name == "years" {
				after = upTo.AddDate(-r.IntN(30), 0, 0)
			}
			n := r.IntN(40)
			want, wantMore := all(s, after, upTo, n)
			for kind, s := range map[string]schedule.Schedule{"backward": s, "forward": forward{s}} {
				got, more := schedule.Latest(s, after, upTo, n)
				if len(got) == 0 {
					got = nil
				}
				if len(want) == 0 {
					want = nil
				}
				if diff := cmp.Diff(want, got); diff != "" || more != wantMore {
					t.Fatalf("%s %s: the last %d in (%v, %v], more %v, want %v (-want +got): %s", kind, name, n, after, upTo, more, wantMore, diff)
				}
			}
		}
	}
}

// counting counts how often a recurrence is asked.
type counting struct {
	schedule.Schedule
	asked int
}

func (c *counting) Next(t time.Time) time.Time {
	c.asked++
	return c.Schedule.Next(t)
}

// What was missed in millennia is found without counting through them, which
// would take this test hours.
func TestLatestOfManyIsCheap(t *testing.T) {
	t.Parallel()
	from, to := at("1970-01-01T00:00:00"), at("9999-12-31T23:59:59")
	slow := &counting{Schedule: mustCron(t, schedule.CronFields{})}
	for name, s := range map[string]schedule.Schedule{
		"every second":      schedule.Interval(from, time.Second),
		"every minute":      mustCron(t, schedule.CronFields{}),
		"one year long ago": mustCron(t, schedule.CronFields{Year: "1971"}),
		"forward":           slow,
	} {
		if got, more := schedule.Latest(s, from, to, 1000); len(got) != 1000 || !more {
			t.Errorf("%s: got %d instants, more %v", name, len(got), more)
		}
	}
	if slow.asked > 10_000 {
		t.Errorf("1000 instants took %d questions", slow.asked)
	}
	if got, more := schedule.Latest(mustCron(t, schedule.CronFields{Month: "2", Day: "30"}), from, to, 1000); len(got) != 0 || more {
		t.Errorf("30 February: got %v, %v", got, more)
	}
}
