package web

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"flowdrive/internal/errs"
)

var matchField = regexp.MustCompile(`name="match" value="([^"]*)"`)

// TestEditor: a route is checked as the drive would, with the places of its faults, and
// stored if nobody else has changed it; cases move if that is asked for.
func TestEditor(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "admin")
	const at = "/routes/bug/edit"
	source := g.must(t, "admin", 200, "GET", "/dav/Workflow/Routes/bug.yaml", "").body
	page := b.get(t, at)
	match := html.UnescapeString(matchField.FindStringSubmatch(page.body)[1])
	if !strings.Contains(html.UnescapeString(page.body), source) || !strings.Contains(page.body, "Nothing has changed") {
		t.Errorf("the page has not the text: %s", page.body)
	}

	wrong := strings.Replace(source, "states:", "statez:", 1)
	check := b.post(t, at+"?part=check", "do", "store", "show", "1", "match", match, "source", wrong)
	if check.status != 200 || !strings.HasPrefix(check.body, `<div class="stack" id="check"`) || !strings.Contains(check.body, "data-line=") || !strings.Contains(check.body, "is not a known field; did you mean &#34;states&#34;?") {
		t.Errorf("the check of a misspelt field: %d %s", check.status, check.body)
	}
	check = b.post(t, at+"?part=check", "do", "store", "show", "1", "match", match, "source", "a: [\n b")
	if !strings.Contains(check.body, `data-line="3" data-column="1"`) {
		t.Errorf("the check of what is not YAML: %d %s", check.status, check.body)
	}
	got := b.post(t, at, "do", "store", "key", "one", "match", match, "source", wrong)
	if got.status != 422 || !strings.Contains(html.UnescapeString(got.body), wrong) {
		t.Errorf("stored with a fault: %d %s", got.status, got.body)
	}

	changed := strings.Replace(source, "title: Bug", "title: Bug report", 1)
	if changed == source {
		t.Fatal("the example has no title to change")
	}
	check = b.post(t, at+"?part=check", "do", "store", "show", "1", "match", match, "source", changed, "migrate", "true")
	if !strings.Contains(check.body, "No fault") || !strings.Contains(check.body, "2 would move") || !strings.Contains(check.body, "<svg") {
		t.Errorf("the check of another title: %s", check.body)
	}
	got = b.post(t, at, "do", "store", "key", "two", "match", match, "source", changed, "migrate", "true")
	if got.status != 303 || got.header.Get("Location") != "/routes/bug" {
		t.Fatalf("stored: %d %s", got.status, got.body)
	}
	if stored := g.must(t, "admin", 200, "GET", "/dav/Workflow/Cases/18.json", "").body; !strings.Contains(stored, `"routeVersion": 2`) {
		t.Errorf("the case has not moved: %s", stored)
	}

	third := strings.Replace(source, "title: Bug", "title: Fault", 1)
	got = b.post(t, at, "do", "store", "key", "three", "match", match, "source", third)
	if got.status != 412 || !strings.Contains(got.body, "Somebody has stored another version") || !strings.Contains(html.UnescapeString(got.body), `<span class="add">+title: Fault`) || !strings.Contains(html.UnescapeString(got.body), third) {
		t.Errorf("two at once: %d %s", got.status, got.body)
	}
	if again := html.UnescapeString(matchField.FindStringSubmatch(got.body)[1]); again == match {
		t.Error("what is stored all the same has the old condition")
	} else if got = b.post(t, at, "do", "store", "key", "four", "match", again, "source", third); got.status != 303 {
		t.Errorf("stored all the same: %d %s", got.status, got.body)
	}

	version := b.get(t, "/routes/bug/versions?from=1&to=3")
	if !strings.Contains(version.body, `<del>title: Bug</del>`) || !strings.Contains(version.body, `<ins>`) {
		t.Errorf("the difference: %s", version.body)
	}
	if got := g.browse(t, "ann").post(t, at, "do", "store", "match", match, "source", source); got.status != 403 {
		t.Errorf("stored by somebody else: got %d, want 403", got.status)
	}
}

// TestNewRoute: a route begins with an example; a name that is taken replaces nothing.
func TestNewRoute(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "ann")
	if got := b.get(t, "/routes/new"); !strings.Contains(got.body, "No fault") && !strings.Contains(got.body, "The route needs a name") {
		t.Errorf("the empty form: %s", got.body)
	}
	got := b.post(t, "/routes/new", "do", "store", "key", "one", "name", "", "source", emptyRoute)
	if got.status != 422 || !strings.Contains(got.body, "needs a name") {
		t.Errorf("without a name: %d %s", got.status, got.body)
	}
	got = b.post(t, "/routes/new", "do", "store", "key", "two", "name", "decide.yaml", "source", emptyRoute)
	if got.status != 303 || got.header.Get("Location") != "/routes/decide" {
		t.Fatalf("stored: %d %s", got.status, got.body)
	}
	got = b.post(t, "/routes/new", "do", "store", "key", "three", "name", "decide", "source", emptyRoute)
	if got.status != 412 && got.status != 409 || !strings.Contains(html.UnescapeString(got.body), emptyRoute) {
		t.Errorf("a name that is taken: %d %s", got.status, got.body)
	}
	check := b.post(t, "/routes/new?part=check", "do", "store", "show", "1", "name", "decide", "source", emptyRoute)
	if !strings.Contains(check.body, "There is a route of this name already") {
		t.Errorf("the check of a name that is taken: %s", check.body)
	}
}

// TestEditorWarnings: what is allowed in a route and probably not meant stands beside the
// text with its place, and is said when it is stored.
func TestEditorWarnings(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "ann")
	doubtful := strings.Replace(emptyRoute, "access: {start: [everyone]}\n", "", 1) + "  never: {title: Never, role: deciders, to: done}\n"
	check := b.post(t, "/routes/new?part=check", "do", "store", "show", "1", "name", "decide", "source", doubtful)
	said := html.UnescapeString(check.body)
	if check.status != 200 || !strings.Contains(said, "only ann may start cases") || !strings.Contains(said, `data-line="10"`) || !strings.Contains(said, `>/actions/never</span> is never enabled`) {
		t.Errorf("the check: %d %s", check.status, said)
	}
	if got := b.post(t, "/routes/new", "do", "store", "key", "one", "name", "decide", "source", doubtful); got.status != 303 {
		t.Fatalf("stored: %d %s", got.status, got.body)
	}
	if said := html.UnescapeString(b.get(t, "/routes/decide").body); !strings.Contains(said, "The route is stored. 2 warnings: /access/start: is missing, so only ann may start cases") {
		t.Errorf("the notice: %s", said)
	}
	if page := b.get(t, "/routes/decide/edit"); page.status != 200 {
		t.Errorf("the editor: %d %s", page.status, page.body)
	}
}

// TestDeleteRoute: a route that is used is deleted only by who types its name.
func TestDeleteRoute(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "admin")
	got := b.post(t, "/routes/bug", "do", "delete", "key", "one")
	if got.status != 409 || !strings.Contains(got.body, `name="sure"`) {
		t.Fatalf("a route with open cases: %d %s", got.status, got.body)
	}
	if got := b.post(t, "/routes/bug", "do", "delete", "key", "two", "force", "true", "sure", "bugs"); got.status != 422 {
		t.Errorf("another name: got %d, want 422", got.status)
	}
	g.must(t, "admin", 200, "GET", "/dav/Workflow/Routes/bug.json", "")
	if got := b.post(t, "/routes/bug", "do", "delete", "key", "three", "force", "true", "sure", "bug"); got.status != 303 {
		t.Errorf("deleted: %d %s", got.status, got.body)
	}
	g.must(t, "admin", 404, "GET", "/dav/Workflow/Routes/bug.json", "")
	if got := g.browse(t, "ann").get(t, "/routes/expense"); strings.Contains(got.body, "/edit") || strings.Contains(got.body, "do=delete") {
		t.Error("who may not change the route is offered to")
	}
}

// TestScenarioBesideRoute: those who may change a route write its scenario on its page, and
// are told in the editor where it breaks, which is not in the text of the route.
func TestScenarioBesideRoute(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	const page, file = "/routes/expense", "/dav/Workflow/Routes/expense.scenario.yaml"
	const text = "title: One claim\nas: admin\nsteps:\n  - start: {title: Taxi, xattrDict: {amount: 12}}\n"
	if got := g.browse(t, "ann").get(t, page+"?do=scenario"); got.status != 200 || strings.Contains(got.body, "scenario-text") {
		t.Errorf("who may not change the route is asked for a scenario: %d %s", got.status, got.body)
	}
	if got := g.browse(t, "ann").post(t, page, "do", "scenario", "key", "one", "text", text); got.status < 400 {
		t.Errorf("who may not change the route has stored a scenario: %d", got.status)
	}
	b := g.browse(t, "admin")
	if got := b.get(t, page); !strings.Contains(got.body, "?do=scenario#ask") {
		t.Errorf("nothing leads to the form:\n%s", got.body)
	}
	if got := b.post(t, page, "do", "scenario", "key", "two", "text", text); got.status != 303 || got.header.Get("Location") != page {
		t.Fatalf("stored: %d %s", got.status, got.body)
	}
	if got := g.must(t, "admin", 200, "GET", file, "").body; got != text {
		t.Errorf("the drive has %q", got)
	}
	if got := b.get(t, page+"?do=scenario"); !strings.Contains(html.UnescapeString(got.body), text) {
		t.Errorf("the form has not what is stored:\n%s", got.body)
	}

	source := g.must(t, "admin", 200, "GET", "/dav/Workflow/Routes/expense.yaml", "").body
	g.refuses.Store(&errs.Error{Kind: errs.ScenarioBroken, Faults: []errs.Fault{{Pointer: "/steps/0", Line: 4, Column: 5, Detail: "step 1 (start): refused"}}})
	check := b.post(t, page+"/edit?part=check", "do", "store", "show", "1", "source", source)
	if !strings.Contains(check.body, `<a href="/routes/expense?do=scenario#ask">The scenario</a>`) || !strings.Contains(check.body, "It breaks in line 4: step 1 (start): refused") || strings.Contains(check.body, "data-line") {
		t.Errorf("the check with a scenario that breaks: %d %s", check.status, check.body)
	}
}
