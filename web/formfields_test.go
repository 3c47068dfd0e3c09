package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestFieldsOfForms: every form says which fields it has.
func TestFieldsOfForms(t *testing.T) {
	t.Parallel()
	for _, g := range (&pages{}).all() {
		for do := range g.forms {
			if _, is := g.fields[do]; !is {
				t.Errorf("%s: the form %s does not say which fields it has", g.pattern, do)
			}
		}
	}
}

// TestUnknownFields: what a form does not have is refused and not swallowed, and so is what can
// be meant in two ways. Nothing is done then.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/ask.yaml", `
access: {start: [everyone]}
roles: {owner: {assign: [starter], pick: [everyone]}}
xattrs: {yes: {type: boolean}, "no": {type: boolean, edit: [owner]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  end: {in: [open], role: owner, to: done, form: {properties: {"no": {type: boolean}}}}
`)
	id := g.start(t, "ann", `{"route": "ask", "title": "A"}`)
	ann := g.browse(t, "ann")
	for _, test := range []struct {
		path, want string
		fields     []string
	}{
		{"/tasks", `The form has no field &#34;coment&#34;`, []string{"do", "perform", "case", id, "action", "end", "coment", "lost"}},
		{"/cases/" + id, `&#34;coment&#34;`, []string{"do", "perform", "action", "end", "coment", "lost"}},
		{"/cases/" + id, `&#34;comment&#34; is there more than once`, []string{"do", "perform", "action", "end", "comment", "a", "comment", "b"}},
		{"/cases/" + id, "must be true or false", []string{"do", "perform", "action", "end", "x.no", "maybe"}},
		{"/cases/" + id, `&#34;to&#34;`, []string{"do", "accept", "action", "end", "to", "bob"}},
		{"/routes/ask/start", "Zzz is not a known field", []string{"do", "start", "roles.zzz", "bob"}},
		{"/routes/ask/start", "must be true or false", []string{"do", "start", "x.yes", "maybe"}},
		{"/account", `&#34;notify&#34; is true or left out`, []string{"do", "mail", "notify", "maybe"}},
		{"/account", `&#34;zzz&#34;`, []string{"do", "end-others", "zzz", "1"}},
		{"/schedule/new", `&#34;hourz&#34;`, []string{"do", "store", "type", "cron", "route", "ask", "hourz", "5"}},
	} {
		got := ann.post(t, test.path, test.fields...)
		if got.status != 422 || !strings.Contains(got.body, test.want) {
			t.Errorf("%s %v: got %d %q, want 422 with %q", test.path, test.fields, got.status, textOf(got.body, "refused"), test.want)
		}
	}
	if form := g.must(t, "ann", 200, "GET", "/dav/Workflow/Cases/"+id+".json", "").body; !strings.Contains(form, `"status": "open"`) {
		t.Errorf("something was done: %s", form)
	}
	if got := ann.post(t, "/routes/ask/start", "do", "start", "roles.owner", "ann", "roles.owner", "bob", "_charset_", "utf-8"); got.status != 303 {
		t.Errorf("boxes: %d %s", got.status, textOf(got.body, "refused"))
	}
	if got := ann.post(t, "/cases/"+id, "do", "perform", "action", "end", "x.no", "on", "comment", "c", "resolution", ""); got.status != 303 {
		t.Errorf("a whole form: %d %s", got.status, textOf(got.body, "refused"))
	}
}

// TestSentWithOtherText: a form that is sent again with other text is told in words, and has a
// new key, so that it can be sent once more.
func TestSentWithOtherText(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	ann := g.browse(t, "ann")
	first := ann.post(t, "/routes/bug/start", "do", "start", "key", "k", "title", "First")
	again := ann.post(t, "/routes/bug/start", "do", "start", "key", "k", "title", "Second")
	told := textOf(again.body, "refused")
	if again.status != 422 || !strings.Contains(told, "You have sent this form already") || strings.Contains(again.body, "Idempotency") {
		t.Errorf("got %d %q", again.status, told)
	}
	if link := first.header.Get("Location"); link == "" || !strings.Contains(again.body, `<a href="`+link+`">`) {
		t.Errorf("no link to %q: %s", link, told)
	}
	_, rest, _ := strings.Cut(again.body, `name="key" value="`)
	key, _, _ := strings.Cut(rest, `"`)
	if got := ann.post(t, "/routes/bug/start", "do", "start", "key", key, "title", "Second"); key == "k" || got.status != http.StatusSeeOther || got.header.Get("Location") == first.header.Get("Location") {
		t.Errorf("sent once more: %d %s", got.status, got.header.Get("Location"))
	}
}

// TestReopenFromArchive: the page of a canceled case in the archive offers what the drive does.
func TestReopenFromArchive(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, "ann", `{"route": "bug", "title": "A"}`)
	g.must(t, "admin", 204, "PUT", "/dav/Workflow/Cases/"+id+".json", `{"state": "canceled"}`)
	g.must(t, "admin", 200, "POST", "/clock", `{"advance": "P60D"}`)
	admin := g.browse(t, "admin")
	if page := admin.get(t, "/cases/"+id).body; !strings.Contains(page, "in the archive") || !strings.Contains(page, "reopen it for as long as it is there") || !strings.Contains(page, ">Reopen</a>") {
		t.Errorf("page: %s", page)
	}
	if got := admin.post(t, "/cases/"+id, "do", "reopen"); got.status != 303 {
		t.Errorf("reopen: %d %s", got.status, textOf(got.body, "refused"))
	}
	if form := g.must(t, "admin", 200, "GET", "/dav/Workflow/Cases/"+id+".json", "").body; !strings.Contains(form, `"state": "active"`) {
		t.Errorf("after reopening: %s", form)
	}
}

// TestTypedAgain: an instant that clocks show twice is typed with its offset.
func TestTypedAgain(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	w := words{zone: zone}
	for utc, want := range map[string]string{
		"2012-10-28T00:30:00Z": "2012-10-28 02:30", "2012-10-28T01:30:00Z": "2012-10-28T02:30:00+01:00", "2012-06-01T10:00:05Z": "2012-06-01 12:00:05",
	} {
		at, err := time.Parse(time.RFC3339, utc)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Typed(at); got != want {
			t.Errorf("%s: got %s, want %s", utc, got, want)
		}
	}
}

// TestCheckFields: names with patterns.
func TestCheckFields(t *testing.T) {
	t.Parallel()
	for query, ok := range map[string]bool{"x.a=1": true, "x.=1": false, "x=1": false, "r.a=1&r.a=2": true, "x.a=1&x.a=2": false, "b=maybe": false, "b=true&b=true": false, "b=": true, "do=1&key=2": true} {
		v, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkFields("x.* r.*+ b?", v); (err == nil) != ok {
			t.Errorf("%s: %v", query, err)
		}
	}
}
