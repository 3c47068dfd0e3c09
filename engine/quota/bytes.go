package quota

import (
	"errors"
	"fmt"
	"io"

	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Bytes is how many bytes each user may store (docs/contract/drive.md#limits).
// Counted are those of attachments, documents and messages that the user has
// written, each as often as it is stored under a name, however often the same
// content is, and the forms of cases, entries and versions of routes in whole pages. The store counts them in the transactions that write those rows.
//
// Whoever takes a body in
//
//   - asks Room before the body is read, with its length if that is known,
//   - reads the body through Reader, so that one of unknown length ends when
//     the room is used up, and
//   - asks Check in the unit, since others may have filled the room meanwhile.
type Bytes struct {
	Most int64                        // of a user who has no bound of their own
	Own  func(user identity.ID) int64 // the bound that an administrator has given the user, 0 for none; nil: nobody has one
}

// Of returns how many bytes the user may store.
func (b Bytes) Of(user identity.ID) int64 {
	if b.Own != nil {
		if own := b.Own(user); own > 0 {
			return own
		}
	}
	return b.Most
}

// Page is the unit in which the forms of cases, entries and routes count.
const Page = machine.FormPage

// Usage is how much a user has stored and may still store, in bytes.
type Usage struct {
	Used      int64
	Available int64
}

// Usage returns how much the user has stored and may still store.
func (b Bytes) Usage(r store.BlobReader, user identity.ID) (Usage, error) {
	used, err := r.StoredBytes(user)
	return Usage{Used: used, Available: max(0, b.Of(user)-used)}, err
}

// Room returns how many bytes the author may store if freed bytes of the
// author's own are replaced. It is errs.Full if the announced length is more;
// -1 announces nothing.
func (b Bytes) Room(r store.BlobReader, author identity.ID, freed, announced int64) (int64, error) {
	used, err := r.StoredBytes(author)
	if err != nil {
		return 0, err
	}
	room := max(0, b.Of(author)-used+freed)
	if announced > room {
		return 0, b.full(author)
	}
	return room, nil
}

// Check answers errs.Full if so many bytes more are too many.
func (b Bytes) Check(r store.BlobReader, author identity.ID, more int64) error {
	used, err := r.StoredBytes(author)
	if err == nil && used+more > b.Of(author) {
		return b.full(author)
	}
	return err
}

// Reader returns a reader of the author's body that answers errs.Full once it has more
// than room bytes.
func (b Bytes) Reader(author identity.ID, body io.Reader, room int64) io.Reader {
	return Reader(body, room, func() error { return b.full(author) })
}

func (b Bytes) full(author identity.ID) error {
	return &errs.Error{
		Kind:   errs.Full,
		Detail: fmt.Sprintf("That would be more than the %d bytes you may store; delete something first, or ask an administrator.", b.Of(author)),
		Err:    ErrUsedUp,
	}
}

// ErrUsedUp is what the errors wrap that say that a quota is full. It tells
// that, which concerns one user, from a full disk, upon which nothing can be
// stored until there is room.
var ErrUsedUp = errors.New("the quota is used up")

// Unserved reports whether an error is the store's, which cannot serve now:
// the same thing is tried again later, in the same order.
func Unserved(err error) bool {
	kind := errs.KindOf(err)
	return kind == errs.Unavailable || kind == errs.Full && !errors.Is(err, ErrUsedUp)
}
