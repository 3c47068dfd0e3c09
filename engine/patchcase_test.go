package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

func (u user) patchXattrs(name string, changes ...engine.XattrChange) error {
	return u.Cases.PatchXattrs(u.Context(), u.request(nil), u.ref(name), changes)
}

// TestPatchXattrs: what a property changes of a case is what a PUT of its
// xattrDict changes, and who may not do one may not do the other.
func TestPatchXattrs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("run", routeRun())
	w.as("admin").mustPutParty(identity.User, "zoe", `{}`)
	sam := w.as("sam")
	out := sam.mustPutCase("mine.json", `{"route": "run", "title": "T", "xattrDict": {"a": "1", "b": 2, "c": true}, "stakeholders": ["eve"]}`)
	id, name := out.CaseID, out.Name+".json"
	before := fmt.Sprint(sam.caseForm(id))
	set := func(key, text string) engine.XattrChange { return engine.XattrChange{Key: key, Text: text} }
	err := sam.patchXattrs(name, set("a", "3"), set("b", "2.50"), set("c", "no"), set("d", ""), set("e", "x"), engine.XattrChange{Key: "e", Remove: true})
	if err != nil {
		t.Fatal(err)
	}
	sam.caseForm(id).wants("xattrDict", `{"a":"3","b":2.50,"c":"no","d":""}`, "title", `"T"`)
	source := string(sam.caseResource("mine.json").Source)
	for _, part := range []string{`"route": "run"`, `"a": "3"`, `"d": ""`, `"title": "T"`} {
		if !strings.Contains(source, part) {
			t.Errorf("the source lacks %s:\n%s", part, source)
		}
	}
	if strings.Contains(source, "version") {
		t.Errorf("the source has what is read-only:\n%s", source)
	}
	sam.mustPutCase("mine.json", source) // saved again it changes nothing
	sam.caseForm(id).wants("xattrDict", `{"a":"3","b":2.50,"c":"no","d":""}`)
	if before == fmt.Sprint(sam.caseForm(id)) {
		t.Error("the form stays")
	}
	etag := sam.caseResource(name).FormETag
	if err := sam.patchXattrs("mine.json", set("a", "3")); err != nil || sam.caseResource(name).FormETag != etag {
		t.Errorf("what changes nothing: %v", err)
	}
	w.kind("a stakeholder", w.as("eve").patchXattrs(name, set("a", "4")), errs.NotAllowed)
	w.kind("a stranger", w.as("zoe").patchXattrs(name, set("a", "4")), errs.NotFound)
	w.kind("no such case", sam.patchXattrs("999.json", set("a", "4")), errs.NotFound)
	w.kind("no such name", sam.patchXattrs("none.json", set("a", "4")), errs.NotFound)
	req := sam.request(nil)
	req.If = func(engine.Version) error { return errs.New(errs.Precondition, "never") }
	w.kind("a condition", sam.Cases.PatchXattrs(t.Context(), req, sam.ref(name), []engine.XattrChange{set("a", "4")}), errs.Precondition)
	plain := sam.startCase(`{"route": "run"}`)
	if err := w.as("sam").patchXattrs(fmt.Sprintf("%d.json", plain), set("a", "1")); err != nil {
		t.Fatal(err)
	}
	sam.caseForm(plain).wants("xattrDict", `{"a":"1"}`)
}
