package route_test

import (
	"errors"
	"strings"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

func TestSuspendStep(t *testing.T) {
	t.Parallel()
	const text = "name: test\nstates: {a: {type: start, onEnter: [{suspend: STEP}]}, b: {type: complete}}\nactions: {open: {trigger: init}, end: {in: [a], allowed: [everyone], to: b}}\n"
	for step, fault := range map[string]errs.Code{
		"true":                                   "",
		`{until: "2012-11-09T12:34:56Z"}`:        "",
		`{until: "$XATTR_DAY;"}`:                 "",
		"{until: }":                              "",
		`{until: {cel: "now + duration('1h')"}}`: "",
		"false":                                  errs.CodeRange,
		"{}":                                     errs.CodeRequired,
		`{until: "next friday"}`:                 errs.CodeFormat,
		"{until: P2D}":                           errs.CodeFormat,
		"{until: 5}":                             errs.CodeFormat,
		`{until: {cel: "nothing"}}`:              errs.CodeFormat,
		`{until: "2012-11-31T12:34:56"}`:         errs.CodeFormat,
	} {
		_, _, err := route.Parse("test", readYAML(t, strings.Replace(text, "STEP", step, 1)))
		got := errs.Code("")
		if e, ok := errors.AsType[*errs.Error](err); ok && e.Kind == errs.Invalid {
			got = e.Faults[0].Code
		} else if err != nil {
			t.Errorf("%s: %v", step, err)
		}
		if got != fault {
			t.Errorf("%s: %v, want a fault of code %q", step, err, fault)
		}
	}
}
