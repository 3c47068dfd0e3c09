package access

import (
	"cmp"
	"slices"

	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// Route is what is kept in memory of each route: the number of its current
// version, and what its rights are judged by. The version itself is compiled when it
// is needed.
type Route struct {
	ID        int64
	Name      string
	ContextID identity.ID
	AuthorID  identity.ID
	Version   int64
	Brief
}

// Brief is what is stored of a route beside its text, so that the server knows
// whom it is for without compiling it.
type Brief struct {
	Title    string       `json:"title,omitempty"`
	Access   route.Access `json:"access"`
	Children []string     `json:"children,omitempty"` // the routes whose cases it starts as children
	By       identity.ID  `json:"by,omitempty"`       // who stored it last; 0 if that is not known
}

// Author returns who stored the present version of the route; if that is not known, who
// stored the first one.
func (info *Route) Author() identity.ID { return cmp.Or(info.By, info.AuthorID) }

// StartsChildren reports whether cases of the route start cases of another one as
// children.
func (info *Route) StartsChildren(name string) bool {
	return slices.ContainsFunc(info.Children, func(child string) bool { return identity.Fold(child) == identity.Fold(name) })
}

// BriefOf returns the brief of a route that a user has stored, 0 for one that is not known.
func BriefOf(compiled *route.Route, by identity.ID) Brief {
	b := Brief{Title: compiled.Title, Access: compiled.Access, By: by}
	for i := range compiled.Actions {
		if child := compiled.Actions[i].Child; child != nil && !slices.Contains(b.Children, child.Route) {
			b.Children = append(b.Children, child.Route)
		}
	}
	return b
}

// RouteOf returns what is kept in memory of a route that has just been compiled, and that
// a user has stored, 0 for one that is not known.
func RouteOf(s *store.Route, compiled *route.Route, by identity.ID) *Route {
	return &Route{ID: s.ID, Name: s.Name, ContextID: s.ContextID, AuthorID: s.AuthorID, Version: s.Version, Brief: BriefOf(compiled, by)}
}

// Table is all routes. It is never changed once made.
type Table struct {
	list   []*Route // by id
	byID   map[int64]*Route
	byName map[string]*Route // folded
}

// NewTable returns the table of the routes, which come by id.
func NewTable(list []*Route) *Table {
	t := &Table{list: list, byID: make(map[int64]*Route, len(list)), byName: make(map[string]*Route, len(list))}
	for _, info := range list {
		t.byID[info.ID] = info
		t.byName[identity.Fold(info.Name)] = info
	}
	return t
}

// with returns the table with the route added or replaced.
func (t *Table) with(info *Route) *Table {
	list := slices.Clone(t.list)
	if i, found := slices.BinarySearchFunc(list, info.ID, byRouteID); found {
		list[i] = info
	} else {
		list = slices.Insert(list, i, info)
	}
	return NewTable(list)
}

// without returns the table without the route of that id.
func (t *Table) without(id int64) *Table {
	return NewTable(slices.DeleteFunc(slices.Clone(t.list), func(info *Route) bool { return info.ID == id }))
}

func byRouteID(info *Route, id int64) int { return cmp.Compare(info.ID, id) }

// List returns all routes, by id. The slice is not to be changed.
func (t *Table) List() []*Route { return t.list }

// Route returns the route of that id, or nil.
func (t *Table) Route(id int64) *Route { return t.byID[id] }

// Named returns the route of that name, in any case, or nil.
func (t *Table) Named(name string) *Route { return t.byName[identity.Fold(name)] }
