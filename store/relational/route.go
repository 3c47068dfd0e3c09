package relational

import (
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

var routeTable = table[store.Route]{"routes", "route", func(r *store.Route, to []column) []column {
	return append(to, []column{
		{"id", fixed, &r.ID},
		{"name", full, &r.Name},
		{"folded", unread, folded{&r.Name}},
		{"context_id", full, (*int64)(&r.ContextID)},
		{"author_id", full, (*int64)(&r.AuthorID)},
		{"version", full, &r.Version},
		{"yaml", full, &r.YAML},
		{"length(source)", selected, &r.SourceSize},
		{"source", full, &r.Source},
		{"etag", full, &r.ETag},
		{"form", full, &r.Form},
		{"created", full, millis{&r.Created}},
		{"modified", full, millis{&r.Modified}},
	}...)
}}

var versionTable = table[store.RouteVersion]{"route_versions", "version of a route", func(v *store.RouteVersion, to []column) []column {
	return append(to, []column{
		{"route_id", fixed, &v.RouteID},
		{"name", fixed, &v.Name},
		{"version", fixed, &v.Version},
		{"yaml", fixed, &v.YAML},
		{"form", fixed, &v.Form},
		{"created", fixed, millis{&v.Created}},
		{"source", fixed, &v.Source},
	}...)
}}

var (
	upsertRoute       = routeTable.upsert("id")
	selectRouteByID   = `SELECT ` + routeTable.list("") + ` FROM routes WHERE id = ?1`
	selectRouteByName = `SELECT ` + routeTable.list("") + ` FROM routes WHERE folded = ?1`
	selectRoutes      = `SELECT ` + routeTable.list("", "source") + ` FROM routes ORDER BY id`

	insertRouteVersion  = versionTable.upsert("route_id, version")
	selectRouteVersion  = `SELECT ` + versionTable.list("") + ` FROM route_versions WHERE route_id = ?1 AND version = ?2`
	selectRouteVersions = `SELECT ` + versionTable.list("", "source") + ` FROM route_versions WHERE route_id = ?1 ORDER BY version`
)

const (
	selectRouteBriefs = `
		SELECT id, name, context_id, author_id, version, brief FROM routes
			LEFT JOIN route_briefs ON route_id = id ORDER BY id`
	putRouteBrief = `
		INSERT INTO route_briefs (route_id, brief) SELECT id, ?2 FROM routes WHERE id = ?1
		ON CONFLICT (route_id) DO UPDATE SET brief = excluded.brief`

	openOfRoutes = `
		SELECT value, (
			SELECT count(*) FROM (
				SELECT 1 FROM (SELECT id FROM cases WHERE route_id = value AND open = 1 AND state <> 'queued' ORDER BY id DESC LIMIT ?5) AS newest
				WHERE value IN (SELECT value FROM json_each(?2))
					OR EXISTS (SELECT 1 FROM case_access WHERE case_id = newest.id AND party_id IN (SELECT value FROM json_each(?3)))
				LIMIT ?4) AS counted), (
			SELECT count(*) FROM (SELECT 1 FROM cases WHERE route_id = value AND open = 1 AND state <> 'queued' LIMIT ?6) AS there)
		FROM json_each(?1)`

	selectRouteStamp = `SELECT version FROM routes WHERE id = ?1`

	// Both counts read one small table and one index.
	countRouteUses = `
		SELECT (SELECT coalesce(sum(n), 0) FROM open_cases WHERE route_id = ?1),
			(SELECT count(*) FROM entries WHERE route_id = ?1)`

	deleteRoute = `DELETE FROM routes WHERE id = ?1`
)

// Get returns the route of that id.
func (r routeReader) Get(id int64) (*store.Route, error) {
	return routeTable.one(r.c, selectRouteByID, id)
}

// GetByName returns the route of that name, in any case.
func (r routeReader) GetByName(name string) (*store.Route, error) {
	return routeTable.one(r.c, selectRouteByName, identity.Fold(name))
}

// List returns all routes by id, without Source.
func (r routeReader) List() (all []store.Route, err error) {
	err = routeTable.add(r.c, &all, selectRoutes)
	return all, Failure("read the routes", err)
}

// Briefs returns all routes by id, without their texts.
func (r routeReader) Briefs() (all []store.Route, err error) {
	err = r.c.Each(selectRouteBriefs, func(scan Scan) error {
		var s store.Route
		err := scan(&s.ID, &s.Name, (*int64)(&s.ContextID), (*int64)(&s.AuthorID), &s.Version, &s.Brief)
		all = append(all, s)
		return err
	})
	return all, Failure("read the routes", err)
}

// CurrentVersion returns the current version of the route.
func (r routeReader) CurrentVersion(id int64) (version int64, err error) {
	var found bool
	if known := r.c.memory.stamps.known.Load(); known != nil {
		version, found = (*known)[id]
	} else {
		found, err = r.c.Row(selectRouteStamp, id).Scan(&version)
	}
	return version, read(found, err, "route")
}

// Version returns a version that was ever stored.
func (r routeReader) Version(id, version int64) (*store.RouteVersion, error) {
	return versionTable.one(r.c, selectRouteVersion, id, version)
}

// Versions returns the route's versions, ascending, without Source.
func (r routeReader) Versions(id int64) (all []store.RouteVersion, err error) {
	err = versionTable.add(r.c, &all, selectRouteVersions, id)
	return all, Failure("read the versions of a route", err)
}

// InUse counts the open cases of the route and the schedule entries
// that name it.
func (r routeReader) InUse(id int64) (cases, entries int64, err error) {
	_, err = r.c.Row(countRouteUses, id).Scan(&cases, &entries)
	return cases, entries, Failure("count what uses a route", err)
}

// Put stores a new route or changes the one of that id, and its Brief if there is one;
// with a new Version its source and form are kept as that version as well. A name in
// use is errs.NameTaken.
func (t routeWriter) Put(r *store.Route) error {
	const op = "store a route"
	t.c.memory.stamps.move()
	err := upsertRoute.exec(t.c, r)
	if isUnique(err) {
		return errs.New(errs.NameTaken, "The name %q is in use for another route.", r.Name)
	}
	if err != nil {
		return Failure(op, err)
	}
	err = insertRouteVersion.exec(t.c, &store.RouteVersion{
		RouteID: r.ID, Name: r.Name, Version: r.Version, YAML: r.YAML, Source: r.Source, Form: r.Form, Created: r.Modified,
	})
	if err != nil || len(r.Brief) == 0 {
		return Failure(op, err)
	}
	return t.PutBrief(r)
}

// PutBrief stores what is known of a route without its text. One that has been deleted
// meanwhile stays so.
func (t routeWriter) PutBrief(r *store.Route) error {
	_, err := t.c.Exec(putRouteBrief, r.ID, r.Brief)
	return Failure("store the brief of a route", err)
}

// Delete deletes a route. Its versions stay for the cases that have
// them.
func (t routeWriter) Delete(id int64) error {
	t.c.memory.stamps.move()
	n, err := t.c.Change(deleteRoute, id)
	return found(n, err, "route")
}

// CountOpen counts the cases of the routes that have started and have not ended, in one
// statement: those that one of the parties sees, of the routes in whole all.
func (r routeReader) CountOpen(routes, whole []int64, parties []identity.ID, bound store.OpenBound) (map[int64]store.OpenCount, error) {
	counts := make(map[int64]store.OpenCount, len(routes))
	err := r.c.Each(openOfRoutes, func(scan Scan) error {
		var id int64
		var seen, there int
		err := scan(&id, &seen, &there)
		counts[id] = store.OpenCount{Cases: min(seen, bound.Most), More: seen > bound.Most || there > bound.Look}
		return err
	}, array(routes), array(whole), array(parties), bound.Most+1, bound.Look, bound.Look+1)
	return counts, Failure("count the open cases of routes", err)
}
