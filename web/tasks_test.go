package web

import (
	"fmt"
	"html"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestPerformOnTasks: a form performs, says so once, and acts once however often it is sent.
func TestPerformOnTasks(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "ann")
	fields := []string{"do", "perform", "case", "18", "action", "resolve", "comment", "it was <the> cable", "key", "K1"}
	for range 2 {
		if got := b.post(t, "/tasks?q=x&open=18.resolve", fields...); got.status != 303 || got.header.Get("Location") != "/tasks?q=x" {
			t.Fatalf("got %d %q %s", got.status, got.header.Get("Location"), got.body)
		}
	}
	if said := textOf(b.get(t, "/account").body, "notice"); !strings.Contains(said, "Resolved. Now: Resolved.") {
		t.Errorf("the notice says %q", said)
	}
	if said := textOf(b.get(t, "/account").body, "notice"); said != "" {
		t.Errorf("the notice says again %q", said)
	}
	log := g.must(t, "sam", 200, "GET", "/dav/Workflow/Cases/18/log.txt", "").body
	if strings.Count(log, "it was <the> cable") != 1 {
		t.Errorf("the log has\n%s", log)
	}
}

// TestRefusedForms: what was typed is kept, the fault is at its field, and the status is
// the drive's.
func TestRefusedForms(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "ann")
	for _, test := range []struct {
		name   string
		fields []string
		status int
		says   string // of the summary
		fault  string // id of a fault, "" for none
	}{
		{"no resolution", []string{"do", "perform", "case", "17", "action", "refuse", "comment", "too <dear>"}, 422, "Resolution must be one of", "t17-resolution-fault"},
		{"to nobody", []string{"do", "delegate", "case", "17", "action", "approve", "to", "nobody", "comment", "too <dear>"}, 422, "", "t17-to-fault"},
		{"not enabled any more", []string{"do", "perform", "case", "17", "action", "approve-again", "comment", "too <dear>"}, 409, "not possible", ""},
	} {
		got := b.post(t, "/tasks", test.fields...)
		if got.status != test.status {
			t.Errorf("%s: got %d, want %d", test.name, got.status, test.status)
			continue
		}
		if said := textOf(got.body, "refused"); !strings.Contains(said, test.says) || said == "" {
			t.Errorf("%s: the summary says %q", test.name, said)
		}
		if test.fault != "" && textOf(got.body, test.fault) == "" {
			t.Errorf("%s: there is nothing at %s", test.name, test.fault)
		}
		if !strings.Contains(got.body, "too &lt;dear&gt;</textarea>") {
			t.Errorf("%s: what was typed is not kept", test.name)
		}
		for _, fault := range faultsOf(got.body) {
			t.Errorf("%s: %s", test.name, fault)
		}
	}
	for _, fields := range [][]string{
		{"do", "none"}, {"do", "perform"}, {"do", "perform", "case", "x", "action", "y"}, {"do", "several"}, {"do", "several", "select", "17"}, {},
	} {
		if got := b.post(t, "/tasks", fields...); got.status != 400 {
			t.Errorf("%v: got %d, want 400", fields, got.status)
		}
	}
	if got := g.browse(t, "sam").post(t, "/tasks", "do", "perform", "case", "17", "action", "approve"); got.status != 404 {
		t.Errorf("the case of others: got %d, want 404", got.status)
	}
}

// TestRejectSaysWhatItDoes: the form says that the task is given back, and the last one who
// can do it is told that this is not possible.
func TestRejectSaysWhatItDoes(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/pair.yaml", "roles: {clerk: {assign: ['user:ann']}}\nstates: {a: {type: start}, z: {type: complete}}\nactions: {i: {trigger: init}, x: {in: [a], role: clerk, to: z}}\n")
	made := g.must(t, "admin", 201, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "pair", "title": "Pair"}`)
	page := "/cases/" + strings.TrimSuffix(made.header.Get("Location")[strings.LastIndexByte(made.header.Get("Location"), '/')+1:], ".json")
	b := g.browse(t, "ann")
	if form := textOf(b.get(t, page+"?open=x&do=reject").body, "todo"); !strings.Contains(form, "This gives the task back") {
		t.Errorf("the form says %q", form)
	}
	got := b.post(t, page, "do", "reject", "action", "x")
	if said := textOf(got.body, "refused"); got.status != 409 || !strings.HasPrefix(said, "This is not possible. ") || !strings.Contains(said, "so it cannot be given back") {
		t.Errorf("got %d %q", got.status, said)
	}
}

// TestSeveral: each case is named, with what became of it.
func TestSeveral(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "ann")
	g.must(t, "bob", 201, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "expense", "title": "Chairs", "xattrDict": {"amount": 90}}`)
	g.must(t, "cy", 204, "PUT", "/dav/Workflow/Cases/17/Actions/approve.json", `{}`)
	chairs := regexp.MustCompile(`value="(\d+)" aria-label="Select Chairs"`).FindStringSubmatch(b.get(t, "/tasks").body)
	if chairs == nil {
		t.Fatal("there is no case to be selected")
	}
	got := b.post(t, "/tasks", "do", "several", "each", "expense/approve", "select", "17", "select", chairs[1], "select", "18")
	if got.status != 303 {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	said := textOf(b.get(t, "/tasks").body, "notice")
	for _, part := range []string{"1 of 3 approved.", "17 Two monitors", "18 <script>alert(1)</script>", "not:", "another route"} {
		if !strings.Contains(said, part) {
			t.Errorf("the notice says %q, without %q", said, part)
		}
	}
}

// TestSeveralWithResolution: what needs a resolution is offered once a resolution, and
// what was refused is an error with each case named.
func TestSeveralWithResolution(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "ann")
	page := b.get(t, "/tasks").body
	for _, want := range []string{`value="expense/refuse/receipt"`, `value="expense/refuse/private"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if strings.Contains(page, `value="expense/refuse"`) {
		t.Error("it can be refused without a resolution")
	}
	opened := b.get(t, "/tasks?open=17.approve").body
	if form := textOf(opened, "t17"); !strings.Contains(form, "Resolution of Refuse") || !strings.Contains(form, "There is no receipt") {
		t.Errorf("the form of Approve and Refuse: %s", form)
	}
	refuse := html.UnescapeString(b.get(t, "/tasks?open=17.refuse").body)
	if !strings.Contains(refuse, `"resolution": "receipt"`) {
		t.Error("the curl line has no resolution")
	}
	if got := b.post(t, "/tasks", "do", "several", "each", "expense/refuse/receipt", "select", "17"); got.status != 303 {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	if got := b.get(t, "/tasks"); !strings.Contains(textOf(got.body, "notice"), "1 of 1 refused.") || !strings.Contains(got.body, `class="note info" role="status" id="notice"`) {
		t.Errorf("the notice says %q", textOf(got.body, "notice"))
	}
	if stored := g.must(t, "ann", 200, "GET", "/dav/Workflow/Cases/17.json", "").body; !strings.Contains(stored, `"resolution": "receipt"`) {
		t.Errorf("the case is %s", stored)
	}
	b.post(t, "/tasks", "do", "several", "each", "expense/refuse/receipt", "select", "17")
	if got := b.get(t, "/tasks"); !strings.Contains(textOf(got.body, "notice"), "17 Two monitors for the lab not:") || !strings.Contains(got.body, `class="note bad" role="alert" id="notice"`) {
		t.Errorf("a refusal is told so: %s", textOf(got.body, "notice"))
	}
	// A resolution that was chosen for another action is not sent.
	g.must(t, "bob", 201, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "expense", "title": "Lamp", "xattrDict": {"amount": 90}}`)
	lamp := regexp.MustCompile(`value="(\d+)" aria-label="Select Lamp"`).FindStringSubmatch(b.get(t, "/tasks").body)
	if lamp == nil {
		t.Fatal("there is no case to be selected")
	}
	if got := b.post(t, "/tasks", "do", "perform", "case", lamp[1], "action", "approve", "resolution", "receipt"); got.status != 303 {
		t.Errorf("approved with a resolution of Refuse: %d %s", got.status, textOf(got.body, "main"))
	}
}

// TestTaskPages: the pages of a list have every case once, in one order.
func TestTaskPages(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	const n = 120
	for i := range n {
		g.must(t, "sam", 201, "PUT", "/dav/Workflow/Cases/new.json", fmt.Sprintf(`{"route": "bug", "title": "Bug %d", "priority": %d}`, i, 100+i%3))
	}
	b := g.browse(t, "ann")
	row, next := regexp.MustCompile(`<li class="task[^"]*" id="t(\d+)"`), regexp.MustCompile(`rel="next" href="([^"]+)"`)
	for _, order := range []string{"due", "newest", "priority", "route"} {
		seen, at, pages := map[string]bool{}, "/tasks?sort="+order, 0
		for at != "" {
			got := b.get(t, at)
			for _, m := range row.FindAllStringSubmatch(got.body, -1) {
				if seen[m[1]] {
					t.Errorf("%s: case %s is there twice", order, m[1])
				}
				seen[m[1]] = true
			}
			at = ""
			if m := next.FindStringSubmatch(got.body); m != nil {
				at = html.UnescapeString(m[1])
			}
			pages++
		}
		if len(seen) != n || pages != 3 {
			t.Errorf("%s: %d cases on %d pages, want %d on 3", order, len(seen), pages, n)
		}
	}
}

// curlText is the element of a curl line.
var curlText = regexp.MustCompile(`(?s)<pre>(curl .*?)</pre>`)

// TestCurlLines runs the curl line of each form as it is shown: it does what the form
// would.
func TestCurlLines(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	g := newRig(t)
	g.furnish(t)
	for _, test := range []struct {
		name, path string
		fields     []string
		after      string // path of the drive
		has        string
	}{
		{
			"perform", "/tasks",
			[]string{"do", "perform", "case", "18", "action", "resolve", "comment", "it's \"quoted\"\r\nand $HOME `id` on two lines", "show", "1"},
			"/dav/Workflow/Cases/18/log.json", `it's \"quoted\"\nand $HOME`,
		},
		{
			"delegate", "/tasks",
			[]string{"do", "delegate", "case", "17", "action", "approve", "to", "cy", "show", "1"},
			"/dav/Workflow/Cases/17/Actions/approve.json", `"assignees": ["cy"]`,
		},
	} {
		got := g.browse(t, "ann").post(t, test.path, test.fields...)
		m := curlText.FindStringSubmatch(got.body)
		if m == nil {
			t.Errorf("%s: there is no curl line in %d %s", test.name, got.status, got.body)
			continue
		}
		line := strings.Replace(html.UnescapeString(m[1]), "curl -u ann ", "curl -sS --fail-with-body -u 'ann:"+password+"' ", 1)
		if out, err := exec.CommandContext(t.Context(), "bash", "-c", line).CombinedOutput(); err != nil {
			t.Errorf("%s: %s: %v %s", test.name, line, err, out)
		}
		if stored := g.must(t, "admin", 200, "GET", test.after, "").body; !strings.Contains(stored, test.has) {
			t.Errorf("%s: after the curl line %s\n%s has no %s:\n%s", test.name, line, test.after, test.has, stored)
		}
	}
}

// TestCurlLineOfEveryForm: a form that lacks a name yet has a curl line with the field in its
// place, and one that is shown as it stands has what was typed. Secrets are in none.
func TestCurlLineOfEveryForm(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	for _, test := range []struct {
		user, path string
		fields     []string
		want       []string
	}{
		{"ann", "/mount", nil, []string{"-X PUT \\\n  ", "/dav/Account/AppPasswords/LABEL.json", "/dav/Account/CalendarLinks/LABEL.json"}},
		{"ann", "/mount", []string{"do", "device", "label", "my laptop", "scope", "read"}, []string{`-d '{"scope": "read"}'`, "/dav/Account/AppPasswords/my%20laptop.json"}},
		{"ann", "/mount", []string{"do", "calendar", "label", "phone"}, []string{"/dav/Account/CalendarLinks/phone.json"}},
		{"ann", "/routes/new", nil, []string{"-T NAME.yaml", "/dav/Workflow/Routes/NAME.yaml"}},
		{"ann", "/routes/new", []string{"do", "store", "name", "mine", "source", "a: b"}, []string{"-T mine.yaml", "/dav/Workflow/Routes/mine.yaml"}},
		{"ann", "/schedule/new", nil, []string{"If-None-Match: *", "/dav/Workflow/Schedule/article.json"}},
		{"admin", "/admin/users?do=user-add", nil, []string{`"password": "…"`, "/dav/Admin/Users/NAME.json"}},
		{"admin", "/admin/users", []string{"do", "user-add", "name", "eve", "password", "a secret that is long"}, []string{`"password": "…"`, "/dav/Admin/Users/eve.json"}},
		{"ann", "/account", []string{"do", "password", "oldPassword", "a secret", "password", "a secret that is long", "again", "a secret that is long"}, []string{`-d '{"oldPassword": "…", "password": "…"}'`}},
		{"ann", "/cases/17", nil, []string{`-d '{"watch": ["expense"]}'`, "/dav/Account/me.json"}},
	} {
		b := g.browse(t, test.user)
		var got string
		if test.fields == nil {
			got = b.get(t, test.path).body
		} else {
			got = b.post(t, test.path, append(test.fields, "show", "1")...).body
		}
		lines := ""
		for _, m := range curlText.FindAllStringSubmatch(got, -1) {
			lines += html.UnescapeString(m[1]) + "\n"
		}
		for _, want := range test.want {
			if !strings.Contains(lines, want) {
				t.Errorf("%s %v: no %s in\n%s", test.path, test.fields, want, lines)
			}
		}
		if strings.Contains(got, "a secret") {
			t.Errorf("%s %v: the page has a secret", test.path, test.fields)
		}
	}
}

// TestManyTasksOfOneCase: a row offers the first of a case's tasks, and where the others are.
func TestManyTasksOfOneCase(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	route := `{"access": {"start": ["everyone"], "read": ["everyone"]}, "roles": {"all": {"assign": ["everyone"]}}, "states": {"open": {"type": "start"}, "done": {"type": "complete"}}, "actions": {"begin": {"trigger": "init"}`
	for i := range 200 {
		route += fmt.Sprintf(`, "a%d": {"in": ["open"], "role": "all", "to": "done"}`, i)
	}
	g.must(t, "sam", 201, "PUT", "/dav/Workflow/Routes/many.json", route+"}}")
	g.must(t, "sam", 201, "PUT", "/dav/Workflow/Cases/many.json", `{"route": "many"}`)
	got := g.browse(t, "ann").get(t, "/tasks")
	if got.status != 200 || len(got.body) > 60_000 || !strings.Contains(got.body, "Open the case: 768 more") {
		t.Errorf("%d, %d bytes\n%s", got.status, len(got.body), got.body)
	}
}
