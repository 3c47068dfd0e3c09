package engine_test

import (
	"regexp"
	"strings"
	"testing"

	"flowdrive/internal/identity"
)

// TestMembersNotNamed: a route that names a team tells nobody who is in it, neither in
// the log nor by what is wrong, and starts no case for each member unless its author is
// told who they are.
func TestMembersNotNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bob, ann, admin := w.as("bob"), w.as("ann"), w.as("admin")
	admin.mustPutParty(identity.User, "eve", `{"email": null}`)
	admin.mustPutParty(identity.User, "kim", `{}`)
	admin.mustPutParty(identity.User, "kim", `{"disabled": true}`)
	admin.mustPutParty(identity.Team, "core", `{"members": ["sam", "ann", "eve", "kim"]}`)
	const one = "\nroles: {it: {}}\nstates: {open: {type: start}, done: {type: complete}}\nactions: {begin: {trigger: init}, end: {in: [open], role: it, to: done}}\n"
	bob.mustPutRoute("one", "access: {start: []}"+one)
	const probe = `
access: {start: [everyone], read: [everyone]}
roles: {hr: {assign: ["team:core"]}}
states: {open: {type: start}, asking: {}, done: {type: complete}}
actions:
  begin: {trigger: init, onFire: [{mail: {to: ["team:core", bob, role:hr], subject: A}}]}
  fin: {title: Fin, in: [open], role: hr, need: 99 of hr, to: done}
  each: {in: [open], child: {route: one, while: asking, roles: {it: {from: hr, each: per_user}}}, to: done}
`
	const warning = `each: per_user would name the members of the team "core"`
	if out := bob.mustPutRoute("probe", probe); !strings.Contains(strings.Join(out.Warnings, "\n"), warning) {
		t.Errorf("the warnings are %q", out.Warnings)
	}
	id := bob.startCase(`{"route": "probe", "title": "A"}`)
	log, doc := strings.Join(bob.logTexts(id), "\n"), bob.caseForm(id).text
	for _, want := range []string{
		"To be sent: mail to the team core, bob: A", "Without an e-mail address: members of the team core",
		"a case for each user would name the members of the team core",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	if strings.Contains(doc, "quorum") || strings.Contains(doc, "disabled") {
		t.Errorf("the case tells who is in the team: %s", doc)
	}
	const untold = `whether the team "core" has as many users as an action needs of this role is not told`
	if out := bob.mustPutRoute("probe", probe); !strings.Contains(strings.Join(out.Warnings, "\n"), untold) {
		t.Errorf("the warnings are %q", out.Warnings)
	}
	for _, name := range []string{"sam", "ann", "eve", "kim"} {
		if regexp.MustCompile(`\b` + name + `\b`).MatchString(log + doc) {
			t.Errorf("%s is named:\n%s\n%s", name, log, doc)
		}
	}
	ann.mustPutRoute("anns", "access: {start: [], read: [everyone]}"+one)
	if out := ann.mustPutRoute("by-member", strings.ReplaceAll(probe, "route: one", "route: anns")); strings.Contains(strings.Join(out.Warnings, "\n"), warning) || strings.Contains(strings.Join(out.Warnings, "\n"), untold) {
		t.Errorf("the warnings of a member are %q", out.Warnings)
	}
	bob.startCase(`{"route": "by-member", "title": "B"}`)
	var titles []string
	for _, c := range w.cases() {
		if title := strings.Trim(c.get("title"), `"`); strings.HasPrefix(title, "B (") {
			titles = append(titles, title)
		}
	}
	same(t, "what a member's route starts", strings.Join(titles, ", "), "B (ann), B (eve), B (sam)")

	alone, _, _ := strings.Cut(probe, "  each:")
	ann.mustPutRoute("alone", alone)
	const told = "Its quorum cannot be reached: Fin (it needs 99, and fewer can do it) (a member of the team core is disabled)"
	if doc := ann.caseForm(bob.startCase(`{"route": "alone", "title": "C"}`)).text; !strings.Contains(doc, told) {
		t.Errorf("the case of a member's route lacks %q: %s", told, doc)
	}
}
