package engine

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Scenario returns the scenario beside the route of that name, or the caller's that
// waits for a route of the name. Errors: errs.NotFound.
func (e *Scenarios) Scenario(ctx context.Context, by identity.Principal, name string) (*Resource, error) {
	var out *Resource
	err := e.Store.View(ctx, func(r store.Reader) error {
		at, err := e.scenarioAt(r, by, name)
		if err == nil && at.stored == nil {
			err = change.Absent("scenario")
		}
		if err == nil {
			out = at.resource()
		}
		return err
	})
	return out, err
}

// Scenarios returns the scenarios beside the routes that by sees, and those of by that
// wait for a route, without their sources.
func (e *Scenarios) Scenarios(ctx context.Context, by identity.Principal) ([]Resource, error) {
	var all []store.Scenario
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		all, err = r.Routes().Scenarios().List(by.ID)
		return err
	})
	table := e.rights.Table()
	besideSeen := map[string]bool{} // routes that by sees with a scenario
	var out []Resource
	for i := range all {
		info := table.Route(all[i].RouteID)
		if info == nil || !e.rights.SeesRoute(by, info) {
			continue
		}
		besideSeen[identity.Fold(info.Name)] = true
		out = append(out, *(&scenarioPlace{name: info.Name, route: info, stored: &all[i]}).resource())
	}
	for i := range all {
		if s := &all[i]; s.RouteID == 0 && !besideSeen[identity.Fold(s.Route)] {
			out = append(out, *(&scenarioPlace{name: s.Route, stored: s}).resource())
		}
	}
	return out, err
}

// scenarioPlace is what there is for a user at the name of a scenario.
type scenarioPlace struct {
	name   string // of the route, as it is spelled
	row    *store.Route
	route  *access.Route   // that the user sees, nil for none
	stored *store.Scenario // nil for none
}

// scenarioAt looks up a scenario by the name of its route: that of the route if by sees
// it and it has one, else the one of by that waits.
func (e *base) scenarioAt(r store.Reader, by identity.Principal, name string) (*scenarioPlace, error) {
	at := &scenarioPlace{name: name}
	row, info, err := e.routeNamed(r, name)
	if err != nil {
		return nil, err
	}
	if row != nil && e.rights.SeesRoute(by, info) {
		at.name, at.row, at.route = row.Name, row, info
		if at.stored, err = store.OrNil(r.Routes().Scenarios().OfRoute(row.ID)); err != nil || at.stored != nil {
			return at, err
		}
	}
	if at.stored, err = store.OrNil(r.Routes().Scenarios().Waiting(by.ID, name)); at.stored != nil && at.route == nil {
		at.name = at.stored.Route
	}
	return at, err
}

func (at *scenarioPlace) resource() *Resource {
	s := at.stored
	return &Resource{
		Name: at.name, Seq: s.ID, Source: s.Source, SourceETag: s.ETag, SourceSize: s.SourceSize, YAML: s.YAML,
		Created: s.Created, Modified: s.Modified, Own: true, Lock: store.ScenarioKey(s.ID),
	}
}

func (at *scenarioPlace) version() Version {
	if at.stored == nil {
		return Version{}
	}
	return Version{Exists: true, ETag: at.stored.ETag, Modified: at.stored.Modified}
}

func (at *scenarioPlace) scope() change.LockScope {
	if at.stored == nil {
		return change.LockScope{}
	}
	return change.ScopeOf(store.ScenarioKey(at.stored.ID))
}

// waits reports whether the scenario is one that waits for a route.
func (at *scenarioPlace) waits() bool { return at.stored != nil && at.stored.RouteID == 0 }

// mayChange returns why by may not change the scenario there, nil if by may: who may
// change the route may change its scenario, and everyone has what waits for themself.
func (e *base) mayChangeScenario(by identity.Principal, at *scenarioPlace) error {
	if at.route != nil && !e.rights.Administers(by, at.route) {
		return errs.New(errs.NotAllowed, "Only the route's administrators may change its scenario.")
	}
	return nil
}

// runForm is what is shown of a scenario: when it held last, with which version of its
// route. Log is shown by dry runs alone.
type runForm struct {
	Href         string  `json:"href"`
	Title        string  `json:"title"`
	Played       *string `json:"played"`
	Version      int64   `json:"version,omitempty"`
	Result       *string `json:"result"`
	Steps        int64   `json:"steps"`
	Expectations int64   `json:"expectations"`
	Log          string  `json:"log,omitempty"`
}

// resultHolds is the result of a stored scenario that was played: others are refused.
const resultHolds = "holds"

func formOfRun(name string, s *store.Scenario, log string) runForm {
	f := runForm{Href: href("Workflow", "Routes", scenarioName(name, s.YAML)), Title: s.Title, Log: log}
	if !s.Played.IsZero() {
		played, result := s.Played.UTC().Format(time.RFC3339), resultHolds
		f.Played, f.Result, f.Version, f.Steps, f.Expectations = &played, &result, s.Version, s.Steps, s.Expectations
	}
	return f
}

// shownRoute returns the complete form of a route with that of its scenario, nil for
// none, and the entity tag of that form.
func shownRoute(row *store.Route, s *store.Scenario, log string) (form []byte, etag string) {
	etag = routeETag(row.ID, row.Version)
	if s == nil {
		return row.Form, etag
	}
	run := document.Line(formOfRun(row.Name, s, log))
	sum := sha256.Sum256(run)
	return document.WithMember(row.Form, "scenario", run), fmt.Sprintf("%s%x\"", definitionWithScenario(row), sum[:4])
}

// definitionWithScenario begins the entity tags of the form of a route with a scenario.
func definitionWithScenario(row *store.Route) string {
	return `"r` + strconv.FormatInt(row.ID, 10) + "-" + strconv.FormatInt(row.Version, 10) + "."
}

// playedNow notes how a scenario went at the instant, with that version of its route.
// p is nil if it was not played.
func playedNow(s *store.Scenario, p *Played, version int64, now time.Time) {
	s.Played, s.Version, s.Steps, s.Expectations = time.Time{}, 0, 0, 0
	if p != nil {
		s.Played, s.Version, s.Steps, s.Expectations = now, version, p.Steps, p.Expectations
	}
}

// unplayed warns of a scenario that this server did not play.
const unplayed = "The scenario was stored, but not played: this server cannot play scenarios."
