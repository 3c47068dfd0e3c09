package web

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/route"
)

// EngineQueries returns what the pages read as one engine has it.
func EngineQueries(e *engine.Engine) Queries {
	q := queries{e}
	return Queries{q, q, q, q, q}
}

type queries struct{ engine *engine.Engine }

// Person implements PeopleQueries.
func (q queries) Person(name string) Person {
	p := q.engine.Accounts.Table().Directory().ByName(identity.Name(name))
	if p == nil {
		return Person{Name: name}
	}
	return q.called(p)
}

// called returns a user or team as people are shown it.
func (q queries) called(p *identity.Party) Person {
	out := Person{Name: string(p.Name), Team: p.Kind == identity.Team}
	if t := q.engine.Accounts.Table(); p.FullName != "" && t.ByID(p.ID) != nil {
		out.FullName = t.Called(t.ByID(p.ID))
	}
	return out
}

// ZoneOf implements PeopleQueries.
func (q queries) ZoneOf(by identity.Principal) (*time.Location, bool) {
	return q.engine.Cases.ZoneOf(by)
}

// TaskLoad implements CaseQueries.
func (q queries) TaskLoad(ctx context.Context, by identity.Principal) (TaskLoad, error) {
	cases, err := q.engine.Worklists.TaskCases(ctx, by)
	if err != nil {
		return TaskLoad{}, err
	}
	var load TaskLoad
	now := q.engine.Clock.Now()
	for _, c := range cases {
		on, due, _ := c.On(engine.WorklistOffered, "")
		on = on && c.Waits(engine.WorklistOffered)
		if !on {
			continue
		}
		load.Offered++
		if !due.IsZero() && !due.After(now) {
			load.Overdue++
		}
	}
	return load, nil
}

// People implements PeopleQueries.
func (q queries) People() (out []Person) {
	for _, p := range q.engine.Accounts.Table().Directory().Parties() {
		if p.Kind == identity.User && !p.Disabled {
			out = append(out, q.called(p))
		}
	}
	slices.SortFunc(out, func(a, b Person) int { return strings.Compare(identity.Fold(a.Name), identity.Fold(b.Name)) })
	return out
}

// Parties implements PeopleQueries.
func (q queries) Parties() []Person {
	out := q.People()
	for _, p := range q.engine.Accounts.Table().Directory().Parties() {
		if p.Kind == identity.Team {
			out = append(out, Person{Name: string(p.Name), Team: true})
		}
	}
	return out
}

// Pickable implements PeopleQueries.
func (q queries) Pickable(by identity.Principal, r *route.Route, role string) []Person {
	return slices.DeleteFunc(q.Parties(), func(p Person) bool { return !q.engine.Cases.MayPick(by, r, role, p.Name) })
}

// FirstSteps implements PeopleQueries.
func (q queries) FirstSteps(ctx context.Context, by identity.Principal) (out FirstSteps, err error) {
	accounts := q.engine.Accounts
	asked := true
	if team := accounts.Table().Directory().ByName(exampleTeam); team != nil {
		out.Team, asked = true, len(team.Members) > 0
	}
	for _, p := range accounts.Table().Directory().Parties() {
		if p.Kind == identity.User && !p.Disabled && p.ID != by.ID {
			out.People = asked
			out.Came = out.Came || len(accounts.Sessions(p.ID, "")) > 0
		}
	}
	page, err := q.engine.Cases.NewestCases(ctx, by, engine.NewestQuery{Limit: 2})
	if err != nil {
		return out, err
	}
	out.Cases = len(page.Cases)
	return out, nil
}

// Contexts implements PeopleQueries.
func (q queries) Contexts(by identity.Principal) (out []string) {
	for _, name := range by.ContextNames() {
		out = append(out, string(name))
	}
	slices.Sort(out)
	return out
}

// Watched implements PeopleQueries.
func (q queries) Watched(by identity.Principal) []string {
	if p := q.engine.Accounts.Table().ByID(by.ID); p != nil {
		return p.Watch
	}
	return nil
}

// InContext implements PeopleQueries.
func (q queries) InContext(by identity.Principal, name string) func(identity.ID) bool {
	switch name {
	case "":
		return nil
	case "mine":
		return by.In
	}
	wanted := identity.ID(0)
	if p := q.engine.Accounts.Table().Directory().ByName(identity.Name(name)); p != nil {
		wanted = p.ID
	} else if id, err := strconv.ParseInt(name, 10, 64); err == nil {
		wanted = identity.ID(id)
	}
	return func(id identity.ID) bool { return wanted != 0 && id == wanted }
}

// TaskCases implements CaseQueries.
func (q queries) TaskCases(ctx context.Context, by identity.Principal) ([]*engine.TaskCase, error) {
	return q.engine.Worklists.TaskCases(ctx, by)
}

// CaseViews implements CaseQueries.
func (q queries) CaseViews(ctx context.Context, by identity.Principal, ids []int64) ([]*engine.CaseView, error) {
	return q.engine.Cases.CaseViews(ctx, by, ids)
}

// CaseDetail implements CaseQueries.
func (q queries) CaseDetail(ctx context.Context, by identity.Principal, id int64, room engine.LogRoom) (*engine.CaseDetail, error) {
	return q.engine.Cases.CaseDetail(ctx, by, id, room)
}

// NewestCases implements CaseQueries.
func (q queries) NewestCases(ctx context.Context, by identity.Principal, query engine.NewestQuery) (*engine.NewestPage, error) {
	return q.engine.Cases.NewestCases(ctx, by, query)
}

// LifeCounts implements CaseQueries.
func (q queries) LifeCounts(ctx context.Context, by identity.Principal) (counts map[machine.Life]int, all bool, err error) {
	return q.engine.Cases.LifeCounts(ctx, by)
}

// RouteNames implements RouteQueries.
func (q queries) RouteNames(by identity.Principal) []string { return q.engine.Cases.RouteNames(by) }

// CasePicture implements CaseQueries.
func (q queries) CasePicture(ctx context.Context, by identity.Principal, id int64, room engine.LogRoom) (*engine.Drawn, error) {
	return q.engine.Pictures.OfCase(ctx, by, id, room)
}
