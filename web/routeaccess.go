package web

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"flowdrive/engine"
	"flowdrive/internal/identity"
	"flowdrive/route"
)

// routeAccessView is what routeaccess.html shows.
type routeAccessView struct {
	Name, Title string
	Page        string
	Lede        string
	Tabs        []tab
	Rights      []routeRight
	Roles       []routeRole
}

// routeRight is something that can be done with a route, and who may do it.
type routeRight struct {
	What string
	Who  string
	You  bool
}

// routeRole is a role of a route: who plays it, and what it does.
type routeRole struct {
	Title   string
	Name    string
	Plays   []string // rules in words: the first that yields somebody counts
	Picks   []string
	Actions string
}

// drawRouteAccess shows who may do what with a route and in its cases.
func drawRouteAccess(x *visit) error {
	o, err := x.Queries.RouteOverview(x.r.Context(), x.by, x.r.PathValue("name"))
	if err != nil {
		return err
	}
	r, a := o.Drawn.Route, &o.Access
	v := &routeAccessView{Name: o.Stored.Name, Title: cmp.Or(r.Title, o.Stored.Name), Page: pageOfRoute(o.Stored.Name), Tabs: tabsOfRoute(r, "access")}
	who := whoActsOn(x, a)
	v.Rights = []routeRight{
		{"See the route, its versions and pictures", who.sees, true},
		{"Start cases", who.starts, a.MayStart},
		{"Change the route, its hooks and its scenario; move, suspend and cancel its cases; set dates", who.changes, a.MayChange},
	}
	v.Lede = "It belongs to " + who.owns + ". Administrators of the server may do everything. Who may see a case is decided for each: its context, its starter, those with a part in it, and the route's administrators."
	for i := range r.Roles {
		role := &r.Roles[i]
		v.Roles = append(v.Roles, routeRole{
			Title: cmp.Or(role.Title, role.Name), Name: role.Name, Plays: x.wordsOfRules(o, role.Assign), Picks: x.wordsOfRules(o, role.Pick), Actions: actionsOf(r, role.Name),
		})
	}
	at := routeFolder + "/" + url.PathEscape(o.Stored.Name)
	return x.draw("routeaccess.html", head{Title: "Access: " + v.Title, Nav: "routes", Path: fileOfRoute(o.Stored), JSON: at + ".json"}, v)
}

// whoOfRoute says who may do what with a route, in words.
type whoOfRoute struct{ owns, starts, sees, changes string }

func whoActsOn(x *visit, a *engine.RouteAccess) whoOfRoute {
	owner, start := "nobody: its owner is gone", a.Start
	if a.OwnerStarts {
		start = []string{a.Owner}
	}
	readers := slices.Concat(start, a.Read, a.Admin)
	if a.Owner != "" {
		owner = x.Queries.Person(a.Owner).Shown()
		readers = append([]string{a.Owner}, readers...)
	}
	return whoOfRoute{owns: owner, starts: x.parties(start), sees: x.parties(readers), changes: x.parties(a.Admin)}
}

// sentence says whose the route is, and who may do what.
func (w whoOfRoute) sentence() string {
	text := "It belongs to " + w.owns + ". It can be started by " + w.starts + ", seen by " + w.sees
	if w.starts == w.sees {
		text = "It belongs to " + w.owns + ". It can be started and seen by " + w.starts
	}
	return text + ", and changed by " + w.changes + "."
}

// parties returns users and teams as a sentence has them, each once.
func (x *visit) parties(names []string) string {
	var out []string
	for _, name := range names {
		shown := name
		if name == string(identity.Everyone) {
			shown = "everyone"
		} else if name != "" {
			shown = x.Queries.Person(name).Shown()
		}
		if shown != "" && !slices.Contains(out, shown) {
			out = append(out, shown)
		}
	}
	if slices.Contains(out, "everyone") {
		return "everyone"
	}
	return cmp.Or(joined(out), "nobody")
}

// wordsOfRules says whom each rule yields.
func (x *visit) wordsOfRules(o *engine.RouteOverview, rules []route.Rule) (out []string) {
	r := o.Drawn.Route
	roleTitle := func(name string) string {
		if found := r.Role(name); found != nil {
			return cmp.Or(found.Title, name)
		}
		return name
	}
	for _, rule := range rules {
		words := ""
		switch rule.Kind {
		case route.RuleStarter:
			words = "who started the case"
		case route.RuleUser:
			words = x.Queries.Person(rule.Arg).Shown()
		case route.RuleTeam:
			words = "the team " + x.Queries.Person(rule.Arg).Shown()
			if members, seen := o.Access.Members[rule.Arg]; seen {
				words += ": " + x.parties(members)
			}
		case route.RuleEveryone:
			words = "everyone"
		case route.RuleRole:
			words = "who is " + roleTitle(rule.Arg)
		case route.RuleStakeholders:
			words = "the stakeholders"
		case route.RuleAdmins:
			words = "the route's administrators"
		case route.RuleXattr:
			words = "whom the field " + fieldTitle(r, rule.Arg) + " names"
		case route.RuleParent:
			words = "who is " + rule.Arg + " in the case that started it"
		case route.RuleCall:
			words = "whom the callback " + rule.Arg + " names"
		}
		out = append(out, words)
	}
	return out
}

func fieldTitle(r *route.Route, key string) string {
	for i := range r.Xattrs {
		if r.Xattrs[i].Key == key {
			return cmp.Or(r.Xattrs[i].Title, key)
		}
	}
	return key
}

// peopleOfRoute says who plays the roles of a route when a case is started, and who is in
// the teams that may do something, as far as the reader sees it.
func peopleOfRoute(x *visit, o *engine.RouteOverview) (out []aboutLine) {
	r := o.Drawn.Route
	for i := range r.Roles {
		role := &r.Roles[i]
		words := x.wordsOfRules(o, role.Assign)
		if len(words) == 0 && len(role.Pick) > 0 {
			words = []string{"whom the starter chooses"}
		}
		out = append(out, aboutLine{Key: cmp.Or(role.Title, role.Name), Value: cmp.Or(strings.Join(words, "; else "), "nobody until somebody is put into it")})
	}
	told := map[string]bool{}
	for i := range r.Actions {
		for _, one := range r.Actions[i].Allowed {
			if members, seen := o.Access.Members[one.Name]; one.Kind == route.AllowedTeam && seen && !told[one.Name] {
				told[one.Name] = true
				out = append(out, aboutLine{Key: "The team " + x.Queries.Person(one.Name).Shown(), Value: x.parties(members)})
			}
		}
	}
	return out
}

// actionsOf returns the titles of what a role does.
func actionsOf(r *route.Route, role string) string {
	var out []string
	for i := range r.Actions {
		a := &r.Actions[i]
		if slices.Contains(a.Roles, role) || a.Need != nil && a.Need.Role == role {
			out = append(out, cmp.Or(a.Title, a.Name))
		}
	}
	return strings.Join(out, ", ")
}
