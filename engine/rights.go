package engine

import (
	"slices"

	"flowdrive/engine/files"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// The table of docs/contract/drive.md#rights-table, a function a line. Faces ask nothing here; the use cases do.

// administersRoute reports whether by administers the route: its owner
// context's admins, those it names, and administrators.
func (e *base) administersRoute(by identity.Principal, r *routeInfo) bool {
	return e.directory().Administers(by, r.ContextID) || by.InAny(names(r.Access.Admin))
}

// routeAdmins returns the parties that administer a route in addition to the
// administrators of the server: the administrators of its owner context, and
// access.admin.
func (e *base) routeAdmins(id int64) (parties []string) {
	r := e.routes.Load().byID[id]
	if r == nil {
		return nil // deleted
	}
	if owner := e.directory().ByID(r.ContextID); owner != nil {
		if owner.Kind == identity.User {
			parties = append(parties, string(owner.Name))
		}
		for _, admin := range owner.Admins {
			parties = append(parties, string(admin))
		}
	}
	return append(parties, r.Access.Admin...)
}

// mayStart reports whether by may start cases of the route. An absent list
// means the owner context.
func (e *base) mayStart(by identity.Principal, r *routeInfo) bool {
	if r.Access.Start == nil {
		return by.In(r.ContextID)
	}
	return by.InAny(names(r.Access.Start))
}

// seesRoute reports whether the route exists for by.
func (e *base) seesRoute(by identity.Principal, r *routeInfo) bool {
	return by.Admin() || by.In(r.ContextID) || by.InAny(names(r.Access.Read)) ||
		by.InAny(names(r.Access.Start)) || by.InAny(names(r.Access.Admin))
}

// seesEntry reports whether a schedule entry of the context exists for by.
func seesEntry(by identity.Principal, context identity.ID) bool {
	return by.Admin() || by.In(context)
}

// mayChangeEntry reports whether by may change, delete or trigger the entry:
// every member of its context; of everyone only its author.
func (e *base) mayChangeEntry(by identity.Principal, context, author identity.ID) bool {
	if by.Admin() {
		return true
	}
	if context == e.directory().EveryoneID() {
		return by.ID == author
	}
	return by.In(context)
}

// isStarter reports whether by started the case. Every member of a team counts
// as the starter of a case of the team's schedule. Cases of everyone have no
// starter.
func isStarter(by identity.Principal, c *machine.Case) bool {
	return c.Starter != string(identity.Everyone) && by.InAny([]identity.Name{identity.Name(c.Starter)})
}

// seesCase reports whether the case exists for by.
func (e *base) seesCase(r store.Reader, by identity.Principal, c *store.Case) (bool, error) {
	if by.Admin() || by.In(c.ContextID) || by.In(c.StarterID) {
		return true, nil
	}
	if info := e.routes.Load().byID[c.RouteID]; info != nil && e.administersRoute(by, info) {
		return true, nil
	}
	if seen, err := r.Cases().SeenBy(c.ID, by.Contexts()); seen || err != nil {
		return seen, err
	}
	return e.seesAsDeputy(r, by, c)
}

// seesAttachment reports whether the attachment exists for by: who sees the
// case that it is bound to; without one the members of its context.
func (e *base) seesAttachment(r store.Reader, by identity.Principal, a *store.Attachment) (bool, error) {
	if a.CaseID == 0 {
		return by.Admin() || by.In(a.ContextID), nil
	}
	c, err := store.OrNil(r.Cases().Get(a.CaseID))
	if err != nil || c == nil {
		return false, err
	}
	return e.seesCase(r, by, c)
}

// mayDeleteAttachment reports whether by may delete the attachment: the author
// and the administrators of the route of its case. An attachment without a case
// can be deleted by every member of its context, and one of everyone by its
// author.
func (e *base) mayDeleteAttachment(r store.Reader, by identity.Principal, a *store.Attachment) (bool, error) {
	if a.CaseID == 0 {
		return e.mayChangeEntry(by, a.ContextID, a.AuthorID), nil
	}
	if by.Admin() || by.ID == a.AuthorID {
		return true, nil
	}
	c, err := r.Cases().Get(a.CaseID)
	if err != nil {
		return false, err
	}
	info := e.routes.Load().byID[c.RouteID]
	return info != nil && e.administersRoute(by, info), nil
}

// administered returns the ids of the routes that by administers.
func (e *base) administered(by identity.Principal) []int64 {
	var ids []int64
	for _, info := range e.routes.Load().list {
		if e.administersRoute(by, info) {
			ids = append(ids, info.ID)
		}
	}
	return ids
}

// actor returns by as the core sees a performer.
func (e *base) actor(by identity.Principal, routeAdmin bool) machine.Actor {
	return machine.Actor{Name: string(by.Name), Contexts: contextNames(by), RouteAdmin: routeAdmin, DeputyFor: e.deputyFor(by)}
}

func contextNames(by identity.Principal) []string {
	contexts := make([]string, 0, len(by.ContextNames()))
	for _, n := range by.ContextNames() {
		contexts = append(contexts, string(n))
	}
	return contexts
}

func names(list []string) []identity.Name {
	out := make([]identity.Name, len(list))
	for i, n := range list {
		out[i] = identity.Name(n)
	}
	return out
}

// maySeeEvent reports whether by may be told of the event: whether by may see its
// subject now, or could before it went. cases has the cases that were checked
// already.
func (e *base) maySeeEvent(r store.Reader, by identity.Principal, ev *Event, cases map[int64]bool) (bool, error) {
	switch ev.Kind {
	case EventCase, EventTask:
		if ev.Change == ChangeDeleted {
			return e.sawCase(by, ev), nil
		}
		sees, known := cases[ev.ID]
		if !known {
			row, err := store.OrNil(r.Cases().Get(ev.ID))
			if err == nil && row != nil {
				sees, err = e.seesCase(r, by, row)
			}
			if err != nil {
				return false, err
			}
			cases[ev.ID] = sees
		}
		return sees, nil
	case EventSchedule:
		stored, err := store.OrNil(r.Entries().Get(ev.UUID))
		if err != nil {
			return false, err
		}
		if stored != nil {
			return seesEntry(by, stored.ContextID), nil
		}
		return seesEntry(by, ev.context), nil
	case EventRoute:
		info := e.routes.Load().byID[ev.ID]
		if info == nil {
			info = ev.route
		}
		return info != nil && e.seesRoute(by, info), nil
	case EventDocument:
		return files.ReadsDocuments(by, ev.context), nil
	}
	return false, nil
}

// sawCase reports whether by could see a case that is gone.
func (e *base) sawCase(by identity.Principal, ev *Event) bool {
	return by.Admin() || slices.ContainsFunc(ev.seenBy, by.In) || ev.route != nil && e.administersRoute(by, ev.route)
}
