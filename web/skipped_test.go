package web

import (
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/schedule"
	"flowdrive/store"
)

// TestSkippedLast: an entry in the list says why its last instant was skipped.
func TestSkippedLast(t *testing.T) {
	t.Parallel()
	skipped := func(why string) store.Occurrence {
		return store.Occurrence{Outcome: engine.OutcomeSkipped, Reason: why}
	}
	fired := store.Occurrence{Outcome: engine.OutcomeFired}
	for _, test := range []struct {
		outcomes []store.Occurrence
		want     string
	}{
		{nil, ""},
		{[]store.Occurrence{fired, skipped("overlap: an earlier case of the entry is still open")}, ""},
		{[]store.Occurrence{skipped("overlap: an earlier case of the entry is still open"), fired}, "skipped: an earlier case is still open"},
		{[]store.Occurrence{skipped("paused: missed while the entry was paused")}, "skipped: missed while the entry was paused"},
		{[]store.Occurrence{skipped("excluded: 2012-11-28")}, ""},
		{[]store.Occurrence{skipped("")}, "skipped"},
	} {
		if got := skippedLast(test.outcomes); got != test.want {
			t.Errorf("%+v: got %q, want %q", test.outcomes, got, test.want)
		}
	}
}

// TestClocksOfInstants: seconds are shown only if the instants differ by them.
func TestClocksOfInstants(t *testing.T) {
	t.Parallel()
	from := time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC)
	for every, want := range map[time.Duration]string{time.Hour: "12:34", 20 * time.Second: "12:34:56"} {
		var instants []schedule.Instant
		for i := range time.Duration(4) {
			instants = append(instants, schedule.Instant{At: from.Add(i * every)})
		}
		if got := from.Format(clockOf(instants)); got != want {
			t.Errorf("every %s: got %s, want %s", every, got, want)
		}
	}
}

// TestZoneOfNext: the next instants name their zone if it is not that of the page.
func TestZoneOfNext(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	entries := g.furnishSchedule(t)
	for title, want := range map[string]bool{"Nightly rates": true, "Probe the scales": false} {
		got := g.browse(t, "ann").get(t, "/schedule/"+entries[title]).body
		if strings.Contains(got, `>Next</h2><span class="sub">Europe/Stockholm</span>`) != want {
			t.Errorf("%s: the zone of its next instants is named or not: want %v", title, want)
		}
	}
}
