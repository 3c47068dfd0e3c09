package engine

import (
	"context"
	"strconv"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// A MOVE within Schedule/ or Cases/ gives a resource another name, with the
// bytes that were stored under the old one
// (docs/contract/drive.md#copy-and-move). Its identity and counters stay.

// RenameEntry gives a schedule entry another name, the caller's. With overwrite
// an entry that has the name is deleted. Errors: errs.NotFound;
// errs.NotAllowed; errs.NameNotAllowed; errs.Precondition if the name is taken
// and overwrite is not set.
func (e *Schedules) RenameEntry(ctx context.Context, req Request, ref Ref, name string, overwrite bool) (*Outcome, error) {
	var out *Outcome
	err := e.Store.Update(ctx, func(tx store.Tx) (err error) {
		out, err = e.renameEntry(tx, req, ref, Ref{Author: req.By.ID, Name: name}, overwrite)
		return err
	})
	return out, err
}

func (e *Schedules) renameEntry(tx store.Tx, req Request, ref, to Ref, overwrite bool) (*Outcome, error) {
	stored, given, err := e.findEntry(tx, req.By, ref)
	if err != nil {
		return nil, err
	}
	if stored == nil {
		return nil, change.Absent("schedule entry")
	}
	if !e.rights.MayChangeEntry(req.By, stored.ContextID, stored.AuthorID) {
		return nil, errs.New(errs.NotAllowed, "Only its author and administrators may rename an entry of everyone.")
	}
	if err := e.CheckCondition(tx.Locks(), req, entryVersion(stored, given, ref), sceneOfEntry(stored)); err != nil {
		return nil, err
	}
	there, taken, err := e.findEntry(tx, req.By, to)
	if err != nil {
		return nil, err
	}
	if there != nil && there.UUID != stored.UUID && !overwrite {
		return nil, errs.New(errs.Precondition, "There is an entry %q already, and Overwrite is F.", to.Name)
	}
	if err := e.CheckLocks(tx.Locks(), req, sceneOfEntry(stored)); err != nil {
		return nil, err
	}
	replaced := there != nil && there.UUID != stored.UUID
	if replaced {
		if !e.rights.MayChangeEntry(req.By, there.ContextID, there.AuthorID) {
			return nil, errs.New(errs.NotAllowed, "Only its author and administrators may replace an entry of everyone.")
		}
		if err := e.CheckLocks(tx.Locks(), req, sceneOfEntry(there)); err != nil {
			return nil, err
		}
	}
	renamed := &store.GivenName{Folder: store.FolderSchedule, Author: req.By.ID, Name: to.Name, Entry: stored.UUID}
	if given != nil {
		renamed.Source, renamed.Size, renamed.ETag, renamed.Modified = given.Source, given.Size, given.ETag, given.Modified
	} else {
		setSource(renamed, stored.Form, req.Now)
	}
	if replaced {
		if err := e.dropEntry(tx, there, taken, entryEnd{req.Now, string(req.By.Name)}); err != nil {
			return nil, err
		}
		if err := tx.Write().Locks().DeleteOn(store.EntryKey(there.UUID)); err != nil {
			return nil, err
		}
	}
	if err := rename(tx, given, renamed, there != nil); err != nil {
		return nil, err
	}
	e.publishEntry(tx, stored, ChangeChanged, req.Now)
	return &Outcome{
		Created: !replaced, Changed: true, Name: stored.UUID.String(), ETag: renamed.ETag, Modified: stored.Modified,
	}, tx.Write().Locks().DeleteOn(store.EntryKey(stored.UUID))
}

// rename replaces the given name old (nil: none). If ours is false, it first
// checks that the author has not given the new name to a resource that they may
// no longer see.
func rename(tx store.Tx, old, renamed *store.GivenName, ours bool) error {
	if _, err := parseNamed(Ref{Name: renamed.Name}, renamed.Source); err != nil {
		return errs.New(errs.NameNotAllowed, "The extension of %q does not match the format of the document; keep its extension.", renamed.Name)
	}
	if !ours {
		if err := hiddenName(tx, renamed.Folder, Ref{Author: renamed.Author, Name: renamed.Name}); err != nil {
			return err
		}
	}
	if old != nil {
		if err := tx.Write().Names().Delete(old.Folder, old.Author, old.Name); err != nil {
			return err
		}
	}
	return tx.Write().Names().Put(renamed)
}

// RenameCase gives a case that has a name another one, the caller's. A name
// that another case has is not taken from it: that would cancel the case.
// Errors: errs.NotFound; errs.NotAllowed; errs.NameNotAllowed; errs.NotMovable
// if the case has no given name; errs.NameTaken; errs.Precondition.
func (e *Cases) RenameCase(ctx context.Context, req Request, ref Ref, name string, overwrite bool) (*Outcome, error) {
	var out *Outcome
	err := e.Store.Update(ctx, func(tx store.Tx) (err error) {
		out, err = e.renameCase(tx, req, ref, Ref{Author: req.By.ID, Name: name}, overwrite)
		return err
	})
	return out, err
}

func (e *Cases) renameCase(tx store.Tx, req Request, ref, to Ref, overwrite bool) (*Outcome, error) {
	h, err := e.decider.loadCase(tx, req.By, ref)
	if err != nil {
		return nil, err
	}
	if h.given, err = caseName(tx, h.row, h.given); err != nil {
		return nil, err
	}
	if !h.admin && !access.IsStarter(req.By, h.core) {
		return nil, errs.New(errs.NotAllowed, "Only its starter and the route's administrators may rename a case.")
	}
	if err := notArchived(h.row); err != nil {
		return nil, err
	}
	if err := e.CheckCondition(tx.Locks(), req, caseVersion(h, ref), change.ScopeOf(store.CaseKey(h.row.ID))); err != nil {
		return nil, err
	}
	there, _, err := e.findCase(tx, req.By, to)
	if err != nil {
		return nil, err
	}
	if there != nil && there.ID != h.row.ID && !overwrite {
		return nil, errs.New(errs.Precondition, "There is a case %q already, and Overwrite is F.", to.Name)
	}
	if err := e.CheckLocks(tx.Locks(), req, change.ScopeOf(store.CaseKey(h.row.ID))); err != nil {
		return nil, err
	}
	switch {
	case h.given == nil:
		return nil, errs.New(errs.NotMovable, "The case has no given name to change; its number cannot change.")
	case there != nil && there.ID != h.row.ID:
		return nil, errs.New(errs.NameTaken, "Case %d has the name %q; choose another, or cancel that case first.", there.ID, to.Name)
	}
	renamed := *h.given
	renamed.Author, renamed.Name = req.By.ID, to.Name
	if err := rename(tx, h.given, &renamed, there != nil); err != nil {
		return nil, err
	}
	return &Outcome{
		Created: true, Changed: true, Name: strconv.FormatInt(h.row.ID, 10), ETag: renamed.ETag, Modified: h.core.Modified,
	}, tx.Write().Locks().DeleteOn(store.CaseKey(h.row.ID))
}
