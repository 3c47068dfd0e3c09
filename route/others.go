package route

import (
	"slices"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/route/expr"
)

// Others are the other routes that a route may name, and what its hooks write, as
// warnings need them. The zero value stands for a route alone.
type Others struct {
	// Find returns the newest version of the route of that name, nil if there is none
	// or the author may not see it.
	Find func(name string) *Route
	// Parents returns the routes that have children of the route of that name.
	Parents func(name string) []*Route
	// Xattrs and Messages are the keys of XATTRs and the labels of messages that hooks of
	// the route write.
	Xattrs, Messages []string
}

// Among returns what those routes are to each other.
func Among(all []*Route) Others {
	return Others{
		Find: func(name string) *Route {
			if i := slices.IndexFunc(all, func(r *Route) bool { return strings.EqualFold(r.Name, name) }); i >= 0 {
				return all[i]
			}
			return nil
		},
		Parents: func(name string) (parents []*Route) {
			for _, r := range all {
				if slices.ContainsFunc(r.Actions, func(a Action) bool { return a.Child != nil && strings.EqualFold(a.Child.Route, name) }) {
					parents = append(parents, r)
				}
			}
			return parents
		},
	}
}

// Others returns the names of the routes that the route has children of, or starts
// cases of, each as often as it is named.
func (r *Route) Others() (names []string) {
	for i := range r.Actions {
		if child := r.Actions[i].Child; child != nil {
			names = append(names, child.Route)
		}
	}
	for _, started := range r.started {
		names = append(names, started.Name)
	}
	return names
}

// find returns the route of that name: the one that is judged, or another one.
func (w *warner) find(name string) *Route {
	if strings.EqualFold(name, w.route.Name) {
		return w.route
	}
	if w.others.Find == nil {
		return nil
	}
	return w.others.Find(name)
}

// parents returns the routes that have children of the route that is judged.
func (w *warner) parents() []*Route {
	if w.others.Parents == nil {
		return nil
	}
	return w.others.Parents(w.route.Name)
}

// newCase is a step that starts a case, and its place.
type newCase struct {
	at   document.Value
	step *NewCase
}

// starts warns of steps that start cases of another route in a way that it does not
// allow.
func (w *warner) starts(all []newCase) {
	players := map[*Route][]string{}
	for _, n := range all {
		n.at.Faults = w.root.Faults
		of := w.find(n.step.Route)
		if of == nil {
			continue // told by the server
		}
		if of.Access.Start != nil && len(of.Access.Start) == 0 {
			w.warn(n.at.Get("route"), "no one may start a case of %q, so this fails: its access.start is empty", of.Name)
			continue
		}
		if _, known := players[of]; !known {
			players[of] = of.unfilled()
		}
		w.unplayed(n, of, players[of])
		for _, role := range n.step.Roles {
			w.startRole(n.at.Get("roles").Get(role.Role), role.Role, of)
		}
		for _, key := range of.required() {
			given := slices.ContainsFunc(n.step.Xattrs, func(s Setting) bool { return s.Key == key })
			if !given && !n.step.Inherit {
				w.warn(n.at, "a case of %q needs the XATTR %q, so this fails: set it in xattrDict, or say inherit: true", of.Name, key)
			}
		}
	}
}

// unplayed warns of roles that nobody plays unless the step says who does.
func (w *warner) unplayed(n newCase, of *Route, roles []string) {
	for _, name := range roles {
		switch {
		case slices.ContainsFunc(n.step.Roles, func(r NewRole) bool { return r.Role == name }):
		case len(of.Role(name).Pick) > 0:
			w.warn(n.at, "no one plays %q in this case of %q: say in roles who of this one does", name, of.Name)
		default:
			w.warn(n.at, "no one plays %q in this case of %q: that role needs a rule in assign there, or a pick there and somebody in roles here", name, of.Name)
		}
	}
}

// startRole warns of a role that whoever starts a case may not fill.
func (w *warner) startRole(at document.Value, name string, of *Route) {
	role := of.Role(name)
	switch {
	case role == nil:
		w.warn(at, "the route %q has no role %q, so this fails%s", of.Name, clip(name), document.Hint(name, of.roleNames()))
	case len(role.Pick) == 0:
		w.warn(at, "the route %q does not let its starter choose who plays %q, so this fails: give that role a pick there", of.Name, name)
	}
}

func (r *Route) roleNames() (names []string) {
	for i := range r.Roles {
		names = append(names, r.Roles[i].Name)
	}
	return names
}

// required returns the keys without which a case cannot be created.
func (r *Route) required() (keys []string) {
	for i := range r.Xattrs {
		if r.Xattrs[i].Required && r.Xattrs[i].Default == nil {
			keys = append(keys, r.Xattrs[i].Key)
		}
	}
	return keys
}

// children warns of children that lack what their route needs.
func (w *warner) children() {
	players := map[*Route][]string{}
	for i := range w.route.Actions {
		child := w.route.Actions[i].Child
		if child == nil {
			continue
		}
		of, at := w.find(child.Route), w.action(i).Get("child")
		if of == nil {
			continue // a fault of the server says so
		}
		for _, key := range of.required() {
			if !child.Inherit {
				w.warn(at, "a case of %q needs the XATTR %q, so this fails: say inherit: true", of.Name, key)
			}
		}
		if _, known := players[of]; !known {
			players[of] = of.unfilled()
		}
		for _, name := range players[of] {
			if !child.maps(name) {
				w.warn(at, "no one plays %q in a case of %q: say in roles who of this case does", name, of.Name)
			}
		}
		w.statuses(w.action(i), of)
		w.fromParent(at, child, of)
	}
}

// fromParent warns of roles of children that take their players from a role of their
// parent which it does not have.
func (w *warner) fromParent(at document.Value, child *Child, of *Route) {
	for i := range of.Roles {
		role := &of.Roles[i]
		for _, rule := range role.Assign {
			if rule.Kind == RuleParent && !child.maps(role.Name) && w.route.Role(rule.Arg) == nil {
				w.warn(at, "a case of %q takes who plays %q from the role %q of this case, and there is no such role%s", of.Name, role.Name, rule.Arg, document.Hint(rule.Arg, w.route.roleNames()))
			}
		}
	}
}

// parentRoles warns of rules that take players from a role which no parent of the case has.
func (w *warner) parentRoles() {
	parents := w.parents()
	for i := range w.route.Roles {
		role := &w.route.Roles[i]
		for at, rule := range role.Assign {
			if rule.Kind != RuleParent || len(parents) == 0 {
				continue
			}
			if lacks := func(p *Route) bool { return p.Role(rule.Arg) == nil }; !slices.ContainsFunc(parents, func(p *Route) bool { return !lacks(p) }) {
				v := w.root.Get("roles").Get(role.Name).Get("assign").Item(at)
				w.warn(v, "no route that has these cases as children has a role %q, so this yields nobody", rule.Arg)
			}
		}
	}
}

// maps reports whether the parent fills the role of its children.
func (c *Child) maps(role string) bool {
	return slices.ContainsFunc(c.Roles, func(r ChildRole) bool { return r.Role == role })
}

// unfilled returns the roles that have tasks, and nobody to play them unless whoever
// creates the case says so.
func (r *Route) unfilled() (names []string) {
	filled := r.filled(nil, false)
	for i := range r.Roles {
		if name := r.Roles[i].Name; !filled[name] && r.usesRole(name) {
			names = append(names, name)
		}
	}
	return names
}

// usesRole reports whether an action is assigned to the role.
func (r *Route) usesRole(name string) bool {
	return slices.ContainsFunc(r.Actions, func(a Action) bool { return slices.Contains(a.Roles, name) })
}

// statuses warns of statuses that no child can have.
func (w *warner) statuses(action document.Value, of *Route) {
	if of.Model == Dependency {
		return
	}
	var known []string
	for i := range of.States {
		known = append(known, of.States[i].Name)
	}
	for _, at := range []document.Value{action.Get("decide"), action.Get("child").Get("complete")} {
		source, ok := str(at)
		if !ok {
			continue
		}
		for _, s := range expr.NewInspector(nil).Inspect(source, expr.Any).Statuses {
			if !slices.Contains(known, s.Name) {
				w.warn(at, "%s%q is not a state of the route %q, so this fails%s", place(s), clip(s.Name), of.Name, document.Hint(s.Name, known))
			}
		}
	}
}
