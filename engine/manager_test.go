package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

func (u user) putHold(name, doc string, options ...option) (*engine.Outcome, error) {
	return u.Holds.PutHold(u.Context(), u.request(options), name, []byte(doc))
}

func (u user) mustPutHold(name, doc string) *engine.Outcome {
	u.Helper()
	return try(u.putHold(name, doc)).must(u.world, name)
}

func (u user) mustDeleteHold(name string) {
	u.Helper()
	if err := u.Holds.DeleteHold(u.Context(), u.request(nil), name); err != nil {
		u.Fatal(err)
	}
}

// startsOf returns the cases that were started since the last call, in order.
func startsOf(s *spy) (ids []int64) {
	for _, wr := range s.seen() {
		if c, ok := wr.row.(*store.Case); ok && wr.method == "UpdateCase" && c.State != string(machine.Queued) {
			ids = append(ids, wr.caseID)
		}
	}
	return ids
}

// A hold keeps queued cases queued; what has started goes on, and once it has
// gone they start.
func TestHolds(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"route": `{"route": "ASK", "reason": "Stocktaking"}`, "group": `{"group": "desk"}`, "engine": `{"engine": true, "route": null}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			sam, admin := w.as("sam"), w.as("admin")
			admin.mustPutRoute("ask", routeAsk+"group: desk\n")
			admin.mustPutRoute("parent", `
access: {start: [everyone]}
states: {a: {type: start}, b: {type: complete}}
actions: {begin: {trigger: init}, wait: {in: [a], to: b, child: {route: ask, roles: {}}}}
`)
			before := sam.startCase(`{"route": "ask"}`)
			canceled := sam.startCase(`{"route": "ask", "startAt": "2013-01-01T00:00:00Z"}`)
			sam.mustPutCase(fileOf(canceled), `{"state": "canceled"}`)
			admin.mustPutHold("h", doc)

			put := sam.startCase(`{"route": "ask"}`)
			later := sam.startCase(`{"route": "ask", "startAt": "2012-11-09T12:35:00Z"}`)
			dropped, err := sam.drop("ask", "a.txt", "x", nil)
			if err != nil {
				t.Fatal(err)
			}
			out := sam.mustPutEntry("e.json", `{"type": "simple", "date": "2012-11-09T13:00", "route": "ask"}`)
			admin.mustPutCase(fileOf(canceled), `{"state": "active", "startAt": null}`)
			waiting := []int64{put, later, dropped.CaseID, canceled}
			if name != "engine" {
				parent := sam.startCase(`{"route": "parent"}`)
				sam.caseForm(parent).wants("state", `"active"`, "children/0/state", `"queued"`)
				waiting = append(waiting, number(t, sam.caseForm(parent).get("children/0/id")))
			}
			sam.mustPutCase(fileOf(put), `{"priority": 9, "title": "T"}`, func(r *engine.Request) { r.By = admin.by() })
			w.advance(time.Hour)
			if got := sam.occurrences(out.Name); len(got) != 1 || !strings.HasPrefix(got[0], "fired") {
				t.Errorf("a hold stops the entry: %q", got)
			}
			fired := slices.MaxFunc(w.cases(), func(a, b form) int { return int(number(t, a.get("id")) - number(t, b.get("id"))) })
			waiting = append(waiting, number(t, fired.get("id")))
			w.reopen()
			sam, admin = w.as("sam"), w.as("admin")
			w.advance(time.Minute)
			for _, id := range waiting {
				sam.caseForm(id).wants("state", `"queued"`)
			}
			sam.caseForm(before).wants("state", `"active"`)
			sam.mustPerform(before, "note")
			sam.caseForm(sam.startCase(`{"route": "auto"}`)).wants("state", map[bool]string{true: `"queued"`, false: `"completed"`}[name == "engine"])

			admin.mustPutHold("h2", doc)
			admin.mustDeleteHold("H")
			sam.caseForm(put).wants("state", `"queued"`)
			admin.mustPutHold("h2", `{"route": "own"}`) // replaced, it is about something else
			for _, id := range waiting {
				sam.caseForm(id).wants("state", `"active"`)
			}
		})
	}
}

// Who asks of a queued case what it cannot do yet is told what it waits for.
func TestWhyQueued(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.config = func(c *engine.Config) { c.Sandbox = false } // nobody starts what is queued while this test does not
	})
	sam, admin := w.as("sam"), w.as("admin")
	admin.mustPutRoute("one", routeGroup)
	wants := func(who user, id int64, want string) {
		t.Helper()
		for _, err := range []error{
			try(who.perform(id, "finish", `{}`)).err,
			try(who.putCase(fileOf(id), `{"state": "active"}`)).err,
		} {
			w.refused(err, errs.CaseNotOpen)
			if got, cut := strings.CutPrefix(err.Error(), "The case is queued; this can be done once it has started. "); !cut || got != want {
				t.Errorf("%v; want %s", err, want)
			}
		}
	}
	later := sam.startCase(`{"route": "one", "startAt": "2012-11-09T12:35:00Z"}`)
	wants(admin, later, "It waits for its startAt, 2012-11-09T12:35:00Z.")
	busy := sam.startCase(`{"route": "one"}`)
	w.setBusy(busy, true)
	id := sam.startCase(`{"route": "one"}`)
	wants(admin, id, `Another case of its group, "till", is at work; it starts when its turn comes.`)
	w.setBusy(busy, false)
	wants(admin, id, "It starts when its turn comes.")
	admin.mustPutHold("other", `{"route": "ask"}`)
	wants(admin, id, "It starts when its turn comes.")
	admin.mustPutHold("till", `{"group": "till"}`)
	wants(admin, id, "Admin/Holds/till.json holds it back.")
	admin.mustPutHold("till", `{"group": "till", "reason": "The till is counted."}`)
	wants(admin, id, "Admin/Holds/till.json holds it back: The till is counted.")
	same(t, "of sam, who may not see holds", try(sam.perform(id, "finish", `{}`)).err.Error(),
		"The case is queued; this can be done once it has started. An administrator holds it back: The till is counted.")
}

func TestHoldDocuments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	for doc, faults := range map[string][]string{
		`{}`: {"/route required"},
		`{"engine": false, "route": null, "reason": 5}`:  {"/route required", "/reason type"},
		`{"route": "nope"}`:                              {"/route not-found"},
		`{"route": ""}`:                                  {"/route format"},
		`{"group": "a b"}`:                               {"/group format"},
		`{"engine": "yes"}`:                              {"/engine type"},
		`{"route": "ask", "group": "g", "engine": true}`: {"/group conflict", "/engine conflict"},
		`{"engine": true, "until": "x", "reason": "` + strings.Repeat("x", 1001) + `"}`: {"/until unknown-field", "/reason range"},
	} {
		_, err := admin.putHold("h", doc)
		w.refused(err, errs.Invalid, faults...)
	}
	_, err := w.as("sam").putHold("h", `{"engine": true}`)
	w.refused(err, errs.NotFound)
	w.refused(w.Holds.DeleteHold(t.Context(), w.as("sam").request(nil), "h"), errs.NotFound)
	w.refused(w.Holds.DeleteHold(t.Context(), admin.request(nil), "h"), errs.NotFound)

	if out := try(admin.putHold("Night", `{"route": "Ask"}`, dryRun())).must(w, "a dry run"); !out.Created {
		t.Errorf("%+v", out)
	}
	made := admin.mustPutHold("Night", `{"route": "Ask", "reason": "Backups", "name": "x", "created": "x", "author": 7}`)
	same(t, "created", made.Created, true)
	want := indented(`{"name":"Night","route":"ask","group":null,"engine":false,"reason":"Backups","author":"admin",` +
		`"created":"2012-11-09T12:34:56Z","modified":"2012-11-09T12:34:56Z"}`)
	same(t, "form", string(made.Form), want)
	again := admin.mustPutHold("night", want) // what was read, saved again
	same(t, "saved again", again.FormETag, made.FormETag)
	_, err = admin.putHold("night", strings.Replace(want, "Night", "Day", 1))
	w.refused(err, errs.Invalid, "/name read-only")
	_, err = admin.putHold("night", strings.Replace(want, "2012-11-09T", "2012-11-08T", 1))
	w.refused(err, errs.Invalid, "/created read-only")
	_, err = admin.putHold("night", `{"engine": true}`, ifMatch(`"x"`))
	w.refused(err, errs.Precondition)
	_, err = admin.putHold("night", `{"engine": true}`, ifNew())
	w.refused(err, errs.Precondition)

	w.advance(time.Minute)
	changed := try(admin.putHold("NIGHT", `{"engine": true}`, ifMatch(made.FormETag))).must(w, "a change")
	w.form(changed.Form).wants("name", `"Night"`, "route", "null", "engine", "true", "reason", `""`, "modified", `"2012-11-09T12:35:56Z"`)
	admin.mustPutHold("a b", `{"group": "g"}`)

	// The route may have gone, and come back under its name.
	admin.mustPutRoute("brief", routeAsk)
	gone := admin.mustPutHold("c", `{"route": "brief"}`)
	if err := admin.deleteRoute("brief"); err != nil {
		t.Fatal(err)
	}
	admin.mustPutHold("c", strings.Replace(string(gone.Form), `"reason":""`, `"reason":"x"`, 1))
	admin.mustPutRoute("brief", routeAsk)
	admin.caseForm(admin.startCase(`{"route": "brief"}`)).wants("state", `"queued"`)
	admin.mustDeleteHold("c")
	all, err := w.Holds.Holds(t.Context(), admin.by())
	if err != nil || len(all) != 2 || all[0].Name != "Night" || all[1].Name != "a b" {
		t.Errorf("%+v, %v", all, err)
	}
	one, err := w.Holds.Hold(t.Context(), admin.by(), "night")
	if err != nil || one.FormETag != changed.FormETag || string(one.Form) != string(changed.Form) {
		t.Errorf("%+v, %v", one, err)
	}
	w.refused(try(w.Holds.Hold(t.Context(), admin.by(), "x")).err, errs.NotFound)
	w.refused(try(w.Holds.Hold(t.Context(), w.as("sam").by(), "night")).err, errs.NotFound)
	w.refused(try(w.Holds.Holds(t.Context(), w.as("sam").by())).err, errs.NotFound)
	w.refused(w.Holds.DeleteHold(t.Context(), admin.request([]option{ifMatch(made.FormETag)}), "night"), errs.Precondition)
	admin.mustDeleteHold("night")
	admin.mustDeleteHold("a b")
}

// Higher priority first; of equal ones each route in turn, in each by id.
func TestFairness(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	sam, admin := w.as("sam"), w.as("admin")
	admin.mustPutRoute("other", routeAsk)
	admin.mustPutHold("h", `{"engine": true}`)
	var flood, few, urgent []int64
	for i := range 600 {
		flood = append(flood, sam.startCase(`{"route": "auto", "priority": 200}`))
		if i%200 == 199 {
			few = append(few, sam.startCase(`{"route": "other", "priority": 200}`))
			urgent = append(urgent, sam.startCase(fmt.Sprintf(`{"route": "ask", "priority": %d}`, 300+i)))
		}
	}
	last := sam.startCase(`{"route": "other", "priority": 0}`)
	s.seen()
	admin.mustDeleteHold("h")
	slices.Reverse(urgent)
	want := urgent
	first := flood[:len(few)]
	for i := range few { // whose turn it is first depends on the ids of the routes
		want = append(want, first[i], few[i])
	}
	want = append(append(want, flood[len(few):]...), last)
	if diff := len(want); diff != 607 {
		t.Fatal(diff)
	}
	same(t, "started", startsOf(s), want)
}

// A route with many cases starves none however often a batch begins anew.
func TestTurnsOfManyRoutes(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	sam, admin := w.as("sam"), w.as("admin")
	admin.mustPutHold("h", `{"engine": true}`)
	const routes, each = 300, 2 // more routes than a batch has cases
	turn := map[int64]int{}
	for i := range routes {
		name := fmt.Sprintf("r%03d", i)
		admin.mustPutRoute(name, routeAsk)
		for n := range each {
			turn[sam.startCase(`{"route": "`+name+`"}`)] = n
		}
	}
	s.seen()
	admin.mustDeleteHold("h")
	var turns []int
	for _, id := range startsOf(s) {
		turns = append(turns, turn[id])
	}
	same(t, "started", len(turns), routes*each)
	same(t, "nobody has a second turn before all had the first", slices.IsSorted(turns), true)
}

const routeGroup = `
title: Grouped
group: till
access: {start: [everyone]}
roles: {clerk: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  finish: {in: [open], role: clerk, to: done}
`

// setBusy makes a case one that keeps others of its group from starting.
func (w *world) setBusy(id int64, busy bool) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		c, err := tx.Cases().Get(id)
		if err != nil {
			return err
		}
		c.Busy = busy
		return tx.Write().Cases().Update(c, c.Revision)
	})
}

// Cases of a group start one at a time, whatever their routes: while one is
// busy the others are queued, and then the first of them starts.
func TestGroup(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	sam, admin := w.as("sam"), w.as("admin")
	admin.mustPutRoute("one", routeGroup)
	admin.mustPutRoute("two", routeGroup)
	admin.mustPutRoute("three", strings.Replace(routeGroup, "till", "other", 1))

	// What waits for people is out of the group.
	first := sam.startCase(`{"route": "one"}`)
	second := sam.startCase(`{"route": "two"}`)
	sam.caseForm(first).wants("state", `"active"`)
	sam.caseForm(second).wants("state", `"active"`)

	w.setBusy(first, true)
	var waiting []int64
	for _, doc := range []string{`"one"`, `"two"`, `"two", "priority": 300`, `"one", "priority": 300`, `"two"`} {
		waiting = append(waiting, sam.startCase(`{"route": `+doc+`}`))
	}
	sam.caseForm(sam.startCase(`{"route": "three"}`)).wants("state", `"active"`)
	sam.caseForm(sam.startCase(`{"route": "ask"}`)).wants("state", `"active"`)
	sam.mustPerform(second, "finish") // another of the group does not let them start
	w.advance(time.Hour)
	w.reopen()
	sam = w.as("sam")
	w.advance(time.Hour)
	for _, id := range waiting {
		sam.caseForm(id).wants("state", `"queued"`)
	}

	// Once it has nothing to do they start, by priority and then by id, and
	// each when the one before is at rest.
	s.seen()
	sam.mustPutCase(fileOf(first), `{"title": "At rest"}`)
	same(t, "started", startsOf(s)[1:], []int64{waiting[2], waiting[3], waiting[0], waiting[1], waiting[4]})

	// One that is busy when it has started keeps back those behind it.
	w.setBusy(first, true)
	third, fourth := sam.startCase(`{"route": "one", "startAt": "2012-11-10T00:00:00Z"}`), sam.startCase(`{"route": "one"}`)
	s.before = func(wr write) error {
		if c, ok := wr.row.(*store.Case); ok && wr.caseID == fourth {
			c.Busy = c.State == string(machine.Active)
		}
		return nil
	}
	w.setBusy(first, false)
	w.advanceTo("2012-11-10T00:00:00Z")
	s.before = nil
	sam.caseForm(third).wants("state", `"active"`)
	sam.caseForm(fourth).wants("state", `"active"`)
	fifth := sam.startCase(`{"route": "two"}`)
	sam.caseForm(fifth).wants("state", `"queued"`)
	w.as("sam").mustPerform(fourth, "finish")
	sam.caseForm(fifth).wants("state", `"active"`)
}
