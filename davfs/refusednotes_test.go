package davfs

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestRefusedWithoutContent: folders that cannot be made and files that cannot be deleted
// leave the reason in the nearest Rejected/ of a mounting client
// (docs/contract/drive.md#rejected-content).
func TestRefusedWithoutContent(t *testing.T) {
	t.Parallel()
	newScene(t).play(strings.ReplaceAll(`
		davfs2 MKCOL Schedule/Invoices | | 403
		davfs2 GET Schedule/Rejected/@Invoices.txt | | 200 | (?s:/dav/Workflow/Schedule/Invoices was not made.*Folders of your own.*)
		curl MKCOL Routes/Mine | | 403
		curl LIST Routes/ | | 207 | bug bug.json tip tip.yaml
		davfs2 MKCOL Worklist/Mine | | 403
		davfs2 DELETE Worklist/Offered/18.resolve.json | | 403
		davfs2 GET Worklist/Offered/Rejected/@18.resolve.json.txt | | 200 | (?s:.*18.resolve.json was not deleted.*"reject".*)
		davfs2 DELETE Worklist/Offered/99.resolve.json | | 404
		davfs2 LIST Worklist/Offered/Rejected/ | | 207 | 20261120T120000Z%2018.resolve.json.txt
	`, "@", "20261120T120000Z~~"))
}

// TestBrakeSaysWhyOnce: who empties a folder of cases on a mount finds one note, which names
// each case that was kept.
func TestBrakeSaysWhyOnce(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		if rec := d.ask(t, "sam PUT /dav/Workflow/Cases/"+name+".json", `> {"route": "bug"}`); rec.Code != http.StatusCreated {
			t.Fatalf("%s: %d %s", name, rec.Code, rec.Body)
		}
	}
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		rec := d.ask(t, "sam DELETE /dav/Workflow/Cases/"+name+".json", "User-Agent: davfs2/1.6.1")
		if want := map[bool]int{true: http.StatusNoContent, false: http.StatusForbidden}[i < 3]; rec.Code != want {
			t.Errorf("the %d. DELETE: %d %s, want %d", i+1, rec.Code, rec.Body, want)
		}
	}
	names := d.listed(t, "/dav/Workflow/Cases/Rejected/")
	if len(names) != 4 || !strings.HasSuffix(names[0], " d.json.txt") { // and a note about each case that was canceled
		t.Fatalf("the reasons: %q", names)
	}
	text := d.ask(t, "sam GET /dav/Workflow/Cases/Rejected/"+strings.ReplaceAll(names[0], " ", "%20"), "User-Agent: davfs2/1.6.1").Body.String()
	for _, want := range []string{"/Cases/d.json was not deleted, and", "either:\n\n/dav/Workflow/Cases/e.json\n", `write "state": "canceled" into its file`} {
		if !strings.Contains(text, want) {
			t.Errorf("the note lacks %q: %s", want, text)
		}
	}
	page := d.ask(t, "sam GET /dav/Workflow/Status/refused.txt", "User-Agent: davfs2/1.6.1").Body.String()
	for _, want := range []string{"   /dav/Workflow/Cases/d.json\n  You have deleted 3 open cases", "All of it is in /dav/Workflow/Cases/Rejected/" + names[0]} {
		if !strings.Contains(page, want) {
			t.Errorf("refused.txt lacks %q: %s", want, page)
		}
	}
}

// listed returns the names in a folder as a mounting client of sam's sees it.
func (d *testDrive) listed(t *testing.T, path string) (names []string) {
	t.Helper()
	rec := d.ask(t, "sam GET "+path, "Accept: application/json", "User-Agent: davfs2/1.6.1")
	var members []struct{ Name string }
	if err := json.Unmarshal(rec.Body.Bytes(), &members); err != nil {
		t.Fatalf("%s: %d %s", path, rec.Code, rec.Body)
	}
	for _, m := range members {
		names = append(names, m.Name)
	}
	return names
}

// TestSavingATaskByRenaming: programs that save by a temporary file and a rename save
// tasks, too, as sed does.
func TestSavingATaskByRenaming(t *testing.T) {
	t.Parallel()
	newScene(t).play(`
		davfs2 PUT Worklist/Offered/sedAbCdEf | {"do":"perform"} | 201
		curl LIST Worklist/Offered/ | | 207 | 18.resolve%20tip.json sedAbCdEf
		davfs2 MOVE Worklist/Offered/sedAbCdEf -> Worklist/Offered/18.resolve.json | | 204
		curl LIST Worklist/Offered/ | | 207 |
		davfs2 PUT Worklist/Done/mine | {"do":"perform"} | 403
	`)
}

// TestUnfinishedDropSaysSo: a dropped file with the name of a temporary one starts no
// case, and a note says so until it is renamed.
func TestUnfinishedDropSaysSo(t *testing.T) {
	t.Parallel()
	newScene(t).play(strings.ReplaceAll(`
		davfs2 PUT Routes/bug/part.tmp | pixels | 201
		davfs2 GET Routes/bug/Rejected/@part.tmp.txt | | 200 | (?s:.*kept as a temporary file.*To start a case with it, save it under a name.*)
		davfs2 PUT Routes/bug/.hidden.pdf | pixels | 201
		davfs2 GET Routes/bug/Rejected/@.hidden.pdf.txt | | 200 | (?s:.*kept as a temporary file.*)
		davfs2 PUT Routes/bug/._part.pdf | pixels | 201
		davfs2 GET Routes/bug/Rejected/@._part.pdf.txt | | 404
		davfs2 MOVE Routes/bug/part.tmp -> Routes/bug/part.pdf | | 201
		davfs2 GET Routes/bug/Rejected/@part.tmp.txt | | 404
	`, "@", "20261120T120000Z~~"))
}

// TestOtherLetters: a MOVE may change nothing but the case of letters.
func TestOtherLetters(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	d.ask(t, "sam PUT /dav/Workflow/Schedule/nightly.json", `> {"route": "bug", "type": "cron", "hour": 22}`)
	d.ask(t, "sam PUT /dav/Workflow/Cases/lamp.json", `> {"route": "bug"}`)
	d.ask(t, "sam PUT /dav/Workflow/Routes/load.yaml", "> @route")
	for _, tt := range []struct{ user, folder, from, to, overwrite string }{
		{"sam", "/dav/Workflow/Schedule/", "nightly.json", "Nightly.json", "T"},
		{"sam", "/dav/Workflow/Schedule/", "Nightly.json", "NIGHTLY.json", "F"},
		{"sam", "/dav/Workflow/Cases/", "lamp.json", "Lamp.json", "F"},
		{"sam", "/dav/Workflow/Routes/", "load.yaml", "Load.yaml", "F"},
		{"eva", "/dav/Admin/Users/", "bob.json", "Bob.json", "F"},
		{"eva", "/dav/Admin/Teams/", "ops.json", "Ops.json", "T"},
		{"sam", "/dav/Documents/sam/", "a.txt", "A.txt", "F"},
	} {
		if tt.folder == "/dav/Documents/sam/" {
			d.ask(t, "sam PUT "+tt.folder+tt.from, "> text")
		}
		rec := d.ask(t, tt.user+" MOVE "+tt.folder+tt.from, "Destination: "+tt.folder+tt.to, "Overwrite: "+tt.overwrite)
		if rec.Code != http.StatusCreated {
			t.Errorf("%s%s to %s: %d %s", tt.folder, tt.from, tt.to, rec.Code, rec.Body)
		}
		list := d.ask(t, tt.user+" GET "+tt.folder, "Accept: text/html").Body.String()
		if !strings.Contains(list, ">"+tt.to+"<") || strings.Contains(list, ">"+tt.from+"<") {
			t.Errorf("%s after the MOVE of %s: %s", tt.folder, tt.from, list)
		}
	}
	if rec := d.ask(t, "sam MOVE /dav/Workflow/Schedule/NIGHTLY.json", "Destination: /dav/Workflow/Schedule/NIGHTLY.json"); rec.Code != http.StatusForbidden {
		t.Errorf("onto itself: %d", rec.Code)
	}
}

// TestNamesOfEveryFolder: each folder of the drive has .ls, of resources or of its members.
func TestNamesOfEveryFolder(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	d.ask(t, "sam PUT /dav/Workflow/Cases/lamp.json", `> {"route": "bug"}`)
	for folder, want := range map[string]string{
		"Workflow": "Status", "Workflow/Status": "late.txt", "Workflow/Status/cases": "17.txt", "Workflow/Status/schedule": "", "Workflow/Cases/17": "Actions",
		"Workflow/Cases/17/Actions": "resolve.json", "Workflow/Cases/17/Labels": "InputMessage", "Workflow/Cases/17/Messages": "", "Workflow/Cases/17/Files": "",
		"Workflow/Worklist": "Offered", "Workflow/Worklist/Offered": "17.resolve", "Workflow/Routes/bug/Board": "open", "Workflow/Routes/bug/Board/open": "17 ",
		"Workflow/Routes/bug/Versions": "1.json", "Workflow/Schemas": "case.schema.json", "Workflow/Calendar": "upcoming.ics", "Workflow/Archive": "", "Account": "me.json",
	} {
		path := "/dav/" + folder + "/.ls"
		rec := d.ask(t, "sam GET "+path)
		var lines []struct{ Name, Href, Modified string }
		if err := json.Unmarshal(rec.Body.Bytes(), &lines); err != nil || rec.Code != http.StatusOK || !strings.Contains(rec.Body.String(), `"name":"`+want) && want != "" {
			t.Errorf("%s: %d %s, %v; want %s", path, rec.Code, rec.Body, err, want)
		}
		for _, line := range lines {
			if got := d.ask(t, "sam GET "+line.Href); got.Code != http.StatusOK {
				t.Errorf("%s says %s, which is %d", path, line.Href, got.Code)
			}
		}
	}
	for _, path := range []string{"/dav/Workflow/Cases/99/.ls", "/dav/Workflow/Cases/99/Actions/.ls", "/dav/Workflow/Archive/1999/.ls"} {
		if rec := d.ask(t, "sam GET "+path); rec.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
	if rec := d.ask(t, "ann GET /dav/Workflow/Cases/17/Actions/.ls"); rec.Code != http.StatusNotFound {
		t.Errorf("of a case that ann does not see: %d", rec.Code)
	}
}

// TestRefusedBesideWorkflow: what is refused to a mounting client in Account/, in the root
// of Documents/ and in that of the drive leaves its reasons, too; what may hold a password
// is not kept.
func TestRefusedBesideWorkflow(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	for _, tt := range []struct{ put, folder, says string }{
		{"/dav/Account/me.json", "/dav/Account/", "because it may hold a password"},
		{"/dav/Documents/report.txt", "/dav/", "save it in one of them, as in Documents/sam/"},
		{"/dav/shopping.txt", "/dav/", "keep files in Documents/sam/"},
	} {
		if rec := d.ask(t, "sam PUT "+tt.put, "User-Agent: davfs2/1.6.1", "> zone: [what"); rec.Code < 400 {
			t.Fatalf("%s: %d %s", tt.put, rec.Code, rec.Body)
		}
		if names := d.listed(t, tt.folder); !slices.Contains(names, "Rejected") {
			t.Errorf("%s lists %q", tt.folder, names)
		}
		found := false
		for _, name := range d.listed(t, tt.folder+"Rejected/") {
			rec := d.ask(t, "sam GET "+tt.folder+"Rejected/"+strings.ReplaceAll(name, " ", "%20"), "User-Agent: davfs2/1.6.1")
			found = found || strings.Contains(rec.Body.String(), tt.says)
		}
		if !found {
			t.Errorf("%s: no reasons with %q", tt.put, tt.says)
		}
	}
	for _, name := range d.listed(t, "/dav/Account/Rejected/") {
		if !strings.HasSuffix(name, "me.json.txt") {
			t.Errorf("what was sent to me.json is kept as %s", name)
		}
	}
}

// TestTaskThatAnotherHasDone: the note about a save of a task that another user has done,
// or has accepted meanwhile, says so, and does not contradict itself.
func TestTaskThatAnotherHasDone(t *testing.T) {
	t.Parallel()
	newScene(t).play(strings.ReplaceAll(`
		davfs2 PUT Worklist/Offered/18.resolve.json If-None-Match: * | {"do":"perform"} | 412
		davfs2 GET Worklist/Offered/Rejected/@18.resolve.json.txt | | 200 | (?s:.*There is a file of this name already.*Stored there now.*"accept": "It is .*)
		davfs2 DELETE Worklist/Offered/Rejected/ | | 204
		curl PUT Cases/18/Actions/resolve.json | {"do":"accept"} | 204
		davfs2 PUT Worklist/Offered/18.resolve.json If-None-Match: * | {"do":"perform","comment":"two"} | 412
		davfs2 GET Worklist/Offered/Rejected/@18.resolve.json.txt | | 200 | (?s:.*There is a file of this name already.*Stored there now.*"perform": "The case goes.*)
	`, "@", "20261120T120000Z~~"))
}

// TestMoveOfATaskToDone: a task is not done by moving its file, and the answer says how.
func TestMoveOfATaskToDone(t *testing.T) {
	t.Parallel()
	newScene(t).play(strings.ReplaceAll(`
		davfs2 MOVE Worklist/Offered/18.resolve.json -> Worklist/Done/18.resolve.json | | 403
		davfs2 LIST Worklist/Done/Rejected/ | | 207 | 20261120T120000Z%2018.resolve.json.txt
		davfs2 GET Worklist/Done/Rejected/@18.resolve.json.txt | | 200 | (?s:.*write "perform" into "do" and save it.*)
	`, "@", "20261120T120000Z~~"))
}
