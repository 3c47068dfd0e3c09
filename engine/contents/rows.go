package contents

import (
	"context"

	"flowdrive/store"
)

// storeRows are the rows of contents in a store.
type storeRows struct{ store store.Store }

// Known reports whether a content has a row.
func (b storeRows) Known(ctx context.Context, sum [32]byte) (known bool, err error) {
	err = b.store.View(ctx, func(r store.Reader) (err error) {
		_, known, err = r.Blobs().Refs(sum)
		return err
	})
	return known, err
}

// Note makes a content known to which nothing refers yet.
func (b storeRows) Note(ctx context.Context, sum [32]byte) error {
	return b.store.Update(ctx, func(tx store.Tx) error { return tx.Write().Blobs().Note(sum) })
}

// Unused returns contents that nothing refers to, in order.
func (b storeRows) Unused(ctx context.Context, after [32]byte, limit int) (list [][32]byte, err error) {
	err = b.store.View(ctx, func(r store.Reader) error {
		found, err := r.Blobs().Unused(after, limit)
		for _, d := range found {
			list = append(list, d)
		}
		return err
	})
	return list, err
}

// StillUnused returns the contents of the list that have no references.
func (b storeRows) StillUnused(ctx context.Context, list [][32]byte) (unused [][32]byte, err error) {
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
func (b storeRows) Forget(ctx context.Context, list [][32]byte) error {
	return b.store.Update(ctx, func(tx store.Tx) error {
		for _, sum := range list {
			if err := tx.Write().Blobs().Forget(sum); err != nil {
				return err
			}
		}
		return nil
	})
}
