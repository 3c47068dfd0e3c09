package davfs

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"flowdrive/store"
)

// writable is a place of the drive that takes a PUT.
type writable struct {
	node   any // what has the method put; every such type of the package must be here
	name   string
	by     string // sam unless it says otherwise
	path   string // CASE is the number of a case of sam's
	exists bool   // only what is there can be written
	once   bool   // the second PUT finds nothing: what was to be done is done
	bodies [2]string
}

// writables returns all places of the drive that take a PUT. A file is saved there twice.
func writables() []writable {
	const entry, limit = `{"route": "bug", "type": "interval", "days": %d}`, `{"limit": "P%dD"}`
	two := func(form string) [2]string { return [2]string{fmt.Sprintf(form, 1), fmt.Sprintf(form, 2)} }
	text := [2]string{"first", "second, longer"}
	story := [2]string{`{as: sam, steps: [{start: {}}]}`, `{as: sam, steps: [{start: {}, expect: {status: open}}]}`}
	return []writable{
		{node: entryFile{}, name: "a schedule entry", path: "/dav/Workflow/Schedule/p.json", bodies: two(entry)},
		{node: scratchTarget{}, name: "a temporary file", path: "/dav/Workflow/Schedule/p.tmp", bodies: text},
		{node: routeFile{}, name: "a route", path: "/dav/Workflow/Routes/p.yaml", bodies: [2]string{routeOf(), routeOf("sam")}},
		{node: scenarioFile{}, name: "a scenario", path: "/dav/Workflow/Routes/own.scenario.yaml", bodies: story},
		{node: hookFile{}, name: "a hook", path: "/dav/Workflow/Routes/own/Hooks/p.json", bodies: [2]string{`{"rate": "7/minute"}`, `{"rate": "8/minute"}`}},
		{node: dropFile{}, name: "a dropped file", path: "/dav/Workflow/Routes/bug/p.txt", bodies: text},
		{node: caseFile{}, name: "a case", path: "/dav/Workflow/Cases/p.json", bodies: [2]string{`{"route": "bug", "title": "Fire"}`, `{"route": "bug", "title": "Smoke"}`}},
		{node: caseFile{}, name: "a case by its id", path: "/dav/Workflow/Cases/CASE.json", exists: true, bodies: [2]string{`{"title": "Fire"}`, `{"title": "Smoke"}`}},
		{node: actionFile{}, name: "an action", path: "/dav/Workflow/Cases/CASE/Actions/resolve.json", exists: true, once: true, bodies: [2]string{`{"comment": "done"}`}},
		{node: actionFile{}, name: "a task on a list", path: "/dav/Workflow/Worklist/Offered/CASE.resolve.json", exists: true, once: true, bodies: [2]string{`{"comment": "done"}`}},
		{node: timerFile{}, name: "a timer", path: "/dav/Workflow/Cases/CASE/Timers/review.json", exists: true, bodies: two(limit)},
		{node: remarkFile{}, name: "a remark", path: "/dav/Workflow/Cases/CASE/comment.txt", exists: true, bodies: text},
		{node: labelFile{}, name: "a label", path: "/dav/Workflow/Cases/CASE/Labels/p", bodies: text},
		{node: caseFileAt{}, name: "a file of a case", path: "/dav/Workflow/Cases/CASE/Files/p.txt", bodies: text},
		{node: documentTarget{}, name: "a document", path: "/dav/Documents/sam/p.txt", bodies: text},
		{node: documentTarget{}, name: "a document of a team", path: "/dav/Documents/ops/p.txt", bodies: text},
		{node: documentTarget{}, name: "a document of everyone", by: "eva", path: "/dav/Documents/everyone/p.txt", bodies: text},
		{node: meFile{}, name: "one's account", path: "/dav/Account/me.json", exists: true, bodies: [2]string{`{"fullName": "Sam"}`, `{"fullName": "Sam S."}`}},
		{node: secretFile{}, name: "an app password", path: "/dav/Account/AppPasswords/p.json", once: true, bodies: [2]string{`{}`}},
		{node: secretFile{}, name: "a calendar link", path: "/dav/Account/CalendarLinks/p.json", once: true, bodies: [2]string{`{}`}},
		{node: partyFile{}, name: "a user", by: "eva", path: "/dav/Admin/Users/p.json", bodies: [2]string{`{"fullName": "P"}`, `{"fullName": "P. Q."}`}},
		{node: partyFile{}, name: "a team", by: "eva", path: "/dav/Admin/Teams/p.json", bodies: [2]string{`{"members": ["sam"]}`, `{"members": ["sam", "ann"]}`}},
		{node: holdFile{}, name: "a hold", by: "eva", path: "/dav/Admin/Holds/p.json", bodies: [2]string{`{"route": "bug"}`, `{"route": "bug", "reason": "stop"}`}},
		{node: newAttachment{}, name: "an attachment", path: "/attachfs/p.txt", bodies: text},
		{node: newAttachment{}, name: "an attachment of a case", path: "/attachfs/CASE/p.txt", bodies: text},
	}
}

// sequence is what a client was seen to send when it saves. A line is a request: its
// method, a name beside the file or nothing, and its headers. BODY is what is saved,
// TOKEN and ETAG are of the last answer that had one.
type sequence struct{ name, agent, create, save string }

// sequences returns how the clients save that lock what they write.
func sequences() []sequence {
	return []sequence{
		{
			"Windows", "Microsoft-WebDAV-MiniRedir/10.0.19045", `
			PROPFIND ; Depth: 0 = 404
			PUT
			`, `
			PROPFIND ; Depth: 0
			LOCK ; Timeout: Second-3600 ; translate: f
			PROPPATCH ; If: (<TOKEN>)
			HEAD ; translate: f
			PUT ; If: (<TOKEN>) ; translate: f > BODY
			PROPPATCH ; If: (<TOKEN>)
			PROPFIND ; Depth: 0
			UNLOCK ; Lock-Token: <TOKEN>
			`,
		},
		{
			"the Finder", "WebDAVFS/3.0.0 (03008000) Darwin/22.1.0 (x86_64)", `
			PROPFIND ; Depth: 0 = 404
			PUT
			`, `
			PROPFIND ; Depth: 0
			LOCK ; Depth: 0 ; Timeout: Second-600
			PUT ; If: (<TOKEN>) > BODY
			PROPFIND ; Depth: 0
			LOCK ; If: (<TOKEN>) ; Timeout: Second-600
			UNLOCK ; Lock-Token: <TOKEN>
			`,
		},
		{
			"davfs2 with locks", "davfs2/1.6.1 neon/0.32.5", `
			LOCK ; Depth: 0 ; Timeout: Second-1800
			HEAD
			PUT ; If: <http://example.com@> (<TOKEN>) ; If-Match: ETAG > BODY
			UNLOCK ; Lock-Token: <TOKEN>
			`, `
			LOCK ; Depth: 0 ; Timeout: Second-1800
			HEAD
			PUT ; If: <http://example.com@> (<TOKEN>) ; If-Match: ETAG > BODY
			UNLOCK ; Lock-Token: <TOKEN>
			`,
		},
		{
			"cadaver", "cadaver/0.24 neon/0.32.5", "", `
			LOCK ; Depth: 0 ; Timeout: Infinite
			PUT ; If: <http://example.com@> (<TOKEN>) > BODY
			PROPFIND ; Depth: 0
			UNLOCK ; Lock-Token: <TOKEN>
			`,
		},
		{
			"gvfs", "gvfs/1.50.3", "", `
			PUT > BODY
			PROPFIND ; Depth: 0
			`,
		},
	}
}

const (
	lockBody = `> <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`
	stamps   = `> <propertyupdate xmlns="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><set><prop>` +
		`<Z:Win32CreationTime>Thu, 08 Nov 2012 07:00:00 GMT</Z:Win32CreationTime><Z:Win32LastAccessTime>Thu, 08 Nov 2012 07:00:00 GMT</Z:Win32LastAccessTime>` +
		`<Z:Win32LastModifiedTime>Thu, 08 Nov 2012 07:00:00 GMT</Z:Win32LastModifiedTime><Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></prop></set></propertyupdate>`
)

// TestEveryPlaceTakesEveryClient saves a new file and the file again at every place of
// the drive that can be written, as the clients do that lock: none of their requests is
// refused, and no lock is left.
func TestEveryPlaceTakesEveryClient(t *testing.T) {
	t.Parallel()
	for _, at := range writables() {
		for _, how := range sequences() {
			t.Run(at.name+" by "+how.name, func(t *testing.T) {
				t.Parallel()
				(&saving{testDrive: driveToWrite(t), writable: at, agent: how.agent}).run(t, how)
			})
		}
	}
}

// driveToWrite returns a drive with a route and a case of sam's.
func driveToWrite(t *testing.T) *testDrive {
	t.Helper()
	d := newTestDrive(t)
	for _, line := range []string{"sam PUT /dav/Workflow/Routes/own.yaml", "sam PUT /dav/Workflow/Cases/CASE.json"} {
		body := `> {"route": "bug"}`
		if strings.Contains(line, "yaml") {
			body = "> @route"
		}
		line = strings.Replace(line, "CASE", "given", 1)
		if rec := d.ask(t, line, body); rec.Code != http.StatusCreated {
			t.Fatal(line, rec.Code, rec.Body)
		}
	}
	return d
}

// saving is a client that saves at a place.
type saving struct {
	*testDrive
	writable
	agent, at, token, etag string
}

func (s *saving) run(t *testing.T, how sequence) {
	t.Helper()
	s.at = strings.ReplaceAll(s.path, "CASE", s.caseID(t))
	if !s.exists {
		s.play(t, how.create, s.bodies[0])
	}
	saved := !s.exists && strings.Contains(how.create, "BODY")
	for i, body := range s.bodies {
		if !s.once || i == 0 && !saved {
			s.play(t, how.save, body)
		}
	}
	if err := s.store.View(t.Context(), func(r store.Reader) error {
		left, err := r.Locks().Below("", s.clock.Now())
		if len(left) > 0 {
			t.Errorf("a lock is left on %s", left[0].On)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// caseID returns the number of sam's case.
func (s *saving) caseID(t *testing.T) string {
	t.Helper()
	rec := s.ask(t, "sam PROPFIND /dav/Workflow/Cases/", "Depth: 1")
	found := regexp.MustCompile(`Cases/(\d+)/`).FindStringSubmatch(rec.Body.String())
	if found == nil {
		t.Fatal(rec.Body)
	}
	return found[1]
}

func (s *saving) play(t *testing.T, script, body string) {
	t.Helper()
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" {
			s.step(t, line, body)
		}
	}
}

func (s *saving) step(t *testing.T, line, body string) {
	t.Helper()
	line, refused := strings.CutSuffix(line, " = 404")
	line, sends := strings.CutSuffix(line, " > BODY")
	method, fields, _ := strings.Cut(line, " ; ")
	lines := []string{cmp.Or(s.by, "sam") + " " + method + " " + s.at, "User-Agent: " + s.agent}
	fill := strings.NewReplacer("@", s.at, "TOKEN", s.token, "ETAG", s.etag)
	for field := range strings.SplitSeq(fields, " ; ") {
		lines = append(lines, fill.Replace(field))
	}
	refresh := method == "LOCK" && strings.Contains(line, "TOKEN")
	switch {
	case sends:
		for text := range strings.SplitSeq(body, "\n") {
			lines = append(lines, "> "+text)
		}
	case method == "LOCK" && !refresh:
		lines = append(lines, lockBody)
	case method == "PROPPATCH":
		lines = append(lines, stamps)
	}
	rec := s.do(t, lines, "")
	switch {
	case refused != (rec.Code == http.StatusNotFound), !refused && rec.Code >= 300:
		t.Fatalf("%s: %d %s", line, rec.Code, rec.Body)
	case method == "PROPPATCH" && !strings.Contains(rec.Body.String(), " 200 "):
		t.Fatalf("%s: %s", line, rec.Body)
	}
	if token := rec.Header().Get("Lock-Token"); token != "" {
		s.token = strings.Trim(token, "<>")
	}
	if etag := rec.Header().Get("Etag"); etag != "" {
		s.etag = etag
	}
}

// TestEveryWriterIsATestedPlace: a writer of the package is among the places of
// TestEveryPlaceTakesEveryClient, so that a new one is tried by all clients.
func TestEveryWriterIsATestedPlace(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{"archivedFile": true} // which refuses: what is archived stays as it is
	for _, at := range writables() {
		tested[reflect.TypeOf(at.node).Name()] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	writers := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "put" || f.Type.Params.NumFields() != 3 {
				continue
			}
			writers++
			if of := fmt.Sprint(f.Recv.List[0].Type); !tested[of] {
				t.Errorf("%s takes a PUT, and writables() in everyplace_test.go does not have it", of)
			}
		}
	}
	if writers < 15 {
		t.Errorf("only %d writers were found", writers)
	}
}
