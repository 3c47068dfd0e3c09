package web

import (
	"context"

	"flowdrive/engine"
	"flowdrive/internal/identity"
)

// RouteQueries are what the pages of routes read.
type RouteQueries interface {
	// Routes returns the routes that by sees, by id; q is in their names and titles.
	Routes(ctx context.Context, by identity.Principal, inContext, q string) ([]engine.Resource, error)
	// MayStart reports whether by may start cases of a route.
	MayStart(by identity.Principal, name string) bool
	// Board returns the states of the board of a route, with those that are shown.
	Board(ctx context.Context, by identity.Principal, name string) ([]engine.BoardState, error)
	// AdministersRoute reports whether by may change a route.
	AdministersRoute(by identity.Principal, name string) bool
	// RouteVersion returns a version of a route, and its picture.
	RouteVersion(ctx context.Context, by identity.Principal, name string, version int64) (*engine.Drawn, error)
	// Report returns what became of the cases of a route that by sees.
	Report(ctx context.Context, by identity.Principal, name string) (*engine.Report, error)
	// RoutePicture returns the current version of a route, and its picture.
	RoutePicture(ctx context.Context, by identity.Principal, name string) (*engine.Drawn, error)
	// RouteVersions returns all versions of a route, the first one first.
	RouteVersions(ctx context.Context, by identity.Principal, name string) ([]engine.Resource, error)
	// Route returns a route as the drive has it.
	Route(ctx context.Context, by identity.Principal, name string) (*engine.Resource, error)
}

// Routes implements Queries.
func (q queries) Routes(ctx context.Context, by identity.Principal, inContext, query string) ([]engine.Resource, error) {
	return q.engine.Routes.Routes(ctx, by, engine.Filter{Context: inContext, Query: query})
}

// MayStart implements Queries.
func (q queries) MayStart(by identity.Principal, name string) bool {
	return q.engine.Routes.MayStart(by, name)
}

// Board implements Queries.
func (q queries) Board(ctx context.Context, by identity.Principal, name string) ([]engine.BoardState, error) {
	return q.engine.Cases.Board(ctx, by, name)
}

// AdministersRoute implements Queries.
func (q queries) AdministersRoute(by identity.Principal, name string) bool {
	return q.engine.Routes.Administers(by, name)
}

// RouteVersion implements Queries.
func (q queries) RouteVersion(ctx context.Context, by identity.Principal, name string, version int64) (*engine.Drawn, error) {
	return q.engine.Pictures.OfRoute(ctx, by, name, version)
}

// Report implements Queries.
func (q queries) Report(ctx context.Context, by identity.Principal, name string) (*engine.Report, error) {
	return q.engine.Cases.Report(ctx, by, name)
}

// RoutePicture implements Queries.
func (q queries) RoutePicture(ctx context.Context, by identity.Principal, name string) (*engine.Drawn, error) {
	return q.engine.Pictures.OfRoute(ctx, by, name, 0)
}

// RouteVersions implements Queries.
func (q queries) RouteVersions(ctx context.Context, by identity.Principal, name string) ([]engine.Resource, error) {
	return q.engine.Routes.RouteVersions(ctx, by, name)
}

// Route implements Queries.
func (q queries) Route(ctx context.Context, by identity.Principal, name string) (*engine.Resource, error) {
	return q.engine.Routes.Route(ctx, by, name)
}
