package engine

import (
	"context"
	"errors"
	"fmt"
	"io"

	"flowdrive/engine/quota"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Bytes count against the quota of their author
// (docs/contract/drive.md#limits): those of attachments, documents and
// messages, each as often as it is stored under a name, even if it is the same
// content. The store counts them in the transactions that write the rows. A use
// case that takes a body
//
//   - calls roomFor before it reads the body, if the length is known,
//   - reads it through within, so that a body of unknown length ends where the room
//     does, and
//   - calls checkQuota in the unit, since other requests may have used the room
//     meanwhile.

// Quota is how much a user may store.
type Quota struct {
	Used      int64
	Available int64
}

// Quota returns how much by has stored and may still store.
func (e *base) Quota(ctx context.Context, by identity.Principal) (Quota, error) {
	var q Quota
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		q.Used, err = r.Blobs().StoredBytes(by.ID)
		q.Available = max(0, e.limits.Quota-q.Used)
		return err
	})
	return q, err
}

// roomFor returns how many bytes the author may store if freed bytes of their
// own are replaced. It returns errs.Full if the announced length is more; -1
// means that no length was announced.
func (e *base) roomFor(r store.BlobReader, author identity.ID, freed, announced int64) (int64, error) {
	used, err := r.StoredBytes(author)
	if err != nil {
		return 0, err
	}
	room := max(0, e.limits.Quota-used+freed)
	if announced > room {
		return 0, e.overQuota()
	}
	return room, nil
}

// checkQuota returns errs.Full if so many more bytes are too many.
func (e *base) checkQuota(r store.BlobReader, author identity.ID, more int64) error {
	used, err := r.StoredBytes(author)
	if err == nil && used+more > e.limits.Quota {
		return e.overQuota()
	}
	return err
}

func (e *base) overQuota() error {
	return &errs.Error{
		Kind:   errs.Full,
		Detail: fmt.Sprintf("That would be more than the %d bytes you may store; delete something first, or ask an administrator.", e.limits.Quota),
		Err:    errQuota,
	}
}

// errQuota distinguishes a full quota, which concerns one user, from a full
// disk, which keeps anything from being stored.
var errQuota = errors.New("the quota is used up")

// within returns a reader of the body that answers errs.Full once it has
// more than room bytes.
func (e *base) within(body io.Reader, room int64) io.Reader {
	return quota.Reader(body, room, e.overQuota)
}
