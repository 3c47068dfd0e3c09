package web

import (
	"strings"
	"testing"
)

func adminPagesToTry() []pageToTry {
	return []pageToTry{
		{"admin", "admin", "/admin", 200},
		{"admin-of-others", "ann", "/admin", 404},
		{"admin-users", "admin", "/admin/users", 200},
		{"admin-users-of-others", "ann", "/admin/users", 404},
		{"admin-user-add", "admin", "/admin/users?do=user-add", 200},
		{"admin-user", "admin", "/admin/users?do=user&name=ann", 200},
		{"admin-teams", "admin", "/admin/teams", 200},
		{"admin-team", "admin", "/admin/teams?do=team&name=core", 200},
		{"admin-holds", "admin", "/admin/holds?do=hold", 200},
		{"admin-audit", "admin", "/admin/audit/2012-11-09?q=team-", 200},
		{"admin-audit-none", "admin", "/admin/audit/2001-01-01", 200},
		{"admin-audit-date", "admin", "/admin/audit/never", 404},
		{"admin-audit-after", "admin", "/admin/audit/2012-11-09?after=x", 400},
		{"admin-audit-of-others", "ann", "/admin/audit/2012-11-09", 404},
		{"sandbox", "admin", "/sandbox", 200},
		{"sandbox-user", "ann", "/sandbox", 200},
	}
}

// TestAdminForms: users, teams and holds are stored, changed and deleted on the drive, and
// nobody but an administrator does so.
func TestAdminForms(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	for _, test := range []struct {
		name, path string
		fields     []string
		status     int
		after, has string // what the drive has at a path; "404": nothing
	}{
		{"add", "/admin/users?do=user-add", []string{"do", "user-add", "name", "tom", "fullName", "Tom W", "email", "tom@example.org", "password", password}, 303, "Users/tom.json", `"fullName": "Tom W"`},
		{"add again", "/admin/users", []string{"do", "user-add", "name", "tom", "password", password}, 412, "Users/tom.json", `"fullName": "Tom W"`},
		{"without a name", "/admin/users", []string{"do", "user-add", "name", "", "password", password}, 422, "Users/tom.json", ""},
		{"no mail", "/admin/users", []string{"do", "user-add", "name", "eve", "email", "x", "password", password}, 422, "Users/eve.json", "404"},
		{"disable", "/admin/users?do=user&name=tom", []string{"do", "user", "name", "tom", "fullName", "Tom", "disabled", "true"}, 303, "Users/tom.json", `"disabled": true`},
		{"delete", "/admin/users", []string{"do", "user-delete", "name", "tom"}, 303, "Users/tom.json", "404"},
		{"team", "/admin/teams?do=team-add", []string{"do", "team-add", "name", "lab", "members", "ann, bob", "admins", "cy"}, 303, "Teams/lab.json", `"members": ["ann", "bob"]`},
		{"a team of nobody", "/admin/teams?do=team&name=lab", []string{"do", "team", "name", "lab", "members", "nobody"}, 422, "Teams/lab.json", `"members": ["ann", "bob"]`},
		{"cycle", "/admin/teams?do=team&name=lab", []string{"do", "team", "name", "lab", "members", "lab"}, 422, "Teams/lab.json", `"members": ["ann", "bob"]`},
		{"hold", "/admin/holds?do=hold", []string{"do", "hold", "name", "stock", "route", "bug", "reason", "stocktaking"}, 303, "Holds/stock.json", `"reason": "stocktaking"`},
		{"hold of nothing", "/admin/holds?do=hold", []string{"do", "hold", "name", "none"}, 422, "Holds/none.json", "404"},
		{"let go", "/admin/holds", []string{"do", "letgo", "name", "stock"}, 303, "Holds/stock.json", "404"},
	} {
		if got := g.browse(t, "ann").post(t, test.path, test.fields...); got.status != 404 {
			t.Errorf("%s by ann: got %d, want 404", test.name, got.status)
		}
		got := g.browse(t, "admin").post(t, test.path, test.fields...)
		if got.status != test.status {
			t.Errorf("%s: got %d %s, want %d", test.name, got.status, textOf(got.body, "refused"), test.status)
		}
		if got.status != 303 && textOf(got.body, "refused") == "" {
			t.Errorf("%s: nothing says why", test.name)
		}
		if got.status != 303 && strings.Contains(got.body, password) {
			t.Errorf("%s: the answer has the password", test.name)
		}
		if test.has == "404" {
			g.must(t, "admin", 404, "GET", adminPath+test.after, "")
		} else if stored := g.must(t, "admin", 200, "GET", adminPath+test.after, "").body; !strings.Contains(stored, test.has) {
			t.Errorf("%s: %s has no %s:\n%s", test.name, test.after, test.has, stored)
		}
	}
}

// TestUserWarnings: the page of users says what the drive warns of when a user is stored, in
// the words of its fields.
func TestUserWarnings(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "admin")
	store := func(fields ...string) string {
		t.Helper()
		fields = append([]string{"do", "user", "name", "bob"}, fields...)
		if got := b.post(t, "/admin/users?do=user&name=bob", fields...); got.status != 303 {
			t.Fatalf("%v: got %d %s", fields, got.status, textOf(got.body, "refused"))
		}
		return textOf(b.get(t, "/admin/users").body, "notice")
	}
	if got := store("fullName", "Bob B"); got != "bob is stored." {
		t.Errorf("nothing to warn of: got %q", got)
	}
	g.must(t, "bob", 201, "PUT", "/dav/Account/AppPasswords/phone.json", "")
	g.must(t, "bob", 201, "PUT", "/dav/Workflow/Schedule/own.json", `{"route": "bug", "type": "cron", "minute": "0", "hour": "8"}`)
	want := `bob is stored. App passwords (1) and calendar links (0) of bob still let in; "End app passwords and calendar links" ends them.`
	if got := store("password", password+"2"); got != want {
		t.Errorf("a new password: got %q, want %q", got, want)
	}
	if got := store("disabled", "true"); !strings.Contains(got, "1 schedule entry in the context of bob will not start a case") {
		t.Errorf("disabled: got %q", got)
	}
}

// TestHandOverOnPage: the forms that delete a user or team have a field for whom all goes to that
// they have, also in the curl line; without it the refusal names the field.
func TestHandOverOnPage(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "admin")
	g.must(t, "bob", 201, "PUT", "/dav/Workflow/Schedule/own.json", `{"route": "bug", "type": "cron", "minute": "0", "hour": "8"}`)
	form := "/admin/users?do=user-delete&name=bob"
	if page := b.get(t, form).body; !strings.Contains(page, `name="handOver"`) || strings.Contains(page, "cannot be deleted") {
		t.Errorf("no field: %s", textOf(page, "ask"))
	}
	got := b.post(t, form, "do", "user-delete", "name", "bob")
	if said := textOf(got.body, "main"); got.status != 409 || !strings.Contains(said, `"Hand over to" gives all that to another user.`) || strings.Contains(said, "DELETE with") {
		t.Errorf("without a successor: got %d %s", got.status, said)
	}
	got = b.post(t, form, "do", "user-delete", "name", "bob", "handOver", "nobody")
	if got.status != 400 || !strings.Contains(textOf(got.body, "main"), `must be the name of another user or team; there is no "nobody"`) {
		t.Errorf("to nobody: got %d %s", got.status, textOf(got.body, "main"))
	}
	if got = b.post(t, form, "do", "user-delete", "name", "bob", "handOver", "cy", "show", ""); !strings.Contains(got.body, "/dav/Admin/Users/bob.json?handOver=cy") {
		t.Errorf("no curl line: %d %s", got.status, textOf(got.body, "main"))
	}
	if got = b.post(t, form, "do", "user-delete", "name", "bob", "handOver", "cy"); got.status != 303 {
		t.Fatalf("to cy: got %d %s", got.status, textOf(got.body, "refused"))
	}
	if got := textOf(b.get(t, "/admin/users").body, "notice"); got != "bob is deleted. All that bob had is cy's now." {
		t.Errorf("got %q", got)
	}
	g.must(t, "admin", 404, "GET", adminPath+"Users/bob.json", "")
	if got := g.must(t, "cy", 200, "GET", "/dav/Workflow/Schedule/.contents", "").body; !strings.Contains(got, `"context": "cy"`) {
		t.Errorf("the entry is not cy's: %s", got)
	}
	if page := b.get(t, "/admin/teams?do=team-delete&name=core").body; !strings.Contains(page, `name="handOver"`) {
		t.Error("the form of teams has no field")
	}
}

// TestSandboxPage: administrators move the clock, also from every page, and never back.
func TestSandboxPage(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "admin")
	for _, test := range []struct {
		user   string
		fields []string
		status int
		now    string
	}{
		{"admin", []string{"do", "advance", "advance", "PT1H"}, 303, "2012-11-09T13:34:56Z"},
		{"admin", []string{"do", "set", "set", "2012-11-10T08:00:00Z"}, 303, "2012-11-10T08:00:00Z"},
		{"admin", []string{"do", "set", "set", "2012-11-10T07:00:00Z"}, 422, "2012-11-10T08:00:00Z"},
		{"admin", []string{"do", "set", "set", "later"}, 422, "2012-11-10T08:00:00Z"},
		{"admin", []string{"do", "set", "set", ""}, 422, "2012-11-10T08:00:00Z"},
		{"ann", []string{"do", "advance", "advance", "PT1H"}, 403, "2012-11-10T08:00:00Z"},
	} {
		got := g.browse(t, test.user).post(t, "/sandbox", test.fields...)
		if got.status != test.status {
			t.Errorf("%v by %s: got %d %s, want %d", test.fields, test.user, got.status, textOf(got.body, "main"), test.status)
		}
		if now := g.clock.Now().Format("2006-01-02T15:04:05Z"); now != test.now {
			t.Errorf("%v by %s: the clock is at %s, want %s", test.fields, test.user, now, test.now)
		}
	}
	if got := b.post(t, "/sandbox", "do", "next"); got.status != 422 || !strings.Contains(textOf(got.body, "refused"), "Nothing is due") {
		t.Errorf("nothing is due: got %d %s", got.status, textOf(got.body, "main"))
	}
	g.start(t, "bob", `{"route": "expense", "title": "A", "xattrDict": {"amount": 1240}}`)
	page := b.get(t, "/sandbox").body
	if !strings.Contains(page, ">Next: Mon 12 Nov, 08:00</button>") || !strings.Contains(page, "{&#34;set&#34;: &#34;2012-11-12T08:00:00Z&#34;}") {
		t.Errorf("no step to what is due next, or no curl line: %s", page)
	}
	if got := g.browse(t, "ann").post(t, "/sandbox", "do", "next"); got.status != 403 {
		t.Errorf("by a user: got %d", got.status)
	}
	if got := b.post(t, "/sandbox", "do", "next"); got.status != 303 || g.clock.Now().Format("2006-01-02T15:04:05Z") != "2012-11-12T08:00:00Z" {
		t.Errorf("next: got %d, the clock is at %s", got.status, g.clock.Now())
	}
	if page := b.get(t, "/tasks").body; !strings.Contains(page, `name="advance" value="PT1H"`) || !strings.Contains(page, `name="do" value="next"`) {
		t.Error("the clock has no steps on other pages")
	}
}

// TestAuditFilters: the audit log is filtered by who, what and day, and the day beside it by the
// same.
func TestAuditFilters(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	admin := g.browse(t, "admin")
	g.must(t, "ann", 201, "PUT", "/dav/Account/AppPasswords/x.json", "")
	for _, test := range []struct {
		query      string
		has, lacks string
	}{
		{"", "<td>admin</td>", "nothing of this day"},
		{"?actor=ANN", "<td>ann</td>", "<td>admin</td>"},
		{"?actor=an", "<td>ann</td>", "<td>admin</td>"},
		{"?actor=nn", "<td>ann</td>", "<td>admin</td>"},
		{"?action=user", "<td>admin</td>", "<td>ann</td>"},
		{"?actor=ann&action=user", "nothing of this day", "<td>ann</td>"},
		{"?action=app+password", `App password made <b>ann/x</b> <span class="id">app-password-add</span>`, "<td>admin</td>"},
		{"?action=app-password", "App password made", "<td>admin</td>"},
		{"?q=password+made", "<td>ann</td>", "<td>admin</td>"},
		{"?actor=ann&outcome=done", "<td>ann</td>", "nothing of this day"},
	} {
		got := admin.get(t, "/admin/audit/2012-11-09"+test.query)
		if got.status != 200 || !strings.Contains(got.body, test.has) || strings.Contains(got.body, test.lacks) {
			t.Errorf("%s: got %d %s", test.query, got.status, textOf(got.body, "list"))
		}
	}
	if got := admin.get(t, "/admin/audit/2012-11-09?actor=ann&action=put").body; !strings.Contains(got, `href="/admin/audit/2012-11-08?action=put&amp;actor=ann"`) {
		t.Error("the day before lacks the filters")
	}
	if got := admin.get(t, "/admin/audit?date=2012-11-01&actor=ann"); got.status != 303 || got.header.Get("Location") != "/admin/audit/2012-11-01?actor=ann" {
		t.Errorf("a day: got %d %q", got.status, got.header.Get("Location"))
	}
	if got := admin.get(t, "/admin/audit?date=yesterday"); got.status != 400 {
		t.Errorf("a day that is none: got %d", got.status)
	}
}

// TestCountedFigures: what is counted by a label is shown by its values, the most first.
func TestCountedFigures(t *testing.T) {
	t.Parallel()
	if got := byLabel([]labelled{{"timer", 1}, {"child", 1}, {"user", 1300}}); !strings.HasSuffix(got, " user, 1 child, 1 timer") {
		t.Errorf("got %q", got)
	}
	if got := byLabel(nil); got != "since the server started" {
		t.Errorf("nothing is counted: got %q", got)
	}
}
