package route_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/route"
)

// among compiles routes as they are stored beside each other, and returns the
// warnings of the first.
func among(t *testing.T, texts ...string) (got []string) {
	t.Helper()
	var all []*route.Route
	for _, text := range texts {
		r, _, err := route.Parse("", readYAML(t, text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		all = append(all, r)
	}
	_, warnings, err := route.ParseAmong("", readYAML(t, texts[0]), route.Among(all))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warnings {
		if w.Line == 0 {
			t.Errorf("%s has no place", w.Pointer)
		}
		got = append(got, w.Pointer+": "+w.Detail)
	}
	return got
}

const vote = `name: vote
ACCESS
xattrs: {subject: {required: true}, colour: {default: red, required: true}}
roles: {voter: {PICK}, clerk: {assign: [starter]}, watcher: {}}
states: {open: {type: start}, yes: {type: complete}, no: {type: denied}}
actions:
  begin: {trigger: init}
  agree: {in: [open], role: voter, allowed: [watcher], to: yes}
  refuse: {in: [open], role: voter, to: no}
`

const starting = `name: proposal
roles: {clerk: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  finish:
    in: [open]
    role: clerk
    to: done
    onFire: [{start: {route: vote, START}}]
`

const asking = `name: proposal
roles: {clerk: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  ask:
    in: [open]
    child: {route: vote, CHILD}
    decide: 'DECIDE ? "a" : "b"'
    outputs: {a: done, b: done}
`

func TestStartWarnings(t *testing.T) {
	t.Parallel()
	const step = "/actions/finish/onFire/0/start"
	tests := []struct {
		access, pick, start string
		want                []string
	}{
		{"", "pick: [everyone]", "xattrDict: {Subject: x}, roles: {voter: [starter]}", nil},
		{"", "assign: [starter]", "inherit: true", nil},
		{"", "pick: [everyone]", "inherit: true", []string{step + `: no one plays "voter" in this case of "vote": say in roles who of this one does`}},
		{"", "", "inherit: true", []string{step + `: no one plays "voter" in this case of "vote": that role needs a rule in assign there, or a pick there and somebody in roles here`}},
		{"", "assign: [starter]", "title: x", []string{step + `: a case of "vote" needs the XATTR "subject", so this fails: set it in xattrDict, or say inherit: true`}},
		{"", "", "inherit: true, roles: {voter: [starter]}", []string{step + `/roles/voter: the route "vote" does not let its starter choose who plays "voter", so this fails: give that role a pick there`}},
		{"", "assign: [starter], pick: [everyone]", "inherit: true, roles: {voters: [starter]}", []string{step + `/roles/voters: the route "vote" has no role "voters", so this fails; did you mean "voter"?`}},
		{"access: {start: []}", "pick: [everyone]", "inherit: true", []string{step + `/route: no one may start a case of "vote", so this fails: its access.start is empty`}},
	}
	for _, tt := range tests {
		text := strings.Replace(starting, "START", tt.start, 1)
		if diff := cmp.Diff(tt.want, among(t, text, strings.NewReplacer("ACCESS", tt.access, "PICK", tt.pick).Replace(vote))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.start, diff)
		}
	}
	if got := warningsOf(t, strings.Replace(starting, "START", "title: x, roles: {voter: [starter]}", 1)); got != nil {
		t.Errorf("of a route that is not known: %q", got)
	}
}

func TestChildWarnings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		child, decide string
		want          []string
	}{
		{"inherit: true, roles: {voter: {from: clerk}}", "tally.status.yes > 0", nil},
		{"inherit: true", "tally.status.yes > 0", []string{`/actions/ask/child: no one plays "voter" in a case of "vote": say in roles who of this case does`}},
		{"roles: {voter: {from: clerk}}", "tally.status.yes > 0", []string{`/actions/ask/child: a case of "vote" needs the XATTR "subject", so this fails: say inherit: true`}},
		{"inherit: true, roles: {watcher: {from: clerk}}", "true", []string{`/actions/ask/child: no one plays "voter" in a case of "vote": say in roles who of this case does`}},
		{"inherit: true, complete: tally.status.noo > 1, roles: {voter: {from: clerk}}", "tally.status.yess > 0", []string{
			`/actions/ask/child/complete: 1:6: "noo" is not a state of the route "vote", so this fails; did you mean "no"?`,
			`/actions/ask/decide: 1:6: "yess" is not a state of the route "vote", so this fails; did you mean "yes"?`,
		}},
	}
	for _, tt := range tests {
		text := strings.NewReplacer("CHILD", tt.child, "DECIDE", tt.decide).Replace(asking)
		if diff := cmp.Diff(tt.want, among(t, text, strings.NewReplacer("ACCESS", "", "PICK", "").Replace(vote))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.child, diff)
		}
	}
}

// TestRolesOfParents: a role that another route fills for its children is not warned
// of.
func TestRolesOfParents(t *testing.T) {
	t.Parallel()
	const nobody = ": no one can fill this role: no rule in assign yields a user, and there is no pick. If the cases are children of another route, say access: {start: []}"
	child := strings.NewReplacer("ACCESS", "", "PICK", "").Replace(vote)
	parent := strings.NewReplacer("CHILD", "inherit: true, roles: {voter: {from: clerk}}", "DECIDE", "true").Replace(asking)
	if diff := cmp.Diff([]string{"/roles/voter" + nobody, "/roles/watcher" + nobody}, warningsOf(t, child)); diff != "" {
		t.Errorf("alone (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/roles/watcher" + nobody}, among(t, child, parent)); diff != "" {
		t.Errorf("beside its parent (-want +got):\n%s", diff)
	}
}

// TestInstead: a bare name that is that of a role or XATTR is noted.
func TestInstead(t *testing.T) {
	t.Parallel()
	r, _ := mustParse(t, "", strings.NewReplacer("GUARD", "true", "RULE", "boss", "STEP", `mail: {to: [Clerk, bob, reason, "user:clerk", everyone], subject: s, text: t}`).Replace(using))
	var got []string
	for _, p := range r.Parties() {
		got = append(got, p.Name+" "+p.Instead)
	}
	if diff := cmp.Diff([]string{"Clerk role:clerk", "bob ", "reason xattr:reason", "clerk "}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
