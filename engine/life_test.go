package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// routeNag has a timed action beside what people may do.
const routeNag = `
name: nag
access: {start: [everyone]}
roles: {r: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  nag: {in: [open], trigger: time, timeout: PT1H, past: Nagged}
  finish: {in: [open], role: r, to: done}
`

// A case is suspended and resumed by its state, with or without a date.
func TestSuspend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("nag", routeNag)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "nag"}`)
	name := fmt.Sprint(id) + ".json"
	sam.mustPutCase(name, `{"state": "suspended", "title": "Later"}`)
	sam.caseForm(id).wants("state", `"suspended"`, "suspendedUntil", "null", "title", `"Later"`, "version", "4")
	sam.refusedOnHold(id)

	// Fields can be changed, and the document saved as it was read.
	for _, doc := range []string{`{"state": "suspended"}`, `{"suspendedUntil": null}`, sam.caseForm(id).text} {
		if out := try(sam.putCase(name, doc)).must(w, doc); out.Changed {
			t.Errorf("%s changed the case", doc)
		}
	}
	sam.mustPutCase(name, `{"stakeholders": ["eve"], "xattrDict": {"a": 1}}`)
	sam.caseForm(id).wants("state", `"suspended"`, "stakeholders", `["eve"]`, "xattrDict", `{"a":1}`)

	w.advance(2 * time.Hour)
	if log := strings.Join(sam.logTexts(id), "; "); strings.Contains(log, "Nagged") {
		t.Errorf("a suspended case fired: %s", log)
	}
	sam.mustPutCase(name, `{"state": "active"}`)
	sam.caseForm(id).wants("state", `"active"`, "enabledActions", `["finish"]`)
	log := sam.logTexts(id)
	same(t, "log", log[len(log)-4:], []string{"life: Suspended", "roles: Changed stakeholders; a: 1", "life: Resumed", "action: Nagged"})

	// With a date it wakes by itself, at that very instant.
	sam.mustPutCase(name, `{"state": "suspended", "suspendedUntil": "2012-11-11T01:00:00+01:00"}`)
	shown := sam.caseForm(id)
	shown.wants("suspendedUntil", `"2012-11-11T00:00:00Z"`)
	if out := try(sam.putCase(name, shown.text)).must(w, "saved again"); out.Changed {
		t.Error("saving what was read changed the case")
	}
	w.advanceTo("2012-11-10T23:59:59Z")
	sam.caseForm(id).wants("state", `"suspended"`)
	w.advance(time.Second)
	sam.caseForm(id).wants("state", `"active"`, "suspendedUntil", "null", "modified", `"2012-11-11T00:00:00Z"`)

	// The document as it was read, with another state: the old date says nothing.
	sam.mustPutCase(name, `{"state": "suspended", "suspendedUntil": "2012-12-01T00:00:00Z"}`)
	sam.mustPutCase(name, strings.Replace(sam.caseForm(id).text, `"suspended"`, `"active"`, 1))
	sam.caseForm(id).wants("state", `"active"`, "suspendedUntil", "null")

	// A date that has come wakes it at once; a date alone moves the one there is.
	sam.mustPutCase(name, `{"state": "suspended", "suspendedUntil": "2012-11-01T00:00:00Z"}`)
	sam.caseForm(id).wants("state", `"active"`)
	sam.mustPutCase(name, `{"state": "suspended"}`)
	sam.mustPutCase(name, `{"suspendedUntil": "2012-11-12T00:00:00Z"}`)
	sam.caseForm(id).wants("state", `"suspended"`, "suspendedUntil", `"2012-11-12T00:00:00Z"`)
	sam.mustPutCase(name, `{"suspendedUntil": null}`)
	sam.caseForm(id).wants("state", `"suspended"`, "suspendedUntil", "null")
	sam.mustPutCase(name, `{"state": "canceled"}`)
	sam.caseForm(id).wants("state", `"canceled"`, "suspendedUntil", "null")
}

// refusedOnHold wants whatever is asked of an action to be refused.
func (a user) refusedOnHold(id int64) {
	a.Helper()
	for _, doc := range []string{`{}`, `{"do": "skip"}`, `{"do": "abort"}`} {
		_, err := a.perform(id, "finish", doc)
		a.refused(err, errs.CaseNotOpen)
	}
}

// What cannot be asked of the state and its date is refused, with the reason.
func TestSuspendRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("nag", routeNag)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "nag"}`)
	name := fmt.Sprint(id) + ".json"
	for _, test := range []struct{ doc, fault string }{
		{`{"suspendedUntil": "2012-12-01T00:00:00Z"}`, "/suspendedUntil conflict"},
		{`{"state": "active", "suspendedUntil": "2012-12-01T00:00:00Z"}`, "/suspendedUntil conflict"},
		{`{"state": "canceled", "suspendedUntil": "2012-12-01T00:00:00Z"}`, "/suspendedUntil conflict"},
		{`{"state": "suspended", "suspendedUntil": "P2D"}`, "/suspendedUntil format"},
		{`{"state": "suspended", "suspendedUntil": "2012-12-32T00:00:00"}`, "/suspendedUntil format"},
		{`{"state": "suspended", "suspendedUntil": 300}`, "/suspendedUntil type"},
		{`{"state": "completed"}`, "/state range"},
		{`{"state": "closed"}`, "/state range"},
		{`{"state": 5}`, "/state type"},
	} {
		_, err := sam.putCase(name, test.doc)
		w.refused(err, errs.Invalid, test.fault)
	}
	sam.caseForm(id).wants("state", `"active"`, "version", "2")
	if _, err := sam.perform(id, "finish", `{}`); err != nil {
		t.Fatal(err)
	}
	_, err := sam.putCase(name, `{"state": "suspended"}`)
	w.refused(err, errs.CaseNotOpen)
}

// A canceled case is taken back by an administrator of its route, and later by
// nobody else; a completed one by its actions.
func TestReopen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("run", routeRun())
	sam, bob := w.as("sam"), w.as("bob")
	sam.mustPutCase("mine.json", `{"route": "run", "title": "T"}`)
	id := sam.ref(sam.caseResource("mine.json").Name).CaseID
	name := fmt.Sprint(id) + ".json"
	if err := sam.deleteCase(name); err != nil {
		t.Fatal(err)
	}
	for _, doc := range []string{`{"title": "U"}`, `{"state": "suspended"}`, `{"xattrDict": {"a": 1}}`} {
		_, err := bob.putCase(name, doc)
		w.refused(err, errs.ReadOnly)
	}
	w.clock.Set(w.clock.Now().Add(engine.UndoCancel))
	_, err := sam.putCase(name, `{"state": "active"}`)
	w.refused(err, errs.NotAllowed)
	same(t, "listed", names(sam.Cases.Cases(t.Context(), sam.by(), engine.Filter{})), "")

	bob.mustPutCase(name, `{"state": "active", "title": "Again"}`)
	sam.caseForm(id).wants("state", `"active"`, "title", `"Again"`, "status", `"open"`, "completed", "null")
	same(t, "listed", names(sam.Cases.Cases(t.Context(), sam.by(), engine.Filter{})), fmt.Sprint(id))
	log := sam.logTexts(id)
	same(t, "log", log[len(log)-3:], []string{"life: Canceled", "life: Changed title: T → Again", "life: Reopened"})
	if sam.caseForm(id).get("enabledActions") == "[]" {
		t.Error("nothing is enabled")
	}
	sam.mustPutCase("mine.json", `{"route": "run"}`) // the name was free again
	if got := sam.caseResource("mine.json").Name; got == fmt.Sprint(id) {
		t.Error("the name still is the reopened case's")
	}

	sam.mustPerform(id, "answer")
	sam.mustPerform(id, "close")
	sam.caseForm(id).wants("state", `"completed"`)
	_, err = sam.putCase(name, `{"state": "active"}`)
	w.refused(err, errs.CaseNotOpen)
	if !strings.Contains(err.Error(), "reopen") {
		t.Errorf("the refusal names no action: %v", err)
	}
}

// A case that could not start is started again by an administrator of its
// route, by what the route says now.
func TestRetryStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	admin.mustPutRoute("loop", routeLoop)
	id := sam.startCase(`{"route": "loop"}`)
	name := fmt.Sprint(id) + ".json"
	sam.caseForm(id).wants("state", `"failed"`)
	for _, doc := range []string{`{"state": "active"}`, `{"state": "canceled"}`} {
		_, err := sam.putCase(name, doc)
		w.refused(err, errs.NotAllowed)
	}
	admin.mustPutCase(name, `{"state": "active"}`)
	sam.caseForm(id).wants("state", `"failed"`, "routeVersion", "1")
	admin.mustPutRoute("loop", strings.Replace(routeAsk, "name: ask", "name: loop", 1))
	admin.mustPutCase(name, `{"state": "active"}`)
	sam.caseForm(id).wants("state", `"active"`, "routeVersion", "2", "status", `"open"`)

	other := sam.startCase(`{"route": "ask"}`)
	sam.mustPutCase(fmt.Sprint(other)+".json", `{"state": "canceled"}`)
	admin.mustPutRoute("ask", routeAsk+"\ndescription: Another\n")
	admin.mustPutCase(fmt.Sprint(other)+".json", `{"state": "active"}`)
	sam.caseForm(other).wants("state", `"active"`, "routeVersion", "1")
}
