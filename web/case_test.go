package web

import (
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
	for _, part := range []string{"todo", "log", "timers"} {
		got := b.get(t, "/cases/17?part="+part)
		if got.status != 200 || textOf(got.body, part) == "" || strings.Contains(got.body, "<html") || got.header.Get("Cache-Control") != "no-store" {
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
