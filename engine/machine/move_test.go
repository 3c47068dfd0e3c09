package machine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
)

// board is a route on whose board cases are moved.
const board = `
xattrs: {n: {type: number, default: 0}}
roles: {r: {assign: [starter]}, s: {assign: ["user:ann"]}}
states: {a: {type: start}, b: {}, c: {}, d: {type: complete}, e: {}, f: {type: denied}}
actions:
  open: {trigger: init}
  stay: {in: [a], role: r}
  again: {in: [a], role: r, to: a}
  go: {in: [a], role: r, to: b}
  jump: {in: [a], role: r, to: c}
  leap: {in: [a], role: s, to: c}
  skip: {in: [a], role: r, to: d, guard: "xattr.n > 1"}
  refuse: {in: [a], role: r, distinct: [open], to: f, resolutions: {bad: Bad}}
  either: {in: [a], role: r, decide: "'x'", outputs: {x: e}}
  left: {role: r}
  right: {role: s}
  both: {role: s}
  late: {in: [c], trigger: time, timeout: P1D, to: a}
  form: {in: [c], role: r, to: b, resolutions: {good: Good}}
  back: {in: [d], role: r, to: a}
  end: {in: [b], role: r, to: d, enableIf: "xattr.n > 2"}
  last: {role: s, guard: "xattr.n == 1"}
transitions:
  - {from: b, to: f, requires: [left, last]}
  - {from: b, to: c, requires: [left, right]}
  - {from: b, to: e, requires: [both]}
`

func TestMove(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before []string
		actor  string
		to     string
		want   string // the action performed and the status then, or a kind of error and what it says
	}{
		"by the one action":            {nil, "sam", "b", "go b"},
		"another's action is not mine": {nil, "ann", "c", "leap c"},
		"by one of several":            {nil, "admin", "c", "!ambiguous-move jump, leap"},
		"by the only one of mine":      {nil, "sam", "c", "jump c"},
		"where it is":                  {nil, "sam", "a", "!action-not-enabled b (go); c (jump)"},
		"by a decision":                {nil, "sam", "e", `!action-not-enabled b (go); c (jump). It can get there by "either", which decides where the case goes: perform that on the page of the case, or by saving {} as Actions/either.json in its folder.`},
		"not by any decision":          {nil, "bob", "e", "!action-not-enabled You cannot move it anywhere."},
		"while the guard is false":     {nil, "sam", "d", `!action-not-enabled "a" to "d" now. The condition of "skip" does not hold (guard: xattr.n > 1; xattr.n is 0). You can move it to: b (go)`},
		"while enableIf is false":      {[]string{"sam go"}, "sam", "d", `!action-not-enabled "b" to "d" now. The condition of "end" does not hold (enableIf: xattr.n > 2; xattr.n is 0). You cannot`},
		"half of it is false":          {[]string{"sam go", "sam n=2", "sam left"}, "ann", "f", `!action-not-enabled "b" to "f" now. The condition of "last" does not hold (guard: xattr.n == 1; xattr.n is 2).`},
		"the condition of others":      {nil, "bob", "d", `!action-not-enabled "a" to "d" now. You cannot`},
		"once the guard is true":       {[]string{"sam n=2"}, "sam", "d", "skip d"},
		"to no state":                  {nil, "sam", "z", "!action-not-enabled z"},
		"nothing is mine":              {nil, "bob", "b", "!action-not-enabled anywhere"},
		"half of a transition":         {[]string{"sam go"}, "ann", "c", "!action-not-enabled e (both)"},
		"the other half":               {[]string{"sam go", "sam left"}, "ann", "c", "right c"},
		"a transition by one":          {[]string{"sam go"}, "ann", "e", "both e"},
		"by an action that asks":       {[]string{"sam jump"}, "sam", "b", "!invalid /resolution"},
		"what others must do":          {nil, "sam", "f", "!four-eyes other than sam, who performed"},
		"by nothing that time does":    {[]string{"sam jump"}, "admin", "a", "!action-not-enabled b (form)"},
		"out of completion":            {[]string{"sam n=2", "sam skip"}, "sam", "a", "back a"},
		"a suspended case":             {[]string{"sam !suspend"}, "sam", "b", "!case-not-open suspended"},
		"a canceled case":              {[]string{"cancel"}, "sam", "b", "!case-not-open canceled"},
		"what another has accepted":    {[]string{"admin !accept leap"}, "ann", "c", "!action-not-enabled anywhere"},
		"what the actor has accepted":  {[]string{"ann !accept leap"}, "ann", "c", "leap c"},
		"an administrator may even so": {[]string{"ann !accept leap", "sam !accept go"}, "admin", "b", "go b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := started(t, parsed(t, board))
			for _, do := range test.before {
				if err := p.do(do); err != nil {
					t.Fatal(do, err)
				}
			}
			err := p.event(Move{To: test.to, Actor: actorNamed(test.actor)})
			if err == nil {
				if got := p.performed + " " + p.c.Status; got != test.want {
					t.Errorf("got %s, want %s", got, test.want)
				}
				return
			}
			kind, says, _ := strings.Cut(strings.TrimPrefix(test.want, "!"), " ")
			if errs.KindOf(err) != errs.Kind(kind) || !strings.Contains(err.Error(), says) {
				t.Errorf("got %s %v, want %s", errs.KindOf(err), err, test.want)
			}
		})
	}
	p := started(t, parsed(t, board))
	e := asError(t, p.event(Move{To: "e", Actor: actorNamed("sam")}))
	if want := map[string][]string{"b": {"go"}, "c": {"jump"}}; !cmp.Equal(e.Extra["moves"], want) {
		t.Errorf("moves %v, want %v", e.Extra["moves"], want)
	}
}
