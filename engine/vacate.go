package engine

import (
	"context"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/route"
	"flowdrive/store"
)

// VacateParty implements account.Ties.
func (e *base) VacateParty(ctx context.Context, req change.Request, p *store.Party) error {
	d := &decider{e}
	req.If = nil
	return e.Store.Update(ctx, func(tx store.Tx) error {
		return e.eachCaseNaming(tx, p.Name, func(row *store.Case, c *machine.Case, _ *route.Route) error {
			if c.Life.Ended() || row.Archived != 0 {
				return nil
			}
			return d.vacate(tx, req, row, p)
		})
	})
}

// vacate takes from a user who was disabled the tasks of a case that are theirs
// alone.
func (e *decider) vacate(tx store.Tx, req change.Request, row *store.Case, p *store.Party) error {
	h, err := e.loadRow(tx, req.By, row, nil)
	if err != nil {
		return err
	}
	change, err := e.decideOn(h, machine.Vacate{Actor: e.rights.Actor(req.By, true), User: string(p.Name)}, req)
	if errs.Is(err, errs.CaseNotOpen) {
		return nil // its parent has moved on: nobody can do anything in it
	}
	if err != nil {
		return err
	}
	if change.after.Revision == change.base {
		return nil // that nobody is left who can do a task is judged by StaffChanged
	}
	return e.writeAll(tx, change)
}
