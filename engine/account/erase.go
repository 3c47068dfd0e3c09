package account

import (
	"context"
	"fmt"

	"flowdrive/engine/change"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// ErasePerson is DeleteParty for a user whose name is to go as well. Everything that would
// keep it names "erased-<id>" instead, but for the places that docs/operate/erasing.md lists.
// Cases are written again before the user is deleted, some at a time; if that ends halfway,
// the same again does the rest. Errors: those of DeleteParty; errs.NameTaken if somebody
// else is called so.
func (e *Accounts) ErasePerson(ctx context.Context, req change.Request, name, handOver string) error {
	return e.remove(ctx, req, removal{kind: identity.User, name: name, handOver: handOver, erase: true})
}

// Erasure is somebody whose name is to go: as the user is, as it is to be called, and to
// whom all goes, nil for nobody.
type Erasure struct{ Had, Has, Successor *store.Party }

// eraseAhead looks whether the user can be erased, and does what can be done before that.
// since is nil if nothing was: then all is to be looked at.
func (e *Accounts) eraseAhead(ctx context.Context, req change.Request, r removal) (since *uint64, err error) {
	if !r.erase || req.DryRun {
		return nil, nil
	}
	var a Erasure
	err = e.maker.Store.View(ctx, func(stored store.Reader) error {
		t, p, err := e.deletable(stored, req, r.kind, r.name)
		if err != nil {
			return err
		}
		has := pseudonymous(p)
		a.Had, a.Has = p, &has
		if err := nameFor(t, p, string(has.Name)); err != nil {
			return err
		}
		if r.handOver == "" {
			return e.unused(stored, req, p, p.Name)
		}
		a.Successor, err = handOverTo(t, p, r.handOver)
		return err
	})
	if err != nil {
		return nil, err
	}
	began, err := e.ties.EraseAhead(ctx, req, a)
	return &began, err
}

// lately returns the cases that have changed since then, nil if that is not known.
func lately(tx store.Tx, since *uint64) []int64 {
	if since == nil {
		return nil
	}
	ids, all := tx.Write().Cases().Changed(*since)
	if all {
		return nil
	}
	if ids == nil {
		ids = []int64{}
	}
	return ids
}

// pseudonymous returns the user without what says who it is.
func pseudonymous(p *store.Party) store.Party {
	to := *p
	to.Name = identity.Name(fmt.Sprintf("erased-%d", to.ID))
	to.FullName, to.Email, to.Origin = "", "", ""
	return to
}

// erased has r.From called by a pseudonym everywhere, and returns how users and teams are
// then.
func (e *Accounts) erased(ctx context.Context, tx store.Tx, req change.Request, r replacement) (*Table, *store.Party, error) {
	to := pseudonymous(r.From)
	to.Revision++
	to.Modified = req.Now
	if err := nameFor(r.t, r.From, string(to.Name)); err != nil {
		return nil, nil, err
	}
	if err := tx.Write().Parties().Put(&to); err != nil {
		return nil, nil, err
	}
	r.To = &to
	if err := e.replaceParty(ctx, tx, req, r); err != nil {
		return nil, nil, err
	}
	if err := e.ties.EraseParty(ctx, tx, r.Replacement); err != nil {
		return nil, nil, err
	}
	t, err := Read(tx)
	if err != nil {
		return nil, nil, err
	}
	return t, t.ByID(to.ID), nil
}
