package engine

import (
	"context"
	"fmt"

	"flowdrive/engine/access"
	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// RenameRoute gives a route another name, by a new version with the same source.
// Its cases, the schedule entries that name it, holds and who watches it follow;
// in the texts of other routes the old name goes on to mean it
// (docs/contract/drive.md#renaming). Errors: errs.NotFound, errs.NotAllowed,
// errs.NameNotAllowed, errs.NameTaken.
func (e *Routes) RenameRoute(ctx context.Context, req Request, name, newName string) (*Outcome, error) {
	var out *Outcome
	err := e.Store.Update(ctx, func(tx store.Tx) error {
		stored, info, err := e.routeNamed(tx, name)
		if err != nil {
			return err
		}
		if stored == nil || !e.rights.SeesRoute(req.By, info) {
			return change.Absent("route")
		}
		if !e.rights.Administers(req.By, info) {
			return errs.New(errs.NotAllowed, "Only the route's administrators may rename it.")
		}
		version, err := routeVersion(tx, stored)
		if err != nil {
			return err
		}
		if err := e.CheckRequest(tx.Locks(), req, version, sceneOfRoute(stored)); err != nil {
			return err
		}
		old := stored.Name
		if err := e.mean(tx, store.RouteMeant, old, stored.ID); err != nil {
			return err
		}
		if err := e.putRenamed(tx, req, stored, info.By, newName); err != nil {
			return err
		}
		if err := e.followRoute(tx, req, stored, old); err != nil {
			return err
		}
		if err := e.reloadRoutes(tx); err != nil {
			return err
		}
		e.publish(tx, Event{Kind: EventRoute, Change: ChangeChanged, ID: stored.ID, Name: stored.Name, Version: stored.Version, Time: req.Now})
		scenario, err := store.OrNil(tx.Routes().Scenarios().OfRoute(stored.ID))
		if err != nil {
			return err
		}
		out = &Outcome{Created: true, Changed: true, Name: stored.Name, ETag: stored.ETag, Modified: stored.Modified}
		out.Form, out.FormETag = shownRoute(stored, scenario, "")
		return e.audit.Write(ctx, tx, audit.NewRow(req.By, req.Now, audit.RouteChange, stored.Name, "was called "+old))
	})
	return out, err
}

// putRenamed stores the route under its new name, as a new version of the same author:
// who renames it has not written what it does.
func (e *Routes) putRenamed(tx store.Tx, req Request, stored *store.Route, author identity.ID, name string) error {
	node, err := document.Parse(stored.Source, stored.YAML)
	if err != nil {
		return errs.Wrap("read the source of a route", err)
	}
	if said := node.Get("name"); said != nil && identity.Fold(said.Text) != identity.Fold(name) {
		return errs.New(errs.NameNotAllowed, "The document says that the route is called %q; remove its name there first, or store it under the other name.", said.Text)
	}
	c := &routeChange{base: stored.Version, node: node}
	if c.meant, err = meantBefore(tx, stored); err != nil {
		return err
	}
	others, err := e.othersFor(tx, req.By, stored)
	if err != nil {
		return err
	}
	if c.compiled, c.warnings, err = route.ParseNamed(name, node, c.meant, others); err != nil {
		return err
	}
	stored.Name, stored.Modified = name, req.Now
	stored.Version++
	c.stored = *stored
	c.warnings = e.warningsOf(e.directory().Principal(author), stored.ContextID, c.compiled, c.warnings)
	stored.Form = route.CompleteForm(node, c.compiled, e.routeMeta(c, author))
	stored.Brief = document.Form(access.BriefOf(c.compiled, author))
	c.stored = *stored
	if err := tx.Write().Routes().Put(stored); err != nil {
		return err
	}
	return keepMeanings(tx, c)
}

// followRoute has what names the route by its old name name it by the new one.
func (e *Routes) followRoute(tx store.Tx, req Request, stored *store.Route, old string) error {
	entries, err := tx.Entries().List(store.EntryFilter{RouteID: stored.ID})
	if err != nil {
		return err
	}
	for i := range entries {
		row := &entries[i]
		entry, err := e.readForm(row)
		if err != nil {
			return err
		}
		entry.Route = stored.Name
		row.Revision++
		row.Form, row.Modified = entry.Form(), req.Now
		if err := tx.Write().Entries().Update(row); err != nil {
			return err
		}
		if err := e.followInSource(tx, req, row.UUID, entry, routeRenamed(old)); err != nil {
			return err
		}
	}
	for _, archived := range []bool{false, true} {
		rows, err := tx.Cases().List(store.CaseFilter{RouteID: stored.ID, Archived: archived})
		if err != nil {
			return err
		}
		for i := range rows {
			if err := e.renameInCase(tx, rows[i].ID, stored.Name); err != nil {
				return err
			}
		}
	}
	holds, err := tx.Queue().Holds()
	if err != nil {
		return err
	}
	for i := range holds {
		h := &holds[i]
		if identity.Fold(h.Route) != identity.Fold(old) {
			continue
		}
		h.Route, h.Modified = stored.Name, req.Now
		h.Revision++
		if err := tx.Write().Queue().PutHold(h); err != nil {
			return err
		}
	}
	return e.accounts.FollowRoute(tx, old, stored.Name)
}

// renameInCase gives the route another name in one of its cases.
func (e *Routes) renameInCase(tx store.Tx, id int64, name string) error {
	row, err := tx.Cases().Get(id)
	if err != nil {
		return err
	}
	before, err := e.caseOf(tx, row.Marking)
	if err != nil {
		return errs.Wrap(fmt.Sprintf("read case %d", id), err)
	}
	compiled, err := e.versions.get(tx, before.RouteID, before.RouteVersion)
	if err != nil {
		return err
	}
	after := *before
	after.RouteName = name
	after.Revision++
	c := &caseChange{before: before.Shown(), was: before, after: &after, base: row.Revision}
	e.decider.render(c, compiled)
	c.row.Access, c.row.Tasks = nil, nil
	e.decider.wasArchived(c, row.Archived)
	c.row.Named = row.Named
	return e.decider.writeAll(tx, c)
}
