package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/schedule"
)

// TestExclusionsAgreeWithAWalk compares what drawn entries do around drawn days off with a walk
// through what they do without.
func TestExclusionsAgreeWithAWalk(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		doc := []string{
			with("cron", `"hour": "6,18", "minute": "30", "timezone": "Europe/Berlin"`), with("cron", nightly),
			with("crontab", `"spec": "*/20 * * * 1-5"`), with("interval", `"hours": 5`), with("simple", `"date": "2012-11-14T08:00:00"`),
		}[r.IntN(5)]
		e, plain := entry(t, doc, friday, nil), entry(t, doc, friday, nil)
		var off []schedule.Span
		for range r.IntN(6) {
			from := friday.Truncate(24 * time.Hour).Add(time.Duration(r.IntN(200)) * time.Hour)
			off = append(off, schedule.Span{From: from, To: from.Add(time.Duration(1+r.IntN(48)) * time.Hour)})
		}
		var want []time.Time
		for _, at := range plain.Between(friday, friday.AddDate(0, 0, 20)) {
			excluded := false
			for _, s := range off {
				excluded = excluded || !at.Before(s.From) && at.Before(s.To)
			}
			if !excluded {
				want = append(want, at)
			}
		}
		comes := e.Observe(off, friday)
		if diff := cmp.Diff(want, e.Between(friday, friday.AddDate(0, 0, 20))); diff != "" {
			t.Fatalf("%s without %v (-want +got):\n%s", doc, off, diff)
		}
		first := want
		for len(first) > 0 && first[0].Before(plain.NextIteration) { // a grid that starts now
			first = first[1:]
		}
		if comes != (len(first) > 0) || comes && (!e.NextIteration.Equal(first[0]) || !e.Upcoming[0].Equal(first[0])) {
			t.Fatalf("%s without %v: next %v, %v, upcoming %v, want %v", doc, off, comes, e.NextIteration, e.Upcoming, first)
		}

		// A day that is off no more comes again, unless it has passed.
		e.Observe(nil, friday)
		if !e.NextIteration.Equal(plain.NextIteration) {
			t.Fatalf("%s: next is %v, want %v", doc, e.NextIteration, plain.NextIteration)
		}
	}
}

// A paused entry has no next instant, whatever its calendar says.
func TestObservePaused(t *testing.T) {
	t.Parallel()
	e := entry(t, with("cron", nightly+`, "paused": true`), friday, nil)
	if !e.Observe(nil, friday) || !e.NextIteration.IsZero() {
		t.Errorf("next is %v", e.NextIteration)
	}
	e.Observe([]schedule.Span{{From: friday, To: friday.AddDate(0, 0, 2)}}, friday)
	e.Resume(friday)
	if got, want := fmt.Sprint(e.NextIteration), "2012-11-11 23:00:00 +0000 UTC"; got != want {
		t.Errorf("next is %s, want %s", got, want)
	}
}
