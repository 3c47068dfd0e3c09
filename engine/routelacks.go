package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"flowdrive/engine/access"
	"flowdrive/engine/status"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// A route was stored when all that it names was there. An administrator may have removed a
// command, a host or a secret from the settings since, and only a case would find that out.

// lacking finds what routes name and the settings lack.
type lacking struct{ *base }

// of returns what a route names that the settings lack now.
func (e lacking) of(r store.Reader, info *access.Route) ([]errs.Fault, error) {
	used, err := e.use(r, info)
	if err != nil {
		return nil, err
	}
	reaches := used.Compiled.Reaches()
	return append(e.reach.Check(reaches), e.reach.Warn(secretAuthors(e).ofRoute(info), reaches)...), nil
}

// lack is something that the route of that name names and the settings lack.
type lack struct {
	route string
	errs.Fault
}

// all returns what all routes name that the settings lack now, by route.
func (e lacking) all(ctx context.Context) (all []lack, err error) {
	err = e.Store.View(ctx, func(r store.Reader) error {
		for _, info := range e.rights.Routes() {
			of, err := e.of(r, info)
			if err != nil {
				return err
			}
			for _, fault := range of {
				all = append(all, lack{info.Name, fault})
			}
		}
		return nil
	})
	return all, err
}

// SettingsRead says that the settings were read again: Again looks then whether they have
// what routes name.
func (e *Server) SettingsRead() { e.looked.Store(false) }

// lookAtRoutes notes which routes name what the settings lack, or that none does any more.
// It looks once after the settings were read. As long as something is missing it looks each
// time, because a route may have been changed or deleted.
func (e *Server) lookAtRoutes(ctx context.Context) error {
	var known *serverRecord
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		known, err = readServerRecord(r, ServerRoutes)
		return err
	})
	if err != nil || known == nil && e.looked.Load() {
		return err
	}
	e.looked.Store(true) // settings that are read from here on are looked at again
	all, err := lacking{e.base}.all(ctx)
	if err == nil {
		e.logLacks(all)
	}
	if text := lacksText(all); err == nil && (known == nil && text != "" || known != nil && text != known.Text) {
		err = e.Note(ctx, ServerRoutes, text)
	}
	if err != nil {
		e.looked.Store(false)
	}
	return err
}

// lacksText names the first of what routes name and the settings lack. It returns "" if there
// is nothing.
func lacksText(all []lack) string {
	const most = 5
	lines := make([]string, 0, most+1)
	for i := range all {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(all)-most))
			break
		}
		lines = append(lines, fmt.Sprintf("%s (route %s, %s)", all[i].Detail, all[i].route, all[i].Pointer))
	}
	return strings.Join(lines, "; ")
}

// lateRoutes adds the routes that name what the settings lack.
func (l *statusLook) lateRoutes(r store.Reader, late *status.Late) error {
	for _, info := range l.rights.Routes() {
		if !l.rights.Administers(l.by, info) {
			continue
		}
		lacks, err := lacking{l.base}.of(r, info)
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

// logLacks writes to the log which routes name what the settings lack, each time that this is
// not what it has written last.
func (e *Server) logLacks(all []lack) {
	if slices.Equal(all, e.logged) {
		return
	}
	e.logged = all
	for i := range all {
		e.log.Warn().Str("route", all[i].route).Str("at", all[i].Pointer).Msg("settings: a route names what they lack: " + all[i].Detail)
	}
}
