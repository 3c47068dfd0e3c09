package engine_test

import (
	"strings"
	"testing"
	"time"
)

// TestSkippedInstantsAreTold: whose schedule entry passes over instants is told of the
// first of a day, whichever policy it was, and not of what was excluded or paused away.
func TestSkippedInstantsAreTold(t *testing.T) {
	t.Parallel()
	const task = `
title: Desk
access: {start: [everyone], read: [everyone]}
roles: {clerk: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions: {begin: {trigger: init}, finish: {in: [open], role: clerk, to: done}}
`
	newDesk := func(t *testing.T) *world {
		t.Helper()
		w := mailsWorld(t)
		w.as("admin").mustPutRoute("desk", task)
		return w
	}
	skipped := func(w *world) (lines []string) {
		for _, line := range w.sentTo("ann@example.org") {
			if strings.Contains(line, " Skipped: ") {
				lines = append(lines, line)
			}
		}
		return lines
	}

	t.Run("overlap", func(t *testing.T) {
		t.Parallel()
		w := newDesk(t)
		w.as("ann").mustPutEntry("hourly.json", `{"type": "crontab", "spec": "0 * * * *", "route": "desk", "title": "Hourly", "overlap": "skip"}`)
		w.advance(30 * time.Hour) // from 12:34:56; the case of 13:00 stays open
		const what = " Skipped: Hourly: overlap: an earlier case of the entry is still open"
		want := []string{"09 14:00" + what, "10 14:00" + what}
		same(t, "the first of each day", skipped(w), want)
		w.as("ann").mustDo(w.caseIDs()[0], "finish", "")
		w.advance(10 * time.Minute)
		w.as("ann").mustPutEntry("hourly.json", `{"type": "crontab", "spec": "0 0 1 1 *", "route": "desk", "title": "Hourly", "overlap": "skip"}`)
		w.advance(72 * time.Hour)
		same(t, "nothing was skipped since", skipped(w), append(want, "11 14:00"+what))
	})
	t.Run("misfire", func(t *testing.T) {
		t.Parallel()
		w := newDesk(t)
		ann := w.as("ann")
		ann.mustPutEntry("skips.json", `{"type": "crontab", "spec": "0 * * * *", "route": "desk", "title": "Skips", "misfire": "skip"}`)
		ann.mustPutEntry("once.json", `{"type": "crontab", "spec": "0 * * * *", "route": "desk", "title": "Once"}`)
		w.off("2012-11-09T16:30:00Z")
		same(t, "one of three", skipped(w), []string{"09 16:30 Skipped: Skips: misfire: missed by more than the grace"})
	})
	t.Run("the last", func(t *testing.T) {
		t.Parallel()
		w, letters, _ := deedsWorld(t)
		w.as("ann").mustPutEntry("once.json", `{"type": "simple", "date": "2012-11-09T13:00", "route": "desk", "title": "Once", "misfire": "skip"}`)
		w.off("2012-11-09T13:30:00Z")
		wantsMail(t, "ann", letters("ann@example.org"), "Skipped: Once: misfire: missed by more than the grace", "That was its last instant, and it has ended.")
	})
	t.Run("paused", func(t *testing.T) {
		t.Parallel()
		w := newDesk(t)
		ann := w.as("ann")
		ann.mustPutEntry("e.json", `{"type": "crontab", "spec": "0 * * * *", "route": "desk", "title": "Paused", "misfire": "skip"}`)
		ann.mustPutEntry("e.json", `{"do": "pause"}`)
		w.advance(3 * time.Hour)
		ann.mustPutEntry("e.json", `{"do": "resume"}`)
		w.advance(time.Minute)
		same(t, "paused away", skipped(w), []string(nil))
	})
	t.Run("deleted", func(t *testing.T) {
		t.Parallel()
		w := newDesk(t)
		ann := w.as("ann")
		ann.mustPutEntry("e.json", `{"type": "crontab", "spec": "0 * * * *", "route": "desk", "title": "Gone", "misfire": "skip"}`)
		w.off("2012-11-09T13:30:00Z")
		same(t, "before", len(skipped(w)), 1)
		if err := ann.Schedules.DeleteEntry(t.Context(), ann.request(nil), ann.ref("e.json")); err != nil {
			t.Fatal(err)
		}
		w.advance(72 * time.Hour)
		same(t, "after", len(skipped(w)), 1)
	})
}
