package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"flowdrive/engine/access"
	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/engine/quota"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// PutRoute stores a route under its name. A changed document makes a new
// version; an equal one only replaces the source. Errors: errs.Invalid with
// every fault of the document; errs.NotAllowed; errs.NameTaken by a route that
// the caller may not see; errs.ContextNotAvailable; errs.TooMany for too many
// routes.
func (e *Routes) PutRoute(ctx context.Context, req Request, name string, yaml bool, body []byte) (*Outcome, error) {
	return change.Make(ctx, e.Maker, func(r store.Reader) (change.Apply[*Outcome], error) {
		next, err := e.readRoute(r, req, name, yaml, body)
		if err != nil {
			return nil, err
		}
		return func(tx store.Tx) (*Outcome, error) {
			return e.writeRoute(ctx, tx, req, next)
		}, nil
	})
}

// routeNamed returns the route of that name as it is stored, with what its
// rights are judged by; nil for none.
func (e *base) routeNamed(r store.Reader, name string) (*store.Route, *access.Route, error) {
	stored, err := store.OrNil(r.Routes().GetByName(name))
	if err != nil || stored == nil {
		return nil, nil, err
	}
	if info := e.rights.Route(stored.ID); info != nil && info.Version == stored.Version {
		return stored, info, nil
	}
	// What another unit of the same commit stored: not to be held, for the
	// commit may fail.
	compiled, _, err := compileVersion(r, stored.ID, stored.Version)
	if err != nil {
		return nil, nil, err
	}
	return stored, access.RouteOf(stored, compiled, 0), nil
}

// routeChange is a route after a change.
type routeChange struct {
	stored   store.Route
	compiled *route.Route
	node     *document.Node
	meant    route.Meant
	warnings []errs.Fault
	created  bool
	changed  bool            // anything is to be stored at all
	scenario *store.Scenario // beside it after the change, nil for none
	beside   *store.Scenario // its own, as it was decided on
	waiting  *store.Scenario // the caller's, likewise
	played   *Played         // nil: it was not played
	base     int64           // version it was decided on, 0 for a new route
	baseETag string          // of the source that it was decided on

	lastAuthor identity.ID // who stored the version before, 0 if that is not known

	replaces   string // says that a version of another user is replaced; "" if it is not
	stillWaits bool   // what the caller has waiting does not hold, and waits on
}

func (e *Routes) readRoute(r store.Reader, req Request, name string, yaml bool, body []byte) (*routeChange, error) {
	old, info, err := e.routeNamed(r, name)
	if err != nil {
		return nil, err
	}
	c := &routeChange{created: old == nil}
	hidden := old != nil && !e.rights.SeesRoute(req.By, info)
	if hidden {
		old = nil // told last, of a document that is right
	}
	if old != nil {
		if !e.rights.Administers(req.By, info) {
			return nil, errs.New(errs.NotAllowed, "Only the route's administrators may change it.")
		}
		name, c.stored, c.base, c.baseETag, c.lastAuthor = old.Name, *old, old.Version, old.ETag, info.By
	}
	version, err := routeVersion(r, old)
	if err != nil {
		return nil, err
	}
	if err := e.CheckRequest(r.Locks(), req, version, sceneOfRoute(old)); err != nil {
		return nil, e.withLastAuthor(err, req.By, old, info)
	}
	c.replaces = e.replaced(req, old, info)
	if c.node, err = document.Parse(body, yaml); err != nil {
		return nil, err
	}
	if c.meant, err = meantBefore(r, old); err != nil {
		return nil, err
	}
	others, err := e.othersFor(r, req.By, old)
	if err != nil {
		return nil, err
	}
	c.compiled, c.warnings, err = route.ParseNamed(name, c.node, c.meant, others)
	children, failed := e.checkChildren(r, req.By, name, c)
	if failed != nil {
		return nil, failed
	}
	if faulty, ok := errors.AsType[*errs.Error](err); ok && faulty.Kind == errs.Invalid && len(faulty.Faults) > 0 {
		reaches := e.reach.Check(route.ReachesOf(name, c.node))
		return nil, errs.InvalidDocument(slices.Concat(faulty.Faults, children, reaches))
	}
	if err != nil {
		return nil, err
	}
	if err := errs.InvalidDocument(append(children, e.reach.Check(c.compiled.Reaches())...)); err != nil {
		return nil, err
	}
	if hidden {
		return nil, errs.New(errs.NameTaken, "The name %q is in use; choose another.", name)
	}
	owner, err := e.routeOwner(req.By, c)
	if err != nil {
		return nil, err
	}
	if c.created {
		if err := e.checkRoutes(req.By.ID); err != nil {
			return nil, err
		}
		if c.stored, err = e.newRoute(r, req, name); err != nil {
			return nil, err
		}
	}
	c.warnings = e.warningsOf(req.By, owner, c.compiled, c.warnings)
	same := !c.created && owner == c.stored.ContextID && sameContent(c)
	c.changed = !same || yaml != c.stored.YAML || !bytes.Equal(body, c.stored.Source)
	if !c.changed {
		return c, e.playChanged(r, req, c)
	}
	c.stored.YAML, c.stored.Source, c.stored.ETag = yaml, body, change.SourceETag(body)
	c.stored.Modified = req.Now
	if !same {
		c.stored.ContextID = owner
		c.stored.Version++
		c.stored.Form = route.CompleteForm(c.node, c.compiled, e.routeMeta(c, req.By.ID))
	}
	return c, e.playChanged(r, req, c)
}

// routeETag is the ETag of a version's complete form, which is also what an
// If-Match compares: equal content under another source keeps it.
func routeETag(id, version int64) string { return fmt.Sprintf(`"r%d-%d"`, id, version) }

func routeVersion(r store.Reader, s *store.Route) (Version, error) {
	if s == nil {
		return Version{}, nil
	}
	v := Version{Exists: true, ETag: s.ETag, Definition: routeETag(s.ID, s.Version), Modified: s.Modified}
	scenario, err := store.OrNil(r.Routes().Scenarios().OfRoute(s.ID))
	if scenario != nil {
		v.Definition = definitionWithScenario(s)
	}
	return v, err
}

func sceneOfRoute(s *store.Route) change.LockScope {
	if s == nil {
		return change.LockScope{}
	}
	return change.ScopeOf(store.RouteKey(s.ID))
}

// checkRoutes returns errs.TooMany if the author has the limit of routes. It
// counts the routes in memory.
func (e *Routes) checkRoutes(author identity.ID) error {
	n := int64(0)
	for _, info := range e.rights.Routes() {
		if info.AuthorID == author {
			n++
		}
	}
	return quota.Within(quota.Routes, n, e.limits.Routes)
}

// sameContent reports whether the stored source says the same as the new
// document, order included.
func sameContent(c *routeChange) bool {
	before, err := document.Parse(c.stored.Source, c.stored.YAML)
	return err == nil && route.SameContent(before, c.node)
}

// routeMeta returns what is shown of a version that the user has stored.
func (e *Routes) routeMeta(c *routeChange, storedBy identity.ID) route.Meta {
	d := e.directory()
	name := func(id identity.ID) string {
		if p := d.ByID(id); p != nil {
			return string(p.Name)
		}
		return ""
	}
	return route.Meta{
		ID: c.stored.ID, Version: c.stored.Version,
		Context: name(c.stored.ContextID), Author: name(c.stored.AuthorID), StoredBy: name(storedBy),
		Warnings: c.warned(), Created: c.stored.Created, Modified: c.stored.Modified,
	}
}

// warned returns the warnings as people read them.
func (c *routeChange) warned() []string {
	warnings := make([]string, len(c.warnings))
	for i, w := range c.warnings {
		warnings[i] = w.String()
	}
	return warnings
}

// routeOwner returns the context of the route: any user may store for themself,
// a team's administrators for the team.
func (e *Routes) routeOwner(by identity.Principal, c *routeChange) (identity.ID, error) {
	d := e.directory()
	owner := by.ID
	if !c.created {
		owner = c.stored.ContextID
	}
	if c.compiled.Context != "" {
		p := d.ByName(identity.Name(c.compiled.Context))
		if p == nil {
			return 0, errs.New(errs.ContextNotAvailable, "You may not store routes for the context %q.", c.compiled.Context)
		}
		owner = p.ID
	}
	if c.created || owner != c.stored.ContextID {
		if !d.Administers(by, owner) {
			return 0, errs.New(errs.ContextNotAvailable, "You may not store routes for the context %q.", c.compiled.Context)
		}
	}
	return owner, nil
}

func (e *Routes) writeRoute(ctx context.Context, tx store.Tx, req Request, c *routeChange) (*Outcome, error) {
	now, err := store.OrNil(tx.Routes().Get(c.stored.ID))
	if err != nil {
		return nil, err
	}
	if c.created != (now == nil) || now != nil && (now.Version != c.base || now.ETag != c.baseETag) {
		return nil, change.ErrStale
	}
	if err := e.checkBeside(tx, req.By, c); err != nil {
		return nil, err
	}
	if c.created {
		if err := tx.Write().History().DeleteTombstone(req.By.ID, store.FolderRoutes, c.stored.Name); err != nil {
			return nil, err
		}
	} else if err := e.CheckLocks(tx.Locks(), req, change.ScopeOf(store.RouteKey(c.stored.ID))); err != nil {
		return nil, err
	}
	if c.changed {
		if now != nil && now.ETag != c.stored.ETag {
			if err := keepPastRoute(tx, now, req.Now); err != nil {
				return nil, err
			}
			if err := e.checkQuota(tx, now.AuthorID, 0); err != nil {
				return nil, err
			}
		}
		by := req.By.ID
		if c.stored.Version == c.base {
			by = c.lastAuthor // the version is still theirs, whatever its source is like
		}
		c.stored.Brief = document.Form(access.BriefOf(c.compiled, by))
		if err := tx.Write().Routes().Put(&c.stored); errs.Is(err, errs.NameTaken) {
			return nil, change.ErrStale // another request was faster
		} else if err != nil {
			return nil, err
		}
		if len(c.stored.Source)+len(c.stored.Form) >= quota.Page {
			if err := e.checkQuota(tx, c.stored.AuthorID, 0); err != nil {
				return nil, err
			}
		}
		if err := keepMeanings(tx, c); err != nil {
			return nil, err
		}
		action := audit.RouteChange
		if c.created {
			action = audit.RouteAdd
		}
		if err := e.audit.Write(ctx, tx, audit.NewRow(req.By, req.Now, action, c.stored.Name, fmt.Sprintf("version %d", c.stored.Version))); err != nil {
			return nil, err
		}
		tx.AfterCommit(func() {
			e.versions.put(c.stored.ID, c.stored.Version, c.compiled, len(c.stored.Source))
			e.rights.PutRoute(access.RouteOf(&c.stored, c.compiled, by))
		})
		ev := Event{Kind: EventRoute, Change: ChangeChanged, ID: c.stored.ID, Name: c.stored.Name, Version: c.stored.Version, Time: req.Now}
		if c.created {
			ev.Change = ChangeCreated
		}
		e.publish(tx, ev)
		if err := e.tellLastAuthor(tx, req, c); err != nil {
			return nil, err
		}
	}
	if err := e.writeBeside(tx, req, c); err != nil {
		return nil, err
	}
	out := c.outcome(req)
	return out, e.Finish(tx, req, out)
}

// outcome says what the change does.
func (c *routeChange) outcome(req Request) *Outcome {
	out := &Outcome{
		Created: c.created, Changed: c.stored.Version != c.base, Name: c.stored.Name, ETag: c.stored.ETag, Modified: c.stored.Modified,
		Warnings: c.warned(),
	}
	out.Form, out.FormETag = shownRoute(&c.stored, c.scenario, "")
	var notes []string
	if c.replaces != "" && out.Changed {
		notes = append(notes, c.replaces)
	}
	if c.scenario != nil && c.played == nil {
		notes = append(notes, unplayed)
	}
	switch {
	case c.stillWaits:
		notes = append(notes, "The scenario that waits for this route does not hold with it, and goes on waiting; the one in force does.")
	case c.scenario != nil && c.beside != nil && c.scenario.ID != c.beside.ID:
		notes = append(notes, "The scenario that waited for this route is in force now; the one before is in .history/.")
	}
	if len(notes) > 0 {
		out.Warnings = append(out.Warnings, notes...)
		out.Told = document.WithMember(out.Form, "notes", document.Line(notes))
	}
	if req.DryRun && c.played != nil {
		out.Report, _ = shownRoute(&c.stored, c.scenario, c.played.Log)
	}
	return out
}
