package engine

import (
	"fmt"

	"flowdrive/engine/access"
	"flowdrive/engine/notice"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Several authors of one route: each is told whose version is there, so that no change
// is undone unseen (docs/contract/routes.md#several-authors).

// storedBy says which version of a route is stored, by whom and when; "" if who stored
// it is not known.
func (e *Routes) storedBy(to identity.Principal, stored *store.Route, info *access.Route) string {
	if info.By == 0 {
		return ""
	}
	who := "a user who was deleted"
	if p := e.directory().ByID(info.By); p != nil {
		who = string(p.Name)
	}
	when := clock.Minute(stored.Modified, e.zoneOf(to))
	return fmt.Sprintf("version %d, which %s stored at %s", stored.Version, who, when)
}

// withLastAuthor says in the refusal of a condition which version of another user is stored.
func (e *Routes) withLastAuthor(err error, to identity.Principal, stored *store.Route, info *access.Route) error {
	refused, ok := err.(*errs.Error) //nolint:errorlint // as the condition has made it; what wraps it is not about the route
	if !ok || refused.Kind != errs.Precondition || stored == nil || info.By == to.ID {
		return err
	}
	by := e.storedBy(to, stored, info)
	if by == "" {
		return err
	}
	more := *refused
	more.Detail = "The condition is not met: what is stored at this address is " + by + ". Fetch it, and decide again."
	return &more
}

// replaced says that a change without a condition takes the place of a version of
// another user, "" if it does not. Who sends a condition knows what is there.
func (e *Routes) replaced(req Request, stored *store.Route, info *access.Route) string {
	if stored == nil || req.If != nil || info.By == req.By.ID {
		return ""
	}
	by := e.storedBy(req.By, stored, info)
	if by == "" {
		return ""
	}
	return fmt.Sprintf("This takes the place of %s; that version is kept as %s/Versions/%d.json.", by, stored.Name, stored.Version)
}

// tellLastAuthor mails to the user who had stored the version before that another user has
// stored a new one: on a mount nobody is shown whose version it replaces.
func (e *Routes) tellLastAuthor(tx store.Tx, req Request, c *routeChange) error {
	if c.created || c.stored.Version == c.base || c.lastAuthor == 0 || c.lastAuthor == req.By.ID {
		return nil
	}
	p := e.accounts.Table().ByID(c.lastAuthor)
	if p == nil {
		return nil
	}
	return (&deeds{e.decider, tx}).mailTo(p, &notice.Notice{
		Kind: notice.KindAct, Time: req.Now, Links: e.links,
		RouteChange: &notice.RouteChange{Route: c.stored.Name, Version: c.stored.Version, Replaced: c.base, By: e.callName(req.By.Name)},
	})
}
