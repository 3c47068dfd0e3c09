package web

import (
	"html"
	"os/exec"
	"strings"
	"testing"
)

// TestCaseEdits: what the document of a case lets one change is changed by its page, by those
// who may.
func TestCaseEdits(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	for _, test := range []struct {
		name, user, path string
		fields           []string
		status           int
		after            string // what the case has then
	}{
		{"fields of others", "sam", "/cases/17", []string{"do", "fields", "x.amount", "1"}, 404, `"amount": 1240`},
		{"fields by who may not", "ann", "/cases/17", []string{"do", "fields", "x.why", "No"}, 403, `"why": "The old ones flicker"`},
		{"fields", "bob", "/cases/17", []string{"do", "fields", "x.why", "They flicker"}, 303, `"why": "They flicker"`},
		{"a word for a number", "admin", "/cases/17", []string{"do", "fields", "x.amount", "much"}, 422, `"amount": 1240`},
		{"a number", "admin", "/cases/17", []string{"do", "fields", "x.amount", "990"}, 303, `"amount": 990`},
		{"stakeholders", "bob", "/cases/17", []string{"do", "people", "stakeholders", "cy, sam"}, 303, `"stakeholders": ["cy", "sam"]`},
		{"a stakeholder that is not there", "bob", "/cases/17", []string{"do", "people", "stakeholders", "nobody"}, 422, `"stakeholders": ["cy", "sam"]`},
		{"a role that is not there", "admin", "/cases/17", []string{"do", "people", "roles.zzz", "cy"}, 422, `"stakeholders": ["cy", "sam"]`},
		{"context by the starter", "bob", "/cases/17", []string{"do", "context", "context", "core"}, 403, `"id": 17`},
		{"links", "bob", "/cases/17", []string{"do", "links", "links", "follows = 17\n"}, 422, `"links": {}`},
		{"links", "sam", "/cases/18", []string{"do", "links", "links", "follows = 20\nsee=#21"}, 303, "\"links\": {\n    \"follows\": 20,\n    \"see\": 21\n  }"},
		{"a line without a number", "sam", "/cases/18", []string{"do", "links", "links", "follows"}, 422, "\"links\": {\n    \"follows\": 20,\n    \"see\": 21\n  }"},
		{"a link less", "sam", "/cases/18", []string{"do", "links", "links", "see = 21"}, 303, "\"links\": {\n    \"see\": 21\n  }"},
		{"an empty remark", "ann", "/cases/17", []string{"do", "remark", "comment", " "}, 422, `"id": 17`},
		{"archived too early", "bob", "/cases/17", []string{"do", "archive"}, 409, `"state": "active"`},
		{"start of a case that runs", "bob", "/cases/17", []string{"do", "startAt", "startAt", "2012-12-01"}, 409, `"state": "active"`},
	} {
		got := g.browse(t, test.user).post(t, test.path, test.fields...)
		if got.status != test.status {
			t.Errorf("%s: got %d, want %d: %s", test.name, got.status, test.status, textOf(got.body, "main"))
		}
		if stored := g.must(t, "admin", 200, "GET", "/dav/Workflow"+strings.Replace(test.path, "/cases/", "/Cases/", 1)+".json", "").body; !strings.Contains(stored, test.after) {
			t.Errorf("%s: the case has no %s:\n%s", test.name, test.after, stored)
		}
	}
}

// TestOldPageOfACase: a form that was drawn before somebody else has changed the case changes
// nothing. The page says what there is now, keeps what was typed, and can then be sent again.
func TestOldPageOfACase(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	bob := g.browse(t, "bob")
	match := func(page string) string {
		_, rest, _ := strings.Cut(page, `name="match" value="`)
		value, _, _ := strings.Cut(rest, `"`)
		return html.UnescapeString(value)
	}
	old := match(bob.get(t, "/cases/17?do=fields").body)
	g.must(t, "admin", 204, "PUT", "/dav/Workflow/Cases/17.json", `{"xattrDict": {"why": "Somebody else's"}}`)
	got := bob.post(t, "/cases/17", "do", "fields", "match", old, "x.why", "Mine")
	if got.status != 412 || !strings.Contains(got.body, ">Mine</") && !strings.Contains(got.body, `value="Mine"`) || !strings.Contains(got.body, "Now it is: Somebody else&#39;s.") {
		t.Errorf("an old page: got %d %s", got.status, textOf(got.body, "main"))
	}
	if stored := g.must(t, "bob", 200, "GET", "/dav/Workflow/Cases/17.json", "").body; !strings.Contains(stored, "Somebody else's") {
		t.Errorf("an old page has changed the case: %s", stored)
	}
	if again := bob.post(t, "/cases/17", "do", "fields", "match", match(got.body), "x.why", "Mine"); again.status != 303 {
		t.Errorf("sent again: got %d %s", again.status, textOf(again.body, "main"))
	}
}

// TestEditsOnPage: each form is there for those who may, with its curl line, which does what
// the form would do.
func TestEditsOnPage(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	for _, test := range []struct {
		user, do string
		there    bool
	}{
		{"bob", "fields", true},
		{"ann", "fields", false},
		{"bob", "people", true},
		{"ann", "people", false},
		{"bob", "context", false},
		{"admin", "context", true},
		{"bob", "links", true},
		{"ann", "remark", true},
		{"ann", "label", true},
		{"bob", "archive", false},
		{"bob", "startAt", false},
	} {
		got := g.browse(t, test.user).get(t, "/cases/17?do="+test.do)
		if there := strings.Contains(got.body, `name="do" value="`+test.do+`"`); got.status != 200 || there != test.there {
			t.Errorf("%s for %s: got %d, there %v", test.do, test.user, got.status, there)
		}
	}
	for _, test := range []struct {
		name, user string
		fields     []string
		after, has string
	}{
		{"fields", "bob", []string{"x.why", "it's \"quoted\""}, "Cases/17.json", `"why": "it's \"quoted\""`},
		{"people", "bob", []string{"stakeholders", "sam"}, "Cases/17.json", `"stakeholders": ["sam"]`},
		{"remark", "ann", []string{"comment", "When is it due?"}, "Cases/17/log.json", "When is it due?"},
		{"label", "ann", []string{"label", "offer", "type", "application/json", "content", "{\"a\":\r\n 1}"}, "Cases/17/Labels/offer", "{\"a\":\n 1}"},
	} {
		got := g.browse(t, test.user).post(t, "/cases/17", append([]string{"do", test.name, "show", "1"}, test.fields...)...)
		line := ""
		for _, m := range curlText.FindAllStringSubmatch(got.body, -1) {
			if one := html.UnescapeString(m[1]); line == "" && strings.Contains(one, "curl -u "+test.user+" ") && !strings.Contains(one, "/Actions/") {
				line = one
			}
		}
		line = strings.Replace(line, "curl -u "+test.user+" ", "curl -sS --fail-with-body -u '"+test.user+":"+password+"' ", 1)
		if out, err := exec.CommandContext(t.Context(), "bash", "-c", line).CombinedOutput(); err != nil || line == "" {
			t.Errorf("%s: %q: %v %s", test.name, line, err, out)
		}
		if stored := g.must(t, "admin", 200, "GET", "/dav/Workflow/"+test.after, "").body; !strings.Contains(stored, test.has) {
			t.Errorf("%s: after the curl line %s\n%s has no %s:\n%s", test.name, line, test.after, test.has, stored)
		}
	}
}

// TestArchiveFromCase: a case that has ended is archived by its page.
func TestArchiveFromCase(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	g.must(t, "bob", 204, "PUT", "/dav/Workflow/Cases/17.json", `{"state": "canceled"}`)
	bob := g.browse(t, "bob")
	page := bob.get(t, "/cases/17?do=archive").body
	if !strings.Contains(html.UnescapeString(page), `-d '{"do": "archive"}'`) || strings.Contains(page, `do=fields`) {
		t.Errorf("the form and its curl line: %s", textOf(page, "main"))
	}
	if got := bob.post(t, "/cases/17", "do", "archive"); got.status != 303 || got.header.Get("Location") != "/cases/17" {
		t.Errorf("archived: got %d %s", got.status, textOf(got.body, "main"))
	}
	if got := bob.get(t, "/cases/17").body; !strings.Contains(got, "in the archive") || strings.Contains(got, "do=archive") {
		t.Errorf("the page of the archived case: %s", textOf(got, "main"))
	}
	if got := bob.post(t, "/cases/17", "do", "remark", "comment", "Too late"); got.status != 403 || !strings.Contains(got.body, "Too late") {
		t.Errorf("a remark on an archived case: got %d %s", got.status, textOf(got.body, "main"))
	}
}
