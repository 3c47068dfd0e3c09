package machine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/label"
	"flowdrive/route"
)

func TestPermission(t *testing.T) {
	t.Parallel()
	roles := []route.Role{
		role("one", rule(route.RuleUser, "ann")), role("team", rule(route.RuleTeam, "core")),
		role("holders", rule(route.RuleStakeholders, "")), role("admins", rule(route.RuleAdmins, "")), role("all", rule(route.RuleEveryone, "")),
	}
	only := func(kind route.AllowedKind, name string) []route.Allowed {
		return []route.Allowed{{Kind: kind, Name: name}}
	}
	r := makeRoute(t, roles, "a",
		act{name: "one", in: "a", roles: []string{"one"}},
		act{name: "either", in: "a", roles: []string{"one", "team"}},
		act{name: "holders", in: "a", roles: []string{"holders"}},
		act{name: "admins", in: "a", roles: []string{"admins"}},
		act{name: "all", in: "a", roles: []string{"all"}},
		act{name: "enabled-only", enabledIn: "a", roles: []string{"one"}},
		act{name: "always-only", always: true, roles: []string{"one"}},
		act{name: "always-here", always: true, in: "a", roles: []string{"one"}},
		act{name: "role", enabledIn: "a", allowed: only(route.AllowedRole, "one")},
		act{name: "user", enabledIn: "a", allowed: only(route.AllowedUser, "Bob")},
		act{name: "of-team", enabledIn: "a", allowed: only(route.AllowedTeam, "core")},
		act{name: "readers", enabledIn: "a", allowed: only(route.AllowedReaders, "")},
	)
	p := newPlay(t, r)
	if err := p.event(Edit{Actor: actorNamed("sam"), Stakeholders: &[]string{"sam", "core"}}); err != nil {
		t.Fatal(err)
	}
	if err := p.do("start"); err != nil {
		t.Fatal(err)
	}
	for action, who := range map[string]string{
		"one": "ann", "either": "ann bob", "holders": "sam bob", "admins": "", "all": "sam ann bob",
		"enabled-only": "", "always-only": "", "always-here": "ann", "role": "ann", "user": "bob", "of-team": "bob", "readers": "sam ann bob",
	} {
		var got []string
		for _, name := range []string{"sam", "ann", "bob"} {
			may := MayPerform(p.c, r, action, actorNamed(name))
			if may {
				got = append(got, name)
			}
			if _, _, err := Decide(Input{Route: r, Case: p.c, Event: Perform{Action: action, Actor: actorNamed(name)}, Now: p.now, Facts: factsOfTests()}); (err == nil) != may {
				t.Errorf("%s by %s: err %v, MayPerform %v", action, name, err, may)
			}
		}
		if g := strings.Join(got, " "); g != who {
			t.Errorf("%s: %q may, want %q", action, g, who)
		}
		if !MayPerform(p.c, r, action, actorNamed("admin")) {
			t.Errorf("%s: an administrator of the route may not", action)
		}
	}
}

func TestAssignment(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		roles        []route.Role
		xattrs       label.Dict
		stakeholders []string
		want         string
	}{
		"first that yields anybody": {
			roles: []route.Role{role("r", rule(route.RuleUser, "nobody"), rule(route.RuleTeam, "ann"), rule(route.RuleUser, "core"), rule(route.RuleTeam, "core"), rule(route.RuleStarter, ""))},
			want:  "[{r [core]}]",
		},
		"kept as such": {
			roles:        []route.Role{role("e", rule(route.RuleEveryone, "")), role("s", rule(route.RuleStakeholders, "")), role("a", rule(route.RuleAdmins, ""))},
			stakeholders: []string{"ann"},
			want:         "[{e [everyone]} {s [@stakeholders]} {a [@admins]}]",
		},
		"no stakeholders": {
			roles: []route.Role{role("s", rule(route.RuleStakeholders, ""), rule(route.RuleStarter, ""))},
			want:  "[{s [sam]}]",
		},
		"of a role that is defined later": {
			roles: []route.Role{role("b", rule(route.RuleRole, "c"), rule(route.RuleStarter, "")), role("c", rule(route.RuleUser, "ann"))},
			want:  "[{b [ann]} {c [ann]}]",
		},
		"in a circle": {
			roles: []route.Role{role("b", rule(route.RuleRole, "c")), role("c", rule(route.RuleRole, "b"), rule(route.RuleStarter, ""))},
			want:  "[{b [sam]} {c [sam]}]",
		},
		"of itself or of none": {
			roles: []route.Role{role("b", rule(route.RuleRole, "b"), rule(route.RuleRole, "z"))},
			want:  "[]",
		},
		"by XATTR": {
			roles: []route.Role{
				role("u", rule(route.RuleXattr, "who")), role("t", rule(route.RuleXattr, "team")),
				role("x", rule(route.RuleXattr, "absent")), role("n", rule(route.RuleXattr, "none")),
			},
			xattrs: label.Dict{{Key: "who", Value: label.Text("ann")}, {Key: "team", Value: label.Text("core")}, {Key: "none", Value: label.Text("nobody")}},
			want:   "[{u [ann]} {t [core]}]",
		},
		"an XATTR is never symbolic": {
			roles:  []route.Role{role("u", rule(route.RuleXattr, "who")), role("e", rule(route.RuleXattr, "empty"))},
			xattrs: label.Dict{{Key: "who", Value: label.Text(PartyAdmins)}, {Key: "empty", Value: label.Text("")}},
			want:   "[]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := makeRoute(t, test.roles, "a")
			p := newPlay(t, r)
			if err := p.event(Edit{Actor: actorNamed("sam"), Xattrs: &test.xattrs, Stakeholders: &test.stakeholders}); err != nil {
				t.Fatal(err)
			}
			if err := p.do("start"); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(p.c.Roles); got != test.want {
				t.Errorf("roles %s, want %s", got, test.want)
			}
		})
	}
}

func TestAssignmentLater(t *testing.T) {
	t.Parallel()
	r := makeRoute(t, []route.Role{role("who", rule(route.RuleXattr, "who")), role("by", rule(route.RuleStarter, ""))}, "a",
		act{name: "note", in: "a", allowed: everybody()})
	p := started(t, r)
	set := func(who string) {
		t.Helper()
		if err := p.event(Edit{Actor: actorNamed("sam"), Xattrs: &label.Dict{{Key: "who", Value: label.Text(who)}}}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want string) {
		t.Helper()
		if got := fmt.Sprint(p.c.Roles); got != want {
			t.Errorf("roles %s, want %s", got, want)
		}
	}
	check("[{by [sam]}]")
	set("ann")
	check("[{by [sam]}]")
	p.script([]step{{"bob note", "active a: note"}})
	check("[{who [ann]} {by [sam]}]")
	set("core")
	p.script([]step{{"bob note", "active a: note"}})
	check("[{who [ann]} {by [sam]}]")
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	r := makeRoute(t, []route.Role{
		role("b", rule(route.RuleTeam, "ops"), rule(route.RuleUser, "zoe")), role("a", rule(route.RuleUser, "zoe")), role("s", rule(route.RuleStarter, "")),
	}, "a")
	c := newPlay(t, r).c
	in := Input{Route: r, Case: c, Event: Start{}, Now: startOfTests()}
	out, needs, err := Decide(in)
	if diff := cmp.Diff([]Need{{Party: "ops"}, {Party: "zoe"}}, needs); out != nil || err != nil || diff != "" {
		t.Fatalf("out %v, err %v, needs %s", out, err, diff)
	}
	in.Facts.Parties = map[string]PartyKind{"ops": NoParty, "zoe": UserParty}
	out, needs, err = Decide(in)
	if err != nil || needs != nil {
		t.Fatal(err, needs)
	}
	if got, want := fmt.Sprint(out.Case.Roles), "[{b [zoe]} {a [zoe]} {s [sam]}]"; got != want {
		t.Errorf("roles %s, want %s", got, want)
	}
}

func TestNeedsOfPerform(t *testing.T) {
	t.Parallel()
	p := started(t, makeRoute(t, []route.Role{role("who", rule(route.RuleXattr, "who"))}, "a", act{name: "note", in: "a", allowed: everybody()}))
	if err := p.event(Edit{Actor: actorNamed("sam"), Xattrs: &label.Dict{{Key: "who", Value: label.Text("zoe")}}}); err != nil {
		t.Fatal(err)
	}
	out, needs, err := Decide(Input{Route: p.r, Case: p.c, Event: Perform{Action: "note", Actor: actorNamed("sam")}, Now: p.now})
	if diff := cmp.Diff([]Need{{Party: "zoe"}}, needs); out != nil || err != nil || diff != "" {
		t.Errorf("out %v, err %v, needs %s", out, err, diff)
	}
}

// Whom a refusal names it names once.
func TestPerformersOnce(t *testing.T) {
	t.Parallel()
	r := parsed(t, `
roles: {r: {assign: [starter]}, s: {}}
states: {a: {type: start}}
actions:
  open: {trigger: init}
  do: {in: [a], role: [r], allowed: [r, s, "user:ann"]}
`)
	if got, want := performers(&r.Actions[1], 0), "r, s, ann, administrators of the route"; got != want {
		t.Errorf("performers %q, want %q", got, want)
	}
}
