package route_test

import (
	"errors"
	"strings"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// TestNeed: how many must perform an action is a number of at least 2 and a role of
// the route; a role that has one player at most is warned of.
func TestNeed(t *testing.T) {
	t.Parallel()
	doc := func(action, assign string) string {
		return `{"roles": {"r": {"assign": [` + assign + `]}, "s": {"assign": ["everyone"]}}, "states": {"open": {"type": "start"}, "done": {"type": "complete"}},
			"actions": {"i": {"trigger": "init"}, "go": {"in": ["open"], "to": "done", ` + action + `}}}`
	}
	for _, test := range []struct {
		action string
		code   errs.Code
	}{
		{`"need": "2 of r"`, ""},
		{`"need": "3 of r", "role": "r"`, ""},
		{`"need": "1 of r"`, errs.CodeRange},
		{`"need": "0 of r"`, errs.CodeRange},
		{`"need": "1001 of r"`, errs.CodeRange},
		{`"need": "two of r"`, errs.CodeFormat},
		{`"need": "2"`, errs.CodeFormat},
		{`"need": 2`, errs.CodeType},
		{`"need": "2 of q"`, errs.CodeNotFound},
		{`"need": "2 of r", "role": "s"`, errs.CodeConflict},
		{`"need": "2 of r", "allowed": "everyone"`, errs.CodeConflict},
		{`"need": "2 of r", "accept": "required"`, errs.CodeConflict},
		{`"need": "2 of r", "trigger": "auto"`, errs.CodeConflict},
	} {
		r, _, err := route.Parse("x", readJSON(t, doc(test.action, `"team:t"`)))
		if test.code == "" {
			if err != nil || r.Actions[1].Need == nil || r.Actions[1].Roles[0] != "r" {
				t.Errorf("%s: %v", test.action, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "/actions/go/need") || !strings.Contains(faultCodes(err), string(test.code)) {
			t.Errorf("%s: %v (%s); want %s", test.action, err, faultCodes(err), test.code)
		}
	}
	for assign, warned := range map[string]bool{`"user:sam"`: true, `"starter"`: true, `"team:t"`: false, `"user:sam", "xattr:who"`: false} {
		_, warnings, err := route.Parse("x", readJSON(t, doc(`"need": "2 of r"`, assign)))
		found := false
		for _, w := range warnings {
			found = found || w.Pointer == "/actions/go/need"
		}
		if err != nil || found != warned {
			t.Errorf("%s: %v, %v", assign, warnings, err)
		}
	}
}

func faultCodes(err error) string {
	var codes []string
	if e, ok := errors.AsType[*errs.Error](err); ok {
		for _, f := range e.Faults {
			codes = append(codes, string(f.Code))
		}
	}
	return strings.Join(codes, " ")
}
