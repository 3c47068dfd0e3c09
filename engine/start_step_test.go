package engine_test

import (
	"strconv"
	"testing"

	"flowdrive/engine"
)

// TestStartStep: what a step starts has the message as its input and is
// started at once, if the context may start it
// (docs/contract/routes.md#starting-a-case).
func TestStartStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	admin.mustPutRoute("second", `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}}
roles: {clerk: {assign: [starter]}}
actions: {begin: {trigger: init}, end: {in: [open], role: clerk}}
`)
	admin.mustPutRoute("first", `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}}
roles: {clerk: {assign: [starter]}}
actions:
  begin: {trigger: init, onFire: [{message: {label: letter, text: hello}}]}
  go: {in: [open], role: clerk, onFire: [{start: {route: second, title: Next, input: letter}}, {start: {route: own}}]}
  pass: {in: [open], role: clerk, onFire: [{start: {route: second, input: InputMessage, inherit: true, xattrDict: {n: 3}}}]}
`)
	sam, bob := w.as("sam"), w.as("bob") // who may not start own, which is core's
	of := func(u user) (id int64) {
		return u.mustPutCase("first.json", `{"route": "first", "input": "the input", "xattrDict": {"m": 2}}`).CaseID
	}
	last := func() form { all := w.cases(); return all[len(all)-1] }

	sam.mustPerform(of(sam), "pass")
	last().wants("route", `"second"`, "state", `"active"`, "starter", `"sam"`, "xattrDict/n", "3", "xattrDict/m", "2", "parent", "null")
	second, err := strconv.ParseInt(last().get("id"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "its input", sam.read(second, engine.OwnInput), "text/plain; charset=utf-8: the input")
	id := of(bob)
	if _, err := bob.perform(id, "go", `{}`); err == nil || len(w.cases()) != 3 {
		t.Errorf("%v, %d cases", err, len(w.cases()))
	}
}
