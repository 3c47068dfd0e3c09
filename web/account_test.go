package web

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func mountPagesToTry() []pageToTry {
	return []pageToTry{
		{"mount", "ann", "/mount", 200},
		{"mount-davfs2", "ann", "/mount/davfs2?device=laptop", 200},
		{"mount-revoke", "ann", "/mount/kde?do=revoke&name=laptop", 200},
		{"mount-none", "sam", "/mount/rclone", 200},
		{"mount-absent", "sam", "/mount/amiga", 404},
	}
}

// TestAccountForms: each form of the account changes me.json, and a fault is at its field.
func TestAccountForms(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	for _, test := range []struct {
		name   string
		fields []string
		status int
		has    string // in me.json, or of a refusal at the element fault
		fault  string
	}{
		{"name", []string{"do", "me", "fullName", "Ann <L>", "email", "ann@example.org"}, 303, `"email": "ann@example.org"`, ""},
		{"mail", []string{"do", "me", "fullName", "Ann", "email", "no mail"}, 422, "", "me-email-fault"},
		{"an address to confirm", []string{"do", "me", "fullName", "Ann", "email", "ann@confirmed.example"}, 303, `"emailPending": "ann@confirmed.example"`, ""},
		{"a wrong code", []string{"do", "confirm", "emailCode", "AAAA-AAAA-AAAA"}, 422, `"email": "ann@example.org"`, "confirm-emailCode-fault"},
		{"deputy", []string{"do", "deputy", "user", "bob", "to", "2012-12-01"}, 303, `"user": "bob"`, ""},
		{"deputy without an end", []string{"do", "deputy", "user", "bob"}, 422, "", "deputy-to-fault"},
		{"nobody", []string{"do", "deputy", "user", "nobody", "to", "2012-12-01"}, 422, "", "deputy-user-fault"},
		{"no deputy", []string{"do", "deputy", "user", ""}, 303, `"deputy": null`, ""},
		{"watch", []string{"do", "watch", "watch", "bug, expense"}, 303, `"watch": ["bug", "expense"]`, ""},
		{"zone", []string{"do", "zone", "timezone", "Europe/Stockholm"}, 303, `"timezone": "Europe/Stockholm"`, ""},
		{"no zone of this name", []string{"do", "zone", "timezone", "Europe/Nowhere"}, 422, "", "zone-timezone-fault"},
		{"server's zone", []string{"do", "zone", "timezone", ""}, 303, `"timezone": null`, ""},
		{"some mails", []string{"do", "mail", "notify", "true", "kinds", "task", "kinds", "failure", "kinds", "failure:now", "digest", "07:30", "from", "20:00", "to", "07:00"}, 303, `"digest": "07:30"`, ""},
		{"a digest at no time", []string{"do", "mail", "notify", "true", "digest", "late"}, 422, "", "mail-digest-fault"},
		{"quiet without an end", []string{"do", "mail", "notify", "true", "from", "20:00"}, 422, "", "mail-to-fault"},
		{"no mails", []string{"do", "mail"}, 303, `"notify": false`, ""},
		{"passwords that differ", []string{"do", "password", "oldPassword", password, "password", "one battery staple", "again", "two battery staple"}, 422, "", "password-again-fault"},
		{"a wrong password", []string{"do", "password", "oldPassword", "wrong", "password", "one battery staple", "again", "one battery staple"}, 422, "", "password-oldPassword-fault"},
		{"theme", []string{"do", "look", "theme", "blue"}, 400, "", ""},
		{"no session", []string{"do", "end", "session", "99999"}, 404, "", ""},
	} {
		got := g.browse(t, "ann").post(t, "/account", test.fields...)
		if got.status != test.status {
			t.Errorf("%s: got %d %s, want %d", test.name, got.status, textOf(got.body, "refused"), test.status)
			continue
		}
		if test.fault != "" && textOf(got.body, test.fault) == "" {
			t.Errorf("%s: there is nothing at %s: %s", test.name, test.fault, textOf(got.body, "refused"))
		}
		for _, fault := range faultsOf(got.body) {
			if got.status != 303 {
				t.Errorf("%s: %s", test.name, fault)
			}
		}
		if stored := g.must(t, "ann", 200, "GET", mePath, "").body; !strings.Contains(stored, test.has) {
			t.Errorf("%s: me.json has no %s:\n%s", test.name, test.has, stored)
		}
		if strings.Contains(got.body, "battery staple") {
			t.Errorf("%s: the answer has the password", test.name)
		}
	}
}

// TestDeputyDays: the dates of a deputy are whole days of the user's time zone, the last one
// included, and the form shows them as they were typed.
func TestDeputyDays(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "ann", 204, "PUT", mePath, `{"timezone": "Europe/Berlin"}`)
	if got := g.browse(t, "ann").post(t, "/account", "do", "deputy", "user", "bob", "from", "2012-12-01", "to", "2012-12-05"); got.status != 303 {
		t.Fatalf("got %d %s", got.status, textOf(got.body, "refused"))
	}
	if got := g.must(t, "ann", 200, "GET", mePath, "").body; !strings.Contains(got, `"2012-11-30T23:00:00Z"`) || !strings.Contains(got, `"2012-12-05T23:00:00Z"`) {
		t.Errorf("stored: %s", got)
	}
	page := g.browse(t, "ann").get(t, "/account").body
	for _, want := range []string{`name="from" value="2012-12-01"`, `name="to" value="2012-12-05"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the form has no %s", want)
		}
	}
}

// TestAccountOfTheBrowser: theme and keys are kept in cookies, sessions end one by one,
// and a new password ends all.
func TestAccountOfTheBrowser(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b, other := g.browse(t, "ann"), g.browse(t, "ann")
	got := b.post(t, "/account", "do", "look", "theme", "dark")
	if cookies := strings.Join(got.header.Values("Set-Cookie"), "; "); !strings.Contains(cookies, "theme=dark") || !strings.Contains(cookies, "keys=off") {
		t.Errorf("the cookies are %s", cookies)
	}
	page := b.get(t, "/account").body
	for _, m := range regexp.MustCompile(`name="session" value="(\d+)"`).FindAllStringSubmatch(page, -1) {
		if g.browse(t, "sam").post(t, "/account", "do", "end", "session", m[1]).status != 404 {
			t.Errorf("sam ends session %s of ann", m[1])
		}
	}
	if !strings.Contains(page, `<b>test</b><span class="sub">by password</span><input type`) {
		t.Error("the page does not say by what the other session was begun")
	}
	m := regexp.MustCompile(`<b>test</b><span class="sub">[^<]*</span><input type="hidden" name="do" value="end"><input type="hidden" name="session" value="(\d+)"`).FindStringSubmatch(page)
	if m == nil {
		t.Fatal("there is no other session")
	}
	if got := b.post(t, "/account", "do", "end", "session", m[1]); got.status != 303 {
		t.Errorf("ending another session: %d", got.status)
	}
	if got := other.get(t, "/account"); got.status != 303 {
		t.Errorf("the ended session shows a page: %d", got.status)
	}
	first, second := g.browse(t, "ann"), g.browse(t, "ann")
	if got := b.post(t, "/account", "do", "end-others"); got.status != 303 || !strings.Contains(b.get(t, "/account").body, "Ended: 2 other sessions.") {
		t.Errorf("ending all others: %d", got.status)
	}
	if first.get(t, "/account").status != 303 || second.get(t, "/account").status != 303 || b.get(t, "/account").status != 200 || g.browse(t, "sam").get(t, "/account").status != 200 {
		t.Error("others go on, or this one has ended, or that of somebody else")
	}
	got = b.post(t, "/account", "do", "password", "oldPassword", password, "password", "another battery", "again", "another battery")
	if got.status != 303 || b.get(t, "/account").status != 303 {
		t.Errorf("a new password: %d, and the session is still there", got.status)
	}
}

// TestMount: a password is shown once, opens the drive, turns the mark, and opens nothing
// after it is revoked.
func TestMount(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "ann")
	got := b.post(t, "/mount/windows", "do", "device", "label", "my laptop", "key", "K")
	if got.status != 303 || got.header.Get("Location") != "/mount/windows?device=my+laptop" {
		t.Fatalf("got %d %s", got.status, got.header.Get("Location"))
	}
	shown := b.get(t, got.header.Get("Location"))
	secret := textOf(shown.body, "secret")
	if !strings.HasPrefix(secret, "fd-") || shown.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("the secret is %q, %s", secret, shown.header.Get("Cache-Control"))
	}
	for _, fault := range faultsOf(shown.body) {
		t.Error(fault)
	}
	again := b.get(t, "/mount/windows?device=my+laptop")
	if strings.Contains(again.body, secret) || !strings.Contains(textOf(again.body, "used"), "Waiting") {
		t.Errorf("the second page shows the secret, or no mark: %s", textOf(again.body, "used"))
	}
	drive := func() int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.http.URL+"/dav/Documents/ann/.ls", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("ann", secret)
		return send(t, http.DefaultClient, r).status
	}
	if status := drive(); status != 200 {
		t.Fatalf("the password opens the drive with %d", status)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := g.engine.Run(ended); err != nil { // it writes what waits, and ends
		t.Fatal(err)
	}
	if used := textOf(b.get(t, "/mount/windows?device=my+laptop&part=used").body, "used"); !strings.Contains(used, "my laptop has used the drive") {
		t.Errorf("after a use the mark says %q", used)
	}
	if got := b.post(t, "/mount/windows", "do", "revoke", "name", "my laptop"); got.status != 303 {
		t.Errorf("revoked: %d", got.status)
	}
	if status := drive(); status != 401 {
		t.Errorf("a revoked password opens the drive with %d", status)
	}
	if got := b.post(t, "/mount", "do", "device", "label", " "); got.status != 422 || textOf(got.body, "device-label-fault") == "" {
		t.Errorf("no label: %d", got.status)
	}
	for _, test := range []struct {
		form  []string
		fault string
		has   string
	}{
		{[]string{"scope", "read"}, "", "for reading only"},
		{[]string{"scope", "/Documents/ann/", "expires", "2012-11-20"}, "", "in 11 days"},
		{[]string{"scope", "Elsewhere"}, "device-scope-fault", ""},
		{[]string{"expires", "2012-11-01"}, "device-expires-fault", ""},
	} {
		got := b.post(t, "/mount", append([]string{"do", "device", "label", "bounded " + test.form[0] + strings.Trim(test.has, "/")}, test.form...)...)
		if test.fault != "" {
			if got.status != 422 || textOf(got.body, test.fault) == "" {
				t.Errorf("%v: got %d without a fault", test.form, got.status)
			}
		} else if shown := b.get(t, "/mount").body; got.status != 303 || !strings.Contains(shown, test.has) {
			t.Errorf("%v: got %d, and the list does not say %q", test.form, got.status, test.has)
		}
	}
	got = b.post(t, "/mount", "do", "calendar", "label", "phone")
	if secret := textOf(b.get(t, got.header.Get("Location")).body, "secret"); !strings.Contains(secret, "/calendar/") {
		t.Errorf("the calendar's address is %q", secret)
	}
	if got := b.post(t, "/mount", "do", "calendar", "label", "phone"); got.status != 409 {
		t.Errorf("an address that is there: %d", got.status)
	}
}

// TestPeopleAreOffered: where somebody is named, a field offers who there is: no one who is
// disabled, and not oneself as one's deputy. Roles offer whom their rules let a starter pick.
func TestPeopleAreOffered(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "admin", 201, "PUT", "/dav/Admin/Users/tom.json", `{"password": "`+password+`", "disabled": true}`)
	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/picked.yaml", "roles: {owner: {title: Owner, pick: [team:core]}, lead: {pick: [user:sam], assign: [starter]}}\n"+
		"states: {a: {type: start}, z: {type: complete}}\nactions: {i: {trigger: init}, x: {in: [a], allowed: owner, to: z}}\n")
	smokes := g.must(t, "sam", 201, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "bug", "title": "It smokes"}`).header.Get("Location")
	smokes = strings.TrimSuffix(strings.TrimPrefix(smokes, "/dav/Workflow/Cases/"), ".json")
	for _, page := range []struct {
		user, path   string
		has, lacking []string
	}{
		{"ann", "/account", []string{`<select class="in" id="deputy-user" name="user"`, `<option value="bob">Bob Marsh</option>`, `type="checkbox" name="watch" value="expense"`}, []string{`<option value="ann">`, `<option value="tom">`, `<option value="core">`}},
		{"admin", "/admin/teams?do=team&name=core", []string{`list="team-members-list"`, `<option value="ann">Ann Lindqvist</option>`, `<option value="core">the team core</option>`}, []string{`<option value="tom">`}},
		{"ann", "/tasks?open=" + smokes + ".resolve&do=delegate", []string{`<option value="bob">Bob Marsh</option>`}, []string{`<option value="ann">`, `<option value="tom">`}},
		{"admin", "/routes/picked/start", []string{`name="roles.owner" value="ann">Ann Lindqvist`, `name="roles.owner" value="core">the team core`, `name="roles.lead" value="sam"`, "The route chooses if this is empty."}, []string{`name="roles.owner" value="sam"`, `name="roles.lead" value="ann"`}},
	} {
		got := g.browse(t, page.user).get(t, page.path)
		for _, part := range page.has {
			if !strings.Contains(got.body, part) {
				t.Errorf("%s of %s has no %s:\n%s", page.path, page.user, part, got.body)
			}
		}
		for _, part := range page.lacking {
			if strings.Contains(got.body, part) {
				t.Errorf("%s of %s has %s", page.path, page.user, part)
			}
		}
		for _, fault := range faultsOf(got.body) {
			t.Errorf("%s: %s", page.path, fault)
		}
	}
}

// TestFieldsToChooseFrom: what is one of a few, a time or a date is asked for as that, and what
// the list lacks stays in it.
func TestFieldsToChooseFrom(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "ann", 200, "PUT", mePath, `{"watch": ["bug"]}`)
	b := g.browse(t, "ann")
	page := b.get(t, "/account").body
	for _, want := range []string{
		`<input type="checkbox" name="watch" value="bug" checked>bug`, `<input type="checkbox" name="watch" value="expense">expense`, `<option value="bob">Bob Marsh</option>`,
		`<option value="Europe/Stockholm">`, `name="digest" value="" type="time"`, `name="from" value="" type="time"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if got := b.post(t, "/account", "do", "watch", "watch", "bug", "watch", "expense"); got.status != 303 {
		t.Errorf("two routes: got %d %s", got.status, textOf(got.body, "refused"))
	}
	if got := g.must(t, "ann", 200, "GET", mePath, "").body; !strings.Contains(got, `"watch": ["bug", "expense"]`) {
		t.Errorf("stored: %s", got)
	}
	if got := g.browse(t, "admin").get(t, "/sandbox").body; !strings.Contains(got, `name="set" value="2012-11-09T12:34:56" required type="datetime-local"`) {
		t.Errorf("the clock is not asked for as a date and time: %s", textOf(got, "main"))
	}
	many := make([]option, mostChoices+1)
	if f := oneOf(field{}, many); f.Kind != "text" || len(f.Suggest) != len(many) {
		t.Errorf("of many one is chosen by %q", f.Kind)
	}
	if f := oneOf(field{Value: "gone"}, []option{{Value: "bob"}}); len(f.Options) != 2 {
		t.Errorf("what is chosen is not among %v", f.Options)
	}
	if f := someOf(field{Hint: "typed"}, many); f.Kind != "text" || f.Hint != "typed" {
		t.Errorf("of many some are chosen by %q", f.Kind)
	}
	for typed, want := range map[string]string{"2012-11-09 12:34": "datetime", "2012-10-28T02:30:00+01:00": "text", "tomorrow": "text", "": "datetime"} {
		f := field{Kind: "datetime", Value: typed}
		if f.asLocalTime(); f.Kind != want {
			t.Errorf("%q is shown as %q", typed, f.Kind)
		}
	}
}
