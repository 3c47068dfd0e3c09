package sqlite

import (
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	routeColumns = `id, name, context_id, author_id, version, yaml, length(source), etag, form, created, modified`

	selectRouteByID   = `SELECT ` + routeColumns + `, source FROM routes WHERE id = ?1`
	selectRouteByName = `SELECT ` + routeColumns + `, source FROM routes WHERE folded = ?1`
	selectRoutes      = `SELECT ` + routeColumns + `, NULL FROM routes ORDER BY id`
	selectRouteStamp  = `SELECT version FROM routes WHERE id = ?1`

	selectRouteVersion  = `SELECT route_id, name, version, yaml, form, created, source FROM route_versions WHERE route_id = ?1 AND version = ?2`
	selectRouteVersions = `SELECT route_id, name, version, yaml, form, created, NULL FROM route_versions WHERE route_id = ?1 ORDER BY version`

	// Both counts read one small table and one index.
	countRouteUses = `
		SELECT (SELECT coalesce(sum(n), 0) FROM open_cases WHERE route_id = ?1),
			(SELECT count(*) FROM entries WHERE route_id = ?1)`

	upsertRoute = `
		INSERT INTO routes (id, name, folded, context_id, author_id, version, yaml, source, etag, form, created, modified)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
		ON CONFLICT (id) DO UPDATE SET
			name = ?2, folded = ?3, context_id = ?4, author_id = ?5, version = ?6, yaml = ?7,
			source = ?8, etag = ?9, form = ?10, created = ?11, modified = ?12`
	insertRouteVersion = `
		INSERT INTO route_versions (route_id, version, name, yaml, source, form, created)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
		ON CONFLICT (route_id, version) DO NOTHING`
	deleteRoute = `DELETE FROM routes WHERE id = ?1`
)

func scanRoute(scan scan, r *store.Route) error {
	return scan(&r.ID, &r.Name, &r.ContextID, &r.AuthorID, &r.Version, &r.YAML, &r.SourceSize, &r.ETag, &r.Form,
		millis{&r.Created}, millis{&r.Modified}, &r.Source)
}

// Get returns the route of that id.
func (r routeReader) Get(id int64) (*store.Route, error) { return r.route(selectRouteByID, id) }

// GetByName returns the route of that name, whatever its case.
func (r routeReader) GetByName(name string) (*store.Route, error) {
	return r.route(selectRouteByName, identity.Fold(name))
}

func (r *reader) route(query string, key any) (*store.Route, error) {
	out := &store.Route{}
	found, err := r.c.row(query, key).read(func(scan scan) error { return scanRoute(scan, out) })
	if err := read(found, err, "route"); err != nil {
		return nil, err
	}
	return out, nil
}

// List returns all routes by id, without Source.
func (r routeReader) List() (all []store.Route, err error) {
	err = r.c.each(selectRoutes, func(scan scan) error {
		var route store.Route
		err := scanRoute(scan, &route)
		all = append(all, route)
		return err
	})
	return all, failure("read the routes", err)
}

// CurrentVersion returns the current version of the route.
func (r routeReader) CurrentVersion(id int64) (version int64, err error) {
	var found bool
	if known := r.c.memory.stamps.known.Load(); known != nil {
		version, found = (*known)[id]
	} else {
		found, err = r.c.row(selectRouteStamp, id).scan(&version)
	}
	return version, read(found, err, "route")
}

func scanRouteVersion(scan scan, v *store.RouteVersion) error {
	return scan(&v.RouteID, &v.Name, &v.Version, &v.YAML, &v.Form, millis{&v.Created}, &v.Source)
}

// Version returns a version that was ever stored.
func (r routeReader) Version(id, version int64) (*store.RouteVersion, error) {
	out := &store.RouteVersion{}
	found, err := r.c.row(selectRouteVersion, id, version).read(func(scan scan) error { return scanRouteVersion(scan, out) })
	if err := read(found, err, "version of a route"); err != nil {
		return nil, err
	}
	return out, nil
}

// Versions returns the route's versions, ascending, without Source.
func (r routeReader) Versions(id int64) (all []store.RouteVersion, err error) {
	err = r.c.each(selectRouteVersions, func(scan scan) error {
		var v store.RouteVersion
		err := scanRouteVersion(scan, &v)
		all = append(all, v)
		return err
	}, id)
	return all, failure("read the versions of a route", err)
}

// InUse counts the open cases of the route and the schedule entries
// that name it.
func (r routeReader) InUse(id int64) (cases, entries int64, err error) {
	_, err = r.c.row(countRouteUses, id).scan(&cases, &entries)
	return cases, entries, failure("count what uses a route", err)
}

// Put stores a new route or changes the one of that id; with a new
// Version its source and form are kept as that version as well. A name in
// use is errs.NameTaken.
func (t routeWriter) Put(r *store.Route) error {
	const op = "store a route"
	t.c.memory.stamps.move()
	_, err := t.c.exec(upsertRoute, r.ID, r.Name, identity.Fold(r.Name), int64(r.ContextID), int64(r.AuthorID),
		r.Version, r.YAML, blob(r.Source), r.ETag, blob(r.Form), at(r.Created), at(r.Modified))
	if isUnique(err) {
		return errs.New(errs.NameTaken, "The name %q is in use for another route.", r.Name)
	}
	if err != nil {
		return failure(op, err)
	}
	_, err = t.c.exec(insertRouteVersion, r.ID, r.Version, r.Name, r.YAML, blob(r.Source), blob(r.Form), at(r.Modified))
	return failure(op, err)
}

// Delete deletes a route. Its versions stay for the cases that have
// them.
func (t routeWriter) Delete(id int64) error {
	t.c.memory.stamps.move()
	n, err := t.c.change(deleteRoute, id)
	return found(n, err, "route")
}
