package davfs

import (
	"context"
	"encoding/json"
	"io"
	"slices"

	"golang.org/x/text/unicode/norm"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
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
	r, err := n.engine.Routes.Route(ctx, n.by, n.route)
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
		return boardFolder(n), nil
	case same(name, hooksName):
		return hooksFolder(n), nil
	case digits(name):
		return n.caseOf(ctx, name)
	}
	if at := n.picture(name, pictureName, n.drawn); at != nil {
		return at, nil
	}
	return dropFile{scope: n.scope, route: n.route, name: norm.NFC.String(name)}, nil
}

// reserved answers the names that mean something else in a drop folder
// (docs/contract/drive.md#legal-names).
func (n dropFolder) reserved(name string) error {
	for _, taken := range []string{"Board", hooksName, "Versions", "Rejected"} {
		if same(name, taken) || isPicture(name) {
			return errs.New(errs.NameNotAllowed, "The name %q is reserved in the folder of a route; choose another.", name)
		}
	}
	if digits(name) {
		return errs.New(errs.NameNotAllowed, "The name %q is that of a case in the folder of a route; choose one that is not all digits.", name)
	}
	return nil
}

// caseOf returns the folder of a case of this route: the addresses of the
// original system.
func (n dropFolder) caseOf(ctx context.Context, name string) (node, error) {
	id, ok := parseID(name)
	if !ok {
		return nil, absent()
	}
	r, err := n.engine.Cases.Case(ctx, n.by, engine.Ref{CaseID: id})
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
	dropped, err := n.engine.Drops.Aliases(ctx, n.by, n.route)
	if err != nil {
		return nil, err
	}
	out := make([]*info, 0, 3+len(dropped))
	for _, dir := range []folder{boardFolder(n), hooksFolder(n), versionsFolder(n)} {
		about, err := dir.stat(ctx)
		if _, own := dir.(hooksFolder); own && errs.Is(err, errs.NotFound) {
			continue // for those who administer the route
		}
		if err != nil {
			return nil, err
		}
		out = append(out, about)
	}
	for i := range dropped {
		out = append(out, messageInfo(dropped[i].Name, &dropped[i].Input))
	}
	pictures, err := n.pictures(ctx, n.drawn)
	return append(out, pictures...), err
}

func (n dropFolder) filters() []string {
	return slices.DeleteFunc(casesFolder{n.scope}.filters(), func(name string) bool { return name == "route" })
}

func (n dropFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	if _, err := n.stat(ctx); err != nil {
		return nil, err
	}
	f.Route = n.route
	return n.engine.Cases.Cases(ctx, n.by, f)
}

func (n dropFolder) listed(r *engine.Resource) *info { return casesFolder{n.scope}.listed(r) }

// dropFile is a file in the folder of a route: a PUT starts a case with it,
// and while that is open its author finds it under its name.
type dropFile struct {
	*scope
	route string
	name  string
	drop  engine.Drop // of a PUT, what its query says
}

func (n dropFile) load(ctx context.Context) (*store.Alias, error) {
	if legalName(n.name) != nil {
		return nil, absent()
	}
	return n.engine.Drops.Alias(ctx, n.by, n.route, n.name)
}

func (n dropFile) stat(ctx context.Context) (*info, error) {
	a, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	return messageInfo(a.Name, &a.Input), nil
}

func (n dropFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	a, err := n.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	content, err := n.engine.Drops.OpenAlias(ctx, n.by, n.route, n.name)
	if err != nil {
		return nil, nil, err
	}
	return messageInfo(a.Name, &content.Message), content.Body, nil
}

func (n dropFile) options() []string { return nil }

func (n dropFile) remove(ctx context.Context, req engine.Request, _ query) error {
	if legalName(n.name) != nil {
		return absent()
	}
	return n.engine.Drops.DeleteAlias(ctx, req, n.route, n.name)
}

func (n dropFile) putRules() putRules {
	return putRules{content: true, illegal: legalName(n.name)}
}

func (n dropFile) query(raw string) (w writer, dryRun bool, err error) {
	n.drop, dryRun, err = readDrop(raw)
	n.drop.Route, n.drop.Name = n.route, n.name
	return n, dryRun, err
}

func (n dropFile) guard(ctx context.Context) error { return n.engine.Drops.MayDrop(ctx, n.by, n.route) }

func (n dropFile) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	return n.engine.Drops.Drop(ctx, req, n.drop, in.content())
}

// describe answers with the headers that clients of OpenGroupware Coils read
// (docs/contract/drive.md#compatibility-headers). Coils answers 301; a case has
// been made and nothing moved, so it is 201.
func (n dropFile) describe(a *answer, o *engine.Outcome) {
	at := func(file string) []string { return []string{"dav", "Workflow", "Routes", o.Route, o.Name, file} }
	if o.Draft != nil { // there is something to be done first
		a.locate("dav", "Workflow", "Cases", o.Name+".json")
	} else {
		a.locate(at("input")...)
	}
	a.add("X-COILS-WORKFLOW-PROCESS-ID", o.Name)
	a.add("X-COILS-WORKFLOW-MESSAGE-UUID", o.Message.String())
	a.add("X-COILS-WORKFLOW-MESSAGE-LABEL", store.LabelInput)
	a.add("X-COILS-WORKFLOW-OUTPUT-URL", dav.Href(at("output")...))
}

func (n dropFile) formAt(o *engine.Outcome) string {
	return dav.Href("dav", "Workflow", "Cases", o.Name+".json")
}
