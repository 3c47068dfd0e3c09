package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

// A dry run (docs/contract/drive.md#dry-runs) is a change like any other up to
// the end of its unit, which undoes it: so every check is made, those that only
// the transaction can make as well, and what would result is known to the last
// byte. Nothing is stored, and nothing runs after a commit that does not come.

// errUndone is how the unit of a dry run ends.
var errUndone = errs.New(errs.Internal, "A dry run was taken for a failure.")

// undone ends the unit of a dry run; of any other request it is nil.
func undone(req Request) error {
	if req.DryRun {
		return errUndone
	}
	return nil
}

// update runs f in a unit of its own. That of a dry run ends undone, which is
// how it succeeds.
func (e *base) update(ctx context.Context, f func(store.Tx) error) error {
	if err := e.store.Update(ctx, f); !errors.Is(err, errUndone) {
		return err
	}
	return nil
}

// newID returns the id of what a request creates. A dry run only looks which
// one would be next.
func (e *base) newID(req Request) int64 {
	if req.DryRun {
		return e.store.PeekID()
	}
	return e.store.NextID()
}

// spool reads a content into a file; for a dry run only its size and digest
// are taken.
func (e *base) spool(req Request, r io.Reader, limit int64) (Spooled, error) {
	if !req.DryRun {
		return e.blobs.Spool(r, limit)
	}
	w := &weighed{hash: sha256.New()}
	n, err := io.Copy(w.hash, io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = errs.New(errs.TooLarge, "The content is larger than is allowed here.")
	}
	w.size = n
	return w, err
}

// weighed is the content of a dry run: only its size and digest are left.
type weighed struct {
	hash hash.Hash
	size int64
}

// Sum returns the SHA-256 of the content.
func (w *weighed) Sum() (sum [32]byte) {
	w.hash.Sum(sum[:0])
	return sum
}

// Size returns its length in bytes.
func (w *weighed) Size() int64 { return w.size }

// Keep keeps nothing.
func (w *weighed) Keep() error { return nil }

// Discard has nothing to discard.
func (w *weighed) Discard() {}
