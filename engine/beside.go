package engine

import (
	"flowdrive/engine/change"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// The scenario beside a route that is stored, renamed or deleted
// (docs/contract/routes.md#9-scenarios).

// besideRoute returns the scenario beside a route: that of the route, or one that waits
// for it and is the caller's.
func besideRoute(r store.Reader, by identity.Principal, row *store.Route) (*store.Scenario, error) {
	s, err := store.OrNil(r.Routes().Scenarios().OfRoute(row.ID))
	if err != nil || s != nil {
		return s, err
	}
	return store.OrNil(r.Routes().Scenarios().Waiting(by.ID, row.Name))
}

// playChanged plays the scenario beside a route with the route as it is to be stored.
// It comes last of all checks, since it takes longest.
func (e *Routes) playChanged(r store.Reader, req Request, c *routeChange) (err error) {
	if c.beside, err = besideRoute(r, req.By, &c.stored); err != nil || c.beside == nil {
		return err
	}
	if c.played, err = e.play(r, req.By, c.beside, storyRoute{c.stored.Name, c.stored.YAML, c.stored.Source, c.node, c.meant}); err != nil {
		return err
	}
	next := *c.beside
	c.scenario = &next
	if !c.changed && next.RouteID != 0 && (c.played == nil || next.Version == c.stored.Version) {
		return nil // nothing is to be told of it
	}
	next.RouteID = c.stored.ID
	playedNow(&next, c.played, c.stored.Version, req.Now)
	return nil
}

// checkBeside returns change.ErrStale if the scenario is another than the one that was
// played.
func (e *Routes) checkBeside(tx store.Tx, by identity.Principal, c *routeChange) error {
	now, err := besideRoute(tx, by, &c.stored)
	if err != nil {
		return err
	}
	if (now == nil) != (c.beside == nil) || now != nil && (now.ID != c.beside.ID || now.ETag != c.beside.ETag || now.RouteID != c.beside.RouteID) {
		return change.ErrStale
	}
	return nil
}

// writeBeside stores when the scenario was played, and that a scenario waits no longer.
func (e *Routes) writeBeside(tx store.Tx, req Request, c *routeChange) error {
	if c.scenario == nil || c.scenario.RouteID == c.beside.RouteID && c.scenario.Played.Equal(c.beside.Played) && c.scenario.Version == c.beside.Version {
		return nil
	}
	if c.beside.RouteID != 0 {
		if err := e.dropWaiting(tx, req, c.stored.Name); err != nil {
			return err
		}
	} else if err := deleteNote(tx, req.By.ID, WaitingNote(c.beside.Route)); err != nil {
		return err
	}
	return tx.Write().Routes().Scenarios().Put(c.scenario)
}

// leaveScenario leaves the scenario of a route that is deleted to who deletes it, as one
// that waits: a later route of the name may go on with it, and whoever deletes both
// files finds both.
func (e *Routes) leaveScenario(tx store.Tx, req Request, row *store.Route) error {
	s, err := store.OrNil(tx.Routes().Scenarios().OfRoute(row.ID))
	if err != nil || s == nil {
		return err
	}
	if err := e.dropWaiting(tx, req, row.Name); err != nil {
		return err
	}
	if s.AuthorID != req.By.ID {
		if err := e.keepPastScenario(tx, s, row.Name, req); err != nil {
			return err
		}
	}
	s.RouteID, s.AuthorID, s.Route = 0, req.By.ID, row.Name
	playedNow(s, nil, 0, req.Now)
	return tx.Write().Routes().Scenarios().Put(s)
}
