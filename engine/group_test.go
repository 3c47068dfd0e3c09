package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

const routeGroupParent = `
title: Parent
access: {start: [everyone]}
roles: {r: {assign: ["team:core"]}}
states: {a: {type: start}, b: {type: complete}}
actions:
  begin: {trigger: init}
  wait: {in: [a], to: b, child: {route: one, roles: {clerk: {from: r, each: per_user}}}}
`

// A child of a group starts with its parent where the group is at rest, and
// else when its turn comes; its parent waits for children and is out of the
// group.
func TestGroupOfChildren(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, admin := w.as("sam"), w.as("admin")
	admin.mustPutRoute("one", routeGroup)
	admin.mustPutRoute("parent", routeGroupParent+"group: till\n")
	children := func(id int64) string {
		f := sam.caseForm(id)
		return f.get("children/0/state") + f.get("children/1/state")
	}
	parent := sam.startCase(`{"route": "parent"}`)
	same(t, "at rest", children(parent), `"active""active"`)

	busy := sam.startCase(`{"route": "one"}`)
	w.setBusy(busy, true)
	other := sam.startCase(`{"route": "parent"}`)
	sam.caseForm(other).wants("state", `"queued"`)
	admin.mustPutRoute("parent", routeGroupParent) // of no group, it does not wait itself
	other = sam.startCase(`{"route": "parent"}`)
	sam.caseForm(other).wants("state", `"active"`)
	same(t, "while one is busy", children(other), `"queued""queued"`)

	// While the parent is suspended they do not start, though it is their turn.
	sam.mustPutCase(fileOf(other), `{"state": "suspended"}`)
	sam.mustPerform(busy, "finish")
	same(t, "of a suspended parent", children(other), `"suspended""suspended"`)
	sam.mustPutCase(fileOf(other), `{"state": "active"}`)
	same(t, "of one that goes on", children(other), `"active""active"`)
}

// A child overtakes no queued case of its group, also where the group has come
// to rest a moment ago and the manager has not looked yet.
func TestChildWaitsItsTurn(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s), func(w *world) {
		w.config = func(c *engine.Config) { c.Sandbox = false } // nobody starts what is queued while this test does not
	})
	sam, admin := w.as("sam"), w.as("admin")
	admin.mustPutRoute("one", routeGroup)
	later := strings.NewReplacer("in: [a]", "in: [m]", "a: {type: start}", "a: {type: start}, m: {}").Replace(routeGroupParent)
	admin.mustPutRoute("parent", later+"  ask: {in: [a], allowed: [readers], to: m}\n")
	parent, busy := sam.startCase(`{"route": "parent"}`), sam.startCase(`{"route": "one"}`)
	w.setBusy(busy, true)
	first := sam.startCase(`{"route": "one"}`)
	w.setBusy(busy, false)
	sam.mustPerform(parent, "ask")
	kids := sam.children(parent)
	for _, id := range append([]int64{first}, kids...) {
		sam.caseForm(id).wants("state", `"queued"`)
	}
	w.config = nil
	s.seen()
	w.reopen() // a sandbox, which does what was left before it answers
	w.as("admin").startCase(`{"route": "ask"}`)
	started := slices.DeleteFunc(startsOf(s), func(id int64) bool { return id == parent }) // which shows its children's states
	same(t, "the order of starts", started, append([]int64{first}, kids...))
}

// A case that moves to a version of its route without the group leaves it to
// the others.
func TestGroupAndMigration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, admin := w.as("sam"), w.as("admin")
	admin.mustPutRoute("one", routeGroup)
	admin.mustPutRoute("two", routeGroup)
	first := sam.startCase(`{"route": "one"}`)
	w.setBusy(first, true)
	next := sam.startCase(`{"route": "two"}`)
	ungrouped := strings.Replace(routeGroup, "group: till\n", "", 1)
	admin.mustPutRoute("one", ungrouped) // what runs has the version that it has
	w.advance(time.Minute)
	sam.caseForm(next).wants("state", `"queued"`)
	try(w.Routes.MigrateRoute(t.Context(), admin.request(nil), "one", true, []byte(strings.Replace(ungrouped, "Grouped", "Alone", 1)))).must(w, "a migration")
	sam.caseForm(first).wants("routeVersion", "3")
	w.advance(time.Minute)
	sam.caseForm(next).wants("state", `"active"`)
}

// Who creates more children than one event makes is busy until all are made,
// and a restart goes on with it.
func TestGroupWithWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.config = func(c *engine.Config) { c.Sandbox = false } // nobody does the rest while this test does not
	})
	admin := w.as("admin")
	var members []string
	for i := range 2 * machine.Batch {
		name := fmt.Sprintf("m%03d", i)
		admin.mustPutParty("user", name, `{}`)
		members = append(members, `"`+name+`"`)
	}
	admin.mustPutParty("team", "core", `{"members": [`+strings.Join(members, ",")+`]}`)
	admin.mustPutRoute("one", strings.Replace(routeGroup, "group: till\n", "", 1))
	admin.mustPutRoute("parent", routeGroupParent+"group: till\n")
	admin.mustPutRoute("two", routeGroup)
	parent := admin.startCase(`{"route": "parent"}`)
	next := admin.startCase(`{"route": "two"}`)
	admin.caseForm(next).wants("state", `"queued"`)
	w.config = nil
	w.reopen() // a sandbox, which does what was left before it answers
	admin = w.as("admin")
	admin.mustPerform(admin.startCase(`{"route": "ask"}`), "note")
	admin.caseForm(parent).wants("childrenCount", fmt.Sprint(2*machine.Batch))
	admin.caseForm(next).wants("state", `"active"`)
}

// Whatever is asked for at once, no two cases of a group are busy at a time:
// what was decided while the group was at rest is decided again.
func TestGroupRace(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s), func(w *world) {
		w.config = func(c *engine.Config) { c.Sandbox = false }
	})
	w.as("admin").mustPutRoute("one", routeGroup)
	s.before = func(wr write) error {
		if c, ok := wr.row.(*store.Case); ok {
			c.Busy = c.State == string(machine.Active)
		}
		return nil
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for _, name := range []string{"", "a.json", "b.json"} {
				if _, err := w.as("sam").putCase(name, `{"route": "one"}`); err != nil && !errs.Is(err, errs.ActionNotEnabled) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	states := map[string]int{}
	for _, c := range w.cases() {
		states[c.get("state")]++
	}
	same(t, "active", states[`"active"`], 1)
	same(t, "queued", states[`"queued"`] > 20, true)
}

// Once a hold is answered nothing starts that it holds, though it was decided
// to before.
func TestHoldIsStrict(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s), func(w *world) {
		w.config = func(c *engine.Config) { c.Sandbox = false }
	})
	sam, admin := w.as("sam"), w.as("admin")
	once := false
	s.first = func() error { // the case is decided on; its unit has not run yet
		if !once {
			once = true
			w.update(func(tx store.Tx) error {
				return tx.Write().Queue().PutHold(&store.Hold{Name: "h", Engine: true, Revision: 1, Created: w.clock.Now(), Modified: w.clock.Now()})
			})
		}
		return nil
	}
	sam.caseForm(sam.startCase(`{"route": "ask"}`)).wants("state", `"queued"`)
	s.first = nil
	admin.mustDeleteHold("h")
}

// Where the store fails on the way, no case is lost and none starts twice.
func TestHoldEndsAndTheStoreFails(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	sam, admin := w.as("sam"), w.as("admin")
	admin.mustPutRoute("one", routeGroup)
	admin.mustPutHold("h", `{"group": "till"}`)
	var ids []int64
	for range 5 {
		ids = append(ids, sam.startCase(`{"route": "one"}`))
	}
	for n := range 5 {
		writes := 0
		s.before = func(wr write) error {
			if writes++; wr.method == "UpdateCase" && writes > n {
				return unavailable()
			}
			return nil
		}
		if n == 0 {
			admin.mustDeleteHold("h")
		} else {
			w.reopen()
			sam = w.as("sam")
			sam.startCase(`{"route": "ask"}`)
		}
	}
	s.before = nil
	w.reopen()
	sam = w.as("sam")
	w.advance(time.Minute)
	for _, id := range ids {
		sam.caseForm(id).wants("state", `"active"`)
		if log := sam.logTexts(id); len(log) != 2 {
			t.Errorf("log: %q", log)
		}
	}
}

// Cases of a group that have each other started without end hold up nobody for
// ever: a request is answered, and the clock stops on the way.
func TestGroupLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.config = func(c *engine.Config) { c.Firings = 300 }
	})
	sam, admin := w.as("sam"), w.as("admin")
	admin.mustPutRoute("leaf", `
group: g
access: {start: [everyone]}
states: {a: {type: start}, b: {type: complete}}
actions: {begin: {trigger: init}, end: {trigger: auto, in: [a], to: b}}
`)
	admin.mustPutRoute("loop", `
access: {start: [everyone]}
states: {a: {type: start}, c: {}}
actions:
  begin: {trigger: init}
  wait: {in: [a], to: c, child: {route: leaf, roles: {}}}
  again: {trigger: auto, in: [c], to: a}
`)
	admin.mustPutHold("h", `{"route": "leaf"}`)
	ids := []int64{sam.startCase(`{"route": "loop"}`), sam.startCase(`{"route": "loop"}`)}
	admin.mustDeleteHold("h")
	if done := w.advance(time.Minute); done.Fired != 0 {
		t.Errorf("%+v", done)
	}
	for _, id := range ids {
		sam.mustPutCase(fileOf(id), `{"state": "canceled"}`)
	}
	if done := w.advance(time.Minute); !done.Complete {
		t.Errorf("%+v", done)
	}
}

// A case whose requests are on their way keeps the others of its group queued,
// and the last answer lets the next one start.
func TestGroupAndOutbox(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{answer: func(context.Context, *outbox.Delivery) (*outbox.Reply, error) {
			<-time.After(time.Second)
			return nil, nil
		}}
		w, stop := realTime(t, reaching(outside, nil))
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutRoute("one", strings.Replace(routeGroup, "trigger: init", `trigger: init, sideEffects: [{http: {url: "https://a.example.org/"}}, {http: {url: "https://b.example.org/"}}]`, 1))
		sam := w.as("sam")
		const cases = 5
		var ids []int64
		for range cases {
			ids = append(ids, sam.startCase(`{"route": "one"}`))
		}
		sam.caseForm(ids[0]).wants("state", `"active"`)
		for _, id := range ids[1:] {
			sam.caseForm(id).wants("state", `"queued"`)
		}
		await(time.Minute)
		var started []string
		for _, id := range ids {
			f := sam.caseForm(id)
			f.wants("state", `"active"`)
			started = append(started, f.get("started"))
		}
		same(t, "none starts beside another", len(slices.Compact(started)), cases)
		same(t, "in order", slices.IsSorted(started), true)
		same(t, "deliveries", len(outside.seen()), 2*cases)
		same(t, "at a time", outside.most["https://a.example.org/"], 1)
	})
}
