package schedule_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flowdrive/schedule"
)

// steps steps the entry until nothing is due at now, and writes each step
// as a line.
func steps(t *testing.T, e *schedule.Entry, now string) []string {
	t.Helper()
	const short = "02T15:04:05"
	var out []string
	for {
		due, ok := e.Due()
		s := e.Step(at(now))
		if s.Instant.IsZero() {
			if ok && !due.After(at(now)) {
				t.Errorf("%v is due at %s, and nothing happens", due, now)
			}
			return out
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%d: %s", s.Iteration, s.Instant.Format(short))
		if s.Late {
			b.WriteString(" late")
		}
		if len(s.Skipped) > 0 {
			fmt.Fprintf(&b, ", skipped %d from %s to %s", len(s.Skipped), s.Skipped[0].Format(short), s.Skipped[len(s.Skipped)-1].Format(short))
		}
		if s.SkippedEarlier {
			b.WriteString(" and earlier")
		}
		if s.Ended {
			b.WriteString(", ended")
		}
		out = append(out, b.String())
	}
}

func TestStep(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, doc, now string
		want           []string
		next           string // "" for none
	}{
		{"nothing due", with("interval", everyTwo), "2012-11-09T12:36:55.999", nil, "2012-11-09T12:36:56"},
		{"in time", with("interval", everyTwo), "2012-11-09T12:36:56", []string{"1: 09T12:36:56"}, "2012-11-09T12:38:56"},
		{"the next is of the grid, not of the clock", with("interval", everyTwo), "2012-11-09T12:37:30", []string{"1: 09T12:36:56"}, "2012-11-09T12:38:56"},
		{"at the end of the grace", with("interval", everyTwo), "2012-11-09T12:37:54", []string{"1: 09T12:36:56"}, "2012-11-09T12:38:56"},
		{"beyond the grace", with("interval", everyTwo), "2012-11-09T12:37:54.001", []string{"1: 09T12:36:56 late"}, "2012-11-09T12:38:56"},
		{"no grace", with("interval", everyTwo+`, "graceSeconds": 0`), "2012-11-09T12:36:56.001", []string{"1: 09T12:36:56"}, "2012-11-09T12:38:56"},
		{"no grace, within the minute", with("interval", everyTwo+`, "graceSeconds": 0, "misfire": "skip"`), "2012-11-09T12:37:56", []string{"1: 09T12:36:56"}, "2012-11-09T12:38:56"},
		{"no grace, after the minute", with("interval", everyTwo+`, "graceSeconds": 0`), "2012-11-09T12:37:56.001", []string{"1: 09T12:36:56 late"}, "2012-11-09T12:38:56"},
		{
			"down over several instants", with("interval", everyTwo), "2012-11-09T13:00:00",
			[]string{"1: 09T12:58:56 late, skipped 11 from 09T12:36:56 to 09T12:56:56"},
			"2012-11-09T13:00:56",
		},
		{
			"an instant within the grace is of its own", with("cron", `"minute": "*"`), "2012-11-09T12:40:30",
			[]string{"1: 09T12:39:00 late, skipped 4 from 09T12:35:00 to 09T12:38:00", "2: 09T12:40:00"},
			"2012-11-09T12:41:00",
		},
		{
			"a large grace", with("cron", `"minute": "*/5", "graceSeconds": 3600`), "2012-11-09T12:47:00",
			[]string{"1: 09T12:35:00", "2: 09T12:40:00", "3: 09T12:45:00"},
			"2012-11-09T12:50:00",
		},
		{
			"down for years", with("interval", `"seconds": 1, "graceSeconds": 1`), "2022-11-09T12:34:56",
			[]string{"1: 09T12:34:54 late, skipped 1000 from 09T12:18:14 to 09T12:34:53 and earlier", "2: 09T12:34:55", "3: 09T12:34:56"},
			"2022-11-09T12:34:57",
		},
		{
			"only cases consume repeat", with("interval", everyTwo+`, "repeat": 2`), "2012-11-09T13:00:00",
			[]string{"1: 09T12:58:56 late, skipped 11 from 09T12:36:56 to 09T12:56:56"},
			"2012-11-09T13:00:56",
		},
		{
			"the last of repeat", with("cron", `"minute": "*", "repeat": 1`), "2012-11-09T12:40:30",
			[]string{"1: 09T12:39:00 late, skipped 4 from 09T12:35:00 to 09T12:38:00, ended"},
			"",
		},
		{
			"repeat counts down", with("cron", `"minute": "*/5", "repeat": 2, "graceSeconds": 3600`), "2012-11-09T12:47:00",
			[]string{"1: 09T12:35:00", "2: 09T12:40:00, ended"},
			"",
		},
		{"simple", with("simple", `"date": "2012-11-09T12:35"`), "2012-11-09T12:35:00", []string{"1: 09T12:35:00, ended"}, ""},
		{"simple, missed", with("simple", `"date": "2012-11-09T12:35"`), "2012-11-10T12:35:00", []string{"1: 09T12:35:00 late, ended"}, ""},
		{
			"the calendar ends", with("cron", `"year": 2012, "month": 12, "day": "30,31", "hour": 23, "minute": 59`), "2013-01-05T00:00:00",
			[]string{"1: 31T23:59:00 late, skipped 1 from 30T23:59:00 to 30T23:59:00, ended"},
			"",
		},
		{
			"crontab", with("crontab", `"spec": "@hourly"`), "2012-11-09T15:00:01",
			[]string{"1: 09T14:00:00 late, skipped 1 from 09T13:00:00 to 09T13:00:00", "2: 09T15:00:00"},
			"2012-11-09T16:00:00",
		},
		{"paused", with("cron", `"minute": "*", "paused": true`), "2013-01-05T00:00:00", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := entry(t, test.doc, friday, nil)
			modified := e.Modified
			got := steps(t, e, test.now)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error("(-want +got):", diff)
			}
			next := ""
			if due, ok := e.Due(); ok {
				next = due.Format("2006-01-02T15:04:05")
			}
			if next != test.next {
				t.Errorf("next: got %q, want %q", next, test.next)
			}
			if test.next == "" && len(e.Upcoming) > 0 {
				t.Errorf("upcoming: got %v", e.Upcoming)
			}
			if e.Modified != modified || e.IterationsPerformed != int64(len(got)) {
				t.Errorf("got modified %v, %d performed", e.Modified, e.IterationsPerformed)
			}
		})
	}
}

// TestPauseWhileItWaits: an instant that waits for its jitter is not lost by a
// pause.
func TestPauseWhileItWaits(t *testing.T) {
	t.Parallel()
	e := entry(t, with("interval", `"hours": 10, "jitterSeconds": 3600`), friday, nil)
	first := e.NextIteration
	due, _ := e.Due()
	if !due.After(first) {
		t.Fatalf("the first instant %s is due at %s, want it to wait", first, due)
	}
	between := first.Add(due.Sub(first) / 2)
	since := e.PausedSince(between)
	e.Pause("")
	if ok := e.Resume(since); !ok || e.NextIteration != first {
		t.Errorf("next is %s, want %s", e.NextIteration, first)
	}
}

func TestStepCounts(t *testing.T) {
	t.Parallel()
	e := entry(t, with("interval", everyTwo+`, "repeat": 3`), friday, nil)
	for i := range int64(3) {
		if e.IterationsPerformed != i || e.IterationsRemaining != 3-i || len(e.Upcoming) != int(3-i) || e.Upcoming[0] != e.NextIteration {
			t.Errorf("before step %d: %d performed, %d remaining, upcoming %v", i, e.IterationsPerformed, e.IterationsRemaining, e.Upcoming)
		}
		due := e.NextIteration
		s := e.Step(due)
		if s.Iteration != i+1 || s.Instant != due || e.LastIteration != due || s.Ended != (i == 2) {
			t.Errorf("step %d: got %+v", i, s)
		}
	}
	if e.IterationsRemaining != 0 || !e.NextIteration.IsZero() || len(e.Upcoming) != 0 {
		t.Errorf("after the last: %d remaining, next %v, upcoming %v", e.IterationsRemaining, e.NextIteration, e.Upcoming)
	}
}

// Whatever happens: each instant of the grid is stepped on or skipped once,
// in order; repeat is kept; and an entry that goes through its stored form
// at each step does exactly the same.
func TestStepProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		doc := rapid.SampledFrom([]string{
			with("interval", `"minutes": 7`), with("interval", `"seconds": 45, "graceSeconds": 120, "repeat": 9`),
			with("cron", `"minute": "*/7", "hour": "8-17"`), with("cron", `"minute": "*", "graceSeconds": 200, "repeat": 30`),
			with("crontab", `"spec": "*/10 * 9 * sun"`), with("simple", `"date": "2012-11-09T13:00"`),
			with("cron", `"year": "2012", "month": "11", "day": "9,10", "minute": "0,30"`),
		}).Draw(r, "doc")
		e := entry(t, doc, friday, nil)
		stored := e.Form()
		grid, repeat, performed := e.Schedule(), e.Repeat, int64(0)
		var seen []time.Time
		now := friday
		for range 12 {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(3*time.Hour)).Draw(r, "advance")))
			for {
				again, err := schedule.ReadForm(stored, zoneNamed)
				if err != nil {
					r.Fatal(err)
				}
				s, s2 := e.Step(now), again.Step(now)
				if diff := cmp.Diff(s, s2); diff != "" {
					r.Fatalf("the stored entry steps otherwise (-memory +stored): %s", diff)
				}
				if stored = again.Form(); !bytes.Equal(stored, e.Form()) {
					r.Fatalf("the stored entry becomes another:\n%s%s", e.Form(), stored)
				}
				if s.Instant.IsZero() {
					break
				}
				performed++
				seen = append(append(seen, s.Skipped...), s.Instant)
				if s.Iteration != performed || s.Late != now.After(s.Instant.Add(time.Duration(e.GraceSeconds)*time.Second)) || s.SkippedEarlier {
					r.Fatalf("at %v: got %+v", now, s)
				}
				if s.Ended && (!e.NextIteration.IsZero() || repeat > 0 && performed > repeat) {
					r.Fatalf("ended: %+v", e)
				}
			}
			if due, ok := e.Due(); ok && !due.After(now) {
				r.Fatalf("%v is still due at %v", due, now)
			}
		}
		want := []time.Time{}
		for at := grid.Next(friday); len(want) < len(seen); at = grid.Next(at) {
			want = append(want, at)
		}
		if !slices.Equal(seen, want) {
			r.Fatalf("got instants %v, want the grid's %v", seen, want)
		}
	})
}

func TestPreview(t *testing.T) {
	t.Parallel()
	list := func(instants []time.Time) string {
		var out []string
		for _, i := range instants {
			out = append(out, i.Format("15:04:05"))
		}
		return strings.Join(out, " ")
	}
	e := entry(t, with("interval", everyTwo+`, "repeat": 3`), friday, nil)
	for _, test := range []struct {
		from string
		n    int
		want string
	}{
		{"2012-11-09T12:34:56", 10, "12:36:56 12:38:56 12:40:56"},
		{"2010-01-01T00:00:00", 2, "12:36:56 12:38:56"},
		{"2012-11-09T12:38:56", 2, "12:38:56 12:40:56"},
		{"2012-11-09T12:38:56.1", 1, "12:40:56"},
		{"2012-11-09T12:34:56", 0, ""},
	} {
		if got := list(schedule.Preview(e, at(test.from), test.n)); got != test.want {
			t.Errorf("%d from %s: got %s, want %s", test.n, test.from, got, test.want)
		}
	}
	paused := entry(t, with("cron", nightly+`, "paused": true`), friday, nil)
	if got := schedule.Preview(paused, friday, 5); got != nil {
		t.Errorf("paused: got %v", got)
	}
	if got := schedule.Preview(&schedule.Entry{NextIteration: friday}, friday, 5); got != nil {
		t.Errorf("an entry without a type: got %v", got)
	}
}

// TestJitterVaries: also on a grid of few seconds every delay is taken, and
// none much oftener than others.
func TestJitterVaries(t *testing.T) {
	t.Parallel()
	e := entry(t, with("interval", `"seconds": 4, "jitterSeconds": 60`), friday, nil)
	count := map[time.Duration]int{}
	const instants = 40 // within 256 seconds
	for range instants {
		due, _ := e.Due()
		count[due.Sub(e.NextIteration)]++
		e.Step(due)
	}
	for delay := range 4 * time.Second / time.Second {
		if n := count[delay*time.Second]; n < 3 {
			t.Errorf("%d of %d instants are delayed by %d s: %v", n, instants, delay, count)
		}
	}
}

// TestSimpleInItsMinute: a simple entry whose date is now is in time, though
// the date's seconds are cut off.
func TestSimpleInItsMinute(t *testing.T) {
	t.Parallel()
	e := entry(t, with("simple", `"date": "2012-11-09T12:34:56", "misfire": "skip", "graceSeconds": 0`), friday, nil)
	if step := e.Step(friday); step.Instant.IsZero() || step.Late || len(step.Skipped) > 0 {
		t.Errorf("at once it does %+v", step)
	}
}
