package engine

import (
	"bytes"
	"context"
	"fmt"

	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// KeepScenario keeps a scenario for the caller, as one that waits, without playing it with the
// route as it is stored: it is meant for the next version. It is played when the caller next
// stores the route (docs/contract/routes.md#a-route-and-a-scenario-that-only-fit-together).
// Conditions are on the one that is in force, which stays what it is. Errors: those of
// PutScenario but errs.ScenarioBroken.
func (e *Scenarios) KeepScenario(ctx context.Context, req Request, name string, yaml bool, body []byte) (*Outcome, error) {
	return change.Make(ctx, e.Maker, func(r store.Reader) (change.Apply[*Outcome], error) {
		given := scenarioText{yaml, body}
		at, err := e.scenarioAt(r, req.By, name)
		if err != nil {
			return nil, err
		}
		if at.route == nil || at.stored != nil && !at.waits() && at.stored.YAML == yaml && bytes.Equal(at.stored.Source, body) {
			return e.putScenario(ctx, r, req, name, given) // it waits anyway, or is in force already
		}
		next, err := e.readKept(r, req, at, given)
		if err != nil {
			return nil, err
		}
		return func(tx store.Tx) (*Outcome, error) { return e.writeKept(tx, req, next) }, nil
	})
}

// readKept reads a scenario that is to wait although its route is there.
func (e *Scenarios) readKept(r store.Reader, req Request, at *scenarioPlace, given scenarioText) (*scenarioChange, error) {
	if err := e.mayChangeScenario(req.By, at); err != nil {
		return nil, err
	}
	if err := e.CheckCondition(r.Locks(), req, at.version(), at.scope()); err != nil {
		return nil, err
	}
	title, err := e.readTitle(given)
	if err != nil {
		return nil, err
	}
	c := &scenarioChange{scenarioPlace: at, next: store.Scenario{Created: req.Now}}
	if c.before, err = store.OrNil(r.Routes().Scenarios().Waiting(req.By.ID, at.name)); err != nil {
		return nil, err
	}
	if c.before != nil {
		c.next = *c.before
	}
	c.next.Route, c.next.YAML, c.next.Title, c.next.AuthorID = at.name, given.yaml, title, req.By.ID
	c.next.Source, c.next.ETag, c.next.Modified = given.body, change.SourceETag(given.body), req.Now
	c.next.SourceSize = int64(len(given.body))
	return c, e.checkWaiting(r, req.By, c)
}

func (e *Scenarios) writeKept(tx store.Tx, req Request, c *scenarioChange) (*Outcome, error) {
	now, err := store.OrNil(tx.Routes().Scenarios().Waiting(req.By.ID, c.name))
	if err != nil {
		return nil, err
	}
	if !sameScenario(now, c.before) {
		return nil, change.ErrStale
	}
	if now != nil && now.ETag != c.next.ETag {
		if err := e.keepPastScenario(tx, now, c.name, req); err != nil {
			return nil, err
		}
	}
	if err := tx.Write().Routes().Scenarios().Put(&c.next); errs.Is(err, errs.NameTaken) {
		return nil, change.ErrStale // another request was faster
	} else if err != nil {
		return nil, err
	}
	if err := e.checkQuota(tx, req.By.ID, 0); err != nil {
		return nil, err
	}
	out := &Outcome{Created: now == nil, Changed: true, Name: c.name, Modified: c.next.Modified}
	out.Warnings = []string{fmt.Sprintf("The scenario is kept for you and is not in force. When you store the route %q the next time, it is played with that, and both are stored if it holds.", c.name)}
	if req.DryRun {
		out.Report = document.Form(formOfRun(c.name, &c.next, ""))
	}
	return out, e.Finish(tx, req, out)
}

// sameScenario reports whether a scenario is the one that a decision rests on.
func sameScenario(now, then *store.Scenario) bool {
	if now == nil || then == nil {
		return now == then
	}
	return now.ID == then.ID && now.ETag == then.ETag && now.RouteID == then.RouteID
}
