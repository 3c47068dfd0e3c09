package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"flowdrive/internal/pgtest"
)

// command runs a command of the program, and returns its exit code and what it said.
func command(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	cmd := childProcess(t, "flowdrive", args...)
	cmd.Env = environment()
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestCopyThereAndBack: a data folder is copied into PostgreSQL and back, with all that is in it:
// the digest is the same, the copy is sound, and a server goes on with it.
func TestCopyThereAndBack(t *testing.T) {
	t.Parallel()
	address, folder := pgtest.New(t), t.TempDir()
	data, back := filepath.Join(folder, "data"), filepath.Join(folder, "back")
	p := startProgram(t, data)
	large := strings.Repeat("0123456789abcdef", 1<<16)
	at := "/attachfs/view/" + p.must(t, http.StatusCreated, "PUT", "/attachfs/a.bin", large).header.Get("X-OpenGroupware-AttachmentUUID")
	p.must(t, http.StatusCreated, "PUT", "/dav/Documents/admin/x.txt", large+"x")
	created := p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "bug", "title": "a case that is copied"}`).header.Get("Location")
	if code, said := command(t, "copy", "--from", data, "--to", address); code != 1 || !strings.Contains(said, "in use") {
		t.Errorf("a server runs: %d, %s", code, said)
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	digest := regexp.MustCompile(`digest of all rows is ([0-9a-f]{64})`)
	var digests []string
	for _, ends := range [][2]string{{data, address}, {address, back}} {
		code, said := command(t, "copy", "--from", ends[0], "--to", ends[1])
		match := digest.FindStringSubmatch(said)
		if code != 0 || match == nil {
			t.Fatalf("%v: %d, %s", ends, code, said)
		}
		digests = append(digests, match[1])
		if code, said := command(t, "copy", "--from", ends[0], "--to", ends[1]); code != 1 || !strings.Contains(said, "not empty") {
			t.Errorf("again: %d, %s", code, said)
		}
	}
	if digests[0] != digests[1] {
		t.Errorf("digests %q", digests)
	}
	if code, said := command(t, "check", "--data", back); code != 0 {
		t.Errorf("check: %d, %s", code, said)
	}
	p = startProgram(t, back)
	if got := p.must(t, http.StatusOK, "GET", at, ""); string(got.body) != large {
		t.Errorf("the attachment has %d bytes", len(got.body))
	}
	p.must(t, http.StatusOK, "GET", created, "")
	p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "bug", "title": "another"}`)
}

// TestCopyRefuses: what cannot be copied is a sentence, and nothing is made.
func TestCopyRefuses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	full := filepath.Join(folder, "full")
	if err := os.MkdirAll(full, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(full, "x.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(folder, "data")
	if err := startProgram(t, data).stop(); err != nil {
		t.Fatal(err)
	}
	empty := pgtest.New(t)
	locked := strings.Replace(empty, "flowdrive@", "stranger@", 1)
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--to", folder}, 2, "--from is missing"},
		{[]string{"--from", data, "--to", "postgres://a:word@127.0.0.1:1/x"}, 2, "has a password in it"},
		{[]string{"--from", data, "--to", full}, 1, "is not empty"},
		{[]string{"--from", data, "--to", full, "--to-password-file", "x"}, 2, "has no effect"},
		{[]string{"--from", filepath.Join(folder, "none"), "--to", full}, 1, "is not a data folder"},
		{[]string{"--from", empty, "--to", full}, 1, "--from: the database is empty"},
		{[]string{"--from", locked, "--to", full}, 1, "--from-password-file"},
		{[]string{"--from", data, "--to", data}, 1, "in use"},
		{[]string{"--from", data, "--to", "postgres://a@127.0.0.1:1/x"}, 1, "--to: "},
	} {
		code, said := command(t, append([]string{"copy"}, test.args...)...)
		if code != test.code || !strings.Contains(said, test.want) || strings.Contains(said, "word@") {
			t.Errorf("%q: %d, %s, want %d with %s", test.args, code, said, test.code, test.want)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "none")); err == nil {
		t.Error("the folder that was to be copied was made")
	}
}

// TestServeOfAHalfCopy: a folder into which a copy was cut is not made a data folder, so that the
// copy can go on.
func TestServeOfAHalfCopy(t *testing.T) {
	t.Parallel()
	for _, left := range []string{"flowdrive.db.copying", "flowdrive.db.copying.new"} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, left), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if code, said := command(t, "serve", "--addr", "127.0.0.1:0", "--data", folder); code == 0 || !strings.Contains(said, "run the same flowdrive copy again") {
			t.Errorf("%s: %d, %s", left, code, said)
		}
		if _, err := os.Stat(filepath.Join(folder, databaseName)); err == nil {
			t.Error("there is a database")
		}
	}
}
