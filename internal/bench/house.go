package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/attach"
	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/identity"
	"flowdrive/server"
	"flowdrive/store"
	"flowdrive/store/postgres"
	"flowdrive/store/relational"
	"flowdrive/store/sqlite"
)

// databaseFile and contentsFolder are where the program has them in a data
// folder.
const (
	databaseFile   = "flowdrive.db"
	contentsFolder = "contents"
)

// The user for whom everything is done, and the routes.
const (
	caller   = "bench"
	password = "figures of the whole house"

	routeOnce = "bench-once"
	routeMany = "bench-many"
	routeAuto = "bench-auto"
	routeTime = "bench-time"
)

// documents are the routes: one action completes its case, one can be performed
// for ever, one need not be performed at all, and one is performed by time.
func documents() []engine.Example {
	return []engine.Example{
		{Name: routeOnce, YAML: true, Source: []byte(`name: bench-once
access: {start: [everyone]}
roles: {worker: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, past: Begun}
  finish: {in: [open], role: worker, to: done, past: Finished}
`)},
		{Name: routeMany, YAML: true, Source: []byte(`name: bench-many
access: {start: [everyone]}
roles: {worker: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, past: Begun}
  note: {in: [open], role: worker, past: Noted}
  finish: {in: [open], role: worker, to: done, past: Finished}
`)},
		{Name: routeAuto, YAML: true, Source: []byte(`name: bench-auto
access: {start: [everyone]}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, past: Begun}
  finish: {trigger: auto, in: [open], to: done, past: Finished}
`)},
		{Name: routeTime, YAML: true, Source: []byte(`name: bench-time
access: {start: [everyone]}
roles: {worker: {assign: [starter]}}
states: {open: {type: start}, late: {}, done: {type: complete}}
actions:
  begin: {trigger: init, past: Begun}
  remind: {trigger: time, timeout: ` + timeout + `, in: [open], to: late, past: Reminded}
  finish: {in: [late], role: worker, to: done, past: Finished}
`)},
	}
}

// house is an engine over its store in a data folder, wired as the program
// wires it, without the HTTP above.
type house struct {
	stats  func() relational.Stats // of its store
	engine *engine.Engine
	clock  engine.Clock
	by     identity.Principal
	stop   []func() error // in order
}

// houseOptions change what a house is made of.
type houseOptions struct {
	observer engine.Observer
	clock    engine.Clock                  // nil: the machine's
	wrap     func(store.Store) store.Store // puts something between engine and store
	postgres string                        // the address of the database; "": SQLite in the data folder
}

// unlimited is more than any figure stores.
const unlimited = 1 << 40

// openHouse opens the data folder. If it is new, it fills it with the caller
// and the routes. Engine and store run until close.
func openHouse(ctx context.Context, data string, o houseOptions) (_ *house, err error) {
	h := &house{clock: o.clock}
	if h.clock == nil {
		h.clock = clock.Real{}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	store, err := h.openStore(ctx, data, o.postgres)
	if err != nil {
		return nil, err
	}
	blobs, err := attach.Open(filepath.Join(data, contentsFolder))
	if err != nil {
		return nil, err
	}
	if o.wrap != nil {
		store = o.wrap(store)
	}
	h.engine = engine.New(engine.Config{
		Store: store, Blobs: blobs, Clock: h.clock, Log: zerolog.Nop(), HashPassword: server.RecommendedCosts().Hash,
		Limits:   engine.Limits{Entries: unlimited, Routes: unlimited, OpenCases: unlimited},
		Observer: o.observer,
	})
	founded, err := h.engine.Found(ctx, h.clock.Now(), "", documents())
	if err != nil {
		return nil, err
	}
	if err := h.engine.Load(ctx); err != nil {
		return nil, err
	}
	h.start(ctx, h.engine.Run)
	if founded {
		admin := h.engine.Accounts.Principal(h.engine.Accounts.PartyID(string(engine.Admin)))
		user := []byte(`{"password": "` + password + `"}`)
		if _, err := h.engine.Accounts.PutParty(ctx, engine.Request{By: admin, Now: h.clock.Now()}, identity.User, caller, user); err != nil {
			return nil, err
		}
	}
	h.by = h.engine.Accounts.Principal(h.engine.Accounts.PartyID(caller))
	return h, nil
}

// openStore opens the database and runs it until close.
func (h *house) openStore(ctx context.Context, data, address string) (store.Store, error) {
	if address != "" {
		db, err := postgres.Open(ctx, postgres.Options{Address: address, Node: "bench", Now: time.Now})
		if err != nil {
			return nil, err
		}
		h.stop, h.stats = append(h.stop, db.Close), db.Stats
		h.start(ctx, db.Run)
		return db, nil
	}
	db, err := sqlite.Open(ctx, filepath.Join(data, databaseFile), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	h.stop, h.stats = append(h.stop, db.Close), func() relational.Stats { return db.Stats().Stats }
	h.start(ctx, db.Run)
	return db, nil
}

// start runs a service until the house is closed.
func (h *house) start(ctx context.Context, service func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- service(ctx) }()
	h.stop = append(h.stop, func() error { cancel(); return <-ended })
}

// close stops what runs, the last first.
func (h *house) close() error {
	var err error
	for len(h.stop) > 0 {
		last := len(h.stop) - 1
		err = errors.Join(err, h.stop[last]())
		h.stop = h.stop[:last]
	}
	return err
}

func (h *house) request() engine.Request {
	return engine.Request{By: h.by, Now: h.clock.Now()}
}

// startCase starts a case of the route and returns its id.
func (h *house) startCase(ctx context.Context, route string) (int64, error) {
	out, err := h.engine.Cases.PutCase(ctx, h.request(), engine.Ref{Author: h.by.ID}, []byte(`{"route": "`+route+`"}`))
	if err != nil {
		return 0, err
	}
	return out.CaseID, nil
}

func (h *house) perform(ctx context.Context, id int64, action string) error {
	_, err := h.engine.Cases.Perform(ctx, h.request(), id, action, []byte(`{}`))
	return err
}

// startAndFinish is one instance of P1.
func (h *house) startAndFinish(ctx context.Context) error {
	id, err := h.startCase(ctx, routeOnce)
	if err != nil {
		return err
	}
	return h.perform(ctx, id, "finish")
}

// putEntry creates a schedule entry.
func (h *house) putEntry(ctx context.Context, document string) (*engine.Outcome, error) {
	return h.engine.Schedules.PutEntry(ctx, h.request(), engine.Ref{}, []byte(document))
}

// far returns the document of a schedule entry that is due in 2099, each in
// another minute.
func far(i int) string {
	at := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i%(365*24*60)) * time.Minute)
	return fmt.Sprintf(`{"type": "cron", "route": "%s", "year": "2099", "month": "%d", "day": "%d", "hour": "%d", "minute": "%d"}`,
		routeAuto, at.Month(), at.Day(), at.Hour(), at.Minute())
}

// soon returns the document of an entry that is due once, at the whole second
// that lies so many seconds ahead.
func soon(seconds int) string {
	return fmt.Sprintf(`{"type": "interval", "route": "%s", "seconds": %d, "repeat": 1}`, routeAuto, seconds)
}
