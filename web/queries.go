package web

import (
	"context"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/account"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/route"
)

// Queries are what the pages read, each under the rights of by: what by may not see is
// errs.NotFound, or is not in a list.
type Queries struct {
	PeopleQueries
	CaseQueries
	DocumentQueries
	RouteQueries
	ScheduleQueries
}

// PeopleQueries read who there is, and what somebody belongs to.
type PeopleQueries interface {
	// Person returns a user or team; of a name that nobody has it is that name.
	Person(name string) Person
	PersonByID(id identity.ID) Person
	// People returns the users who are not disabled, by name.
	People() []Person
	// Parties returns them, and the teams.
	Parties() []Person
	// Pickable returns whom by may put into a role of the route at the start of a case.
	Pickable(by identity.Principal, r *route.Route, role string) []Person
	// FirstSteps returns how far a server is that is new; by administers it.
	FirstSteps(ctx context.Context, by identity.Principal) (FirstSteps, error)
	// ZoneOf returns the time zone of what by reads. own says that by has chosen it.
	ZoneOf(by identity.Principal) (zone *time.Location, own bool)
	// Contexts returns the names of what by is in.
	Contexts(by identity.Principal) []string
	// InContext returns what reports whether something belongs to the context: a
	// name, an id, or "mine". It is nil of "".
	InContext(by identity.Principal, name string) func(identity.ID) bool
	// Watched returns the names of the routes that by watches.
	Watched(by identity.Principal) []string
	// TeamsLed returns the names of the teams whose open tasks by is shown.
	TeamsLed(by identity.Principal) []string
	// Sessions returns the sessions of by; token is that of the one that asks.
	Sessions(by identity.Principal, token string) []account.Session
}

// CaseQueries read cases and their tasks.
type CaseQueries interface {
	// TaskLoad returns how many cases wait for by.
	TaskLoad(ctx context.Context, by identity.Principal) (TaskLoad, error)
	// TaskCases returns the cases in which by has tasks, by id.
	TaskCases(ctx context.Context, by identity.Principal) ([]*engine.TaskCase, error)
	// CaseViews returns those of the cases that by sees, in the order of the ids.
	CaseViews(ctx context.Context, by identity.Principal, ids []int64) ([]*engine.CaseView, error)
	// CaseDetail returns a case with what belongs to it.
	CaseDetail(ctx context.Context, by identity.Principal, id int64, room engine.LogRoom) (*engine.CaseDetail, error)
	// CasePicture returns the picture of a case.
	CasePicture(ctx context.Context, by identity.Principal, id int64, room engine.LogRoom) (*engine.Drawn, error)
	// NewestCases returns the cases that by sees, the newest first.
	NewestCases(ctx context.Context, by identity.Principal, q engine.NewestQuery) (*engine.NewestPage, error)
	// LifeCounts counts by life the newest cases that by may see; all says that there
	// are no others.
	LifeCounts(ctx context.Context, by identity.Principal) (counts map[machine.Life]int, all bool, err error)
}
