package engine_test

import (
	"fmt"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// TestXattrsAreMerged: a PUT of xattrDict to a case sets the keys that it names,
// removes those that are null, and leaves the others
// (docs/contract/labels-attachments.md#2-xattrs).
func TestXattrsAreMerged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("run", routeRun())
	sam := w.as("sam")
	id := sam.startCase(`{"route": "run", "xattrDict": {"a": "1", "b": 2, "gone": null}}`)
	name := fmt.Sprint(id) + ".json"
	for _, step := range []struct{ put, want string }{
		{`{"a": 3}`, `{"a":3,"b":2}`},
		{`{"c": true, "B": null}`, `{"a":3,"c":true}`},
		{`{"absent": null}`, `{"a":3,"c":true}`},
		{`{}`, `{"a":3,"c":true}`},
		{`null`, `{}`},
	} {
		sam.mustPutCase(name, `{"xattrDict": `+step.put+`}`)
		sam.caseForm(id).wants("xattrDict", step.want)
	}
	_, err := sam.putCase(name, `{"xattrDict": {"a": [], "c": {}, "d/": 1, "e": 1, "E ": 2, "": 3}}`)
	w.refused(err, errs.Invalid, "/xattrDict/a type", "/xattrDict/c type", "/xattrDict/d~1 format", "/xattrDict/E  conflict", "/xattrDict/ format")
	_, err = sam.putCase(name, `{"xattrDict": [1]}`)
	w.refused(err, errs.Invalid, "/xattrDict type")
	sam.caseForm(id).wants("xattrDict", `{}`)
}

// A case that is saved again under its given name changes those XATTRs whose
// text the user has changed, although others have changed meanwhile.
func TestSavedXattrsChangeByKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("count", `{"states": {"open": {"type": "start"}}, "roles": {"r": {"assign": ["starter"]}},
		"actions": {"i": {"trigger": "init"}, "five": {"in": ["open"], "role": "r", "onFire": [{"set": {"b": 5}}]}}, "access": {"start": ["everyone"]}}`)
	sam := w.as("sam")
	id := sam.mustPutCase("mine.json", `{"route": "count", "xattrDict": {"a": 1, "b": 2}}`).CaseID
	if _, err := sam.perform(id, "five", `{}`); err != nil {
		t.Fatal(err)
	}
	sam.mustPutCase("mine.json", `{"route": "count", "xattrDict": {"a": 3, "b": 2}}`)
	sam.caseForm(id).wants("xattrDict", `{"a":3,"b":5}`)
}

// A careful client says which version it has read: If-Match of a case, of a
// task and of a message refuses what was decided on an older one.
func TestMergeIsConditional(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("run", routeRun())
	sam := w.as("sam")
	id := sam.startCase(`{"route": "run", "xattrDict": {"a": "1"}}`)
	ref := sam.ref(fmt.Sprint(id) + ".json")
	read := sam.caseResource(fmt.Sprint(id) + ".json").FormETag
	sam.mustPutCase(fmt.Sprint(id)+".json", `{"xattrDict": {"a": "2"}}`)
	req := sam.request(nil)
	req.If = func(v engine.Version) error {
		if v.ETag != read {
			return errs.New(errs.Precondition, "It has changed.")
		}
		return nil
	}
	_, err := w.Cases.PutCase(t.Context(), req, ref, []byte(`{"xattrDict": {"b": "1"}}`))
	w.refused(err, errs.Precondition)
	sam.caseForm(id).wants("xattrDict", `{"a":"2"}`)
}
