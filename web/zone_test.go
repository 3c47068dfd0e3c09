package web

import (
	"strings"
	"testing"
)

// TestTypedTimes: a date typed on a page is one of the page's zone, and the request has its
// offset, as the curl line shows.
func TestTypedTimes(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, "ann", `{"route": "bug", "title": "Zone"}`)
	ann := g.browse(t, "ann")
	ann.zone = "Europe/Berlin"
	document := func(path string) string { return g.must(t, "ann", 200, "GET", path, "").body }
	has := func(what, text, want string) {
		t.Helper()
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q is not in\n%s", what, want, text)
		}
	}

	if got := ann.post(t, "/cases/"+id, "do", "suspend", "suspendedUntil", "2012-12-01 12:00"); got.status != 303 {
		t.Fatalf("suspend: %d", got.status)
	}
	has("suspended case", document("/dav/Workflow/Cases/"+id+".json"), `"suspendedUntil": "2012-12-01T11:00:00Z"`)
	has("its page", ann.get(t, "/cases/"+id).body, "1 Dec, 12:00")

	refused := ann.post(t, "/routes/bug/start", "do", "start", "title", "Later", "startAt", "2013-06-01 12:00", "priority", "99999")
	has("curl line", refused.body, "2013-06-01T12:00:00&#43;02:00")
	has("what was typed", refused.body, `value="2013-06-01 12:00"`)
	started := ann.post(t, "/routes/bug/start", "do", "start", "title", "Later", "startAt", "2013-06-01 12:00")
	has("case to start", document("/dav/Workflow"+strings.Replace(started.header.Get("Location"), "/cases/", "/Cases/", 1)+".json"), `"startAt": "2013-06-01T10:00:00Z"`)

	ann.post(t, "/mount", "do", "device", "label", "laptop", "expires", "2013-06-01")
	has("device", document("/dav/Account/AppPasswords/.contents"), "2013-05-31T22:00:00Z")

	if got := ann.post(t, "/account", "do", "deputy", "user", "bob", "from", "2012-12-01", "to", "2012-12-02"); got.status != 303 {
		t.Errorf("deputy: %d", got.status)
	}
	has("deputy", document("/dav/Account/me.json"), `"to": "2012-12-02T23:00:00Z"`)

	waiting := g.start(t, "ann", `{"route": "expense", "title": "Timer", "xattrDict": {"amount": 50}}`)
	admin := g.browse(t, "admin")
	admin.zone = "Asia/Tokyo"
	if got := admin.post(t, "/cases/"+waiting, "do", "timer", "timer", "escalate.timeout", "limit", "2012-12-01 12:00"); got.status != 303 {
		t.Errorf("timer: %d %s", got.status, got.body)
	}
	has("timer", g.must(t, "admin", 200, "GET", "/dav/Workflow/Cases/"+waiting+"/Timers/escalate.timeout.json", "").body, "2012-12-01T03:00:00Z")
	if got := admin.post(t, "/cases/"+waiting, "do", "timer", "timer", "escalate.timeout", "limit", "P3D"); got.status != 303 {
		t.Errorf("a duration stays one: %d", got.status)
	}
}

// TestTypedInstantsOfEntries: the preview and what is stored have the zone of the page for
// an entry that has none of its own, and its form shows again what was typed.
func TestTypedInstantsOfEntries(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	ann := g.browse(t, "ann")
	ann.zone = "Europe/Berlin"
	form := []string{"do", "store", "route", "bug", "type", "simple", "title", "t", "date", "2013-04-01 12:00", "end", "2013-04-02"}
	has := func(text, want string) {
		t.Helper()
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	shown := ann.post(t, "/schedule/new", append([]string{"show", "1"}, form...)...).body
	for _, want := range []string{`Once on Mon 1 Apr 2013, 12:00 <span class="sub">(Europe/Berlin)`, "<b>12:00</b>", "10:00 UTC", "2013-04-01T12:00:00&#43;02:00", "Times in Europe/Berlin"} {
		has(shown, want)
	}
	page := ann.post(t, "/schedule/new", form...).header.Get("Location")
	stored := g.must(t, "ann", 200, "GET", "/dav/Workflow"+strings.Replace(page, "/schedule/", "/Schedule/", 1)+".json", "").body
	has(stored, `"date": "2013-04-01T10:00:00"`)
	has(stored, `"end": "2013-04-02T21:59:59"`)
	has(ann.get(t, page+"/edit").body, `value="2013-04-01 12:00"`)
	has(ann.get(t, page).body, "Once on Mon 1 Apr 2013, 12:00")
	ann.zone = "Asia/Tokyo"
	has(ann.get(t, "/schedule/new?type=simple&date=2013-04-01T10:00:00Z").body, `value="2013-04-01 19:00"`)
}

// TestInstantsOfWarnings: a warning that the engine has written names an instant in the words
// and the zone of the page, wherever it is shown.
func TestInstantsOfWarnings(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	g.advance(t, "2012-12-20T08:00:00Z")
	ann := g.browse(t, "ann")
	ann.zone = "Europe/Berlin"
	for _, path := range []string{"/late", "/cases/20", "/tasks/warnings"} {
		got := ann.get(t, path).body
		if !strings.Contains(got, "Write was to be performed by Fri 16 Nov, 13:34") {
			t.Errorf("%s does not say when in the zone of the page:\n%s", path, got)
		}
	}
}
