package davfs

import (
	"strings"
	"testing"
)

// TestSaveThatDoesNothingIsNoted saves what does nothing under names that people choose:
// a note in Rejected/ says so at once and what to do, and goes with the file. Names of
// temporary files leave none.
func TestSaveThatDoesNothingIsNoted(t *testing.T) {
	t.Parallel()
	const entry = `> {"route": "bug", "type": "cron", "hour": 22}`
	for _, tt := range []struct{ folder, name, agent, advice string }{
		{"Schedule", "nightly", "davfs2/1.6.1", "Save it as nightly.json instead"},
		{"Schedule", "nightly.txt", "rclone/v1.60.1", "Save it as nightly.json instead"},
		{"Schedule", "nightly.json.txt", "Microsoft-WebDAV-MiniRedir/10.0", "Save it as nightly.json instead"},
		{"Schedule", "nightly.json.bak", "gvfs/1.50.3", "backup of nightly.json. Keep backups in Documents/sam/"},
		{"Routes", "leave.yaml.bak2", "davfs2/1.6.1", "backup of leave.yaml. Keep backups in Documents/sam/"},
		{"Routes", "leave.yaml.orig", "davfs2/1.6.1", "backup of leave.yaml. Keep backups in Documents/sam/"},
		{"Schedule", ".nightly.json", "davfs2/1.6.1", "Save it as nightly.json instead"},
		{"Routes", "tip.txt", "davfs2/1.6.1", "Save it as tip.yaml instead"},
		{"Cases", "fire", "davfs2/1.6.1", "Save it as fire.json instead.\nA case is started by a document such as {\"route\": \"bug\""},
		{"Routes/bug", "report.bak", "davfs2/1.6.1", "To start a case with it"},
		{"Schedule", "nightly.json~", "davfs2/1.6.1", ""},
		{"Schedule", ".nightly.json.swp", "davfs2/1.6.1", ""},
		{"Schedule", "._nightly.json", "WebDAVFS/3.0.0", ""},
		{"Schedule", ".goutputstream-X", "gvfs/1.50.3", ""},
		{"Schedule", "nightly.json.Xy12Zz", "davfs2/1.6.1", ""},
		{"Routes/bug", "report.txt", "davfs2/1.6.1", ""}, // which starts a case
	} {
		d := newTestDrive(t)
		at := "/dav/Workflow/" + tt.folder + "/"
		notes := func() string {
			return d.ask(t, "sam PROPFIND "+at+"Rejected/", "User-Agent: "+tt.agent, "Depth: 1").Body.String()
		}
		if rec := d.ask(t, "sam PUT "+at+tt.name, "User-Agent: "+tt.agent, entry); rec.Code != 201 {
			t.Errorf("%s: %d %s", tt.name, rec.Code, rec.Body)
		}
		if tt.advice == "" {
			if got := notes(); strings.Contains(got, ".txt") {
				t.Errorf("%s: a note was left: %s", tt.name, got)
			}
			continue
		}
		note := at + "Rejected/20121109T123456Z%20" + tt.name + ".txt"
		rec := d.ask(t, "sam GET "+note, "User-Agent: "+tt.agent)
		if rec.Code != 200 || !strings.Contains(rec.Body.String(), tt.advice) || !strings.Contains(rec.Body.String(), at+tt.name) {
			t.Errorf("%s: %d %s", tt.name, rec.Code, rec.Body)
		}
		d.ask(t, "sam PUT "+at+tt.name, "User-Agent: "+tt.agent, `> {"route": "bug", "type": "cron", "hour": 23}`)
		if got := strings.Count(notes(), "<D:response>"); got != 2 {
			t.Errorf("%s: saved again it has %d notes", tt.name, got-1)
		}
		if rec := d.ask(t, "sam DELETE "+at+tt.name, "User-Agent: "+tt.agent); rec.Code != 204 {
			t.Errorf("%s: %d %s", tt.name, rec.Code, rec.Body)
		}
		if got := notes(); strings.Contains(got, tt.name) {
			t.Errorf("%s: the note stays: %s", tt.name, got)
		}
	}
}

// TestNoteGoesWithARename saves as "sed -i" does, by a temporary file whose name could be
// a person's: once it is the document, no note is left.
func TestNoteGoesWithARename(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	const agent = "User-Agent: davfs2/1.6.1"
	for _, step := range [][]string{
		{"sam PUT /dav/Workflow/Schedule/sedAbCdEf", agent, `> {"route": "bug", "type": "cron", "hour": 22}`},
		{"sam MOVE /dav/Workflow/Schedule/sedAbCdEf", agent, "Destination: /dav/Workflow/Schedule/nightly.json"},
		{"sam PUT /dav/Workflow/Schedule/first", agent, "> text"},
		{"sam MOVE /dav/Workflow/Schedule/first", agent, "Destination: /dav/Workflow/Schedule/second.tmp"},
	} {
		if rec := d.ask(t, step[0], step[1:]...); rec.Code != 201 {
			t.Fatal(step[0], rec.Code, rec.Body)
		}
	}
	if rec := d.ask(t, "sam GET /dav/Workflow/Schedule/Rejected/", agent); rec.Code != 404 {
		t.Error(rec.Code, rec.Body)
	}
	// An entry that is given another kind of name goes on firing.
	if rec := d.ask(t, "sam MOVE /dav/Workflow/Schedule/nightly.json", agent, "Destination: /dav/Workflow/Schedule/nightly.txt"); rec.Code != 201 {
		t.Fatal(rec.Code, rec.Body)
	}
	rec := d.ask(t, "sam GET /dav/Workflow/Schedule/Rejected/20121109T123456Z%20nightly.txt.txt", agent)
	if !strings.Contains(rec.Body.String(), "still in force") {
		t.Error(rec.Code, rec.Body)
	}
}

// TestConflictIsKept keeps what a condition or a lock refused, with the version that is
// stored: some clients lose the text without a word.
func TestConflictIsKept(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	const at = "/dav/Workflow/Schedule/a.json"
	stored := `{"route": "bug", "type": "cron", "hour": 22, "context": "ops"}`
	mine := `{"route": "bug", "type": "cron", "hour": 21, "context": "ops"}`
	if rec := d.ask(t, "sam PUT "+at, "> "+stored); rec.Code != 201 {
		t.Fatal(rec.Code, rec.Body)
	}
	read := func(name string) string {
		return d.ask(t, "sam GET /dav/Workflow/Schedule/Rejected/20121109T123456Z%20"+name, "User-Agent: davfs2/1.6.1").Body.String()
	}
	check := func(reason string) {
		t.Helper()
		if got := read("a.json"); strings.TrimSpace(got) != mine {
			t.Errorf("what was sent is kept as %q", got)
		}
		if got := read("a.json.txt"); !strings.Contains(got, reason) || !strings.Contains(got, stored) {
			t.Errorf("the note does not have %q and the stored version:\n%s", reason, got)
		}
		d.ask(t, "sam DELETE /dav/Workflow/Schedule/Rejected/", "User-Agent: davfs2/1.6.1")
	}
	if rec := d.ask(t, "sam PUT "+at, "User-Agent: davfs2/1.6.1", `If-Match: "other"`, "> "+mine); rec.Code != 412 {
		t.Fatal(rec.Code, rec.Body)
	}
	check("has changed since")
	if rec := d.ask(t, "sam PUT "+at, "User-Agent: davfs2/1.6.1", "If-None-Match: *", "> "+mine); rec.Code != 412 {
		t.Fatal(rec.Code, rec.Body)
	}
	check("of this name already")
	if rec := d.ask(t, "ann LOCK /dav/Workflow/Schedule/a@sam.json", `> <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`); rec.Code != 200 {
		t.Fatal(rec.Code, rec.Body)
	}
	if rec := d.ask(t, "sam PUT "+at, "User-Agent: gvfs/1.50.3", "> "+mine); rec.Code != 423 {
		t.Fatal(rec.Code, rec.Body)
	}
	check("is locked until")
	if rec := d.ask(t, "sam PUT "+at, "User-Agent: curl/8", "> "+mine); rec.Code != 423 {
		t.Fatal(rec.Code, rec.Body)
	}
	if got := read("a.json"); !strings.Contains(got, "nothing at this address") {
		t.Errorf("what a script sends is kept: %s", got)
	}
	d.ask(t, "sam PUT /dav/Workflow/Schedule/b.json", "> "+mine)
	for _, method := range []string{"COPY", "MOVE"} { // a client asks its user whether to overwrite
		if rec := d.ask(t, "sam "+method+" /dav/Workflow/Schedule/b.json", "User-Agent: gvfs/1.50.3", "Destination: "+at, "Overwrite: F"); rec.Code != 412 {
			t.Fatal(rec.Code, rec.Body)
		}
	}
	if rec := d.ask(t, "sam GET /dav/Workflow/Schedule/Rejected/", "User-Agent: gvfs/1.50.3"); rec.Code != 404 {
		t.Errorf("a question whether something is there leaves %s", rec.Body)
	}
}

// TestOwnFolders: only programs make folders beside documents.
func TestOwnFolders(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	for path, want := range map[string]int{
		"Schedule/Nights": 403, "Routes/Old": 403, "Cases/untitled%20folder": 403, "Schedule/.Trash-1000": 201, "Cases/a.sb-12-x": 201, "Routes/backup~": 201,
	} {
		rec := d.ask(t, "sam MKCOL /dav/Workflow/"+path, "User-Agent: davfs2/1.6.1")
		if rec.Code != want || want == 403 && !strings.Contains(rec.Body.String(), "would do nothing") {
			t.Errorf("%s: %d %s, want %d", path, rec.Code, rec.Body, want)
		}
	}
	if rec := d.ask(t, "sam MKCOL /dav/Workflow/Schedule/.Trash-1000/files", "User-Agent: davfs2/1.6.1"); rec.Code != 201 {
		t.Error(rec.Code, rec.Body)
	}
	for _, path := range []string{"Schedule/.Trash-1000", "Schedule/.Trash-1000/files"} {
		rec := d.ask(t, "sam MOVE /dav/Workflow/"+path, "User-Agent: davfs2/1.6.1", "Destination: /dav/Workflow/Schedule/Nights")
		if rec.Code != 403 {
			t.Errorf("%s became a folder of one's own: %d %s", path, rec.Code, rec.Body)
		}
	}
}

// TestFilesWhereDocumentsAre saves what is not a document where only documents are read: the
// note says where such a file belongs. A document in YAML is to be saved as that.
func TestFilesWhereDocumentsAre(t *testing.T) {
	t.Parallel()
	newScene(t).play(strings.ReplaceAll(`
		davfs2 PUT Cases/offer.pdf | %PDF-1.7 pixels | 201
		davfs2 GET Cases/Rejected/@offer.pdf.txt | | 200 | (?s:.*start a case with it, save it in Workflow/Routes/<route>/.*attach it to a case, save it in Workflow/Cases/<number>/Files/.*keep it, save it in Documents/sam/.*)
		davfs2 PUT Worklist/Offered/offer.pdf | %PDF-1.7 pixels | 201
		davfs2 GET Worklist/Offered/Rejected/@offer.pdf.txt | | 200 | (?s:.*done by its own file.*save it in Workflow/Cases/<number>/Files/.*)
		davfs2 PUT Cases/18/Actions/offer.pdf | %PDF-1.7 pixels | 201
		davfs2 GET Cases/18/Actions/Rejected/@offer.pdf.txt | | 200 | (?s:.*save it in Workflow/Cases/18/Files/.*)
		davfs2 PUT Cases/lamp.txt | route: tip | 201
		davfs2 GET Cases/Rejected/@lamp.txt.txt | | 200 | (?s:.*Save it as lamp.yaml instead.*)
		davfs2 PUT Routes/bug/Board/open/offer.pdf | pixels | 404 | .*To start a case with a file, save it in /dav/Workflow/Routes/bug/; to attach it to a case, in Workflow/Cases/<number>/Files/.*
		davfs2 PUT Routes/bug/Board/offer.pdf | pixels | 404 | .*To start a case with a file, save it in /dav/Workflow/Routes/bug/.*
		davfs2 GET Status/refused.txt | | 200 | (?s:.*   /dav/Workflow/Cases/lamp.txt\n  /dav/Workflow/Cases/lamp.txt is kept as [^\n]*\n  Here only names that end [^\n]*Save it as lamp.yaml instead.*)
	`, "@", "20261120T120000Z~~"))
}

// TestHiddenDocumentOfAScript: a script that sends a document under a name which nothing reads
// is told so. What it writes to rename it is a temporary file, as before.
func TestHiddenDocumentOfAScript(t *testing.T) {
	t.Parallel()
	newScene(t).play(`
		curl PUT Cases/.hidden.json | {"route":"bug"} | 422 | .*".hidden.json" is that of a temporary file, which nothing reads here.*
		curl PUT Schedule/.nightly.yaml | {"route":"bug"} | 422
		curl GET Cases/.hidden.json | | 404
		curl PUT Cases/lamp.json.part | {"route":"bug"} | 201
		curl MOVE Cases/lamp.json.part -> Cases/lamp.json | | 201
		davfs2 PUT Cases/.hidden.json | {"route":"bug"} | 201
	`)
}
