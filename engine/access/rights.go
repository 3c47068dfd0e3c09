// Package access knows which routes there are, and who may see and do what
// (docs/contract/drive.md#rights-table).
package access

import (
	"bytes"
	"slices"
	"sync/atomic"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Rights knows the routes, and judges by them and by the users and teams: the table of
// docs/contract/drive.md#rights-table, a function a line. Only the use cases ask. It is
// safe for concurrent use.
type Rights struct {
	routes    atomic.Pointer[Table] // replaced after every change of a route
	directory func() *identity.Directory
	now       func() time.Time
}

// New returns rights over no routes. directory returns all users and teams as they are
// now, and now the time of the drive, by which deputies are active.
func New(directory func() *identity.Directory, now func() time.Time) *Rights {
	g := &Rights{directory: directory, now: now}
	g.routes.Store(NewTable(nil))
	return g
}

// Table returns the routes as they are now.
func (g *Rights) Table() *Table { return g.routes.Load() }

// Routes returns all routes, by id. The slice is not to be changed.
func (g *Rights) Routes() []*Route { return g.Table().List() }

// Route returns the route of that id, or nil.
func (g *Rights) Route(id int64) *Route { return g.Table().Route(id) }

// Named returns the route of that name, in any case, or nil.
func (g *Rights) Named(name string) *Route { return g.Table().Named(name) }

// SetRoutes replaces all routes.
func (g *Rights) SetRoutes(list []*Route) { g.routes.Store(NewTable(list)) }

// PutRoute adds or replaces a route. Like SetRoutes and DropRoute it is called after the
// commit of a unit, so that one change follows the other.
func (g *Rights) PutRoute(route *Route) { g.routes.Store(g.Table().with(route)) }

// DropRoute removes the route of that id.
func (g *Rights) DropRoute(id int64) { g.routes.Store(g.Table().without(id)) }

// Administers reports whether by administers the route: its owner
// context's admins, those it names, and administrators.
func (g *Rights) Administers(by identity.Principal, r *Route) bool {
	return g.directory().Administers(by, r.ContextID) || by.InAny(Names(r.Access.Admin))
}

// Admins returns the parties that administer a route in addition to the
// administrators of the server: the administrators of its owner context, and
// access.admin.
func (g *Rights) Admins(id int64) (parties []string) {
	r := g.Route(id)
	if r == nil {
		return nil // deleted
	}
	if owner := g.directory().ByID(r.ContextID); owner != nil {
		if owner.Kind == identity.User {
			parties = append(parties, string(owner.Name))
		}
		for _, admin := range owner.Admins {
			parties = append(parties, string(admin))
		}
	}
	return append(parties, r.Access.Admin...)
}

// MayStart reports whether by may start cases of the route. An absent list
// means the owner context.
func (g *Rights) MayStart(by identity.Principal, r *Route) bool {
	if r.Access.Start == nil {
		return by.In(r.ContextID)
	}
	return by.InAny(Names(r.Access.Start))
}

// MayHaveStarted reports whether by may have cases of the route started by steps of a
// route that by has stored: who may start them, and who could take that right by storing
// the route.
func (g *Rights) MayHaveStarted(by identity.Principal, r *Route) bool {
	return g.MayStart(by, r) || g.Administers(by, r)
}

// SeesRoute reports whether the route exists for by.
func (g *Rights) SeesRoute(by identity.Principal, r *Route) bool {
	return by.Admin() || by.In(r.ContextID) || by.InAny(Names(r.Access.Read)) ||
		by.InAny(Names(r.Access.Start)) || by.InAny(Names(r.Access.Admin))
}

// SeesMembers reports whether by is told who is in the team: its members are, its
// administrators, and those of the server.
func SeesMembers(by identity.Principal, team *identity.Party) bool {
	return by.Admin() || by.In(team.ID) || by.InAny(team.Admins)
}

// SeesEntry reports whether a schedule entry of the context exists for by.
func SeesEntry(by identity.Principal, context identity.ID) bool {
	return by.Admin() || by.In(context)
}

// MayChangeEntry reports whether by may change, delete or trigger the entry:
// every member of its context; of everyone only its author.
func (g *Rights) MayChangeEntry(by identity.Principal, context, author identity.ID) bool {
	if by.Admin() {
		return true
	}
	if context == g.directory().EveryoneID() {
		return by.ID == author
	}
	return by.In(context)
}

// IsStarter reports whether by started the case. Every member of a team counts
// as the starter of a case of the team's schedule. Cases of everyone have no
// starter.
func IsStarter(by identity.Principal, c *machine.Case) bool {
	return c.Starter != string(identity.Everyone) && by.InAny([]identity.Name{identity.Name(c.Starter)})
}

// SeesCase reports whether the case exists for by.
func (g *Rights) SeesCase(r store.Reader, by identity.Principal, c *store.Case) (bool, error) {
	if g.ownsCase(by, c) {
		return true, nil
	}
	if seen, err := r.Cases().SeenBy(c.ID, by.Contexts()); seen || err != nil {
		return seen, err
	}
	return g.seesAsDeputy(r, by, c)
}

// ownsCase reports whether by sees the case without having a part in it.
func (g *Rights) ownsCase(by identity.Principal, c *store.Case) bool {
	if by.Admin() || by.In(c.ContextID) || by.In(c.StarterID) {
		return true
	}
	info := g.Route(c.RouteID)
	return info != nil && g.Administers(by, info)
}

// VisibleCases returns those of the cases that exist for by, as SeesCase says of each. Their
// forms need not have been read. It costs a statement, and more only for a deputy.
func (g *Rights) VisibleCases(r store.Reader, by identity.Principal, rows []store.Case) ([]store.Case, error) {
	var others []int64
	for i := range rows {
		if !g.ownsCase(by, &rows[i]) {
			others = append(others, rows[i].ID)
		}
	}
	if len(others) == 0 {
		return rows, nil
	}
	shared, err := r.Cases().Tasks().SeenAmong(others, by.Contexts())
	if err != nil {
		return nil, err
	}
	deputy := len(g.Represented(by)) > 0
	var out []store.Case
	for i := range rows {
		id := rows[i].ID
		sees := !slices.Contains(others, id) || slices.Contains(shared, id)
		if !sees && deputy {
			whole, err := r.Cases().Get(id) // what is lent depends on its form
			if err != nil {
				return nil, err
			}
			if sees, err = g.seesAsDeputy(r, by, whole); err != nil {
				return nil, err
			}
		}
		if sees {
			out = append(out, rows[i])
		}
	}
	return out, nil
}

// SeesAttachment reports whether the attachment exists for by: who sees the
// case that it is bound to; without one the members of its context.
func (g *Rights) SeesAttachment(r store.Reader, by identity.Principal, a *store.Attachment) (bool, error) {
	if a.CaseID == 0 {
		return by.Admin() || by.In(a.ContextID), nil
	}
	c, err := store.OrNil(r.Cases().Get(a.CaseID))
	if err != nil || c == nil {
		return false, err
	}
	return g.SeesCase(r, by, c)
}

// MayDeleteAttachment reports whether by may delete the attachment: the author
// and the administrators of the route of its case. An attachment without a case
// can be deleted by every member of its context, and one of everyone by its
// author.
func (g *Rights) MayDeleteAttachment(r store.Reader, by identity.Principal, a *store.Attachment) (bool, error) {
	if a.CaseID == 0 {
		return g.MayChangeEntry(by, a.ContextID, a.AuthorID), nil
	}
	if by.Admin() || by.ID == a.AuthorID {
		return true, nil
	}
	c, err := r.Cases().Get(a.CaseID)
	if err != nil {
		return false, err
	}
	info := g.Route(c.RouteID)
	return info != nil && g.Administers(by, info), nil
}

// Administered returns the ids of the routes that by administers.
func (g *Rights) Administered(by identity.Principal) []int64 {
	var ids []int64
	for _, info := range g.Routes() {
		if g.Administers(by, info) {
			ids = append(ids, info.ID)
		}
	}
	return ids
}

// Actor returns by as the core sees a performer.
func (g *Rights) Actor(by identity.Principal, routeAdmin bool) machine.Actor {
	return machine.Actor{Name: string(by.Name), Contexts: contextNames(by), RouteAdmin: routeAdmin, DeputyFor: g.deputyFor(by)}
}

func contextNames(by identity.Principal) []string {
	contexts := make([]string, 0, len(by.ContextNames()))
	for _, n := range by.ContextNames() {
		contexts = append(contexts, string(n))
	}
	return contexts
}

// Names returns texts as names of users and teams.
func Names(list []string) []identity.Name {
	out := make([]identity.Name, len(list))
	for i, n := range list {
		out[i] = identity.Name(n)
	}
	return out
}

// ShownState returns the state in which people see a stored case.
func ShownState(row *store.Case) string {
	if row.State != string(machine.Queued) {
		return row.State
	}
	_, rest, _ := bytes.Cut(row.Form, []byte(`"state":`)) // no text before it can hold that
	if bytes.HasPrefix(bytes.TrimLeft(rest, " "), []byte(`"`+machine.StateDraft+`"`)) {
		return machine.StateDraft
	}
	return row.State
}
