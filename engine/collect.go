package engine

import (
	"context"
	"errors"
	"time"

	"flowdrive/engine/contents"
)

// keeperOf returns the keeper of contents, which logs what is damaged.
func keeperOf(cfg Config) *contents.Keeper {
	k := contents.NewKeeper(cfg.Blobs, cfg.Store)
	k.OnDamage = func(sum [32]byte, what string) {
		cfg.Log.Error().Hex("content", sum[:]).Str("what", what).
			Msg("contents: what is on the disk is not what was stored; flowdrive check says what it is of, and a backup may have it")
		if cfg.OnDamage != nil {
			cfg.OnDamage(sum, what)
		}
	}
	return k
}

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
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, contents.ErrPinned):
			retry.Reset(collectAgain)
		default:
			e.log.Error().Err(err).Msg("contents: could not remove unreferenced contents; it will be tried again")
			retry.Reset(collectAgain)
		}
	}
}

// collectAgain is the wait after contents could not be removed.
const collectAgain = time.Minute
