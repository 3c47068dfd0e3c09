package engine_test

import (
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// TestRouteThatStartsItselfTwice: its cases end at once, so that no limit of open ones
// stops them. The budget of its user does, and another user's cases start.
func TestRouteThatStartsItselfTwice(t *testing.T) {
	t.Parallel()
	const most, few = 50, 5 // identities of decisions that are made again are taken up anew
	w := newWorld(t, func(w *world) {
		w.config = func(cfg *engine.Config) { cfg.Limits.Started, cfg.Limits.FromOne = most, most }
	})
	sam, ann := w.as("sam"), w.as("ann")
	const bomb = "access: {start: [everyone]}\nstates: {shut: {type: complete}, open: {type: start}}\nactions:\n" +
		"  begin: {trigger: init, to: shut, onFire: [{start: {route: bomb}}, {start: {route: bomb}}]}\n"
	sam.mustPutRoute("bomb", bomb)
	sam.startCase(`{"route": "bomb"}`)
	if n := len(w.cases()); n < most/2 || n > most+few {
		t.Errorf("%d cases after one start, want about %d", n, most)
	}
	before := len(w.cases())
	ann.startCase(`{"route": "ask"}`)
	if n := len(w.cases()); n != before+1 {
		t.Errorf("%d cases, want %d and another user's", n, before)
	}
	if _, err := w.Advance(t.Context(), to(instant("2012-11-09T14:34:56Z")), w.clock.Set); err != nil {
		t.Fatal(err)
	}
	before = len(w.cases())
	sam.startCase(`{"route": "bomb"}`)
	if n := len(w.cases()); n <= before+1 || n > before+most+few {
		t.Errorf("an hour later %d more cases", n-before)
	}
}

// TestStartsOfOneCase: what one case has started, over all links of the chain, has a
// budget of its own. Others of its user start, the refusal says which limit it was, and
// an hour later what was refused goes through.
func TestStartsOfOneCase(t *testing.T) {
	t.Parallel()
	const most, few = 20, 5 // as above
	w := newWorld(t, func(w *world) { w.config = func(cfg *engine.Config) { cfg.Limits.FromOne = most } })
	sam := w.as("sam")
	sam.mustPutRoute("bomb", "access: {start: [everyone]}\nstates: {shut: {type: complete}, open: {type: start}}\nactions:\n"+
		"  begin: {trigger: init, to: shut, onFire: [{start: {route: bomb}}, {start: {route: bomb}}]}\n")
	for range 2 {
		before := len(w.cases())
		sam.startCase(`{"route": "bomb"}`)
		if n := len(w.cases()) - before; n < most/2 || n > 1+most+few {
			t.Errorf("%d cases from one, want about %d", n, most)
		}
	}
	sam.mustPutRoute("leaf", "states: {shut: {type: complete}, open: {type: start}}\nactions:\n  begin: {trigger: init, to: shut}\n")
	sam.mustPutRoute("some", "roles: {all: {assign: [starter]}}\nstates: {open: {type: start}}\nactions:\n  begin: {trigger: init, to: open}\n  more: {in: [open], role: all, to: open, onFire: ["+
		strings.TrimSuffix(strings.Repeat("{start: {route: leaf}}, ", 3*most/4), ", ")+"]}\n")
	id := sam.startCase(`{"route": "some"}`)
	if _, err := sam.perform(id, "more", `{}`); err != nil {
		t.Fatal(err)
	}
	before := len(w.cases())
	_, err := sam.perform(id, "more", `{}`)
	w.refused(err, errs.RouteFault)
	if err != nil && !strings.Contains(err.Error(), "more than 20 cases in an hour") {
		t.Errorf("the refusal says %v", err)
	}
	if n := len(w.cases()); n != before {
		t.Errorf("%d cases, want %d: what was refused has started nothing", n, before)
	}
	if _, err := w.Advance(t.Context(), to(instant("2012-11-09T14:34:56Z")), w.clock.Set); err != nil {
		t.Fatal(err)
	}
	if _, err := sam.perform(id, "more", `{}`); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

// TestDryRunsTakeNothingOfBudget: what is asked for as a dry run, or again with the same
// Idempotency-Key, starts nothing and takes nothing of the budget. Neither does what fails.
func TestDryRunsTakeNothingOfBudget(t *testing.T) {
	t.Parallel()
	const most, each = 20, 4
	w := newWorld(t, func(w *world) { w.config = func(cfg *engine.Config) { cfg.Limits.FromOne = most } })
	sam := w.as("sam")
	sam.mustPutRoute("leaf", "states: {shut: {type: complete}, open: {type: start}}\nactions:\n  begin: {trigger: init, to: shut}\n")
	some := strings.TrimSuffix(strings.Repeat("{start: {route: leaf}}, ", each), ", ")
	sam.mustPutRoute("some", "roles: {all: {assign: [starter]}}\nstates: {open: {type: start}}\nactions:\n  begin: {trigger: init, to: open}\n"+
		"  more: {in: [open], role: all, to: open, onFire: ["+some+"]}\n"+
		"  fail: {in: [open], role: all, to: open, onFire: ["+some+", {start: {route: gone}}]}\n")
	id := sam.startCase(`{"route": "some"}`)
	ask := func(do string, req engine.Request) error {
		_, err := w.Cases.Perform(t.Context(), req, id, do, []byte(`{}`))
		return err
	}
	for range 2 * most {
		dry := sam.request(nil)
		dry.DryRun = true
		if err := ask("more", dry); err != nil {
			t.Fatal(err)
		}
		if err := ask("fail", sam.request(nil)); err == nil || strings.Contains(err.Error(), "in an hour") {
			t.Fatalf("a start of a route that is not there: %v", err)
		}
	}
	for i := range most / each {
		before := len(w.cases())
		if err := ask("more", sam.request(nil)); err != nil {
			t.Fatalf("start %d: %v", i+1, err)
		}
		if n := len(w.cases()) - before; n != each {
			t.Errorf("start %d: %d more cases, want %d", i+1, n, each)
		}
	}
	err := ask("more", sam.request(nil))
	w.refused(err, errs.RouteFault)
	if err != nil && !strings.Contains(err.Error(), "more than 20 cases in an hour") {
		t.Errorf("beyond the limit: %v", err)
	}
}
