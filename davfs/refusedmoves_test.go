package davfs

import (
	"encoding/json"
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

// TestRefusedMovesSayWhereElse: what cannot be moved to a place says where it can be, and
// does not advise to copy and then delete if that would do something else.
func TestRefusedMovesSayWhereElse(t *testing.T) {
	t.Parallel()
	const workflow = "/dav/Workflow/"
	d := newTestDrive(t)
	d.ask(t, "sam PUT "+workflow+"Cases/lamp.json", `> {"route": "bug", "title": "Lamp"}`)
	d.ask(t, "sam PUT "+workflow+"Schedule/nightly.json", `> {"type": "crontab", "spec": "0 1 * * *", "route": "bug"}`)
	d.ask(t, "sam PUT /dav/Documents/sam/a.txt", "> one")
	d.ask(t, "sam PUT /dav/Documents/sam/a.txt", "> two")
	past := pathOfFirst(t, d, "/dav/Documents/sam/.history/")
	for _, tt := range []struct{ who, from, to, says string }{
		{"sam", workflow + "Routes/bug/Board/open/17%20Lamp.json", "/dav/Documents/sam/lamp.json", "to delete it here would cancel the case"},
		{"sam", workflow + "Cases/lamp.json", workflow + "Schedule/lamp.json", "to delete it here would cancel the case"},
		{"sam", workflow + "Cases/lamp.json", workflow + "Cases/18.json", "is the number of a case or entry"},
		{"sam", workflow + "Schedule/nightly.json", workflow + "Cases/nightly.json", "to delete it here would end its schedule"},
		{"admin", "/dav/Admin/Users/ann.json", "/dav/Admin/Teams/ann.json", "make one in Admin/Teams/ with a document of its own"},
		{"admin", "/dav/Admin/Teams/core.json", "/dav/Admin/Users/core.json", "make one in Admin/Users/ with a document of its own"},
		{"sam", past, workflow + "Cases/lamp.json", "To bring it back, copy it."},
	} {
		rec := d.ask(t, tt.who+" MOVE "+tt.from, "Destination: "+tt.to)
		if rec.Code != http.StatusForbidden || !strings.Contains(rec.Body.String(), tt.says) || strings.Contains(rec.Body.String(), "then delete") {
			t.Errorf("%s to %s: %d %s, want %q", tt.from, tt.to, rec.Code, rec.Body, tt.says)
		}
	}
}

// pathOfFirst returns the address of the first member of a folder of sam's.
func pathOfFirst(t *testing.T, d *testDrive, folder string) string {
	t.Helper()
	rec := d.ask(t, "sam GET "+folder+".ls")
	var all []struct{ Href string }
	if err := json.Unmarshal(rec.Body.Bytes(), &all); err != nil || len(all) == 0 {
		t.Fatalf("%s: %v %s", folder, err, rec.Body)
	}
	return all[0].Href
}

// TestRefusedPlaceSaysWhereElse: a file that is saved in a folder with given members is told
// where it can be kept; of a case that is not there or not to be seen no more than that.
func TestRefusedPlaceSaysWhereElse(t *testing.T) {
	t.Parallel()
	const workflow = "/dav/Workflow/"
	d := newTestDrive(t)
	d.ask(t, "sam PUT "+workflow+"Cases/lamp.json", `> {"route": "bug", "title": "Lamp"}`)
	const inCase = "Files of a case are kept in /dav/Workflow/Cases/17/Files/."
	for _, tt := range []struct{ who, at, says string }{
		{"sam", "Cases/17/note.txt", inCase},
		{"sam", "Cases/17/Outbox/x", inCase},
		{"sam", "Cases/17/Timers/x.txt", inCase},
		{"sam", "Cases/17/Messages/x", inCase},
		{"sam", "Routes/bug/17/note.txt", "Files of a case are kept in /dav/Workflow/Routes/bug/17/Files/."},
		{"sam", "Routes/bug/Board/x.txt", "To start a case with a file, save it in /dav/Workflow/Routes/bug/; to attach it to a case, in Workflow/Cases/<number>/Files/; to keep it, in Documents/sam/."},
		{"sam", "Archive/2012/x", "cannot be written; keep files in Documents/sam/."},
		{"eve", "Cases/17/note.txt", "There is nothing at this address, or you may not see it.\n"},
		{"sam", "Cases/99/note.txt", "There is nothing at this address, or you may not see it.\n"},
	} {
		rec := d.ask(t, tt.who+" PUT "+workflow+tt.at, "> text")
		if rec.Code != http.StatusNotFound || !strings.Contains(rec.Body.String(), tt.says) {
			t.Errorf("%s PUT %s: %d %s, want %q", tt.who, tt.at, rec.Code, rec.Body, tt.says)
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
