package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

func (u user) migrate(name, doc string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.Routes.MigrateRoute(u.Context(), u.request(options), name, true, []byte(doc))
}

// routeAsk2 is the next version of routeAsk: closed is a state no more.
func routeAsk2() string {
	return strings.NewReplacer("closed: {type: complete}", "shut: {type: complete}", "to: closed", "to: shut", "[closed]", "[shut]", "note:", "remark:").Replace(routeAsk)
}

// A case whose status the new version lacks refuses the whole, and is named.
func TestMigrateStranded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	open, closed, gone := sam.startCase(`{"route": "ask"}`), sam.startCase(`{"route": "ask"}`), sam.startCase(`{"route": "ask"}`)
	for _, id := range []int64{closed, gone} {
		w.as("ann").mustPerform(id, "answer")
	}
	sam.mustPerform(closed, "close")
	sam.mustPutCase(fmt.Sprint(gone)+".json", `{"state": "canceled"}`)
	_, err := admin.migrate("ask", strings.Replace(routeAsk2(), "answered: {}", "known: {}", 1))
	w.refused(err, errs.Invalid) // the actions name it still
	w.as("ann").mustPerform(open, "answer")
	doc := strings.NewReplacer("answered: {}", "known: {}", "to: answered", "to: known", "[answered]", "[known]").Replace(routeAsk2())
	_, err = admin.migrate("ask", doc)
	w.refused(err, errs.Migrate)
	e, _ := errors.AsType[*errs.Error](err)
	same(t, "cases", e.Extra["cases"], any([]store.Stranded{{Case: open, Status: "answered"}, {Case: closed, Status: "closed"}}))
	for _, part := range []string{fmt.Sprintf("%d (answered)", open), fmt.Sprintf("%d (closed)", closed)} {
		if !strings.Contains(e.Detail, part) {
			t.Errorf("%q does not name %s", e.Detail, part)
		}
	}
	sam.caseForm(open).wants("routeVersion", "1", "version", "3")
	res := try(w.Routes.Route(t.Context(), admin.by(), "ask")).must(w, "route")
	w.form(res.Form).wants("version", "1")
	_, err = admin.migrate("ask", doc, dryRun())
	w.refused(err, errs.Migrate)
	_, err = sam.migrate("ask", doc)
	w.refused(err, errs.NotAllowed)
}

// Every case moves that can go on; a fault in one is listed and keeps no
// other from moving. A dry run reports the same and does nothing.
func TestMigrate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	const most = 230 // more than two batches
	var ids []int64
	for range most {
		ids = append(ids, sam.startCase(`{"route": "ask"}`))
	}
	held, canceled, odd := ids[3], ids[4], ids[5]
	sam.mustPutCase(fmt.Sprint(held)+".json", `{"state": "suspended"}`)
	sam.mustPutCase(fmt.Sprint(canceled)+".json", `{"state": "canceled"}`)
	sam.mustPutCase(fmt.Sprint(odd)+".json", `{"xattrDict": {"n": "five"}}`)
	doc := routeAsk2() + "xattrs: {n: {type: number}}\n"
	report := fmt.Sprintf(`{"version":2,"moved":%d,"failed":1,"faults":[{"case":%d,"detail":"The document is not right; nothing was changed.`, most-2, odd)
	before := sam.caseForm(ids[0]).text
	out := try(admin.migrate("ask", doc, dryRun())).must(w, "a dry run")
	if got := w.form(out.Report).get("migration"); !strings.HasPrefix(got, report[:len(report)-50]) {
		t.Errorf("the dry run reports %s, want %s", got, report)
	}
	same(t, "a case after a dry run", sam.caseForm(ids[0]).text, before)

	out = try(admin.migrate("ask", doc, withKey("k", "/", doc), func(req *engine.Request) {
		req.Answer = func(o *engine.Outcome) []byte { return o.Report }
	})).must(w, "migrate")
	same(t, "the answer again", try(admin.replay("k", "/", doc)).must(w, "replay"), string(out.Report))
	if got := w.form(out.Report).get("migration"); !strings.HasPrefix(got, report[:len(report)-50]) {
		t.Errorf("reports %s, want %s", got, report)
	}
	w.form(out.Report).wants("name", `"ask"`, "version", "2")
	if got := w.form(out.Told).get("migration/cases"); !strings.HasPrefix(got, fmt.Sprintf("[%d,%d,%d,%d,", ids[0], ids[1], ids[2], held)) {
		t.Errorf("moved %s", got)
	}
	for _, id := range ids {
		version := "2"
		if id == canceled || id == odd {
			version = "1"
		}
		sam.caseForm(id).wants("routeVersion", version)
	}
	sam.caseForm(held).wants("state", `"suspended"`)
	sam.caseForm(ids[0]).wants("enabledActions", `["answer","remark","audit"]`)
	log := sam.logTexts(ids[0])
	same(t, "log", log[len(log)-1], "life: Moved to version 2 of the route")

	// Equal content makes no version, and moves who was left.
	sam.mustPutCase(fmt.Sprint(odd)+".json", `{"xattrDict": {"n": "5"}}`)
	if out = try(admin.migrate("ask", doc)).must(w, "again"); out.Report != nil {
		t.Errorf("reports %s", out.Report)
	}
	w.form(out.Told).wants("migration", fmt.Sprintf(`{"version":2,"moved":1,"failed":0,"faults":[],"cases":[%d]}`, odd))
	sam.caseForm(odd).wants("routeVersion", "2", "xattrDict/n", "5")
	if out = try(admin.migrate("fresh", routeAsk)).must(w, "a new route"); !out.Created || out.Report != nil {
		t.Errorf("%+v", out)
	}
}

// What a process that ended has left of a migration the next one does.
func TestMigrationGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	first, second := sam.startCase(`{"route": "ask"}`), sam.startCase(`{"route": "ask"}`)
	admin.mustPutRoute("ask", routeAsk2())
	w.update(func(tx store.Tx) error {
		return tx.Write().Settings().Put("migrations", fmt.Sprintf(`[{"route":%s,"version":2,"after":%d,"by":"admin"}]`, admin.routeID("ask"), first))
	})
	w.reopen()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Engine.Run(ctx) }()
	for w.as("sam").caseForm(second).get("routeVersion") != "2" {
		if t.Context().Err() != nil {
			t.Fatal("the migration does not go on")
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	w.as("sam").caseForm(first).wants("routeVersion", "1", "state", `"`+string(machine.Active)+`"`)
	w.view(func(r store.Reader) error {
		left, err := r.Settings().Get("migrations")
		same(t, "left", left, "")
		return err
	})
}

// Deleting a route by force cancels its open cases, however many, and pauses
// the entries that name it.
func TestDeleteRouteByForce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	var open []int64
	for range 210 {
		open = append(open, sam.startCase(`{"route": "ask"}`))
	}
	sam.mustPutCase(fmt.Sprint(open[1])+".json", `{"state": "suspended"}`)
	w.as("ann").mustPerform(open[2], "answer")
	sam.mustPerform(open[2], "close")
	other := sam.startCase(`{"route": "own"}`)
	sam.mustPutEntry("nightly.json", `{"type": "cron", "route": "ask", "hour": "23", "minute": "0"}`)
	w.refused(admin.Routes.DeleteRoute(t.Context(), admin.request(nil), "ask", false), errs.InUse)
	w.refused(sam.Routes.DeleteRoute(t.Context(), sam.request(nil), "ask", true), errs.NotAllowed)
	if err := admin.Routes.DeleteRoute(t.Context(), admin.request(nil), "ask", true); err != nil {
		t.Fatal(err)
	}
	for i, id := range open {
		want := `"canceled"`
		if i == 2 {
			want = `"completed"`
		}
		sam.caseForm(id).wants("state", want)
	}
	log := sam.logTexts(open[0])
	same(t, "log", log[len(log)-1], "life: Canceled")
	sam.caseForm(other).wants("state", `"active"`)
	sam.entry("nightly.json").wants("paused", "true", "note", `"The route ask was deleted."`, "nextIteration", "null")
	w.refused(try(w.Routes.Route(t.Context(), admin.by(), "ask")).err, errs.NotFound)
	w.advanceTo("2012-11-12T00:00:00Z")
	sam.entry("nightly.json").wants("paused", "true", "lastIteration", "null")
}
