package route

import (
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route/expr"
)

// child reads which cases an action starts and waits for
// (docs/contract/routes.md#4-child-cases). The caller, which knows the other
// routes, checks that the route exists and has such roles.
func (c *compiler) child(v document.Value) *Child {
	if !isKind(v, document.Object) {
		return nil
	}
	child := &Child{While: NoState}
	child.Route, _ = str(v.Get("route"))
	child.Route = c.meant.Route(child.Route)
	child.Complete = c.overChildren(v.Get("complete"), expr.Truth)
	if inherit := v.Get("inherit"); isKind(inherit, document.Bool) {
		child.Inherit = inherit.Node.Bool
	}
	if while := v.Get("while"); while.Given() {
		if c.route.Model == Dependency {
			while.Fail(errs.CodeConflict, "does not go with the dependency model, which has no states")
		} else if i, ok := c.isState(while); ok {
			child.While = i
		}
	}
	roles := v.Get("roles")
	if !isKind(roles, document.Object) {
		return child
	}
	c.checkNames(roles, "role")
	for i := range roles.Node.Members {
		name, member := roles.Member(i)
		if !isKind(member, document.Object) {
			continue
		}
		mapped := ChildRole{Role: name, Each: PerRole}
		if from, ok := str(member.Get("from")); ok && c.isRole(member.Get("from"), from) {
			mapped.From = from
		}
		if each, ok := str(member.Get("each")); ok {
			mapped.Each = Each(each)
		}
		child.Roles = append(child.Roles, mapped)
	}
	return child
}
