package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/net/webdav"
)

// cleanup is what must be undone, the last first.
type cleanup []func() error

func (c *cleanup) add(undo func() error) { *c = append(*c, undo) }

// run undoes all, and adds to err what fails.
func (c *cleanup) run(err *error) {
	for i := len(*c) - 1; i >= 0; i-- {
		*err = errors.Join(*err, (*c)[i]())
	}
}

// serve starts a whole server on the data folder, and opens as many connections
// to it as there are callers.
func (r *run) serve(ctx context.Context, data string, undo *cleanup) (conns []*connection, err error) {
	addr, stop, err := serveInProcess(data)
	if err != nil {
		return nil, err
	}
	undo.add(stop)
	return dialAll(ctx, addr, undo)
}

// serveOther does the same for a handler to compare with.
func serveOther(ctx context.Context, h http.Handler, undo *cleanup) ([]*connection, error) {
	s := httptest.NewServer(h)
	undo.add(func() error { s.Close(); return nil })
	return dialAll(ctx, s.Listener.Addr().String(), undo)
}

func dialAll(ctx context.Context, addr string, undo *cleanup) ([]*connection, error) {
	conns, err := dial(ctx, addr, callers)
	if err == nil {
		undo.add(func() error { return hangUp(conns) })
	}
	return conns, err
}

// skipped is the row of a figure that needs something that the run was not
// given.
func skipped(work, why string) []Row { return []Row{{Work: work, Verdict: Skipped, Note: why}} }

// schedulePath is where an entry is made that the server names.
const schedulePath = "/dav/Workflow/Schedule/request"

const workPut = "PUT of a schedule entry, 32 connections"

// measurePut is P4: PUT of schedule entries, and of the same bytes to plain
// x/net/webdav over a folder, which does not wait for the disk.
func measurePut(ctx context.Context, r *run) (_ []Row, err error) {
	var undo cleanup
	defer undo.run(&err)
	data, body, err := r.scheduleFolder(ctx)
	if err != nil {
		return nil, err
	}
	ours, err := r.serve(ctx, data, &undo)
	if err != nil {
		return nil, err
	}
	files, err := r.folder("webdav")
	if err != nil {
		return nil, err
	}
	theirs, err := serveOther(ctx, withBasic(&webdav.Handler{
		Prefix: "/dav", FileSystem: webdav.Dir(files), LockSystem: webdav.NewMemLS(),
	}), &undo)
	if err != nil {
		return nil, err
	}
	var names atomic.Int64
	got, err := r.alternate(ctx,
		side{"flowdrive", puts(ours, body), restOf(data)},
		side{"webdav", func(ctx context.Context, d time.Duration) (sample, error) {
			folder := fmt.Sprint(names.Add(1))
			if err := os.Mkdir(filepath.Join(files, folder), 0o700); err != nil {
				return sample{}, err
			}
			return load(ctx, callers, d, func(_ context.Context, caller int) error {
				return theirs[caller].do(http.MethodPut, fmt.Sprintf("/dav/%s/%d.json", folder, names.Add(1)), body, http.StatusCreated)
			})
		}, nil})
	if err != nil {
		return nil, err
	}
	return []Row{
		atLeast(workPut, rates(got[0]), rates(got[1]), 0.5).
			noted("durable; %s; the limit is plain x/net/webdav over a folder, which is not: %s", describe(got[0]), describe(got[1])),
	}, nil
}

// puts lets each connection put schedule entries.
func puts(conns []*connection, body []byte) round {
	return func(ctx context.Context, d time.Duration) (sample, error) {
		return load(ctx, len(conns), d, func(_ context.Context, caller int) error {
			return conns[caller].do(http.MethodPut, schedulePath, body, http.StatusCreated)
		})
	}
}

// scheduleFolder makes a data folder, and returns it with the document of a
// schedule entry.
func (r *run) scheduleFolder(ctx context.Context) (data string, body []byte, err error) {
	if data, err = r.folder("schedule"); err != nil {
		return "", nil, err
	}
	h, err := openHouse(ctx, data, houseOptions{})
	if err != nil {
		return "", nil, err
	}
	body, err = h.entryDocument(ctx)
	return data, body, errors.Join(err, h.close())
}

// entryDocument is the document of a schedule entry that is due when
// everything is over.
func (h *house) entryDocument(ctx context.Context) ([]byte, error) {
	res, err := h.engine.Routes.Route(ctx, h.by, routeAuto)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"routeId":%d,"priority":300,"repeat":1,"type":"interval","days":2}`, res.Seq), nil
}

// withBasic asks for the caller's password, as every server would.
func withBasic(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, pass, ok := r.BasicAuth(); !ok || user != caller || pass != password {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

const workGet = "GET of a case, 32 connections"

// measureGet is P5: GET of a case, and of a handler that says hello.
func measureGet(ctx context.Context, r *run) (_ []Row, err error) {
	var undo cleanup
	defer undo.run(&err)
	o, err := r.furnish(ctx, r.cases, kind{route: routeMany})
	if err != nil {
		return nil, err
	}
	ours, err := r.serve(ctx, o.data, &undo)
	if err != nil {
		return nil, err
	}
	theirs, err := serveOther(ctx, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "Hello, world!\n") // the client has gone
	}), &undo)
	if err != nil {
		return nil, err
	}
	got, err := r.alternate(ctx,
		side{"flowdrive", o.gets(ours), nil},
		side{"hello", func(ctx context.Context, d time.Duration) (sample, error) {
			return load(ctx, callers, d, func(_ context.Context, caller int) error {
				return theirs[caller].do(http.MethodGet, "/", nil, http.StatusOK)
			})
		}, nil})
	if err != nil {
		return nil, err
	}
	return []Row{
		atLeast(workGet, rates(got[0]), rates(got[1]), 0.35).
			noted("of %s cases; %s; the limit is net/http that says hello: %s", plain(float64(o.n)), describe(got[0]), describe(got[1])),
	}, nil
}
