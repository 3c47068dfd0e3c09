package access

import (
	"strconv"

	"flowdrive/internal/identity"
)

// Visible returns the route that by sees under that name, or nil.
func (g *Rights) Visible(by identity.Principal, name string) *Route {
	info := g.Named(name)
	if info == nil || !g.SeesRoute(by, info) {
		return nil
	}
	return info
}

// Mine is the filter for all contexts that are the caller's.
const Mine = "mine"

// InContext reports whether the context passes a filter: a name, an id,
// Mine, or "" for all.
func (g *Rights) InContext(by identity.Principal, filter string, context identity.ID) bool {
	switch filter {
	case "":
		return true
	case Mine:
		return by.In(context)
	}
	return g.ContextID(filter) == context
}

// ContextID returns the id of a context given by name or number, or 0 if there
// is none.
func (g *Rights) ContextID(text string) identity.ID {
	if p := g.directory().ByName(identity.Name(text)); p != nil {
		return p.ID
	}
	if id, err := strconv.ParseInt(text, 10, 64); err == nil && g.directory().ByID(identity.ID(id)) != nil {
		return identity.ID(id)
	}
	return 0
}

// RouteName returns the name of a route, or "" if it was deleted.
func (g *Rights) RouteName(id int64) string {
	if info := g.Route(id); info != nil {
		return info.Name
	}
	return ""
}

// SeenRoute implements account.Routes.
func (g *Rights) SeenRoute(by identity.Principal, name string) (spelled string, ok bool) {
	info := g.Visible(by, name)
	if info == nil {
		return "", false
	}
	return info.Name, true
}

// SeesCases implements account.Routes.
func (g *Rights) SeesCases(by identity.Principal, name string) bool {
	info := g.Visible(by, name)
	return by.Admin() || info != nil && g.Administers(by, info)
}
