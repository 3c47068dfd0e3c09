package engine

import (
	"slices"

	"flowdrive/engine/access"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// checkChildren judges the routes that a route names as its children's, and
// the roles that it fills in them (docs/contract/routes.md#whose-routes-may-have-children-of-a-route). A
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
			if !e.rights.Administers(by, info) {
				e.checkStranger(by, child, info, of)
			}
		}
		if of != nil {
			checkChildRoles(child.Get("roles"), of)
		}
	}
	return faults.List(), nil
}

// checkStranger judges what a route asks of its children if its author does not administer
// their route: no more than a start of theirs may.
func (e *Routes) checkStranger(by identity.Principal, child document.Value, info *access.Route, of *route.Route) {
	if !e.rights.MayStart(by, info) {
		child.Get("route").Fail(errs.CodeConflict, "you may not start cases of %q, so they cannot be children of yours: ask an administrator of that route for the right (access.start)", info.Name)
		return
	}
	roles := child.Get("roles")
	if !roles.Given() || roles.Node.Kind != document.Object {
		return
	}
	for i := range roles.Node.Members {
		name, mapped := roles.Member(i)
		if role := of.Role(name); role != nil && len(role.Pick) == 0 {
			mapped.Fail(errs.CodeConflict, "the route %q does not let the starter of a case choose who plays %q: leave it out, or ask an administrator of that route for a pick there", info.Name, name)
		}
	}
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
