package engine_test

import (
	"strings"
	"testing"
)

// TestDryRunsWarn: the form that a dry run is answered with warns of what the request itself
// would be warned of.
func TestDryRunsWarn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutRoute("buy", `
access: {start: [everyone]}
roles: {owner: {assign: [starter]}}
xattrs: {amount: {type: number}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  end: {in: [open], role: owner, to: done, form: {properties: {amount: {type: number}}}}
`)
	open := sam.mustPutCase("a.json", `{"route": "buy"}`)
	start := sam.mustPutCase("b.json", `{"route": "buy", "xattrDict": {"amuont": 3}}`, dryRun())
	request := sam.request(nil)
	request.DryRun = true
	performed, err := sam.Cases.Perform(t.Context(), request, open.CaseID, "end", []byte(`{"xattrDict": {"amuont": 3}}`))
	if err != nil {
		t.Fatal(err)
	}
	for what, form := range map[string][]byte{"a start": start.Form, "an action": performed.Form} {
		if got := w.form(form).get("warnings"); !strings.Contains(got, `did you mean \"amount\"?`) {
			t.Errorf("%s: the form warns of %s", what, got)
		}
	}
	if got := w.form(sam.mustPutCase("b.json", `{"route": "buy", "xattrDict": {"amuont": 3}}`).Form).get("warnings"); got != "[]" {
		t.Errorf("the case itself has warnings: %s", got)
	}
}
