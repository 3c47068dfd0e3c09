package davfs

import (
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/davfs/dav"
	"flowdrive/docs"
	"flowdrive/internal/errs"
)

// furnish puts something of every kind on the drive, and returns the UUID of an
// entry. The cases are 22, which is open, 23, and one that was archived.
func furnish(t *testing.T, d *testDrive) (entry string) {
	t.Helper()
	for _, request := range [][]string{
		{"sam PUT /dav/Workflow/Routes/tip.yaml", "> @route"},
		{"sam PUT /dav/Workflow/Routes/bug%20report.json", "> @route"},
		{"sam PUT /dav/Workflow/Schedule/night%20ly.json", `> {"route": "bug", "type": "cron", "hour": 22}`},
		{"sam PUT /dav/Workflow/Schedule/request", `> {"type": "cron", "hour": 22, "route": "bug", "context": "ops"}`},
		{"ann PUT /dav/Workflow/Schedule/ours.yaml", `> {"type": "cron", "hour": 22, "route": "bug", "context": "ops"}`},
	} {
		rec := d.do(t, request, "")
		if rec.Code >= 300 {
			t.Fatalf("%s: %d %s", request[0], rec.Code, rec.Body)
		}
		if strings.Contains(request[0], "night") {
			entry = strings.TrimSuffix(strings.TrimPrefix(rec.Header().Get("Location"), "/dav/Workflow/Schedule/"), ".json")
		}
	}
	for d.db.PeekID() < 22 {
		d.db.NextID()
	}
	for _, request := range [][]string{
		{"sam PUT /dav/Workflow/Cases/open.json", `> {"route": "tip"}`},
		{"sam PUT /dav/Workflow/Cases/new.json", `> {"route": "tip"}`},
		{"sam PUT /dav/Workflow/Cases/23/Labels/report", "Content-Type: text/xml", "> <x/>"},
		{"sam PUT /dav/Workflow/Cases/23/Actions/resolve.json", "> {}"},
		{"sam PUT /attachfs/a.csv", "> 1,2"},
		{"sam PUT /attachfs/23/b.html", "> <p>"},
		{"sam PUT /dav/Workflow/Routes/tip/rates.csv", "> 1,2"},
		{"sam PUT /dav/Account/AppPasswords/phone.json", "> {}"},
	} {
		if rec := d.do(t, request, ""); rec.Code >= 300 {
			t.Fatalf("%s: %d %s", request[0], rec.Code, rec.Body)
		}
	}
	over := d.do(t, []string{"sam PUT /dav/Workflow/Cases/over.json", `> {"route": "tip"}`}, "").Header().Get("Location")
	for range 2 { // it is canceled, then archived
		if rec := d.do(t, []string{"sam DELETE " + over}, ""); rec.Code >= 300 {
			t.Fatalf("DELETE of %s: %d %s", over, rec.Code, rec.Body)
		}
	}
	return entry
}

// TestTree walks the whole tree: what a folder lists resolves under its
// name, is described in the same way, reads as long as it says, and has its
// hidden keys.
func TestTree(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	furnish(t, d)
	for user, atLeast := range map[string]int{"sam": 40, "ann": 8, "eva": 12} {
		s := &scope{engine: new(EngineOf(d.Engine)), by: d.principal(user), since: d.clock.Now()}
		if visited := visit(t, s.root(), nil); visited < atLeast {
			t.Errorf("%s: %d places visited, want at least %d", user, visited, atLeast)
		}
	}
}

// TestReadme: the manual names every folder and file that is always there, and README.txt
// those that one sees first.
func TestReadme(t *testing.T) {
	t.Parallel()
	page, err := fs.ReadFile(docs.Files(), "reference/drive.md")
	if err != nil {
		t.Fatal(err)
	}
	d := newTestDrive(t)
	s := &scope{engine: new(EngineOf(d.Engine)), by: d.principal("eva"), since: d.clock.Now()}
	for _, path := range [][]string{{"dav"}, {"dav", "Workflow"}, {"dav", "Workflow", "Worklist"}, {"dav", "Account"}, {"dav", "Admin"}} {
		n := s.root()
		for _, name := range path {
			at, ok := n.(folder)
			if !ok {
				t.Fatalf("%s: %s is in no folder", dav.Href(path...), name)
			}
			var err error
			if n, err = at.child(t.Context(), name); err != nil {
				t.Fatalf("%s: %v", dav.Href(path...), err)
			}
		}
		at, ok := n.(folder)
		if !ok {
			t.Fatalf("%s: no folder", dav.Href(path...))
		}
		members, err := at.list(t.Context())
		if err != nil || len(members) == 0 {
			t.Fatalf("%s: %d members, %v", dav.Href(path...), len(members), err)
		}
		for _, m := range members {
			name := m.name
			if m.dir {
				name += "/"
			}
			short := len(path) == 1 || len(path) == 2 && path[1] == "Workflow"
			if short && name != "README.txt" && !strings.Contains(readme, name) {
				t.Errorf("README.txt does not say what %s/%s is", dav.Href(path...), name)
			}
			if name != "README.txt" && !strings.Contains(string(page), name) {
				t.Errorf("docs/reference/drive.md does not say what %s/%s is", dav.Href(path...), name)
			}
		}
	}
}

func visit(t *testing.T, n node, path []string) (visited int) {
	t.Helper()
	at, ok := n.(folder)
	if !ok {
		t.Fatalf("%s: no folder", dav.Href(path...))
	}
	members, err := at.list(t.Context())
	if err != nil {
		t.Fatalf("%s: list: %v", dav.Href(path...), err)
	}
	for _, want := range members {
		visited++
		where := append(path[:len(path):len(path)], want.name)
		n, err := at.child(t.Context(), want.name)
		if err != nil {
			t.Fatalf("%s: listed, but: %v", dav.Href(where...), err)
		}
		got, err := n.stat(t.Context())
		if err != nil {
			t.Fatalf("%s: listed, but: %v", dav.Href(where...), err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(info{}, caseProps{})); diff != "" {
			t.Errorf("%s: described otherwise than listed (-listed +described):\n%s", dav.Href(where...), diff)
		}
		if _, ok := n.(folder); ok != want.dir {
			t.Errorf("%s: folder %v, listed as folder %v", dav.Href(where...), ok, want.dir)
		} else if ok {
			visited += visit(t, n, where)
			continue
		}
		file, ok := n.(reader)
		if !ok {
			t.Fatalf("%s: cannot be read", dav.Href(where...))
		}
		about, content, err := file.open(t.Context())
		if err != nil {
			t.Fatalf("%s: open: %v", dav.Href(where...), err)
		}
		size, err := content.Seek(0, 2)
		if err != nil || size != want.size || about.etag != want.etag {
			t.Errorf("%s: %d bytes %s, listed as %d bytes %s (%v)", dav.Href(where...), size, about.etag, want.size, want.etag, err)
		}
	}
	for _, hidden := range []string{contentsName, lsName} {
		if _, ok := at.(collection); !ok {
			continue
		}
		n, err := at.child(t.Context(), hidden)
		if err != nil {
			t.Fatalf("%s: %v", dav.Href(append(path, hidden)...), err)
		}
		if _, err := n.stat(t.Context()); err != nil {
			t.Errorf("%s: %v", dav.Href(append(path, hidden)...), err)
		}
	}
	return visited
}

// FuzzWalk takes any path to a place, or to a refusal: never to a failure of
// ours, and never to a place of somebody else.
func FuzzWalk(f *testing.F) {
	for _, path := range []string{
		"/", "/dav/Workflow/Schedule/night%20ly.json", "/dav/Workflow/Cases/22/Actions/resolve.json",
		"/dav/Workflow/Routes/tip/22/Labels/report", "/dav/workflow/CASES/.contents", "/dav/%2e%2e/x", "//dav//",
		"/dav/Workflow/Schedule/{ENTRY}.json", "/dav/Admin/Users/sam.json",
	} {
		f.Add(path)
	}
	d := newTestDrive(f)
	var once sync.Once
	var entry string
	f.Fuzz(func(t *testing.T, path string) {
		once.Do(func() { entry = furnish(t, d) })
		p, err := dav.ParsePath(strings.ReplaceAll(path, "ENTRY", entry))
		if err != nil {
			if !errs.Is(err, errs.BadParameter) {
				t.Errorf("ParsePath(%q): %v", path, err)
			}
			return
		}
		a := address{p}
		again, err := dav.ParsePath(dav.Href(a.Segments...))
		if err == nil && !strings.Contains(a.String(), "%") && !strings.Contains(strings.Join(a.Segments, ""), "/") {
			if diff := cmp.Diff(a.Segments, again.Segments); diff != "" {
				t.Errorf("%q: the path changes when written (-was +is):\n%s", path, diff)
			}
		}
		for _, user := range []string{"sam", "bob"} {
			s := &scope{engine: new(EngineOf(d.Engine)), by: d.principal(user), since: d.clock.Now()}
			n, err := s.walk(t.Context(), a)
			if err == nil {
				_, err = n.stat(t.Context())
			}
			switch kind := errs.KindOf(err); kind {
			case errs.NotFound, errs.NotBuilt:
			case "":
				if user == "bob" && len(a.Segments) > 3 && !hiddenKey(a.Name()) {
					t.Errorf("%q: bob, who has nothing, finds something", path)
				}
			default:
				t.Errorf("%q: %v", path, err)
			}
		}
	})
}

func hiddenKey(name string) bool { return same(name, contentsName) || same(name, lsName) }
