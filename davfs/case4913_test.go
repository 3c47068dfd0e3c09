package davfs

import (
	"net/http"
	"strings"
	"testing"
)

// TestCaseOfTheIDThatVimTriesIsACase: a file of that name is how vim asks whether it may write. A
// case of that id is a case all the same, wherever it is found.
func TestCaseOfTheIDThatVimTriesIsACase(t *testing.T) {
	t.Parallel()
	const agent, cases = "User-Agent: davfs2/1.6.1 neon/0.32.5", "/dav/Workflow/Cases/"
	d := newTestDrive(t)
	want := func(status int, line string, more ...string) {
		t.Helper()
		if rec := d.ask(t, line, append([]string{agent}, more...)...); rec.Code != status {
			t.Errorf("%s: %d, want %d: %s", line, rec.Code, status, rec.Body)
		}
	}
	want(http.StatusCreated, "sam PUT "+cases+"4913", "> is it writable?")
	want(http.StatusNoContent, "sam DELETE "+cases+"4913")

	want(http.StatusCreated, "sam PUT /dav/Workflow/Routes/r.yaml", "> @route")
	for d.db.PeekID() < 4913 {
		d.db.NextID()
	}
	want(http.StatusCreated, "sam PUT "+cases+"a.json", `> {"route": "r"}`)
	for _, folder := range []string{cases, "/dav/Workflow/Routes/r/"} {
		rec := d.ask(t, "sam PROPFIND "+folder+"4913/", agent, "Depth: 1")
		if rec.Code != http.StatusMultiStatus || !strings.Contains(rec.Body.String(), "4913/Actions/") {
			t.Errorf("%s: %d %s", folder, rec.Code, rec.Body)
		}
	}
}
