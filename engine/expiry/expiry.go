// Package expiry deletes what has expired. It does not poll: while nothing expires, it
// waits to be told that something does.
package expiry

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// Loop looks again and again at what one kind of thing has that expires.
type Loop struct {
	idle atomic.Bool // nothing expires: it waits to be told
	wake chan struct{}
}

// New returns a loop that Run runs.
func New() *Loop { return &Loop{wake: make(chan struct{}, 1)} }

// soonest is the shortest wait between two looks: what has expired is not
// read any more, so that deleting it has time.
const soonest = time.Minute

// retryAfter is the wait after what has expired could not be deleted.
const retryAfter = time.Minute

// Stored says that something was stored that expires, unless it failed.
func (l *Loop) Stored(failure error) {
	if failure == nil && l.idle.Load() {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// Run calls drop until ctx ends. drop deletes what has expired, and returns how long
// nothing else does: 0 if nothing will.
func (l *Loop) Run(ctx context.Context, log zerolog.Logger, drop func(context.Context) (time.Duration, error)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		case <-timer.C:
		}
		l.idle.Store(true) // before the look: what comes behind it wakes
		wait, err := drop(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			log.Error().Err(err).Msg("files: could not delete what has expired; it will be tried again")
			timer.Reset(retryAfter)
		case wait > 0:
			l.idle.Store(false)
			timer.Reset(max(soonest, wait))
		}
	}
}
