package davfs

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"flowdrive/engine"
)

// TestDocumentsAreListedAtOnce: a listing asks the engine what the path names
// and once for all that is below it, however much that is.
func TestDocumentsAreListedAtOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		request, depth string
		want           int
	}{
		{"PROPFIND /dav/Documents/sam/reports/", "1", 601},
		{"PROPFIND /dav/Documents/sam/", "infinity", 602},
		{"PROPFIND /dav/Documents/sam/reports/", "0", 1},
	} {
		d := newTestDrive(t)
		d.fillDocuments(t, "reports", 600, nil)
		before := d.store.asked()
		rec := d.ask(t, "sam "+tt.request, "Depth: "+tt.depth)
		if got := strings.Count(rec.Body.String(), "<D:href>"); got != tt.want {
			t.Errorf("%s, depth %s: %d members, want %d", tt.request, tt.depth, got, tt.want)
		}
		if asked := d.store.asked() - before; asked > 4 {
			t.Errorf("%s, depth %s: %d questions, want at most 4", tt.request, tt.depth, asked)
		}
	}
}

// TestTreesAreBounded: an answer of infinite depth is refused where it would
// be too large, and everything can be asked folder by folder.
func TestTreesAreBounded(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	d.fillDocuments(t, "many", maxTree, nil)
	for path, want := range map[string]int{"/dav/Documents/sam/many": 207, "/dav/Documents/sam": 403, "/dav/Documents": 403} {
		if rec := d.ask(t, "sam PROPFIND "+path, "Depth: infinity", "> <propfind xmlns=\"DAV:\"><propname/></propfind>"); rec.Code != want {
			t.Errorf("%s: got %d, want %d", path, rec.Code, want)
		}
	}
}

// TestMakeFolderWithChunkedBody: a body is seen also where its length is not
// announced; none is none.
func TestMakeFolderWithChunkedBody(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{"": http.StatusCreated, "x": http.StatusUnsupportedMediaType} {
		d := newTestDrive(t)
		r := d.request(t, []string{"sam MKCOL /dav/Documents/sam/new", "> " + body}, "")
		r.ContentLength = -1
		r.Header.Set("Content-Type", "xzy-foo/bar")
		rec := httptest.NewRecorder()
		d.handler.ServeHTTP(rec, r)
		if rec.Code != want {
			t.Errorf("body %q: got %d, want %d", body, rec.Code, want)
		}
	}
}

// TestDeleteOfAFolderIsWhole: a depth that is not infinite deletes nothing.
func TestDeleteOfAFolderIsWhole(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path, depth string
		want        int
	}{
		{"/dav/Documents/sam/reports/", "0", http.StatusBadRequest},
		{"/dav/Documents/sam/reports", "1", http.StatusBadRequest},
		{"/dav/Documents/sam/reports", "", http.StatusBadRequest},
		{"/dav/Documents/sam/reports/", "Infinity", http.StatusNoContent},
		{"/dav/Documents/sam/reports/00000.txt", "0", http.StatusNoContent}, // no collection
	} {
		d := newTestDrive(t)
		d.fillDocuments(t, "reports", 2, nil)
		before := d.documents(t)
		if rec := d.ask(t, "sam DELETE "+tt.path, "Depth: "+tt.depth); rec.Code != tt.want {
			t.Errorf("%s, depth %q: got %d, want %d", tt.path, tt.depth, rec.Code, tt.want)
		}
		if gone := d.documents(t) < before; gone != (tt.want == http.StatusNoContent) {
			t.Errorf("%s, depth %q: gone is %t", tt.path, tt.depth, gone)
		}
	}
}

// TestDocumentsAlone: files of Documents/ need nothing of the engine but
// documents.
func TestDocumentsAlone(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t, func(c *Config) { c.Engine = Engine{Documents: c.Engine.Documents} })
	for _, tt := range []struct {
		line string
		want int
	}{
		{"sam MKCOL /dav/Documents/sam/new", 201},
		{"sam PUT /dav/Documents/sam/new/a.txt", 201},
		{"sam GET /dav/Documents/sam/new/a.txt", 200},
		{"sam GET /dav/Documents/sam/new/", 200},
		{"sam GET /dav/Documents/sam/new/.ls", 200},
		{"sam OPTIONS /dav/Documents/sam/new/a.txt", 200},
		{"sam DELETE /dav/Documents/sam/new/a.txt", 204},
	} {
		var body []string
		if strings.Contains(tt.line, " PUT ") {
			body = []string{"> one"}
		}
		if rec := d.ask(t, tt.line, body...); rec.Code != tt.want {
			t.Errorf("%s: got %d %s", tt.line, rec.Code, rec.Body)
		}
	}
}

// TestMountsAreToldOfAFullQuota: a mount shows no reasons, and some say nothing at all. So
// they lie in .history/ of the folder, once however often the file is sent, and nothing of it.
func TestMountsAreToldOfAFullQuota(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	d.close(t)
	d.limits = engine.Limits{Quota: 2000}
	d.serve(t)
	if rec := d.ask(t, "sam PUT /dav/Documents/sam/first", "> "+strings.Repeat("x", 1100)); rec.Code != http.StatusCreated {
		t.Fatalf("got %d %s", rec.Code, rec.Body)
	}
	for range 2 {
		for agent, name := range map[string]string{"gvfs/1.50.3": "mounted.txt", "curl/7.88.1": "script.txt"} {
			rec := d.ask(t, "sam PUT /dav/Documents/sam/"+name, "User-Agent: "+agent, "> "+strings.Repeat("y", 1100))
			if rec.Code != http.StatusInsufficientStorage {
				t.Errorf("%s: got %d %s", name, rec.Code, rec.Body)
			}
		}
	}
	list := d.ask(t, "sam GET /dav/Documents/sam/.history/.ls").Body.String()
	if strings.Count(list, `"name"`) != 1 {
		t.Errorf("in .history/: %s", list)
	}
	note := d.ask(t, "sam GET /dav/Documents/sam/.history/20121109T123456Z%20mounted%20(not%20saved).txt.txt")
	if note.Code != http.StatusOK || !strings.Contains(note.Body.String(), "more than the 2000 bytes") || !strings.Contains(note.Body.String(), "Save it somewhere else") {
		t.Errorf("got %d %s", note.Code, note.Body)
	}
}

// TestFullQuotaIsTold: who has stored as much as one may is told
// so, by 507.
func TestFullQuotaIsTold(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	d.close(t)
	d.limits = engine.Limits{Quota: 5}
	d.serve(t)
	if rec := d.ask(t, "sam PUT /dav/Documents/sam/all.txt", "> 12345"); rec.Code != http.StatusCreated {
		t.Errorf("got %d %s", rec.Code, rec.Body)
	}
	rec := d.ask(t, "sam PUT /dav/Documents/sam/more.txt", "> x")
	if rec.Code != http.StatusInsufficientStorage || !strings.HasPrefix(rec.Body.String(), "full: ") {
		t.Errorf("got %d %s", rec.Code, rec.Body)
	}
}
