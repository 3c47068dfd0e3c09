package engine

import (
	"flowdrive/engine/access"
	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Who answers for the secrets of the settings that a route or an entry uses
// (docs/contract/routes.md#who-may-use-a-secret).

// authorWho returns the principal as the author of that route, "" for an entry.
func authorWho(by identity.Principal, routeName string) *outbox.Author {
	return &outbox.Author{Route: routeName, Admin: by.Admin(), In: by.InAny}
}

// secretAuthors finds who answers for secrets.
type secretAuthors struct{ *base }

// ofRoute returns who has stored the newest version of a route, with the rights
// of now. If that is not known, nobody is.
func (e secretAuthors) ofRoute(info *access.Route) *outbox.Author {
	directory := e.directory()
	if !directory.Active(info.By) {
		return authorWho(identity.Principal{}, info.Name)
	}
	return authorWho(directory.Principal(info.By), info.Name)
}

// ofCase returns who has stored the version of the route that a case has. Of older
// versions that is not known, so that nobody is: who has stored a later one has not
// looked at what the case does.
func (e secretAuthors) ofCase(r store.Reader, caseID int64) (*outbox.Author, error) {
	stored, err := store.OrNil(r.Cases().Get(caseID))
	if err != nil {
		return nil, err
	}
	if stored == nil {
		return authorWho(identity.Principal{}, ""), nil
	}
	info := e.rights.Route(stored.RouteID)
	if info == nil {
		return authorWho(identity.Principal{}, e.rights.RouteName(stored.RouteID)), nil
	}
	c, err := machine.ReadMarking(stored.Marking)
	if err != nil {
		return nil, errs.Wrap("read a case", err)
	}
	if info.Version != c.RouteVersion {
		return &outbox.Author{Route: info.Name, Older: true, In: identity.Principal{}.InAny}, nil
	}
	return e.ofRoute(info), nil
}
