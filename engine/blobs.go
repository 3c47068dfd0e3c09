package engine

import (
	"context"
	"time"

	"flowdrive/store"
)

// Contents that are files are kept by package contents, which says how. To
// keep contents of another table this way: three triggers like those of
// messages (schema/sql/0002_attachments.sql), storing around the change that
// writes a row, unreferred in every unit that may drop one, and a line in the
// store's consistency test. Bytes that count against a quota are counted by
// the same triggers in stored_bytes (quota.go).

// blobRows is what the store knows of contents, for who keeps them.
type blobRows struct{ store store.Store }

// Known reports whether a content has a row.
func (b blobRows) Known(ctx context.Context, sum [32]byte) (known bool, err error) {
	err = b.store.View(ctx, func(r store.Reader) (err error) {
		_, known, err = r.Blobs().Refs(sum)
		return err
	})
	return known, err
}

// Note makes a content known to which nothing refers yet.
func (b blobRows) Note(ctx context.Context, sum [32]byte) error {
	return b.store.Update(ctx, func(tx store.Tx) error { return tx.Write().Blobs().Note(sum) })
}

// Unused returns contents that nothing refers to, in order.
func (b blobRows) Unused(ctx context.Context, after [32]byte, limit int) (list [][32]byte, err error) {
	err = b.store.View(ctx, func(r store.Reader) error {
		found, err := r.Blobs().Unused(after, limit)
		for _, d := range found {
			list = append(list, d)
		}
		return err
	})
	return list, err
}

// StillUnused returns those of the contents to which nothing refers.
func (b blobRows) StillUnused(ctx context.Context, list [][32]byte) (unused [][32]byte, err error) {
	err = b.store.View(ctx, func(r store.Reader) error {
		for _, sum := range list {
			n, known, err := r.Blobs().Refs(sum)
			if err != nil {
				return err
			}
			if known && n == 0 {
				unused = append(unused, sum)
			}
		}
		return nil
	})
	return unused, err
}

// Forget forgets contents to which nothing refers.
func (b blobRows) Forget(ctx context.Context, list [][32]byte) error {
	return b.store.Update(ctx, func(tx store.Tx) error {
		for _, sum := range list {
			if err := tx.Write().Blobs().Forget(sum); err != nil {
				return err
			}
		}
		return nil
	})
}

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
