package machine

import (
	"strings"
	"testing"

	"flowdrive/internal/label"
)

// TestReassignToWhomThePerformerNames: a step gives a role to the user that an XATTR
// names, such as one that the form of the action has asked for.
func TestReassignToWhomThePerformerNames(t *testing.T) {
	t.Parallel()
	p := newPlay(t, parsed(t, `
roles: {r: {assign: [starter]}}
states: {a: {type: start}}
actions:
  begin: {trigger: init}
  pass: {in: [a], role: r, form: {type: object, properties: {to: {type: string}}}, onFire: [{assign: {role: r, to: ["xattr:To"]}}]}
`))
	pass := func(actor, to string) error {
		return p.event(Perform{Action: "pass", Actor: actorNamed(actor), Xattrs: []Change{{Key: "to", Value: label.Text(to)}}})
	}
	if err := p.do("start"); err != nil {
		t.Fatal(err)
	}
	if err := pass("sam", "ann"); err != nil || p.c.RoleParties("r")[0] != "ann" {
		t.Errorf("%v, %v", err, p.c.Roles)
	}
	if err := pass("ann", "core"); err != nil || p.c.RoleParties("r")[0] != "core" {
		t.Errorf("%v, %v", err, p.c.Roles)
	}
	if err := pass("bob", "nobody"); err != nil || !strings.Contains(strings.Join(p.texts(), "\n"), "Nobody is called nobody") {
		t.Errorf("%v, %v\n%s", err, p.c.Roles, strings.Join(p.texts(), "\n"))
	}
}
