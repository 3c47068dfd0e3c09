package files

import (
	"context"

	"flowdrive/engine/quota"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Quota returns how much by has stored and may still store.
func (e *Files) Quota(ctx context.Context, by identity.Principal) (quota.Usage, error) {
	var q quota.Usage
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		q, err = e.quota.Usage(r.Blobs(), by.ID)
		return err
	})
	return q, err
}
