package davfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/webdav"

	"flowdrive/internal/errs"
)

// fileSystem returns the drive as a file system.
func (d *testDrive) fileSystem(t *testing.T) *FileSystem {
	t.Helper()
	own, ok := d.handler.(*drive)
	if !ok {
		t.Fatalf("the handler is a %T", d.handler)
	}
	return &FileSystem{own}
}

// overNet returns x/net's handler over a file system.
func overNet(f *FileSystem) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, locks := f.Begin(r)
		(&webdav.Handler{FileSystem: f, LockSystem: locks}).ServeHTTP(w, r)
	})
}

// inability is something that x/net's handler does not do, with the reason:
// requests of a method that should be answered by one of the statuses and are
// answered by another.
type inability struct {
	method      string
	should, are []int
	reason      string
	effect      bool // the request does something else, too
}

func inabilities() []inability {
	refused := []int{400, 403, 404, 405, 409, 412, 413, 415, 422, 423, 501, 507}
	return []inability{
		{"PUT", []int{200, 204}, []int{201}, "x/net answers every PUT by 201, and has no body to answer", false},
		{"PUT", refused, []int{404, 405, 409}, "x/net answers a PUT that is refused by 404, 405 or 409, without the reasons", false},
		{"PUT", []int{204}, []int{412}, "x/net takes the tag of an If header for another server's if it has no host", true},
		{"DELETE", refused, []int{405}, "x/net answers a DELETE that is refused by 405", false},
		{"MKCOL", refused, []int{405, 409}, "x/net answers a MKCOL that is refused by 405 or 409", false},
		{"GET", []int{200}, []int{405}, "x/net has no page for a folder", false},
		{"GET", []int{501}, []int{404}, "x/net answers a GET that fails by 404", false},
		{"POST", []int{405}, []int{200}, "x/net takes a POST for a GET", false},
		{"PROPFIND", []int{403}, []int{207}, "x/net walks to any depth", false},
	}
}

// TestWhatNetCannotDo plays the transcripts of schedules, cases and documents
// over x/net's handler, each request that changes something on a copy of the
// drive after those before it. Requests that are answered by another status are
// listed in testdata/xnet.golden with the reason; they store the same.
func TestWhatNetCannotDo(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	for _, name := range []string{"schedule", "cases", "documents"} {
		script, err := os.ReadFile(filepath.Join(transcripts, name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		ours, known, etag := newTestDrive(t), newNames(), ""
		requests := requestsOf(string(script))
		cannot := map[string][]string{}
		for _, lines := range requests {
			line := lines[0]
			lines = known.readAll(lines)
			theirs := ours
			if !slices.Contains([]string{"GET", "HEAD", "OPTIONS", "PROPFIND"}, strings.Fields(line)[1]) {
				theirs = ours.clone(t)
			}
			rec := httptest.NewRecorder()
			overNet(theirs.fileSystem(t)).ServeHTTP(rec, theirs.request(t, lines, etag))
			want := ours.do(t, lines, etag)
			known.write(transcribe(t, want))
			if tag := want.Header().Get("Etag"); tag != "" {
				etag = tag
			}
			why := inability{}
			if rec.Code != want.Code {
				why = explain(line, want.Code, rec.Code)
				cannot[why.reason] = append(cannot[why.reason], line)
				if why.reason == "" {
					t.Errorf("%s: %q is answered by %d, not %d, for no reason that is known", name, lines, rec.Code, want.Code)
				}
			} else if strings.Contains(line, " GET ") && rec.Code == http.StatusOK && rec.Body.String() != want.Body.String() {
				t.Errorf("%s: %q: got %q, want %q", name, lines, rec.Body, want.Body)
			}
			if diff := cmp.Diff(ours.stored(t), theirs.stored(t)); diff != "" && !why.effect {
				t.Errorf("%s: %q stores something else (-ours +theirs):\n%s", name, lines, diff)
			}
			if theirs != ours {
				theirs.close(t) // there are more of them than a database has connections for
			}
		}
		fmt.Fprintf(&list, "%s.txt, %d requests\n", name, len(requests))
		for _, reason := range slices.Sorted(maps.Keys(cannot)) {
			fmt.Fprintf(&list, "\n  %s:\n    %s\n", reason, strings.Join(cannot[reason], "\n    "))
		}
		list.WriteString("\n")
	}
	const golden = "testdata/xnet.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(list.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), list.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func explain(line string, should, is int) inability {
	method := strings.Fields(line)[1]
	for _, i := range inabilities() {
		if i.method == method && slices.Contains(i.should, should) && slices.Contains(i.are, is) {
			return i
		}
	}
	return inability{}
}

// stored returns all that is stored, as far as the transcripts change it.
func (d *testDrive) stored(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, line := range []string{
		"eva GET /dav/Workflow/Schedule/.contents", "eva GET /dav/Workflow/Cases/.contents", "eva GET /dav/Workflow/Routes/.contents",
	} {
		out[line] = newNames().write(d.ask(t, line).Body.String())
	}
	const tree = "eva PROPFIND /dav/Documents/"
	out[tree] = newNames().write(outline(t, d.ask(t, tree, "Depth: infinity").Body.String()))
	return out
}

// TestFileSystem is what a program that embeds the drive finds.
func TestFileSystem(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	f := d.fileSystem(t)
	ctx := d.as("sam", httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)).Context()
	write := func(name, text string, flag int) error {
		file, err := f.OpenFile(ctx, name, os.O_RDWR|flag, 0o644)
		if err != nil {
			return err
		}
		_, err = io.WriteString(file, text)
		return errors.Join(err, file.Close())
	}
	for _, tt := range []struct {
		name string
		do   func() error
		is   error // nil: it is done
	}{
		{"a document that is refused", func() error { return write("/dav/Workflow/Schedule/a.json", `{"type": "`, os.O_TRUNC) }, fs.ErrInvalid},
		{"a document", func() error {
			return write("/dav/Workflow/Schedule/a.json", `{"route": "bug", "type": "cron", "hour": 22}`, os.O_TRUNC|os.O_CREATE)
		}, nil},
		{"the same again", func() error { return write("/dav/Workflow/Schedule/a.json", `{}`, os.O_TRUNC|os.O_CREATE|os.O_EXCL) }, fs.ErrExist},
		{"an empty document", func() error { return write("/dav/Workflow/Schedule/b.json", ``, os.O_TRUNC) }, fs.ErrInvalid},
		{"a part of a file", func() error { return write("/dav/Workflow/Schedule/a.json", `{}`, os.O_APPEND) }, fs.ErrInvalid},
		{"over a file, without O_TRUNC", func() error { return write("/dav/Workflow/Schedule/a.json", `{}`, 0) }, fs.ErrInvalid},
		{"what is read-only", func() error { return write("/dav/Workflow/README.txt", `x`, os.O_TRUNC) }, fs.ErrPermission},
		{"in no folder", func() error { return write("/dav/Documents/sam/none/a.txt", `x`, os.O_TRUNC) }, fs.ErrNotExist},
		{"more than is taken", func() error { return write("/dav/Documents/sam/a.txt", strings.Repeat("x", 1300), os.O_TRUNC) }, fs.ErrInvalid},
		{"another's", func() error { return write("/dav/Documents/bob/a.txt", `x`, os.O_TRUNC) }, fs.ErrNotExist},
		{"a folder", func() error { return f.Mkdir(ctx, "/dav/Documents/sam/new", 0o755) }, nil},
		{"a folder again", func() error { return f.Mkdir(ctx, "/dav/Documents/sam/new", 0o755) }, fs.ErrExist},
		{"a folder in none", func() error { return f.Mkdir(ctx, "/dav/Documents/sam/no/new", 0o755) }, fs.ErrNotExist},
		{"a folder of the workflow", func() error { return f.Mkdir(ctx, "/dav/Workflow/new", 0o755) }, fs.ErrPermission},
		{"a file", func() error { return write("/dav/Documents/sam/new/a.txt", `one`, os.O_TRUNC) }, nil},
		{"another file", func() error { return write("/dav/Documents/sam/b.txt", `two`, os.O_TRUNC) }, nil},
		{"to another name", func() error { return f.Rename(ctx, "/dav/Documents/sam/new/a.txt", "/dav/Documents/sam/new/c.txt") }, nil},
		{"to a name with empty segments", func() error {
			return f.Rename(ctx, "/dav/Documents/sam/new/c.txt", "//dav//Documents/sam/new/d.txt")
		}, nil},
		{"and back", func() error { return f.Rename(ctx, "/dav/Documents/sam/new/d.txt", "/dav/Documents/sam/new/c.txt") }, nil},
		{"onto a file", func() error { return f.Rename(ctx, "/dav/Documents/sam/b.txt", "/dav/Documents/sam/new/c.txt") }, nil},
		{"onto a folder", func() error { return f.Rename(ctx, "/dav/Documents/sam/new/c.txt", "/dav/Documents/sam/new") }, fs.ErrExist},
		{"what is not there", func() error { return f.Rename(ctx, "/dav/Documents/sam/x", "/dav/Documents/sam/y") }, fs.ErrNotExist},
		{"to a folder that is not there", func() error { return f.Rename(ctx, "/dav/Documents/sam/new/c.txt", "/dav/Documents/sam/no/y") }, fs.ErrNotExist},
		{"a folder of the workflow", func() error { return f.RemoveAll(ctx, "/dav/Workflow/Schedule") }, fs.ErrPermission},
		{"nothing", func() error { return f.RemoveAll(ctx, "/dav/Workflow/Schedule/none.json") }, nil},
		{"a path that is none", func() error { return f.RemoveAll(ctx, "/dav/../x") }, fs.ErrInvalid},
		{"a folder with what is in it", func() error { return f.RemoveAll(ctx, "/dav/Documents/sam/new") }, nil},
	} {
		if err := tt.do(); tt.is == nil && err != nil || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.is)
		}
	}
	if _, err := f.Stat(ctx, "/dav/Documents/sam/new/c.txt"); !os.IsNotExist(err) {
		t.Errorf("after all it is still there: %v", err)
	}
}

// TestFileSystemReads: what is read is what a GET gives, and listings are those
// of folders.
func TestFileSystemReads(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	furnish(t, d)
	f := d.fileSystem(t)
	r, _ := f.Begin(d.as("sam", httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)))
	ctx := r.Context()
	for _, name := range []string{"/dav/Workflow/Schedule/night ly.json", "/dav/Workflow/Schedule/.contents", "/dav/Workflow/README.txt"} {
		file, err := f.OpenFile(ctx, name, os.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		about, err := file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(file)
		want := d.ask(t, "sam GET "+strings.ReplaceAll(name, " ", "%20"))
		if err != nil || string(got) != want.Body.String() || about.Size() != int64(len(got)) {
			t.Errorf("%s: got %q, %d bytes, %v; want %q", name, got, about.Size(), err, want.Body)
		}
		described, ok := about.(interface {
			webdav.ETager
			webdav.ContentTyper
		})
		if !ok {
			t.Fatalf("%s: a %T has no ETag and type", name, about)
		}
		etag, err := described.ETag(ctx)
		if want := want.Header().Get("Etag"); want != "" && (etag != want || err != nil) {
			t.Errorf("%s: got the ETag %s, %v, want %s", name, etag, err, want)
		}
		if kind, err := described.ContentType(ctx); err == nil && kind != want.Header().Get("Content-Type") {
			t.Errorf("%s: got the type %s", name, kind)
		}
		if _, err := file.Readdir(-1); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: Readdir: %v", name, err)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
	dir, err := f.OpenFile(ctx, "/dav/Workflow/", os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Read(make([]byte, 1)); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a folder is read: %v", err)
	}
	var names []string
	for {
		some, err := dir.Readdir(2)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || len(some) == 0 {
			t.Fatal(err)
		}
		for _, about := range some {
			names = append(names, about.Name())
		}
	}
	if !slices.Contains(names, "Schedule") || !slices.Contains(names, "README.txt") {
		t.Errorf("got %q", names)
	}
}

// TestCutBodyIsNotStored: x/net closes a file also if what was to be written
// did not come whole.
func TestCutBodyIsNotStored(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	r := d.request(t, []string{"sam PUT /dav/Documents/sam/a.txt", "> half"}, "")
	r.ContentLength = 8
	rec := httptest.NewRecorder()
	overNet(d.fileSystem(t)).ServeHTTP(rec, r)
	if rec.Code < 400 {
		t.Errorf("got %d", rec.Code)
	}
	if rec := d.ask(t, "sam GET /dav/Documents/sam/a.txt"); rec.Code != http.StatusNotFound {
		t.Errorf("it is stored: %d %s", rec.Code, rec.Body)
	}
}

// TestTooMuchIsNotGathered: what is written is bounded before it is stored.
func TestTooMuchIsNotGathered(t *testing.T) {
	t.Parallel()
	var b boundedBuffer
	part := make([]byte, maxBuffered/4)
	for range 4 {
		if _, err := b.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Write([]byte{0}); !errs.Is(err, errs.TooLarge) {
		t.Errorf("got %v", err)
	}
}

// TestConditionsHoldOverNet: a condition that x/net does not know is the
// drive's, and its own are on the drive's locks.
func TestConditionsHoldOverNet(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	theirs := d.behind(overNet(d.fileSystem(t)))
	const info = `> <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype><owner>sam</owner></lockinfo>`
	d.ask(t, "sam PUT /dav/Documents/ops/a.txt", "> one")
	if rec := theirs.ask(t, "sam PUT /dav/Documents/ops/a.txt", `If-Match: "another"`, "> two"); rec.Code != http.StatusMethodNotAllowed {
		t.Errorf("If-Match: %d", rec.Code)
	}
	token := theirs.ask(t, "sam LOCK /dav/Documents/ops/a.txt", "Depth: 0", "Timeout: Second-600", info).Header().Get("Lock-Token")
	if !strings.HasPrefix(token, "<urn:uuid:") {
		t.Fatalf("the token is %q", token)
	}
	for _, tt := range []struct {
		line, header string
		want         int
	}{
		{"sam PUT /dav/Documents/ops/a.txt", "X-None: 1", 423},
		{"ann PUT /dav/Documents/ops/a.txt", "X-None: 1", 423},
		{"ann PUT /dav/Documents/ops/a.txt", "If: (" + token + ")", 412},
		{"sam PUT /dav/Documents/ops/a.txt", "If: (<urn:uuid:00000000-0000-4000-8000-000000000000>)", 412},
		{"sam PUT /dav/Documents/ops/a.txt", "If: (Not " + token + ")", 412},
		{"sam PUT /dav/Documents/ops/a.txt", `If: (` + token + ` ["another"])`, 412},
		{"sam PUT /dav/Documents/ops/a.txt", "If: (" + token + ")", 201},
		{"ann UNLOCK /dav/Documents/ops/a.txt", "Lock-Token: " + token, 409},
		{"sam LOCK /dav/Documents/ops/a.txt", "If: (" + token + ")", 200},
		{"sam UNLOCK /dav/Documents/ops/a.txt", "Lock-Token: " + token, 204},
		{"ann PUT /dav/Documents/ops/a.txt", "X-None: 1", 201},
	} {
		more := []string{tt.header}
		if strings.Contains(tt.line, " PUT ") {
			more = append(more, "> three")
		}
		if rec := theirs.ask(t, tt.line, more...); rec.Code != tt.want {
			t.Errorf("%s, %s: got %d %s, want %d", tt.line, tt.header, rec.Code, rec.Body, tt.want)
		}
	}
}

// TestPropertiesOverNet: properties are those of the drive.
func TestPropertiesOverNet(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	theirs := d.behind(overNet(d.fileSystem(t)))
	d.ask(t, "sam PUT /dav/Documents/sam/a.txt", "> one")
	set := `> <propertyupdate xmlns="DAV:" xmlns:x="urn:x"><set><prop><x:mark xml:lang="de">a &amp; b</x:mark></prop></set></propertyupdate>`
	if rec := theirs.ask(t, "sam PROPPATCH /dav/Documents/sam/a.txt", set); rec.Code != http.StatusMultiStatus || !strings.Contains(rec.Body.String(), "200 OK") {
		t.Errorf("PROPPATCH: %d %s", rec.Code, rec.Body)
	}
	theirs.ask(t, "sam COPY /dav/Documents/sam/a.txt", "Destination: /dav/Documents/sam/b.txt")
	ask := `> <propfind xmlns="DAV:" xmlns:x="urn:x"><prop><x:mark/></prop></propfind>`
	for _, name := range []string{"a.txt", "b.txt"} {
		for who, h := range map[string]*testDrive{"ours": d, "theirs": theirs} {
			body := h.ask(t, "sam PROPFIND /dav/Documents/sam/"+name, "Depth: 0", ask).Body.String()
			if !strings.Contains(body, "a &amp; b") {
				t.Errorf("%s of %s: %s", who, name, body)
			}
		}
	}
	if rec := theirs.ask(t, "sam PROPPATCH /dav/Workflow/README.txt", set); !strings.Contains(rec.Body.String(), "403") {
		t.Errorf("what keeps no properties: %s", rec.Body)
	}
}
