package scratch

import (
	"context"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/mediatype"
	"flowdrive/store"
)

// Locks in a scratch area. A client that mounts the drive locks a name before
// it creates anything there. If a document can be there, the lock makes a
// draft, which ends with it; elsewhere it makes an empty side file
// (docs/contract/drive.md#side-files).

// ScopeOf says which locks concern what is at a place of the scratch area
// of author.
func ScopeOf(author identity.ID, at store.ScratchPlace) change.LockScope {
	return change.ScopeOf(store.ScratchKey(author, at))
}

// MakeForLock makes what a LOCK of an unmapped name in a scratch area
// leaves: a draft, or an empty side file.
func (a *Area) MakeForLock(tx store.Tx, req change.Request, at store.ScratchPlace, kind store.ScratchKind, lasts time.Duration) error {
	if err := change.LegalDocumentName(at.Name); err != nil {
		return err
	}
	req.Now = a.Wall()
	if kind == store.Draft {
		_, err := a.makeDraft(tx, req, at, req.Now.Add(lasts))
		return err
	}
	s := empty(req, at, store.SideFile, req.Now.Add(lasts))
	s.MediaType = mediatype.Of(s.Place.Name)
	return a.keep(tx, s)
}

// FollowLock makes the draft that a lock has made last as long as the lock;
// one that has ended ends it.
func (a *Area) FollowLock(tx store.Tx, l *store.Lock, ended bool) error {
	if !strings.HasPrefix(string(l.On), string(store.LocksOnScratch)) {
		return nil
	}
	i := strings.LastIndexByte(l.Root, '/')
	draft, err := store.OrNil(tx.Scratch().Get(l.HolderID, store.ScratchPlace{Folder: l.Root[:i], Name: l.Root[i+1:]}.Normal()))
	if err != nil || draft == nil || !draft.Locked {
		return err
	}
	if ended {
		return tx.Write().Scratch().Delete(l.HolderID, draft.Place)
	}
	draft.Expires = l.Expires
	return tx.Write().Scratch().Put(draft)
}

// MayTake answers whether the caller may move the side file at the
// place away, under the conditions of the request.
func (a *Area) MayTake(ctx context.Context, req change.Request, at store.ScratchPlace) (*change.Taken, error) {
	var taken *change.Taken
	err := a.Store.View(ctx, func(r store.Reader) error {
		found, err := Live(r, req.By.ID, at, req.Now)
		if err != nil {
			return err
		}
		if found == nil || found.Kind == store.ScratchFolder {
			return change.Absent("file")
		}
		taken = &change.Taken{Scratch: &at, ID: found.ID, Content: found.SHA256}
		return a.CheckRequest(r.Locks(), req, Version(found), ScopeOf(req.By.ID, at))
	})
	return taken, err
}

// DeleteTaken deletes the side file that a request takes its content from: what a
// MOVE leaves behind.
func (a *Area) DeleteTaken(tx store.Tx, req change.Request) error {
	at := *req.Takes.Scratch
	found, err := store.OrNil(tx.Scratch().Get(req.By.ID, at.Normal()))
	if err != nil {
		return err
	}
	if found == nil || found.ID != req.Takes.ID || found.SHA256 != req.Takes.Content {
		return errs.New(errs.InUse, "%q was changed while it was moved; move it again.", at.Name)
	}
	if err := a.CheckLocks(tx.Locks(), req, ScopeOf(req.By.ID, at)); err != nil {
		return err
	}
	return a.remove(tx, found)
}

// remove deletes a row with all below it, and the locks on it.
func (a *Area) remove(tx store.Tx, s *store.Scratch) error {
	a.contents.RouseAfter(tx)
	if err := tx.Write().Scratch().Delete(s.Author, s.Place); err != nil {
		return err
	}
	if s.Kind == store.SideFile {
		if err := dropNotes(tx, s.Author, s.Place); err != nil {
			return err
		}
	}
	return tx.Write().Locks().DeleteOn(store.ScratchKey(s.Author, s.Place))
}
