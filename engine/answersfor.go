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

// mayStart reports whether a route may have cases of another one made in a context, by a
// step or as children. What the author or the context does not see is told to be nowhere.
func (e routeAuthors) mayStart(right machine.StartRight) (answer machine.StartAnswer) {
	d := e.directory()
	info, by := e.rights.Named(right.Route), e.rights.Route(right.By)
	if by == nil {
		answer.Refused = "the route of this case is gone"
		return answer
	}
	author, is := e.of(by)
	if author == nil {
		answer.Refused = fmt.Sprintf("the author and the owner of %s are gone", by.Name)
		return answer
	}
	as := d.Principal(author.ID)
	switch {
	case author.Disabled:
		answer.Refused = fmt.Sprintf("%s, the %s of %s, is disabled", author.Name, is, by.Name)
		return answer
	case info == nil || !e.rights.SeesRoute(as, info):
		answer.Refused = fmt.Sprintf("there is no route %q that %s, the %s of %s, may start cases of", right.Route, author.Name, is, by.Name)
		return answer
	}
	// What a context owns it administers, where it answers for one that has left.
	answer.Administers = e.rights.Administers(as, info) || author.ID == info.ContextID
	context := d.ByName(identity.Name(right.Context))
	switch {
	case context == nil || !e.mayBegin(d.Principal(context.ID), info):
		answer.Refused = fmt.Sprintf("there is no route %q that %s may start cases of", right.Route, right.Context)
	case !answer.Administers && !e.rights.MayStart(as, info):
		answer.Refused = fmt.Sprintf("%s, the %s of %s, may not start %s", author.Name, is, by.Name, info.Name)
	default:
		answer.May = true
	}
	return answer
}

func (e routeAuthors) mayBegin(as identity.Principal, info *access.Route) bool {
	return e.rights.SeesRoute(as, info) && e.rights.MayStart(as, info)
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
