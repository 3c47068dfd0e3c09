package davfs

import (
	"net/http"
	"strings"
	"testing"
)

// TestEveryRefusedMoveIsTold: a mount shows "Input/output error" and no more, so that each
// refused MOVE leaves its reasons (docs/contract/drive.md#rejected-content).
func TestEveryRefusedMoveIsTold(t *testing.T) {
	t.Parallel()
	const workflow = "/dav/Workflow/"
	for _, agent := range []string{"davfs2/1.6.1 neon/0.32.5", "rclone/v1.60.1-DEV"} {
		d := newTestDrive(t)
		d.ask(t, "sam PUT "+workflow+"Cases/lamp.json", `> {"route": "bug"}`)
		d.ask(t, "sam PUT "+workflow+"Cases/17/Files/a.txt", "> text")
		d.ask(t, "sam PUT "+workflow+"Cases/17/Files/b.txt", "> other")
		for _, tt := range []struct {
			from, to, folder, says string
			status                 int
		}{
			{workflow + "README.txt", workflow + "LIESMICH.txt", workflow, "always here under this name", 403},
			{workflow + "Cases/17/", workflow + "Cases/17%20Buy%208/", workflow + "Cases/", "number of the case", 403},
			{workflow + "Routes/bug/", workflow + "Routes/mistake/", workflow + "Routes/", "rename its file", 403},
			{workflow + "Cases/17/Files/a.txt", "/dav/Documents/sam/a.txt", workflow + "Cases/17/", "stay with it", 403},
			{workflow + "Cases/17/Files/a.txt", workflow + "Cases/17/Files/no%3F.txt", workflow + "Cases/17/", "choose another", 422},
			{workflow + "Cases/lamp.json", workflow + "Case/lamp.json", workflow, "There is no folder", 409},
			{workflow + "Cases/17/log.txt", workflow + "Cases/17/Log2.txt", workflow + "Cases/17/", "copy it instead", 403},
		} {
			if rec := d.ask(t, "sam MOVE "+tt.from, "User-Agent: "+agent, "Destination: "+tt.to); rec.Code != tt.status {
				t.Errorf("%s to %s: %d %s", tt.from, tt.to, rec.Code, rec.Body)
			}
			all := ""
			for _, text := range rejectedTexts(t, d, "sam", tt.folder) {
				all += text
			}
			if !strings.Contains(all, "was not moved to") || !strings.Contains(all, tt.says) {
				t.Errorf("%s to %s: the reasons are %q, want %q", tt.from, tt.to, all, tt.says)
			}
		}
	}
}

// TestRenamedAttachment: who has attached a file may give it another name, in Files/.
func TestRenamedAttachment(t *testing.T) {
	t.Parallel()
	const agent, files = "User-Agent: davfs2/1.6.1 neon/0.32.5", "/dav/Workflow/Cases/18/Files/"
	d := newTestDrive(t)
	d.ask(t, "sam PUT /dav/Workflow/Routes/own.yaml", "> @route")
	d.ask(t, "sam PUT /dav/Workflow/Cases/lamp.json", `> {"route": "own", "roles": {"clerk": ["sam", "ann"]}}`)
	want := func(status int, line string, more ...string) string {
		t.Helper()
		rec := d.ask(t, line, append([]string{agent}, more...)...)
		if rec.Code != status {
			t.Errorf("%s %q: %d, want %d: %s", line, more, rec.Code, status, rec.Body)
		}
		return rec.Body.String()
	}
	want(http.StatusCreated, "sam PUT "+files+"a.txt", "> text")
	want(http.StatusCreated, "sam MOVE "+files+"a.txt", "Destination: "+files+"b.txt")
	want(http.StatusNotFound, "sam GET "+files+"a.txt")
	if got := want(http.StatusOK, "sam GET "+files+"b.txt"); got != "text" {
		t.Errorf("b.txt has %q", got)
	}
	want(http.StatusCreated, "sam PUT "+files+"a.txt", "> other")
	want(http.StatusPreconditionFailed, "sam MOVE "+files+"a.txt", "Destination: "+files+"b.txt", "Overwrite: F")
	want(http.StatusNoContent, "sam MOVE "+files+"a.txt", "Destination: "+files+"b.txt")
	if got := want(http.StatusOK, "sam GET "+files+"b.txt"); got != "other" {
		t.Errorf("b.txt has %q", got)
	}
	want(http.StatusForbidden, "ann MOVE "+files+"b.txt", "Destination: "+files+"c.txt")
	for _, text := range rejectedTexts(t, d, "ann", "/dav/Workflow/Cases/18/") {
		if !strings.Contains(text, "may rename or delete it") {
			t.Errorf("ann is told %q", text)
		}
	}
}

// TestRefusedPlaceInDocuments: who saves where they may only read, or under a name that
// cannot be, is told in Rejected/ of the drive, with the text.
func TestRefusedPlaceInDocuments(t *testing.T) {
	t.Parallel()
	const agent = "User-Agent: davfs2/1.6.1 neon/0.32.5"
	for _, tt := range []struct{ line, says string }{
		{"sam PUT /dav/Documents/everyone/plan.txt", "may"},
		{"sam MKCOL /dav/Documents/everyone/plans", "may"},
		{"sam PUT /dav/Documents/sam/a%09b.txt", "control character"},
		{"sam PUT /dav/Documents/sam/a%0Ab.txt", "control character"},
		{"sam MKCOL /dav/Documents/sam/a%09b", "control character"},
	} {
		d := newTestDrive(t)
		more := []string{agent}
		if strings.Contains(tt.line, " PUT ") {
			more = append(more, "> my plan")
		}
		if rec := d.ask(t, tt.line, more...); rec.Code < 400 {
			t.Errorf("%s: %d", tt.line, rec.Code)
		}
		texts := rejectedTexts(t, d, "sam", "/dav/")
		all := ""
		for _, text := range texts {
			all += text + "\n"
		}
		if !strings.Contains(all, tt.says) || strings.Contains(tt.line, " PUT ") != strings.Contains(all, "my plan") {
			t.Errorf("%s: %q", tt.line, texts)
		}
	}
	d := newTestDrive(t)
	d.ask(t, "sam PUT /dav/Documents/everyone/.DS_Store", agent, "> of the Finder")
	if texts := rejectedTexts(t, d, "sam", "/dav/"); len(texts) > 0 {
		t.Errorf("of a file of a desktop: %q", texts)
	}
}
