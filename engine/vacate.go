package engine

import (
	"context"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/route"
	"flowdrive/store"
)

// maxVacated is how many cases are changed in one unit when a user was disabled, or a user
// or team was made.
const maxVacated = 100

// VacateParty implements account.Ties. The user is disabled already; others write between
// the units in which the cases follow.
func (e *base) VacateParty(ctx context.Context, req change.Request, p *store.Party) error {
	req.If = nil
	v := vacating{&decider{e}, req, p}
	var ids []int64
	err := e.Store.View(ctx, func(r store.Reader) error {
		return e.eachCaseNaming(r, p.Name, func(row *store.Case, c *machine.Case, _ *route.Route) error {
			if !c.Life.Ended() && row.Archived == 0 {
				ids = append(ids, row.ID)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	return inParts(ctx, e.Store, ids, v.vacate)
}

// inParts changes cases that are not archived, as many in a unit as it may take.
func inParts(ctx context.Context, st store.Store, ids []int64, change func(tx store.Tx, row *store.Case, spent *uint64) error) error {
	for len(ids) > 0 {
		done := 0
		err := st.Update(ctx, func(tx store.Tx) (err error) {
			done, err = someOf(tx, ids, change)
			return err
		})
		if err != nil {
			return err
		}
		ids = ids[done:]
	}
	return nil
}

// someOf changes the first of some cases, and returns how many.
func someOf(tx store.Tx, ids []int64, change func(tx store.Tx, row *store.Case, spent *uint64) error) (done int, err error) {
	var spent spending
	for _, id := range ids {
		if done == maxVacated || !spent.allows(0) {
			break
		}
		row, err := store.OrNil(tx.Cases().Get(id))
		if err != nil {
			return 0, err
		}
		if row != nil && row.Archived == 0 {
			if err := change(tx, row, spent.by(0)); err != nil {
				return 0, err
			}
		}
		done++
	}
	return done, nil
}

// vacating takes from a user who was disabled the tasks that are theirs alone.
type vacating struct {
	*decider
	req change.Request
	p   *store.Party
}

// vacate does it for one case.
func (e vacating) vacate(tx store.Tx, row *store.Case, spent *uint64) error {
	h, err := e.loadRow(tx, e.req.By, row, nil)
	if err != nil {
		return err
	}
	if h.core.Life.Ended() {
		return nil
	}
	h.spent = spent
	change, err := e.decideOn(h, machine.Vacate{Actor: e.rights.Actor(e.req.By, true), User: string(e.p.Name)}, e.req)
	if errs.Is(err, errs.CaseNotOpen) {
		return nil // its parent has moved on: nobody can do anything in it
	}
	if err != nil {
		return err
	}
	if change.after.Revision == change.base {
		return nil // that nobody is left who can do a task is judged by StaffChanged
	}
	change.crowd = true
	return e.writeAll(tx, change)
}
