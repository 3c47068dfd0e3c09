package engine

import (
	"context"
	"slices"
	"time"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/quota"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/mediatype"
	"flowdrive/store"
)

// NewLock is the lock that a LOCK asks for.
type NewLock struct {
	Shared bool
	Deep   bool
	Owner  string
	Lasts  time.Duration // at most an hour is given
}

// mostOwner bounds what the holder of a lock says of itself.
const mostOwner = 4 << 10

// Lock locks a resource (RFC 4918, section 9.10); created says that nothing had
// the name, and an empty document has it now. Errors: errs.NotFound,
// errs.NotAllowed if by may not write the resource, errs.NotLockable,
// errs.Locked, errs.TooMany for too many locks, errs.TooLarge for a long owner.
func (e *Locks) Lock(ctx context.Context, req Request, t Target, want NewLock) (lock *store.Lock, created bool, err error) {
	if len(want.Owner) > mostOwner {
		return nil, false, errs.New(errs.TooLarge, "The owner of a lock may have at most %d bytes.", mostOwner)
	}
	err = e.Store.Update(ctx, func(tx store.Tx) (err error) {
		lock, created, err = e.lock(tx, req, t, want)
		return err
	})
	return lock, created, err
}

func (e *Locks) lock(tx store.Tx, req Request, t Target, want NewLock) (*store.Lock, bool, error) {
	at, err := e.target(tx, req.By, t)
	if err != nil {
		return nil, false, err
	}
	if err := at.lockable(); err != nil {
		return nil, false, err
	}
	if err := e.admitLock(tx, req, at, want); err != nil {
		return nil, false, err
	}
	created := !at.exists()
	if created {
		if err := e.makeForLock(tx, req, at, lasting(want.Lasts)); err != nil {
			return nil, false, err
		}
	}
	l := &store.Lock{
		Token: store.NewUUID(), On: at.Self, HolderID: req.By.ID, Shared: want.Shared, Deep: want.Deep && at.folder,
		Owner: want.Owner, Root: t.URL, Lasts: lasting(want.Lasts),
	}
	l.Expires = e.Wall().Add(l.Lasts)
	if err := e.boundLocks(tx, req.By.ID); err != nil {
		return nil, false, err
	}
	return l, created, tx.Write().Locks().Insert(l)
}

// lockable answers why no lock can be had on what a target stands for.
func (at *targeted) lockable() error {
	switch {
	case at.refused != nil:
		return at.refused
	case at.exists():
		return nil
	case at.document == nil && at.scratch == nil:
		return change.Absent("resource") // drafts are for what mounts the drive
	}
	return nil
}

// admitLock judges the condition of a LOCK, and whether other locks leave room
// for it (RFC 4918, section 6.1): an exclusive one shares nothing with any
// other, be it above or below.
func (e *Locks) admitLock(tx store.Tx, req Request, at *targeted, want NewLock) error {
	at.Joins = !at.exists() // a document comes into the folder
	covers, ofFolder, err := at.Covering(tx.Locks(), e.Wall())
	if err != nil {
		return err
	}
	v := at.version
	v.Tokens = change.TokensOf(covers)
	if err := change.CheckVersion(req.If, v); err != nil {
		return err
	}
	if at.Joins {
		if err := e.CheckTokens(req, ofFolder); err != nil {
			return err
		}
	}
	if at.folder && want.Deep {
		below, err := e.files.LocksWithin(tx, at.document)
		if err != nil {
			return err
		}
		covers = append(covers, below...)
	}
	for i := range covers {
		if !want.Shared || !covers[i].Shared {
			return e.Locked(req.By, &covers[i])
		}
	}
	return nil
}

// makeForLock makes the empty document that a LOCK of an unmapped name leaves
// (RFC 4918, section 7.3).
func (e *Locks) makeForLock(tx store.Tx, req Request, at *targeted, lasts time.Duration) error {
	if at.scratch != nil {
		kind := store.SideFile
		if at.scratch.Draft {
			kind = store.Draft
		}
		at.Self = store.ScratchKey(req.By.ID, at.scratch.Scratch)
		return e.scratch.MakeForLock(tx, req, at.scratch.Scratch, kind, lasts)
	}
	if err := at.document.Placeable(); err != nil {
		return err
	}
	name := at.document.Path[len(at.document.Path)-1]
	d, err := e.files.MakeDocument(tx, req, at.document, &contents.Content{MediaType: mediatype.Of(name), Inline: []byte{}})
	if err == nil {
		at.Self = store.DocumentKey(at.document.Root.ID, d.ID)
	}
	return err
}

// lasting is how long a lock is given that was asked for so long; 0 asks for
// nothing in particular.
func lasting(asked time.Duration) time.Duration {
	if asked <= 0 {
		return change.MaxLock
	}
	return min(max(asked.Truncate(time.Second), time.Second), change.MaxLock)
}

// boundLocks clears away what has expired, and bounds what one user has.
func (e *Locks) boundLocks(tx store.Tx, holder identity.ID) error {
	now := e.Wall()
	if err := tx.Write().Locks().DeleteBefore(now); err != nil {
		return err
	}
	n, err := tx.Locks().Count(holder, now)
	if err != nil {
		return err
	}
	return quota.Within(quota.Locks, n, change.DefaultLocks)
}

// RefreshLock extends the lock whose token the request submits. The lock must
// cover the target (RFC 4918, section 9.10.2), or have been taken there by the caller:
// clients refresh the lock under which they have just saved, whatever has become of the
// PUT. Errors: errs.Precondition if it does not.
func (e *Locks) RefreshLock(ctx context.Context, req Request, t Target, lasts time.Duration) (*store.Lock, error) {
	var out *store.Lock
	err := e.Store.Update(ctx, func(tx store.Tx) error {
		at, gone := e.target(tx, req.By, t)
		if errs.Is(gone, errs.NotFound) {
			at = &targeted{}
		} else if gone != nil {
			return gone
		}
		exists := gone == nil
		covers, _, err := at.Covering(tx.Locks(), e.Wall())
		if err == nil {
			covers, err = e.withOwn(tx, req, t, covers)
		}
		if err != nil {
			return err
		}
		i := slices.IndexFunc(covers, req.HasToken)
		switch {
		case i < 0 && !exists:
			return gone
		case i < 0: // which says more than that the condition is not met
			return notThisLock(errs.Precondition)
		}
		v := at.version
		v.Tokens = change.TokensOf(covers)
		if err := change.CheckVersion(req.If, v); err != nil {
			return err
		}
		out = &covers[i]
		if !exists { // or no longer the caller's to see: it lasts no longer than it would
			out.Lasts = out.Expires.Sub(e.Wall())
			return nil
		}
		out.Lasts = lasting(lasts)
		out.Expires = e.Wall().Add(out.Lasts)
		if err := tx.Write().Locks().Refresh(out.Token, out.Lasts, out.Expires); err != nil {
			return err
		}
		return e.scratch.FollowLock(tx, out, false)
	})
	return out, err
}

// mostTokens bounds how many of the submitted tokens are looked up. A client submits one
// or two.
const mostTokens = 16

// withOwn returns the locks with those that the caller has taken at the path of the
// target, of which the request submits a token and whose resource has gone.
func (e *Locks) withOwn(r store.Reader, req Request, t Target, covers []store.Lock) ([]store.Lock, error) {
	for _, token := range req.Tokens[:min(len(req.Tokens), mostTokens)] {
		l, err := store.OrNil(r.Locks().ByToken(token, e.Wall()))
		switch {
		case err != nil:
			return nil, err
		case l == nil || l.HolderID != req.By.ID || l.Root != t.URL:
		case !slices.ContainsFunc(covers, func(c store.Lock) bool { return c.Token == token }):
			covers = append(covers, *l)
		}
	}
	return covers, nil
}

// notThisLock says that a token is of no lock that covers the request's
// resource.
func notThisLock(kind errs.Kind) error {
	return &errs.Error{
		Kind: kind, Detail: "The lock token does not belong to a lock on this resource; the lock may have expired.",
		Extra: map[string]any{"condition": "lock-token-matches-request-uri"},
	}
}

// Unlock removes the lock of that token, which must cover the target (RFC 4918,
// section 9.11). The user who has the lock may do that, and those who may break
// locks there. Errors: errs.NotFound, errs.NotAllowed for another user's lock,
// errs.InUse if the token is not that of a lock there.
func (e *Locks) Unlock(ctx context.Context, req Request, t Target, token store.UUID) error {
	return e.Store.Update(ctx, func(tx store.Tx) error {
		l, err := store.OrNil(tx.Locks().ByToken(token, e.Wall()))
		if err != nil {
			return err
		}
		if l != nil && l.HolderID == req.By.ID && l.Root == t.URL {
			return e.endLock(tx, l) // even if its resource has gone
		}
		at, err := e.target(tx, req.By, t)
		if err != nil {
			return err
		}
		covers, _, err := at.Covering(tx.Locks(), e.Wall())
		if err != nil {
			return err
		}
		v := at.version
		v.Tokens = change.TokensOf(covers)
		if err := change.CheckVersion(req.If, v); err != nil {
			return err
		}
		if !at.exists() {
			return change.Absent("resource")
		}
		if !slices.Contains(v.Tokens, token) {
			return notThisLock(errs.InUse)
		}
		if l.HolderID != req.By.ID && !at.breaks {
			return errs.New(errs.NotAllowed, "This is another user's lock; that user can remove it, and an administrator can break it.")
		}
		return e.breakLock(ctx, tx, req, l)
	})
}

// breakLock ends a lock on somebody's request. If it is another user's, the audit log
// says so.
func (e *Locks) breakLock(ctx context.Context, tx store.Tx, req Request, l *store.Lock) error {
	if holder := e.directory().ByID(l.HolderID); l.HolderID != req.By.ID && holder != nil {
		if err := e.audit.Write(ctx, tx, audit.NewRow(req.By, req.Now, audit.LockBreak, l.Root, "of "+string(holder.Name))); err != nil {
			return err
		}
	}
	return e.endLock(tx, l)
}

// endLock deletes a lock, and what lasts no longer than it.
func (e *Locks) endLock(tx store.Tx, l *store.Lock) error {
	if err := tx.Write().Locks().Delete(l.Token); err != nil {
		return err
	}
	return e.scratch.FollowLock(tx, l, true)
}

// BreakLocks removes all locks that cover the target, of all users.
// Administrators may do that, and the owners of a root of Documents/. Errors:
// errs.NotFound, errs.NotAllowed.
func (e *Locks) BreakLocks(ctx context.Context, req Request, t Target) error {
	return e.Store.Update(ctx, func(tx store.Tx) error {
		at, err := e.target(tx, req.By, t)
		if err != nil {
			return err
		}
		if !at.exists() {
			return change.Absent("resource")
		}
		if !at.breaks {
			return errs.New(errs.NotAllowed, "Only administrators, and the owner of a folder in Documents/, may break the locks of others.")
		}
		covers, _, err := at.Covering(tx.Locks(), e.Wall())
		for i := range covers {
			if err == nil {
				err = e.breakLock(ctx, tx, req, &covers[i])
			}
		}
		return err
	})
}

// LocksCovering returns the locks that cover the target. Errors: errs.NotFound
// if by may not see the target.
func (e *Locks) LocksCovering(ctx context.Context, by identity.Principal, t Target) ([]store.Lock, error) {
	var out []store.Lock
	err := e.Store.View(ctx, func(r store.Reader) error {
		at, err := e.target(r, by, t)
		if err != nil {
			return err
		}
		out, _, err = at.Covering(r.Locks(), e.Wall())
		return err
	})
	return out, err
}

// LocksBelow returns the locks on everything of a kind, for listings.
func (e *Locks) LocksBelow(ctx context.Context, prefix store.LockKey) ([]store.Lock, error) {
	var out []store.Lock
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		out, err = r.Locks().Below(prefix, e.Wall())
		return err
	})
	return out, err
}

// OwnLock returns the lock with that token if the caller holds it. A token of
// no lock, or of another user's, is errs.NotFound.
func (e *Locks) OwnLock(ctx context.Context, by identity.Principal, token store.UUID) (*store.Lock, error) {
	var out *store.Lock
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		out, err = r.Locks().ByToken(token, e.Wall())
		return err
	})
	if err == nil && out.HolderID != by.ID {
		return nil, change.Absent("lock")
	}
	return out, err
}
