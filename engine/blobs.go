package engine

import (
	"context"
	"time"

	"flowdrive/store"
)

// Contents that are files are kept by package contents, which says how.

// storing has a spooled content kept while f refers to it. In a dry run there
// is nothing to keep.
func (e *base) storing(ctx context.Context, s Spooled, f func() error) error {
	if _, dryRun := s.(*weighed); dryRun {
		return f()
	}
	return e.contents.Storing(ctx, s, f)
}

// storingContent is storing for a content that may as well be held in
// memory.
func (e *base) storingContent(ctx context.Context, c *content, f func() error) error {
	if c.spooled == nil {
		return f()
	}
	return e.storing(ctx, c.spooled, f)
}

// unreferred is called in every unit that may drop a reference to a content.
func (e *base) unreferred(tx store.Tx) { tx.AfterCommit(e.contents.Rouse) }

// collectWhenRoused collects until ctx ends, each time it is roused.
func (e *Engine) collectWhenRoused(ctx context.Context) {
	retry := time.NewTimer(0)
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.contents.Roused():
		case <-retry.C:
		}
		err := e.purge(ctx)
		if err == nil {
			err = e.contents.Collect(ctx)
		}
		if err != nil && ctx.Err() == nil {
			e.log.Error().Err(err).Msg("contents: could not remove unreferenced contents; it will be tried again")
			retry.Reset(collectAgain)
		}
	}
}

// collectAgain is the wait after contents could not be removed.
const collectAgain = time.Minute
