package engine_test

import (
	"strconv"
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/identity"
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

// TestAuthorOfStartStep: a step starts a case of a route only if the author of its route
// may, too; the new case tells what started it. An author who does not see the route is told
// what is told of one that is not there.
func TestAuthorOfStartStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, bob, admin := w.as("sam"), w.as("bob"), w.as("admin")
	payroll := "title: Payroll\nstates: {open: {type: start}}\nactions: {begin: {trigger: init}}\n"
	sam.mustPutRoute("payroll", payroll)
	lunch := `access: {start: [everyone], read: [everyone], admin: [sam]}
roles: {me: {assign: [starter]}}
states: {open: {type: start}}
actions:
  begin: {trigger: init}
  go: {in: [open], role: me, onFire: [{start: {route: payroll}}]}
  gone: {in: [open], role: me, onFire: [{start: {route: nothing}}]}
`
	warned := func(what string, out *engine.Outcome, want ...string) {
		t.Helper()
		got := []string{}
		for _, warning := range out.Warnings {
			if strings.Contains(warning, "payroll") {
				got = append(got, warning)
			}
		}
		same(t, what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	warned("not seen", bob.mustPutRoute("lunch", lunch), `6:55 /actions/go/onFire/0/start/route: there is no route "payroll" yet`)
	of := func(u user, name string) int64 { return u.startCase(`{"route": "` + name + `"}`) }
	id := of(sam, "lunch")
	refused := func(id int64, action, want string) {
		t.Helper()
		before := len(w.cases())
		_, err := sam.perform(id, action, `{}`)
		if err == nil || !strings.Contains(err.Error(), want) || len(w.cases()) != before {
			t.Errorf("%s: %v, want %q", action, err, want)
		}
	}
	refused(id, "go", `there is no route "payroll" that bob, the author of lunch, may start cases of`)
	refused(id, "gone", `there is no route "nothing" that bob, the author of lunch, may start cases of`)

	sam.mustPutRoute("payroll", "access: {read: [bob]}\n"+payroll)
	refused(id, "go", "bob, the author of lunch, may not start payroll")
	warned("seen", bob.mustPutRoute("lunch", lunch+"# seen\n"), "6:55 /actions/go/onFire/0/start/route: you may not start payroll, so this fails: ask an administrator of it for that right (access.start)")

	// A new name is not a new author; a new version is.
	if _, err := w.Routes.RenameRoute(t.Context(), admin.request(nil), "lunch", "dinner"); err != nil {
		t.Fatal(err)
	}
	refused(id, "go", "bob, the author of dinner, may not start payroll")
	warned("by who may", sam.mustPutRoute("dinner", lunch+"description: mine\n"))
	sam.mustPerform(id, "go")
	started := w.cases()[len(w.cases())-1]
	began, err := strconv.ParseInt(started.get("id"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the first line", sam.logTexts(began)[0], "life: Created by a step of dinner, case "+strconv.FormatInt(id, 10))

	// Who is disabled has no rights that a route could use.
	sam.mustPutRoute("payroll", "access: {start: [sam, bob]}\n"+payroll)
	warned("by who may now", bob.mustPutRoute("dinner", lunch+"description: bob's\n"))
	admin.mustPutParty(identity.User, "bob", `{"disabled": true}`)
	refused(of(sam, "dinner"), "go", "bob, the owner of dinner, is disabled")
	admin.mustPutParty(identity.User, "bob", `{"disabled": false}`)
	sam.mustPerform(of(sam, "dinner"), "go")
}
