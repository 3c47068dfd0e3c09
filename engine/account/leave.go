package account

import (
	"context"

	"flowdrive/engine/change"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Leaving is a user or team that is to be deleted.
type Leaving struct {
	Had       *store.Party // as it is
	Has       *store.Party // a user whose name is to go: as it is to be called; else nil
	Successor *store.Party // to whom all goes, nil for nobody
}

// leaveAhead looks whether the user or team can be deleted, and does what can be done before
// that in cases, some at a time: there may be many of them. since is nil if nothing was: then
// all is to be looked at.
func (e *Accounts) leaveAhead(ctx context.Context, req change.Request, r removal) (since *uint64, err error) {
	if !r.erase && r.handOver == "" || req.DryRun {
		return nil, nil
	}
	var l Leaving
	err = e.maker.Store.View(ctx, func(stored store.Reader) error {
		t, p, err := e.deletable(stored, req, r.kind, r.name)
		if err != nil {
			return err
		}
		l.Had = p
		called := p.Name
		if r.erase {
			has := t.pseudonymous(p)
			l.Has, called = &has, has.Name
		}
		if r.handOver == "" {
			return e.unused(stored, req, p, p.Name)
		}
		if l.Successor, err = handOverTo(t, p, r.handOver); err != nil {
			return err
		}
		return folderFree(stored, l, called)
	})
	if err != nil {
		return nil, err
	}
	began, err := e.ties.LeaveAhead(ctx, req, l)
	return &began, err
}

// folderFree returns an error if there are documents, and their folder cannot come to those of
// the successor because of what is there already.
func folderFree(stored store.Reader, l Leaving, name identity.Name) error {
	_, some, err := stored.Documents().Under(l.Had.ID, nil, store.Under{Limit: 1})
	if err != nil || len(some) == 0 {
		return err
	}
	along, err := stored.Documents().Along(l.Successor.ID, []string{string(name)})
	if err != nil || len(along) < 2 {
		return err
	}
	return store.FolderTaken(string(name))
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
