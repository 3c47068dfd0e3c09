package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const workAction = "one action by HTTP PUT, 32 connections"

// measureAction is P2: an action by PUT, and the same transaction by a bare
// handler.
func measureAction(ctx context.Context, r *run) (_ []Row, err error) {
	var undo cleanup
	defer undo.run(&err)
	o, err := r.furnish(ctx, r.cases, kind{route: routeMany})
	if err != nil {
		return nil, err
	}
	copied, err := r.folder("limit")
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(copied, os.DirFS(o.data)); err != nil {
		return nil, err
	}
	limit, err := openBare(ctx, copied)
	if err != nil {
		return nil, err
	}
	undo.add(limit.close)
	theirs, err := serveOther(ctx, o.bareHandler(limit), &undo)
	if err != nil {
		return nil, err
	}
	ours, err := r.serve(ctx, o.data, &undo)
	if err != nil {
		return nil, err
	}
	many := o.actions(ours)
	got, err := r.alternate(ctx, side{"flowdrive", many, restOf(o.data)}, side{"limit", o.actions(theirs), limit.rest})
	if err != nil {
		return nil, err
	}
	row := atLeast(workAction, rates(got[0]), rates(got[1]), 0.5).
		noted("on %s cases; %s; the limit is net/http and the bare writer: %s", plain(float64(o.n)), describe(got[0]), describe(got[1]))
	alone, err := r.actionAlone(ctx, o.actions(ours[:1]))
	return []Row{row, alone}, err
}

// actionAlone compares actions on one connection with what the disk takes.
func (r *run) actionAlone(ctx context.Context, act round) (_ Row, err error) {
	var undo cleanup
	defer undo.run(&err)
	disk, err := os.Create(filepath.Join(r.dir, "disk"))
	if err != nil {
		return Row{}, err
	}
	undo.add(disk.Close)
	got, err := r.alternate(ctx, side{"flowdrive", act, nil},
		side{"appending", syncing(disk, func(n int64) int64 { return n * page }), nil},
		side{"overwriting", syncing(disk, func(n int64) int64 { return n % 256 * page }), nil})
	if err != nil {
		return Row{}, err
	}
	return atMostTimes("… p50 on 1 connection over fdatasync", measured(Seconds, each(got[0], half)...), measured(Seconds, each(got[2], half)...), 4).
		noted("fdatasync of 4 KiB that overwrites; one that makes the file longer: %s", quantity(median(each(got[1], half)), Seconds)), nil
}

const page = 4096

// syncing writes pages at the places that place returns, and waits for the disk
// each time.
func syncing(f *os.File, place func(n int64) int64) round {
	data := make([]byte, page)
	n := int64(0)
	return func(ctx context.Context, d time.Duration) (sample, error) {
		return load(ctx, 1, d/4, func(context.Context, int) error {
			n++
			if _, err := f.WriteAt(data, place(n)); err != nil {
				return err
			}
			return dataSync(f)
		})
	}
}

// actions performs over HTTP, each connection on cases of its own.
func (o *office) actions(conns []*connection) round {
	each := max(1, int64(len(o.cases)/len(conns)))
	turns := make([]int64, len(conns))
	return func(ctx context.Context, d time.Duration) (sample, error) {
		return load(ctx, len(conns), d, func(_ context.Context, caller int) error {
			turns[caller]++
			id := o.cases.at(turns[caller]%each*int64(len(conns)) + int64(caller))
			path := fmt.Sprintf("/dav/Workflow/Cases/%d/Actions/note.json", id)
			return conns[caller].do(http.MethodPut, path, []byte(`{}`), http.StatusNoContent)
		})
	}
}

// bareHandler performs by the bare writer: it reads and parses the body, and
// writes the unit.
func (o *office) bareHandler(w *bareWriter) http.Handler {
	written := make(map[int64]*atomic.Int64, len(o.cases))
	for _, id := range o.cases {
		written[id] = &atomic.Int64{}
	}
	written[o.cases.at(0)].Store(o.noted)
	free := make(chan *bareCaller, 2*callers)
	for _, c := range w.callers(cap(free)) {
		free <- c
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		text, _, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/dav/Workflow/Cases/"), "/")
		id, err := strconv.ParseInt(text, 10, 64)
		n := written[id]
		if err != nil || n == nil {
			http.NotFound(rw, req)
			return
		}
		var document struct {
			Comment string `json:"comment"`
		}
		body, err := io.ReadAll(req.Body)
		if err == nil {
			err = json.Unmarshal(body, &document)
		}
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		c := <-free
		err = c.do(id, o.note.unit(id, n.Add(1)))
		free <- c
		if err != nil {
			http.Error(rw, err.Error(), http.StatusInternalServerError)
			return
		}
		rw.WriteHeader(http.StatusNoContent)
	})
}
