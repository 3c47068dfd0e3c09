package engine

import (
	"fmt"

	"flowdrive/engine/access"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
)

// routeAuthors judges what the steps of a route may do beyond the rights of its cases:
// by the rights of who wrote it. Without that, a route would act for its author with the
// rights of those who start its cases.
type routeAuthors struct{ *base }

// of returns the party that answers for a route, and what it is to the route: its author,
// or the context that owns it if that user was disabled or deleted. A party that is disabled
// has no rights.
func (e routeAuthors) of(r *access.Route) (party *identity.Party, is string) {
	d := e.directory()
	if author := r.Author(); d.Active(author) {
		return d.ByID(author), "author"
	}
	return d.ByID(r.ContextID), "owner"
}

// mayStart reports whether a context may start cases of a route by a step of another
// one. If the author of that one does not see the route, the answer is as if there were none.
func (e routeAuthors) mayStart(right machine.StartRight) (answer machine.StartAnswer) {
	d := e.directory()
	info, context := e.rights.Named(right.Route), d.ByName(identity.Name(right.Context))
	by := e.rights.Route(right.By)
	if info == nil || context == nil || by == nil {
		return answer
	}
	if as := d.Principal(context.ID); !e.rights.SeesRoute(as, info) || !e.rights.MayStart(as, info) {
		return answer
	}
	author, is := e.of(by)
	if author == nil {
		return answer
	}
	switch as := d.Principal(author.ID); {
	case !e.rights.SeesRoute(as, info):
	case author.Disabled:
		answer.Refused = fmt.Sprintf("%s, the %s of %s, is disabled", author.Name, is, by.Name)
	case !e.rights.MayHaveStarted(as, info):
		answer.Refused = fmt.Sprintf("%s, the %s of %s, may not start %s", author.Name, is, by.Name, info.Name)
	default:
		answer.May = true
	}
	return answer
}

// mayName reports whether who answers for a route is told who is in a team, so that its
// cases may be called after the members.
func (e routeAuthors) mayName(right machine.MemberRight) bool {
	d := e.directory()
	by, team := e.rights.Route(right.By), d.ByName(identity.Name(right.Team))
	if by == nil || team == nil {
		return false
	}
	party, _ := e.of(by)
	return party != nil && !party.Disabled && access.SeesMembers(d.Principal(party.ID), team)
}
