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

// TestNodesWaitForABucket: if the bucket in which contents are to lie is away when the first
// nodes start, requests and the log say so, the log once however often a node tries, and all goes on
// when it is back. A node also takes over while the bucket is away.
func TestNodesWaitForABucket(t *testing.T) {
	t.Parallel()
	s := s3server.Start(t)
	s.Cut()
	address := pgtest.New(t)
	const missing, said = "The store of contents does not answer.", "node: the store of contents does not answer; waiting for it"
	nodes := []*program{startNode(t, address, "one", "--contents", s.Address("late")), startNode(t, address, "two", "--contents", s.Address("late"))}
	for told := 0; told < 2; { // one of them has tried again
		for _, n := range nodes {
			if got := n.refused(t, "GET", "/readyz", ""); strings.Contains(string(got.body), missing) {
				told++
			}
			n.must(t, http.StatusOK, "GET", "/healthz", "")
		}
	}
	var logs string
	for _, n := range nodes {
		log := n.complaints.String()
		if strings.Count(log, said) > 1 || strings.Contains(log, "the database does not answer") {
			t.Errorf("the log says:\n%s", log)
		}
		logs += log
	}
	if !strings.Contains(logs, said) {
		t.Error("no log says what is away")
	}
	s.Mend()
	for _, n := range nodes {
		n.awaitReady(t)
	}
	const text = "a text that nothing else has"
	nodes[0].must(t, http.StatusCreated, "PUT", "/dav/Documents/admin/a.txt", text)
	s.Cut()
	for i, active := range nodes { // one of them is the active one
		if strings.Contains(string(nodes[1-i].must(t, http.StatusOK, "GET", "/dav/Admin/Nodes/"+[]string{"one", "two"}[i]+".json", "").body), `"leases": 1`) {
			active.kill()
			nodes[1-i].awaitReady(t)
			if got := nodes[1-i].must(t, http.StatusOK, "GET", "/dav/Documents/admin/a.txt", ""); string(got.body) != text {
				t.Errorf("after a node has taken over: %q", got.body)
			}
			return
		}
	}
	t.Error("none is active")
}
