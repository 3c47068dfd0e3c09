package engine_test

import (
	"testing"

	"flowdrive/engine"
)

// TestRouteThatStartsItselfTwice: its cases end at once, so that no limit of open ones
// stops them. The budget of its user does, and another user's cases start.
func TestRouteThatStartsItselfTwice(t *testing.T) {
	t.Parallel()
	const most, few = 50, 5 // identities of decisions that are made again are taken up anew
	w := newWorld(t, func(w *world) { w.config = func(cfg *engine.Config) { cfg.Limits.Started = most } })
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
