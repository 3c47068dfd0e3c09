package web

import (
	"regexp"
	"strings"
	"testing"
)

// TestMessagePage: a message of a case has a page, for those who see the case. What is in it is
// text, and what cannot be shown can be downloaded.
func TestMessagePage(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	if got := g.browse(t, "bob").post(t, "/cases/17", "do", "label", "label", "offer", "content", "<script>alert(1)</script>"); got.status != 303 {
		t.Fatalf("a label: %d %s", got.status, textOf(got.body, "main"))
	}
	b := g.browse(t, "ann")
	page := b.get(t, "/cases/17").body
	at := regexp.MustCompile(`href="(/cases/17/messages/[0-9a-f]{32})">offer<`).FindStringSubmatch(page)
	if at == nil {
		t.Fatalf("the case does not lead to the message: %s", page)
	}
	got := b.get(t, at[1])
	uuid := at[1][len(at[1])-32:]
	if got.status != 200 || !strings.Contains(got.body, "&lt;script&gt;alert(1)") || !strings.Contains(got.body, `href="/dav/Workflow/Cases/17/Messages/`+uuid+`" download`) || !strings.Contains(textOf(got.body, "main"), "Bob Marsh") {
		t.Errorf("got %d %s", got.status, got.body)
	}
	for _, fault := range faultsOf(got.body) {
		t.Error(fault)
	}
	if link := got.header.Get("Link"); link != `</dav/Workflow/Cases/17/Messages/`+uuid+`>; rel="alternate"; type="text/plain; charset=utf-8"` {
		t.Errorf("Link: %s", link)
	}
	if part := b.get(t, at[1]+"?part=content"); part.status != 200 || textOf(part.body, "content") == "" {
		t.Errorf("its part: %d", part.status)
	}
	for path, user := range map[string]string{
		at[1]: "sam", "/cases/18/messages/" + uuid: "ann", "/cases/17/messages/" + strings.Repeat("0", 32): "ann", "/cases/17/messages/offer": "ann", "/cases/x/messages/" + uuid: "ann",
	} {
		if got := g.browse(t, user).get(t, path); got.status != 404 {
			t.Errorf("%s as %s: got %d, want 404", path, user, got.status)
		}
	}
}
