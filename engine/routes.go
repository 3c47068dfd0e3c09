package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"flowdrive/engine/quota"

	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// routeInfo is what is kept in memory of each route: the number of its current
// version, and what its rights are judged by. The version itself is compiled when it
// is needed (base.use).
type routeInfo struct {
	ID        int64
	Name      string
	ContextID identity.ID
	AuthorID  identity.ID
	Version   int64
	routeBrief
}

// routeBrief is what is stored of a route beside its text, so that the server knows
// whom it is for without compiling it.
type routeBrief struct {
	Title    string       `json:"title,omitempty"`
	Access   route.Access `json:"access"`
	Children []string     `json:"children,omitempty"` // the routes whose cases it starts as children
}

// usedRoute is a route with its compiled version.
type usedRoute struct {
	routeInfo
	Compiled *route.Route
}

// use returns the route with its current version, compiled.
func (e *base) use(r store.Reader, info *routeInfo) (*usedRoute, error) {
	compiled, err := e.versions.get(r, info.ID, info.Version)
	if err != nil {
		return nil, err
	}
	return &usedRoute{*info, compiled}, nil
}

// used is use in a view of its own.
func (e *base) used(ctx context.Context, info *routeInfo) (used *usedRoute, err error) {
	err = e.Store.View(ctx, func(r store.Reader) (err error) {
		used, err = e.use(r, info)
		return err
	})
	return used, err
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

// loadRoutes reads all routes into the table. What is compiled is only what an
// earlier release has stored without a brief.
func (e *base) loadRoutes(ctx context.Context) error {
	var list []*routeInfo
	var without []store.Route
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		list, without, err = readRoutes(r)
		return err
	})
	if err != nil {
		return err
	}
	e.routes.Store(newRouteTable(list))
	for i := range without {
		err := e.Store.Update(ctx, func(tx store.Tx) error { return tx.Write().Routes().PutBrief(&without[i]) })
		if err != nil {
			return err
		}
	}
	return nil
}

// readRoutes reads all routes without their texts, as the reader has them. Those
// without a brief are compiled; they are returned with theirs.
func readRoutes(r store.Reader) (list []*routeInfo, without []store.Route, err error) {
	stored, err := r.Routes().Briefs()
	if err != nil {
		return nil, nil, err
	}
	list = make([]*routeInfo, len(stored))
	for i := range stored {
		s := &stored[i]
		if len(s.Brief) == 0 {
			compiled, _, err := compileVersion(r, s.ID, s.Version)
			if err != nil {
				return nil, nil, err
			}
			s.Brief = document.Form(briefOf(compiled))
			without = append(without, *s)
		}
		if list[i], err = infoOf(r, s); err != nil {
			return nil, nil, err
		}
	}
	return list, without, nil
}

// briefOf returns the brief of a route.
func briefOf(compiled *route.Route) routeBrief {
	b := routeBrief{Title: compiled.Title, Access: compiled.Access}
	for i := range compiled.Actions {
		if child := compiled.Actions[i].Child; child != nil && !slices.Contains(b.Children, child.Route) {
			b.Children = append(b.Children, child.Route)
		}
	}
	return b
}

// infoOf returns what is kept in memory of a stored route. Names in its brief mean
// what they mean in the route.
func infoOf(r store.Reader, s *store.Route) (*routeInfo, error) {
	info := &routeInfo{ID: s.ID, Name: s.Name, ContextID: s.ContextID, AuthorID: s.AuthorID, Version: s.Version}
	if err := json.Unmarshal(s.Brief, &info.routeBrief); err != nil {
		return nil, errs.Wrap(fmt.Sprintf("read the brief of route %d", s.ID), err)
	}
	meant, err := meantIn(r, s.ID, s.Version)
	if err != nil {
		return nil, err
	}
	for _, list := range [][]string{info.Access.Start, info.Access.Read, info.Access.Admin} {
		for i := range list {
			list[i] = meant.Party(list[i])
		}
	}
	for i := range info.Children {
		info.Children[i] = meant.Route(info.Children[i])
	}
	return info, nil
}

// infoOfCompiled returns what is kept in memory of a route that has just been compiled.
func infoOfCompiled(s *store.Route, compiled *route.Route) *routeInfo {
	return &routeInfo{ID: s.ID, Name: s.Name, ContextID: s.ContextID, AuthorID: s.AuthorID, Version: s.Version, routeBrief: briefOf(compiled)}
}

// compileVersion compiles a stored version. It also returns the length of its source.
func compileVersion(r store.Reader, id, version int64) (compiled *route.Route, size int, err error) {
	stored, err := r.Routes().Version(id, version)
	if quota.Unserved(err) {
		return nil, 0, err
	}
	if err == nil {
		size = len(stored.Source)
		var node *document.Node
		if node, err = document.Parse(stored.Source, stored.YAML); err == nil {
			var meant route.Meant
			if meant, err = meantIn(r, id, version); quota.Unserved(err) {
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

// MayStart reports whether by may start cases of the route of that name.
func (e *Routes) MayStart(by identity.Principal, name string) bool {
	info := e.visibleRoute(by, name)
	return info != nil && e.mayStart(by, info)
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
		if f.Query != "" && !strings.Contains(identity.Fold(info.Name+" "+info.Title), identity.Fold(f.Query)) {
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
