package engine_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTaskCasesFollowChanges wants what is remembered of somebody's tasks to be what is
// read when nothing is remembered, after each kind of change.
func TestTaskCasesFollowChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("desk", routeDesk)
	w.standsIn("eve", "ann")
	names := []string{"sam", "ann", "eve", "admin"}
	look := func() (said []string) {
		t.Helper()
		for _, name := range names {
			for _, c := range try(w.Worklists.TaskCases(t.Context(), w.as(name).by())).must(w, "the tasks") {
				said = append(said, fmt.Sprintf("%s %d %q for %q: %+v", name, c.ID, c.Title, c.Deputy, c.Tasks))
			}
		}
		return said
	}
	eve := w.as("eve")
	first, second, third := eve.startCase(`{"route": "desk", "title": "First"}`), eve.startCase(`{"route": "desk"}`), eve.startCase(`{"route": "desk"}`)
	for _, step := range []struct {
		what string
		do   func()
	}{
		{"as it began", func() {}},
		{"accepted", func() { w.as("ann").mustDo(first, "refuse", "accept") }},
		{"delegated", func() {
			try(w.as("sam").perform(second, "answer", `{"do": "delegate", "to": "eve"}`)).must(w, "delegate")
		}},
		{"started", func() { eve.startCase(`{"route": "desk", "title": "Fourth"}`) }},
		{"performed", func() { w.as("ann").mustDo(first, "refuse", "perform") }},
		{"performed by an administrator", func() {
			try(w.as("admin").perform(third, "answer", `{"do": "perform"}`)).must(w, "perform as administrator")
		}},
	} {
		step.do()
		followed := look()
		w.reopen()
		if diff := cmp.Diff(look(), followed); diff != "" || len(followed) == 0 {
			t.Errorf("%s: read again, and as it was followed:\n%s", step.what, diff)
		}
	}
}
