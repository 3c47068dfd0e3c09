package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"flowdrive/engine/access"
	"flowdrive/engine/quota"

	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// usedRoute is a route with its compiled version.
type usedRoute struct {
	access.Route
	Compiled *route.Route
}

// use returns the route with its current version, compiled.
func (e *base) use(r store.Reader, info *access.Route) (*usedRoute, error) {
	compiled, err := e.versions.get(r, info.ID, info.Version)
	if err != nil {
		return nil, err
	}
	return &usedRoute{*info, compiled}, nil
}

// used is use in a view of its own.
func (e *base) used(ctx context.Context, info *access.Route) (used *usedRoute, err error) {
	err = e.Store.View(ctx, func(r store.Reader) (err error) {
		used, err = e.use(r, info)
		return err
	})
	return used, err
}

// loadRoutes reads all routes into the table. What is compiled is only what an
// earlier release has stored without a brief.
func (e *base) loadRoutes(ctx context.Context) error {
	var list []*access.Route
	var without []store.Route
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		list, without, err = readRoutes(r)
		return err
	})
	if err != nil {
		return err
	}
	e.rights.SetRoutes(list)
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
func readRoutes(r store.Reader) (list []*access.Route, without []store.Route, err error) {
	stored, err := r.Routes().Briefs()
	if err != nil {
		return nil, nil, err
	}
	list = make([]*access.Route, len(stored))
	for i := range stored {
		s := &stored[i]
		if len(s.Brief) == 0 {
			compiled, _, err := compileVersion(r, s.ID, s.Version)
			if err != nil {
				return nil, nil, err
			}
			s.Brief = document.Form(access.BriefOf(compiled, 0))
			without = append(without, *s)
		}
		if list[i], err = infoOf(r, s); err != nil {
			return nil, nil, err
		}
	}
	return list, without, nil
}

// infoOf returns what is kept in memory of a stored route. Names in its brief mean
// what they mean in the route.
func infoOf(r store.Reader, s *store.Route) (*access.Route, error) {
	info := &access.Route{ID: s.ID, Name: s.Name, ContextID: s.ContextID, AuthorID: s.AuthorID, Version: s.Version}
	if err := json.Unmarshal(s.Brief, &info.Brief); err != nil {
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

// Route returns a route by its name. Errors: errs.NotFound if by may not see
// it.
func (e *Routes) Route(ctx context.Context, by identity.Principal, name string) (*Resource, error) {
	info := e.rights.Visible(by, name)
	if info == nil {
		return nil, change.Absent("route")
	}
	var stored *store.Route
	var scenario *store.Scenario
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		if stored, err = r.Routes().Get(info.ID); err != nil {
			return err
		}
		scenario, err = store.OrNil(r.Routes().Scenarios().OfRoute(info.ID))
		return err
	})
	if err != nil {
		return nil, err
	}
	return routeResource(by, stored, scenario), nil
}

// MayStart reports whether by may start cases of the route of that name.
func (e *Routes) MayStart(by identity.Principal, name string) bool {
	info := e.rights.Visible(by, name)
	return info != nil && e.rights.MayStart(by, info)
}

// Administers reports whether by may change the route of that name.
func (e *Routes) Administers(by identity.Principal, name string) bool {
	info := e.rights.Visible(by, name)
	return info != nil && e.rights.Administers(by, info)
}

// Routes returns the routes that by sees, by id.
func (e *Routes) Routes(ctx context.Context, by identity.Principal, f Filter) ([]Resource, error) {
	var stored []store.Route
	scenarios := map[int64]*store.Scenario{}
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		if stored, err = r.Routes().List(); err != nil {
			return err
		}
		all, err := r.Routes().Scenarios().List(0)
		for i := range all {
			scenarios[all[i].RouteID] = &all[i]
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	table := e.rights.Table()
	var out []Resource
	for i := range stored {
		s := &stored[i]
		info := table.Route(s.ID)
		if info == nil || s.ID <= f.After || !e.rights.SeesRoute(by, info) || !e.rights.InContext(by, f.Context, s.ContextID) {
			continue
		}
		if f.Query != "" && !strings.Contains(identity.Fold(info.Name+" "+info.Title), identity.Fold(f.Query)) {
			continue
		}
		out = append(out, *routeResource(by, s, scenarios[s.ID]))
		if f.Limit > 0 && len(out) == f.Limit {
			break
		}
	}
	return out, nil
}

func routeResource(by identity.Principal, s *store.Route, scenario *store.Scenario) *Resource {
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

// RouteVersion returns a version of a route that was ever stored, with the document as it
// was stored. Errors: errs.NotFound if by may not see the route, or if it has no such version.
func (e *Routes) RouteVersion(ctx context.Context, by identity.Principal, name string, version int64) (*Resource, error) {
	info := e.rights.Visible(by, name)
	if info == nil {
		return nil, change.Absent("route")
	}
	var stored *store.RouteVersion
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		stored, err = r.Routes().Version(info.ID, version)
		return err
	})
	if errs.Is(err, errs.NotFound) {
		return nil, change.Absent("version of the route")
	}
	if err != nil {
		return nil, err
	}
	out := versionResource(stored)
	out.Source, out.SourceETag, out.YAML = stored.Source, change.SourceETag(stored.Source), stored.YAML
	return &out, nil
}

func versionResource(v *store.RouteVersion) Resource {
	return Resource{
		Name: strconv.FormatInt(v.Version, 10), Seq: v.Version, Form: v.Form,
		FormETag: routeETag(v.RouteID, v.Version), Created: v.Created, Modified: v.Created,
	}
}

// RouteVersions returns every version of a route that was ever stored,
// ascending. Errors: errs.NotFound if by may not see the route.
func (e *Routes) RouteVersions(ctx context.Context, by identity.Principal, name string) ([]Resource, error) {
	info := e.rights.Visible(by, name)
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
		out[i] = versionResource(&stored[i])
	}
	return out, nil
}
