package engine_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/engine"
	"flowdrive/engine/machine"
)

// TestNewestCasesFollowChanges wants what is remembered of cases to choose and to count
// them as what is read when nothing is remembered does, after each kind of change.
func TestNewestCasesFollowChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("desk", routeDesk)
	queries := []engine.NewestQuery{
		{Limit: 50},
		{Limit: 50, Query: "fir"},
		{Limit: 50, Query: "2"},
		{Limit: 50, Query: "o", Best: 2},
		{Limit: 2},
		{Limit: 50, Status: "open"},
		{Limit: 50, Lives: []machine.Life{machine.Suspended}},
		{Limit: 50, Lives: []machine.Life{machine.Completed}},
		{Limit: 50, Archived: true},
		{Limit: 50, Route: "desk"},
		{Limit: 50, Context: "mine"},
	}
	look := func() (said []string) {
		t.Helper()
		for _, name := range []string{"eve", "ann", "admin"} {
			for _, q := range queries {
				page := try(w.Cases.NewestCases(t.Context(), w.as(name).by(), q)).must(w, "the newest cases")
				for _, v := range page.Cases {
					said = append(said, fmt.Sprintf("%s %+v: %d %q %s %s", name, q, v.Case.ID, v.Case.Title, v.Case.Shown(), v.Case.Status))
				}
			}
			counts, all, err := w.Cases.LifeCounts(t.Context(), w.as(name).by())
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, fmt.Sprint(name, counts, all))
		}
		return said
	}
	eve := w.as("eve")
	first, second := eve.startCase(`{"route": "desk", "title": "First"}`), eve.startCase(`{"route": "desk", "title": "Second one"}`)
	for _, step := range []struct {
		what string
		do   func()
	}{
		{"as it began", func() {}},
		{"started", func() { eve.startCase(`{"route": "desk", "title": "One more"}`) }},
		{"titled", func() { eve.mustPutCase(fmt.Sprint(first), `{"title": "Only"}`) }},
		{"suspended", func() { eve.mustPutCase(fmt.Sprint(first), `{"state": "suspended"}`) }},
		{"performed", func() { w.as("ann").mustDo(second, "answer", "perform") }},
		{"archived", func() { eve.mustDeleteCase(second) }},
	} {
		step.do()
		followed := look()
		w.reopen()
		if diff := cmp.Diff(look(), followed); diff != "" || len(followed) == 0 {
			t.Errorf("%s: read again, and as it was followed:\n%s", step.what, diff)
		}
	}
}

// TestNewestCasesCost: of the cases that a page looks at only those are read that have
// changed since another did.
func TestNewestCasesCost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("desk", routeDesk)
	eve := w.as("eve")
	for range 10 {
		eve.startCase(`{"route": "desk", "title": "First"}`)
	}
	cost := func(look func() error) (statements int64) {
		t.Helper()
		before := w.db.Stats().Statements
		if err := look(); err != nil {
			t.Fatal(err)
		}
		return w.db.Stats().Statements - before
	}
	search := func() error {
		_, err := w.Cases.NewestCases(t.Context(), eve.by(), engine.NewestQuery{Query: "second", Limit: 50})
		return err
	}
	count := func() error {
		_, _, err := w.Cases.LifeCounts(t.Context(), eve.by())
		return err
	}
	cold := cost(search)
	known := cost(search)
	same(t, "statements that read the cases at first: their states and their titles", cold-known, 2)
	same(t, "statements of a count beside those of a search that finds nothing", cost(count)-known, 0)
	eve.startCase(`{"route": "desk", "title": "Third"}`)
	same(t, "statements after a case was started: its state", cost(count)-known, 1)
	same(t, "statements after that: its title", cost(search)-known, 1)
	eve.startCase(`{"route": "desk", "title": "Second"}`)
	best := func() error {
		_, err := w.Cases.NewestCases(t.Context(), eve.by(), engine.NewestQuery{Query: "s", Limit: 50, Best: 1})
		return err
	}
	found := cost(best)
	same(t, "statements for the best of many: its state, its title and itself", found-known, 3)
}
