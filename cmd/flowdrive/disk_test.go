package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// TestFullDisk fills the disk of a running server: within seconds it is not ready, what
// would be stored is refused, everything can be read, and things can be deleted. Once
// there is room it goes on without a restart.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	data := t.TempDir()
	if err := syscall.Mount("none", data, "tmpfs", 0, "size=32m"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(data, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	p := startProgram(t, data)
	const document, entry, attachment = "/dav/Documents/admin/x.txt", "/dav/Workflow/Schedule/x.json", "/attachfs/x.txt"
	p.must(t, http.StatusCreated, http.MethodPut, document, strings.Repeat("x", 100000))
	p.must(t, http.StatusCreated, http.MethodPut, entry, `{"route": "bug", "type": "interval", "weeks": 1}`)
	uuid := p.must(t, http.StatusCreated, http.MethodPut, attachment, strings.Repeat("y", 100000)).header.Get("X-OpenGroupware-AttachmentUUID")
	eventually(t, func() string {
		if _, err := os.Stat(filepath.Join(data, reserveName)); err != nil {
			return err.Error()
		}
		return ""
	})
	ballast := filepath.Join(data, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	status := func(want int) func() string {
		return func() string {
			if a := p.must2(t, http.MethodGet, "/readyz"); a.status != want {
				return a.String()
			}
			return ""
		}
	}
	eventually(t, status(http.StatusServiceUnavailable))
	if a := p.must2(t, http.MethodGet, "/readyz"); !strings.Contains(string(a.body), "The server is not ready. disk: The server's disk is full.") {
		t.Errorf("/readyz does not say why: %s", a.body)
	}
	for _, path := range []string{"/dav/Documents/admin/y.txt", "/dav/Workflow/Schedule/y.json"} {
		a := p.must(t, http.StatusInsufficientStorage, http.MethodPut, path, strings.Repeat("y", 10000))
		if !strings.Contains(string(a.body), "disk is full") {
			t.Errorf("PUT %s: %v", path, a)
		}
	}
	p.must(t, http.StatusOK, http.MethodGet, document, "")
	if a := p.must(t, http.StatusOK, http.MethodGet, "/metrics", ""); !strings.Contains(string(a.body), "flowdrive_disk_full 1") {
		t.Error("the metrics do not say that the disk is full")
	}
	p.must(t, http.StatusNoContent, http.MethodDelete, entry, "")
	d := &doctor{settings: &settings{data: data}}
	if _, err := d.room(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "; make room: what users want to store is refused until 3 MiB are free") {
		t.Errorf("the doctor says of the full disk: %v", err)
	}
	if kept := p.must(t, http.StatusNoContent, http.MethodDelete, document, "").header.Get("X-Flowdrive-Kept"); kept != "/dav/Documents/admin/.history/" {
		t.Errorf("the document that was deleted takes room in %q", kept)
	}
	p.must(t, http.StatusNoContent, http.MethodDelete, "/attachfs/"+uuid, "")
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	eventually(t, status(http.StatusOK))
	p.must(t, http.StatusCreated, http.MethodPut, "/dav/Documents/admin/y.txt", strings.Repeat("y", 10000))
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	mustBeSound(t, data)
}

// must2 makes a request whatever it is answered.
func (p *program) must2(t *testing.T, method, path string) *answer {
	t.Helper()
	a, err := p.do(t.Context(), method, path, "")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestKeptBelow: what is deleted in the folder of a user or team is kept there.
func TestKeptBelow(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/dav/Documents/ann/a.pdf":                             "/dav/Documents/ann/.history/",
		"/dav/Documents/é/b/c.pdf":                             "/dav/Documents/%C3%A9/.history/",
		"/dav/Documents/ann/.history/20121109T123456Z a.pdf":   "",
		"/dav/Documents/ann/b/.history/20121109T123456Z a.pdf": "",
		"/dav/Documents/ann":                                   "",
		"/dav/Workflow/Schedule/x.json":                        "",
	} {
		if got := keptBelow(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// TestLittleFree: the doctor says the limit that the server goes by.
func TestLittleFree(t *testing.T) {
	t.Parallel()
	if got, want := littleFree(100<<20, 5<<20, false).Error(), "100 MiB are free; make room: below 512 KiB what users want to store is refused, until 5 MiB are free again"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDiskReminds: a full disk is logged once a minute, and once when there is room.
// Administrators are told of each change, and at first whether anything is wrong.
func TestDiskReminds(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	d, err := newDisk(t.TempDir(), zerolog.New(&log), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	d.tell = func(what string) { told = append(told, what) }
	state := syscall.Statfs_t{Bsize: 4096, Blocks: 10000}
	d.statfs = func(_ string, into *syscall.Statfs_t) error { *into = state; return nil }
	now := time.Date(2012, 11, 9, 12, 0, 0, 0, time.UTC)
	lines := func(want int, what string) {
		t.Helper()
		if got := strings.Count(log.String(), "\n"); got != want {
			t.Errorf("%s: %d lines, want %d:\n%s", what, got, want, &log)
		}
	}
	for range 59 {
		d.look(t.Context(), now)
		now = now.Add(time.Second)
	}
	lines(1, "within a minute")
	d.look(t.Context(), now.Add(time.Minute))
	lines(2, "after a minute")
	state.Bavail = 500 // more than the least, and less than what the reserve needs
	d.look(t.Context(), now.Add(time.Minute))
	lines(2, "with little room")
	state.Bavail = 9000
	d.look(t.Context(), now.Add(time.Minute))
	lines(3, "with room")
	if d.wrong.Load() != nil {
		t.Error("it is still full")
	}
	state.Flags = 1
	d.look(t.Context(), now.Add(time.Minute))
	lines(4, "read-only")
	if err := d.ready(nil)(t.Context()); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("got %v", err)
	}
	if want := []string{toldFull, "", toldReadOnly}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// TestDiskThatLies: a file system that refuses writes and says that it is writable, as one does
// that has met an error of its disk, is found out within seconds, also if no user writes. All
// that changes something is refused with words, and it goes on by itself.
func TestDiskThatLies(t *testing.T) {
	t.Parallel()
	d, err := newDisk(t.TempDir(), zerolog.Nop(), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	d.tell = func(what string) { told = append(told, what) }
	d.statfs = func(_ string, into *syscall.Statfs_t) error {
		*into = syscall.Statfs_t{Bsize: 4096, Blocks: 100000, Bavail: 90000}
		return nil
	}
	now := time.Date(2012, 11, 9, 12, 0, 0, 0, time.UTC)
	drive := d.guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for _, step := range []struct {
		name  string
		fault error // of a write
		looks int   // a second apart
		text  string
		told  string
	}{
		{"all is well", nil, 1, "", ""},
		{"read-only", &os.PathError{Op: "open", Err: syscall.EROFS}, 10, "disk is read-only. Nothing was stored; try again once", toldReadOnly},
		{"failing", &os.PathError{Op: "open", Err: syscall.EIO}, 1, "disk cannot be written. Nothing was stored; try again once", toldFails},
		{"well again", nil, 1, "", ""},
		{"out of inodes", &os.PathError{Op: "open", Err: syscall.ENOSPC}, 10, "disk is full. Nothing was stored; delete something", toldFull},
		{"room again", nil, 1, "", ""},
	} {
		d.probe = func() error { return step.fault }
		for range step.looks {
			d.look(t.Context(), now)
			now = now.Add(time.Second)
		}
		if got := told[len(told)-1]; got != step.told {
			t.Errorf("%s: told %q, want %q", step.name, got, step.told)
		}
		if err := d.ready(func(context.Context) error { return nil })(t.Context()); (err == nil) != (step.text == "") {
			t.Errorf("%s: ready is %v", step.name, err)
		}
		for _, method := range []string{"GET", "PROPFIND", "PUT", "DELETE", "MOVE", "LOCK"} {
			reads, deletes := method == "GET" || method == "PROPFIND", step.told == toldFull && method != "PUT"
			w := httptest.NewRecorder()
			drive.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/dav/Documents/ann/x.txt", nil))
			if want := step.text == "" || reads || deletes; (w.Code == http.StatusNoContent) != want {
				t.Errorf("%s: %s: %d %s", step.name, method, w.Code, w.Body)
			} else if !want && (w.Code != http.StatusInsufficientStorage || !strings.Contains(w.Body.String(), step.text)) {
				t.Errorf("%s: %s: %d, want %q: %s", step.name, method, w.Code, step.text, w.Body)
			}
		}
	}
	if want := []string{"", toldReadOnly, toldFails, "", toldFull, ""}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	d.probe = d.tryWriting
	d.look(t.Context(), now.Add(time.Minute))
	if left, err := filepath.Glob(filepath.Join(d.data, probeName)); err != nil || len(left) > 0 || d.wrong.Load() != nil {
		t.Errorf("a real one: %v, %v is left", err, left)
	}
}
