package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/pgtest"
)

// TestNodesOfAnOlderVersion: when a newer program has brought the tables up to date, a node of
// an older one goes on to pass requests on, and ends if it would have to become active.
func TestNodesOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	newer := startNode(t, address, "newer")
	newer.awaitReady(t)
	older := startNode(t, address, "older")
	older.awaitReady(t)
	pgtest.Execute(t, address, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`)
	older.must(t, http.StatusCreated, "PUT", "/dav/Documents/admin/a.txt", "passed on")
	if got := newer.must(t, http.StatusOK, "GET", "/dav/Documents/admin/a.txt", ""); string(got.body) != "passed on" {
		t.Errorf("stored is %q", got.body)
	}
	newer.kill()
	select {
	case <-older.dead:
	case <-time.After(patience):
		t.Fatal("the node of the older version does not end")
	}
	if code := older.cmd.ProcessState.ExitCode(); code != exitConfig || !strings.Contains(older.complaints.String(), "was last used by a newer program") {
		t.Errorf("exit code %d\n%s", code, older.complaints)
	}
}
