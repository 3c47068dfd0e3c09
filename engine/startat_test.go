package engine_test

import (
	"fmt"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
)

// A case with startAt is queued until then, and starts at that very instant.
func TestStartAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	const at = `"2012-11-09T13:00:30Z"`
	id := sam.startCase(`{"route": "ask", "startAt": ` + at + `}`)
	sam.caseForm(id).wants("state", `"queued"`, "startAt", at, "started", "null", "enabledActions", "[]")
	past := sam.startCase(`{"route": "ask", "startAt": "2012-11-09T12:34:56Z"}`)
	sam.caseForm(past).wants("state", `"active"`, "startAt", `"2012-11-09T12:34:56Z"`)
	w.reopen()
	w.advanceTo("2012-11-09T13:00:29Z")
	sam = w.as("sam")
	sam.caseForm(id).wants("state", `"queued"`)
	if done := w.advanceTo("2012-11-09T14:00:00Z"); done.Fired != 1 || !done.Complete {
		t.Errorf("%+v", done)
	}
	sam.caseForm(id).wants("state", `"active"`, "startAt", at, "started", at)

	// Fractions of a second count, though nobody sees them.
	id = sam.startCase(`{"route": "ask", "startAt": "2012-11-09T15:00:00.5+01:00"}`)
	w.advanceTo("2012-11-09T14:00:00.499Z")
	sam.caseForm(id).wants("state", `"queued"`, "startAt", `"2012-11-09T14:00:00Z"`)
	sam.mustPutCase(fileOf(id), `{"startAt": "2012-11-09T14:00:00Z"}`) // as it was shown
	sam.caseForm(id).wants("state", `"queued"`)
	w.advanceTo("2012-11-09T14:00:00.5Z")
	sam.caseForm(id).wants("state", `"active"`)

	dropped, err := sam.drop("ask", "a.txt", "x", func(d *engine.Drop) { d.StartAt = "2012-11-09T16:00:00Z" })
	if err != nil || dropped.Life != machine.Queued {
		t.Fatalf("%+v, %v", dropped, err)
	}
	w.advanceTo("2012-11-09T16:00:00Z")
	sam.caseForm(dropped.CaseID).wants("state", `"active"`, "started", `"2012-11-09T16:00:00Z"`)
}

// While a case is queued its starter and the admins of its route say when it
// starts; null is now.
func TestStartAtIsChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, admin := w.as("sam"), w.as("admin")
	id := sam.startCase(`{"route": "ask", "stakeholders": ["eve"], "startAt": "2012-12-01T00:00:00Z"}`)
	name := fileOf(id)
	_, err := w.as("eve").putCase(name, `{"startAt": null}`)
	w.refused(err, errs.NotAllowed)
	_, err = sam.putCase(name, `{"startAt": "soon"}`)
	w.refused(err, errs.Invalid, "/startAt format")
	_, err = sam.putCase(name, `{"state": "suspended"}`)
	w.refused(err, errs.CaseNotOpen)

	before := sam.caseForm(id).text
	out, err := sam.putCase(name, `{"startAt": null}`, dryRun())
	if err != nil {
		t.Fatal(err)
	}
	w.form(out.Form).wants("state", `"active"`, "startAt", "null")
	same(t, "after a dry run", sam.caseForm(id).text, before)

	admin.mustPutCase(name, `{"startAt": "2012-11-09T14:00:00Z"}`) // earlier
	sam.caseForm(id).wants("state", `"queued"`, "startAt", `"2012-11-09T14:00:00Z"`)
	admin.mustPutCase(name, `{"startAt": "2012-11-09T15:00:00Z"}`) // later
	w.advanceTo("2012-11-09T14:30:00Z")
	sam.caseForm(id).wants("state", `"queued"`)
	sam.mustPutCase(name, `{"title": "T"}`)
	sam.caseForm(id).wants("state", `"queued"`, "startAt", `"2012-11-09T15:00:00Z"`)
	sam.mustPutCase(name, `{"startAt": null, "title": "U"}`)
	sam.caseForm(id).wants("state", `"active"`, "startAt", "null", "started", `"2012-11-09T14:30:00Z"`, "title", `"U"`)
	sam.mustPutCase(name, `{"startAt": null}`)
	_, err = sam.putCase(name, `{"startAt": "2012-12-01T00:00:00Z"}`)
	w.refused(err, errs.CaseNotOpen)

	// One of the past is now.
	id = sam.startCase(`{"route": "ask", "startAt": "2012-12-01T00:00:00Z"}`)
	sam.mustPutCase(fileOf(id), `{"startAt": "2012-11-01T00:00:00Z"}`)
	sam.caseForm(id).wants("state", `"active"`, "startAt", `"2012-11-01T00:00:00Z"`)

	// A case that was canceled before it started waits again when it is taken
	// back.
	id = sam.startCase(`{"route": "ask", "startAt": "2012-12-01T00:00:00Z"}`)
	admin.mustPutCase(fileOf(id), `{"state": "canceled"}`)
	admin.mustPutCase(fileOf(id), `{"state": "active"}`)
	sam.caseForm(id).wants("state", `"queued"`)
	w.advanceTo("2012-12-01T00:00:00Z")
	sam.caseForm(id).wants("state", `"active"`)
}

// A case of an entry that waits for an earlier one does so whatever its
// startAt says.
func TestStartAtAndOverlap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutEntry("e.json", `{"type": "interval", "minutes": 10, "route": "ask", "repeat": 2, "overlap": "bufferAll"}`)
	w.advance(30 * time.Minute)
	first, second := number(t, w.cases()[0].get("id")), number(t, w.cases()[1].get("id"))
	sam.mustPutCase(fileOf(second), `{"startAt": "2012-12-01T00:00:00Z"}`)
	sam.mustPutCase(fileOf(second), `{"startAt": null}`)
	sam.caseForm(second).wants("state", `"queued"`)
	sam.mustPutCase(fileOf(second), `{"startAt": "2012-11-09T14:00:00Z"}`)
	sam.mustPutCase(fileOf(first), `{"state": "canceled"}`)
	sam.caseForm(second).wants("state", `"queued"`)
	w.advanceTo("2012-11-09T14:00:00Z")
	sam.caseForm(second).wants("state", `"active"`, "started", `"2012-11-09T14:00:00Z"`)
}

// A case of an entry that was canceled while it waited for an earlier one, and
// is taken back, waits for that no longer.
func TestOverlapAndReopen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, admin := w.as("sam"), w.as("admin")
	sam.mustPutEntry("e.json", `{"type": "interval", "minutes": 10, "route": "ask", "repeat": 2, "overlap": "bufferAll"}`)
	w.advance(30 * time.Minute)
	second := number(t, w.cases()[1].get("id"))
	sam.caseForm(second).wants("state", `"queued"`)
	sam.mustPutCase(fileOf(second), `{"state": "canceled"}`)
	admin.mustPutHold("h", `{"engine": true}`)
	admin.mustPutCase(fileOf(second), `{"state": "active"}`)
	sam.caseForm(second).wants("state", `"queued"`)
	admin.mustDeleteHold("h")
	sam.caseForm(second).wants("state", `"active"`)
}

func fileOf(id int64) string { return fmt.Sprintf("%d.json", id) }
