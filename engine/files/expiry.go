package files

import (
	"context"
	"sync/atomic"
	"time"

	"flowdrive/store"
)

// expiry deletes what has expired: scratch files and tombstones by the machine's
// clock, versions of documents by the drive's. It does not poll: while there are none,
// it waits for one.
type expiry struct {
	idle atomic.Bool // nothing expires: it waits to be told
	wake chan struct{}
}

func newExpiry() *expiry { return &expiry{wake: make(chan struct{}, 1)} }

// soonest is the shortest wait between two looks: what has expired is not
// read any more, so that deleting it has time.
const soonest = time.Minute

// retryAfter is the wait after expired files could not be deleted.
const retryAfter = time.Minute

// note says that something was stored that expires, unless it failed.
func (x *expiry) note(failure error) {
	if failure == nil && x.idle.Load() {
		select {
		case x.wake <- struct{}{}:
		default:
		}
	}
}

// DeleteExpired deletes what expires until ctx ends.
func (e *Files) DeleteExpired(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.expiry.wake:
		case <-timer.C:
		}
		e.expiry.idle.Store(true) // before the look: what comes behind it wakes
		wait, err := e.dropExpired(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			e.log.Error().Err(err).Msg("files: could not delete what has expired; it will be tried again")
			timer.Reset(retryAfter)
		case wait > 0:
			e.expiry.idle.Store(false)
			timer.Reset(max(soonest, wait))
		}
	}
}

// dropExpired deletes what has expired and returns how long nothing else does, 0 if
// nothing will.
func (e *Files) dropExpired(ctx context.Context) (wait time.Duration, err error) {
	next, err := e.dropScratch(ctx)
	if err != nil {
		return 0, err
	}
	if wait, err = e.dropVersions(ctx); err != nil || next.IsZero() {
		return wait, err
	}
	scratch := max(soonest, next.Sub(e.Wall()))
	if wait == 0 {
		return scratch, nil
	}
	return min(wait, scratch), nil
}

// dropScratch deletes the scratch files that have expired and returns when
// the next one does, zero for never.
func (e *Files) dropScratch(ctx context.Context) (next time.Time, err error) {
	for {
		err := e.Store.View(ctx, func(r store.Reader) (err error) {
			next, err = r.Scratch().NextExpiry()
			return err
		})
		now := e.Wall()
		if err != nil || next.IsZero() || next.After(now) {
			return next, err
		}
		err = e.Store.Update(ctx, func(tx store.Tx) error {
			e.contents.RouseAfter(tx)
			_, err := tx.Write().Scratch().DeleteExpired(now, purgeAtOnce)
			return err
		})
		if err != nil {
			return next, err
		}
	}
}
