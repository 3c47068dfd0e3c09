package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"flowdrive/internal/errs"
	"flowdrive/internal/pgtest"
)

// fullDatabase has a server of PostgreSQL say that its disk is full when something is stored.
const fullDatabase = `
	CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
	CREATE FUNCTION no_room_at_all() RETURNS event_trigger LANGUAGE plpgsql AS $$
	BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
	CREATE TRIGGER no_room BEFORE INSERT ON documents EXECUTE FUNCTION no_room();
	CREATE TRIGGER no_room BEFORE INSERT OR UPDATE ON nodes EXECUTE FUNCTION no_room();
	CREATE EVENT TRIGGER no_room ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION no_room_at_all()`

// TestFullDatabase: a full disk of the database is told as one of the server itself, and stops no
// node: what stores something is refused before it is read, other things go on, and it ends by
// itself.
func TestFullDatabase(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	p := startNode(t, server.Address("flow"), "one")
	p.awaitReady(t)
	p.must(t, http.StatusCreated, "PUT", "/dav/Documents/admin/kept.txt", "kept")
	p.must(t, http.StatusCreated, "PUT", "/dav/Documents/admin/old.txt", "old")
	server.Execute(t, "flow", fullDatabase)
	first := p.must(t, http.StatusInsufficientStorage, "PUT", "/dav/Documents/admin/new.txt", "new")
	if !strings.Contains(string(first.body), "Nothing was stored") {
		t.Errorf("the first one: %s", first)
	}
	says := func(part, want string) {
		t.Helper()
		eventually(t, func() string {
			got := p.must(t, http.StatusOK, "GET", "/readyz", "")
			if !strings.Contains(got.String(), want) {
				return part + ": " + got.String()
			}
			return ""
		})
	}
	says("the disk", databaseFull)
	if got := p.must(t, http.StatusInsufficientStorage, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "bug"}`); !strings.Contains(got.String(), databaseFull) || got.header.Get("Retry-After") == "" {
		t.Errorf("a case: %s", got)
	}
	p.must(t, http.StatusOK, "GET", "/dav/Documents/admin/kept.txt", "")
	p.must(t, http.StatusNoContent, "DELETE", "/dav/Documents/admin/old.txt", "")
	if got := string(p.must(t, http.StatusOK, "GET", "/metrics", "").body); !strings.Contains(got, "\nflowdrive_disk_full 1\n") {
		t.Error("the metrics do not say it")
	}
	eventually(t, func() string {
		if got := p.must(t, http.StatusOK, "GET", "/dav/Admin/Status.json", "").String(); !strings.Contains(got, toldDatabase) {
			return "administrators are not told: " + got
		}
		return ""
	})

	server.Execute(t, "flow", `DROP EVENT TRIGGER no_room; DROP TRIGGER no_room ON documents; DROP TRIGGER no_room ON nodes`)
	says("the disk after that", "disk: ok")
	p.must(t, http.StatusCreated, "PUT", "/dav/Documents/admin/new.txt", "new")
	eventually(t, func() string {
		if got := p.must(t, http.StatusOK, "GET", "/dav/Admin/Status.json", "").String(); strings.Contains(got, toldDatabase) {
			return "administrators are still told: " + got
		}
		return ""
	})
}

// TestDatabaseIsAsked: whether the database has room is asked at first, so that nobody is told of
// an end that there was not, and then only while something could not be stored.
func TestDatabaseIsAsked(t *testing.T) {
	t.Parallel()
	d, err := newDisk(t.TempDir(), zerolog.Nop(), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	d.tell = func(what string) { told = append(told, what) }
	asked, lacks := 0, false
	var answer error
	d.database = func(context.Context) error {
		asked++
		lacks = lacks && answer != nil
		return answer
	}
	d.lacks = func() bool { return lacks }
	full := errs.New(errs.Full, "full")
	now := time.Date(2012, 11, 9, 12, 0, 0, 0, time.UTC)
	room := d.statfs
	answer = errors.New("away")
	d.statfs = func(_ string, into *syscall.Statfs_t) error {
		*into = syscall.Statfs_t{Bsize: 4096, Blocks: 10000}
		return nil
	}
	if d.look(t.Context(), now); !slices.Equal(told, []string{toldFull}) {
		t.Errorf("the data folder is full, and nobody knows of the database: told %q", told)
	}
	d.statfs, d.told, told = room, nil, nil
	d.wrong.Store(nil)
	for _, step := range []struct {
		name   string
		answer error
		lacks  bool
		asked  int // times in a minute
		told   []string
	}{
		{"nobody knows", errors.New("away"), false, 6, nil},
		{"full from the beginning", full, true, 6, []string{toldDatabase}},
		{"still full", full, true, 6, []string{toldDatabase}},
		{"nobody knows any more", errors.New("away"), true, 6, []string{toldDatabase}},
		{"room", nil, true, 1, []string{toldDatabase, ""}},
		{"nothing has failed", nil, false, 0, []string{toldDatabase, ""}},
		{"something has failed", full, true, 6, []string{toldDatabase, "", toldDatabase}},
	} {
		asked, answer, lacks = 0, step.answer, step.lacks
		for range 60 {
			d.look(t.Context(), now)
			now = now.Add(time.Second)
		}
		if asked != step.asked || !slices.Equal(told, step.told) {
			t.Errorf("%s: asked %d times, told %q; want %d, %q", step.name, asked, told, step.asked, step.told)
		}
		if err := d.ready(func(context.Context) error { return nil })(t.Context()); err != nil {
			t.Errorf("%s: not ready: %v", step.name, err)
		}
	}
}

// TestDatabaseIsReadOnly: a node whose database takes no changes, as that of a replica which was
// not promoted, says so, and goes on when it does.
func TestDatabaseIsReadOnly(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	p := startNode(t, server.Address("flow"), "one")
	p.awaitReady(t)
	const path = "/dav/Documents/admin/a.txt"
	p.must(t, http.StatusCreated, "PUT", path, "acknowledged")
	set := func(readOnly string) {
		t.Helper()
		server.Execute(t, "postgres", `ALTER SYSTEM SET default_transaction_read_only = `+readOnly)
		server.Execute(t, "postgres", `SELECT pg_reload_conf()`)
		server.Execute(t, "postgres", `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'flow'`)
	}
	set("on")
	eventually(t, func() string {
		if got := p.refused(t, "PUT", path, "lost"); !strings.Contains(got.String(), databaseRead) {
			return got.String()
		}
		return ""
	})
	if said := p.complaints.String(); !strings.Contains(said, "promote it") {
		t.Errorf("logged:\n%s", said)
	}
	set("off")
	p.awaitReady(t)
	if got := p.must(t, http.StatusOK, "GET", path, ""); string(got.body) != "acknowledged" {
		t.Errorf("after that: %q", got.body)
	}
}
