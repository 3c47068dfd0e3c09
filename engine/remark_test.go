package engine_test

import (
	"strings"
	"testing"

	"flowdrive/internal/errs"
)

// TestRemarkCancelsNothing: a comment that is written into the form of a task does not
// perform an action that cancels the case, and performs others.
func TestRemarkCancelsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("buy", `{access: {start: [everyone]}, states: {a: {type: start}, b: {type: complete}, gone: {type: cancelled}}, actions: {begin: {trigger: init},
		withdraw: {type: cancel, in: [a], allowed: everyone, to: gone}, note: {in: [a], allowed: everyone}}}`)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "buy"}`)
	_, err := sam.perform(id, "withdraw", `{"do": "", "comment": "Is it urgent?"}`)
	if w.refused(err, errs.Invalid); !strings.Contains(err.Error(), `a comment alone does not do "withdraw"`) {
		t.Errorf("a remark: %v", err)
	}
	sam.caseForm(id).wants("state", `"active"`)
	try(sam.perform(id, "note", `{"do": "", "comment": "Is it urgent?"}`)).must(w, "a comment that performs")
	try(sam.perform(id, "withdraw", `{"do": "perform", "comment": "Not any more."}`)).must(w, "withdraw")
	sam.caseForm(id).wants("status", `"gone"`)
}
