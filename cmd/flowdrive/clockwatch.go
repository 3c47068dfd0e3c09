package main

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/engine"
)

const (
	clockAsked = 10 * time.Second // so often
	clockBack  = time.Minute      // that the clock is corrected by less is usual
	clockAhead = 2 * time.Minute  // the same; a machine that has much to do may look late
)

// clockWatch has people told if the clock of the machine goes back. Nothing fires twice, so
// that nothing fires until it is as late again as it was: after a wrong date for a minute that
// can be years. That it jumps ahead is in the log: what is due by then is done at once.
type clockWatch struct {
	now    func() time.Time                // without a monotonic reading, which does not go back
	passed func() time.Duration            // since the start, whatever the clock is set to
	note   func(engine.ServerPart, string) // tells administrators
	log    zerolog.Logger
	last   time.Duration // passed at the last look
	latest time.Time     // that it has shown
	said   bool          // that it has gone back
	well   bool          // that it has not
}

// newClockWatch returns nil in a sandbox, whose clock people move.
func (a *app) newClockWatch() *clockWatch {
	if a.sandbox != nil {
		return nil
	}
	begun := time.Now()
	return &clockWatch{now: a.wall, passed: func() time.Duration { return time.Since(begun) }, note: a.told.note, log: a.log}
}

// run looks at the clock until ctx ends.
func (w *clockWatch) run(ctx context.Context) error {
	if w == nil {
		return nil
	}
	return regularly(ctx, clockAsked, func(context.Context) { w.look() })
}

// look looks at the clock once. That it has gone back, and that it is as late again, is
// said once.
func (w *clockWatch) look() {
	now, passed := w.now(), w.passed()
	since := passed - w.last
	w.last = passed
	if !now.Before(w.latest) {
		if ahead := now.Sub(w.latest) - since; !w.latest.IsZero() && !w.said && ahead >= clockAhead {
			w.log.Warn().Time("from", w.latest.Add(since).UTC()).Time("to", now.UTC()).Msg("clock: the machine's clock has jumped ahead, or the machine has slept; what has become due by that is done now, or skipped as the entries ask for")
		}
		w.latest, w.said = now, false
		if !w.well {
			w.well = true
			w.note(engine.ServerClock, "") // also what was wrong before a restart
		}
		return
	}
	if w.said || w.latest.Sub(now) < clockBack {
		return
	}
	w.said, w.well = true, false
	from, to := w.latest.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339)
	w.log.Error().Str("from", from).Str("to", to).Msg("clock: the machine's clock has gone back")
	w.note(engine.ServerClock, "it went back from "+from+" to "+to+"; schedule entries that fired in between fire again after that")
}
