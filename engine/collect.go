package engine

import (
	"context"
	"time"
)

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
		err := e.Files.Purge(ctx)
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
