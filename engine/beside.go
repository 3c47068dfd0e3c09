package engine

import (
	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// The scenario beside a route that is stored, renamed or deleted
// (docs/contract/routes.md#9-scenarios).

// besideRoute returns the scenarios that a route is played by when the caller stores it: its
// own, and one that waits for it and is the caller's; nil for none.
func besideRoute(r store.Reader, by identity.Principal, row *store.Route) (own, waiting *store.Scenario, err error) {
	if own, err = store.OrNil(r.Routes().Scenarios().OfRoute(row.ID)); err != nil {
		return nil, nil, err
	}
	waiting, err = store.OrNil(r.Routes().Scenarios().Waiting(by.ID, row.Name))
	return own, waiting, err
}

// playChanged plays the scenario beside a route with the route as it is to be stored.
// It comes last of all checks, since it takes longest. One that the caller has waiting, and
// has written later than the one in force, comes first and takes its place if it holds.
func (e *Routes) playChanged(r store.Reader, req Request, c *routeChange) (err error) {
	if c.beside, c.waiting, err = besideRoute(r, req.By, &c.stored); err != nil {
		return err
	}
	first := storyRoute{c.stored.Name, c.stored.YAML, c.stored.Source, c.node, c.meant}
	taken := c.beside
	var broken error // what is wrong with the one that waits
	if w := c.waiting; w != nil && (c.beside == nil || laterThan(w, c.beside)) {
		taken = w
		c.played, broken = e.play(r, req.By, w, first)
		switch {
		case broken == nil:
		case c.beside != nil && errs.Is(broken, errs.ScenarioBroken):
			taken, c.stillWaits = c.beside, true
		default:
			return broken
		}
	}
	if taken == nil {
		return nil
	}
	if taken == c.beside {
		if c.played, err = e.play(r, req.By, taken, first); errs.Is(err, errs.ScenarioBroken) && broken != nil {
			return broken // that is the one which its author works on
		} else if err != nil {
			return err
		}
	}
	next := *taken
	c.scenario = &next
	if !c.changed && next.RouteID != 0 && (c.played == nil || next.Version == c.stored.Version) {
		return nil // nothing is to be told of it
	}
	next.RouteID = c.stored.ID
	playedNow(&next, c.played, c.stored.Version, req.Now)
	return nil
}

// laterThan reports whether a scenario was written after another, also at the same instant of a
// clock that stands.
func laterThan(s, other *store.Scenario) bool {
	return s.Modified.After(other.Modified) || s.Modified.Equal(other.Modified) && s.ID > other.ID
}

// checkBeside returns change.ErrStale if the scenarios are others than those that were
// looked at.
func (e *Routes) checkBeside(tx store.Tx, by identity.Principal, c *routeChange) error {
	own, waiting, err := besideRoute(tx, by, &c.stored)
	if err == nil && !(sameScenario(own, c.beside) && sameScenario(waiting, c.waiting)) {
		err = change.ErrStale
	}
	return err
}

// writeBeside stores when the scenario was played, and that a scenario waits no longer.
func (e *Routes) writeBeside(tx store.Tx, req Request, c *routeChange) error {
	if c.scenario == nil {
		return nil
	}
	if c.beside != nil && c.scenario.ID == c.beside.ID {
		if c.scenario.Played.Equal(c.beside.Played) && c.scenario.Version == c.beside.Version {
			return nil
		}
		if !c.stillWaits {
			if err := e.dropWaiting(tx, req, c.stored.Name); err != nil {
				return err
			}
		}
		return tx.Write().Routes().Scenarios().Put(c.scenario)
	}
	if err := deleteNote(tx, req.By.ID, WaitingNote(c.waiting.Route)); err != nil {
		return err
	}
	if c.beside != nil {
		if err := e.replaceBeside(tx, req, c); err != nil {
			return err
		}
	}
	return tx.Write().Routes().Scenarios().Put(c.scenario)
}

// replaceBeside makes room for the scenario that takes the place of the route's own.
func (e *Routes) replaceBeside(tx store.Tx, req Request, c *routeChange) error {
	if err := e.CheckLocks(tx.Locks(), req, change.ScopeOf(store.ScenarioKey(c.beside.ID))); err != nil {
		return err
	}
	if err := e.keepPastScenario(tx, c.beside, c.stored.Name, req); err != nil {
		return err
	}
	if err := tx.Write().Locks().DeleteOn(store.ScenarioKey(c.beside.ID)); err != nil {
		return err
	}
	return tx.Write().Routes().Scenarios().Delete(c.beside.ID)
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
