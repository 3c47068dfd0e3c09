package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/pgtest"
	"flowdrive/internal/s3server"
	"flowdrive/store/postgres"
)

// TestDatabaseIsChecked: a PostgreSQL database, with contents in it, is checked beside the node
// that writes it: nothing is found if it is sound, and each damage is.
func TestDatabaseIsChecked(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	p := startNode(t, address, "one")
	p.awaitReady(t)
	p.must(t, http.StatusCreated, "PUT", "/dav/Documents/admin/small.txt", "small")
	p.must(t, http.StatusCreated, "PUT", "/dav/Documents/admin/large.txt", strings.Repeat("content", 100<<10))
	p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "bug", "title": "one"}`)
	try := func(code int, want string, args ...string) {
		t.Helper()
		if got, said := command(t, append(args, "--db", address)...); got != code || !regexp.MustCompile(want).MatchString(said) {
			t.Errorf("%q: %d, %s; want %d with %s", args, got, said, code, want)
		}
	}
	try(0, `^$`, "check")
	try(0, `lines are as they were written`, "audit", "verify")
	try(1, `(?m)^fix   database: fsync is off;`, "doctor")
	try(2, `pg_dump`, "backup", t.TempDir())
	try(2, `--repair-orphans is for data folders`, "check", "--repair-orphans")

	pgtest.Execute(t, address, `UPDATE content_parts SET data = set_byte(data, 0, 1) WHERE number = 1`)
	pgtest.Execute(t, address, `INSERT INTO content_parts (sha256, number, data) VALUES (decode(repeat('ab', 32), 'hex'), 0, 'x')`)
	pgtest.Execute(t, address, `UPDATE audit SET line = 'x' WHERE start = 0`)
	pgtest.Execute(t, address, `ALTER TABLE cases DISABLE TRIGGER USER; UPDATE cases SET due = 12345`)
	try(1, `(?s)case \d+ /dav/.*content [0-9a-f]{64} /dav/Documents/admin/large.txt: its file is damaged.*orphan (ab){32}`, "check")
	try(1, `the audit log is not as it was written`, "audit", "verify")
}

// TestDatabaseThatCannotBeChecked: one that is empty, foreign or away is a sentence.
func TestDatabaseThatCannotBeChecked(t *testing.T) {
	t.Parallel()
	address, foreign, cut, newer, older := pgtest.New(t), pgtest.New(t), pgtest.New(t), pgtest.New(t), pgtest.New(t)
	pgtest.Execute(t, foreign, `CREATE TABLE invoices (id int)`)
	pgtest.Execute(t, cut, `CREATE TABLE flowdrive_copying (kind text); CREATE TABLE goose_db_version (version_id bigint)`)
	pgtest.Execute(t, newer, `CREATE TABLE goose_db_version (version_id bigint); INSERT INTO goose_db_version VALUES (9999)`)
	pgtest.Execute(t, older, `CREATE TABLE goose_db_version (version_id bigint); INSERT INTO goose_db_version VALUES (1)`)
	for _, args := range [][]string{{"check"}, {"audit", "verify"}} {
		for _, tt := range []struct{ db, want string }{
			{address, "is empty"},
			{foreign, "of another program"},
			{cut, "run the same flowdrive copy again"},
			{newer, "used by a newer program, use that one"},
			{older, "start the server of this program on it once"},
			{"postgres://a@127.0.0.1:1/x", "does not answer"},
			{"postgres://a:word@127.0.0.1/x", "has a password in it"},
		} {
			if code, said := command(t, append(args, "--db", tt.db)...); code != 2 || !strings.Contains(said, tt.want) || strings.Contains(said, "word@") {
				t.Errorf("%q: %d, %s", args, code, said)
			}
		}
	}
	if code, said := command(t, "doctor", "--db", address); code != 1 || !strings.Contains(said, "ok    data folder: none is needed") {
		t.Errorf("doctor of an empty one: %d, %s", code, said)
	}
	if code, said := command(t, "doctor", "--db", "postgres://a@127.0.0.1:1/x"); code != 1 || !strings.Contains(said, "fix   database: ") {
		t.Errorf("doctor: %d, %s", code, said)
	}
}

// TestNodeWithABucket: a node keeps contents in the bucket of --contents, the next one finds
// them there without being told, a bucket that is away is 503, and it is checked.
func TestNodeWithABucket(t *testing.T) {
	t.Parallel()
	address, s := pgtest.New(t), s3server.Start(t)
	large := strings.Repeat("0123456789abcdef", 1<<16)
	one := startNode(t, address, "one", "--contents", s.Address("one"))
	one.awaitReady(t)
	at := "/attachfs/view/" + one.must(t, http.StatusCreated, "PUT", "/attachfs/a.bin", large).header.Get("X-OpenGroupware-AttachmentUUID")
	one.kill()
	two := startNode(t, address, "two")
	two.awaitReady(t)
	if got := two.must(t, http.StatusOK, "GET", at, ""); string(got.body) != large {
		t.Errorf("on the next node it has %d bytes", len(got.body))
	}
	s.Cut()
	two.refused(t, "GET", at, "")
	s.Mend()
	two.must(t, http.StatusOK, "GET", at, "")
	for _, args := range [][]string{{"check"}, {"audit", "verify"}} {
		if code, said := withKeys(t, s3server.Secret, append(args, "--db", address)...); code != 0 {
			t.Errorf("%q: %d, %s", args, code, said)
		}
	}
}

// TestDoctorOfADatabase: what can lose an acknowledgement or make a node wrong is to be done.
func TestDoctorOfADatabase(t *testing.T) {
	t.Parallel()
	sound := postgres.Looked{Version: "15.14", Schema: 20, Newest: 20, Node: "a", TLS: true}
	for _, tt := range []struct {
		what   string
		change func(*postgres.Looked)
		want   string
	}{
		{"sound", func(*postgres.Looked) {}, "PostgreSQL 15.14; the active node is a; the way to it is encrypted"},
		{"empty", func(l *postgres.Looked) { l.Schema, l.Node = 0, "" }, `PostgreSQL 15.14; it is empty, the first "flowdrive serve" makes the tables; the way to it is encrypted`},
		{"idle", func(l *postgres.Looked) { l.Node, l.TLS = "", false }, "PostgreSQL 15.14; no node is active; the way to it is not encrypted"},
		{"newer", func(l *postgres.Looked) { l.Schema = 21 }, "it has schema version 21, this program knows 20; use the program that used it last"},
		{"unsafe", func(l *postgres.Looked) { l.Unsafe = "fsync" }, "fsync is off; what was acknowledged can be lost when its machine fails; set it to on"},
		{"an hour off", func(l *postgres.Looked) { l.Ahead = -time.Hour }, "the clock of this machine is 1h0m0s apart from the database's; let NTP keep both"},
	} {
		l := sound
		tt.change(&l)
		good, err := judgeDatabase(&l)
		if err != nil {
			good = err.Error()
		}
		if good != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, good, tt.want)
		}
	}
}
