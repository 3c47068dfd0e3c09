package machine

import (
	"slices"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
)

// MayPerform reports whether the actor may perform the action in the present status
// of the case, if it is enabled: as an assignee, as the deputy of one, as a user
// whom the action allows, or as an administrator of the route. Nobody may perform
// an action of the engine, and nobody but administrators one that somebody else has
// accepted.
func MayPerform(c *Case, r *route.Route, action string, actor Actor) bool {
	i := r.Action(action)
	if i == unknown || r.Actions[i].Trigger != route.TriggerUser {
		return false
	}
	_, may := mayPerform(c, r.State(c.Status), &r.Actions[i], actor)
	return may
}

// mayPerform reports whether the actor may perform the action. onBehalfOf is "" if
// the actor acts for itself. An assignee does. The deputy of an assignee acts on
// that user's behalf, even with a right of their own. Deputies have only the rights
// of assignees (docs/contract/drive.md#deputies), and there are no deputies of
// deputies.
func mayPerform(c *Case, status int, a *route.Action, actor Actor) (onBehalfOf string, may bool) {
	e := c.enablement(a.Name)
	if onBehalfOf, may = actor.assignee(c, status, a, e); may {
		return onBehalfOf, true
	}
	if actor.RouteAdmin {
		return "", true
	}
	delegated := e != nil && e.To != ""
	return "", !delegated && !e.rejectedBy(actor.Name) && e.availableTo(actor.Name) && actor.allowed(c, a)
}

// assignee reports whether the actor is an assignee of the action, enabled or not,
// or the deputy of one. A user who has rejected it is not, on nobody's behalf.
func (a *Actor) assignee(c *Case, status int, action *route.Action, e *Enabled) (onBehalfOf string, yes bool) {
	if e.rejectedBy(a.Name) {
		return "", false
	}
	if e.availableTo(a.Name) && a.assigned(c, status, action, e) {
		return "", true
	}
	for i := range a.DeputyFor {
		absent := Actor{Name: a.DeputyFor[i].Name, Contexts: a.DeputyFor[i].Contexts}
		if e.availableTo(absent.Name) && !e.rejectedBy(absent.Name) && absent.assigned(c, status, action, e) {
			return absent.Name, true
		}
	}
	return "", false
}

// assigned reports whether the actor is an assignee of the action: the user that it
// was delegated to, else a player of its roles.
func (a *Actor) assigned(c *Case, status int, action *route.Action, e *Enabled) bool {
	if e != nil && e.To != "" {
		return sameName(a.Name, e.To)
	}
	return slices.ContainsFunc(assignedRoles(action, status), func(role string) bool { return a.plays(c, role) })
}

// allowed reports whether the action allows the actor in addition to its assignees.
func (a *Actor) allowed(c *Case, action *route.Action) bool {
	for _, allowed := range action.Allowed {
		switch allowed.Kind {
		case route.AllowedRole:
			if a.plays(c, allowed.Name) {
				return true
			}
		case route.AllowedUser, route.AllowedTeam:
			if a.is(allowed.Name) {
				return true
			}
		case route.AllowedEveryone, route.AllowedReaders: // the caller sees the case
			return true
		}
	}
	return false
}

// assignedRoles returns the roles whose players are assignees of the action. There
// are none if the status only enables it.
func assignedRoles(a *route.Action, status int) []string {
	if status == route.NoState || a.In.Has(status) { // the dependency model has no states
		return a.Roles
	}
	return nil
}

// performers names those who may perform the action, for a refusal.
func performers(a *route.Action, status int) string {
	who := slices.Clone(assignedRoles(a, status))
	for _, allowed := range a.Allowed {
		if !slices.Contains(who, allowed.Name) {
			who = append(who, allowed.Name)
		}
	}
	return strings.Join(append(who, "administrators of the route"), ", ")
}

// plays reports whether the actor is among the parties of the role. A deputy does
// not have the rights of an administrator of the route.
func (a *Actor) plays(c *Case, role string) bool {
	for _, party := range c.RoleParties(role) {
		switch party {
		case PartyAdmins:
			if a.RouteAdmin {
				return true
			}
		case PartyStakeholders:
			if slices.ContainsFunc(c.Stakeholders, a.is) {
				return true
			}
		default:
			if a.is(party) {
				return true
			}
		}
	}
	return false
}

// is reports whether the actor or one of its contexts has that name.
func (a *Actor) is(name string) bool {
	return sameName(a.Name, name) || name == string(identity.Everyone) ||
		slices.ContainsFunc(a.Contexts, func(own string) bool { return sameName(own, name) })
}

// sameName compares names of parties without regard to case.
func sameName(a, b string) bool { return a == b || strings.EqualFold(a, b) }

// Parties returns the names of the parties that see the case because they are its
// context, its starter, players of its roles or stakeholders: sorted, each once,
// without symbolic parties.
func Parties(c *Case) []string {
	names := append([]string{c.Context, c.Starter}, c.Stakeholders...)
	for i := range c.Roles {
		names = append(names, c.Roles[i].Parties...)
	}
	for i := range c.Enabled {
		names = append(names, c.Enabled[i].To)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" || name[0] == '@' })
	slices.Sort(names)
	return slices.Compact(names)
}

// players returns the given players in order of definition of their roles, without
// repetitions and without empty roles. The caller checks that the parties exist
// and may be given.
func (d *caseDecision) players(given []Players) ([]Players, error) {
	var out []Players
	for i := range d.route.Roles {
		var names []string
		for _, p := range given {
			if p.Role == d.route.Roles[i].Name {
				names = append(names, p.Parties...)
			}
		}
		if names = parties(names); len(names) > 0 {
			out = append(out, Players{Role: d.route.Roles[i].Name, Parties: names})
		}
	}
	var faults document.Faults
	for _, p := range given {
		if d.route.Role(p.Role) == nil {
			faults.Add(nil, document.Pointer("/roles", p.Role), errs.CodeNotFound, "the route has no role %q", p.Role)
		}
	}
	return out, faults.Err()
}

// parties returns the names, each once, in the order given.
func parties(given []string) []string {
	const few = 32 // with more names they are hashed instead of compared
	if len(given) > few {
		return manyParties(given)
	}
	var out []string
	for _, name := range given {
		if name != "" && !slices.ContainsFunc(out, func(have string) bool { return sameName(have, name) }) {
			out = append(out, name)
		}
	}
	return out
}

// manyParties is parties for lists of any length. Names of parties are ASCII.
func manyParties(given []string) []string {
	out := make([]string, 0, len(given))
	seen := make(map[string]bool, len(given))
	for _, name := range given {
		if folded := strings.ToLower(name); name != "" && !seen[folded] {
			seen[folded] = true
			out = append(out, name)
		}
	}
	return out
}

// assignRoles assigns players to the roles that have none
// (docs/contract/routes.md#assignment).
func (d *caseDecision) assignRoles() error {
	if len(d.c.Roles) == len(d.route.Roles) {
		return nil
	}
	a := assignment{caseDecision: d, parties: make([][]string, len(d.route.Roles)), visited: make([]bool, len(d.route.Roles))}
	for i := range d.route.Roles {
		a.parties[i] = d.c.RoleParties(d.route.Roles[i].Name)
	}
	for i := range d.route.Roles {
		a.assign(i)
	}
	if len(d.needs) > 0 {
		return errAbsent
	}
	roles := make([]Players, 0, len(d.route.Roles))
	for i := range d.route.Roles {
		if len(a.parties[i]) > 0 {
			roles = append(roles, Players{Role: d.route.Roles[i].Name, Parties: a.parties[i]})
		}
	}
	if len(roles) > len(d.c.Roles) {
		d.c.Roles = roles
		d.changed = true
	}
	return nil
}

// assignment is one round of assigning by rules.
type assignment struct {
	*caseDecision
	parties [][]string // of each role
	visited []bool     // of each role: its rules were evaluated, or are being evaluated
}

// assign evaluates the rules of the role in order. The first that yields anybody
// wins. A role that another one takes its players from is assigned first; roles
// that take them from each other in a circle get nobody.
func (a *assignment) assign(role int) {
	if a.visited[role] || len(a.parties[role]) > 0 || slices.Contains(a.c.Mapped, a.route.Roles[role].Name) {
		return // a role that the parent filled, or left empty, is not assigned by rules
	}
	a.visited[role] = true
	for _, rule := range a.route.Roles[role].Assign {
		if found := a.yield(rule); len(found) > 0 {
			a.parties[role] = found
			return
		}
	}
}

// yield returns the parties that a rule stands for. It never takes symbolic parties
// from data.
func (a *assignment) yield(rule route.Rule) []string {
	switch rule.Kind {
	case route.RuleStarter:
		if a.c.Starter != "" {
			return []string{a.c.Starter}
		}
	case route.RuleUser:
		return a.known(rule.Arg, UserParty)
	case route.RuleTeam:
		return a.known(rule.Arg, TeamParty)
	case route.RuleEveryone:
		return []string{string(identity.Everyone)}
	case route.RuleRole:
		other := slices.IndexFunc(a.route.Roles, func(r route.Role) bool { return r.Name == rule.Arg })
		if other >= 0 {
			a.assign(other)
			return a.parties[other]
		}
	case route.RuleStakeholders:
		if len(a.c.Stakeholders) > 0 {
			return []string{PartyStakeholders}
		}
	case route.RuleAdmins:
		return []string{PartyAdmins}
	case route.RuleParent:
		if a.c.Parent == 0 {
			return nil
		}
		parent, err := a.related(a.c.Parent)
		if err != nil || parent == nil {
			return nil // the absent fact is noted as a need
		}
		return a.fromParent(parent, rule)
	case route.RuleCall:
		return a.call(rule.Arg)
	case route.RuleXattr:
		v, ok := a.c.Xattrs.Get(rule.Arg)
		if ok && (v.Kind == document.String || v.Kind == document.Number) && v.Text != "" && v.Text[0] != '@' {
			return a.known(v.Text, UserParty, TeamParty)
		}
	}
	return nil
}

// fromParent returns the players of a role of the parent. A rule can be made to yield
// anybody by who writes a route that has these cases as children. So it holds for the routes
// of those who administer this one.
func (a *assignment) fromParent(parent *caseDecision, rule route.Rule) []string {
	answer, err := parent.startAnswer(a.route.Name)
	if err != nil || !answer.Administers {
		return nil // an absent fact is noted as a need
	}
	return parent.byName(parent.c.RoleParties(rule.Arg))
}

// known returns the name if it is that of a party of one of the kinds, else nothing.
// If the fact is absent it becomes a need.
func (a *assignment) known(name string, kinds ...PartyKind) []string {
	kind, ok := a.facts.Parties[name]
	if !ok {
		if need := (Need{Party: name}); !slices.Contains(a.needs, need) {
			a.needs = append(a.needs, need)
		}
		return nil
	}
	if slices.Contains(kinds, kind) {
		return []string{name}
	}
	return nil
}
