package files

import (
	"context"
	"fmt"

	"flowdrive/engine/quota"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// checkStored answers errs.Full if what the author has stored, with what the unit
// has added, is more than the quota: in bytes, or in documents and folders.
func (e *Files) checkStored(tx store.Tx, author identity.ID) error {
	if err := e.quota.Check(tx.Blobs(), author, 0); err != nil {
		return err
	}
	n, err := tx.Blobs().StoredFiles(author)
	if err == nil && n > e.most {
		return &errs.Error{
			Kind:   errs.Full,
			Detail: fmt.Sprintf("That would be more than the %d documents and folders you may have; delete some first, or ask an administrator.", e.most),
			Err:    quota.ErrUsedUp,
		}
	}
	return err
}

// Quota returns how much by has stored and may still store.
func (e *Files) Quota(ctx context.Context, by identity.Principal) (quota.Usage, error) {
	var q quota.Usage
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		q, err = e.quota.Usage(r.Blobs(), by.ID)
		return err
	})
	return q, err
}
