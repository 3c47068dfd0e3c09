package engine

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

func sceneOfScratch(author identity.ID, at store.ScratchPlace) change.LockScope {
	return change.ScopeOf(store.ScratchKey(author, at))
}

func (e *Files) targetInScratch(r store.Reader, by identity.Principal, t Target) (*targeted, error) {
	found, err := liveScratch(r, by.ID, t.Scratch, e.Wall())
	if err != nil {
		return nil, err
	}
	out := &targeted{scratch: &t}
	if found == nil {
		return out, nil
	}
	out.LockScope, out.version = sceneOfScratch(by.ID, t.Scratch), scratchVersion(found)
	if found.Kind != store.SideFile && found.Kind != store.Draft {
		out.refused = errs.New(errs.NotLockable, "%q cannot be locked; lock a document.", found.Place.Name)
	}
	return out, nil
}

// makeScratchForLock makes what a LOCK of an unmapped name in a scratch area
// leaves.
func (e *Files) makeScratchForLock(tx store.Tx, req Request, at *targeted, lasts time.Duration) error {
	if err := change.LegalDocumentName(at.scratch.Scratch.Name); err != nil {
		return err
	}
	req.Now = e.Wall()
	at.Self = store.ScratchKey(req.By.ID, at.scratch.Scratch)
	if at.scratch.Draft {
		_, err := e.makeDraft(tx, req, at.scratch.Scratch, req.Now.Add(lasts))
		return err
	}
	empty := emptyScratch(req, at.scratch.Scratch, store.SideFile, req.Now.Add(scratchLasts))
	empty.MediaType = mediatype.Of(empty.Place.Name)
	return e.keepScratch(tx, empty)
}

// followLock makes the draft that a lock has made last as long as the lock;
// one that has ended ends it.
func (e *Files) followLock(tx store.Tx, l *store.Lock, ended bool) error {
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

// EndDraft deletes the draft at the place, if there is one. If a document has
// replaced it, the locks on the draft are on the document from now on.
func (e *Locks) EndDraft(ctx context.Context, by identity.Principal, at store.ScratchPlace, became *Target) error {
	return e.Update(ctx, func(tx store.Tx) error {
		found, err := store.OrNil(tx.Scratch().Get(by.ID, at.Normal()))
		if err != nil || found == nil || found.Kind != store.Draft {
			return err
		}
		if err := tx.Write().Scratch().Delete(by.ID, found.Place); err != nil {
			return err
		}
		key := store.ScratchKey(by.ID, at)
		if became == nil {
			return tx.Write().Locks().DeleteOn(key)
		}
		to, err := e.target(tx, by, *became)
		if errs.Is(err, errs.NotFound) || err == nil && !to.exists() {
			return nil // its name is not kept: the lock ends where it began
		}
		if err != nil {
			return err
		}
		return tx.Write().Locks().Move(key, to.Self)
	})
}

// MayTakeScratch answers whether the caller may move the side file at the
// place away, under the conditions of the request.
func (e *Files) MayTakeScratch(ctx context.Context, req Request, at store.ScratchPlace) (*Taken, error) {
	var taken *Taken
	err := e.Store.View(ctx, func(r store.Reader) error {
		found, err := liveScratch(r, req.By.ID, at, req.Now)
		if err != nil {
			return err
		}
		if found == nil || found.Kind == store.ScratchFolder {
			return change.Absent("file")
		}
		taken = &Taken{Scratch: &at, ID: found.ID, Content: found.SHA256}
		return e.CheckRequest(r.Locks(), req, scratchVersion(found), sceneOfScratch(req.By.ID, at))
	})
	return taken, err
}

// deleteSideFile deletes the side file that a request takes its content from.
func (e *Files) deleteSideFile(tx store.Tx, req Request) error {
	at := *req.Takes.Scratch
	found, err := store.OrNil(tx.Scratch().Get(req.By.ID, at.Normal()))
	if err != nil {
		return err
	}
	if found == nil || found.ID != req.Takes.ID || found.SHA256 != req.Takes.Content {
		return errs.New(errs.InUse, "%q was changed while it was moved; move it again.", at.Name)
	}
	if err := e.CheckLocks(tx.Locks(), req, sceneOfScratch(req.By.ID, at)); err != nil {
		return err
	}
	return e.removeScratch(tx, found)
}

// removeScratch deletes a row with all below it, and the locks on it.
func (e *Files) removeScratch(tx store.Tx, s *store.Scratch) error {
	e.contents.RouseAfter(tx)
	if err := tx.Write().Scratch().Delete(s.Author, s.Place); err != nil {
		return err
	}
	return tx.Write().Locks().DeleteOn(store.ScratchKey(s.Author, s.Place))
}
