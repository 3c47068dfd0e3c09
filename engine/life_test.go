package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/errs"
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
	same(t, "log", log[len(log)-4:], []string{"life: Suspended", "roles: Changed stakeholders, xattrDict", "life: Resumed", "action: Nagged"})

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
		{`{"state": "suspended", "suspendedUntil": "2012-12-01T00:00:00"}`, "/suspendedUntil format"},
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
