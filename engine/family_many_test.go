package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
)

// counting is a store that counts what its readers are asked about children,
// and knows the longest that a unit took.
type counting struct {
	engine.Store
	scans int
}

func (s *counting) View(ctx context.Context, f func(engine.Reader) error) error {
	return s.Store.View(ctx, func(r engine.Reader) error { return f(countingReader{r, s}) })
}

// countingReader counts scans of all children; within units nothing scans
// either, for units are decided by what was read before or by the same code.
type countingReader struct {
	engine.Reader
	of *counting
}

func (r countingReader) ChildMarkings(parent, row int64, f func([]byte) error) error {
	r.of.scans++
	return r.Reader.ChildMarkings(parent, row, f)
}

// TestManyChildren creates as many children as an enablement may have, which
// end, are tallied and closed, while the actions of another case are answered
// in between.
func TestManyChildren(t *testing.T) {
	t.Parallel()
	people := []int{10, 100, 100}
	if testing.Short() || raceDetector {
		people = []int{2, 20, 40}
	}
	total := people[0] * people[1] * people[2]
	store := &counting{}
	w := newWorld(t, func(w *world) {
		w.wrap = func(s engine.Store) engine.Store { store.Store = s; return store }
		w.config = func(c *engine.Config) { c.Sandbox = false }
	})
	admin, sam := w.as("admin"), w.as("sam")
	for i, n := range people {
		var members []string
		for j := range n {
			name := fmt.Sprintf("m%d-%03d", i, j)
			if i > 0 && j < people[i-1] && people[i] == people[i-1] {
				name = fmt.Sprintf("m%d-%03d", i-1, j)
			} else {
				admin.mustPutParty(identity.User, name, `{}`)
			}
			members = append(members, `"`+name+`"`)
		}
		admin.mustPutParty(identity.Team, fmt.Sprintf("t%d", i), `{"members": [`+strings.Join(members, ", ")+`]}`)
	}
	admin.mustPutRoute("flash", "roles: {a: {}, b: {}, c: {}}\nstates: {new: {type: start}, seen: {type: complete}}\nactions:\n  begin: {trigger: init, to: seen}\n")
	admin.mustPutRoute("census", `
access: {start: [everyone]}
roles: {a: {assign: ["team:t0"]}, b: {assign: ["team:t1"]}, c: {assign: ["team:t2"]}}
states: {new: {type: start}, counting: {}, done: {type: complete}, wrong: {type: denied}}
actions:
  begin: {trigger: init}
  count: {in: [new], child: {route: flash, while: counting, roles: {a: {from: a, each: per_user}, b: {from: b, each: per_user}, c: {from: c, each: per_user}}},
    decide: 'tally.status.seen == tally.total ? "all" : "some"', outputs: {all: done, some: wrong}}
`)
	other := sam.startCase(`{"route": "ask"}`)
	defer w.running()()
	began := time.Now()
	id := sam.startCase(`{"route": "census"}`)
	longest, answered := time.Duration(0), 0
	var settled time.Duration
	for settled == 0 {
		at := time.Now()
		try(sam.perform(other, "note", `{}`)).must(w, "a note of the other case")
		longest = max(longest, time.Since(at))
		answered++
		w.view(func(r engine.Reader) error {
			row, err := r.Case(id)
			if err == nil && row.State == "completed" && row.Due.IsZero() {
				settled = time.Since(began)
			}
			return err
		})
		if answered > 1_000_000 {
			t.Fatal("without end")
		}
	}
	sam.caseForm(id).wants("childrenCount", fmt.Sprint(total), "status", `"done"`, "children/99/state", `"closed"`)
	w.view(func(r engine.Reader) error {
		ids, err := r.Children(id, 1, 0, 1)
		if len(ids) != 0 {
			t.Errorf("the children %v are neither closed nor canceled", ids)
		}
		return err
	})
	if store.scans > 0 {
		t.Errorf("all children were looked at %d times", store.scans)
	}
	same(t, "failures", w.log.count(`"level":"error"`), 0)
	t.Logf("%d children in %v; %d actions of another case answered meanwhile, the slowest in %v", total, settled, answered, longest)
	// A batch of 256 children is a unit: were they all made in one, hardly any
	// action would come between.
	if batches := total / machine.Batch; answered < batches/4 {
		t.Errorf("%d actions were answered within %d batches", answered, batches)
	}
}
