package web

import (
	"strings"
	"testing"
)

func taskListPagesToTry() []pageToTry {
	return []pageToTry{
		{"tasks-done", "ann", "/tasks/done", 200},
		{"tasks-team", "admin", "/tasks/team/core", 200},
		{"tasks-team-of-others", "ann", "/tasks/team/core", 404},
		{"tasks-done-after", "ann", "/tasks/done?after=x", 400},
	}
}

// TestTaskLists: what one has done is listed, and who leads a team sees what waits for it.
func TestTaskLists(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "bob")
	if said := textOf(b.get(t, "/tasks/done").body, "rows"); !strings.Contains(said, "performed nothing") {
		t.Errorf("nothing is done, and the page says %q", said)
	}
	g.must(t, "bob", 204, "PUT", "/dav/Workflow/Cases/18/Actions/resolve.json", `{"comment": "the <cable>"}`)
	if said := textOf(b.get(t, "/tasks/done").body, "rows"); !strings.Contains(said, "Resolved") || !strings.Contains(said, "the <cable>") {
		t.Errorf("after performing the page says %q", said)
	}
	g.must(t, "admin", 204, "PUT", "/dav/Admin/Teams/core.json", `{"admins": ["bob"]}`)
	if page := b.get(t, "/tasks").body; !strings.Contains(page, `href="/tasks/team/core"`) || !strings.Contains(page, `href="/tasks/done"`) {
		t.Error("the lists are no tabs of the tasks")
	}
	if said := textOf(b.get(t, "/tasks/team/core").body, "rows"); !strings.Contains(said, "Two monitors for the lab17 · expenseApproveALAnn Lindqvist") {
		t.Errorf("the team's page says %q", said)
	}
	if page := g.browse(t, "ann").get(t, "/tasks").body; strings.Contains(page, "/tasks/team/") {
		t.Error("a member is shown the team's list")
	}
}
