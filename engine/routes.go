package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
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

func newRouteTable(list []*routeInfo) *routeTable {
	t := &routeTable{list: list, byID: make(map[int64]*routeInfo, len(list)), byName: make(map[string]*routeInfo, len(list))}
	for _, info := range list {
		t.byID[info.ID] = info
		t.byName[identity.Fold(info.Name)] = info
	}
	return t
}

// compiled returns the routes themselves, by id.
func (t *routeTable) compiled() (all []*route.Route) {
	for _, info := range t.list {
		if info.Compiled != nil {
			all = append(all, info.Compiled)
		}
	}
	return all
}

// with returns the table with the route added or replaced.
func (t *routeTable) with(info *routeInfo) *routeTable {
	list := slices.Clone(t.list)
	if i, found := slices.BinarySearchFunc(list, info.ID, byRouteID); found {
		list[i] = info
	} else {
		list = slices.Insert(list, i, info)
	}
	return newRouteTable(list)
}

// without returns the table without the route of that id.
func (t *routeTable) without(id int64) *routeTable {
	return newRouteTable(slices.DeleteFunc(slices.Clone(t.list), func(info *routeInfo) bool { return info.ID == id }))
}

func byRouteID(info *routeInfo, id int64) int { return cmp.Compare(info.ID, id) }

// loadRoutes reads all routes into the table.
func (e *base) loadRoutes(r store.Reader) error {
	stored, err := r.Routes().List()
	if err != nil {
		return err
	}
	list := make([]*routeInfo, len(stored))
	for i := range stored {
		compiled, err := e.versions.get(r, stored[i].ID, stored[i].Version)
		if err != nil {
			return err
		}
		list[i] = infoOf(&stored[i], compiled)
	}
	e.routes.Store(newRouteTable(list))
	return nil
}

func infoOf(s *store.Route, compiled *route.Route) *routeInfo {
	return &routeInfo{ID: s.ID, Name: s.Name, ContextID: s.ContextID, AuthorID: s.AuthorID, Version: s.Version, Compiled: compiled}
}

// compileVersion compiles a stored version. It also returns the length of its source.
func compileVersion(r store.Reader, id, version int64) (compiled *route.Route, size int, err error) {
	stored, err := r.Routes().Version(id, version)
	if unserved(err) {
		return nil, 0, err
	}
	if err == nil {
		size = len(stored.Source)
		var node *document.Node
		if node, err = document.Parse(stored.Source, stored.YAML); err == nil {
			var meant route.Meant
			if meant, err = meantIn(r, id, version); unserved(err) {
				return nil, 0, err
			}
			if err == nil {
				compiled, err = route.ParseStored(stored.Name, node, meant)
			}
		}
	}
	return compiled, size, errs.Wrap(fmt.Sprintf("compile version %d of route %d", version, id), err)
}

// parseNamed reads a document in the language that its name tells: YAML
// under a given name that ends so, else JSON.
func parseNamed(ref Ref, body []byte) (*document.Node, error) {
	name := strings.ToLower(ref.Name)
	return document.Parse(body, strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml"))
}

// visibleRoute returns the route that by sees under that name, or nil.
func (e *base) visibleRoute(by identity.Principal, name string) *routeInfo {
	info := e.routes.Load().byName[identity.Fold(name)]
	if info == nil || !e.seesRoute(by, info) {
		return nil
	}
	return info
}

// Route returns a route by its name. Errors: errs.NotFound if by may not see
// it.
func (e *Routes) Route(ctx context.Context, by identity.Principal, name string) (*Resource, error) {
	info := e.visibleRoute(by, name)
	if info == nil {
		return nil, change.Absent("route")
	}
	var stored *store.Route
	var scenario *store.Scenario
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		if stored, err = r.Routes().Get(info.ID); err != nil {
			return err
		}
		scenario, err = store.OrNil(r.Scenarios().OfRoute(info.ID))
		return err
	})
	if err != nil {
		return nil, err
	}
	return e.routeResource(by, stored, scenario), nil
}

// Routes returns the routes that by sees, by id.
func (e *Routes) Routes(ctx context.Context, by identity.Principal, f Filter) ([]Resource, error) {
	var stored []store.Route
	scenarios := map[int64]*store.Scenario{}
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		if stored, err = r.Routes().List(); err != nil {
			return err
		}
		all, err := r.Scenarios().List(0)
		for i := range all {
			scenarios[all[i].RouteID] = &all[i]
		}
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
		out = append(out, *e.routeResource(by, s, scenarios[s.ID]))
		if f.Limit > 0 && len(out) == f.Limit {
			break
		}
	}
	return out, nil
}

// contextMine is the filter for all contexts that are the caller's.
const contextMine = "mine"

// inContext reports whether the context passes a filter: a name, an id,
// contextMine, or "" for all.
func (e *base) inContext(by identity.Principal, filter string, context identity.ID) bool {
	switch filter {
	case "":
		return true
	case contextMine:
		return by.In(context)
	}
	return e.contextID(filter) == context
}

// contextID returns the id of a context given by name or number, or 0 if there
// is none.
func (e *base) contextID(text string) identity.ID {
	if p := e.directory().ByName(identity.Name(text)); p != nil {
		return p.ID
	}
	if id, err := strconv.ParseInt(text, 10, 64); err == nil && e.directory().ByID(identity.ID(id)) != nil {
		return identity.ID(id)
	}
	return 0
}

func (e *Routes) routeResource(by identity.Principal, s *store.Route, scenario *store.Scenario) *Resource {
	form, etag := shownRoute(s, scenario, "")
	definition := etag
	if scenario != nil {
		definition = definitionWithScenario(s)
	}
	return &Resource{
		Name: s.Name, Seq: s.ID, Form: form, FormETag: etag, Definition: definition,
		Source: s.Source, SourceETag: s.ETag, SourceSize: s.SourceSize, YAML: s.YAML,
		Created: s.Created, Modified: s.Modified, Own: by.In(s.ContextID), Lock: store.RouteKey(s.ID),
	}
}

// RouteVersions returns every version of a route that was ever stored,
// ascending. Errors: errs.NotFound if by may not see the route.
func (e *Routes) RouteVersions(ctx context.Context, by identity.Principal, name string) ([]Resource, error) {
	info := e.visibleRoute(by, name)
	if info == nil {
		return nil, change.Absent("route")
	}
	var stored []store.RouteVersion
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		stored, err = r.Routes().Versions(info.ID)
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
			FormETag: routeETag(v.RouteID, v.Version), Created: v.Created, Modified: v.Created,
		}
	}
	return out, nil
}

// SeenRoute implements account.Routes.
func (e *base) SeenRoute(by identity.Principal, name string) (spelled string, ok bool) {
	info := e.visibleRoute(by, name)
	if info == nil {
		return "", false
	}
	return info.Name, true
}

// SeesCases implements account.Routes.
func (e *base) SeesCases(by identity.Principal, name string) bool {
	info := e.visibleRoute(by, name)
	return by.Admin() || info != nil && e.administersRoute(by, info)
}
