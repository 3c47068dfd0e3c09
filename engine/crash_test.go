package engine_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// snapshot is everything that the store holds of the engine's nouns, as
// text.
func (w *world) snapshot() string {
	w.Helper()
	var b strings.Builder
	w.view(func(r store.Reader) error {
		parties, err := r.Parties().List()
		if err != nil {
			return err
		}
		for i := range parties {
			fmt.Fprintf(&b, "%+v\n", parties[i])
		}
		return nil
	})
	w.view(func(r store.Reader) error { return routesText(&b, r) })
	w.view(func(r store.Reader) error { return entriesText(&b, r) })
	w.view(func(r store.Reader) error { return casesText(&b, r) })
	return b.String()
}

func routesText(b *strings.Builder, r store.Reader) error {
	routes, err := r.Routes().List()
	if err != nil {
		return err
	}
	for i := range routes {
		versions, err := r.Routes().Versions(routes[i].ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "route %s %d %s: %d versions\n%s", routes[i].Name, routes[i].Version, routes[i].ETag, len(versions), routes[i].Form)
	}
	return nil
}

func entriesText(b *strings.Builder, r store.Reader) error {
	entries, err := r.Entries().List(store.EntryFilter{})
	if err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		occurrences, err := r.Entries().Occurrences(e.UUID, 0)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "entry %d.%d due %s: %d occurrences\n%s", e.Definition, e.Revision, e.Due, len(occurrences), e.Form)
		names, err := r.Names().List(store.FolderSchedule, []store.UUID{e.UUID}, nil)
		if err != nil {
			return err
		}
		for i := range names {
			fmt.Fprintf(b, "name %s %s\n", names[i].Name, names[i].ETag)
		}
	}
	return nil
}

func casesText(b *strings.Builder, r store.Reader) error {
	cases, err := r.Cases().List(store.CaseFilter{})
	if err != nil {
		return err
	}
	for i := range cases {
		c := &cases[i]
		log, err := r.Cases().Log(c.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "case %d.%d due %s named %t\n%s%s\n", c.Version, c.Revision, c.Due, c.Named, c.Form, log)
		messages, err := r.Cases().Messages().List(c.ID)
		if err != nil {
			return err
		}
		for i := range messages {
			fmt.Fprintf(b, "message %s %d %x\n", messages[i].Label, messages[i].Version, messages[i].SHA256)
		}
		names, err := r.Names().List(store.FolderCases, nil, []int64{c.ID})
		if err != nil {
			return err
		}
		for i := range names {
			fmt.Fprintf(b, "name %s %s\n", names[i].Name, names[i].ETag)
		}
	}
	return nil
}

// operation is a change that somebody asks for.
type operation struct {
	name    string
	prepare func(w *world) int64 // returns the case that it is about, or 0
	do      func(w *world, id int64) error
}

// operations are all changes. ann and bob disturb, sam acts.
func operations() []operation {
	key := func() option { return withKey("k", "/", "") }
	startCase := func(w *world) int64 {
		return w.as("sam").mustPutCase("q.json", `{"route": "ask", "roles": {"helper": ["sam", "bob"]}}`).CaseID
	}
	putEntry := func(w *world) int64 { w.as("sam").mustPutEntry("e.json", every); return 0 }
	putRoute := func(w *world) int64 { w.as("sam").mustPutRoute("mine", plainStates); return 0 }
	nothing := func(*world) int64 { return 0 }
	return []operation{
		{"new entry", nothing, func(w *world, _ int64) error { return try(w.as("sam").putEntry("e.json", every, key())).err }},
		{"entry replaced", putEntry, func(w *world, _ int64) error {
			return try(w.as("sam").putEntry("e.json", strings.Replace(every, "2", "3", 1), key())).err
		}},
		{"entry deleted", putEntry, func(w *world, _ int64) error { return w.as("sam").deleteEntry("e.json") }},
		{"new case", nothing, func(w *world, _ int64) error {
			return try(w.as("sam").putCase("q.json", `{"route": "auto", "input": "x"}`, key())).err
		}},
		{"case changed", startCase, func(w *world, id int64) error {
			return try(w.as("sam").putCase("q.json", `{"route": "ask", "title": "T"}`, key())).err
		}},
		{"case canceled", startCase, func(w *world, _ int64) error { return w.as("sam").deleteCase("q.json") }},
		{"case changed and canceled", startCase, func(w *world, id int64) error {
			return try(w.as("sam").putCase(fmt.Sprint(id)+".json", `{"title": "T", "state": "canceled"}`, key())).err
		}},
		{"performance", startCase, func(w *world, id int64) error {
			return try(w.as("sam").perform(id, "answer", `{"comment": "x"}`, key())).err
		}},
		{"label", startCase, func(w *world, id int64) error { return try(w.as("sam").putLabel(id, "Note", "x", key())).err }},
		{"new route", nothing, func(w *world, _ int64) error { return try(w.as("sam").putRoute("mine", plainStates, key())).err }},
		{"route changed", putRoute, func(w *world, _ int64) error {
			return try(w.as("sam").putRoute("mine", "title: T\n"+plainStates, key())).err
		}},
		{"route deleted", putRoute, func(w *world, _ int64) error { return w.as("sam").deleteRoute("mine") }},
		{"new user", nothing, func(w *world, _ int64) error {
			return try(w.as("admin").putParty(identity.User, "lou", `{}`, key())).err
		}},
		{"team changed", nothing, func(w *world, _ int64) error {
			return try(w.as("admin").putParty(identity.Team, "ops", `{"members": []}`, key())).err
		}},
		{"user deleted", nothing, func(w *world, _ int64) error {
			return w.Accounts.DeleteParty(w.Context(), w.as("admin").request(nil), identity.User, "eve", "")
		}},
	}
}

// Each write of each operation fails in turn: what is stored is as before,
// until none fails; and then it is as after.
func TestCrash(t *testing.T) {
	t.Parallel()
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			s := &spy{}
			w := newWorld(t, spied(s))
			id := op.prepare(w)
			before := w.snapshot()
			for n := 1; ; n++ {
				left := n
				s.before = func(write) error {
					if left--; left == 0 {
						return broken()
					}
					return nil
				}
				err := op.do(w, id)
				if err == nil {
					if n < 2 {
						t.Error("it wrote nothing")
					}
					break
				}
				if left > 0 {
					t.Fatalf("it failed, though no write did: %v", err)
				}
				if after := w.snapshot(); after != before {
					t.Fatalf("write %d failed, and something was stored:\n%s\nbefore:\n%s", n, after, before)
				}
			}
			s.before = nil
			after := w.snapshot()
			if after == before {
				t.Error("nothing was stored")
			}
			// Memory says the same as the store.
			w.reopen()
			same(t, "after a restart", w.snapshot(), after)
		})
	}
}

// Whatever is decided finds that something moved, again and again: it is
// decided again, and done.
func TestStaleDecisions(t *testing.T) {
	t.Parallel()
	disturb := func(w *world, id int64, op string, n int) {
		switch {
		case id != 0:
			w.as("bob").mustPerform(id, "note")
		case op == "route changed":
			w.as("admin").mustPutRoute("mine", fmt.Sprintf("title: T%d\ncontext: sam\n%s", n, plainStates))
		default:
			w.update(moveEntries)
		}
	}
	for _, op := range operations() {
		for _, always := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/always %t", op.name, always), func(t *testing.T) {
				t.Parallel()
				s := &spy{}
				w := newWorld(t, spied(s))
				id := op.prepare(w)
				var disturbing atomic.Bool
				disturbed := 0
				s.first = func() error {
					if (always || disturbed == 0) && disturbing.CompareAndSwap(false, true) {
						disturb(w, id, op.name, disturbed)
						disturbed++
						disturbing.Store(false)
					}
					return nil
				}
				if err := op.do(w, id); err != nil {
					t.Fatalf("disturbed %d times: %v", disturbed, err)
				}
				s.first = nil
				if id == 0 || op.name == "label" {
					return
				}
				// What the others did is there as well, once each.
				notes := 0
				for _, line := range w.as("sam").logTexts(id) {
					if line == "action: Noted" {
						notes++
					}
				}
				same(t, "notes", notes, disturbed)
				if always && disturbed < 3 {
					t.Errorf("disturbed %d times only", disturbed)
				}
			})
		}
	}
}

// moveEntries changes every entry, as a firing does.
func moveEntries(tx store.Tx) error {
	entries, err := tx.Entries().List(store.EntryFilter{})
	for i := range entries {
		if err == nil {
			entries[i].Revision++
			err = tx.Write().Entries().Update(&entries[i])
		}
	}
	return err
}

// A firing whose writes fail in turn, of which the store says that it cannot
// serve: done once, in the end, and never in part.
func TestCrashOfAFiring(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	w.as("admin").mustPutRoute("timed", routeTimed)
	sam := w.as("sam")
	timed := sam.startCase(`{"route": "timed"}`)
	out := sam.mustPutEntry("e.json", `{"type": "interval", "hours": 2, "repeat": 12, "route": "auto"}`)
	end := instant("2012-11-10T12:34:56Z")
	failures := 0
	for n := 1; ; n = n%9 + 1 {
		left := n
		s.before = func(write) error {
			if left--; left == 0 {
				return unavailable()
			}
			return nil
		}
		done, err := w.Advance(t.Context(), to(end), w.clock.Set)
		if err == nil && done.Complete {
			break
		}
		w.refused(err, errs.Unavailable)
		if failures++; failures > 1000 {
			t.Fatal("it does not end")
		}
		fired := len(sam.occurrences(out.Name))
		if entries := w.entries(); len(entries) == 1 {
			entries[0].wants("iterationsPerformed", fmt.Sprint(fired))
		}
		same(t, "cases", len(w.cases()), 1+fired)
	}
	if failures < 12 {
		t.Errorf("%d failures", failures)
	}
	same(t, "occurrences", len(sam.occurrences(out.Name)), 12)
	same(t, "entries", len(w.entries()), 0)
	for _, c := range w.cases() {
		c.wants("state", `"completed"`)
	}
	log := sam.logTexts(timed)
	same(t, "log", fmt.Sprint(len(log), " ", log[len(log)-2:]), "15 [action: Expired life: Completed]")
}

// TestFiringThatDoesNotComeOut: what a store that writes later could not write is fired again,
// and is not a failure of its entry.
func TestFiringThatDoesNotComeOut(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	sam := w.as("sam")
	const entry = `{"type": "interval", "hours": 2, "route": "auto"}`
	names := []string{sam.mustPutEntry("", entry).Name, sam.mustPutEntry("", entry).Name}
	left := len(names)
	s.before = func(wrote write) error {
		if wrote.method != "InsertOccurrence" || left == 0 {
			return nil
		}
		left--
		return store.ErrAgain
	}
	w.advanceTo("2012-11-09T14:34:56Z")
	for _, name := range names {
		same(t, "occurrences", fmt.Sprint(sam.occurrences(name)), "[fired 2012-11-09T14:34:56Z]")
	}
	same(t, "cases", len(w.cases()), len(names))
}
