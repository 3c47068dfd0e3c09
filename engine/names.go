package engine

import (
	"time"

	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// Given names: a resource that a user saved under a name keeps that name in
// addition to its identity (docs/contract/drive.md#identity-and-given-name).

// addGiven adds the given name and what was stored under it.
func (e *base) addGiven(res *Resource, given *store.GivenName) {
	if given == nil {
		return
	}
	res.Given, res.AuthorID = given.Name, given.Author
	res.Source, res.SourceETag, res.SourceSize = given.Source, given.ETag, given.Size
	if p := e.directory().ByID(given.Author); p != nil {
		res.Author = p.Name
	}
}

// setSource notes the bytes that are stored under the name.
func setSource(n *store.GivenName, body []byte, now time.Time) {
	n.Source, n.ETag, n.Size, n.Modified = body, change.SourceETag(body), int64(len(body)), now
}

// hiddenName returns errs.NameTaken if the author gave the name to a resource
// that they may no longer see.
func hiddenName(r store.Reader, folder store.Folder, ref Ref) error {
	if ref.Name == "" {
		return nil
	}
	held, err := store.OrNil(r.Names().Get(folder, ref.Author, ref.Name))
	if err != nil || held == nil {
		return err
	}
	return errs.New(errs.NameTaken, "You gave the name %q to a resource that you may no longer see; choose another name.", ref.Name)
}

// claimName stores given if the name still has the ETag was ("": is still
// free), else it returns change.ErrStale. The overwritten source is kept in the
// history, within its author's quota.
func (e *base) claimName(tx store.Tx, given *store.GivenName, was string) error {
	now, err := store.OrNil(tx.Names().Get(given.Folder, given.Author, given.Name))
	if err != nil {
		return err
	}
	if (now == nil) != (was == "") || now != nil && now.ETag != was {
		return change.ErrStale
	}
	if now != nil && now.ETag != given.ETag {
		if err := keepPastName(tx, now, given.Modified); err != nil {
			return err
		}
		if err := e.checkQuota(tx, now.Author, 0); err != nil {
			return err
		}
	}
	return tx.Write().Names().Put(given)
}

// freeName takes the given name of a case away at now, if it has one.
func freeName(tx store.Tx, caseID int64, now time.Time) error {
	given, err := store.OrNil(tx.Names().Of(store.FolderCases, store.UUID{}, caseID))
	if err != nil || given == nil {
		return err
	}
	if err := keepPastName(tx, given, now); err != nil {
		return err
	}
	return tx.Write().Names().Delete(store.FolderCases, given.Author, given.Name)
}
