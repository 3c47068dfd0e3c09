package account

import (
	"context"
	"slices"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// RenameParty gives a user or team another name. Everything that names it follows
// (docs/contract/drive.md#renaming); many cases do so after it has its name. Errors: errs.NotFound, also for users who
// are not administrators; errs.NotAllowed for a device; errs.NameNotAllowed;
// errs.NameTaken; errs.NotDeletable for the team everyone.
func (e *Accounts) RenameParty(ctx context.Context, req change.Request, kind identity.Kind, name, newName string) (*change.Outcome, error) {
	named, err := e.naming(ctx, kind, name)
	if err != nil {
		return nil, err
	}
	var out *change.Outcome
	err = e.maker.Store.Update(ctx, func(tx store.Tx) error {
		if err := mayChangeParties(req.By); err != nil {
			return err
		}
		t, err := Read(tx)
		if err != nil {
			return err
		}
		from := t.ByName(kind, name)
		if from == nil {
			return change.Absent(string(kind))
		}
		if err := e.maker.CheckRequest(tx.Locks(), req, partyVersion(from), partyScope(from)); err != nil {
			return err
		}
		if from.Name == identity.Everyone {
			return errs.New(errs.NotDeletable, "The team %q cannot be renamed.", from.Name)
		}
		if err := nameFor(t, from, newName); err != nil {
			return err
		}
		to := *from
		to.Name = identity.Name(newName)
		to.Revision++
		to.Modified = req.Now
		if err := tx.Write().Locks().DeleteOn(store.PartyKey(from.ID)); err != nil {
			return err
		}
		// A party is stored under its new name before others name it by that.
		if err := tx.Write().Parties().Put(&to); err != nil {
			return err
		}
		cases, later := named.now(tx, from)
		if later {
			cases = []int64{}
		}
		if err := noteRenamed(tx, t, from, &to, later); err != nil {
			return err
		}
		if err := e.replaceParty(ctx, tx, req, replacement{t, Replacement{from, &to, cases}}); err != nil {
			return err
		}
		action := audit.UserChange
		if kind == identity.Team {
			action = audit.TeamChange
		}
		if err := e.log.Write(ctx, tx, audit.NewRow(req.By, req.Now, action, string(to.Name), "was called "+string(from.Name))); err != nil {
			return err
		}
		out = &change.Outcome{Created: true, Changed: true, Name: string(to.Name), Form: PartyForm(&to), FormETag: to.ETag(), ETag: to.ETag(), Modified: to.Modified}
		return e.Refresh(tx)
	})
	if err != nil || req.DryRun {
		return out, err
	}
	if p := e.Table().ByName(kind, newName); p != nil {
		if e.Table().renaming(p.ID) {
			e.ties.FollowRename(change.Committed(ctx), req, p.ID)
		}
		err = e.ties.PartyMade(change.Committed(ctx), req, p) // routes may have named it before it was called that
	}
	return out, err
}

// nameFor returns an error if the party cannot get the name.
func nameFor(t *Table, p *store.Party, name string) error {
	if err := mayBeCalled(p.Kind, name); err != nil {
		return err
	}
	return t.free(p, name)
}

// mayBeCalled says why no user or team may choose a name.
func mayBeCalled(kind identity.Kind, name string) error {
	if !identity.LegalParty(kind, name) {
		return errs.New(errs.NameNotAllowed, "%q is not a valid name for a %s: %s.", name, kind, identity.NameForm(kind))
	}
	if identity.IsPseudonym(name) {
		return errs.New(errs.NameNotAllowed, "%q is not a valid name for a %s: names such as erased-17 stand in place of users who were erased.", name, kind)
	}
	return nil
}

// free says why the user or team cannot have a name because of another one.
func (t *Table) free(p *store.Party, name string) error {
	if other := t.Directory().ByName(identity.Name(name)); other != nil && other.ID != p.ID {
		return errs.New(errs.NameTaken, "The name %q is in use; users and teams share one set of names.", other.Name)
	}
	return t.wasName(name, p.ID)
}

// FollowRoute has users who watch a route watch it under its new name.
func (e *Accounts) FollowRoute(tx store.Tx, old, name string) error {
	t, err := Read(tx)
	if err != nil {
		return err
	}
	changed := false
	for _, other := range t.Directory().Parties() {
		p := *t.ByID(other.ID)
		i := slices.IndexFunc(p.Watch, func(watched string) bool { return identity.Fold(watched) == identity.Fold(old) })
		if i < 0 {
			continue
		}
		p.Watch = slices.Clone(p.Watch)
		p.Watch[i], changed = name, true
		p.Revision++
		if err := tx.Write().Parties().Put(&p); err != nil {
			return err
		}
	}
	if !changed {
		return nil
	}
	return e.Refresh(tx)
}
