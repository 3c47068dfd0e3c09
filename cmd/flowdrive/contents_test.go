package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flowdrive/internal/s3server"
)

// withKeys runs a command with the keys of the S3 server, and returns its exit code and what
// it said.
func withKeys(t *testing.T, secret string, args ...string) (code int, said string) {
	t.Helper()
	cmd := childProcess(t, "flowdrive", args...)
	cmd.Env = keys(secret)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func keys(secret string) []string {
	return environment("AWS_ACCESS_KEY_ID="+s3server.Key, "AWS_SECRET_ACCESS_KEY="+secret, "AWS_REGION=us-east-1", "FLOWDRIVE_ADMIN_PASSWORD="+adminPassword)
}

// serveContents starts a server with the keys.
func serveContents(t *testing.T, data string, flags ...string) *program {
	t.Helper()
	cmd := childProcess(t, "flowdrive", append([]string{"serve", "--addr", "127.0.0.1:0", "--data", data, "--log-level", "debug"}, flags...)...)
	cmd.Env = keys(s3server.Secret)
	return startServe(t, cmd)
}

// TestContentsInABucket: contents lie in the bucket that --contents names, are remembered there,
// backed up, checked and restored; a store that is away is 503, and all goes on when it is back.
func TestContentsInABucket(t *testing.T) {
	t.Parallel()
	s := s3server.Start(t)
	folder := t.TempDir()
	data, backups := filepath.Join(folder, "data"), filepath.Join(folder, "backups")
	large := strings.Repeat("0123456789abcdef", 1<<16)
	p := serveContents(t, data, "--contents", s.Address("one"))
	at := "/attachfs/view/" + p.must(t, http.StatusCreated, "PUT", "/attachfs/a.bin", large).header.Get("X-OpenGroupware-AttachmentUUID")
	if got := p.must(t, http.StatusOK, "GET", at, ""); string(got.body) != large {
		t.Errorf("it has %d bytes", len(got.body))
	}
	s.Cut()
	for _, r := range []*answer{
		p.must(t, http.StatusServiceUnavailable, "GET", at, ""),
		p.must(t, http.StatusServiceUnavailable, "PUT", "/attachfs/b.bin", large+"b"),
	} {
		if r.header.Get("Retry-After") == "" {
			t.Errorf("without Retry-After: %s", r.body)
		}
	}
	p.must(t, http.StatusOK, "GET", "/dav/Workflow/Routes/.contents", "")
	s.Mend()
	p.must(t, http.StatusCreated, "PUT", "/attachfs/b.bin", large+"b")
	p.must(t, http.StatusOK, "GET", at, "")
	for _, args := range [][]string{{"check", "--data", data}, {"backup", "--data", data, backups}, {"doctor", "--data", data}} {
		if code, said := withKeys(t, s3server.Secret, args...); code != 0 {
			t.Errorf("%v: %d, %s", args, code, said)
		}
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	s.Cut()
	p = serveContents(t, data) // it is remembered, and starts without the store
	p.must(t, http.StatusServiceUnavailable, "GET", at, "")
	s.Mend()
	p.must(t, http.StatusOK, "GET", at, "")
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	keysAreHidden(t, data, p.complaints.String())
	restoreBoth(t, s, backups, folder, func(p *program) {
		if got := p.must(t, http.StatusOK, "GET", at, ""); string(got.body) != large {
			t.Errorf("restored it has %d bytes", len(got.body))
		}
	})
}

// keysAreHidden wants no secret in the data folder or the log.
func keysAreHidden(t *testing.T, data, log string) {
	t.Helper()
	err := filepath.WalkDir(data, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(s3server.Secret)) || bytes.Contains(text, []byte(s3server.Key)) {
			t.Errorf("%s has a secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log, s3server.Secret) || strings.Contains(log, s3server.Key) {
		t.Errorf("the log has a secret: %s", log)
	}
}

// restoreBoth restores the backup into files and into another prefix.
func restoreBoth(t *testing.T, s *s3server.Server, backups, folder string, try func(*program)) {
	t.Helper()
	all, err := os.ReadDir(backups)
	if err != nil {
		t.Fatal(err)
	}
	var src string
	for _, e := range all {
		if e.IsDir() {
			src = filepath.Join(backups, e.Name())
		}
	}
	files, elsewhere := filepath.Join(folder, "files"), filepath.Join(folder, "elsewhere")
	for _, args := range [][]string{
		{"restore", src, "--data", files},
		{"restore", src, "--data", elsewhere, "--contents", s.Address("two")},
	} {
		if code, said := withKeys(t, s3server.Secret, args...); code != 0 {
			t.Fatalf("%v: %d, %s", args, code, said)
		}
	}
	for _, data := range []string{files, elsewhere} {
		p := serveContents(t, data)
		try(p)
		if err := p.stop(); err != nil {
			t.Fatal(err)
		}
		if code, said := withKeys(t, s3server.Secret, "check", "--data", data); code != 0 {
			t.Errorf("check: %d, %s", code, said)
		}
	}
	if code, said := withKeys(t, s3server.Secret, "restore", src, "--data", filepath.Join(folder, "third"), "--contents", s.Address("two")); code != exitConfig || !strings.Contains(said, "belongs to another installation") {
		t.Errorf("restored into the prefix of another: %d, %s", code, said)
	}
	if _, err := os.Stat(filepath.Join(folder, "third")); err == nil {
		t.Error("a restoration that failed has left a folder")
	}
	if code, said := withKeys(t, s3server.Secret, "serve", "--addr", "127.0.0.1:0", "--data", files, "--contents", s.Address("three")); code != exitConfig || !strings.Contains(said, "there are contents already") {
		t.Errorf("files, and a bucket is asked for: %d, %s", code, said)
	}
	if code, said := withKeys(t, s3server.Secret, "serve", "--addr", "127.0.0.1:0", "--data", elsewhere, "--contents", s.Address("three")); code != exitConfig || !strings.Contains(said, "and not there") {
		t.Errorf("another bucket is asked for: %d, %s", code, said)
	}
}

// TestContentsThatCannotBe: what cannot be used is a sentence, exit code 78, and tried again
// with what is right it works.
func TestContentsThatCannotBe(t *testing.T) {
	t.Parallel()
	s := s3server.Start(t)
	data := filepath.Join(t.TempDir(), "data")
	for _, test := range []struct{ address, secret, want string }{
		{s.Address("p"), "not-the-secret", "does not accept the access key"},
		{strings.Replace(s.Address("p"), s3server.Bucket, "missing", 1), s3server.Secret, "there is no bucket"},
	} {
		code, said := withKeys(t, test.secret, "serve", "--addr", "127.0.0.1:0", "--data", data, "--contents", test.address)
		if code != exitConfig || !strings.Contains(said, test.want) || strings.Contains(said, test.secret) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: %d, %s", test.address, code, said)
		}
	}
	s.Cut()
	if code, said := withKeys(t, s3server.Secret, "serve", "--addr", "127.0.0.1:0", "--data", data, "--contents", s.Address("p")); code != 1 || !strings.Contains(said, "does not answer") {
		t.Errorf("away at the first start: %d, %s", code, said)
	}
	s.Mend()
	if code, said := withKeys(t, s3server.Secret, "serve", "--addr", "127.0.0.1:0", "--data", data, "--contents", "s3://key:word@x/y"); code != 78 || strings.Contains(said, "word@") {
		t.Errorf("a key in the address: %d, %s", code, said)
	}
	p := serveContents(t, data, "--contents", s.Address("p"))
	p.must(t, http.StatusCreated, "PUT", "/attachfs/a.bin", "x")
}
