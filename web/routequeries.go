package web

import (
	"context"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// RouteQueries are what the pages of routes read.
type RouteQueries interface {
	// RouteNames returns the names of the routes that by sees.
	RouteNames(by identity.Principal) []string
	// Routes returns the routes that by sees, by id; q is in their names and titles.
	Routes(ctx context.Context, by identity.Principal, inContext, q string) ([]engine.Resource, error)
	// MayStart reports whether by may start cases of a route.
	MayStart(by identity.Principal, name string) bool
	// Board returns the states of the board of a route, with those that are shown.
	Board(ctx context.Context, by identity.Principal, name string) ([]engine.BoardState, error)
	// StateCounts counts the newest cases of a route that by sees, by state.
	StateCounts(ctx context.Context, by identity.Principal, name string) (*engine.StateCounts, error)
	// OpenOfRoutes counts the open cases of routes that by sees, by the id of the route.
	OpenOfRoutes(ctx context.Context, by identity.Principal, routes []int64) (map[int64]store.OpenCount, error)
	// Report returns what became of the cases of a route that by sees.
	Report(ctx context.Context, by identity.Principal, name string) (*engine.Report, error)
	// RoutePicture returns the current version of a route, and its picture.
	RoutePicture(ctx context.Context, by identity.Principal, name string) (*engine.Drawn, error)
	// Route returns a route as the drive has it.
	Route(ctx context.Context, by identity.Principal, name string) (*engine.Resource, error)
	// RouteOverview returns a route with what there is about it, all of one moment.
	RouteOverview(ctx context.Context, by identity.Principal, name string) (*engine.RouteOverview, error)
	// RouteTexts returns versions of a route, in the order of their numbers.
	RouteTexts(ctx context.Context, by identity.Principal, name string, versions ...int64) ([]engine.RouteText, error)
	// RouteHooks returns the hooks of a route: none for those who do not administer it.
	RouteHooks(ctx context.Context, by identity.Principal, name string) ([]engine.Resource, error)
}

// Routes implements RouteQueries.
func (q queries) Routes(ctx context.Context, by identity.Principal, inContext, query string) ([]engine.Resource, error) {
	return q.engine.Routes.Routes(ctx, by, engine.Filter{Context: inContext, Query: query})
}

// MayStart implements RouteQueries.
func (q queries) MayStart(by identity.Principal, name string) bool {
	return q.engine.Routes.MayStart(by, name)
}

// Board implements RouteQueries.
func (q queries) Board(ctx context.Context, by identity.Principal, name string) ([]engine.BoardState, error) {
	return q.engine.Cases.Board(ctx, by, name)
}

// StateCounts implements RouteQueries.
func (q queries) StateCounts(ctx context.Context, by identity.Principal, name string) (*engine.StateCounts, error) {
	return q.engine.Cases.StateCounts(ctx, by, name)
}

// OpenOfRoutes implements RouteQueries.
func (q queries) OpenOfRoutes(ctx context.Context, by identity.Principal, routes []int64) (map[int64]store.OpenCount, error) {
	return q.engine.Cases.OpenOfRoutes(ctx, by, routes)
}

// Report implements RouteQueries.
func (q queries) Report(ctx context.Context, by identity.Principal, name string) (*engine.Report, error) {
	return q.engine.Cases.Report(ctx, by, name)
}

// RoutePicture implements RouteQueries.
func (q queries) RoutePicture(ctx context.Context, by identity.Principal, name string) (*engine.Drawn, error) {
	return q.engine.Pictures.OfRoute(ctx, by, name, 0)
}

// RouteOverview implements RouteQueries.
func (q queries) RouteOverview(ctx context.Context, by identity.Principal, name string) (*engine.RouteOverview, error) {
	return q.engine.Pictures.Overview(ctx, by, name)
}

// RouteTexts implements RouteQueries.
func (q queries) RouteTexts(ctx context.Context, by identity.Principal, name string, versions ...int64) ([]engine.RouteText, error) {
	return q.engine.Pictures.VersionTexts(ctx, by, name, versions...)
}

// RouteHooks implements RouteQueries.
func (q queries) RouteHooks(ctx context.Context, by identity.Principal, name string) ([]engine.Resource, error) {
	hooks, err := q.engine.Hooks.Hooks(ctx, by, name)
	if errs.KindOf(err) == errs.NotFound {
		return nil, nil
	}
	return hooks, err
}

// Route implements RouteQueries.
func (q queries) Route(ctx context.Context, by identity.Principal, name string) (*engine.Resource, error) {
	return q.engine.Routes.Route(ctx, by, name)
}
