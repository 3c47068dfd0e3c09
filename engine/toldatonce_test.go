package engine_test

import (
	"errors"
	"fmt"
	"testing"

	"flowdrive/internal/errs"
)

// TestFaultsAtOnce: a document of a case is told all its faults with their places, also those
// that only the decision finds. It was told them one kind after the other.
func TestFaultsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("buy", `
access: {start: [everyone]}
roles: {owner: {assign: [starter]}}
xattrs: {amount: {type: number, minimum: 0, edit: [owner]}, site: {type: string, required: true}}
states: {asked: {type: start}, done: {type: complete}}
actions:
  ask: {trigger: init}
  agree: {in: [asked], role: owner, to: done, form: {properties: {colour: {type: string}, count: {type: integer}}, required: [colour]}}
`)
	sam := w.as("sam")
	told := func(what string, err error, want ...string) {
		t.Helper()
		w.refused(err, errs.Invalid)
		problem, _ := errors.AsType[*errs.Error](err)
		var got []string
		for _, f := range problem.Faults {
			got = append(got, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Pointer))
		}
		same(t, what, got, want)
	}
	_, err := sam.putCase("new.json", `{"route": "buy", "priority": 70000, "xattrDict": {"Amount": "abc"}}`)
	told("a start", err, "1:30 /priority", "1:50 /xattrDict/site", "1:61 /xattrDict/amount")
	_, err = sam.putCase("new.json", "{\"route\": \"buy\", \"xattrDict\": {\"site\": \"x\",\n \"amount\": -1}}")
	told("a start with one fault", err, "2:12 /xattrDict/amount")
	_, err = sam.putCase("new.json", `{"route": "buy", "xattrDict": []}`)
	told("what cannot be read is not missing as well", err, "1:31 /xattrDict")

	id := sam.startCase(`{"route": "buy", "xattrDict": {"site": "x"}}`)
	_, err = sam.putCase(fmt.Sprint(id)+".json", `{"title": 7, "xattrDict": {"amount": "abc"}}`)
	told("an edit", err, "1:11 /title", "1:38 /xattrDict/amount")
	_, err = sam.perform(id, "agree", `{"comment": 7, "xattrDict": {"count": "x"}}`)
	told("a task", err, "1:13 /comment", "1:29 /xattrDict/colour", "1:39 /xattrDict/count")
	if next := sam.startCase(`{"route": "buy", "xattrDict": {"site": "x"}}`); next != id+1 {
		t.Errorf("refused starts use up ids: %d after %d", next, id)
	}
}
