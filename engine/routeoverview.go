package engine

import (
	"context"
	"slices"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// RouteOverview is a route with what there is about it, all of one moment.
type RouteOverview struct {
	Stored   *Resource // its complete form has its scenario
	Drawn    *Drawn    // the current version
	Versions []RouteVersionNote
	Access   RouteAccess
}

// RouteVersionNote says when a version of a route was stored.
type RouteVersionNote struct {
	Version int64
	Created time.Time
}

// RouteAccess says who may do what with a route, and what its reader may do.
type RouteAccess struct {
	Owner               string   // the context that owns it, "" if that is gone
	Start, Read, Admin  []string // names of users and teams
	OwnerStarts         bool     // the document has no list of who starts cases: the owner does
	MayStart, MayChange bool
	Members             map[string][]string // of the teams that rules of roles and actions name, if the reader sees them
}

// RouteText is the text of a version of a route, as it was stored.
type RouteText struct {
	Version int64
	YAML    bool
	Source  []byte
	Form    []byte // the complete form, JSON
	Drawn   *Drawn
}

// Overview returns a route with what there is about it. Errors: errs.NotFound if by may
// not see it.
func (e *Pictures) Overview(ctx context.Context, by identity.Principal, name string) (*RouteOverview, error) {
	info := e.rights.Visible(by, name)
	if info == nil {
		return nil, change.Absent("route")
	}
	out := &RouteOverview{}
	err := e.Store.View(ctx, func(r store.Reader) error {
		stored, err := r.Routes().Get(info.ID)
		if err != nil {
			return err
		}
		scenario, err := store.OrNil(r.Routes().Scenarios().OfRoute(info.ID))
		if err != nil {
			return err
		}
		versions, err := r.Routes().Versions(info.ID)
		if err != nil {
			return err
		}
		for i := range versions {
			out.Versions = append(out.Versions, RouteVersionNote{versions[i].Version, versions[i].Created})
		}
		out.Stored = routeResource(by, stored, scenario)
		out.Drawn, err = e.version(r, info, stored.Version)
		if err != nil {
			return err
		}
		out.Access = e.accessOf(by, stored, info)
		out.Access.Members = e.membersOf(by, out.Drawn.Route)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// accessOf says who may do what with the route.
func (e *Pictures) accessOf(by identity.Principal, stored *store.Route, info *access.Route) RouteAccess {
	a := RouteAccess{
		Start: slices.Clone(info.Access.Start), Read: slices.Clone(info.Access.Read), Admin: e.rights.Admins(info.ID),
		MayStart: e.rights.MayStart(by, info), MayChange: e.rights.Administers(by, info), OwnerStarts: info.Access.Start == nil,
	}
	if owner := e.directory().ByID(stored.ContextID); owner != nil {
		a.Owner = string(owner.Name)
	}
	return a
}

// membersOf returns who is in the teams that rules of the roles and actions name, without
// those who are disabled.
func (e *Pictures) membersOf(by identity.Principal, r *route.Route) map[string][]string {
	out, directory := map[string][]string{}, e.directory()
	add := func(name string) {
		team := directory.ByName(identity.Name(name))
		if team == nil || !access.SeesMembers(by, team) {
			return
		}
		members := []string{}
		for _, name := range team.Members {
			if p := directory.ByName(name); p != nil && !p.Disabled {
				members = append(members, string(p.Name))
			}
		}
		out[name] = members
	}
	for i := range r.Roles {
		for _, rule := range slices.Concat(r.Roles[i].Assign, r.Roles[i].Pick) {
			if rule.Kind == route.RuleTeam {
				add(rule.Arg)
			}
		}
	}
	for i := range r.Actions {
		for _, one := range r.Actions[i].Allowed {
			if one.Kind == route.AllowedTeam {
				add(one.Name)
			}
		}
	}
	return out
}

// VersionTexts returns versions of a route, in the order of their numbers. Errors:
// errs.NotFound if by may not see the route, or if it has no such version.
func (e *Pictures) VersionTexts(ctx context.Context, by identity.Principal, name string, versions ...int64) ([]RouteText, error) {
	info := e.rights.Visible(by, name)
	if info == nil {
		return nil, change.Absent("route")
	}
	var out []RouteText
	err := e.Store.View(ctx, func(r store.Reader) error {
		for _, version := range versions {
			stored, err := store.OrNil(r.Routes().Version(info.ID, version))
			if err != nil {
				return err
			}
			if stored == nil {
				return change.Absent("version")
			}
			drawn, err := e.version(r, info, version)
			if err != nil {
				return err
			}
			out = append(out, RouteText{Version: version, YAML: stored.YAML, Source: stored.Source, Form: stored.Form, Drawn: drawn})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
