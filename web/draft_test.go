package web

import (
	"fmt"
	"strings"
	"testing"
)

// TestDraftPages: the page of a draft asks for what is missing, says what is wrong with
// it, and starts the case.
func TestDraftPages(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	dropped := g.must(t, "bob", 202, "PUT", "/dav/Workflow/Routes/expense/Taxi.txt", "receipt")
	id := strings.TrimSuffix(strings.TrimPrefix(dropped.header.Get("Location"), "/dav/Workflow/Cases/"), ".json")
	page := "/cases/" + id
	for address, want := range map[string]bool{"/cases?state=draft": true, "/cases?state=queued": false} {
		got := g.browse(t, "bob").get(t, address)
		if got.status != 200 || strings.Contains(got.body, `href="`+page+`"`) != want || !strings.Contains(textOf(got.body, "main"), "Queued 0") || !strings.Contains(textOf(got.body, "main"), "Drafts 1") {
			t.Errorf("%s: %d %s", address, got.status, textOf(got.body, "main"))
		}
	}
	if got := g.browse(t, "ann").get(t, "/cases?state=draft"); got.status != 200 {
		t.Errorf("drafts of somebody without any: %d", got.status)
	}
	got := g.browse(t, "bob").get(t, page)
	for _, want := range []string{`name="x.amount"`, `value="start"`, "Draft"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("the page has no %s:\n%s", want, textOf(got.body, "main"))
		}
	}
	got = g.browse(t, "bob").post(t, page, "do", "perform", "case", id, "action", "start", "x.amount", "a lot")
	if got.status != 422 || !strings.Contains(got.body, "a lot") {
		t.Errorf("a wrong value: %d %s", got.status, textOf(got.body, "main"))
	}
	got = g.browse(t, "bob").post(t, page, "do", "perform", "case", id, "action", "start", "x.amount", "60")
	if got.status != 303 {
		t.Fatalf("the value: %d %s", got.status, textOf(got.body, "main"))
	}
	if stored := g.must(t, "bob", 200, "GET", fmt.Sprintf("/dav/Workflow/Cases/%s.json", id), "").body; !strings.Contains(stored, `"status": "claimed"`) {
		t.Errorf("the case did not start:\n%s", stored)
	}
}
