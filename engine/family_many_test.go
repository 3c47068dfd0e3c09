package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// counting is a store that counts what its readers are asked about children,
// and how many cases its units create.
type counting struct {
	store.Store
	scans   atomic.Int64 // of all children of an enablement
	largest atomic.Int64 // how many cases one unit created at most
}

func (s *counting) View(ctx context.Context, f func(store.Reader) error) error {
	return s.Store.View(ctx, func(r store.Reader) error { return f(countingReader{r, s}) })
}

func (s *counting) Update(ctx context.Context, f func(store.Tx) error) error {
	return s.Store.Update(ctx, func(tx store.Tx) error {
		unit := countingTx{Tx: tx}
		err := f(&unit)
		s.largest.Store(max(s.largest.Load(), unit.created)) // there is one writer
		return err
	})
}

// countingReader counts scans of all children; within units nothing scans
// either, for units are decided by what was read before or by the same code.
type countingReader struct {
	store.Reader
	of *counting
}

func (r countingReader) Cases() store.CaseReader { return countingCases{r.Reader.Cases(), r.of} }

type countingCases struct {
	store.CaseReader
	of *counting
}

func (r countingCases) ChildMarkings(parent, row int64, f func([]byte) error) error {
	r.of.scans.Add(1)
	return r.CaseReader.ChildMarkings(parent, row, f)
}

// countingTx counts the cases that a unit creates.
type countingTx struct {
	store.Tx
	created int64
}

func (tx *countingTx) Write() store.Writer { return countingWriter{tx.Tx.Write(), tx} }

type countingWriter struct {
	store.Writer
	tx *countingTx
}

func (w countingWriter) Cases() store.CaseWriter {
	return creationCounter{w.Writer.Cases(), w.tx}
}

type creationCounter struct {
	store.CaseWriter
	tx *countingTx
}

func (w creationCounter) Insert(c *store.Case) error {
	w.tx.created++
	return w.CaseWriter.Insert(c)
}

// TestManyChildren creates many children of one enablement, which end, are
// tallied and closed. They are created a batch a unit, so that the actions of
// another case are answered in between.
func TestManyChildren(t *testing.T) {
	t.Parallel()
	people := []int{10, 40, 40}
	if testing.Short() || raceDetector {
		people = []int{2, 20, 40}
	}
	total := people[0] * people[1] * people[2]
	counted := &counting{}
	w := newWorld(t, func(w *world) {
		w.wrap = func(s store.Store) store.Store { counted.Store = s; return counted }
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
	id := sam.startCase(`{"route": "census"}`)
	for settled, answered := false, 0; !settled; answered++ {
		try(sam.perform(other, "note", `{}`)).must(w, "a note of the other case")
		w.view(func(r store.Reader) error {
			row, err := r.Cases().Get(id)
			settled = err == nil && row.State == "completed" && row.Due.IsZero()
			return err
		})
		if answered > 1_000_000 {
			t.Fatal("without end")
		}
	}
	sam.caseForm(id).wants("childrenCount", fmt.Sprint(total), "status", `"done"`, "children/99/state", `"closed"`)
	w.view(func(r store.Reader) error {
		ids, err := r.Cases().Children(id, 1, 0, 1)
		if len(ids) != 0 {
			t.Errorf("the children %v are neither closed nor canceled", ids)
		}
		return err
	})
	if n := counted.scans.Load(); n > 0 {
		t.Errorf("all children were looked at %d times", n)
	}
	if n := counted.largest.Load(); n != machine.Batch+1 { // the case itself is created with the first
		t.Errorf("a unit created up to %d cases; want %d", n, machine.Batch+1)
	}
	same(t, "failures", w.log.count(`"level":"error"`), 0)
}
