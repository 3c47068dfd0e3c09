package engine

import (
	"context"

	"flowdrive/engine/access"
	"flowdrive/engine/status"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// A route was stored when all that it names was there. An administrator may have removed a
// command, a host or a secret from the settings since, and only a case would find that out.

// lacksOf returns what a route names that the settings lack now.
func (e *base) lacksOf(r store.Reader, info *access.Route) ([]errs.Fault, error) {
	used, err := e.use(r, info)
	if err != nil {
		return nil, err
	}
	reaches := used.Compiled.Reaches()
	return append(e.reach.Check(reaches), e.reach.Warn(reaches)...), nil
}

// lateRoutes adds the routes that name what the settings lack.
func (l *statusLook) lateRoutes(r store.Reader, late *status.Late) error {
	for _, info := range l.rights.Routes() {
		if !l.rights.Administers(l.by, info) {
			continue
		}
		lacks, err := l.lacksOf(r, info)
		if err != nil {
			return err
		}
		if len(lacks) == 0 {
			continue
		}
		stored, err := r.Routes().Get(info.ID)
		if err != nil {
			return err
		}
		for i := range lacks {
			late.Others = append(late.Others, status.Other{
				Kind: status.OtherRoute, Name: info.Name, Path: "/routes/" + info.Name, Since: stored.Modified,
				Text: lacks[i].Pointer + ": " + lacks[i].Detail,
			})
		}
	}
	return nil
}

// logLacks writes to the log which routes name what the settings lack.
func (e *Engine) logLacks(ctx context.Context) {
	err := e.Store.View(ctx, func(r store.Reader) error {
		for _, info := range e.rights.Routes() {
			lacks, err := e.lacksOf(r, info)
			if err != nil {
				return err
			}
			for i := range lacks {
				e.log.Warn().Str("route", info.Name).Str("at", lacks[i].Pointer).Msg("settings: a route names what they lack: " + lacks[i].Detail)
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		e.log.Error().Err(err).Msg("settings: what routes name could not be looked at")
	}
}
