package engine_test

import (
	"strings"
	"testing"

	"flowdrive/internal/identity"
)

// TestDisabledUsersTasks: what a disabled user has accepted or was delegated is
// offered to its role again, and the log says so, also while the case is suspended.
func TestDisabledUsersTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam, ann := w.as("admin"), w.as("sam"), w.as("ann")
	accepted, suspended := sam.startCase(`{"route": "ask"}`), sam.startCase(`{"route": "ask"}`)
	other := sam.startCase(`{"route": "ask"}`)
	for _, id := range []int64{accepted, suspended} {
		if _, err := ann.perform(id, "answer", `{"do": "accept"}`); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := sam.perform(other, "answer", `{"do": "delegate", "to": "ann"}`); err != nil {
		t.Fatal(err)
	}
	sam.mustPutCase(fileOf(suspended), `{"state": "suspended"}`)
	admin.mustPutParty(identity.User, "ann", `{"disabled": true}`)
	admin.mustPutParty(identity.User, "ann", `{"disabled": true, "fullName": "Ann"}`) // once
	for _, id := range []int64{accepted, suspended, other} {
		log := sam.logTexts(id)
		n := 0
		for _, line := range log {
			if line == "task: Released answer: ann was disabled" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("case %d: %q", id, log)
		}
	}
	sam.taskForm(accepted, "answer").wants("acceptedBy", "null", "state", `"offered"`)
	sam.taskForm(other, "answer").wants("assignees", `["core"]`)
	sam.mustPerform(accepted, "answer")
	sam.mustPutCase(fileOf(suspended), `{"state": "active"}`)
	sam.mustPerform(suspended, "answer")
}

// TestNobodyIsLeft: a case whose only player is disabled says so at once, with
// another ETag.
func TestNobodyIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	admin.mustPutRoute("of-eve", routeOfEve)
	id := sam.startCase(`{"route": "of-eve"}`)
	before := sam.caseResource(fileOf(id)).FormETag
	admin.mustPutParty(identity.User, "eve", `{"disabled": true}`)
	if form := sam.caseForm(id); !strings.Contains(form.get("warnings"), "Nobody can do it") || sam.caseResource(fileOf(id)).FormETag == before {
		t.Errorf("the warnings are %s", form.get("warnings"))
	}
}
