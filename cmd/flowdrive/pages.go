package main

import (
	"context"
	"net/http"
	"time"

	"flowdrive/internal/identity"
	"flowdrive/server"
	"flowdrive/web"
)

// openPages gives the server the pages.
func (a *app) openPages(cfg *server.Config) error {
	links, err := a.settings.links()
	if err != nil {
		return err
	}
	cfg.Sessions, cfg.Links = a.engine.Accounts, links
	if a.provider, err = a.openSignOn(); err != nil {
		return err
	}
	pages := web.Config{
		Queries: web.EngineQueries(a.engine), Drive: cfg.Drive, Log: a.log, Links: links, Sandbox: a.sandbox != nil, Clock: cfg.Clock, Metrics: cfg.Metrics,
		Now: a.clock.Now, Wall: a.wall, Begin: stopwatch, Zone: a.zones.Zone, Weigh: server.Weigh,
		LogIn: func(ctx context.Context, name, password string) (identity.Principal, error) {
			return a.server.LogIn(ctx, name, password)
		},
		Prove: func(ctx context.Context, by identity.Principal, check func() error) error {
			return a.server.Prove(ctx, by, check)
		},
		Sessions: a.engine.Accounts, Factors: a.engine.Accounts, Principal: server.PrincipalOf, RequestID: server.RequestID,
		Status: server.Status, Title: server.Title, Cookie: server.SessionCookie,
		Token: func(r *http.Request) string { return server.SessionToken(links, r) },
	}
	if a.provider != nil {
		pages.SignOn = a.provider
	}
	cfg.Pages, err = web.New(pages)
	return err
}

// stopwatch begins to measure. The clocks that are set meanwhile do not matter to it.
func stopwatch() (elapsed func() time.Duration) {
	begun := time.Now()
	return func() time.Duration { return time.Since(begun) }
}
