package main

import (
	"bytes"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"flowdrive/internal/pgtest"
)

// startNode starts a node of a database, and returns when it listens.
func startNode(t *testing.T, address, name string) *program {
	t.Helper()
	p := &program{
		cmd:  exec.Command("flowdrive", "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), name), "--db", address, "--node", name, "--log-level", "warn"),
		user: "admin", password: adminPassword, dead: make(chan struct{}), complaints: &watched{},
		greeting: &watched{want: regexp.MustCompile(`Listening on (http://\S+)/, one`), found: make(chan string, 1)},
		client:   &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableCompression: true}},
	}
	p.cmd.Env = append(environment(), "FLOWDRIVE_ADMIN_PASSWORD="+adminPassword)
	p.cmd.Stdout, p.cmd.Stderr = p.greeting, p.complaints
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ends is up to the test
		close(p.dead)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("what %s complained about:\n%s", name, p.complaints)
		}
	})
	select {
	case p.base = <-p.greeting.found:
	case <-p.dead:
		t.Fatalf("%s has ended: %s", name, p.complaints)
	}
	return p
}

// awaitReady waits until the node is the active one.
func (p *program) awaitReady(t *testing.T) {
	t.Helper()
	eventually(t, time.Minute, func() string {
		got, err := p.do(t.Context(), "GET", "/readyz", "")
		if err != nil {
			return err.Error()
		}
		if got.status != http.StatusOK {
			return got.String()
		}
		return ""
	})
}

// refused wants a request to be answered with 503. A connection may be closed on the way,
// when a node begins or ends to be the active one.
func (p *program) refused(t *testing.T, method, path, body string) (got *answer) {
	t.Helper()
	eventually(t, time.Minute, func() (amiss string) {
		var err error
		if got, err = p.do(t.Context(), method, path, body); err != nil {
			return err.Error()
		}
		return ""
	})
	if after, err := strconv.Atoi(got.header.Get("Retry-After")); got.status != http.StatusServiceUnavailable || err != nil || after < 1 || after > 30 {
		t.Errorf("%s %s: %s, Retry-After %q", method, path, got, got.header.Get("Retry-After"))
	}
	return got
}

// TestNodesTakeOver: of two nodes one is active, and the other one says that it stands by.
// If the active one is killed, the other one takes over and has all that was acknowledged.
// One that was stopped and wakes writes nothing: what it answers is 503, and it stands by.
func TestNodesTakeOver(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	one := startNode(t, address, "one")
	one.awaitReady(t)
	two := startNode(t, address, "two")
	eventually(t, time.Minute, func() string {
		standing := two.refused(t, "GET", "/readyz", "")
		if !strings.Contains(string(standing.body), "Another node is active") {
			return standing.String()
		}
		return ""
	})
	two.must(t, http.StatusOK, "GET", "/healthz", "")
	two.refused(t, "PUT", "/dav/Documents/admin/x.txt", "x")

	one.must(t, http.StatusCreated, "PUT", "/dav/Documents/admin/a.txt", "acknowledged")
	large := strings.Repeat("content", 100<<10) // in rows of its own
	one.must(t, http.StatusCreated, "PUT", "/dav/Documents/admin/large.txt", large)
	one.kill()
	two.awaitReady(t)
	if got := two.must(t, http.StatusOK, "GET", "/dav/Documents/admin/large.txt", ""); string(got.body) != large {
		t.Errorf("after the other one was killed, a large document has %d bytes", len(got.body))
	}
	if got := two.must(t, http.StatusOK, "GET", "/dav/Documents/admin/a.txt", ""); string(got.body) != "acknowledged" {
		t.Errorf("after the other one was killed: %q", got.body)
	}

	// The server ends a session that says nothing. Here it is ended at once.
	three := startNode(t, address, "three")
	if err := two.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	pgtest.Execute(t, address, `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	three.awaitReady(t)
	three.must(t, http.StatusNoContent, "PUT", "/dav/Documents/admin/a.txt", "newer")
	if err := two.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	two.refused(t, "PUT", "/dav/Documents/admin/a.txt", "older")
	if got := three.must(t, http.StatusOK, "GET", "/dav/Documents/admin/a.txt", ""); string(got.body) != "newer" {
		t.Errorf("after the other one has woken: %q", got.body)
	}
}

// TestDatabaseIsAway: while the database refuses connections, requests are answered with
// 503 and the process lives; when it is back, all goes on.
func TestDatabaseIsAway(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	name := address[strings.LastIndex(address[:strings.Index(address, "?")], "/")+1 : strings.Index(address, "?")]
	elsewhere := strings.Replace(address, "/"+name+"?", "/postgres?", 1)
	p := startNode(t, address, "one")
	p.awaitReady(t)
	p.must(t, http.StatusCreated, "PUT", "/dav/Documents/admin/a.txt", "acknowledged")
	pgtest.Execute(t, elsewhere, `ALTER DATABASE `+name+` ALLOW_CONNECTIONS false`)
	pgtest.Execute(t, elsewhere, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '`+name+`'`)
	for range 3 {
		p.refused(t, "PUT", "/dav/Documents/admin/a.txt", "lost")
	}
	p.must(t, http.StatusOK, "GET", "/healthz", "")
	pgtest.Execute(t, elsewhere, `ALTER DATABASE `+name+` ALLOW_CONNECTIONS true`)
	p.awaitReady(t)
	if got := p.must(t, http.StatusOK, "GET", "/dav/Documents/admin/a.txt", ""); string(got.body) != "acknowledged" {
		t.Errorf("after the database was away: %q", got.body)
	}
}

// TestDatabaseSettings: what is wrong with --db is said before anything begins, with exit
// code 2 or 78, and no password is in what is said.
func TestDatabaseSettings(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	missing := strings.Replace(address, "?", "-nothing?", 1)
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--db", "postgres://u:secret-word@h/d"}, 2, "has a password in it"},
		{[]string{"--db", "mysql://u:secret-word@h/d"}, 2, "begins with postgres://"},
		{[]string{"--node", "n"}, 2, "--db is missing"},
		{[]string{"--db", address, "--backup-to", "/tmp"}, 2, "pg_dump"},
		{[]string{"--db", address, "--db-password-file", "/nothing"}, 2, "--db-password-file"},
		{[]string{"--db", missing}, exitConfig, "createdb"},
	} {
		var out bytes.Buffer
		code := run(t.Context(), append([]string{"serve", "--addr", "127.0.0.1:0", "--data", t.TempDir()}, tt.args...), nil, &out, &out)
		if code != tt.code || !strings.Contains(out.String(), tt.want) || strings.Contains(out.String(), "secret-word") {
			t.Errorf("%q: exit code %d\n%s", tt.args, code, &out)
		}
	}
}
