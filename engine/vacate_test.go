package engine_test

import (
	"fmt"
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
	if form := sam.caseForm(id); !strings.Contains(form.get("warnings"), "Nobody can do it: go (eve is disabled)") || sam.caseResource(fileOf(id)).FormETag == before {
		t.Errorf("the warnings are %s", form.get("warnings"))
	}
}

// TestWhatADisabledUserLeaves: the answer that disables a user says what they leave to others:
// tasks, cases, schedule entries, hooks, deputies and teams, in a dry run as well; one that
// changes something else says nothing (docs/contract/drive.md#a-user-who-is-disabled).
func TestWhatADisabledUserLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam, ann, eve := w.as("admin"), w.as("sam"), w.as("ann"), w.as("eve")
	admin.mustPutRoute("of-eve", routeOfEve)
	admin.mustPutParty(identity.Team, "desk", `{"members": ["bob"], "admins": ["eve"]}`)
	admin.mustPutParty(identity.Team, "shared", `{"members": ["bob"], "admins": ["eve", "ann"]}`)
	admin.mustPutParty(identity.User, "bob", `{"deputy": {"user": "eve", "to": "2013-01-01T00:00:00Z"}}`)
	alone := sam.startCase(`{"route": "of-eve"}`)
	delegated := sam.startCase(`{"route": "ask"}`)
	if _, err := sam.perform(delegated, "answer", `{"do": "delegate", "to": "eve"}`); err != nil {
		t.Fatal(err)
	}
	ended := sam.startCase(`{"route": "ask"}`)
	sam.mustPutCase(fileOf(ended), `{"state": "canceled"}`)
	eve.mustPutEntry("nightly.json", `{"type": "crontab", "spec": "0 3 * * *", "route": "auto"}`)
	eve.mustPutEntry("paused.json", `{"type": "crontab", "spec": "0 3 * * *", "route": "auto", "paused": true}`)
	if _, err := w.Hooks.PutHook(t.Context(), eve.request(nil), "of-eve", "push", []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	report := func(user, doc string) string { return string(admin.mustPutParty(identity.User, user, doc).Report) }

	want := fmt.Sprintf(`{"warnings":["disabled: 1 task that eve has accepted or was delegated goes back to its role: case %d.",`+
		`"disabled: 1 case waits for eve, and too few others can do the task: case %d. Give its role to somebody else, or somebody else to its team.",`+
		`"disabled: 1 schedule entry in the context of eve will not start a case: nightly.json.",`+
		`"disabled: 1 hook of eve will refuse requests, until somebody else stores the same again: of-eve/push.",`+
		`"disabled: eve is the deputy of bob, for whom nobody stands in then.",`+
		`"disabled: eve is the only administrator of 1 team: desk."]}`, delegated, alone)
	same(t, "another change", report("eve", `{"fullName": "Eve"}`), "")
	same(t, "eve is disabled", strings.TrimSpace(report("eve", `{"disabled": true}`)), want)
	same(t, "she is disabled already", report("eve", `{"disabled": true}`), "")
	ann.mustPerform(delegated, "answer")
	admin.mustPutParty(identity.User, "zoe", `{}`)
	same(t, "a user who has nothing", report("zoe", `{"disabled": true}`), "")
}
