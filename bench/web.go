package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// serve starts the server of the configuration, and opens as many connections
// to it as there are callers.
func (r *run) serve(ctx context.Context, data string, undo *cleanup) (conns []*connection, err error) {
	var addr string
	var stop func() error
	as(ctx, "flowdrive", func(context.Context) { addr, stop, err = r.Serve(data) })
	if err != nil {
		return nil, err
	}
	undo.add(stop)
	return dialAll(ctx, addr, undo)
}

// serveOther does the same for a handler to compare with.
func serveOther(ctx context.Context, h http.Handler, undo *cleanup) ([]*connection, error) {
	addr, stop, err := serveHTTP(ctx, h)
	if err != nil {
		return nil, err
	}
	undo.add(stop)
	return dialAll(ctx, addr, undo)
}

func dialAll(ctx context.Context, addr string, undo *cleanup) ([]*connection, error) {
	conns, err := dial(ctx, addr, callers)
	if err == nil {
		undo.add(func() error { return hangUp(conns) })
	}
	return conns, err
}

// skipped is the row of what needs something that the run was not given.
func skipped(work, why string) []Row { return []Row{{Work: work, Verdict: Skipped, Note: why}} }

const noServer = "there is no server in this process"

// restServer waits until a server's store has used a quiet moment.
func restServer(ctx context.Context) { pause(ctx, 1500*time.Millisecond) }

// office is a data folder with open cases, on each of which an action can be
// performed for ever.
type office struct {
	data  string
	cases []int64
	note  *series // the unit of such an action
	noted int64   // how many there were on the first case while it was learnt
}

// furnish makes the folder.
func (r *run) furnish(ctx context.Context) (_ *office, err error) {
	o := &office{cases: make([]int64, r.cases), noted: 3}
	if o.data, err = r.folder("office"); err != nil {
		return nil, err
	}
	rec := &recorder{}
	h, err := openHouse(ctx, o.data, houseOptions{wrap: rec.over})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	err = parallel(ctx, 2*callers, r.cases, func(ctx context.Context, i int) (err error) {
		o.cases[i], err = h.startCase(ctx, routeMany)
		return err
	})
	if err != nil {
		return nil, err
	}
	units, err := rec.record(func() error {
		for range o.noted {
			if err := h.perform(ctx, o.cases[0], "note"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if int64(len(units)) != o.noted {
		return nil, fmt.Errorf("%d actions take %d commits", o.noted, len(units))
	}
	o.note, err = seriesOf(units)
	return o, err
}

const workPut = "PUT of a schedule entry, 32 connections"

// measurePut is P4: PUT of schedule entries, and of the same bytes to plain
// x/net/webdav over a folder, which does not wait for the disk. It is over
// before the first of the entries is due.
func measurePut(ctx context.Context, r *run) (_ []Row, err error) {
	if r.Serve == nil {
		return skipped(workPut, noServer), nil
	}
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
		side{"flowdrive", func(ctx context.Context, d time.Duration) (sample, error) {
			return load(ctx, callers, d, func(_ context.Context, caller int) error { return putEntry(ours[caller], body) })
		}, restServer},
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

func putEntry(c *connection, body []byte) error {
	return c.do(http.MethodPut, "/dav/Workflow/Schedule/request", body, http.StatusCreated)
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
	res, err := h.engine.Route(ctx, h.by, routeAuto)
	if err == nil {
		body = fmt.Appendf(nil, `{"routeId":%d,"priority":300,"repeat":1,"type":"interval","minutes":2}`, res.Seq)
	}
	return data, body, errors.Join(err, h.close())
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
	if r.Serve == nil {
		return skipped(workGet, noServer), nil
	}
	var undo cleanup
	defer undo.run(&err)
	o, err := r.furnish(ctx)
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
	var turn atomic.Int64
	got, err := r.alternate(ctx,
		side{"flowdrive", func(ctx context.Context, d time.Duration) (sample, error) {
			return load(ctx, callers, d, func(_ context.Context, caller int) error {
				id := o.cases[turn.Add(1)*7919%int64(len(o.cases))]
				return ours[caller].do(http.MethodGet, fmt.Sprintf("/dav/Workflow/Cases/%d.json", id), nil, http.StatusOK)
			})
		}, nil},
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
			noted("of %s cases; %s; the limit is net/http that says hello: %s", plain(float64(len(o.cases))), describe(got[0]), describe(got[1])),
	}, nil
}
