package engine

import (
	"slices"

	"flowdrive/document"
	"flowdrive/errs"
	"flowdrive/identity"
	"flowdrive/route"
)

// checkChildren judges the routes that a route names as its children's, and
// the roles that it fills in them (design: routes, sections 4 and 7). A route
// may be its own child's.
func (e *Engine) checkChildren(by identity.Principal, c *routeChange) []errs.Fault {
	var faults document.Faults
	actions := document.Root(c.node, &faults).Get("actions")
	for i := range c.compiled.Actions {
		a := &c.compiled.Actions[i]
		if a.Child == nil {
			continue
		}
		at := actions.Get(a.Name).Get("child")
		of := c.compiled
		if identity.Fold(a.Child.Route) != identity.Fold(c.compiled.Name) {
			info := e.visibleRoute(by, a.Child.Route)
			if info == nil {
				at.Get("route").Fail(errs.CodeNotFound, "there is no route %q that may be used here", a.Child.Route)
				continue
			}
			of = info.Compiled
		}
		checkChildRoles(at.Get("roles"), a.Child, of)
	}
	return faults.List()
}

func checkChildRoles(at document.Value, child *route.Child, of *route.Route) {
	known := make([]string, len(of.Roles))
	for i := range known {
		known[i] = of.Roles[i].Name
	}
	for _, mapped := range child.Roles {
		if !slices.Contains(known, mapped.Role) {
			at.Get(mapped.Role).Fail(errs.CodeNotFound, "the route %q has no role %q%s", of.Name, mapped.Role, document.Hint(mapped.Role, known))
		}
	}
}

// parentsOf returns the names of the other routes that start cases of a route
// as children.
func (e *Engine) parentsOf(name string) []string {
	var out []string
	for _, info := range e.routes.Load().list {
		starts := slices.ContainsFunc(info.Compiled.Actions, func(a route.Action) bool {
			return a.Child != nil && identity.Fold(a.Child.Route) == identity.Fold(name)
		})
		if starts && identity.Fold(info.Name) != identity.Fold(name) {
			out = append(out, info.Name)
		}
	}
	return out
}
