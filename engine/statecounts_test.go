package engine_test

import (
	"fmt"
	"strings"
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

// TestCountsOfRoutes: the open cases of each route are counted for its list. What the reader does not see is not counted, nor is what waits to be
// started, nor what a user has lent a deputy.
func TestCountsOfRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	admin := w.as("admin")
	const text = `
access: {start: [everyone], read: [everyone]}
roles: {worker: {assign: ['user:ann']}}
states: {wanted: {type: start}, done: {type: complete}}
actions:
  ask: {trigger: init}
  finish: {in: [wanted], to: done, role: worker}
`
	admin.mustPutRoute("first", "title: First"+text)
	admin.mustPutRoute("second", strings.Replace("title: Second"+text, "access: {", "access: {admin: [eve], ", 1))
	admin.mustPutRoute("third", "title: Third"+text)
	start := func(user, route string) int64 {
		return w.as(user).startCase(`{"route": "` + route + `", "title": "One"}`)
	}
	start("eve", "first")
	start("bob", "first")
	ended := start("bob", "first")
	w.as("ann").mustDo(ended, "finish", "perform")
	admin.mustPutCase(fmt.Sprint(start("bob", "first")), `{"state": "canceled"}`)
	admin.mustPutCase(fmt.Sprint(start("bob", "first")), `{"state": "suspended"}`)
	start("bob", "second")
	w.as("bob").startCase(`{"route": "second", "title": "Later", "startAt": "2030-01-01T00:00:00Z"}`)

	names := map[int64]string{}
	var ids []int64
	for _, r := range try(w.Routes.Routes(t.Context(), admin.by(), engine.Filter{})).must(w, "the routes") {
		names[r.Seq], ids = r.Name, append(ids, r.Seq)
	}
	for user, want := range map[string]map[string]int{
		"admin": {"first": 3, "second": 1},
		"ann":   {"first": 3, "second": 1}, // she works on all of them
		"bob":   {"first": 2, "second": 1},
		"eve":   {"first": 1, "second": 1}, // she administers the second
	} {
		got := map[string]int{}
		for id, n := range try(w.Cases.OpenOfRoutes(t.Context(), w.as(user).by(), ids)).must(w, "the counts") {
			if n.More {
				t.Errorf("%s: %s has more", user, names[id])
			}
			if n.Cases != 0 {
				got[names[id]] = n.Cases
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", user, diff)
		}
	}
}
