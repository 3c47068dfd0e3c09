package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/engine/picture"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/route/diagram"
	"flowdrive/store"
)

// Pictures has the pictures of routes and cases.
type Pictures struct {
	*base
	decider *decider

	mu    sync.Mutex
	drawn map[versionKey]*diagram.Picture
}

// mostDrawn is how many pictures are kept; most servers have fewer routes.
const mostDrawn = 256

// Drawn is a picture, and how a case stands in it. Marks are nil for a route.
type Drawn struct {
	Picture           *diagram.Picture
	Route             *route.Route // the version that is drawn
	Version           int64
	Marks             *diagram.Marks
	Created, Modified time.Time
}

// OfRoute returns the picture of a route, of the given version or the current one if
// that is 0. Errors: errs.NotFound if by may not see the route, or if it has no such
// version.
func (e *Pictures) OfRoute(ctx context.Context, by identity.Principal, name string, version int64) (*Drawn, error) {
	info := e.rights.Visible(by, name)
	if info == nil {
		return nil, change.Absent("route")
	}
	if version == 0 {
		version = info.Version
	}
	var out *Drawn
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		out, err = e.version(r, info, version)
		return err
	})
	return out, err
}

// version returns the picture of a version of a route. Errors: errs.NotFound.
func (e *Pictures) version(r store.Reader, info *access.Route, version int64) (*Drawn, error) {
	stored, err := store.OrNil(r.Routes().Version(info.ID, version))
	if err != nil {
		return nil, err
	}
	if stored == nil {
		return nil, change.Absent("version")
	}
	compiled, err := e.versions.get(r, info.ID, version)
	if err != nil {
		return nil, err
	}
	return &Drawn{
		Picture: e.of(versionKey{info.ID, version}, compiled), Route: compiled, Version: version,
		Created: stored.Created, Modified: stored.Created,
	}, nil
}

// OfCase returns the picture of a case's route with the marks of the case. Errors:
// errs.NotFound if by may not see the case.
func (e *Pictures) OfCase(ctx context.Context, by identity.Principal, id int64, room LogRoom) (*Drawn, error) {
	if _, err := room.weighed(ctx, e.base, by, Ref{CaseID: id}, logWeightOf); err != nil {
		return nil, err
	}
	var h *loadedCase
	var stored []byte
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		if h, err = e.decider.loadCase(r, by, Ref{CaseID: id}); err != nil {
			return err
		}
		stored, err = r.Cases().Log(id)
		return err
	})
	if err != nil {
		return nil, err
	}
	c := picture.Case{Case: h.core, Route: h.route.Compiled}
	if err := json.Unmarshal(stored, &c.Log); err != nil {
		return nil, errs.Wrap(fmt.Sprintf("read the log of case %d", id), err)
	}
	drawn := e.of(versionKey{h.core.RouteID, h.core.RouteVersion}, h.route.Compiled)
	c.Rows = drawn.Graph().Rows
	return &Drawn{
		Picture: drawn, Route: h.route.Compiled, Version: h.core.RouteVersion, Marks: c.Marks(),
		Created: h.row.Created, Modified: h.row.Modified,
	}, nil
}

// of returns the picture of a version, which is drawn once.
func (e *Pictures) of(key versionKey, compiled *route.Route) *diagram.Picture {
	e.mu.Lock()
	p := e.drawn[key]
	e.mu.Unlock()
	if p != nil {
		return p
	}
	p = diagram.Draw(diagram.Of(compiled))
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.drawn == nil || len(e.drawn) >= mostDrawn {
		e.drawn = map[versionKey]*diagram.Picture{}
	}
	e.drawn[key] = p
	return p
}
