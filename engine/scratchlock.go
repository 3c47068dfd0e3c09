package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/mediatype"
)

// Locks on what lies in a scratch area. A client that mounts the drive locks
// a name before it makes anything there: where a document can be, the lock
// makes a draft, which ends with it; elsewhere an empty side file
// (docs/contract/drive.md#side-files).

// LocksOnScratch begins the keys of locks on side files and drafts.
const LocksOnScratch LockKey = "scratch/"

// ScratchKey is the key of the locks on a side file or draft of author.
func ScratchKey(author identity.ID, at ScratchPlace) LockKey {
	return LocksOnScratch + LockKey(fmt.Sprintf("%d%s", author, identity.Fold(norm.NFC.String(at.Path()))))
}

// LocksOnScratchOf begins the keys of locks on a user's side files and drafts.
func LocksOnScratchOf(author identity.ID) LockKey {
	return LocksOnScratch + LockKey(fmt.Sprintf("%d/", author))
}

// LockKey is what locks on a side file or draft are on.
func (s *Scratch) LockKey() LockKey { return ScratchKey(s.Author, s.Place) }

func sceneOfScratch(author identity.ID, at ScratchPlace) scene { return on(ScratchKey(author, at)) }

func (e *Engine) targetInScratch(r Reader, by identity.Principal, t Target) (*targeted, error) {
	found, err := liveScratch(r, by.ID, t.Scratch, e.wall())
	if err != nil {
		return nil, err
	}
	out := &targeted{scratch: &t}
	if found == nil {
		return out, nil
	}
	out.scene, out.version = sceneOfScratch(by.ID, t.Scratch), scratchVersion(found)
	if found.Kind != SideFile && found.Kind != Draft {
		out.refused = errs.New(errs.NotLockable, "%q cannot be locked; lock a document.", found.Place.Name)
	}
	return out, nil
}

// makeScratchForLock makes what a LOCK of an unmapped name in a scratch area
// leaves.
func (e *Engine) makeScratchForLock(tx Tx, req Request, at *targeted, lasts time.Duration) error {
	if err := legalDocumentName(at.scratch.Scratch.Name); err != nil {
		return err
	}
	req.Now = e.wall()
	at.self = ScratchKey(req.By.ID, at.scratch.Scratch)
	if at.scratch.Draft {
		_, err := e.makeDraft(tx, req, at.scratch.Scratch, req.Now.Add(lasts))
		return err
	}
	empty := emptyScratch(req, at.scratch.Scratch, SideFile, req.Now.Add(scratchLasts))
	empty.MediaType = mediatype.Of(empty.Place.Name)
	return e.keepScratch(tx, empty)
}

// followLock makes the draft that a lock has made last as long as the lock;
// one that has ended ends it.
func (e *Engine) followLock(tx Tx, l *Lock, ended bool) error {
	if !strings.HasPrefix(string(l.On), string(LocksOnScratch)) {
		return nil
	}
	i := strings.LastIndexByte(l.Root, '/')
	draft, err := orNil(tx.Scratch(l.HolderID, ScratchPlace{l.Root[:i], l.Root[i+1:]}.Normal()))
	if err != nil || draft == nil || !draft.Locked {
		return err
	}
	if ended {
		return tx.DeleteScratch(l.HolderID, draft.Place)
	}
	draft.Expires = l.Expires
	return tx.PutScratch(draft)
}

// EndDraft deletes the draft at the place, if there is one. Where it has
// become something, the locks on it are on that from now on.
func (e *Engine) EndDraft(ctx context.Context, by identity.Principal, at ScratchPlace, became *Target) error {
	return e.update(ctx, func(tx Tx) error {
		found, err := orNil(tx.Scratch(by.ID, at.Normal()))
		if err != nil || found == nil || found.Kind != Draft {
			return err
		}
		if err := tx.DeleteScratch(by.ID, found.Place); err != nil {
			return err
		}
		key := ScratchKey(by.ID, at)
		if became == nil {
			return tx.DeleteLocksOn(key)
		}
		to, err := e.target(tx, by, *became)
		if errs.Is(err, errs.NotFound) || err == nil && !to.exists() {
			return nil // its name is not kept: the lock ends where it began
		}
		if err != nil {
			return err
		}
		return tx.MoveLocks(key, to.self)
	})
}

// MayTakeScratch answers whether the caller may move the side file at the
// place away, under the conditions of the request.
func (e *Engine) MayTakeScratch(ctx context.Context, req Request, at ScratchPlace) (*Taken, error) {
	var taken *Taken
	err := e.store.View(ctx, func(r Reader) error {
		found, err := liveScratch(r, req.By.ID, at, req.Now)
		if err != nil {
			return err
		}
		if found == nil || found.Kind == ScratchFolder {
			return absent("file")
		}
		taken = &Taken{Scratch: &at, ID: found.ID, Content: found.SHA256}
		return e.admit(r, req, scratchVersion(found), sceneOfScratch(req.By.ID, at))
	})
	return taken, err
}

// takeScratch deletes the side file that a request takes its content from.
func (e *Engine) takeScratch(tx Tx, req Request) error {
	at := *req.Takes.Scratch
	found, err := orNil(tx.Scratch(req.By.ID, at.Normal()))
	if err != nil {
		return err
	}
	if found == nil || found.ID != req.Takes.ID || found.SHA256 != req.Takes.Content {
		return errs.New(errs.InUse, "%q was changed while it was moved; move it again.", at.Name)
	}
	if err := e.free(tx, req, sceneOfScratch(req.By.ID, at)); err != nil {
		return err
	}
	return e.removeScratch(tx, found)
}

// removeScratch deletes a row with all below it, and the locks on it.
func (e *Engine) removeScratch(tx Tx, s *Scratch) error {
	e.unreferred(tx)
	if err := tx.DeleteScratch(s.Author, s.Place); err != nil {
		return err
	}
	return tx.DeleteLocksOn(ScratchKey(s.Author, s.Place))
}
