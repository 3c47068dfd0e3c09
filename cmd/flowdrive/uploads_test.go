package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var ofFolders = regexp.MustCompile(`(?:<D:get(?:lastmodified|etag)>[^<]*</D:get(?:lastmodified|etag)>)+(<D:resourcetype><D:collection/>)`)

// weekly is a schedule entry, different for every n, and all of one length.
func weekly(n int) string {
	return fmt.Sprintf(`{"route": "collector", "type": "interval", "weeks": 500, "note": "%06d"}`, n)
}

// small is a route, different for every n.
func small(n int) string {
	return fmt.Sprintf("title: Number %06d\naccess: {start: [everyone]}\nstates: {open: {type: start}, shut: {type: complete}}\n"+
		"actions:\n  begin: {trigger: init}\n  close: {in: [open], to: shut, allowed: [everyone]}\n", n)
}

// TestCutUploads ends a thousand uploads somewhere on the way, from their first
// byte to their last but one, and wants everything to be as it was: what is
// stored, what is listed, what the actions of a case have done
// (docs/contract/drive.md#protocol: a body that ends early changes nothing).
func TestCutUploads(t *testing.T) {
	t.Parallel()
	random, data := newRandom(t), t.TempDir()
	p := startProgram(t, data)
	const schedule, routes, cases, documents = "/dav/Workflow/Schedule/", "/dav/Workflow/Routes/", "/dav/Workflow/Cases/", "/dav/Documents/admin/"
	p.must(t, http.StatusCreated, http.MethodPut, schedule+"nightly.json", weekly(0))
	p.must(t, http.StatusCreated, http.MethodPut, routes+"small.yaml", small(0))
	p.must(t, http.StatusCreated, http.MethodPut, documents+"file", "as it was")
	made := p.must(t, http.StatusCreated, http.MethodPut, cases+"fire.json", `{"route": "small"}`).header.Get("Location")
	folder := strings.TrimSuffix(made, ".json") + "/"

	// Each in place of something, and as something new.
	uploads := []struct{ path, body string }{
		{schedule + "nightly.json", weekly(1)},
		{schedule + "new.json", weekly(1)},
		{schedule + "other.json", weekly(1)},
		{schedule + ".nightly.json.swp", strings.Repeat("editor", 1000)},
		{routes + "small.yaml", small(1)},
		{routes + "other.yaml", small(1)},
		{routes + "small/dropped.csv", strings.Repeat("a,b,c\n", 1000)},
		{made, `{"title": "changed"}` + strings.Repeat(" ", 200)},
		{cases + "smoke.json", `{"route": "small"}` + strings.Repeat(" ", 200)},
		{folder + "Actions/close.json", `{}` + strings.Repeat(" ", 500)}, // a part of it would perform as well
		{folder + "Labels/notes", strings.Repeat("a note\n", 1000)},
		{documents + "file", strings.Repeat("changed\n", 20_000)},
		{documents + "another", strings.Repeat("new\n", 40_000)},
	}
	all := func(p *program) map[string]string {
		seen := map[string]string{}
		for _, u := range uploads {
			for _, agent := range []string{"curl/8.5", "davfs2/1.6.1"} {
				seen[agent+" "+u.path] = p.shown(t, http.MethodGet, u.path, agent)
			}
		}
		for _, path := range []string{schedule, routes, routes + "small/", cases, folder, folder + "Labels/", folder + "Messages/", documents} {
			seen["list "+path] = p.shown(t, "PROPFIND", path, "rclone/v1.60")
		}
		seen["log"] = p.shown(t, http.MethodGet, folder+"log.json", "curl/8.5")
		return seen
	}
	before := all(p)

	var group sync.WaitGroup
	cuts := make(chan *cut)
	for range connections {
		group.Go(func() {
			for c := range cuts {
				if err := c.send(strings.TrimPrefix(p.base, "http://")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 1000 {
		u := uploads[i%len(uploads)]
		cuts <- newCut(random, p.password, u.path, u.body)
	}
	close(cuts)
	group.Wait()

	if diff := cmp.Diff(before, all(p)); diff != "" {
		t.Errorf("a thousand uploads that were cut off changed what is stored (-before +after):\n%s", diff)
	}
	// To stop is to wait for whatever still hung on a connection.
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	if complaints := p.complained(); complaints != "" {
		t.Errorf("the server complained:\n%.2000s", complaints)
	}
	if diff := cmp.Diff(before, all(startProgram(t, data))); diff != "" {
		t.Errorf("after a restart something else is stored (-before +after):\n%s", diff)
	}
}

// shown is what a client is shown at a path. The times and ETags of folders,
// which may be new in every process, are left out.
func (p *program) shown(t *testing.T, method, path, agent string) string {
	t.Helper()
	a, err := p.do(t.Context(), method, path, "", "Depth", "1", "User-Agent", agent)
	if err != nil {
		t.Fatal(err)
	}
	if a.status == http.StatusNotFound {
		return "nothing"
	}
	return fmt.Sprintf("%d %s %s", a.status, a.header.Get("Etag"), ofFolders.ReplaceAll(a.body, []byte("$1")))
}

// cut is a PUT that ends before its end.
type cut struct {
	part  string
	reset bool // the connection is reset; else only its sending half is closed, and the answer read
	head  int  // where the body begins
}

func newCut(random *rand.Rand, password, path, body string) *cut {
	agents := []string{"curl/8.5", "davfs2/1.6.1 neon/0.32.5", "rclone/v1.60.1-DEV", "Microsoft-WebDAV-MiniRedir/10.0.19045"}
	head := fmt.Sprintf("PUT %s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: %s\r\nAuthorization: Basic %s\r\n", path,
		agents[random.IntN(len(agents))], base64.StdEncoding.EncodeToString([]byte("admin:"+password)))
	if random.IntN(2) == 0 {
		head += fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body))
	} else {
		head += "Transfer-Encoding: chunked\r\n\r\n"
		middle := random.IntN(len(body)-1) + 1
		body = fmt.Sprintf("%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", middle, body[:middle], len(body)-middle, body[middle:])
	}
	// Most offsets would be in the largest part; half of them are to be in the
	// last bytes, where a body looks whole.
	whole := head + body
	offset := random.IntN(len(whole))
	if random.IntN(2) == 0 {
		offset = len(whole) - 1 - random.IntN(min(20, len(body)))
	}
	return &cut{part: whole[:offset], head: len(head), reset: random.IntN(2) == 0}
}

func (c *cut) send(address string) error {
	server, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return err
	}
	tcp, err := net.DialTCP("tcp", nil, server)
	if err != nil {
		return err
	}
	defer tcp.Close()
	if err := tcp.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := io.WriteString(tcp, c.part); err != nil {
		return nil // the server may refuse by the head alone, and close
	}
	if c.reset {
		return tcp.SetLinger(0)
	}
	if err := tcp.CloseWrite(); err != nil {
		return nil // as above
	}
	resp, err := http.ReadResponse(bufio.NewReader(tcp), nil)
	if err != nil {
		if len(c.part) < c.head {
			return nil // nothing to answer
		}
		return fmt.Errorf("%q, cut off at %d of its body, has no answer: %w", line(c.part), len(c.part)-c.head, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 4 {
		return fmt.Errorf("%q, cut off at %d of its body: got %d", line(c.part), len(c.part)-c.head, resp.StatusCode)
	}
	return nil
}

// line is the first line of a request.
func line(s string) string {
	first, _, _ := strings.Cut(s, "\r\n")
	return first
}

// TestWriters lets 32 clients write to one URL at once. Without locks they are
// served one after the other and none is sent away; of those who name the
// version that they replace one wins (docs/contract/drive.md#locks).
func TestWriters(t *testing.T) {
	t.Parallel()
	p := startProgram(t, t.TempDir())
	for _, tt := range []struct {
		path string
		body func(n int) string
	}{
		{"/dav/Workflow/Schedule/nightly.json", weekly},
		{"/dav/Workflow/Routes/small.yaml", small},
		{"/dav/Documents/admin/file", func(n int) string { return strings.Repeat(fmt.Sprintf("%06d\n", n), 1000) }},
	} {
		for _, agent := range []string{"curl/8.5", "rclone/v1.60.1-DEV", "davfs2/1.6.1 neon/0.32.5"} {
			t.Run(tt.path+" by "+agent, func(t *testing.T) {
				w := &writers{program: p, path: tt.path, agent: agent, body: tt.body}
				w.race(t)
			})
		}
	}
}

// writers are clients that write to one URL.
type writers struct {
	*program
	path, agent string
	body        func(n int) string
}

func (w *writers) race(t *testing.T) {
	t.Helper()
	// The revisions of the one before are not to be taken for this one's.
	if a, err := w.do(t.Context(), http.MethodDelete, w.path, ""); err != nil || a.status/100 == 5 {
		t.Fatal(a, err)
	}
	count := func(got map[int]int, want ...int) {
		t.Helper()
		n := 0
		for _, status := range want {
			n += got[status]
		}
		if n != connections {
			t.Errorf("%d clients at once got %v, want only %v", connections, got, want)
		}
	}

	got := w.at(t, 100, "If-None-Match", "*")
	count(got, http.StatusCreated, http.StatusPreconditionFailed)
	if got[http.StatusCreated] != 1 {
		t.Errorf("%d made what was to be new, want 1", got[http.StatusCreated])
	}
	count(w.at(t, 200), http.StatusNoContent)
	stored := w.must(t, http.StatusOK, http.MethodGet, w.path, "")
	got = w.at(t, 300, "If-Match", stored.header.Get("Etag"))
	count(got, http.StatusNoContent, http.StatusPreconditionFailed)
	if got[http.StatusNoContent] != 1 {
		t.Errorf("%d replaced the version that they named, want 1", got[http.StatusNoContent])
	}
}

// at lets all write at once, each another body from the n-th on, and counts
// the answers. What is stored then must be one of them, whole.
func (w *writers) at(t *testing.T, n int, headers ...string) map[int]int {
	t.Helper()
	headers = append(headers, "User-Agent", w.agent)
	statuses := make([]int, connections)
	ready := make(chan struct{})
	var group sync.WaitGroup
	for i := range connections {
		group.Go(func() {
			<-ready
			a, err := w.do(t.Context(), http.MethodPut, w.path, w.body(n+i), headers...)
			if err != nil {
				t.Error(err)
				return
			}
			statuses[i] = a.status
		})
	}
	close(ready)
	group.Wait()
	counts, stored := map[int]int{}, string(w.must(t, http.StatusOK, http.MethodGet, w.path, "").body)
	found := false
	for i, status := range statuses {
		counts[status]++
		found = found || status/100 == 2 && stored == w.body(n+i)
	}
	if !found {
		t.Errorf("stored is what nobody wrote with success: %.100q", stored)
	}
	return counts
}
