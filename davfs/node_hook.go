package davfs

import (
	"context"
	"io"

	"golang.org/x/text/unicode/norm"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// hooksName is the name of the folder of a route's hooks.
const hooksName = "Hooks"

// hooksFolder is Routes/<route>/Hooks/, for those who administer the route.
type hooksFolder struct {
	*scope
	route string
}

func (n hooksFolder) home() []string {
	return []string{"dav", "Workflow", "Routes", n.route, hooksName}
}

func (n hooksFolder) stat(ctx context.Context) (*info, error) {
	if legalName(n.route) != nil {
		return nil, absent()
	}
	if _, err := n.engine.Hooks.Hooks(ctx, n.by, n.route); err != nil {
		return nil, err
	}
	return folderInfo(hooksName, n.since), nil
}

func (n hooksFolder) child(_ context.Context, name string) (node, error) {
	if at := special(n.scope, n, name); at != nil {
		return at, nil
	}
	name = norm.NFC.String(name)
	stem, ext := splitName(name)
	file := hookFile{scope: n.scope, hooks: n, name: stem, illegal: legalName(name)}
	if ext != ".json" {
		file.illegal = errs.New(errs.NameNotAllowed, "A file here has the name of a hook and ends with .json.")
	}
	return file, nil
}

func (n hooksFolder) list(ctx context.Context) ([]*info, error) { return listAll(ctx, n) }

func (n hooksFolder) hasMeaning(context.Context, string) (bool, error) { return false, nil }

func (n hooksFolder) filters() []string { return nil }

// page cuts the page out of all: a route has few hooks.
func (n hooksFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	all, err := n.engine.Hooks.Hooks(ctx, n.by, n.route)
	for i := range all {
		all[i] = *n.shown(&all[i])
	}
	return cutPage(all, f), err
}

// shown returns the form that the caller is shown.
func (n hooksFolder) shown(r *engine.Resource) *engine.Resource {
	return n.withNewSecret(append(n.home(), r.Name+".json"), r)
}

func (n hooksFolder) listed(r *engine.Resource) *info { return formInfo(r.Name+".json", r) }

// hookFile is Hooks/<name>.json: a PUT makes a hook and answers its address, this
// once; GET gives the complete form, without it.
type hookFile struct {
	*scope
	hooks   hooksFolder
	name    string
	illegal error
}

func (n hookFile) load(ctx context.Context) (*engine.Resource, error) {
	if n.illegal != nil {
		return nil, absent()
	}
	r, err := n.engine.Hooks.Hook(ctx, n.by, n.hooks.route, n.name)
	if err != nil {
		return nil, err
	}
	return n.hooks.shown(r), nil
}

func (n hookFile) stat(ctx context.Context) (*info, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	return formInfo(r.Name+".json", r), nil
}

func (n hookFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	return formInfo(r.Name+".json", r), contentOf(r.Form), nil
}

func (n hookFile) putRules() putRules {
	return putRules{secret: true, illegal: n.illegal}
}

// guard keeps from others that there are hooks at all.
func (n hookFile) guard(ctx context.Context) error {
	_, err := n.engine.Hooks.Hooks(ctx, n.by, n.hooks.route)
	return err
}

func (n hookFile) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	return n.engine.Hooks.PutHook(ctx, req, n.hooks.route, n.name, in.data)
}

func (n hookFile) describe(a *answer, o *engine.Outcome) {
	a.locate(append(n.hooks.home(), o.Name+".json")...)
	if o.Once != nil {
		a.add("Content-Type", typeJSON)
		a.add("Cache-Control", "no-store")
		a.Body = o.Once
	}
}

func (n hookFile) options() []string { return nil }

func (n hookFile) remove(ctx context.Context, req engine.Request, _ query) error {
	if n.illegal != nil {
		return absent()
	}
	return n.engine.Hooks.DeleteHook(ctx, req, n.hooks.route, n.name)
}

func (n hookFile) lockTarget() engine.Target {
	t := engine.Target{Kind: engine.OnHook, Name: n.hooks.route}
	if n.illegal == nil {
		t.Hook = n.name
	}
	return t
}

func (n hooksFolder) lockArea() store.LockKey { return store.LocksOnHooks }
func (n hookFile) lockArea() store.LockKey    { return store.LocksOnHooks }
