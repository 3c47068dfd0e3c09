package davfs

import (
	"context"
	"io"

	"golang.org/x/text/unicode/norm"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// routesFolder is Workflow/Routes/.
type routesFolder struct{ *scope }

func (n routesFolder) home() []string { return []string{"dav", "Workflow", "Routes"} }

func (n routesFolder) stat(context.Context) (*info, error) {
	return folderInfo("Routes", n.since), nil
}

func (n routesFolder) child(_ context.Context, name string) (node, error) {
	if at := special(n.scope, n, name); at != nil {
		return at, nil
	}
	name = norm.NFC.String(name)
	stem, ext := splitName(name)
	if ext == "" {
		return dropFolder{n.scope, name}, nil
	}
	if route, is := ofScenario(stem); is {
		return scenarioFile{n.scope, route, ext}, nil
	}
	return routeFile{n.scope, stem, ext}, nil
}

func (n routesFolder) list(ctx context.Context) ([]*info, error) {
	routes, err := n.page(ctx, engine.Filter{OwnOnly: true})
	if err != nil {
		return nil, err
	}
	out := make([]*info, 0, 2*len(routes))
	for i := range routes {
		out = append(out, n.listed(&routes[i]), folderInfo(routes[i].Name, routes[i].Modified))
	}
	scenarios, err := n.engine.Scenarios.Scenarios(ctx, n.by)
	for i := range scenarios {
		out = append(out, scenarioInfo(&scenarios[i]))
	}
	return out, err
}

// means reports whether a route has the name: it is its folder's.
func (n routesFolder) hasMeaning(ctx context.Context, name string) (bool, error) {
	switch err := n.engine.Drops.MayDrop(ctx, n.by, name); {
	case errs.Is(err, errs.NotFound):
		return false, nil
	case errs.Is(err, errs.NotAllowed):
		return true, nil
	default:
		return err == nil, err
	}
}

func (n routesFolder) filters() []string { return []string{"context", "q"} }

func (n routesFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	return n.engine.Routes.Routes(ctx, n.by, f)
}

// listed describes the stored spelling.
func (n routesFolder) listed(r *engine.Resource) *info {
	if r.YAML {
		return sourceInfo(r.Name+".yaml", typeYAML, r)
	}
	return sourceInfo(r.Name+".json", typeJSON, r)
}

// routeFile is Routes/<route>.yaml or .json: what was stored, in the
// spelling in which it was; .json of a YAML route is its complete form.
type routeFile struct {
	*scope
	name string
	ext  string
}

// load returns the route, if it can be had in this spelling.
func (n routeFile) load(ctx context.Context) (*engine.Resource, error) {
	if n.illegal() != nil {
		return nil, absent()
	}
	r, err := n.engine.Routes.Route(ctx, n.by, n.name)
	if err == nil && n.yaml() && !r.YAML {
		return nil, absent()
	}
	return r, err
}

func (n routeFile) yaml() bool { return n.ext != ".json" }

func (n routeFile) about(r *engine.Resource) *info {
	if r.YAML && !n.yaml() {
		return formInfo(r.Name+n.ext, r)
	}
	return sourceInfo(r.Name+n.ext, sourceType(n.ext), r)
}

func (n routeFile) stat(ctx context.Context) (*info, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	return n.about(r), nil
}

func (n routeFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	if r.YAML && !n.yaml() {
		return n.about(r), contentOf(r.Form), nil
	}
	return n.about(r), contentOf(r.Source), nil
}

// illegal says why no route can have the name. A name that ends like a
// document would make the route's folder look like another route's file.
func (n routeFile) illegal() error {
	if _, ext := splitName(n.name); ext != "" {
		return errs.New(errs.NameNotAllowed, "A route's name cannot end with %s; choose another.", ext)
	}
	return legalName(n.name + n.ext)
}

func (n routeFile) putRules() putRules {
	return putRules{route: true, saysMore: true, parameters: []string{"migrate"}, illegal: n.illegal()}
}

func (n routeFile) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	migrate, err := in.query.flag("migrate")
	if err != nil {
		return nil, err
	}
	if migrate {
		return n.engine.Routes.MigrateRoute(ctx, req, n.name, n.yaml(), in.data)
	}
	out, err := n.engine.Routes.PutRoute(ctx, req, n.name, n.yaml(), in.data)
	return out, n.sameRoute(ctx, n.meantScenario(err))
}

// sameRoute says in the refusal of a condition under which name the route is there, if it is
// another spelling of this one: who makes a new file does not see that it is the same route.
func (n routeFile) sameRoute(ctx context.Context, err error) error {
	if !errs.Is(err, errs.Precondition) {
		return err
	}
	r, missing := n.engine.Routes.Route(ctx, n.by, n.name)
	ext := ".json"
	if missing == nil && r.YAML {
		ext = ".yaml"
	}
	if missing != nil || ext == n.ext {
		return err // that the route is not there is said by the condition
	}
	return errs.New(errs.Precondition, "The route is there already: %[1]s%[2]s is the same route as %[1]s%[3]s. Save the text as %[1]s%[2]s.", r.Name, ext, n.ext)
}

func (n routeFile) describe(a *answer, o *engine.Outcome) {
	a.locate("dav", "Workflow", "Routes", o.Name+".json")
}

func (n routeFile) options() []string { return []string{"force"} }

// moveTo gives the route another name.
func (n routeFile) moveTo(ctx context.Context, req engine.Request, to node, t *transfer) (*answer, error) {
	place, ok := to.(routeFile)
	if !ok {
		return nil, notMovable(n)
	}
	if err := place.illegal(); err != nil {
		return nil, err
	}
	if n.ext != place.ext {
		return nil, errs.New(errs.NameNotAllowed, "A route that is renamed keeps the ending %s; to write it in another language, store it anew.", n.ext)
	}
	if _, err := n.load(ctx); err != nil {
		return nil, err
	}
	out, err := n.engine.Routes.RenameRoute(ctx, req, n.name, place.name)
	if err != nil {
		return nil, err
	}
	return t.renamed(out, "dav", "Workflow", "Routes", out.Name+".json"), nil
}

func (n routeFile) remove(ctx context.Context, req engine.Request, q query) error {
	force, err := q.flag("force")
	if err != nil {
		return err
	}
	if _, err := n.load(ctx); err != nil {
		return err
	}
	return n.engine.Routes.DeleteRoute(ctx, req, n.name, force)
}
