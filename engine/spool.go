package engine

import (
	"crypto/sha256"
	"hash"
	"io"

	"flowdrive/internal/errs"
)

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
