package engine

import (
	"slices"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// checkChildren judges the routes that a route names as its children's, and
// the roles that it fills in them (docs/contract/routes.md#4-child-cases). A
// route may be its own child's. It reads the document as it is, which may have
// other faults: then c is not compiled.
func (e *Routes) checkChildren(r store.Reader, by identity.Principal, name string, c *routeChange) ([]errs.Fault, error) {
	var faults document.Faults
	actions := document.Root(c.node, &faults).Get("actions")
	if !actions.Given() || actions.Node.Kind != document.Object {
		return nil, nil
	}
	for i := range actions.Node.Members {
		_, action := actions.Member(i)
		if action.Node.Kind != document.Object || !action.Get("child").Given() {
			continue
		}
		child := action.Get("child")
		if child.Node.Kind != document.Object || !child.Get("route").Given() || child.Get("route").Node.Kind != document.String {
			continue
		}
		of, called := c.compiled, c.meant.Route(child.Get("route").Node.Text)
		if identity.Fold(called) != identity.Fold(name) {
			info := e.rights.Visible(by, called)
			if info == nil {
				child.Get("route").Fail(errs.CodeNotFound, "there is no route %q that may be used here", called)
				continue
			}
			used, err := e.use(r, info)
			if err != nil {
				return nil, err
			}
			of = used.Compiled
		}
		if of != nil {
			checkChildRoles(child.Get("roles"), of)
		}
	}
	return faults.List(), nil
}

func checkChildRoles(at document.Value, of *route.Route) {
	if !at.Given() || at.Node.Kind != document.Object {
		return
	}
	known := make([]string, len(of.Roles))
	for i := range known {
		known[i] = of.Roles[i].Name
	}
	for i := range at.Node.Members {
		if role, mapped := at.Member(i); !slices.Contains(known, role) {
			mapped.Fail(errs.CodeNotFound, "the route %q has no role %q%s", of.Name, role, document.Hint(role, known))
		}
	}
}
