package files

import (
	"slices"
	"strconv"
	"strings"

	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// LocksWithin returns the locks on what is below a folder, without those on
// the folder itself.
func (e *Files) LocksWithin(r store.Reader, at *Place) ([]store.Lock, error) {
	all, err := r.Locks().Below(store.RootKey(at.Root.ID), e.Wall())
	if err != nil || len(all) == 0 || at.Found == nil || !at.Found.Folder {
		return nil, err
	}
	ids := make([]int64, len(all))
	for i := range all {
		if ids[i], err = lockedDocument(&all[i]); err != nil {
			return nil, err
		}
	}
	below, err := r.Locks().DocumentsBelow(at.Found.ID, ids)
	var out []store.Lock
	for i := range all {
		if ids[i] != at.Found.ID && slices.Contains(below, ids[i]) {
			out = append(out, all[i])
		}
	}
	return out, err
}

// lockedDocument returns the id of the document that the lock is on.
func lockedDocument(l *store.Lock) (int64, error) {
	text := string(l.On)
	id, err := strconv.ParseInt(text[strings.LastIndexByte(text, '/')+1:], 10, 64)
	return id, errs.Wrap("read the key of a lock", err)
}

// releaseTree removes the locks on a document that goes and on all that is
// below it. If another user has a lock anywhere below, the request may not go
// on (RFC 4918, section 9.6.1).
func (e *Files) releaseTree(tx store.Tx, req change.Request, at *Place) error {
	below, err := e.LocksWithin(tx, at)
	if err != nil {
		return err
	}
	for i := range below {
		if err := e.CheckTokens(req, below[i:i+1]); err != nil {
			return err
		}
		if err := tx.Write().Locks().Delete(below[i].Token); err != nil {
			return err
		}
	}
	return tx.Write().Locks().DeleteOn(store.DocumentKey(at.Root.ID, at.Found.ID))
}
