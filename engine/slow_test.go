package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/identity"
)

const routeChecked = `
title: Run
context: dora
access: {start: [everyone], read: [everyone]}
roles: {runner: {assign: ["user:bob"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  finish: {title: Finish, in: [open], role: runner, to: done}
`

// slowWorld has an hourly entry of ann, of which five cases took two minutes each. It
// returns what an address was sent since, without what is sent of each case.
func slowWorld(t *testing.T) (w *world, since func(address string) []string) {
	t.Helper()
	w = mailsWorld(t)
	w.as("admin").mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	slowIn(w)
	return w, func(address string) (out []string) {
		for _, line := range w.sentTo(address) {
			if strings.Contains(line, "usual") || strings.Contains(line, "Ended after all") || strings.Contains(line, "Canceled") {
				out = append(out, line)
			}
		}
		return out
	}
}

// slowIn puts the route and the entry of slowWorld into a world, in which dora can log in,
// and completes five cases.
func slowIn(w *world) *world {
	w.Helper()
	w.as("admin").mustPutRoute("run", routeChecked)
	w.as("ann").mustPutEntry("run.json", `{"type": "crontab", "spec": "0 * * * *", "route": "run", "title": "Run"}`)
	w.advance(w.clock.Now().Truncate(time.Hour).Add(time.Hour).Sub(w.clock.Now()))
	for range 5 {
		w.advance(2 * time.Minute)
		ids := w.caseIDs()
		w.as("bob").mustPerform(ids[len(ids)-1], "finish")
		w.advance(58 * time.Minute)
	}
	return w
}

// TestTakesLongerThanUsual: of a case of a schedule entry that is open for longer than
// twice the longest of the last ones, people are told: once, a day later, and when it has
// ended; of others of the entry with it, as long as one of them is open.
func TestTakesLongerThanUsual(t *testing.T) {
	t.Parallel()
	w, since := slowWorld(t)
	ids := w.caseIDs()
	slow := ids[len(ids)-1] // since 18:00
	w.advance(11 * time.Minute)
	same(t, "in time", since("ann@example.org"), []string(nil))
	w.advance(49 * time.Minute)
	want := []string{"09 18:12 Takes longer than usual: Run"}
	same(t, "the owner", since("ann@example.org"), want)
	same(t, "the administrator of the route", since("dora@example.org"), want)
	w.reopen()
	w.advance(22 * time.Hour)
	same(t, "others of the entry", since("ann@example.org"), want)
	w.advance(time.Hour)
	want = append(want, "10 18:00 Still takes longer than usual: Run (15 cases)")
	same(t, "a day later", since("ann@example.org"), want)
	w.as("ann").mustPutEntry("run.json", `{"do": "pause"}`)
	ids = w.caseIDs()
	for _, id := range ids[slices.Index(ids, slow) : len(ids)-1] {
		w.as("bob").mustPerform(id, "finish")
	}
	w.as("bob").mustPerform(ids[len(ids)-1], "finish")
	same(t, "the end", since("dora@example.org"), append(want, "10 18:00 Ended after all: Run (15 cases)"))
	w.advance(24 * time.Hour)
	same(t, "the next day", since("dora@example.org"), append(want, "10 18:00 Ended after all: Run (15 cases)"))
}

// TestNotLongerThanUsual: nobody is told of a case that ends in time, that somebody has
// suspended, or that is canceled, and none of an entry with less than five ended cases.
func TestNotLongerThanUsual(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(w *world, id int64){
		"in time":   func(w *world, id int64) { w.as("bob").mustPerform(id, "finish") },
		"suspended": func(w *world, id int64) { w.as("admin").mustPutCase(ref(id), `{"state": "suspended"}`) },
		"canceled":  func(w *world, id int64) { w.as("admin").mustPutCase(ref(id), `{"state": "canceled"}`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, since := slowWorld(t)
			w.as("ann").mustPutEntry("run.json", `{"do": "pause"}`)
			ids := w.caseIDs()
			w.advance(3 * time.Minute)
			do(w, ids[len(ids)-1])
			w.advance(48 * time.Hour)
			for _, line := range since("dora@example.org") {
				if strings.Contains(line, "usual") || strings.Contains(line, "after all") {
					t.Errorf("told: %s", line)
				}
			}
		})
	}
	w := mailsWorld(t)
	w.as("admin").mustPutRoute("run", strings.Replace(routeChecked, "context: dora", "context: ann", 1))
	w.as("ann").mustPutEntry("run.json", `{"type": "crontab", "spec": "0 * * * *", "route": "run", "title": "Run"}`)
	w.advance(6 * time.Hour)
	for _, line := range w.sentTo("ann@example.org") {
		if strings.Contains(line, "usual") {
			t.Errorf("told without knowing what is usual: %s", line)
		}
	}
}
