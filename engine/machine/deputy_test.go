package machine

import (
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// TestDeputy: a deputy performs what those it stands in for are assigned,
// and the log names both; nothing else is lent.
func TestDeputy(t *testing.T) {
	t.Parallel()
	r := makeRoute(t, []route.Role{
		role("one", rule(route.RuleUser, "ann")), role("team", rule(route.RuleTeam, "core")), role("admins", rule(route.RuleAdmins, "")),
	}, "a",
		act{name: "one", in: "a", roles: []string{"one"}},
		act{name: "of-team", in: "a", roles: []string{"team"}},
		act{name: "both", in: "a", roles: []string{"one", "team"}},
		act{name: "anybody", in: "a", roles: []string{"one"}, allowed: everybody()},
		act{name: "allowed-role", enabledIn: "a", allowed: allowRoles("one")},
		act{name: "allowed-user", enabledIn: "a", allowed: []route.Allowed{{Kind: route.AllowedUser, Name: "ann"}}},
		act{name: "enabled-only", enabledIn: "a", roles: []string{"one"}},
		act{name: "admins", in: "a", roles: []string{"admins"}},
	)
	standsIn := func(name string, absent ...string) Actor {
		a := actorNamed(name)
		for _, n := range absent {
			of := actorNamed(n)
			a.DeputyFor = append(a.DeputyFor, Absent{Name: of.Name, Contexts: of.Contexts})
		}
		return a
	}
	for name, test := range map[string]struct {
		actor  Actor
		action string
		behalf string // "!" for a refusal
	}{
		"of an assignee":                     {standsIn("sam", "ann"), "one", "ann"},
		"of a member of an assigned team":    {standsIn("sam", "bob"), "of-team", "bob"},
		"of several, the first":              {standsIn("sam", "ann", "bob"), "both", "ann"},
		"of several, the one who may":        {standsIn("sam", "ann", "bob"), "of-team", "bob"},
		"an assignee acts for itself":        {standsIn("ann", "bob"), "both", ""},
		"a deputy before other rights":       {standsIn("sam", "ann"), "anybody", "ann"},
		"an administrator who is a deputy":   {standsIn("admin", "ann"), "one", "ann"},
		"an administrator otherwise":         {standsIn("admin", "ann"), "of-team", ""},
		"the absent one keeps the right":     {actorNamed("ann"), "one", ""},
		"allowed roles are not lent":         {standsIn("sam", "ann"), "allowed-role", "!"},
		"allowed users are not lent":         {standsIn("sam", "ann"), "allowed-user", "!"},
		"what is only enabled is not lent":   {standsIn("sam", "ann"), "enabled-only", "!"},
		"of an administrator of the route":   {standsIn("sam", "admin"), "one", "!"},
		"of one for whom the role is @admin": {standsIn("sam", "admin"), "admins", "!"},
		"of somebody else":                   {standsIn("sam", "bob"), "one", "!"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := started(t, r)
			may := MayPerform(p.c, r, test.action, test.actor)
			err := p.event(Perform{Action: test.action, Actor: test.actor})
			if want := test.behalf != "!"; may != want || (err == nil) != want {
				t.Fatalf("MayPerform %v, err %v; want %v", may, err, want)
			}
			if err != nil {
				if !errs.Is(err, errs.NotAllowed) {
					t.Fatal(err)
				}
				return
			}
			entry := p.log[len(p.log)-1]
			behalf := ""
			if entry.OnBehalfOf != nil {
				behalf = *entry.OnBehalfOf
			}
			if *entry.Actor != test.actor.Name || behalf != test.behalf {
				t.Errorf("%s performed on behalf of %q, want %s and %q", *entry.Actor, behalf, test.actor.Name, test.behalf)
			}
			if done := p.c.performed(test.action); done.By != test.actor.Name {
				t.Errorf("performed by %s, want %s", done.By, test.actor.Name)
			}
		})
	}
}
