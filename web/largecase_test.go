package web

import (
	"fmt"
	"strings"
	"testing"
)

// TestLargeValuesAreCut: the page of a case shows the beginning of a long XATTR and of a long line
// of the log, with links to what is whole; rows of lists show less of it.
func TestLargeValuesAreCut(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/notes.yaml", `
access: {start: [everyone], read: [everyone]}
roles: {owner: {assign: [starter]}}
xattrs: {text: {type: string, title: Text}, short: {type: string, title: Short}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, onFire: [{log: $__XATTR_text__;}]}
  mend: {title: Mend it, in: [open], role: owner, to: done}
`)
	id := g.start(t, "bob", fmt.Sprintf(`{"route": "notes", "title": "Lift", "xattrDict": {"text": %q, "short": "brief"}}`, strings.Repeat("é", 20_000)+"end"))
	bob := g.browse(t, "bob")
	page := bob.get(t, "/cases/"+id).body
	for _, part := range []string{
		strings.Repeat("é", 999) + `… <a href="/dav/Workflow/Cases/` + id + `.json">All of it</a></dd>`,
		"<dt>Short</dt><dd>brief</dd>", `/log.txt">`,
	} {
		if !strings.Contains(page, part) {
			t.Errorf("there is no %.80q", part)
		}
	}
	for _, at := range []string{"/cases/" + id, "/cases", "/tasks"} {
		if got := bob.get(t, at); got.status != 200 || strings.Contains(got.body, strings.Repeat("é", 1000)) {
			t.Errorf("%s: %d, %d bytes", at, got.status, len(got.body))
		}
	}
	if got := bob.get(t, "/cases").body; !strings.Contains(got, strings.Repeat("é", 99)+"…") {
		t.Errorf("the row of the case does not have the beginning of its text")
	}
}
