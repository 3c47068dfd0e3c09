package davfs

import (
	"context"
	"encoding/json"

	"flowdrive/engine"
	"flowdrive/errs"
)

// dropFolder is Routes/<route>/. Its resources are the cases of the route.
type dropFolder struct {
	*scope
	route string
}

func (n dropFolder) home() []string { return casesFolder{n.scope}.home() }

func (n dropFolder) stat(ctx context.Context) (*info, error) {
	if legalName(n.route) != nil {
		return nil, absent()
	}
	r, err := n.engine.Route(ctx, n.by, n.route)
	if err != nil {
		return nil, err
	}
	return folderInfo(r.Name, r.Modified), nil
}

func (n dropFolder) child(ctx context.Context, name string) (node, error) {
	if at := special(n.scope, n, name); at != nil {
		return at, nil
	}
	switch {
	case same(name, "Versions"):
		return versionsFolder(n), nil
	case same(name, "Board"):
		return unbuilt("Routes/<route>/Board/"), nil
	case same(name, "diagram.svg"):
		return unbuilt("Routes/<route>/diagram.svg"), nil
	case digits(name):
		return n.caseOf(ctx, name)
	}
	return dropFile{}, nil
}

// caseOf returns the folder of a case of this route: the addresses of the
// original system.
func (n dropFolder) caseOf(ctx context.Context, name string) (node, error) {
	id, ok := parseID(name)
	if !ok {
		return nil, absent()
	}
	r, err := n.engine.Case(ctx, n.by, engine.Ref{CaseID: id})
	if err != nil {
		return nil, err
	}
	var form struct {
		Route string `json:"route"`
	}
	if err := json.Unmarshal(r.Form, &form); err != nil {
		return nil, errs.Wrap("read the form of case "+name, err)
	}
	if !same(form.Route, n.route) {
		return nil, absent()
	}
	return caseFolder{n.scope, id}, nil
}

// uncreated says why a PUT to the name of an absent route makes none.
func (n dropFolder) uncreated() error {
	return errs.New(errs.NameNotAllowed, "A route's file name ends with .yaml or .json; save it as %q.", n.route+".yaml")
}

func (n dropFolder) list(ctx context.Context) ([]*info, error) {
	about, err := versionsFolder(n).stat(ctx)
	if err != nil {
		return nil, err
	}
	return []*info{about}, nil
}

func (n dropFolder) filters() []string {
	return []string{"state", "status", "role", "context", "parent", "q"}
}

func (n dropFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	if _, err := n.stat(ctx); err != nil {
		return nil, err
	}
	f.Route = n.route
	return n.engine.Cases(ctx, n.by, f)
}

func (n dropFolder) listed(r *engine.Resource) *info { return casesFolder{n.scope}.listed(r) }

// dropFile is a file dropped into a route's folder: none is there yet, and a
// PUT, which will start a case, is not built.
type dropFile struct{}

func (dropFile) stat(context.Context) (*info, error) { return nil, absent() }

func (dropFile) uncreated() error {
	return unbuilt("Starting a case by dropping a file into the folder of its route").err()
}
