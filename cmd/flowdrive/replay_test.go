package main

import (
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestReplay plays what real clients were seen to send when they save, and
// wants every answer as the client needs it. A line is a request and its
// status, in order:
//
//	METHOD path [; Header: value]… [> body] = status [~ what the body matches]
//
// "@" is the folder, TOKEN and ETAG are of the last answer that had one. What
// is stored in the end, an administrator reads.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, agent, at string
		script          string
	}{
		{"Windows saves a new file", "Microsoft-WebDAV-MiniRedir/10.0.19045", "/dav/Workflow/Schedule", `
			OPTIONS / = 200
			PROPFIND / ; Depth: 0 = 207
			PROPFIND /dav/ ; Depth: 0 = 207
			PROPFIND @/ ; Depth: 0 = 207
			PROPFIND @/desktop.ini ; Depth: 0 = 404
			PROPFIND @/Thumbs.db ; Depth: 0 = 404
			PROPFIND @/nightly.json ; Depth: 0 = 404
			PUT @/nightly.json = 201
			LOCK @/nightly.json ; Timeout: Second-3600 ; translate: f > LOCKINFO = 200
			HEAD @/nightly.json ; translate: f = 200
			PUT @/nightly.json ; If: (<TOKEN>) > {"route": "collector", "type": "interval", "days": 1} = 201
			PROPFIND @/nightly.json ; Depth: 0 = 207 ~ getcontentlength>53<
			UNLOCK @/nightly.json ; Lock-Token: <TOKEN> = 204
			PROPFIND @/ ; Depth: 1 = 207 ~ nightly\.json
			LOCK @/nightly.json ; Timeout: Second-3600 ; translate: f > LOCKINFO = 200
			PUT @/nightly.json ; If: (<TOKEN>) > {"minutes": = 400
			UNLOCK @/nightly.json ; Lock-Token: <TOKEN> = 204
			DELETE @/nightly.json = 204
			GET @/nightly.json = 200 ~ "days": 1
			PROPFIND @/Rejected/ ; Depth: 1 = 207 ~ nightly\.json\.txt`},
		{"Finder saves a new file", "WebDAVFS/3.0.0 (03008000) Darwin/22.1.0 (x86_64)", "/dav/Workflow/Schedule", `
			OPTIONS /dav/ = 200
			PROPFIND @/ ; Depth: 0 = 207
			PROPFIND @/.DS_Store ; Depth: 0 = 404
			PROPFIND @/._. ; Depth: 0 = 404
			PROPFIND @/mach_kernel ; Depth: 0 = 404
			PROPFIND @/.metadata_never_index ; Depth: 0 = 404
			PROPFIND @/nightly.json ; Depth: 0 = 404
			PUT @/nightly.json = 201
			LOCK @/nightly.json ; Depth: 0 ; Timeout: Second-600 > LOCKINFO = 200
			PUT @/nightly.json ; If: (<TOKEN>) ; X-Expected-Entity-Length: 53 > {"route": "collector", "type": "interval", "days": 1} = 201
			PROPFIND @/nightly.json ; Depth: 0 = 207 ~ getcontentlength>53<
			LOCK @/nightly.json ; If: (<TOKEN>) ; Timeout: Second-600 = 200
			UNLOCK @/nightly.json ; Lock-Token: <TOKEN> = 204
			PUT @/._nightly.json = 201
			LOCK @/._nightly.json ; Depth: 0 ; Timeout: Second-600 > LOCKINFO = 200
			PUT @/._nightly.json ; If: (<TOKEN>) > resource fork = 204
			UNLOCK @/._nightly.json ; Lock-Token: <TOKEN> = 204
			PROPFIND @/ ; Depth: 1 = 207 ~ nightly\.json.*\._nightly\.json
			DELETE @/._nightly.json = 204
			GET @/nightly.json = 200 ~ "days": 1`},
		{"davfs2 saves a new file", "davfs2/1.6.1 neon/0.32.5", "/dav/Workflow/Schedule", `
			PROPFIND @/ ; Depth: 1 = 207
			LOCK @/nightly.json ; Depth: 0 ; Timeout: Second-1800 > LOCKINFO = 201
			HEAD @/nightly.json = 200
			PUT @/nightly.json ; If: <http://example.com@/nightly.json> (<TOKEN>) ; If-Match: ETAG > {"route": "collector", "type": "interval", "days": 1} = 201
			UNLOCK @/nightly.json ; Lock-Token: <TOKEN> = 204
			PROPFIND @/ ; Depth: 1 = 207 ~ nightly\.json
			LOCK @/nightly.json ; Depth: 0 ; Timeout: Second-1800 > LOCKINFO = 200
			PUT @/nightly.json ; If: <http://example.com@/nightly.json> (<TOKEN>) ; If-Match: ETAG > {"type": 1} = 415
			UNLOCK @/nightly.json ; Lock-Token: <TOKEN> = 204
			LOCK @/other.json ; Depth: 0 ; Timeout: Second-1800 > LOCKINFO = 201
			UNLOCK @/other.json ; Lock-Token: <TOKEN> = 204
			GET @/other.json = 404
			GET @/nightly.json = 200 ~ "days": 1`},
		{"sed -i on davfs2", "davfs2/1.6.1 neon/0.32.5", "/dav/Workflow/Schedule", `
			PUT @/nightly.json > {"route": "collector", "type": "interval", "days": 2} = 201
			LOCK @/sedAbCdEf ; Depth: 0 ; Timeout: Second-1800 > LOCKINFO = 201
			HEAD @/sedAbCdEf = 200
			MOVE @/sedAbCdEf ; Destination: http://example.com@/nightly.json ; Overwrite: T ; If: <http://example.com@/sedAbCdEf> (<TOKEN>) = 204
			LOCK @/nightly.json ; Depth: 0 ; Timeout: Second-1800 > LOCKINFO = 200
			HEAD @/nightly.json = 200
			PUT @/nightly.json ; If: <http://example.com@/nightly.json> (<TOKEN>) ; If-Match: ETAG > {"route": "collector", "type": "interval", "days": 1} = 204
			UNLOCK @/nightly.json ; Lock-Token: <TOKEN> = 204
			GET @/sedAbCdEf = 404
			GET @/nightly.json = 200 ~ "days": 1
			PROPFIND @/.history/ ; Depth: 1 = 207 ~ %20nightly\.json`},
		{"vim on davfs2", "davfs2/1.6.1 neon/0.32.5", "/dav/Workflow/Schedule", `
			PUT @/nightly.json > {"route": "collector", "type": "interval", "days": 2} = 201
			LOCK @/.nightly.json.swp ; Depth: 0 > LOCKINFO = 201
			HEAD @/.nightly.json.swp = 200
			LOCK @/.nightly.json.swx ; Depth: 0 > LOCKINFO = 201
			PUT @/.nightly.json.swx ; If: <http://example.com@/.nightly.json.swx> (<TOKEN>) = 204
			UNLOCK @/.nightly.json.swx ; Lock-Token: <TOKEN> = 204
			DELETE @/.nightly.json.swx = 204
			PUT @/4913 = 201
			DELETE @/4913 = 204
			MOVE @/nightly.json ; Destination: http://example.com@/nightly.json~ ; Overwrite: T = 201
			HEAD @/nightly.json = 404
			LOCK @/nightly.json ; Depth: 0 > LOCKINFO = 201
			HEAD @/nightly.json = 200
			PUT @/nightly.json ; If: <http://example.com@/nightly.json> (<TOKEN>) ; If-Match: ETAG > {"route": "collector", "type": "interval", "days": 1} = 204
			UNLOCK @/nightly.json ; Lock-Token: <TOKEN> = 204
			DELETE @/nightly.json~ = 204
			GET @/nightly.json = 200 ~ "days": 1`},
		{"rclone saves", "rclone/v1.60.1-DEV", "/dav/Workflow/Schedule", `
			PROPFIND @/ ; Depth: 1 = 207
			MKCOL @/ = 405
			PUT @/new.json > {"route": "collector", "type": "interval", "days": 1} = 201
			PROPFIND @/new.json ; Depth: 1 = 207 ~ getcontentlength>53<
			PROPFIND @/ ; Depth: 1 = 207 ~ new\.json
			PUT @/new.json > {"route": "collector", "type": "interval", "days": 1} = 201
			PUT @/nightly.json > {"route": "collector", "type": "interval", "days": 1} = 201
			PROPFIND @/nightly.json ; Depth: 1 = 207 ~ getcontentlength>53<
			PUT @/nightly.json > {"type": 1} = 422
			DELETE @/nightly.json = 204
			GET @/nightly.json = 200 ~ "days": 1`},
		{"rclone renames onto an entry, which is refused", "rclone/v1.60.1-DEV", "/dav/Workflow/Schedule", `
			PUT @/nightly.json > {"route": "collector", "type": "interval", "days": 1} = 201
			PUT @/.nightly.tmp > {"type": 1} = 201
			PROPFIND @/nightly.json ; Depth: 1 = 207
			DELETE @/nightly.json = 204
			MKCOL @/ = 405
			MOVE @/.nightly.tmp ; Destination: http://example.com@/nightly.json ; Overwrite: F = 422
			GET @/nightly.json = 200 ~ "days": 1
			GET @/.nightly.tmp = 200 ~ "type": 1`},
		{"rclone changes a case and performs", "rclone/v1.60.1-DEV", "/dav/Workflow/Cases", `
			PUT @/fire.json > {"route": "bug", "title": "Fire", "roles": {"assignee": ["admin"]}} = 201
			PROPFIND @/fire.json ; Depth: 1 = 207
			PUT CASE.json > {"title": "Smoke"} = 204
			PROPFIND CASE.json ; Depth: 1 = 207 ~ getcontentlength>18<
			GET CASE.json ; Range: bytes=0-7 = 206
			MKCOL CASE/Actions = 405
			PUT CASE/Actions/resolve.json > {"comment": "Put out."} = 204
			PROPFIND CASE/Actions/resolve.json ; Depth: 1 = 207 ~ getcontentlength>23<
			PUT CASE/Actions/resolve.json > {"comment": "Put out."} = 204
			GET CASE/log.txt = 200 ~ Put out`},
		{"gvfs deletes before it writes", "gvfs/1.50.3", "/dav/Workflow/Schedule", `
			PUT @/nightly.json > {"route": "collector", "type": "interval", "days": 2} = 201
			PROPFIND @/nightly.json ; Depth: 1 = 207
			DELETE @/nightly.json = 204
			PUT @/nightly.json = 201
			PUT @/nightly.json > {"route": "collector", "type": "interval", "days": 1} = 201
			GET @/nightly.json = 200 ~ "days": 1`},
		{"davfs2 saves a scenario and the route that it goes with", "davfs2/1.6.1 neon/0.32.5", "/dav/Workflow/Routes", `
			PUT @/own.yaml > {states: {a: {type: start}, b: {type: complete}}, actions: {begin: {trigger: init}, end: {trigger: auto, in: [a], to: b}}} = 201
			PUT @/own.scenario.yaml > {as: admin, steps: [{start: {}, expect: {status: b}}]} = 201
			PUT @/own.scenario.yaml > {as: admin, steps: [{start: {}, expect: {status: c}}]} = 415 ~ kept for you all the same
			GET @/own.scenario.yaml = 200 ~ status: b
			PROPFIND @/Rejected/ ; Depth: 1 = 207 ~ own\.scenario
			PUT @/own.yaml > {states: {a: {type: start}, c: {type: complete}}, actions: {begin: {trigger: init}, end: {trigger: auto, in: [a], to: c}}} = 204
			GET @/own.yaml = 200 ~ to: c
			GET @/own.scenario.yaml = 200 ~ status: c
			PROPFIND @/.history/ ; Depth: 1 = 207 ~ own\.scenario`},
		{"Office saves by two names", "Microsoft Office Word 2014 (16.0.5134)", "/dav/Workflow/Routes", `
			PUT @/copy.yaml > {states: {a: {type: start}, b: {type: complete}}, actions: {begin: {trigger: init}, end: {trigger: auto, in: [a], to: b}}} = 201
			PUT @/~$copy.yaml > owner = 201
			PUT @/1A2B3C.tmp > {states: {a: {type: start}, b: {type: complete}}, actions: {begin: {trigger: init}, finish: {trigger: auto, in: [a], to: b}}} = 201
			MOVE @/copy.yaml ; Destination: http://example.com@/4D5E6F.tmp ; Overwrite: F = 201
			MOVE @/1A2B3C.tmp ; Destination: http://example.com@/copy.yaml ; Overwrite: F = 204
			DELETE @/4D5E6F.tmp = 204
			DELETE @/~$copy.yaml = 204
			GET @/copy.yaml = 200 ~ finish: {trigger: auto`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			withServer(t, func(s *inProcess) {
				(&replay{inProcess: s, agent: tt.agent, at: tt.at}).play(t, tt.script)
			})
		})
	}
}

// TestReplayWindows saves as Windows does in every folder of the workflow: a new
// file, and the file again. Windows takes any refusal between its LOCK and its
// UNLOCK for a failed save, also of the time stamps, and makes it again.
func TestReplayWindows(t *testing.T) {
	t.Parallel()
	const (
		create = `
			PROPFIND @/NAME ; Depth: 0 = 404
			PUT @/NAME = 201`
		save = `
			PROPFIND @/NAME ; Depth: 0 = 207
			LOCK @/NAME ; Timeout: Second-3600 ; translate: f > LOCKINFO = LOCKED
			PROPPATCH @/NAME ; If: (<TOKEN>) > STAMPS = 207 ~ HTTP/1.1 200 OK
			HEAD @/NAME ; translate: f = 200
			PUT @/NAME ; If: (<TOKEN>) ; translate: f > BODY = DONE
			PROPPATCH @/NAME ; If: (<TOKEN>) > STAMPS = 207 ~ HTTP/1.1 200 OK
			PROPFIND @/NAME ; Depth: 0 = 207
			UNLOCK @/NAME ; Lock-Token: <TOKEN> = 204`
	)
	fill := func(script, name, body, locked, done string) string {
		return strings.NewReplacer("NAME", name, "BODY", body, "LOCKED", locked, "DONE", done).Replace(script)
	}
	const route = `{states: {a: {type: start}, b: {type: complete}}, actions: {begin: {trigger: init}, end: {trigger: auto, in: [a], to: b}}}`
	for _, tt := range []struct{ name, at, before, script, after string }{
		{
			"a schedule entry", "/dav/Workflow/Schedule", "",
			create + fill(save, "n.json", `{"route": "collector", "type": "interval", "days": 1}`, "200", "201") +
				fill(save, "n.json", `{"route": "collector", "type": "interval", "days": 2}`, "200", "204"),
			"GET @/n.json = 200 ~ \"days\": 2",
		},
		{
			"a route", "/dav/Workflow/Routes", "",
			create + fill(save, "own.yaml", route, "200", "201") + fill(save, "own.yaml", route+" # again", "200", "204"),
			"GET @/own.yaml = 200 ~ again",
		},
		{
			"a scenario", "/dav/Workflow/Routes", `PUT @/own.yaml > ` + route + ` = 201`,
			create + fill(save, "own.scenario.yaml", "{as: admin, steps: [{start: {}}]}", "200", "201") +
				fill(save, "own.scenario.yaml", "{as: admin, steps: [{start: {}, expect: {status: b}}]}", "200", "204"),
			"GET @/own.scenario.yaml = 200 ~ status",
		},
		{
			"a case", "/dav/Workflow/Cases", "",
			create + fill(save, "fire.json", `{"route": "bug", "title": "Fire"}`, "200", "201") +
				fill(save, "fire.json", `{"route": "bug", "title": "Smoke"}`, "200", "204"),
			"GET @/.ls = 200 ~ ^\\[\\n[^\\n]*\\n\\]\\n$",
		},
		{
			"a dropped file", "/dav/Workflow/Routes/bug", "",
			create + fill(save, "report.txt", "It burns.", "200", "201") + fill(save, "report.txt", "It burns more.", "201", "201"),
			"GET @/.ls = 200 ~ ^\\[\\n[^\\n]*\\n[^\\n]*\\n\\]\\n$",
		},
		{
			"an action", "/dav/Workflow/Cases",
			`PUT @/fire.json > {"route": "bug", "title": "Fire", "roles": {"assignee": ["admin"]}} = 201
			PUT CASE/Actions/resolve.json = 204`,
			strings.ReplaceAll(fill(save, "resolve.json", `{"comment": "Put out."}`, "200", "204"), "@/", "CASE/Actions/"),
			"GET CASE/log.txt = 200 ~ Put out",
		},
		{
			"a label", "/dav/Workflow/Cases", `PUT @/fire.json > {"route": "bug", "title": "Fire", "roles": {"assignee": ["admin"]}} = 201`,
			strings.ReplaceAll(create+fill(save, "note", "smoke", "200", "201")+fill(save, "note", "flames", "200", "204"), "@/", "CASE/Labels/"),
			"GET CASE/Labels/note = 200 ~ flames",
		},
		{
			"a timer", "/dav/Workflow/Cases", `PUT @/fire.json > {"route": "bug", "title": "Fire", "roles": {"assignee": ["admin"]}} = 201`,
			strings.ReplaceAll(fill(save, "comment.due.json", `{"limit": "P3D"}`, "200", "204")+fill(save, "comment.due.json", `{"limit": "P4D"}`, "200", "204"), "@/", "CASE/Timers/"),
			"GET CASE/Timers/comment.due.json = 200 ~ P4D",
		},
		{
			"a task of the worklist", "/dav/Workflow/Cases", `PUT @/fire.json > {"route": "bug", "title": "Fire", "roles": {"assignee": ["admin"]}} = 201`,
			strings.ReplaceAll(fill(save, "NUMBER.resolve.json", `{"comment": "Put out."}`, "200", "204"), "@/", "/dav/Workflow/Worklist/Offered/"),
			"GET CASE/log.txt = 200 ~ Put out",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			withServer(t, func(s *inProcess) {
				r := &replay{inProcess: s, agent: "Microsoft-WebDAV-MiniRedir/10.0.19045", at: tt.at}
				name := regexp.MustCompile(`LOCK \S*/(\S+) `).FindStringSubmatch(tt.script)[1]
				r.play(t, strings.ReplaceAll(tt.before+"\n"+tt.script+"\n"+tt.after, "NAME", name))
			})
		})
	}
}

// replay is a client that repeats what was recorded.
type replay struct {
	*inProcess
	agent, at         string
	token, etag, made string
}

const lockInfo = `<?xml version="1.0"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>`

var recorded = regexp.MustCompile(`^(\S+) (\S+)((?: ; [^>]*?(?:<[^>]*>[^>]*?)*)*)(?: > (.*?))? = (\d+)(?: ~ (.*))?$`)

const stamps = `<?xml version="1.0"?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop>` +
	`<Z:Win32CreationTime>Thu, 08 Nov 2012 07:00:00 GMT</Z:Win32CreationTime><Z:Win32LastAccessTime>Thu, 08 Nov 2012 07:00:00 GMT</Z:Win32LastAccessTime>` +
	`<Z:Win32LastModifiedTime>Thu, 08 Nov 2012 07:00:00 GMT</Z:Win32LastModifiedTime><Z:Win32FileAttributes>00000020</Z:Win32FileAttributes>` +
	`</D:prop></D:set></D:propertyupdate>`

func (r *replay) play(t *testing.T, script string) {
	t.Helper()
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" {
			r.step(t, line)
		}
	}
}

func (r *replay) step(t *testing.T, line string) {
	t.Helper()
	m := recorded.FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("no request: %s", line)
	}
	fill := strings.NewReplacer("@", r.at, "TOKEN", r.token, "ETAG", r.etag, "CASE", r.made, "NUMBER", path.Base(r.made), "LOCKINFO", lockInfo, "STAMPS", stamps)
	header := []string{"User-Agent", r.agent}
	for field := range strings.SplitSeq(m[3], " ; ") {
		if name, value, ok := strings.Cut(field, ": "); ok {
			header = append(header, name, strings.TrimSpace(fill.Replace(value)))
		}
	}
	w := r.as("admin", m[1], fill.Replace(m[2]), fill.Replace(m[4]), header...)
	if got := fmt.Sprint(w.Code); got != m[5] {
		t.Fatalf("%s\ngot %s %s", line, got, w.Body)
	}
	if m[6] != "" && !regexp.MustCompile("(?s)"+m[6]).MatchString(w.Body.String()) {
		t.Fatalf("%s\ngot %s", line, w.Body)
	}
	if token := w.Header().Get("Lock-Token"); token != "" {
		r.token = strings.Trim(token, "<>")
	}
	if etag := w.Header().Get("Etag"); etag != "" {
		r.etag = etag
	}
	if r.made == "" && m[1] == http.MethodPut && w.Code == http.StatusCreated && strings.HasSuffix(r.at, "/Cases") {
		r.made = strings.TrimSuffix(w.Header().Get("Location"), ".json")
	}
}
