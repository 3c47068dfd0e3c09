package engine

import (
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// What a document refers to. A reference that does not resolve is a fault in
// the same words whether the thing is absent, invisible or not permitted
// (docs/contract/drive.md#errors).

// contextRef resolves "contextId" and "context" of a document to a context that
// by may create objects of, or to keeps, the one that the object has already.
// The default is by's own. It does not tell whether another context exists.
func (e *base) contextRef(by identity.Principal, root document.Value, id int64, name string, keeps identity.ID) (identity.Party, error) {
	d := e.directory()
	available := func(p *identity.Party) *identity.Party {
		if p == nil || !d.MayOwn(by, p.ID) && p.ID != keeps {
			return nil
		}
		return p
	}
	party := available(d.ByID(by.ID))
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
func (e *base) routeRef(by identity.Principal, root document.Value, name string, id int64, usable func(*routeInfo) bool) *routeInfo {
	byName, byID := root.Get("route"), root.Get("routeId")
	table := e.routes.Load()
	may := func(info *routeInfo) bool { return info != nil && e.seesRoute(by, info) && usable(info) }
	var info *routeInfo
	if byID.Given() && id != 0 {
		if info = table.byID[id]; !may(info) {
			byID.Fail(errs.CodeNotFound, "there is no route %d that may be used here", id)
			return nil
		}
	}
	if byName.Given() && name != "" {
		named := table.byName[identity.Fold(name)]
		if !may(named) {
			byName.Fail(errs.CodeNotFound, "there is no route %q that may be used here", name)
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
