package engine_test

import (
	"slices"
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/identity"
)

const routeOfNobodyYet = `
access: {start: [everyone], read: [everyone], admin: [sam]}
xattrs: {clerk: {type: string}}
roles:
  boss: {assign: ["team:mangers"]}
  clerk: {assign: ["xattr:clerk"]}
  deputy: {assign: ["role:boss"]}
states: {open: {type: start}, checked: {}, done: {type: complete}}
actions:
  begin: {trigger: init}
  agree: {title: Approve it, in: [open], role: boss, to: checked}
  check: {in: [checked], role: clerk, to: done}
  stamp: {in: [checked], role: deputy}
`

// TestTeamMadeAfterTheCase: row d5 of a walk. A case waits for a team that a route names
// and that there is not. Once there is, its role is filled, with what depends on it; its
// members are told of the task, and who was told that nobody can do it is told that
// somebody can.
func TestTeamMadeAfterTheCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	admin, sam := w.as("admin"), w.as("sam")
	admin.mustPutRoute("later", strings.TrimPrefix(routeOfNobodyYet, "\n"))
	id, other := sam.startCase(`{"route": "later", "title": "One"}`), sam.startCase(`{"route": "later", "title": "Two"}`)
	sam.mustPutCase(fileOf(other), `{"state": "suspended"}`)
	since := w.toldSince(id)
	if list := since(); !slices.Contains(list, "sam@example.org: Nobody can do it: Approve it (One)") {
		t.Errorf("told %q", list)
	}
	before := sam.caseForm(id).get("warnings")
	admin.mustPutParty(identity.Team, "unlike", `{"members": ["ann"]}`)
	if after := sam.caseForm(id).get("warnings"); after != before || !strings.Contains(after, "Nobody can do it") {
		t.Errorf("warnings %s, and %s after another team was made", before, after)
	}
	same(t, "told of another team", since(), []string(nil))
	admin.mustPutParty(identity.Team, "mangers", `{"members": ["ann"]}`)
	same(t, "told", since(), []string{
		"ann@example.org: To do: Approve it (One)",
		"sam@example.org: Somebody can do it: Approve it (One)",
	})
	if text := sam.caseForm(id).get("warnings"); strings.Contains(text, "Nobody") {
		t.Errorf("warnings %s", text)
	}
	log := sam.logTexts(id)
	for _, want := range []string{"roles: Assigned boss: mangers", "roles: Assigned deputy: mangers"} {
		if !slices.Contains(log, want) {
			t.Errorf("the log %q has no %q", log, want)
		}
	}
	w.as("ann").mustPerform(id, "agree")

	// The clerk is named by the case itself, and gets that name by being renamed.
	sam.mustPutCase(fileOf(id), `{"xattrDict": {"clerk": "carla"}}`)
	sam.taskForm(id, "check").wants("assignees", `[]`)
	if _, err := w.Accounts.RenameParty(t.Context(), admin.request(nil), identity.User, "bob", "carla"); err != nil {
		t.Fatal(err)
	}
	sam.taskForm(id, "check").wants("assignees", `["carla"]`)

	// The other case was suspended all the time. It looks when it resumes.
	sam.mustPutCase(fileOf(other), `{"state": "active"}`)
	sam.taskForm(other, "agree").wants("assignees", `["mangers"]`)
}

// TestUserMadeAfterTheChild: a child whose role is that of its parent is filled with it.
func TestUserMadeAfterTheChild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	admin.mustPutRoute("errand", `
access: {start: []}
roles: {runner: {assign: ["parent:boss"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  run: {in: [open], role: runner, to: done}
`)
	admin.mustPutRoute("mission", `
access: {start: [everyone], read: [everyone]}
roles: {boss: {assign: ["user:gina"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  watch: {in: [open], role: boss}
  errands: {in: [open], child: {route: errand}, to: done}
`)
	id := sam.startCase(`{"route": "mission", "title": "One"}`)
	admin.mustPutParty(identity.User, "gina", `{"password": "a-password-of-gina"}`)
	sam.taskForm(id, "watch").wants("assignees", `["gina"]`)
	w.as("gina").mustPerform(id+1, "run")
}
