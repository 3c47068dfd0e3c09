package engine_test

import (
	"context"
	"sync/atomic"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// TestStandingInTheUnit: a log-in that ends after the decision, before the unit
// of the change, ends the change.
func TestStandingInTheUnit(t *testing.T) {
	t.Parallel()
	m := &meddler{}
	var ended atomic.Bool
	standing := func(context.Context) error {
		if ended.Load() {
			return errs.New(errs.LogIn, "over")
		}
		return nil
	}
	w := newWorld(t, overStore(func(s store.Store) store.Store { m.Store = s; return m }),
		func(w *world) { w.config = func(c *engine.Config) { c.Standing = standing } })
	sam := w.as("sam")
	for what, change := range map[string]func() error{
		"a case":         func() error { return try(sam.putCase("", `{"route": "ask"}`)).err },
		"an entry":       func() error { return try(sam.putEntry("", everyNight(`"second": 0`))).err },
		"a dropped file": func() error { return try(sam.drop("ask", "x", "x", nil)).err },
		"a user": func() error {
			return try(w.as("admin").putParty(identity.User, "newcomer", `{"password": "a password"}`)).err
		},
		"an app password": func() error { return try(sam.putApp("laptop", `{}`)).err },
	} {
		ended.Store(false)
		m.meddle = func() { ended.Store(true) }
		w.kind(what, change(), errs.LogIn)
		w.kind(what+", fresh", change(), errs.LogIn)
	}
	ended.Store(false)
	if ids := w.caseIDs(); len(ids) != 0 || w.Accounts.PartyID("newcomer") != 0 {
		t.Errorf("cases %v, the newcomer is %d; want none", ids, w.Accounts.PartyID("newcomer"))
	}
}

// TestRightInTheUnit: a right that ends after the decision, before the unit of
// the change, ends the change.
func TestRightInTheUnit(t *testing.T) {
	t.Parallel()
	m := &meddler{}
	w := newWorld(t, overStore(func(s store.Store) store.Store { m.Store = s; return m }))
	w.as("admin").mustPutParty(identity.User, "boss", `{"password": "a password", "admin": true}`)
	boss := w.as("boss")
	for what, change := range map[string]func() error{
		"a user": func() error {
			return try(boss.putParty(identity.User, "newcomer", `{"password": "a password", "admin": true}`)).err
		},
		"a hold": func() error { return try(boss.putHold("all", `{"route": "ask"}`)).err },
	} {
		m.meddle = func() { w.as("admin").mustPutParty(identity.User, "boss", `{"admin": false}`) }
		w.kind(what, change(), errs.NotFound)
		w.as("admin").mustPutParty(identity.User, "boss", `{"admin": true}`)
		w.kind(what+", with the right", change(), "")
	}
}

// TestStandingAfterTheUnit: what follows from a change that is stored is done to
// its end, although the log-in ends as soon as it is stored.
func TestStandingAfterTheUnit(t *testing.T) {
	t.Parallel()
	var left atomic.Int64 // how often the log-in will still be good
	left.Store(1 << 40)
	standing := func(context.Context) error {
		if left.Add(-1) < 0 {
			return errs.New(errs.LogIn, "over")
		}
		return nil
	}
	w := newWorld(t, func(w *world) { w.config = func(c *engine.Config) { c.Standing = standing } })
	id := w.as("sam").startCase(`{"route": "ask"}`)
	left.Store(2) // the decision and its unit
	_, err := w.as("admin").migrate("ask", routeAsk2())
	over := left.Swap(1<<40) <= 0
	w.kind("migrate", err, "")
	if !over {
		t.Error("the log-in had not ended")
	}
	w.as("sam").caseForm(id).wants("routeVersion", "2")
}
