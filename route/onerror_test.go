package route_test

import (
	"errors"
	"strings"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// TestOnError: what may stand in onError of the route and of an action.
func TestOnError(t *testing.T) {
	t.Parallel()
	const fsm = "states: {a: {type: start}, b: {type: failed}}\nactions: {begin: {trigger: init, onError: %s}}\nonError: %s\n"
	for _, test := range []struct{ text, onError, faults string }{
		{fsm, `{to: b}`, ""},
		{fsm, `{steps: [{log: "$__ERROR_TEXT__;"}, {set: {x: {cel: "error.status > 2 ? error.kind : error.step"}}}]}`, ""},
		{fsm, `null`, ""},
		{fsm, `{}`, " required"},
		{fsm, `{steps: []}`, " required"},
		{fsm, `{to: c}`, "/to not-found"},
		{fsm, `{to: b, state: b}`, "/state unknown-field"},
		{fsm, `{steps: [{log: {cel: "error.nothing"}}]}`, "/steps/0/log/cel format"},
		{"model: dependency\nactions: {begin: {trigger: init, onError: %s}}\nonError: %s\n", `{to: b}`, "/to conflict"},
		{"model: dependency\nactions: {begin: {trigger: init, onError: %s}}\nonError: %s\n", `{steps: [{log: x}]}`, ""},
	} {
		_, warnings, err := route.Parse("test", readYAML(t, strings.ReplaceAll(test.text, "%s", test.onError)))
		var got []string
		if e, ok := errors.AsType[*errs.Error](err); ok {
			for _, f := range e.Faults {
				_, at, _ := strings.Cut(f.Pointer, "/onError")
				got = append(got, at+" "+string(f.Code))
			}
		}
		want := []string(nil)
		if test.faults != "" {
			want = []string{test.faults, test.faults} // of both
		}
		if strings.Join(got, ", ") != strings.Join(want, ", ") {
			t.Errorf("%s: faults %q (%v), want %q", test.onError, got, err, want)
		}
		for _, w := range warnings {
			if strings.Contains(test.onError, "to: b") && strings.Contains(w.Pointer, "/states/b") {
				t.Errorf("%s: warning %v", test.onError, w)
			}
		}
	}
}

// TestRecipientByLabel: a label is not a recipient, and its author is told what is.
func TestRecipientByLabel(t *testing.T) {
	t.Parallel()
	_, _, err := route.Parse("test", readYAML(t, "states: {a: {type: start}}\nactions: {begin: {trigger: init, onError: {steps: [{mail: {to: [$__XATTR_mailto__;], subject: x}}]}}}\n"))
	var told string
	if e, ok := errors.AsType[*errs.Error](err); ok && len(e.Faults) == 1 {
		told = e.Faults[0].Detail
	}
	if !strings.HasSuffix(told, "labels are not filled in here; write xattr:mailto") {
		t.Errorf("got %q (%v)", told, err)
	}
}
