package engine_test

import (
	"fmt"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
)

// TestDatesPeopleType: wherever a person gives an instant of a case, a plain date
// and a local time are taken as well, in the zone of the server.
func TestDatesPeopleType(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.config = func(cfg *engine.Config) { cfg.Zone = new(clock.Zones).Zone("Europe/Berlin") }
	})
	w.as("admin").mustPutRoute("wait", `{"states": {"open": {"type": "start"}}, "roles": {"r": {"assign": ["starter"]}},
		"timers": {"deadline": {}}, "access": {"start": ["everyone"]},
		"actions": {"i": {"trigger": "init", "onFire": [{"enableTimer": "deadline"}]},
			"until": {"in": ["open"], "role": "r", "onFire": [{"setTimer": {"name": "deadline", "limit": "2012-12-24"}}]},
			"rest": {"in": ["open"], "role": "r", "onFire": [{"suspend": {"until": "2012-12-24 18:00"}}]}}}`)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "wait", "startAt": "2012-11-10 09:00"}`)
	sam.caseForm(id).wants("startAt", `"2012-11-10T08:00:00Z"`)
	w.advanceTo("2012-11-10T08:00:00Z")

	name := fmt.Sprint(id) + ".json"
	sam.mustPutCase(name, `{"state": "suspended", "suspendedUntil": "2012-12-01"}`)
	sam.caseForm(id).wants("suspendedUntil", `"2012-11-30T23:00:00Z"`)
	sam.mustPutCase(name, `{"suspendedUntil": "2012-12-01 08:00"}`)
	sam.caseForm(id).wants("suspendedUntil", `"2012-12-01T07:00:00Z"`)
	sam.mustPutCase(name, `{"state": "active"}`)
	_, err := sam.putCase(name, `{"state": "suspended", "suspendedUntil": "next friday"}`)
	w.refused(err, errs.Invalid, "/suspendedUntil format")

	for body, want := range map[string]string{
		`"2012-12-01"`: `"2012-12-01T23:00:00Z"`, `"2012-12-01 08:00"`: `"2012-12-01T07:00:00Z"`, `"300"`: `"PT5M"`,
	} {
		if _, err := w.Cases.PutTimer(t.Context(), sam.request(nil), id, "deadline", []byte(`{"limit": `+body+`}`)); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		sam.timerForm(id, "deadline").wants("limit", want)
	}
	sam.mustPerform(id, "until")
	sam.timerForm(id, "deadline").wants("limit", `"2012-12-23T23:00:00Z"`)
	sam.mustPerform(id, "rest")
	sam.caseForm(id).wants("state", `"suspended"`, "suspendedUntil", `"2012-12-24T17:00:00Z"`)
}
