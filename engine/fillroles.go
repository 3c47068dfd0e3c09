package engine

import (
	"context"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// PartyMade implements account.Ties. It looks at the cases with a task that nobody can do:
// in the others a role that is still empty is looked at after the next action.
func (e *base) PartyMade(ctx context.Context, req change.Request, p *store.Party) error {
	req.If = nil
	f := filling{&decider{e}, req, p}
	var ids []int64
	err := e.Store.View(ctx, func(r store.Reader) error {
		rows, err := r.Cases().Tasks().WithTasks(store.TaskFilter{Lists: machine.WatchedWarnings, Routes: e.allRoutes()})
		if err != nil {
			return err
		}
		for i := range rows {
			h, err := f.mayFill(r, &rows[i])
			if err != nil {
				return err
			}
			if h != nil {
				ids = append(ids, rows[i].ID)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer e.sendCrowd(ctx, req)
	return inParts(ctx, e.Store, ids, f.fill)
}

// filling gives roles without players to a user or team that was made.
type filling struct {
	*decider
	req change.Request
	p   *store.Party
}

// mayFill returns a case in which a role may be filled, else nil.
func (e filling) mayFill(r store.Reader, row *store.Case) (*loadedCase, error) {
	h, err := e.loadRow(r, e.req.By, row, nil)
	if err != nil || h.core.Life != machine.Active || !h.core.MayBeFilledBy(h.route.Compiled, string(e.p.Name)) {
		return nil, err
	}
	return h, nil
}

// fill does it in one case.
func (e filling) fill(tx store.Tx, row *store.Case, spent *uint64) error {
	h, err := e.mayFill(tx, row)
	if err != nil || h == nil {
		return err
	}
	h.spent = spent
	change, err := e.decideOn(h, machine.FillRoles{}, e.req)
	if errs.Is(err, errs.CaseNotOpen) {
		return nil // its parent has moved on: nobody can do anything in it
	}
	if err != nil || change.after.Revision == change.base {
		return err
	}
	change.crowd = true
	return e.writeAll(tx, change)
}
