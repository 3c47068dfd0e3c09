package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"flowdrive/engine/access"
	"flowdrive/engine/hook"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// What the server warns of when a route is stored, because only it knows the other
// routes and the users and teams
// (docs/contract/routes.md#what-is-checked-when-a-route-is-stored).

// othersFor returns what warnings of a route may look at beside it: the routes that
// the author sees, and what the hooks of the stored route write. Of the parents of a
// route nothing is told but that they fill its roles.
func (e *base) othersFor(r store.Reader, by identity.Principal, stored *store.Route) (route.Others, error) {
	compiled := func(info *access.Route) *route.Route {
		used, err := e.use(r, info)
		if err != nil {
			e.log.Warn().Err(err).Str("route", info.Name).Msg("routes: cannot look at a route for the warnings of another one")
			return nil
		}
		return used.Compiled
	}
	others := route.Others{
		Find: func(name string) *route.Route {
			info := e.rights.Visible(by, name)
			if info == nil {
				return nil
			}
			return compiled(info)
		},
		Parents: func(name string) (parents []*route.Route) {
			for _, info := range e.rights.Routes() {
				if !info.StartsChildren(name) {
					continue
				}
				if parent := compiled(info); parent != nil {
					parents = append(parents, parent)
				}
			}
			return parents
		},
	}
	if stored == nil {
		return others, nil
	}
	hooks, err := r.Routes().Hooks().OfRoute(stored.ID)
	if err != nil {
		return others, err
	}
	for i := range hooks {
		s, err := hook.SettingsOf(&hooks[i])
		if err != nil {
			return others, err
		}
		if s.Deliver != nil {
			others.Messages = append(others.Messages, s.Deliver.Label)
			continue // it sets no XATTR
		}
		others.Xattrs = append(others.Xattrs, s.Headers...)
		for _, x := range s.Xattrs {
			others.Xattrs = append(others.Xattrs, x.Key)
		}
	}
	return others, nil
}

// warningsOf returns all warnings of a route of the owner, in the order of the document:
// those of its document, and what only the server knows.
func (e *Routes) warningsOf(by identity.Principal, owner identity.ID, r *route.Route, ofDocument []errs.Fault) []errs.Fault {
	all := slices.Concat(ofDocument, e.ownersAlone(owner, r), e.unknownNames(by, r), e.reach.Warn(authorWho(by, r.Name), r.Reaches()))
	slices.SortStableFunc(all, func(a, b errs.Fault) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	return all
}

// ownersAlone warns of a route that does not say who may start it, and that belongs to a
// single user: nobody else may. A child route is started by its parents,
// for which its owner does not matter.
func (e *Routes) ownersAlone(owner identity.ID, r *route.Route) []errs.Fault {
	party := e.directory().ByID(owner)
	if r.Access.Start != nil || party == nil || party.Kind != identity.User {
		return nil
	}
	if slices.ContainsFunc(e.rights.Routes(), func(parent *access.Route) bool { return parent.StartsChildren(r.Name) }) {
		return nil
	}
	return []errs.Fault{{Pointer: "/access/start", Code: errs.CodeRequired, Detail: fmt.Sprintf(
		"is missing, so only %[1]s may start cases. To let others start them, add access: {start: [everyone]}, or the names of users and teams; "+
			"if %[1]s alone is to, say access: {start: [%[1]s]}; if only other routes are to, access: {start: []}", party.Name)}}
}

// unknownNames warns of users, teams and routes that the route names and that do
// not exist (yet). A route that by does not see does not exist for by.
func (e *Routes) unknownNames(by identity.Principal, r *route.Route) (out []errs.Fault) {
	warn := func(p route.Party, format string, args ...any) {
		out = append(out, errs.Fault{Pointer: p.Pointer, Code: errs.CodeNotFound, Detail: fmt.Sprintf(format, args...), Line: p.Line, Column: p.Column})
	}
	d := e.directory()
	for _, p := range r.Parties() {
		was, deleted := route.Deleted(p.Name)
		switch {
		case deleted:
			warn(p, "%q was deleted; to name a later user or team of that name, store the route once without it", was)
		case d.ByName(identity.Name(p.Name)) != nil:
			switch party := d.ByName(identity.Name(p.Name)); {
			case party.Kind == identity.User && !d.Active(party.ID):
				warn(p, "the user %q is disabled: whatever is for them is for nobody", party.Name)
			case party.Kind == identity.Team && !access.SeesMembers(by, party):
				if perUserRole(r, p) {
					warn(p, "each: per_user would name the members of the team %q, whom you may not know, so this fails: let one of them, or an administrator of the team, store the route", party.Name)
				}
				if neededRole(r, p) {
					warn(p, "whether the team %q has as many users as an action needs of this role is not told, because you may not know its members: let one of them, or an administrator of the team, store the route", party.Name)
				}
			}
		case p.Instead != "":
			warn(p, "there is no user or team %q yet; did you mean %q?", p.Name, p.Instead)
		default:
			again := ""
			if strings.HasPrefix(p.Pointer, "/roles/") {
				again = "; an open case in which nobody can do a task looks again then, any other after the next action in it"
			}
			warn(p, "there is no user or team %q yet: until there is one, nobody is meant%s%s", p.Name, again, document.Hint(p.Name, e.partyNames()))
		}
	}
	for _, p := range r.Started() {
		if identity.Fold(p.Name) == identity.Fold(r.Name) {
			continue
		}
		switch of := e.rights.Visible(by, p.Name); {
		case of == nil:
			warn(p, "there is no route %q yet", p.Name)
		case !e.rights.MayHaveStarted(by, of):
			warn(p, "you may not start %s, so this fails: ask an administrator of it for that right (access.start)", of.Name)
		}
	}
	return out
}

// perUserRole reports whether a party is assigned to a role of which the route starts a case
// for each user.
func perUserRole(r *route.Route, p route.Party) bool {
	for i := range r.Actions {
		if r.Actions[i].Child == nil {
			continue
		}
		for _, mapped := range r.Actions[i].Child.Roles {
			if mapped.Each == route.PerUser && strings.HasPrefix(p.Pointer, "/roles/"+mapped.From+"/assign/") {
				return true
			}
		}
	}
	return false
}

// neededRole reports whether a party is assigned to a role of which an action needs several.
func neededRole(r *route.Route, p route.Party) bool {
	return slices.ContainsFunc(r.Actions, func(a route.Action) bool {
		return a.Need != nil && strings.HasPrefix(p.Pointer, "/roles/"+a.Need.Role+"/assign/")
	})
}

// partyNames returns the names of all users and teams, which every user may know.
func (e *Routes) partyNames() (names []string) {
	for _, p := range e.directory().Parties() {
		names = append(names, string(p.Name))
	}
	return names
}
