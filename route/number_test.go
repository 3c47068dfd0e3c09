package route_test

import (
	"errors"
	"strings"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// A number that no double holds is a fault wherever an XATTR gets it.
func TestNumbersThatNoDoubleHolds(t *testing.T) {
	t.Parallel()
	const text = "name: test\nxattrs: {n: {type: number, default: DEFAULT}}\nstates: {a: {type: start, onEnter: [{set: {m: SET}}]}, b: {type: complete}}\nactions: {open: {trigger: init}, end: {in: [a], allowed: [everyone], to: b}}\n"
	for values, pointer := range map[[2]string]string{
		{"1e308", "-1e308"}: "",
		{"1e400", "1"}:      "/xattrs/n/default",
		{"1", "-1e400"}:     "/states/a/onEnter/0/set/m",
	} {
		_, _, err := route.Parse("test", readYAML(t, strings.NewReplacer("DEFAULT", values[0], "SET", values[1]).Replace(text)))
		e, ok := errors.AsType[*errs.Error](err)
		if pointer == "" && err != nil || pointer != "" && (!ok || len(e.Faults) != 1 || e.Faults[0].Pointer != pointer || e.Faults[0].Code != errs.CodeRange) {
			t.Errorf("%s: %v, want a fault at %q", values, err, pointer)
		}
	}
}
