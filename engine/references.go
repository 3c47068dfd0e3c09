package engine

import (
	"cmp"

	"flowdrive/engine/access"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// What a document refers to. A reference that does not resolve is a fault in
// the same words whether the thing is absent, invisible or not permitted
// (docs/contract/drive.md#errors).

// wantedContext is the context that a document asks for.
type wantedContext struct {
	id    int64       // 0: it is not given by its id
	name  string      // "": it is not given by its name
	keeps identity.ID // the one that the object has already, 0: it is new
	hands bool        // an administrator may give it to any context
}

// contextRef resolves "contextId" and "context" of a document to a context that
// by may create objects of, or to the one that the object has already. That is
// also the default; of a new object it is by's own. It does not tell whether
// another context exists.
func (e *base) contextRef(by identity.Principal, root document.Value, want wantedContext) (identity.Party, error) {
	d, id, name := e.directory(), want.id, want.name
	available := func(p *identity.Party) *identity.Party {
		if p == nil || !d.MayOwn(by, p.ID) && p.ID != want.keeps && !(want.hands && by.Admin() && !p.Disabled) {
			return nil
		}
		return p
	}
	party := available(d.ByID(cmp.Or(want.keeps, by.ID)))
	byID, byName := root.Get("contextId").Given() && id != 0, root.Get("context").Given() && name != ""
	if byID {
		party = available(d.ByID(identity.ID(id)))
	}
	if byName {
		named := available(d.ByName(identity.Name(name)))
		if byID && named != party {
			root.Get("context").Fail(errs.CodeConflict, "is %q, but contextId is %d, another context; give one of the two", name, id)
		}
		party = named
	}
	if party == nil {
		return identity.Party{}, errs.New(errs.ContextNotAvailable, "The context is not one of yours; leave contextId out, or name one of your own.")
	}
	return *party, nil
}

// routeRef resolves "route" and "routeId" of a document to a route that by
// sees and that is usable for what the document asks. What does not resolve
// is a fault at the key that was given.
func (e *base) routeRef(by identity.Principal, root document.Value, name string, id int64, usable func(*access.Route) bool) *access.Route {
	byName, byID := root.Get("route"), root.Get("routeId")
	table := e.rights.Table()
	may := func(info *access.Route) bool { return info != nil && e.rights.SeesRoute(by, info) && usable(info) }
	var info *access.Route
	if byID.Given() && id != 0 {
		if info = table.Route(id); !may(info) {
			byID.Fail(errs.CodeNotFound, "there is no route %d that may be used here", id)
			return nil
		}
	}
	if byName.Given() && name != "" {
		named := table.Named(name)
		if !may(named) {
			byName.Fail(errs.CodeNotFound, "there is no route %q that may be used here%s", name, document.Hint(name, namesThat(e.rights.Routes(), may)))
			return nil
		}
		if info != nil && info != named {
			byName.Fail(errs.CodeConflict, "is %q, but routeId %d is the route %q; give one of the two", name, id, info.Name)
			return nil
		}
		info = named
	}
	return info
}

// namesThat returns the names of the routes that may be used.
func namesThat(routes []*access.Route, may func(*access.Route) bool) (names []string) {
	for _, info := range routes {
		if may(info) {
			names = append(names, info.Name)
		}
	}
	return names
}
