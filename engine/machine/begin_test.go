package machine

import (
	"strings"
	"testing"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
)

// TestStartStep: a step starts an independent case, which the manager starts
// (docs/contract/routes.md#starting-a-case).
func TestStartStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, named(t, "one", `
states: {a: {type: start}}
roles: {boss: {assign: [starter]}}
actions:
  begin: {trigger: init}
  go:
    in: [a]
    allowed: everyone
    onFire: [{message: {label: letter, text: hello}}, {start: {route: two, title: "For $__TITLE__;", inherit: true, xattrDict: {n: {cel: "xattr.n + 1"}, old: ~}, roles: {clerk: [core], other: ['role:boss']}, input: letter}}]
  no: {in: [a], allowed: everyone, onFire: [{start: {route: two, roles: {fixed: [sam]}}}]}
  none: {in: [a], allowed: everyone, onFire: [{start: {route: absent}}]}
  silent: {in: [a], allowed: everyone, onFire: [{start: {route: two, input: letters}}]}
  ours: {in: [a], allowed: everyone, onFire: [{addStakeholders: [bob, ann]}, {start: {route: two, inherit: true, roles: {other: [stakeholders]}}}]}
`), named(t, "two", `
roles: {clerk: {pick: ['team:core']}, other: {pick: [everyone]}, fixed: {assign: [starter]}}
xattrs: {n: {type: number, required: true}}
states: {done: {type: start, complete: true}}
actions: {begin: {trigger: init}}
`), named(t, "loop", `
states: {a: {type: start}}
actions: {begin: {trigger: init, onFire: [{start: {route: loop}}]}}
`))
	id := w.start("one", func(c *Case) {
		c.Xattrs = label.Dict{{Key: "n", Value: label.Value{Kind: document.Number, Text: "1"}}, {Key: "old", Value: label.Text("x")}}
	})
	if err := w.perform(id, "sam", "go"); err != nil {
		t.Fatal(err)
	}
	started := w.cases[18]
	got := strings.Join([]string{string(started.Life), started.Title, strings.Join(started.RoleParties("clerk"), ","), strings.Join(started.RoleParties("other"), ",")}, " ")
	if want := "completed For A case core sam"; got != want || started.Parent != 0 || len(started.Xattrs) != 1 || started.Links != 1 {
		t.Errorf("got %q %+v", got, started)
	}
	for _, action := range []string{"no", "none", "silent"} {
		if err := w.perform(id, "sam", action); refusal(err) != "route-fault" {
			t.Errorf("%s: %v", action, err)
		}
	}
	if err := w.perform(id, "sam", "ours"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(w.cases[19].RoleParties("other"), ","); got != "bob,ann" {
		t.Errorf("the stakeholders play the other role: %q", got)
	}
	w.start("loop", nil)
	if n := len(w.cases); n != 3+1+MaxLinks {
		t.Errorf("%d cases", n)
	}
}
