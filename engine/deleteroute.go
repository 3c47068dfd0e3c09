package engine

import (
	"context"
	"fmt"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// endBatch is how many cases and entries of a route that is deleted one unit
// ends.
const endBatch = 100

// DeleteRoute deletes a route that nothing uses. With force it cancels its open
// cases and pauses the schedule entries that name it, in batches, so that other
// requests do not wait for long. If it fails on the way, what was canceled
// stays canceled. Errors: errs.NotFound, errs.NotAllowed, errs.InUse.
func (e *Routes) DeleteRoute(ctx context.Context, req Request, name string, force bool) error {
	var ending *ending
	if force {
		ending = newEnding(req)
	}
	for {
		over := false
		err := e.Store.Update(ctx, func(tx store.Tx) error {
			stored, err := e.deletable(tx, req, name)
			if err != nil {
				return err
			}
			if over, err = e.unused(tx, req.By, stored, ending); err != nil || !over {
				return err
			}
			if err := e.keepRoute(tx, req, stored); err != nil {
				return err
			}
			if err := ending.tellPaused(e.decider, tx); err != nil {
				return err
			}
			if err := e.leaveScenario(tx, req, stored); err != nil {
				return err
			}
			if err := tx.Write().Routes().Delete(stored.ID); err != nil {
				return err
			}
			if err := tx.Write().Locks().DeleteOn(store.RouteKey(stored.ID)); err != nil {
				return err
			}
			gone := e.rights.Route(stored.ID)
			tx.AfterCommit(func() { e.rights.DropRoute(stored.ID) })
			e.publish(tx, Event{Kind: EventRoute, Change: ChangeDeleted, ID: stored.ID, Name: stored.Name, Version: stored.Version, Time: req.Now, route: gone})
			return e.audit.Write(ctx, tx, audit.NewRow(req.By, req.Now, audit.RouteDelete, stored.Name, fmt.Sprintf("version %d", stored.Version)))
		})
		if err != nil {
			return err
		}
		if over {
			break
		}
	}
	e.runDueNow(ctx)
	return nil
}

// deletable returns the route of that name, if the caller may delete it.
func (e *Routes) deletable(tx store.Tx, req Request, name string) (*store.Route, error) {
	stored, info, err := e.routeNamed(tx, name)
	if err != nil {
		return nil, err
	}
	if stored == nil || !e.rights.SeesRoute(req.By, info) {
		return nil, change.Absent("route")
	}
	if !e.rights.Administers(req.By, info) {
		return nil, errs.New(errs.NotAllowed, "Only the route's administrators may delete it.")
	}
	version, err := routeVersion(tx, stored)
	if err != nil {
		return nil, err
	}
	return stored, e.CheckRequest(tx.Locks(), req, version, sceneOfRoute(stored))
}

// unused reports whether nothing uses the route any more. What does is an
// error, or ended, a batch at a time.
func (e *Routes) unused(tx store.Tx, by identity.Principal, stored *store.Route, ending *ending) (over bool, err error) {
	cases, entries, err := tx.Routes().InUse(stored.ID)
	if err != nil {
		return false, err
	}
	if ending != nil {
		if cases == 0 && entries == 0 {
			return true, nil
		}
		over, err := ending.batch(e, tx, stored)
		if err != nil || !over {
			return false, err
		}
		if cases, _, err = tx.Routes().InUse(stored.ID); err != nil || cases == 0 {
			return err == nil, err
		}
		return false, errs.New(errs.InUse, "The route still has %d open cases, which could not be canceled.", cases)
	}
	uses, err := e.routeUses(tx, by, stored)
	if err != nil {
		return false, err
	}
	if !uses.None() {
		return false, uses.InUse("The route "+stored.Name, "End and delete them first; DELETE with ?force cancels its open cases and pauses the schedule entries.")
	}
	return true, nil
}

// ending is how far the work on the users of a route has come.
type ending struct {
	req     Request
	caseID  int64 // of the last case that was seen to
	entry   int64 // its Seq
	cases   bool  // all of them were
	entries bool
	paused  []*heldOwner // who has to know of the entries that were paused
}

func newEnding(req Request) *ending {
	return &ending{req: Request{By: req.By, Now: req.Now}}
}

// batch ends the next of them, and reports whether there is nothing left.
func (n *ending) batch(e *Routes, tx store.Tx, stored *store.Route) (over bool, err error) {
	if !n.cases {
		return false, n.cancel(e, tx, stored)
	}
	if !n.entries {
		return false, n.pause(e, tx, stored)
	}
	return true, nil
}

func (n *ending) cancel(e *Routes, tx store.Tx, stored *store.Route) error {
	rows, err := tx.Cases().List(store.CaseFilter{RouteID: stored.ID, After: n.caseID, Limit: endBatch})
	if err != nil {
		return err
	}
	for i := range rows {
		n.caseID = rows[i].ID
		row, err := tx.Cases().Get(rows[i].ID) // another of them may have ended it
		if err != nil {
			return err
		}
		if life := machine.Life(row.State); !open(life) && life != machine.Failed {
			continue
		}
		h, err := e.decider.loadRow(tx, identity.Principal{}, row, nil)
		if err != nil {
			return err
		}
		h.find = func(label string) (*store.Message, error) {
			return store.OrNil(tx.Cases().Messages().GetByLabel(row.ID, label))
		}
		if !open(h.core.Life) {
			continue
		}
		change, err := e.decider.decideOn(h, machine.Cancel{Actor: machine.Actor{Name: string(n.req.By.Name)}, Comment: "The route was deleted."}, n.req)
		if errs.Is(err, errs.CaseNotOpen) {
			change, err = e.decider.decideOn(h, machine.Due{}, n.req) // its parent has moved on, which ends it
		}
		if err != nil {
			return err
		}
		if err := e.decider.write(tx, change); err != nil {
			return err
		}
	}
	n.cases = len(rows) < endBatch
	return nil
}

func (n *ending) pause(e *Routes, tx store.Tx, stored *store.Route) error {
	rows, err := tx.Entries().List(store.EntryFilter{RouteID: stored.ID, After: n.entry, Limit: endBatch})
	if err != nil {
		return err
	}
	for i := range rows {
		row := &rows[i]
		n.entry = row.Seq
		entry, err := e.readForm(row)
		if err != nil {
			return err
		}
		fired := row.Paused.IsZero()
		if fired {
			row.Paused = entry.PausedSince(n.req.Now)
		}
		entry.Pause(fmt.Sprintf("The route %s was deleted.", stored.Name))
		row.Modified = n.req.Now
		if fired {
			if err := (&pauses{e.decider, tx}).begin(n, loadedEntry{row, entry}); err != nil {
				return err
			}
		}
		if err := e.schedules.moveOn(tx, loadedEntry{row, entry}, ChangeChanged, false, n.req.Now); err != nil {
			return err
		}
	}
	n.entries = len(rows) < endBatch
	return nil
}
