package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"flowdrive/internal/pgtest"
	"flowdrive/internal/s3server"
)

// TestNodesShareABucket: the contents of a database lie in the bucket that the first node
// names, for all nodes; if the bucket is away, that is 503, and what needs no content goes on.
func TestNodesShareABucket(t *testing.T) {
	t.Parallel()
	s := s3server.Start(t)
	address := pgtest.New(t)
	one := startNode(t, address, "one", "--contents", s.Address("nodes"))
	one.awaitReady(t)
	two := startNode(t, address, "two") // where they lie is in the database
	two.awaitReady(t)
	large := strings.Repeat("0123456789abcdef", 1<<16)
	at := "/attachfs/view/" + two.must(t, http.StatusCreated, "PUT", "/attachfs/a.bin", large).header.Get("X-OpenGroupware-AttachmentUUID")
	one.kill()
	two.awaitReady(t)
	if got := two.must(t, http.StatusOK, "GET", at, ""); string(got.body) != large {
		t.Errorf("after the other one was killed it has %d bytes", len(got.body))
	}
	objects, err := filepath.Glob(filepath.Join(s.Folder, s3server.Bucket, "nodes", "*"))
	if err != nil || len(objects) < 2 {
		t.Errorf("in the bucket are %q, %v", objects, err)
	}
	s.Cut()
	two.refused(t, "GET", at, "")
	two.refused(t, "PUT", "/attachfs/b.bin", large+"b")
	two.must(t, http.StatusOK, "GET", "/dav/Workflow/Routes/.contents", "")
	s.Mend()
	two.must(t, http.StatusCreated, "PUT", "/attachfs/b.bin", large+"b")
	two.must(t, http.StatusOK, "GET", at, "")
	if code, said := withKeys(t, s3server.Secret, "check", "--db", address); code != 0 {
		t.Errorf("check: %d, %s", code, said)
	}
	if err := two.stop(); err != nil {
		t.Fatal(err)
	}
	if code, said := withKeys(t, s3server.Secret, "serve", "--addr", "127.0.0.1:0", "--db", address, "--contents", s.Address("elsewhere")); code != exitConfig || !strings.Contains(said, "and not there") {
		t.Errorf("another bucket is asked for: %d, %s", code, said)
	}
}
