package account

import (
	"context"

	"flowdrive/engine/change"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// ErasePerson is DeleteParty for a user whose name is to go as well. Everything that would
// keep it names "erased-<id>" instead, but for the places that docs/operate/erasing.md lists.
// Errors: those of DeleteParty.
func (e *Accounts) ErasePerson(ctx context.Context, req change.Request, name, handOver string) error {
	return e.remove(ctx, req, removal{kind: identity.User, name: name, handOver: handOver, erase: true})
}

// pseudonymous returns the user without what says who it is. Somebody else may be called by
// the pseudonym since before such names were reserved; then there is another one.
func (t *Table) pseudonymous(p *store.Party) store.Party {
	to := *p
	for n := 1; ; n++ {
		if to.Name = identity.Pseudonym(p.ID, n); t.free(p, string(to.Name)) == nil {
			break
		}
	}
	to.FullName, to.Email, to.Origin, to.Pending = "", "", "", store.PendingAddress{}
	return to
}

// erased has r.From called by a pseudonym everywhere, and returns how users and teams are
// then.
func (e *Accounts) erased(ctx context.Context, tx store.Tx, req change.Request, r replacement) (*Table, *store.Party, error) {
	to := r.t.pseudonymous(r.From)
	to.Revision++
	to.Modified = req.Now
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
