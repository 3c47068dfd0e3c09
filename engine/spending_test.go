package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// costlyRoute has a timer, and guards that each cost as much as an evaluation may.
func costlyRoute(guards int) string {
	const ten = "[1,2,3,4,5,6,7,8,9,10]"
	var b strings.Builder
	b.WriteString("access: {start: [everyone], read: [everyone]}\nroles: {who: {assign: [starter]}}\nstates: {a: {type: start, timeout: PT1H, onTimeout: [{set: {t: 1}}]}, done: {type: complete}}\n")
	b.WriteString("actions:\n  begin: {trigger: init, to: a}\n  go: {in: [a], role: who, to: done}\n")
	for i := range guards {
		fmt.Fprintf(&b, "  g%d: {in: [a], role: who, to: done, guard: 'has(xattr.t) && %s.all(a, %s.all(b, %s.all(c, a + b + c > %d)))'}\n", i, ten, ten, ten, -i)
	}
	return b.String()
}

// TestCostlyCasesAreShared: the cases of one user whose expressions cost much do not keep
// what is due of others waiting: one of them fills that user's share of a unit.
func TestCostlyCasesAreShared(t *testing.T) {
	t.Parallel()
	const many = 8
	s := &spy{}
	w := newWorld(t, spied(s), func(w *world) { w.config = func(cfg *engine.Config) { cfg.Sandbox = false } })
	w.as("admin").mustPutRoute("costly", costlyRoute(15))
	w.as("admin").mustPutRoute("cheap", costlyRoute(0))
	var due []int64
	var hers int64
	stop := w.running()
	for range many {
		due = append(due, w.as("sam").startCase(`{"route": "costly"}`))
	}
	hers = w.as("ann").startCase(`{"route": "cheap"}`)
	for _, id := range append(slices.Clone(due), hers) {
		until(func() bool { return w.as("admin").caseForm(id).get("state") == `"active"` })
	}
	stop()
	w.clock.Set(w.clock.Now().Add(2 * time.Hour))
	var order []int64
	all := make(chan struct{})
	s.mu.Lock()
	s.before = func(wr write) error {
		if c, is := wr.row.(*store.Case); is && !slices.Contains(order, c.ID) {
			if order = append(order, c.ID); len(order) == many+1 {
				close(all)
			}
		}
		return nil
	}
	s.mu.Unlock()
	stop = w.running()
	<-all
	stop()
	if at := slices.Index(order, hers); at < 0 || at > 1 {
		t.Errorf("ann's case %d is number %d of %v", hers, at, order)
	}
}

// TestCostlyCaseIsSuspended: a case whose expressions cost more than those of an event may is
// suspended by its timer, people are told once why, and it can be resumed.
func TestCostlyCaseIsSuspended(t *testing.T) {
	t.Parallel()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	w.as("admin").mustPutRoute("costly", costlyRoute(50))
	id := w.as("sam").startCase(`{"route": "costly"}`)
	told := w.toldSince(id)
	w.advance(time.Hour)
	w.as("sam").caseForm(id).wants("state", `"suspended"`)
	if log := strings.Join(w.as("sam").logTexts(id), "\n"); strings.Count(log, fmt.Sprintf("cost more than %d, taken together, so the case is suspended", machine.MaxCost)) != 1 {
		t.Errorf("the log says\n%s", log)
	}
	if mails := strings.Join(told(), "\n"); !strings.Contains(mails, "could not be evaluated") {
		t.Errorf("people were told\n%s", mails)
	}
	w.advance(10 * time.Hour)
	if mails := told(); len(mails) != 0 {
		t.Errorf("and again\n%s", strings.Join(mails, "\n"))
	}
	w.as("sam").mustPutCase(fileOf(id), `{"state": "active"}`)
	w.as("sam").mustPerform(id, "go")
	w.as("sam").caseForm(id).wants("state", `"completed"`)
}

// TestAttemptsAreBounded: a decision that finds out message by message what it needs to know
// begins from the start each time; all that together is bounded as well.
func TestAttemptsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	route := strings.ReplaceAll(costlyRoute(40), "[1,2,3,4,5,6,7,8,9,10].all(c", "[1,2,3].all(c")
	for i := range 40 {
		route = strings.Replace(route, fmt.Sprintf("> %d)))", -i), fmt.Sprintf("> %d))) && has(message.m%d)", -i, i), 1)
	}
	w.as("admin").mustPutRoute("costly", route)
	id := w.as("sam").startCase(`{"route": "costly"}`)
	w.advance(time.Hour)
	w.as("sam").caseForm(id).wants("state", `"suspended"`)
}

// TestDisablingGoesInParts: the cases of a disabled user follow in units, between which
// others write.
func TestDisablingGoesInParts(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	units := map[int]int{} // by the number of guards
	for guards, name := range map[int]string{0: "ann", 20: "sam"} {
		route := fmt.Sprintf("costly-%d", guards)
		w.as("admin").mustPutRoute(route, strings.Replace(costlyRoute(guards), "onTimeout: [{set: {t: 1}}]", "onTimeout: []", 1))
		var ids []int64
		for range 4 {
			id := w.as(name).startCase(`{"route": "` + route + `", "xattrDict": {"t": 1}}`)
			if _, err := w.as(name).perform(id, "go", `{"do": "accept"}`); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		s.first = func() error { units[guards]++; return nil }
		w.as("admin").mustPutParty(identity.User, name, `{"disabled": true}`)
		s.first = nil
		for _, id := range ids {
			if log := w.as("admin").logTexts(id); !slices.Contains(log, "task: Released go: "+name+" was disabled") {
				t.Errorf("case %d: %q", id, log)
			}
		}
	}
	if units[20] <= units[0] {
		t.Errorf("disabling took %d units, %d of cases that cost nothing", units[20], units[0])
	}
}
