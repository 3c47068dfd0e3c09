package scratch

import (
	"context"
	"time"

	"flowdrive/store"
)

// droppedAtOnce is how many rows are deleted in one unit: others wait for it.
const droppedAtOnce = 1000

// DeleteExpired deletes what has expired by the machine's clock, until ctx ends.
func (a *Area) DeleteExpired(ctx context.Context) { a.expiry.Run(ctx, a.log, a.dropExpired) }

// dropExpired deletes the rows that have expired, and returns how long the next one
// does not: 0 if there is none.
func (a *Area) dropExpired(ctx context.Context) (time.Duration, error) {
	for {
		var next time.Time
		err := a.Store.View(ctx, func(r store.Reader) (err error) {
			next, err = r.Scratch().NextExpiry()
			return err
		})
		if err != nil || next.IsZero() {
			return 0, err
		}
		now := a.Wall()
		if wait := next.Sub(now); wait > 0 {
			return wait, nil
		}
		err = a.Store.Update(ctx, func(tx store.Tx) error {
			a.contents.RouseAfter(tx)
			_, err := tx.Write().Scratch().DeleteExpired(now, droppedAtOnce)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
}
