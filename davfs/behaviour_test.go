package davfs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"flowdrive/internal/identity"
	"flowdrive/store"
)

// fill adds entries without going through HTTP.
func (f *fake) fill(n int, owner identity.ID) {
	for range n {
		s := &stored{context: owner, version: 1}
		s.Seq, s.Created = f.nextID(), f.now
		s.uuid = store.UUID{0xc6, 15: byte(s.Seq), 14: byte(s.Seq >> 8)}
		s.Name = s.uuid.String()
		s.form(f.now, fmt.Sprintf(`{"UUID":%q}`, s.uuid.Braced()))
		f.entries = append(f.entries, s)
	}
}

// TestOneQuestion: a listing asks the engine once for all members.
func TestOneQuestion(t *testing.T) {
	t.Parallel()
	for _, request := range []string{"PROPFIND", "GET"} {
		d := newTestDrive()
		d.fill(1100, samID)
		rec := d.ask(t, "sam "+request+" /dav/Workflow/Schedule/", "Depth: 1")
		if n := strings.Count(rec.Body.String(), "/dav/Workflow/Schedule/c6"); request == "PROPFIND" && n != 1100 {
			t.Errorf("PROPFIND lists %d members, want 1100", n)
		}
		if request == "GET" && !strings.Contains(rec.Body.String(), "and 100 more") {
			t.Error("the page for browsers does not say that there are more")
		}
		if d.calls["page"] != 1 || d.calls["one"] != 0 {
			t.Errorf("%s asked %v, want one page", request, d.calls)
		}
	}
}

// TestStream: .contents without limit asks page by page and is whole.
func TestStream(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, pageSize, pageSize + 1, 2*pageSize + 7} {
		d := newTestDrive()
		d.fill(n, samID)
		rec := d.ask(t, "sam GET /dav/Workflow/Schedule/.contents")
		var got []struct{ UUID string }
		if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil || len(got) != n {
			t.Errorf("%d entries: got %d, %v", n, len(got), err)
		}
		if want := n/pageSize + 1; d.calls["page"] != want {
			t.Errorf("%d entries: %d questions, want %d", n, d.calls["page"], want)
		}
	}
}

// TestPages: following the links gives what the stream gives.
func TestPages(t *testing.T) {
	t.Parallel()
	d := newTestDrive()
	d.fill(23, samID)
	var got []string
	next := "/dav/Workflow/Schedule/.contents?limit=5"
	pages := 0
	for ; next != ""; pages++ {
		rec := d.ask(t, "sam GET "+next)
		var page []struct{ UUID string }
		if err := json.Unmarshal(rec.Body.Bytes(), &page); err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			got = append(got, e.UUID)
		}
		next, _, _ = strings.Cut(strings.TrimPrefix(rec.Header().Get("Link"), "<"), ">")
	}
	if pages != 5 || len(got) != 23 || !slices.IsSorted(got) {
		t.Errorf("%d pages with %d entries: %v", pages, len(got), got)
	}
}

// TestBrokenStream: what fails before the answer begins is answered; what
// fails later is reported as well, upon which the server breaks the
// connection off.
func TestBrokenStream(t *testing.T) {
	t.Parallel()
	d := newTestDrive()
	d.fill(2*pageSize, samID)
	d.failAfter = 1
	d.calls["page"] = 1
	if rec := d.ask(t, "sam GET /dav/Workflow/Schedule/.contents"); rec.Code != http.StatusServiceUnavailable {
		t.Errorf("the first page fails: got %d, want 503", rec.Code)
	}
	d.calls["page"] = 0
	rec := d.ask(t, "sam GET /dav/Workflow/Schedule/.contents")
	whole, problem, _ := strings.Cut(rec.Body.String(), "unavailable: ")
	if json.Valid([]byte(whole)) || problem == "" {
		t.Errorf("the second page fails: the failure is not reported, or the array looks whole")
	}
}

// TestLoserOfARace: two requests with one key at the same moment: the second
// passes the look-up, fails in the transaction, and gets the first's answer.
func TestLoserOfARace(t *testing.T) {
	t.Parallel()
	for _, request := range [][]string{
		{"sam PUT /dav/Workflow/Schedule/request", `> {"type": "cron"}`, "Idempotency-Key: k"},
		{"sam PUT /dav/Workflow/Cases/new.json", `> {"route": "bug"}`, "Idempotency-Key: k"},
		{"sam PUT /dav/Workflow/Routes/r.yaml", `> name: r`, "Idempotency-Key: k"},
		{"eva PUT /dav/Admin/Users/dan.json", `> {}`, "Idempotency-Key: k"},
		{"sam PUT /dav/Workflow/Cases/17/Actions/resolve.json", `> {}`, "Idempotency-Key: k"},
		{"sam PUT /dav/Workflow/Cases/17/Labels/x", `> text`, "Idempotency-Key: k"},
	} {
		d := newTestDrive()
		if strings.Contains(request[0], "/17/") {
			d.ask(t, "sam PUT /dav/Workflow/Cases/new.json", `> {"route": "bug"}`)
		}
		first := d.do(t, request, "")
		d.hidden = 1
		if strings.Contains(request[0], "Labels") {
			d.hidden = 0 // a content is not known before it is read
		}
		second := d.do(t, request, "")
		if first.Code >= 300 || second.Code != first.Code || second.Header().Get("Location") != first.Header().Get("Location") ||
			second.Header().Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: %d %v, then %d %v", request[0], first.Code, first.Header(), second.Code, second.Header())
		}
		if len(d.entries)+len(d.cases) > 1 || len(d.routes) > 1 {
			t.Errorf("%s: done twice", request[0])
		}
	}
}

// TestConcurrent: simultaneous PUTs to one URL are all served, and with a
// condition exactly one wins.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	d := newTestDrive()
	codes := make([]int, 32)
	var wg sync.WaitGroup
	for i := range codes {
		wg.Go(func() {
			codes[i] = d.ask(t, "sam PUT /dav/Workflow/Schedule/one.json", "If-None-Match: *", `> {"type": "cron"}`).Code
		})
	}
	wg.Wait()
	slices.Sort(codes)
	if codes[0] != http.StatusCreated || codes[1] != http.StatusPreconditionFailed || codes[31] != http.StatusPreconditionFailed {
		t.Errorf("got %v, want one 201 and else 412", codes)
	}
}

// TestExpect: a client that waits for "100 Continue" is refused by what its
// headers say, before it sends the body.
func TestExpect(t *testing.T) {
	t.Parallel()
	d := newTestDrive()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.handler.ServeHTTP(w, d.as("sam", r))
	}))
	defer server.Close()
	tests := []struct{ name, path, header, want string }{
		{"too large", "/dav/Workflow/Schedule/a.json", "Content-Length: 500000000", "413"},
		{"a picture", "/dav/Workflow/Schedule/a.json", "Content-Length: 10\r\nContent-Type: image/png", "415"},
		{"a condition that fails", "/dav/Workflow/Schedule/a.json", "Content-Length: 10\r\nIf-Match: *", "412"},
		{"no such place", "/dav/Workflow/nothing.json", "Content-Length: 10", "404"},
		{"no such route", "/dav/Workflow/Routes/none/x", "Content-Length: 10", "404"},
		{"nothing against it", "/dav/Workflow/Schedule/a.json", "Content-Length: 10", "100"},
	}
	for _, tt := range tests {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		request := fmt.Sprintf("PUT %s HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\n%s\r\n\r\n", tt.path, tt.header)
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 "+tt.want+" ") {
			t.Errorf("%s: got %q, %v, want %s", tt.name, line, err, tt.want)
		}
		conn.Close()
	}
}

// TestHeaderSpelling: the capitals of a compatibility header go out as they are
// (docs/contract/drive.md#compatibility-headers).
func TestHeaderSpelling(t *testing.T) {
	t.Parallel()
	d := newTestDrive()
	rec := httptest.NewRecorder()
	d.handler.ServeHTTP(rec, d.request(t, []string{"sam PUT /dav/Workflow/Schedule/request", `> {"type": "cron"}`}, ""))
	var b strings.Builder
	if err := rec.Header().Write(&b); err != nil || !strings.Contains(b.String(), "\nX-OpenGroupware-ScheduleEntryUUID: ") {
		t.Errorf("got %q, %v", b.String(), err)
	}
}

// TestNeverInternal throws requests at the drive: whatever is asked, the answer
// is one of docs/contract/drive.md#status-codes-and-problem-types, and not 500.
func TestNeverInternal(t *testing.T) {
	t.Parallel()
	known := map[int]bool{200: true, 201: true, 204: true, 206: true, 207: true, 304: true, 416: true}
	for _, status := range []int{400, 403, 404, 405, 409, 412, 413, 415, 422, 501} {
		known[status] = true
	}
	random := rand.New(rand.NewPCG(2012, 1109))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	d := newTestDrive()
	furnish(t, d)
	seen := map[int]int{}
	for range 20_000 {
		request := []string{pick("sam", "ann", "bob", "eva", "nobody") + " " +
			pick("GET", "HEAD", "PUT", "DELETE", "PROPFIND", "OPTIONS", "MKCOL", "POST", "LOCK", "UNLOCK", "MOVE", "COPY", "PATCH", "TRACE") + " " +
			randomPath(pick) + pick(slices.Concat(make([]string, 20), []string{"?limit=2", "?force", "?x=%", "?dryRun", "?a&a", "?.dryRun", "?.priority=1&a;b"})...)}
		for range random.IntN(4) {
			request = append(request, randomHeader(pick))
		}
		if strings.Contains(request[0], " PROPFIND ") {
			request = append(request, "Depth: "+pick("0", "1"))
		}
		request = append(request, "> "+pick(`{"type": "cron"}`, `{"route": "tip"}`, `{}`, ``, `{`, `name: x`, "\xff", `[1]`, `"do"`,
			`{"do": "x", "contextId": 103}`, `{"type": "cron", "note": "`+strings.Repeat("y", 400)+`"}`,
			`<propfind xmlns="DAV:"><allprop/></propfind>`, `<propfind xmlns="DAV:"><prop><a/><getetag/></prop></propfind>`, `<!DOCTYPE x>`,
			`<lockinfo xmlns="DAV:"><lockscope><shared/></lockscope><locktype><write/></locktype></lockinfo>`))
		if words := strings.Fields(request[0]); words[1] == "MOVE" || words[1] == "COPY" {
			request = append(request, "Destination: "+randomPath(pick))
		}
		rec := d.do(t, request, pick(`"a"`, `"21-1.1"`))
		if seen[rec.Code]++; !known[rec.Code] {
			t.Errorf("%q: %d %s", request, rec.Code, rec.Body)
		}
		if bad := strings.Contains(rec.Header().Get("Location"), " "); bad {
			t.Errorf("%q: Location %q", request, rec.Header().Get("Location"))
		}
		if len(d.entries)+len(d.cases) > 60 {
			d = newTestDrive()
			furnish(t, d)
		}
	}
	for _, status := range []int{200, 201, 204, 207, 400, 403, 404, 405, 409, 412, 413, 415, 422, 501} {
		if seen[status] == 0 {
			t.Errorf("no request was answered %d: %v", status, seen)
		}
	}
}

func randomPath(pick func(...string) string) string {
	if pick("known", "made up") == "known" {
		return pick("/dav/Workflow/Schedule/night%20ly.json", "/dav/Workflow/Schedule/x.json", "/dav/Workflow/Schedule/request",
			"/dav/Workflow/Schedule/c6000000000000000000000000000013.json", "/dav/Workflow/Schedule/.contents", "/dav/Workflow/Cases/open.json",
			"/dav/Workflow/Cases/22.json", "/dav/Workflow/Cases/22/Actions/resolve.json", "/dav/Workflow/Cases/22/Labels/report",
			"/dav/Workflow/Routes/tip.yaml", "/dav/Workflow/Routes/tip.json", "/dav/Admin/Users/dan.json", "/dav/Workflow/Cases/", "/dav/Workflow/Schedule/",
			"/dav/Workflow/Archive/2012/11/17.json", "/dav/Workflow/Cases/22/diagram.svg", "/dav/Documents/sam/a", "/dav/Workflow/Routes/tip/rates.csv", "/dav/Workflow/Routes/tip/Board/open/22.json", "/dav/Workflow/Routes/tip/Board/open/")
	}
	path := pick("/", "/dav", "/dav/Workflow", "/dav/Workflow/Schedule", "/dav/Workflow/Cases", "/dav/Workflow/Routes", "/dav/Admin/Users")
	for range 5 {
		if pick("on", "on", "stop") == "stop" {
			break
		}
		path = strings.TrimSuffix(path, "/") + "/" + pick("night%20ly.json", "request", "new.json", "x.json", "17", "22", "23", "22.json",
			"23.json", "tip", "tip.yaml", "tip.json", "a%2Fb", "%00", "%ff", "..", "Actions", "resolve.json", "Labels", "report", "Messages",
			"e0000000000000160000000000000001", "log.txt", "input", "output", ".contents", ".ls", ".x", "Versions", "1.json", "Board",
			"ours@ann.yaml", "x@y.json", "c6000000000000000000000000000013.json", "c6000000000000000000000000000013", "occurrences.json",
			"sam.json", "CON", "", "%C3%A9.yml", "0.json", "99999999999999999999.json", strings.Repeat("z", 201))
	}
	return path
}

func randomHeader(pick func(...string) string) string {
	return pick("Depth: ", "If-Match: ", "If-None-Match: ", "If: ", "Prefer: ", "Idempotency-Key: ", "Content-Type: ", "Content-Range: ",
		"Content-Length: ", "Content-Encoding: ", "If-Unmodified-Since: ", "Range: ", "User-Agent: ", "Overwrite: ", "Timeout: ", "Lock-Token: ", "Destination: ") +
		pick("0", "1", "infinity", "*", `"a"`, `"21-1.1"`, `W/"a"`, "@etag", `(["a"])`, `(Not <urn:a>)`, `</dav/Workflow/Cases/22.json> (["a"])`,
			"<x", "return=representation", "k", "k2", "text/html", "image/png", "application/json", "gzip", "bytes=0-3", "bytes=9-",
			"Fri, 09 Nov 2012 12:34:56 GMT", "T", "F", "Second-1, Infinite", "<urn:uuid:a0000000-0000-0000-0000-000000000011>",
			"(<urn:uuid:a0000000-0000-0000-0000-000000000011>)", "http://x/dav/Documents/sam/a", "curl/8", "davfs2/1.6", "")
}
