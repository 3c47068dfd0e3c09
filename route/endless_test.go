package route_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const without = ", without end: the engine stops them, as a failure. Let an enableIf or if decide, or let the case end otherwise"

// recursive is a route with actions to be replaced.
const recursive = `name: self
xattrs: {depth: {type: number, default: 0}}
roles: {clerk: {assign: [starter]}, voter: {assign: ["team:core"], pick: [everyone]}, other: {pick: [everyone]}}
states: {open: {type: start}, mid: {}, done: {type: complete}, gone: {type: cancelled}}
actions:
  begin: {trigger: init, BEGIN}
  forth: {in: [open], role: clerk, to: mid}
  back: {in: [mid], role: clerk, to: open}
`

func TestEndlessWarnings(t *testing.T) {
	t.Parallel()
	const again = "every case of this route starts another one of it" + without
	tests := []struct {
		name, begin, actions string
		want                 []string
	}{
		{"a child at once", "", "  sub: {in: [open], child: {route: self}, to: done}", []string{"/actions/sub/child/route: " + again}},
		{"a child at once, and a way out", "", "  sub: {in: [open], child: {route: self}, to: done}\n  stop: {in: [open], role: clerk, to: gone}", []string{"/actions/sub/child/route: " + again}},
		{"a child under a condition", "", "  sub: {in: [open], enableIf: xattr.depth < 3, child: {route: self}, to: done}\n  stop: {in: [open], role: clerk, to: gone}", nil},
		{"a child of players", "", "  sub: {in: [open], child: {route: self, roles: {voter: {from: voter, each: per_user}}}, to: done}", []string{"/actions/sub/child/route: " + again}},
		{"a child of other players, of whom there may be none", "", "  sub: {in: [open], child: {route: self, roles: {voter: {from: other, each: per_user}}}, to: done}", nil},
		{"a child on a way that a person takes", "", "  sub: {in: [mid], child: {route: self}, to: open}\n  stop: {in: [open], role: clerk, to: done}", nil},
		{"a child on the only way", "", "  sub: {in: [mid], child: {route: self}, to: done}", []string{"/actions/sub/child/route: " + again}},
		{"the start itself", "onFire: [{start: {route: Self}}]", "  stop: {in: [open], role: clerk, to: done}", []string{"/actions/begin/onFire/0/start/route: " + again}},
		{"the start under a condition", "onFire: [{if: xattr.depth < 3, start: {route: self}}]", "  stop: {in: [open], role: clerk, to: done}", nil},
		{"the only end", "", "  stop: {in: [open], role: clerk, to: done, onFire: [{start: {route: self}}]}", []string{"/actions/stop/onFire/0/start/route: " + again}},
		{"one of two ends", "", "  stop: {in: [open], role: clerk, to: done}\n  next: {in: [open], role: clerk, to: done, onFire: [{start: {route: self}}]}", nil},
		{"a time-out with another end", "", "  stop: {in: [open], role: clerk, to: done}\n  late: {in: [open], trigger: time, timeout: P7D, to: gone, onFire: [{start: {route: self}}]}", nil},
		{"an automatic action", "", "  stop: {in: [mid], role: clerk, to: done}\n  spawn: {in: [open], trigger: auto, max: 1, onFire: [{start: {route: self}}]}", []string{"/actions/spawn/onFire/0/start/route: " + again}},
		{"an automatic action after another one", "", "  leave: {in: [open], trigger: auto, to: done}\n  spawn: {in: [open], trigger: auto, max: 1, onFire: [{start: {route: self}}]}", nil},
	}
	for _, tt := range tests {
		text := strings.Replace(recursive, "BEGIN", tt.begin, 1) + tt.actions + "\n"
		var got []string
		for _, warning := range warningsOf(t, text) {
			if strings.Contains(warning, "without end") {
				got = append(got, warning)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestEndlessOverOthers: a chain of routes that ends where it began is told of, a
// chain that any of them can leave is not.
func TestEndlessOverOthers(t *testing.T) {
	t.Parallel()
	link := func(name, next, more string) string {
		return "name: " + name + "\nroles: {clerk: {assign: [starter]}}\nstates: {open: {type: start}, done: {type: complete}}\nactions:\n  begin: {trigger: init}\n  next: {in: [open], " + next + ", to: done}\n" + more
	}
	a, b := link("a", "child: {route: b}", ""), link("b", "child: {route: c}", "")
	c := link("c", "trigger: auto, onFire: [{start: {route: A}}]", "")
	want := []string{"/actions/next/child/route: every case of this route leads to another one of it, over b, c" + without}
	if diff := cmp.Diff(want, among(t, a, b, c)); diff != "" {
		t.Errorf("three routes (-want +got):\n%s", diff)
	}
	for what, other := range map[string]string{
		"a way out":                link("c", "role: clerk, onFire: [{start: {route: a}}]", "  stop: {in: [open], role: clerk, to: done}\n"),
		"a condition":              link("c", "trigger: auto, onFire: [{if: 'case.id > 100', start: {route: a}}]", ""),
		"a loop without the route": link("c", "child: {route: b}", ""),
	} {
		if got := among(t, a, b, other); got != nil {
			t.Errorf("%s: %q", what, got)
		}
	}
	if got := warningsOf(t, a); got != nil {
		t.Errorf("of routes that are not known: %q", got)
	}
	dependent := "name: d\nmodel: dependency\nroles: {clerk: {assign: [starter]}}\nactions:\n  begin: {trigger: init}\n  sub: {child: {route: d}, AFTER}\n  end: {role: clerk, final: true}\n"
	want = []string{"/actions/sub/child/route: every case of this route starts another one of it" + without}
	if diff := cmp.Diff(want, warningsOf(t, strings.Replace(dependent, ", AFTER", "", 1))); diff != "" {
		t.Errorf("the dependency model (-want +got):\n%s", diff)
	}
	if got := warningsOf(t, strings.Replace(dependent, "AFTER", "after: [end]", 1)); got != nil {
		t.Errorf("after a person: %q", got)
	}
}

func TestRepeatedChildren(t *testing.T) {
	t.Parallel()
	const again = "/actions/ask/child: starts its cases again, without end, as soon as they are finished: say to, or max: 1"
	tests := []struct {
		ask  string
		want []string
	}{
		{"in: [open], child: {route: x}", []string{again}},
		{"in: [open], child: {route: x}, to: open", []string{again}},
		{"in: [open, mid], child: {route: x, while: mid}", []string{again}},
		{"in: [open], enabledIn: [mid], child: {route: x}, to: mid", []string{again}},
		{"in: [open], child: {route: x}, max: 1", nil},
		{"in: [open], child: {route: x}, to: done", nil},
		{"in: [open], child: {route: x, while: mid}", nil},
		{"in: [open], child: {route: x}, guard: xattr.depth > 1", nil},
		{"in: [open], child: {route: x}, decide: 'true ? \"a\" : \"b\"', outputs: {a: done, b: }", nil},
		{"in: [open], child: {route: x}, decide: 'true ? \"a\" : \"b\"', outputs: {a: open, b: }", []string{again}},
	}
	for _, tt := range tests {
		text := strings.Replace(recursive, ", BEGIN", "", 1) + "  end: {in: [open, mid], role: clerk, to: done}\n  drop: {in: [open, mid], role: clerk, to: gone}\n  ask: {" + tt.ask + "}\n"
		if diff := cmp.Diff(tt.want, warningsOf(t, text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.ask, diff)
		}
	}
}

// TestRepeatedChildrenOfTheDependencyModel: there is no state that an action could lead out of.
func TestRepeatedChildrenOfTheDependencyModel(t *testing.T) {
	t.Parallel()
	const again = "/actions/ask/child: starts its cases again, without end, as soon as they are finished: say max: 1, or after or guard"
	for _, tt := range []struct {
		ask  string
		want []string
	}{
		{"child: {route: x}, max: unlimited", []string{again}},
		{"child: {route: x}, max: unlimited, after: [end]", nil},
		{"child: {route: x}, max: 2", nil},
		{"child: {route: x}", nil},
	} {
		text := "name: y\nmodel: dependency\nroles: {clerk: {assign: [starter]}}\nactions: {end: {role: clerk, final: true}, ask: {" + tt.ask + "}}\n"
		if diff := cmp.Diff(tt.want, warningsOf(t, text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.ask, diff)
		}
	}
}

func TestEmptyTally(t *testing.T) {
	t.Parallel()
	const decide = "/actions/ask/decide: "
	const asFor = ` if there are no children because nobody plays "voter"; if that is not meant, ask for tally.total first, as in tally.total > 0 && …`
	tests := []struct {
		roles, decide, no string
		want              []string
	}{
		{"{from: voter, each: per_user}", `3 * tally.status.yes >= 2 * tally.total`, "gone", []string{decide + `decides "yes"` + asFor}},
		{"{from: voter, each: per_member}", `tally.status.no == 0`, "mid", []string{decide + `decides "yes"` + asFor}},
		{"{from: voter, each: per_user}", `tally.status.yes > 0 && 3 * tally.status.yes >= 2 * tally.total`, "gone", nil},
		{"{from: voter, each: per_user}", `tally.total > 0 && 3 * tally.status.yes >= 2 * tally.total`, "gone", nil},
		{"{from: voter, each: per_user}", `tally.total == 0 || 3 * tally.status.yes >= 2 * tally.total`, "gone", nil},
		{"{from: voter, each: per_user}", `tally.status.yes > 1`, "mid", nil},
		{"{from: voter}", `3 * tally.status.yes >= 2 * tally.total`, "gone", nil},
		{"{from: clerk, each: per_user}", `3 * tally.status.yes >= 2 * tally.total`, "gone", nil},
		{"{from: voter, each: per_user}", `100 * tally.status.yes / tally.total > 50`, "gone", []string{decide + `divides by zero, and so fails, if there are no children because nobody plays "voter": ask for tally.total first`}},
		{"{from: voter, each: per_user}", `double(tally.status.yes) / double(tally.total) > 0.5`, "gone", nil},
		{"{from: voter}", `100 * tally.status.yes / (tally.total - tally.canceled) > 50`, "gone", []string{decide + "divides by zero, and so fails, if all children are canceled: ask for their number first"}},
		{"{from: voter, each: per_user}", `xattr.depth > 3 || tally.status.yes == tally.total`, "gone", nil},
	}
	for _, tt := range tests {
		text := strings.Replace(recursive, ", BEGIN", "", 1) + "  drop: {in: [open, mid], role: clerk, to: gone}\n  ask:\n    in: [open]\n    child: {route: x, roles: {voter: " + tt.roles + "}}\n    decide: '" + tt.decide + " ? \"yes\" : \"no\"'\n    outputs: {yes: done, no: " + tt.no + "}\n"
		if diff := cmp.Diff(tt.want, warningsOf(t, text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.decide, diff)
		}
	}
	refusing := strings.Replace(recursive, ", BEGIN", "", 1) + "  ask:\n    in: [open]\n    child: {route: x, roles: {voter: {from: voter, each: per_user}}}\n    decide: 'tally.status.no > 0 ? \"no\" : \"yes\"'\n    outputs: {yes: done, no: gone}\n"
	if diff := cmp.Diff([]string{decide + `decides "yes"` + asFor}, warningsOf(t, refusing)); diff != "" {
		t.Errorf("what remains (-want +got):\n%s", diff)
	}
}
