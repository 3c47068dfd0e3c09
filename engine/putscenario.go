package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/engine/quota"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// PutScenario stores the scenario beside a route, after it was played with the route as
// it is stored. If the caller sees no route of that name, the scenario waits until the
// caller stores one. Errors: errs.NotAllowed; errs.NotParseable, errs.Invalid with every
// fault of the document; errs.ScenarioBroken if it does not hold; errs.TooMany for too
// many scenarios that wait.
func (e *Scenarios) PutScenario(ctx context.Context, req Request, name string, yaml bool, body []byte) (*Outcome, error) {
	return change.Make(ctx, e.Maker, func(r store.Reader) (change.Apply[*Outcome], error) {
		return e.putScenario(ctx, r, req, name, scenarioText{yaml, body})
	})
}

// putScenario decides on a PUT of a scenario.
func (e *Scenarios) putScenario(ctx context.Context, r store.Reader, req Request, name string, given scenarioText) (change.Apply[*Outcome], error) {
	next, err := e.readScenario(r, req, name, given)
	if err != nil {
		return nil, err
	}
	return func(tx store.Tx) (*Outcome, error) {
		out, err := e.writeScenario(ctx, tx, req, next)
		if err != nil {
			return nil, err
		}
		return out, e.Finish(tx, req, out)
	}, nil
}

// scenarioText is the document of a scenario.
type scenarioText struct {
	yaml bool
	body []byte
}

// scenarioChange is a scenario after a change.
type scenarioChange struct {
	*scenarioPlace
	before  *store.Scenario // as it was decided on, nil for none
	next    store.Scenario
	played  *Played // nil if it was not played
	changed bool    // anything is to be stored
	same    bool    // the document is as it was
}

func (e *Scenarios) readScenario(r store.Reader, req Request, name string, given scenarioText) (*scenarioChange, error) {
	at, err := e.scenarioAt(r, req.By, name)
	if err != nil {
		return nil, err
	}
	if err := e.mayChangeScenario(req.By, at); err != nil {
		return nil, err
	}
	if err := e.CheckRequest(r.Locks(), req, at.version(), at.scope()); err != nil {
		return nil, err
	}
	title, err := e.readTitle(given)
	if err != nil {
		return nil, err
	}
	c := &scenarioChange{scenarioPlace: at, before: at.stored}
	if c.before != nil {
		c.next = *c.before
		c.same = c.before.YAML == given.yaml && bytes.Equal(c.before.Source, given.body)
	} else {
		c.next = store.Scenario{Created: req.Now}
	}
	c.next.Route, c.next.YAML, c.next.Title = at.name, given.yaml, title
	if !c.same {
		c.next.AuthorID, c.next.Source, c.next.ETag, c.next.Modified = req.By.ID, given.body, change.SourceETag(given.body), req.Now
		c.next.SourceSize = int64(len(given.body))
	}
	if at.route == nil {
		c.changed = !c.same
		return c, e.checkWaiting(r, req.By, c)
	}
	return c, e.playBeside(r, req, c)
}

// readTitle reads the document, and returns its title.
func (e *Scenarios) readTitle(given scenarioText) (string, error) {
	if e.player != nil {
		return e.player.Read(given.body, given.yaml)
	}
	_, err := document.Parse(given.body, given.yaml)
	return "", err
}

// checkWaiting returns errs.TooMany if a user has as many scenarios that wait as
// routes are allowed.
func (e *Scenarios) checkWaiting(r store.Reader, by identity.Principal, c *scenarioChange) error {
	if c.before != nil {
		return nil
	}
	all, err := r.Routes().Scenarios().List(by.ID)
	if err != nil {
		return err
	}
	n := int64(0)
	for i := range all {
		if all[i].RouteID == 0 {
			n++
		}
	}
	return quota.Within(quota.Routes, n, e.limits.Routes)
}

// playBeside plays the scenario with the route as it is stored.
func (e *Scenarios) playBeside(r store.Reader, req Request, c *scenarioChange) error {
	first := storyRoute{name: c.row.Name, yaml: c.row.YAML, source: c.row.Source}
	var err error
	if first.node, err = document.Parse(first.source, first.yaml); err != nil {
		return errs.Wrap("read the source of the route "+c.row.Name, err)
	}
	if first.meant, err = meantIn(r, c.row.ID, c.row.Version); err != nil {
		return err
	}
	if c.played, err = e.play(r, req.By, &c.next, first); err != nil {
		return err
	}
	c.next.RouteID = c.row.ID
	c.changed = !c.same || c.before.RouteID != c.row.ID || c.played != nil && c.before.Version != c.row.Version
	if c.changed {
		playedNow(&c.next, c.played, c.row.Version, req.Now)
	}
	return nil
}

// checkStale returns change.ErrStale if what the change was decided on has moved.
func (e *base) checkStaleScenario(tx store.Tx, by identity.Principal, c *scenarioChange) error {
	now, err := e.scenarioAt(tx, by, c.name)
	if err != nil {
		return err
	}
	moved := (now.stored == nil) != (c.before == nil) || (now.row == nil) != (c.row == nil)
	if !moved && now.stored != nil {
		moved = now.stored.ID != c.before.ID || now.stored.ETag != c.before.ETag || now.stored.RouteID != c.before.RouteID
	}
	if !moved && now.row != nil {
		moved = now.row.ID != c.row.ID || now.row.Version != c.row.Version
	}
	if moved {
		return change.ErrStale
	}
	return nil
}

func (e *Scenarios) writeScenario(ctx context.Context, tx store.Tx, req Request, c *scenarioChange) (*Outcome, error) {
	if err := e.checkStaleScenario(tx, req.By, c); err != nil {
		return nil, err
	}
	if err := e.CheckLocks(tx.Locks(), req, c.scope()); err != nil {
		return nil, err
	}
	out := &Outcome{Created: c.before == nil, Changed: c.changed, Name: c.name, ETag: c.next.ETag, Modified: c.next.Modified}
	switch {
	case c.route == nil:
		meant := cmp.Or(document.Hint(c.name, e.namesSeen(req.By)), ".")
		out.Warnings = []string{fmt.Sprintf("There is no route %q that you see%s The scenario is kept for you, and is played when you store the route.", c.name, meant)}
	case c.played == nil:
		out.Warnings = []string{unplayed}
	}
	if req.DryRun {
		log := ""
		if c.played != nil {
			log = c.played.Log
		}
		out.Report = document.Form(formOfRun(c.name, &c.next, log))
	}
	if !c.changed {
		return out, nil
	}
	if c.before != nil && c.before.ETag != c.next.ETag {
		if err := e.keepPastScenario(tx, c.before, c.name, req); err != nil {
			return nil, err
		}
		if err := e.checkQuota(tx, req.By.ID, 0); err != nil {
			return nil, err
		}
	}
	if c.route != nil && c.before != nil && !c.waits() {
		if err := e.dropWaiting(tx, req, c.name); err != nil {
			return nil, err
		}
	}
	if err := tx.Write().Routes().Scenarios().Put(&c.next); errs.Is(err, errs.NameTaken) {
		return nil, change.ErrStale // another request was faster
	} else if err != nil {
		return nil, err
	}
	return out, e.toldOfScenario(ctx, tx, req, c.scenarioPlace)
}

// namesSeen returns the names of the routes that by sees.
func (e *base) namesSeen(by identity.Principal) []string {
	var out []string
	for _, info := range e.rights.Routes() {
		if e.rights.SeesRoute(by, info) {
			out = append(out, info.Name)
		}
	}
	return out
}

// toldOfScenario publishes and writes down that the scenario of a route has changed.
// One that waits is its author's own affair.
func (e *base) toldOfScenario(ctx context.Context, tx store.Tx, req Request, at *scenarioPlace) error {
	if at.row == nil {
		return nil
	}
	e.publish(tx, Event{Kind: EventRoute, Change: ChangeChanged, ID: at.row.ID, Name: at.row.Name, Version: at.row.Version, Time: req.Now})
	return e.audit.Write(ctx, tx, audit.NewRow(req.By, req.Now, audit.RouteChange, at.row.Name, "scenario"))
}

// keepPastScenario keeps the source of a scenario for its author, or for the caller if
// the author has left.
func (e *base) keepPastScenario(tx store.Tx, s *store.Scenario, name string, req Request) error {
	author := s.AuthorID
	if e.directory().ByID(author) == nil {
		author = req.By.ID
	}
	return addHistory(tx, store.HistoryEntry{
		Folder: store.FolderRoutes, AuthorID: author, Name: scenarioName(name, s.YAML), ETag: s.ETag, Source: s.Source,
	}, req.Now)
}

// dropWaiting deletes the caller's scenario that waits for a route of that name, if
// there is one: another takes its place. Its source is kept.
func (e *base) dropWaiting(tx store.Tx, req Request, name string) error {
	s, err := store.OrNil(tx.Routes().Scenarios().Waiting(req.By.ID, name))
	if err != nil || s == nil {
		return err
	}
	if err := e.keepPastScenario(tx, s, name, req); err != nil {
		return err
	}
	if err := tx.Write().Locks().DeleteOn(store.ScenarioKey(s.ID)); err != nil {
		return err
	}
	return tx.Write().Routes().Scenarios().Delete(s.ID)
}

// DeleteScenario deletes the scenario beside a route, or the caller's that waits for
// one. Errors: errs.NotFound, errs.NotAllowed.
func (e *Scenarios) DeleteScenario(ctx context.Context, req Request, name string) error {
	return e.Store.Update(ctx, func(tx store.Tx) error {
		at, err := e.deletableScenario(tx, req, name)
		if err != nil {
			return err
		}
		return e.removeScenario(ctx, tx, req, at)
	})
}

// deletableScenario returns the scenario of that name, if the caller may delete it.
func (e *Scenarios) deletableScenario(r store.Reader, req Request, name string) (*scenarioPlace, error) {
	at, err := e.scenarioAt(r, req.By, name)
	if err != nil {
		return nil, err
	}
	if at.stored == nil {
		return nil, change.Absent("scenario")
	}
	if !at.waits() {
		if err := e.mayChangeScenario(req.By, at); err != nil {
			return nil, err
		}
	}
	return at, e.CheckRequest(r.Locks(), req, at.version(), at.scope())
}

func (e *Scenarios) removeScenario(ctx context.Context, tx store.Tx, req Request, at *scenarioPlace) error {
	if err := e.keepPastScenario(tx, at.stored, at.name, req); err != nil {
		return err
	}
	if err := tx.Write().Routes().Scenarios().Delete(at.stored.ID); err != nil {
		return err
	}
	if err := tx.Write().Locks().DeleteOn(store.ScenarioKey(at.stored.ID)); err != nil {
		return err
	}
	if at.waits() {
		return deleteNote(tx, req.By.ID, WaitingNote(at.name))
	}
	return e.toldOfScenario(ctx, tx, req, at)
}

// MoveScenario puts a scenario beside another route, as PutScenario does, and deletes
// it beside the first, in one unit. Errors: those of PutScenario; errs.NotFound;
// errs.Precondition if there is one already and overwrite is false.
func (e *Scenarios) MoveScenario(ctx context.Context, req Request, name, newName string, overwrite bool) (*Outcome, error) {
	return change.Make(ctx, e.Maker, func(r store.Reader) (change.Apply[*Outcome], error) {
		from, err := e.deletableScenario(r, req, name)
		if err != nil {
			return nil, err
		}
		put := req
		put.If = nil
		if !overwrite {
			put.If = func(v Version) error {
				if v.Exists {
					return errs.New(errs.Precondition, "There is something at the destination already, and Overwrite is F.")
				}
				return nil
			}
		}
		next, err := e.readScenario(r, put, newName, scenarioText{from.stored.YAML, from.stored.Source})
		if err != nil {
			return nil, err
		}
		return func(tx store.Tx) (*Outcome, error) {
			now, err := e.deletableScenario(tx, req, name)
			if err != nil {
				return nil, err
			}
			if now.stored.ID != from.stored.ID || now.stored.ETag != from.stored.ETag {
				return nil, change.ErrStale
			}
			out, err := e.writeScenario(ctx, tx, put, next)
			if err != nil || next.next.ID == now.stored.ID { // another spelling of the same name
				return out, err
			}
			return out, e.removeScenario(ctx, tx, req, now)
		}, nil
	})
}
