package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"flowdrive/attach"
	"flowdrive/engine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/clock"
	"flowdrive/store/sqlite"
)

// A program has a workflow of its own: the engine over a database, and a
// function that routes call by its name. Here it says who plays a role.
func ExampleNew() {
	onDuty := func(_ context.Context, in outbox.CallbackInput) (json.RawMessage, error) {
		var c struct{ Route string }
		if err := json.Unmarshal(in.Case, &c); err != nil {
			return nil, err
		}
		fmt.Println("asked by the route", c.Route)
		return json.RawMessage(`["admin"]`), nil
	}
	config := engine.Config{Clock: clock.Real{}, Callbacks: map[string]outbox.CallbackFunc{"on-duty": onDuty}}
	if err := withStore(config, func(ctx context.Context, config engine.Config) error {
		now := config.Clock.Now()
		e := engine.New(config)
		if _, err := e.Found(ctx, now, "", nil); err != nil {
			return err
		}
		if err := e.Load(ctx); err != nil {
			return err
		}
		// What becomes due later needs e.Run as well, in a goroutine.
		admin := engine.Request{By: e.Accounts.Principal(e.Accounts.PartyID("admin")), Now: now}
		const question = `
roles: {clerk: {assign: ["call:on-duty"]}}
states: {open: {type: start}, answered: {type: complete}}
actions: {ask: {trigger: init}, answer: {in: [open], role: clerk, to: answered}}
`
		if _, err := e.Routes.PutRoute(ctx, admin, "question", true, []byte(question)); err != nil {
			return err
		}
		started, err := e.Cases.PutCase(ctx, admin, engine.Ref{}, []byte(`{"route": "question"}`))
		if err != nil {
			return err
		}
		var form struct{ Roles map[string][]string }
		if err := json.Unmarshal(started.Form, &form); err != nil {
			return err
		}
		fmt.Println(form.Roles)
		return nil
	}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// asked by the route question
	// map[clerk:[admin]]
}

// withStore lets f use the configuration with a database in a temporary folder.
func withStore(config engine.Config, f func(context.Context, engine.Config) error) (err error) {
	folder, err := os.MkdirTemp("", "engine")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	db, err := sqlite.Open(ctx, filepath.Join(folder, "flowdrive.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	blobs, err := attach.Open(filepath.Join(folder, "contents"))
	if err != nil {
		return errors.Join(err, db.Close())
	}
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx) }()
	defer func() {
		cancel()
		err = errors.Join(err, <-ended, db.Close())
	}()
	config.Store, config.Blobs = db, blobs
	return f(ctx, config)
}
