package web

import (
	"regexp"
	"strings"
	"testing"
)

// TestCaseForms: what is done with a case is done on the drive, by those who may.
func TestCaseForms(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	for _, test := range []struct {
		name, user string
		fields     []string
		status     int
		after      string // what the case has then
	}{
		{"of others", "sam", []string{"do", "suspend"}, 404, `"state": "active"`},
		{"not the starter", "ann", []string{"do", "suspend"}, 403, `"state": "active"`},
		{"priority by the starter", "bob", []string{"do", "priority", "priority", "300"}, 403, `"priority": 200`},
		{"priority in words", "admin", []string{"do", "priority", "priority", "high"}, 422, `"priority": 200`},
		{"priority", "admin", []string{"do", "priority", "priority", "300"}, 303, `"priority": 300`},
		{"title", "bob", []string{"do", "title", "title", "Two <b>monitors</b>"}, 303, `"title": "Two <b>monitors</b>"`},
		{"suspend until never", "bob", []string{"do", "suspend", "suspendedUntil", "next friday"}, 422, `"state": "active"`},
		{"suspend", "bob", []string{"do", "suspend", "suspendedUntil", "2012-12-01 08:00"}, 303, `"suspendedUntil": "2012-12-01T08:00:00Z"`},
		{"resume", "bob", []string{"do", "resume"}, 303, `"state": "active"`},
		{"another case", "ann", []string{"do", "perform", "case", "18", "action", "resolve"}, 400, `"status": "claimed"`},
		{"approve", "ann", []string{"do", "perform", "case", "17", "action", "approve", "comment", "Needed."}, 303, `"status": "approved-once"`},
		{"four eyes", "ann", []string{"do", "perform", "case", "17", "action", "approve-again"}, 403, `"status": "approved-once"`},
		{"cancel", "bob", []string{"do", "cancel"}, 303, `"state": "canceled"`},
		{"reopen", "admin", []string{"do", "reopen"}, 303, `"state": "active"`},
		{"no such form", "bob", []string{"do", "several"}, 400, `"state": "active"`},
	} {
		got := g.browse(t, test.user).post(t, "/cases/17", test.fields...)
		if got.status != test.status {
			t.Errorf("%s: got %d, want %d: %s", test.name, got.status, test.status, textOf(got.body, "main"))
		}
		if stored := g.must(t, "admin", 200, "GET", "/dav/Workflow/Cases/17.json", "").body; !strings.Contains(stored, test.after) {
			t.Errorf("%s: the case has no %s:\n%s", test.name, test.after, stored)
		}
	}
	got := g.browse(t, "cy").post(t, "/cases/17", "do", "timer", "timer", "approve-again.due", "limit", "P3D")
	if got.status != 303 {
		t.Errorf("a timer: got %d %s", got.status, textOf(got.body, "main"))
	}
	got = g.browse(t, "cy").post(t, "/cases/17", "do", "timer", "timer", "approve-again.due", "limit", "next friday")
	if got.status != 422 || textOf(got.body, "a-fault") == "" {
		t.Errorf("a timer that is none: got %d, and at its field %q", got.status, textOf(got.body, "a-fault"))
	}
}

// TestCaseParts: a region is fetched alone, by its id.
func TestCaseParts(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "ann")
	for part, caching := range map[string]string{"todo": "no-store", "log": "private, no-cache", "timers": "private, no-cache"} {
		got := b.get(t, "/cases/17?part="+part)
		if got.status != 200 || textOf(got.body, part) == "" || strings.Contains(got.body, "<html") || got.header.Get("Cache-Control") != caching {
			t.Errorf("%s: got %d %q %s", part, got.status, got.header.Get("Cache-Control"), got.body)
		}
	}
	if got := b.get(t, "/cases/17?part=main"); got.status != 404 {
		t.Errorf("no such part: got %d, want 404", got.status)
	}
	if got := g.browse(t, "sam").get(t, "/cases/17?part=todo"); got.status != 404 {
		t.Errorf("the part of a case of others: got %d, want 404", got.status)
	}
}

// TestPartsOfAnEndedCase: once another user has ended the case, its head says so, and what
// showed its timers and what would happen by itself is replaced by an empty region.
func TestPartsOfAnEndedCase(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "ann")
	page := b.get(t, "/cases/17").body
	for _, id := range []string{"head", "timers", "forecast"} {
		if !regexp.MustCompile(` id="` + id + `"[^>]* data-live="/dav/Workflow/Cases/17\. `).MatchString(page) {
			t.Errorf("%s is not a live region", id)
		}
	}
	if got := g.browse(t, "bob").post(t, "/cases/17", "do", "cancel"); got.status != 303 {
		t.Fatalf("cancel: got %d %s", got.status, textOf(got.body, "main"))
	}
	if got := textOf(b.get(t, "/cases/17?part=head").body, "head"); !strings.Contains(got, "Canceled") || strings.Contains(got, "Active") {
		t.Errorf("the head says %q", got)
	}
	for _, part := range []string{"timers", "forecast"} {
		got := b.get(t, "/cases/17?part="+part)
		if want := `<div id="` + part + `" data-live="/dav/Workflow/Cases/17. /dav/Workflow/Cases/17/" hidden></div>`; got.status != 200 || strings.TrimSpace(got.body) != want {
			t.Errorf("%s: got %d %s, want %s", part, got.status, got.body, want)
		}
	}
}

// TestCaseFiles: a file is attached to a case by its page, once however often it is sent,
// and listed; without a file, and to a case of others, nothing is attached.
func TestCaseFiles(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "ann")
	if got := b.get(t, "/cases/17?do=attach").body; !strings.Contains(got, `enctype="multipart/form-data"`) || !strings.Contains(got, "/attachfs/17/FILE") {
		t.Error("the form that attaches a file, or its curl line, is missing")
	}
	got := b.post(t, "/cases/17", "do", "attach")
	if got.status != 422 || textOf(got.body, "attach-attachmentUUID-fault") == "" {
		t.Errorf("without a file: got %d %s", got.status, textOf(got.body, "main"))
	}
	for _, test := range []struct {
		by   *browser
		want int
	}{{g.browse(t, "sam"), 404}, {b, 303}, {b, 303}} {
		got := test.by.postFile(t, "/cases/17", "offer & price.txt", []byte("1,240\n"), []string{"do", "attach", "key", "once"})
		if got.status != test.want {
			t.Errorf("attached: got %d %s, want %d", got.status, textOf(got.body, "main"), test.want)
		}
	}
	if got := textOf(b.get(t, "/cases/17").body, "messages"); strings.Count(got, "offer & price.txt") != 1 || !strings.Contains(got, "6 bytes") {
		t.Errorf("the files are %q", got)
	}
}

// TestWatchFromCase: the head of a case has its route watched, and no longer; what is
// watched besides stays.
func TestWatchFromCase(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	g.must(t, "ann", 200, "PUT", "/dav/Account/me.json", `{"watch": ["bug"]}`)
	b := g.browse(t, "ann")
	for _, test := range []struct{ do, button, stored string }{
		{"watch", "Watch this route no longer", `"watch": ["bug", "expense"]`},
		{"watch", "Watch this route no longer", `"watch": ["bug", "expense"]`},
		{"unwatch", "Watch this route", `"watch": ["bug"]`},
	} {
		if got := b.post(t, "/cases/17", "do", test.do); got.status != 303 {
			t.Errorf("%s: got %d %s", test.do, got.status, textOf(got.body, "main"))
		}
		if got := b.get(t, "/cases/17").body; !strings.Contains(got, test.button+"</button>") {
			t.Errorf("after %s the button does not say %q", test.do, test.button)
		}
		if got := g.must(t, "ann", 200, "GET", "/dav/Account/me.json", "").body; !strings.Contains(got, test.stored) {
			t.Errorf("after %s: %s lacks %s", test.do, got, test.stored)
		}
	}
	if got := g.browse(t, "sam").post(t, "/cases/17", "do", "watch"); got.status != 404 {
		t.Errorf("from a case of others: got %d, want 404", got.status)
	}
}

// TestWhatActionsAsk: what one action asks for is marked as its own, so that it shows with
// it alone, and is not sent to the drive with another.
func TestWhatActionsAsk(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "ann")
	page := b.get(t, "/cases/17").body
	for _, want := range []string{`<fieldset class="f of-2"><legend class="label">Resolution of Refuse`, `<span class="of-2"><svg `, `</svg>Refuse</span>`, `<span class="of-1"><svg `, `</svg>Approve</span>`, `class="b quiet of-1" href="/cases/17?do=accept&amp;open=approve#todo" aria-label="Accept for me Approve">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the form lacks %s", want)
		}
	}
	if got := b.post(t, "/cases/17", "do", "perform", "action", "approve", "resolution", "private", "x.amount", "9"); got.status != 303 {
		t.Errorf("approved with what refusing asks for: got %d %s", got.status, textOf(got.body, "main"))
	}
	if got := g.must(t, "ann", 200, "GET", "/dav/Workflow/Cases/17.json", "").body; !strings.Contains(got, `"amount": 1240`) {
		t.Errorf("a field of another action was sent: %s", got)
	}
}

// TestNamesInLog: the log of a case has people's names, not those of their log-ins.
func TestNamesInLog(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	g.must(t, "ann", 204, "PUT", "/dav/Workflow/Cases/20/Actions/write.json", `{"do": "delegate", "to": "cy"}`)
	got := textOf(g.browse(t, "ann").get(t, "/cases/20").body, "log")
	if !strings.Contains(got, "delegated Write to Cy Tanaka") {
		t.Errorf("the log says %q", got)
	}
}
