package engine

import (
	"context"
	"errors"
	"time"
)

// What is done in many units goes on by itself if one of them fails: cases that follow the new
// name of a user or team, and cases that are moved to another version of their route. It is
// tried again until it is done, and administrators are told if that takes minutes.

const (
	leftAgain = 10 * time.Second // the first wait; each next one is twice as long
	leftMost  = 10 * time.Minute // the longest wait
	leftTold  = 4                // failures until people are told: after 70 seconds
)

// What administrators are told of what is left.
const (
	leftNames      = "a user or team was renamed, and not all cases have been written again with the new name"
	leftMigrations = "a route was stored with ?migrate, and not all cases have been moved to its new version"
)

// leftover is what a loop is told that carries on what is left.
type leftover struct{ more chan struct{} }

// rouse has the loop look for what is left.
func (l *leftover) rouse() {
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// finishLeft carries on what a process that ended, or a unit that failed, has left, until ctx
// ends.
func (e *Engine) finishLeft(ctx context.Context) {
	wrong, err := e.Server.Wrong(ctx)
	failed, told := 0, err != nil || wrong[ServerUnfinished] // before a restart
	for {
		what, err := e.finishOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			if failed++; failed == 1 {
				e.log.Error().Err(err).Str("what", what).Msg("unfinished: something that is done in many steps was interrupted; it is tried again")
			}
		} else {
			if failed > 0 {
				e.log.Info().Msg("unfinished: what was interrupted is done")
			}
			failed = 0
		}
		switch {
		case failed == 0 && told:
			told = !e.noteLeft(ctx, "")
		case failed >= leftTold:
			told = true
			e.noteLeft(ctx, what)
		}
		if failed == 0 && !told {
			select {
			case <-ctx.Done():
				return
			case <-e.left.more:
			}
			continue
		}
		pause(ctx, min(leftMost, leftAgain<<min(max(failed-1, 0), 10)))
	}
}

// noteLeft has administrators told of what is left. What cannot be noted now is noted with
// the next try.
func (e *Engine) noteLeft(ctx context.Context, what string) bool {
	if err := e.Server.Note(ctx, ServerUnfinished, what); err != nil {
		if ctx.Err() == nil {
			e.log.Warn().Err(err).Msg("unfinished: could not tell administrators")
		}
		return false
	}
	return true
}

// finishOnce carries on what is left, and says what still is if that fails.
func (e *Engine) finishOnce(ctx context.Context) (what string, err error) {
	names := ties{e.base}.followRenames(ctx)
	migrations := e.Routes.finishMigrations(ctx)
	switch {
	case names != nil && migrations != nil:
		what = leftNames + "; " + leftMigrations
	case names != nil:
		what = leftNames
	case migrations != nil:
		what = leftMigrations
	}
	return what, errors.Join(names, migrations)
}
