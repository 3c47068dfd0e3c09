package engine

import (
	"bytes"
	"slices"

	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// Routes name users, teams and other routes. Their texts are their authors', so a
// name stays in them when what it is the name of is renamed, deleted or handed
// over. What it means from then on is kept beside the text
// (docs/decisions/0030-names-in-routes-keep-their-meaning.md).

// meantIn returns what names in a version of a route mean.
func meantIn(r store.Reader, id, version int64) (route.Meant, error) {
	meant := route.Meant{}
	all, err := r.Routes().Meanings(id, version)
	for i := range all {
		to := &meant.Parties
		if all[i].Kind == store.RouteMeant {
			to = &meant.Routes
		}
		if *to == nil {
			*to = map[string]string{}
		}
		(*to)[all[i].Folded] = all[i].Name
	}
	return meant, err
}

// meantBefore is meantIn for the current version of a route; nil for a new one.
func meantBefore(r store.Reader, old *store.Route) (route.Meant, error) {
	if old == nil {
		return route.Meant{}, nil
	}
	return meantIn(r, old.ID, old.Version)
}

// keepMeanings lets names go on to mean the same in a new version of a route, as
// long as each version has them.
func keepMeanings(tx store.Tx, c *routeChange) error {
	if c.base == 0 || c.stored.Version == c.base {
		return nil
	}
	all, err := tx.Routes().Meanings(c.stored.ID, c.base)
	if err != nil {
		return err
	}
	for i := range all {
		m := &all[i]
		if !isNamed(m, c.compiled) {
			continue
		}
		m.Upto = c.stored.Version
		if err := tx.Write().Routes().PutMeaning(m); err != nil {
			return err
		}
	}
	return nil
}

// mean lets a name in all routes that have it mean the party or route of that id
// from now on, whatever else is called so later. What it meant already it goes on
// to mean.
func (e *base) mean(tx store.Tx, kind store.MeaningKind, name string, id int64) error {
	routes, err := tx.Routes().List()
	if err != nil {
		return err
	}
	folded := identity.Fold(name)
	for i := range routes {
		versions, err := tx.Routes().Versions(routes[i].ID)
		if err != nil {
			return err
		}
		m := store.Meaning{RouteID: routes[i].ID, Kind: kind, Folded: folded, MeantID: id, Name: name}
		for j := range versions {
			if !bytes.Contains(bytes.ToLower(versions[j].Form), []byte(folded+`"`)) {
				continue
			}
			compiled, err := e.versions.get(tx, m.RouteID, versions[j].Version)
			if err != nil {
				return err
			}
			if isNamed(&m, compiled) {
				m.Upto = versions[j].Version
			}
		}
		if m.Upto == 0 {
			continue
		}
		if err := tx.Write().Routes().PutMeaning(&m); err != nil {
			return err
		}
	}
	return nil
}

// isNamed reports whether the route names what the meaning says, by the name that
// this has.
func isNamed(m *store.Meaning, r *route.Route) bool {
	called := m.Name
	if called == "" {
		called = "-" + m.Folded // as route.Deleted reads it
	}
	is := func(name string) bool { return identity.Fold(name) == identity.Fold(called) }
	if m.Kind == store.PartyMeant {
		return slices.ContainsFunc(r.Parties(), func(p route.Party) bool { return is(p.Name) })
	}
	return slices.ContainsFunc(r.Started(), func(p route.Party) bool { return is(p.Name) }) ||
		slices.ContainsFunc(r.Actions, func(a route.Action) bool { return a.Child != nil && is(a.Child.Route) })
}
