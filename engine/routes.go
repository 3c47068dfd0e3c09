package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"flowdrive/document"
	"flowdrive/errs"
	"flowdrive/identity"
	"flowdrive/route"
)

// routeInfo is what is kept in memory of a route: its current version, and
// what its rights are judged by.
type routeInfo struct {
	ID        int64
	Name      string
	ContextID identity.ID
	AuthorID  identity.ID
	Version   int64
	Compiled  *route.Route
}

// routeTable is all routes. It is never changed once made.
type routeTable struct {
	list   []*routeInfo // by id
	byID   map[int64]*routeInfo
	byName map[string]*routeInfo // folded
}

func (e *Engine) newRouteTable(r Reader) (*routeTable, error) {
	routes, err := r.Routes()
	if err != nil {
		return nil, err
	}
	t := &routeTable{byID: make(map[int64]*routeInfo, len(routes)), byName: make(map[string]*routeInfo, len(routes))}
	for i := range routes {
		stored := &routes[i]
		compiled, err := e.versions.get(r, stored.ID, stored.Version)
		if err != nil {
			return nil, err
		}
		info := &routeInfo{
			ID: stored.ID, Name: stored.Name, ContextID: stored.ContextID, AuthorID: stored.AuthorID,
			Version: stored.Version, Compiled: compiled,
		}
		t.list = append(t.list, info)
		t.byID[info.ID] = info
		t.byName[identity.Fold(info.Name)] = info
	}
	return t, nil
}

// versionCache holds compiled versions of routes, which never change.
type versionCache struct {
	mu       sync.RWMutex
	compiled map[versionKey]*route.Route
}

type versionKey struct{ id, version int64 }

// get returns the compiled version, from the store where it is not held yet.
func (c *versionCache) get(r Reader, id, version int64) (*route.Route, error) {
	key := versionKey{id, version}
	c.mu.RLock()
	held := c.compiled[key]
	c.mu.RUnlock()
	if held != nil {
		return held, nil
	}
	stored, err := r.RouteVersion(id, version)
	if err != nil {
		return nil, errs.Wrap(fmt.Sprintf("read version %d of route %d", version, id), err)
	}
	node, err := parseDocument(stored.Source, stored.YAML)
	if err != nil {
		return nil, errs.Wrap(fmt.Sprintf("read version %d of route %d", version, id), err)
	}
	compiled, _, err := route.Parse(stored.Name, node)
	if err != nil {
		return nil, errs.Wrap(fmt.Sprintf("compile version %d of route %d", version, id), err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compiled == nil {
		c.compiled = map[versionKey]*route.Route{}
	}
	c.compiled[key] = compiled
	return compiled, nil
}

func parseDocument(source []byte, yaml bool) (*document.Node, error) {
	if yaml {
		return document.ParseYAML(source)
	}
	return document.ParseJSON(source)
}

// parseNamed reads a document in the language that its name tells: YAML
// under a given name that ends so, else JSON.
func parseNamed(ref Ref, body []byte) (*document.Node, error) {
	name := strings.ToLower(ref.Name)
	return parseDocument(body, strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml"))
}

// visibleRoute returns the route that by sees under that name, or nil.
func (e *Engine) visibleRoute(by identity.Principal, name string) *routeInfo {
	info := e.routes.Load().byName[identity.Fold(name)]
	if info == nil || !e.seesRoute(by, info) {
		return nil
	}
	return info
}

// Route returns a route by its name.
func (e *Engine) Route(ctx context.Context, by identity.Principal, name string) (*Resource, error) {
	info := e.visibleRoute(by, name)
	if info == nil {
		return nil, absent("route")
	}
	var stored *Route
	err := e.store.View(ctx, func(r Reader) (err error) {
		stored, err = r.RouteByID(info.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return e.routeResource(by, stored), nil
}

// Routes returns the routes that by sees, by id.
func (e *Engine) Routes(ctx context.Context, by identity.Principal, f Filter) ([]Resource, error) {
	var stored []Route
	err := e.store.View(ctx, func(r Reader) (err error) {
		stored, err = r.Routes()
		return err
	})
	if err != nil {
		return nil, err
	}
	table := e.routes.Load()
	var out []Resource
	for i := range stored {
		s := &stored[i]
		info := table.byID[s.ID]
		if info == nil || s.ID <= f.After || !e.seesRoute(by, info) || !e.inContext(by, f.Context, s.ContextID) {
			continue
		}
		if f.Query != "" && !strings.Contains(identity.Fold(info.Name+" "+info.Compiled.Title), identity.Fold(f.Query)) {
			continue
		}
		out = append(out, *e.routeResource(by, s))
		if f.Limit > 0 && len(out) == f.Limit {
			break
		}
	}
	return out, nil
}

// inContext reports whether the context passes a filter: a name, an id,
// "mine", or "" for all.
func (e *Engine) inContext(by identity.Principal, filter string, context identity.ID) bool {
	switch filter {
	case "":
		return true
	case "mine":
		return by.In(context)
	}
	return e.contextID(filter) == context
}

// contextID returns the id of a context given by name or number; 0 where
// there is none.
func (e *Engine) contextID(text string) identity.ID {
	if p := e.directory().ByName(identity.Name(text)); p != nil {
		return p.ID
	}
	if id, err := strconv.ParseInt(text, 10, 64); err == nil && e.directory().ByID(identity.ID(id)) != nil {
		return identity.ID(id)
	}
	return 0
}

func (e *Engine) routeResource(by identity.Principal, s *Route) *Resource {
	etag := fmt.Sprintf(`"r%d-%d"`, s.ID, s.Version)
	return &Resource{
		Name: s.Name, Seq: s.ID, Form: s.Form, FormETag: etag, Definition: etag,
		Source: s.Source, SourceETag: s.ETag, SourceSize: s.SourceSize, YAML: s.YAML,
		Created: s.Created, Modified: s.Modified, Own: by.In(s.ContextID),
	}
}

// RouteVersions returns every version of a route that was ever stored,
// ascending.
func (e *Engine) RouteVersions(ctx context.Context, by identity.Principal, name string) ([]Resource, error) {
	info := e.visibleRoute(by, name)
	if info == nil {
		return nil, absent("route")
	}
	var stored []RouteVersion
	err := e.store.View(ctx, func(r Reader) (err error) {
		stored, err = r.RouteVersions(info.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]Resource, len(stored))
	for i := range stored {
		v := &stored[i]
		out[i] = Resource{
			Name: strconv.FormatInt(v.Version, 10), Seq: v.Version, Form: v.Form,
			FormETag: fmt.Sprintf(`"r%d-%d"`, v.RouteID, v.Version), Created: v.Created, Modified: v.Created,
		}
	}
	return out, nil
}

// PutRoute stores a route under its name. A changed document makes a new
// version; an equal one only replaces the source.
func (e *Engine) PutRoute(ctx context.Context, req Request, name string, yaml bool, body []byte) (*Outcome, error) {
	old := e.routes.Load().byName[identity.Fold(name)]
	if old != nil && !e.seesRoute(req.By, old) {
		return nil, errs.New(errs.NameTaken, "The name %q is in use; choose another.", name)
	}
	if old != nil && !e.administersRoute(req.By, old) {
		return nil, errs.New(errs.NotAllowed, "Only the route's administrators may change it.")
	}
	if old != nil {
		name = old.Name
	}
	var out *Outcome
	err := e.change(ctx, func(r Reader) (decision, error) {
		next, err := e.readRoute(r, req, old, name, yaml, body)
		if err != nil {
			return nil, err
		}
		return func(tx Tx) (err error) {
			out, err = e.writeRoute(tx, req, next)
			return err
		}, nil
	})
	return out, err
}

// routeChange is a route as it shall be.
type routeChange struct {
	stored   Route
	compiled *route.Route
	node     *document.Node
	warnings []errs.Fault
	created  bool
	base     int64 // version it was decided on, 0 for a new route
}

func (e *Engine) readRoute(r Reader, req Request, info *routeInfo, name string, yaml bool, body []byte) (*routeChange, error) {
	c := &routeChange{created: info == nil}
	version := Version{}
	if info != nil {
		stored, err := r.RouteByID(info.ID)
		if errs.Is(err, errs.NotFound) {
			return nil, absent("route")
		}
		if err != nil {
			return nil, err
		}
		c.stored, c.base = *stored, stored.Version
		version = Version{Exists: true, ETag: stored.ETag, Definition: fmt.Sprintf(`"r%d-%d"`, stored.ID, stored.Version), Modified: stored.Modified}
	}
	if err := judge(req.If, version); err != nil {
		return nil, err
	}
	var err error
	if c.node, err = parseDocument(body, yaml); err != nil {
		return nil, err
	}
	if c.compiled, c.warnings, err = route.Parse(name, c.node); err != nil {
		return nil, err
	}
	owner, err := e.routeOwner(req.By, c)
	if err != nil {
		return nil, err
	}
	c.warnings = append(c.warnings, e.unknownParties(c.compiled)...)
	if c.created {
		if err := e.usage.check(usedRoutes, req.By.ID, e.limits.Routes, e.countRoutes); err != nil {
			return nil, err
		}
		c.stored = Route{ID: e.store.NextID(), Name: name, AuthorID: req.By.ID, Created: req.Now}
	}
	same := !c.created && owner == c.stored.ContextID && e.sameContent(c)
	c.stored.ContextID = owner
	if !same {
		c.stored.Version++
	}
	c.stored.YAML, c.stored.Source, c.stored.ETag = yaml, body, sourceETag(body)
	c.stored.Modified = req.Now
	c.stored.Form = route.CompleteForm(c.node, c.compiled, e.routeMeta(c))
	return c, nil
}

// countRoutes counts from memory what a limit asks for.
func (e *Engine) countRoutes(author identity.ID) (n int64, err error) {
	for _, info := range e.routes.Load().list {
		if info.AuthorID == author {
			n++
		}
	}
	return n, nil
}

// sameContent reports whether the stored source says the same as the new
// document, order included.
func (e *Engine) sameContent(c *routeChange) bool {
	before, err := parseDocument(c.stored.Source, c.stored.YAML)
	return err == nil && route.SameContent(before, c.node)
}

func (e *Engine) routeMeta(c *routeChange) route.Meta {
	author := ""
	if p := e.directory().ByID(c.stored.AuthorID); p != nil {
		author = string(p.Name)
	}
	context := ""
	if p := e.directory().ByID(c.stored.ContextID); p != nil {
		context = string(p.Name)
	}
	warnings := make([]string, len(c.warnings))
	for i, w := range c.warnings {
		warnings[i] = w.String()
	}
	return route.Meta{
		ID: c.stored.ID, Version: c.stored.Version, Context: context, Author: author,
		Warnings: warnings, Created: c.stored.Created, Modified: c.stored.Modified,
	}
}

// routeOwner returns the context that the route shall belong to: any user
// stores for itself, a team's admins for the team.
func (e *Engine) routeOwner(by identity.Principal, c *routeChange) (identity.ID, error) {
	d := e.directory()
	owner := by.ID
	if !c.created {
		owner = c.stored.ContextID
	}
	if c.compiled.Context != "" {
		p := d.ByName(identity.Name(c.compiled.Context))
		if p == nil {
			return 0, errs.New(errs.ContextNotAvailable, "The context %q is not yours to store routes for.", c.compiled.Context)
		}
		owner = p.ID
	}
	if c.created || owner != c.stored.ContextID {
		if !d.Administers(by, owner) {
			return 0, errs.New(errs.ContextNotAvailable, "The context %q is not yours to store routes for.", c.compiled.Context)
		}
	}
	return owner, nil
}

// unknownParties warns of users and teams that the route names and that do
// not exist (yet).
func (e *Engine) unknownParties(r *route.Route) []errs.Fault {
	var out []errs.Fault
	d := e.directory()
	for _, p := range r.Parties() {
		if d.ByName(identity.Name(p.Name)) == nil {
			out = append(out, errs.Fault{Pointer: p.Pointer, Code: errs.CodeNotFound, Detail: fmt.Sprintf("there is no user or team %q yet", p.Name)})
		}
	}
	return out
}

func (e *Engine) writeRoute(tx Tx, req Request, c *routeChange) (*Outcome, error) {
	version, err := tx.RouteStamp(c.stored.ID)
	if err != nil && !errs.Is(err, errs.NotFound) {
		return nil, err
	}
	if version != c.base {
		return nil, errStale
	}
	if err := tx.PutRoute(&c.stored); err != nil {
		return nil, err
	}
	table, err := e.newRouteTable(tx)
	if err != nil {
		return nil, err
	}
	tx.AfterCommit(func() {
		e.routes.Store(table)
		if c.created {
			e.usage.add(usedRoutes, req.By.ID, 1)
		}
	})
	etag := fmt.Sprintf(`"r%d-%d"`, c.stored.ID, c.stored.Version)
	out := &Outcome{
		Created: c.created, Changed: c.stored.Version != c.base, Name: c.stored.Name,
		Form: c.stored.Form, FormETag: etag, ETag: c.stored.ETag, Modified: c.stored.Modified,
	}
	return out, e.keep(tx, req, out)
}

// DeleteRoute deletes a route that nothing uses. With force it ends its open
// cases and pauses its entries, which is not built yet.
func (e *Engine) DeleteRoute(ctx context.Context, req Request, name string, force bool) error {
	info := e.visibleRoute(req.By, name)
	if info == nil {
		return absent("route")
	}
	if !e.administersRoute(req.By, info) {
		return errs.New(errs.NotAllowed, "Only the route's administrators may delete it.")
	}
	return e.store.Update(ctx, func(tx Tx) error {
		stored, err := tx.RouteByID(info.ID)
		if errs.Is(err, errs.NotFound) {
			return absent("route")
		}
		if err != nil {
			return err
		}
		version := Version{Exists: true, ETag: stored.ETag, Definition: fmt.Sprintf(`"r%d-%d"`, stored.ID, stored.Version), Modified: stored.Modified}
		if err := judge(req.If, version); err != nil {
			return err
		}
		cases, entries, err := tx.RouteInUse(stored.ID)
		if err != nil {
			return err
		}
		if cases+entries > 0 && force {
			return notBuiltYet("", "Deleting a route that is in use, with its cases, is not built yet; end the cases and delete the entries first.")
		}
		if cases+entries > 0 {
			return errs.New(errs.InUse, "The route has %d open cases and %d schedule entries name it; end and delete them first.", cases, entries)
		}
		if err := tx.DeleteRoute(stored.ID); err != nil {
			return err
		}
		table, err := e.newRouteTable(tx)
		if err != nil {
			return err
		}
		tx.AfterCommit(func() {
			e.routes.Store(table)
			e.usage.add(usedRoutes, stored.AuthorID, -1)
		})
		return nil
	})
}

// routeRef resolves "route" and "routeId" of a document to a route that by
// sees. What does not resolve is a fault at the key that was given, in the
// same words for absent and invisible.
func (e *Engine) routeRef(by identity.Principal, root document.Value, name string, id int64) *routeInfo {
	byName, byID := root.Get("route"), root.Get("routeId")
	table := e.routes.Load()
	var info *routeInfo
	if byID.Given() && id != 0 {
		if info = table.byID[id]; info == nil || !e.seesRoute(by, info) {
			byID.Fail(errs.CodeNotFound, "there is no route %d that you may use", id)
			return nil
		}
	}
	if byName.Given() && name != "" {
		named := table.byName[identity.Fold(name)]
		if named == nil || !e.seesRoute(by, named) {
			byName.Fail(errs.CodeNotFound, "there is no route %q that you may use", name)
			return nil
		}
		if info != nil && info != named {
			byName.Fail(errs.CodeConflict, "is %q, but routeId %d is the route %q; give one of the two", name, id, info.Name)
			return nil
		}
		info = named
	}
	return info
}

// RouteNames returns the names of all routes, for the first start.
func (e *Engine) RouteNames() []string {
	var out []string
	for _, info := range e.routes.Load().list {
		out = append(out, info.Name)
	}
	slices.Sort(out)
	return out
}

func sourceETag(source []byte) string {
	return fmt.Sprintf("\"%x\"", digestOf(source).short())
}
