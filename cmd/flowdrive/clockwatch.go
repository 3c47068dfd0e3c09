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
)

// clockWatch has people told if the clock of the machine goes back. Nothing fires twice, so
// that nothing fires until it is as late again as it was: after a wrong date for a minute that
// can be years.
type clockWatch struct {
	now    func() time.Time                // without a monotonic reading, which does not go back
	note   func(engine.ServerPart, string) // tells administrators
	log    zerolog.Logger
	latest time.Time // that it has shown
	said   bool      // that it has gone back
	well   bool      // that it has not
}

// newClockWatch returns nil in a sandbox, whose clock people move.
func (a *app) newClockWatch() *clockWatch {
	if a.sandbox != nil {
		return nil
	}
	return &clockWatch{now: a.wall, note: a.told.note, log: a.log}
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
	now := w.now()
	if !now.Before(w.latest) {
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
