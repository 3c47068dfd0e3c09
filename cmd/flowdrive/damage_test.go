package main

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamagedContentIsNotServed: a content that is not what was stored is never served
// as if it were: a small one is refused, a large one ends before its end, compressed or
// not. The log says so, and everything else is served.
func TestDamagedContentIsNotServed(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := startProgram(t, data)
	small, large := strings.Repeat("small ", 2000), strings.Repeat("a large one ", 100000)
	p.must(t, http.StatusCreated, http.MethodPut, "/dav/Documents/admin/small.txt", small)
	p.must(t, http.StatusCreated, http.MethodPut, "/dav/Documents/admin/large.txt", large)
	p.must(t, http.StatusCreated, http.MethodPut, "/dav/Documents/admin/good.txt", small+"good")
	files, err := filepath.Glob(filepath.Join(data, "contents", "??", "??", "*"))
	if err != nil || len(files) != 3 {
		t.Fatalf("there are %d contents, %v", len(files), err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(string(text), "good") {
			continue
		}
		text[len(text)/2] ^= 1
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if a := p.must(t, http.StatusInternalServerError, http.MethodGet, "/dav/Documents/admin/small.txt", ""); strings.Contains(string(a.body), "small small") {
		t.Errorf("it was served: %v", a)
	}
	for _, coding := range []string{"identity", "gzip", "zstd"} {
		a, err := p.do(t.Context(), http.MethodGet, "/dav/Documents/admin/large.txt", "", "Accept-Encoding", coding)
		if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			t.Errorf("%s: got %v, %v", coding, a, err)
		}
	}
	p.must(t, http.StatusOK, http.MethodGet, "/dav/Documents/admin/good.txt", "")
	if said := p.complaints.String(); !strings.Contains(said, "what is on the disk is not what was stored") {
		t.Errorf("the log says %s", said)
	}
	if a := p.must(t, http.StatusOK, http.MethodGet, "/metrics", ""); !strings.Contains(string(a.body), "flowdrive_damaged_contents_total 4") {
		t.Error("the metrics do not count it")
	}
	eventually(t, func() string { // administrators are told, by what ways there are
		a := p.must(t, http.StatusOK, http.MethodGet, "/dav/Admin/Status.json", "")
		if strings.Contains(string(a.body), `"part": "contents"`) {
			return ""
		}
		return string(a.body)
	})
}

// TestLogThatEndsEarly: after kill -9 a log that was damaged or removed is said at the
// start, and one that is whole is not.
func TestLogThatEndsEarly(t *testing.T) {
	t.Parallel()
	for what, test := range map[string]struct {
		damage func(path string) error
		want   string
	}{
		"whole":   {func(string) error { return nil }, ""},
		"removed": {os.Remove, "there is no log"},
		"garbage": {func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("x", 10000)), 0o600) }, "its log is damaged"},
		"a bit": {func(path string) error {
			text, err := os.ReadFile(path)
			text[len(text)/2] ^= 1
			return errors.Join(err, os.WriteFile(path, text, 0o600))
		}, "its log is damaged"},
	} {
		data := t.TempDir()
		p := startProgram(t, data)
		for range 20 {
			p.must(t, http.StatusCreated, http.MethodPut, "/dav/Workflow/Schedule/e.json", `{"route": "bug", "type": "interval", "weeks": 1}`)
			p.must(t, http.StatusNoContent, http.MethodDelete, "/dav/Workflow/Schedule/e.json", "")
		}
		p.kill()
		if err := test.damage(filepath.Join(data, "flowdrive.db-wal")); err != nil {
			t.Fatal(err)
		}
		again, err := launch(serveOn(t, data))
		var said string
		if err != nil {
			said = err.Error()
		} else {
			if err := again.stop(); err != nil {
				t.Error(err)
			}
			said = again.complained()
		}
		if test.want == "" && said != "" || !strings.Contains(said, test.want) {
			t.Errorf("%s: the log says %q, want %q", what, said, test.want)
		}
	}
}

func serveOn(t *testing.T, data string) *exec.Cmd {
	t.Helper()
	cmd := childProcess(t, "flowdrive", "serve", "--addr", "127.0.0.1:0", "--data", data, "--log-level", "warn")
	cmd.Env = environment("FLOWDRIVE_ADMIN_PASSWORD=" + adminPassword)
	return cmd
}

// TestDataFolderWithoutDatabase: a data folder that has contents and no database is not
// founded anew, and one whose database is damaged is not made worse.
func TestDataFolderWithoutDatabase(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := startProgram(t, data)
	p.must(t, http.StatusCreated, http.MethodPut, "/dav/Documents/admin/x.txt", strings.Repeat("x", 10000))
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(data, "flowdrive.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what, want string) {
		t.Helper()
		cmd := serveOn(t, data)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), want) {
			t.Errorf("%s: exit %d, %s", what, cmd.ProcessState.ExitCode(), out)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	refused("deleted", "there are contents and no database")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
	// It was stopped in good order, and the disk has changed it since.
	broken := []byte(strings.Clone(string(whole)))
	for i := len(broken) / 2; i < len(broken)/2+20_000; i++ {
		broken[i] = 0xff
	}
	if err := errors.Join(os.WriteFile(path, broken, 0o600), os.Remove(filepath.Join(data, "running"))); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	refused("a part of it overwritten", "is damaged (")
	for what, text := range map[string]string{"emptied": "", "random": strings.Repeat("random", 10000)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		want := "there are contents and no database"
		if text != "" {
			want = "is damaged (file is not a database). Nothing was changed. flowdrive check"
		}
		refused(what, want)
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s: it has %d bytes now, %v", what, len(got), err)
		}
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	// Most of a young database is in its log.
	young := t.TempDir()
	killed := startProgram(t, young)
	killed.must(t, http.StatusCreated, http.MethodPut, "/dav/Documents/admin/x.txt", strings.Repeat("x", 10000))
	killed.kill()
	if err := os.Remove(filepath.Join(young, "flowdrive.db-wal")); err != nil {
		t.Fatal(err)
	}
	data, young = young, data
	refused("without its log", "there are contents and no database")
	data = young
	startProgram(t, data).must(t, http.StatusOK, http.MethodGet, "/dav/Documents/admin/x.txt", "")
}
