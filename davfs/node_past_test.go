package davfs

import (
	"net/http"
	"strings"
	"testing"
)

// TestDocumentHistoryOnADrive: what was overwritten or deleted is found, taken back and
// deleted by methods that every client has.
func TestDocumentHistoryOnADrive(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	for _, tt := range []struct {
		line string
		args []string
		want int
		says string
	}{
		{"sam PUT /dav/Documents/sam/a.txt", []string{"> one"}, 201, ""},
		{"sam GET /dav/Documents/sam/.history/", nil, 200, "<table>"},
		{"sam PUT /dav/Documents/sam/a.txt", []string{"> two"}, 204, ""},
		{"sam GET /dav/Documents/sam/.history/20121109T123456Z%20a.txt", nil, 200, "one"},
		{"sam HEAD /dav/Documents/sam/.history/20121109T123456Z%20a.txt", nil, 200, ""},
		{"sam GET /dav/Documents/sam/.history/20121109T123456Z%20b.txt", nil, 404, ""},
		{"bob GET /dav/Documents/sam/.history/20121109T123456Z%20a.txt", nil, 404, ""},
		{"bob GET /dav/Documents/sam/.history/", nil, 404, ""},
		{"sam PROPFIND /dav/Documents/sam/.history", []string{"Depth: 1"}, 207, "20121109T123456Z%20a.txt"},
		{"sam PROPFIND /dav/Documents/sam/.history", []string{"Depth: infinity"}, 403, "propfind-finite-depth"},
		{"sam GET /dav/Documents/sam/.history/.contents", nil, 200, `"author": "sam"`},
		{"sam GET /dav/Documents/sam/.history/.contents", nil, 200, `"replacedBy": "sam"`},
		{"sam GET /dav/Documents/sam/.history/.contents", nil, 200, `"original": "/dav/Documents/sam/a.txt"`},
		{"sam GET /dav/Documents/sam/.history/.ls", nil, 200, "20121109T123456Z%20a.txt"},
		{"sam PUT /dav/Documents/sam/.history/20121109T123456Z%20a.txt", []string{"> x"}, 405, ""},
		{"sam PUT /dav/Documents/sam/.history/x", []string{"> x"}, 404, ""},
		{"sam PUT /dav/Documents/sam/.history", []string{"> x"}, 405, ""},
		{"sam MKCOL /dav/Documents/sam/.history", nil, 405, ""},
		{"sam PROPPATCH /dav/Documents/sam/.history/20121109T123456Z%20a.txt", []string{`> <propertyupdate xmlns="DAV:"><set><prop><x xmlns="urn:x"/></prop></set></propertyupdate>`}, 207, "403"},
		{"sam LOCK /dav/Documents/sam/.history/20121109T123456Z%20a.txt", []string{`> <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`}, 403, ""},
		{"sam LOCK /dav/Documents/sam/.history/", []string{`> <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`}, 403, ""},
		{"sam LOCK /dav/Documents/sam/.history/new", []string{`> <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`}, 404, ""},
		{"sam MKCOL /dav/Documents/sam/.history/new", nil, 403, "where they are given"},
		{"sam POST /dav/Documents/sam/.history/", []string{"> x"}, 405, ""},
		{"sam OPTIONS /dav/Documents/sam/.history/20121109T123456Z%20a.txt", nil, 200, ""},
		{"sam COPY /dav/Documents/sam/.history/", []string{"Destination: /dav/Documents/sam/all"}, 403, "one by one"},
		{"sam MOVE /dav/Documents/sam/.history/", []string{"Destination: /dav/Documents/sam/all"}, 403, "one by one"},
		{"sam MOVE /dav/Documents/sam/a.txt", []string{"Destination: /dav/Documents/sam/.history"}, 403, ""},
		{"sam COPY /dav/Documents/sam/a.txt", []string{"Destination: /dav/Documents/sam/.history/x"}, 409, ""},
		{"sam MOVE /dav/Documents/sam/.history/20121109T123456Z%20a.txt", []string{"Destination: /dav/Workflow/Cases/x.json"}, 403, ""},
		{"bob MOVE /dav/Documents/sam/.history/20121109T123456Z%20a.txt", []string{"Destination: /dav/Documents/bob/x"}, 404, ""},
		{"sam MOVE /dav/Documents/sam/.history/20121109T123456Z%20a.txt", []string{"Destination: /dav/Documents/sam/a.txt", "Overwrite: F"}, 412, ""},
		{"sam MOVE /dav/Documents/sam/.history/20121109T123456Z%20a.txt", []string{"Destination: /dav/Documents/sam/a.txt"}, 204, ""},
		{"sam GET /dav/Documents/sam/a.txt", nil, 200, "one"},
		{"sam DELETE /dav/Documents/sam/a.txt", nil, 204, ""},
		{"sam COPY /dav/Documents/sam/.history/20121109T123456Z%20a.txt", []string{"Destination: /dav/Documents/sam/b.txt"}, 201, ""},
		{"sam GET /dav/Documents/sam/b.txt", nil, 200, "one"},
		{"sam DELETE /dav/Documents/sam/.history/20121109T123456Z%20a.txt", nil, 204, ""},
		{"sam DELETE /dav/Documents/sam/.history/20121109T123456Z%20a.txt", nil, 404, ""},

		{"sam MKCOL /dav/Documents/sam/d", nil, 201, ""},
		{"sam GET /dav/Documents/sam/d/.history/", nil, 404, ""},
		{"sam PUT /dav/Documents/sam/d/e.txt", []string{"> e"}, 201, ""},
		{"sam DELETE /dav/Documents/sam/d/e.txt", nil, 204, ""},
		{"sam GET /dav/Documents/sam/d/.history/20121109T123456Z%20e.txt", nil, 200, "e"},
		{"sam GET /dav/Documents/sam/.history/d/20121109T123456Z%20e.txt", nil, 200, "e"},
		{"sam MOVE /dav/Documents/sam/d/.history/20121109T123456Z%20e.txt", []string{"Destination: /dav/Documents/sam/d/e.txt"}, 201, ""},
		{"sam DELETE /dav/Documents/sam/d/", nil, 204, ""},
		{"sam GET /dav/Documents/sam/.history/20121109T123456Z%20d/e.txt", nil, 200, "e"},
		{"sam COPY /dav/Documents/sam/.history/20121109T123456Z%20d/", []string{"Destination: /dav/Documents/sam/d/"}, 201, ""},
		{"sam GET /dav/Documents/sam/d/e.txt", nil, 200, "e"},
		{"sam MKCOL /dav/Documents/sam/d/.history", nil, 201, ""},
		{"sam PUT /dav/Documents/sam/d/.history/own.txt", []string{"> own"}, 201, ""},
		{"sam DELETE /dav/Documents/sam/d/e.txt", nil, 204, ""},
		{"sam PROPFIND /dav/Documents/sam/d/.history/", []string{"Depth: 1"}, 207, "own.txt"},
		{"sam GET /dav/Documents/sam/.history/d/20121109T123456Z%20e.txt", nil, 200, "e"},
		{"sam DELETE /dav/Documents/sam/.history/", nil, 204, ""},
		{"sam GET /dav/Documents/sam/.history/d/", nil, 404, ""},
	} {
		rec := d.ask(t, tt.line, append(tt.args, "User-Agent: davfs2/1.6.1 neon/0.32.5")...)
		if rec.Code != tt.want || !strings.Contains(rec.Body.String(), tt.says) {
			t.Errorf("%s: got %d, want %d with %q: %s", tt.line, rec.Code, tt.want, tt.says, rec.Body)
		}
	}
}

// TestUnsavedIsKept: what a condition or a lock refused in Documents/ is found with the
// reasons, once, by those who may read the document.
func TestUnsavedIsKept(t *testing.T) {
	t.Parallel()
	const doc, kept = "/dav/Documents/ops/plan.txt", "/dav/Documents/ops/.history/20121109T123456Z%20plan%20(not%20saved)"
	const lock = `> <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`
	large := strings.Repeat("m", 1000)
	for _, tt := range []struct {
		what, agent, header, body string
		lock                      bool
		want                      int
		kept                      string // "-": only the reasons
		says                      string
	}{
		{"a lock", "gvfs/1.50.3", "", "mine", true, 423, "mine", "is locked until"},
		{"a lock, by rclone", "rclone/v1.60.1", "", "mine", true, 423, "mine", "is locked until"},
		{"a condition", "davfs2/1.6.1", `If-Match: "other"`, "mine", false, 412, "mine", "has changed since"},
		{"a large one", "davfs2/1.6.1", `If-Match: "other"`, large, false, 412, "-", "has changed since"},
		{"an empty one", "davfs2/1.6.1", "", "", true, 423, "", ""},
		{"a new file where there is one", "davfs2/1.6.1", "If-None-Match: *", "mine", false, 412, "mine", "of this name already"},
		{"by a script", "curl/8.5.0", "", "mine", true, 423, "", ""},
	} {
		d := newTestDrive(t)
		d.ask(t, "sam PUT "+doc, "> theirs")
		if tt.lock {
			d.ask(t, "sam LOCK "+doc, lock)
		}
		for range 2 {
			args := []string{"User-Agent: " + tt.agent, "> " + tt.body}
			if tt.header != "" {
				args = append(args, tt.header)
			}
			if rec := d.ask(t, "ann PUT "+doc, args...); rec.Code != tt.want {
				t.Errorf("%s: got %d %s", tt.what, rec.Code, rec.Body)
			}
		}
		if got := d.ask(t, "sam GET "+doc).Body.String(); strings.TrimSpace(got) != "theirs" {
			t.Errorf("%s: %q is stored", tt.what, got)
		}
		names := strings.Count(d.ask(t, "sam PROPFIND /dav/Documents/ops/.history/", "Depth: 1").Body.String(), "<D:response>") - 1
		want := map[string]int{"": 0, "-": 1}
		if n, known := want[tt.kept]; !known && names != 2 || known && names != n {
			t.Errorf("%s: %d files are kept", tt.what, names)
		}
		if tt.kept == "" {
			continue
		}
		list := d.ask(t, "sam GET /dav/Documents/ops/.history/.contents").Body.String()
		reasons := d.ask(t, "sam GET "+kept+".txt@ann.txt").Body.String()
		if !strings.Contains(reasons, tt.says) || !strings.Contains(list, `"author": "ann"`) {
			t.Errorf("%s: the reasons are %q; %s", tt.what, reasons, list)
		}
		if got := d.ask(t, "sam GET "+kept+"@ann.txt").Body.String(); tt.kept != "-" && strings.TrimSpace(got) != tt.kept {
			t.Errorf("%s: %q is kept", tt.what, got)
		}
	}
}

// TestHistoryIsNotSynced: programs by which people look see .history/ while it holds
// something, those that keep two folders alike never do.
func TestHistoryIsNotSynced(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	agents := map[string]bool{
		"davfs2/1.6.1 neon/0.32.5": true, "gvfs/1.50.3": true, "WebDAVFS/3.0.0 (03008000) Darwin/21.6.0": true, "cadaver/0.24": true,
		"rclone/v1.60.1": false, "Microsoft-WebDAV-MiniRedir/10.0.19045": false, "Joplin/1.0": false, "Mozilla/5.0 (Linux) mirall/3.7": false, "curl/8.5.0": false,
	}
	listed := func(agent, path, depth string) bool {
		return strings.Contains(d.ask(t, "sam PROPFIND "+path, "Depth: "+depth, "User-Agent: "+agent).Body.String(), historyName)
	}
	for _, text := range []string{"one", "two"} {
		for agent := range agents {
			if listed(agent, "/dav/Documents/sam/", "1") {
				t.Errorf("%s sees a history in which nothing is", agent)
			}
		}
		d.ask(t, "sam PUT /dav/Documents/sam/a.txt", "> "+text)
	}
	d.ask(t, "sam MKCOL /dav/Documents/sam/d")
	for agent, want := range agents {
		if got := listed(agent, "/dav/Documents/sam/", "1"); got != want {
			t.Errorf("%s: listed is %t", agent, got)
		}
		for path, depth := range map[string]string{"/dav/Documents/sam/": "infinity", "/dav/Documents/sam/d/": "1", "/dav/Documents/": "1"} {
			if listed(agent, path, depth) {
				t.Errorf("%s finds it by PROPFIND %s, depth %s", agent, path, depth)
			}
		}
	}
	for agent, want := range map[string]bool{"Mozilla/5.0 Firefox/140.0": true, "curl/8.5.0": false} {
		if got := strings.Contains(d.ask(t, "sam GET /dav/Documents/sam/", "User-Agent: "+agent).Body.String(), historyName); got != want {
			t.Errorf("the page for %s: listed is %t", agent, got)
		}
	}
	if rec := d.ask(t, "bob PROPFIND /dav/Documents/sam/", "Depth: 1", "User-Agent: davfs2/1.6.1"); rec.Code != http.StatusNotFound {
		t.Errorf("got %d %s", rec.Code, rec.Body)
	}
}
