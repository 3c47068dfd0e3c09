package davfs

import (
	"bufio"
	"context"
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

	"flowdrive/engine"
	"flowdrive/internal/identity"
)

// TestListingIsOneQuestion: a listing asks the database as often for many
// members as for one.
func TestListingIsOneQuestion(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	d.fillSchedule(t, 1)
	asked := map[string]int{}
	for _, n := range []int{1, 1100} {
		d.fillSchedule(t, n-1)
		for request, header := range map[string]string{"PROPFIND": "Depth: 1", "GET": "Accept: text/html,*/*;q=0.8", "get": "Accept: */*"} {
			before := d.store.asked()
			rec := d.ask(t, "sam "+strings.ToUpper(request)+" /dav/Workflow/Schedule/", header)
			if got := strings.Count(rec.Body.String(), "<D:href>"); request == "PROPFIND" && got != n+1 {
				t.Errorf("PROPFIND lists %d members, want %d", got-1, n)
			}
			if request == "GET" && strings.Contains(rec.Body.String(), "and 100 more") != (n > 1000) {
				t.Errorf("the page for browsers of %d entries does not say how many more there are", n)
			}
			// lftp and wget follow the links: what is left out they would not copy.
			if got := strings.Count(rec.Body.String(), ".json</a>"); request == "get" && got != n {
				t.Errorf("the page for programs has %d of %d entries", got, n)
			}
			views := d.store.asked() - before
			if n == 1 {
				asked[request] = views
			} else if views != asked[request] {
				t.Errorf("%s asks %d times for %d members and %d times for one", request, views, n, asked[request])
			}
		}
	}
}

// TestStreamIsWhole: .contents without limit asks page by page and is whole.
func TestStreamIsWhole(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	stored := 0
	for _, n := range []int{0, 1, pageSize, pageSize + 1, 2*pageSize + 7} {
		d.fillSchedule(t, n-stored)
		stored = n
		before := d.store.asked()
		rec := d.ask(t, "sam GET /dav/Workflow/Schedule/.contents")
		var got []struct{ UUID string }
		if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil || len(got) != n {
			t.Errorf("%d entries: got %d, %v", n, len(got), err)
		}
		want := 1
		for left, limit := n, firstPage; left >= limit; want++ {
			left, limit = left-limit, min(2*limit, pageSize)
		}
		if asked := d.store.asked() - before; asked != want {
			t.Errorf("%d entries: %d questions, want %d", n, asked, want)
		}
	}
}

// TestLinksOfPagesLeadToAll: following the links gives what the stream gives.
func TestLinksOfPagesLeadToAll(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	d.fillSchedule(t, 23)
	var got, want []string
	var all []struct{ UUID string }
	if err := json.Unmarshal(d.ask(t, "sam GET /dav/Workflow/Schedule/.contents").Body.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		want = append(want, e.UUID)
	}
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
	if pages != 5 || len(got) != 23 || !slices.Equal(got, want) {
		t.Errorf("%d pages with %d entries: %v", pages, len(got), got)
	}
}

// TestBrokenStream: what fails before the answer begins is answered; what
// fails later is reported as well, upon which the server breaks the
// connection off.
func TestBrokenStream(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	d.fillSchedule(t, 2*pageSize)
	d.store.failAfter(0)
	if rec := d.ask(t, "sam GET /dav/Workflow/Schedule/.contents"); rec.Code != http.StatusServiceUnavailable {
		t.Errorf("the first page fails: got %d, want 503", rec.Code)
	}
	d.store.failAfter(1)
	rec := d.ask(t, "sam GET /dav/Workflow/Schedule/.contents")
	whole, problem, _ := strings.Cut(rec.Body.String(), "unavailable: ")
	if json.Valid([]byte(whole)) || problem == "" {
		t.Errorf("the second page fails: the failure is not reported, or the array looks whole")
	}
}

// late are changes that do not know an answer yet when they are asked for
// it for the first time.
type late struct {
	Changes
	asked bool
}

// Replay implements Changes.
func (l *late) Replay(ctx context.Context, by identity.Principal, key engine.IdempotencyKey) ([]byte, error) {
	if !l.asked {
		l.asked = true
		return nil, nil
	}
	return l.Changes.Replay(ctx, by, key)
}

// TestLoserOfARace: two requests with one key at the same moment: the second
// passes the look-up, fails in the transaction, and gets the first's answer.
func TestLoserOfARace(t *testing.T) {
	t.Parallel()
	for _, request := range [][]string{
		{"sam PUT /dav/Workflow/Schedule/request", `> {"route": "bug", "type": "cron", "hour": 22}`, "Idempotency-Key: k"},
		{"sam PUT /dav/Workflow/Cases/new.json", `> {"route": "bug"}`, "Idempotency-Key: k"},
		{"sam PUT /dav/Workflow/Routes/r.yaml", `> @route`, "Idempotency-Key: k"},
		{"eva PUT /dav/Admin/Teams/crew.json", `> {}`, "Idempotency-Key: k"},
		{"sam PUT /dav/Workflow/Cases/17/Actions/resolve.json", `> {}`, "Idempotency-Key: k"},
		{"sam PUT /dav/Workflow/Cases/17/Labels/x", `> text`, "Idempotency-Key: k"},
	} {
		hurry := &late{asked: true}
		d := newTestDrive(t, func(c *Config) {
			hurry.Changes = c.Engine.Changes
			c.Engine.Changes = hurry
		})
		if strings.Contains(request[0], "/17/") {
			d.ask(t, "sam PUT /dav/Workflow/Cases/new.json", `> {"route": "bug"}`)
		}
		first := d.do(t, request, "")
		hurry.asked = strings.Contains(request[0], "Labels") // a content is not known before it is read
		second := d.do(t, request, "")
		if first.Code >= 300 || second.Code != first.Code || second.Header().Get("Location") != first.Header().Get("Location") ||
			second.Header().Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: %d %v, then %d %v", request[0], first.Code, first.Header(), second.Code, second.Header())
		}
		if d.count(t, "Schedule")+d.count(t, "Cases") > 1 || d.count(t, "Routes") > 2 {
			t.Errorf("%s: done twice", request[0])
		}
	}
}

// TestOneOfManyConditionalPutsWins: simultaneous PUTs to one URL are all served, and with a
// condition exactly one wins.
func TestOneOfManyConditionalPutsWins(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	codes := make([]int, 32)
	var wg sync.WaitGroup
	for i := range codes {
		wg.Go(func() {
			codes[i] = d.ask(t, "sam PUT /dav/Workflow/Schedule/one.json", "If-None-Match: *", `> {"route": "bug", "type": "cron", "hour": 22}`).Code
		})
	}
	wg.Wait()
	slices.Sort(codes)
	if codes[0] != http.StatusCreated || codes[1] != http.StatusPreconditionFailed || codes[31] != http.StatusPreconditionFailed {
		t.Errorf("got %v, want one 201 and else 412", codes)
	}
}

// TestRefusedBeforeTheBodyIsSent: a client that waits for "100 Continue" is refused by what its
// headers say, before it sends the body.
func TestRefusedBeforeTheBodyIsSent(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
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
	d := newTestDrive(t)
	rec := httptest.NewRecorder()
	d.handler.ServeHTTP(rec, d.request(t, []string{"sam PUT /dav/Workflow/Schedule/request", `> {"route": "bug", "type": "cron", "hour": 22}`}, ""))
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
	for _, status := range []int{400, 403, 404, 405, 409, 412, 413, 415, 422, 423} {
		known[status] = true
	}
	random := rand.New(rand.NewPCG(2012, 1109))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	d := newTestDrive(t)
	entry := furnish(t, d)
	seen := map[int]int{}
	made := 0
	for range 20_000 {
		request := []string{pick("sam", "ann", "bob", "eva") + " " +
			pick("GET", "HEAD", "PUT", "DELETE", "PROPFIND", "OPTIONS", "MKCOL", "POST", "LOCK", "UNLOCK", "MOVE", "COPY", "PATCH", "TRACE") + " " +
			randomPath(pick) + pick(slices.Concat(make([]string, 20), []string{"?limit=2", "?force", "?x=%", "?dryRun", "?a&a", "?.dryRun", "?.priority=1&a;b"})...)}
		for range random.IntN(4) {
			request = append(request, randomHeader(pick))
		}
		if strings.Contains(request[0], " PROPFIND ") {
			request = append(request, "Depth: "+pick("0", "1"))
		}
		request = append(request, "> "+pick(`{"route": "bug", "type": "cron", "hour": 22}`, `{"route": "tip"}`, `{}`, ``, `{`, `name: x`, "\xff", `[1]`, `"do"`,
			`{"do": "x", "contextId": 103}`, `{"type": "cron", "note": "`+strings.Repeat("y", 400)+`"}`,
			`<propfind xmlns="DAV:"><allprop/></propfind>`, `<propfind xmlns="DAV:"><prop><a/><getetag/></prop></propfind>`, `<!DOCTYPE x>`,
			`<lockinfo xmlns="DAV:"><lockscope><shared/></lockscope><locktype><write/></locktype></lockinfo>`))
		if words := strings.Fields(request[0]); words[1] == "MOVE" || words[1] == "COPY" {
			request = append(request, "Destination: "+randomPath(pick))
		}
		request[0] = strings.ReplaceAll(request[0], "ENTRY", entry)
		rec := d.do(t, request, pick(`"a"`, `"21-1.1"`))
		if seen[rec.Code]++; !known[rec.Code] {
			t.Errorf("%q: %d %s", request, rec.Code, rec.Body)
		}
		if bad := strings.Contains(rec.Header().Get("Location"), " "); bad {
			t.Errorf("%q: Location %q", request, rec.Header().Get("Location"))
		}
		if rec.Code == http.StatusCreated {
			made++
		}
		if made > 200 {
			d, made = newTestDrive(t), 0
			entry = furnish(t, d)
		}
	}
	for _, status := range []int{200, 201, 204, 207, 400, 403, 404, 405, 409, 412, 413, 415, 422} {
		if seen[status] == 0 {
			t.Errorf("no request was answered %d: %v", status, seen)
		}
	}
}

func randomPath(pick func(...string) string) string {
	if pick("known", "made up") == "known" {
		return pick("/dav/Workflow/Schedule/night%20ly.json", "/dav/Workflow/Schedule/x.json", "/dav/Workflow/Schedule/request",
			"/dav/Workflow/Schedule/ENTRY.json", "/dav/Workflow/Schedule/.contents", "/dav/Workflow/Cases/open.json",
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
			"log.txt", "input", "output", ".contents", ".ls", ".x", "Versions", "1.json", "Board",
			"ours@ann.yaml", "x@y.json", "ENTRY.json", "ENTRY", "occurrences.json",
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
