package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/engine"
)

// TestStateCounts: a route's cases are counted by state, late ones too; canceled ones and
// those that the reader does not see are not.
func TestStateCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	w.as("admin").mustPutRoute("counted", `
title: Counted
access: {start: [eve], read: [ann]}
roles: {worker: {assign: ['user:ann']}}
states: {wanted: {type: start}, doing: {}, done: {type: complete}}
actions:
  ask: {trigger: init}
  take: {in: [wanted], to: doing, role: worker, dueIn: P2D}
  finish: {in: [doing], to: done, role: worker}
`)
	eve := w.as("eve")
	start := func() int64 { return eve.startCase(`{"route": "counted", "title": "One"}`) }
	first, second, third, fourth, fifth := start(), start(), start(), start(), start()
	w.as("ann").mustDo(first, "take", "perform")
	w.as("ann").mustDo(second, "take", "perform")
	w.as("ann").mustDo(second, "finish", "perform")
	eve.mustPutCase(fmt.Sprint(third), `{"state": "canceled"}`)
	eve.mustPutCase(fmt.Sprint(fourth), `{"state": "suspended"}`)
	count := func(user, route string) *engine.StateCounts {
		t.Helper()
		return try(w.Cases.StateCounts(t.Context(), w.as(user).by(), route)).must(w, "the counts")
	}
	want := &engine.StateCounts{Open: 3, Ended: 1, All: true, States: map[string]engine.StateCount{"wanted": {Cases: 2}, "doing": {Cases: 1}, "done": {Cases: 1}}}
	for _, user := range []string{"eve", "ann", "admin"} {
		if diff := cmp.Diff(want, count(user, "counted")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", user, diff)
		}
	}
	w.advance(3 * 24 * time.Hour)
	want.States["wanted"] = engine.StateCount{Cases: 2, Late: 1} // the suspended one's timers stand still
	if diff := cmp.Diff(want, count("admin", "counted")); diff != "" {
		t.Errorf("three days later (-want +got):\n%s", diff)
	}
	try(w.as("admin").setTimer(fifth, "take.due", `{"limit": "P9D"}`)).must(w, "another date")
	want.States["wanted"] = engine.StateCount{Cases: 2}
	if diff := cmp.Diff(want, count("admin", "counted")); diff != "" {
		t.Errorf("with another date (-want +got):\n%s", diff)
	}
	nothing := &engine.StateCounts{All: true, States: map[string]engine.StateCount{}}
	for _, test := range [][2]string{{"bob", "counted"}, {"eve", "no-such-route"}} {
		if diff := cmp.Diff(nothing, count(test[0], test[1])); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test, diff)
		}
	}
}
