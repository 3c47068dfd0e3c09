package engine_test

import (
	"strconv"
	"strings"
	"testing"

	"flowdrive/internal/identity"
)

const payrollRoute = `
xattrs: {salary: {type: number}}
states: {open: {type: start}, approved: {}, done: {type: complete}}
actions:
  begin: {trigger: init, to: open}
  sign: {in: [open], to: approved, role: approver}
  pay: {in: [approved], trigger: auto, to: done, onFire: [{log: "PAID $__XATTR_salary__;"}]}
`

// TestStrangersChildren: a route has no children of a route which its author may not start
// cases of, and fills no role of theirs that a starter could not.
func TestStrangersChildren(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, bob, admin := w.as("sam"), w.as("bob"), w.as("admin")
	admin.mustPutParty(identity.Team, "hr", `{"members": ["sam"], "admins": ["sam"]}`)
	payroll := func(start, approver string) {
		t.Helper()
		sam.mustPutRoute("payroll", "context: hr\naccess: {start: ["+start+"], read: [everyone]}\nroles: {approver: {"+approver+"}}"+payrollRoute)
	}
	evil := func(roles string) string {
		return `
access: {start: [everyone]}
states: {open: {type: start}, s2: {}, done: {type: complete}}
roles: {me: {assign: [starter]}, approver: {assign: [starter]}}
actions:
  begin: {trigger: init, to: open}
  w: {in: [open], child: {route: payroll, inherit: true, roles: {` + roles + `}}, to: s2}
  fin: {in: [s2], to: done, role: me}
`
	}
	const fills, byPick, byRule = "approver: {from: me}", `assign: ["team:hr"], pick: [everyone]`, `assign: ["parent:approver", "team:hr"]`
	refused := func(what, roles, want string) {
		t.Helper()
		if _, err := bob.putRoute("evil", evil(roles)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// started returns the log of a case of bob's route, and the forms of its children.
	started := func(by user) (log string, children []form) {
		t.Helper()
		before := len(w.cases())
		id := by.startCase(`{"route": "evil", "xattrDict": {"salary": 1000000}}`)
		for _, c := range w.cases()[before:] {
			if c.get("parent") == strconv.FormatInt(id, 10) {
				children = append(children, c)
			}
		}
		return strings.ReplaceAll(strings.Join(by.logTexts(id), "\n"), `\"`, `"`), children
	}
	none := func(what string, by user, want string) {
		t.Helper()
		if log, children := started(by); !strings.Contains(log, want) || len(children) != 0 {
			t.Errorf("%s: %d children, and the log is\n%s", what, len(children), log)
		}
	}
	approver := func(what string, by user, want string) {
		t.Helper()
		log, children := started(by)
		if len(children) != 1 {
			t.Fatalf("%s: %d children, and the log is\n%s", what, len(children), log)
		}
		same(t, what, children[0].get("roles/approver"), want)
	}

	payroll("hr", `assign: ["team:hr"]`)
	refused("no right", fills, `you may not start cases of "payroll", so they cannot be children of yours`)
	payroll("", `assign: ["team:hr"]`)
	refused("nobody has the right", "", `you may not start cases of "payroll"`)
	payroll("everyone", `assign: ["team:hr"]`)
	refused("no pick", fills, `the route "payroll" does not let the starter of a case choose who plays "approver"`)
	payroll("everyone", "")
	refused("no rule", fills, `does not let the starter of a case choose who plays "approver"`)

	// What the routes were when they were stored is judged again when a child is made.
	payroll("everyone", byPick)
	bob.mustPutRoute("evil", evil(fills))
	approver("who picks", bob, `["bob"]`)
	payroll("everyone", `assign: ["team:hr"]`)
	none("the pick is gone", bob, `the route "payroll" does not let the starter of a case choose who plays "approver"`)
	payroll("everyone", `assign: ["team:hr"], pick: [admins, "role:approver"]`)
	none("another is picked", bob, `the starter of a case of "payroll" may not put bob into the role "approver"`)
	payroll("hr", byPick)
	none("the author lost the right", sam, "bob, the author of evil, may not start payroll")
	payroll("bob", byPick)
	none("the starter lacks the right", w.as("ann"), `there is no route "payroll" that ann may start cases of`)
	approver("both have it", bob, `["bob"]`)
	admin.mustPutParty(identity.User, "bob", `{"disabled": true}`)
	payroll("everyone", byPick)
	none("the author is disabled", sam, "bob, the owner of evil, is disabled")
	admin.mustPutParty(identity.User, "bob", `{"disabled": false}`)

	// A rule of the child's route does not take its players from a stranger's.
	payroll("everyone", byRule)
	bob.mustPutRoute("evil", evil(""))
	approver("from a stranger", bob, `["hr"]`)

	// Who administers the route of the children gives that right by their own route.
	payroll("", byRule)
	sam.mustPutRoute("evil2", "context: hr\n"+evil(""))
	bob.startCase(`{"route": "evil2"}`)
	all := w.cases()
	same(t, "from its own", all[len(all)-1].get("roles/approver"), `["bob"]`)
	payroll("", `assign: ["team:hr"]`)
	sam.mustPutRoute("evil2", "context: hr\n"+evil(fills))
	bob.startCase(`{"route": "evil2"}`)
	all = w.cases()
	same(t, "given by its own", all[len(all)-1].get("roles/approver"), `["bob"]`)

	// Without its author the team that owns both routes answers for them.
	admin.mustPutParty(identity.User, "sam", `{"disabled": true}`)
	before := len(w.cases())
	bob.startCase(`{"route": "evil2"}`)
	same(t, "cases without the author", len(w.cases())-before, 2)
}
