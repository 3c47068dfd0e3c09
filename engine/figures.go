package engine

import (
	"context"
	"time"

	"flowdrive/store"
)

// Figures returns how much there is and how much of it waits, and the instant at which
// that was so, for monitoring. It sees everything: it is not for the answer to a user.
// Errors are those of the store.
func (e *Engine) Figures(ctx context.Context) (f *store.Figures, now time.Time, err error) {
	now = e.Clock.Now()
	f, err = e.Store.Figures(ctx, now)
	return f, now, err
}
