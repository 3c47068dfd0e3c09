package web

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/golden")

// pageToTry is a page that is looked at.
type pageToTry struct {
	name, user, path string
	status           int
}

// pagesToTry are the pages of the server that furnish has filled.
func pagesToTry() []pageToTry {
	// The page of the account lists the sessions: it comes first, so that there is one.
	return slices.Concat([]pageToTry{{"account", "ann", "/account", 200}}, documentPagesToTry(), searchPagesToTry(), mountPagesToTry(), routePagesToTry(), adminPagesToTry(), taskListPagesToTry(), []pageToTry{
		{"login", "", "/login?next=%2Fcases%2F50", 200},
		{"logout", "ann", "/logout", 200},
		{"tasks", "ann", "/tasks", 200},
		{"tasks-open", "ann", "/tasks?open=17.approve", 200},
		{"tasks-delegate", "ann", "/tasks?open=17.approve&do=delegate", 200},
		{"tasks-filtered", "ann", "/tasks?route=bug&sort=newest&q=SCRIPT", 200},
		{"tasks-none", "ann", "/tasks?q=nothing-has-this", 200},
		{"tasks-accepted", "ann", "/tasks/accepted", 200},
		{"tasks-warnings", "sam", "/tasks/warnings", 200},
		{"tasks-escalated", "ann", "/tasks/escalated", 200},
		{"tasks-sort", "ann", "/tasks?sort=zzz", 400},
		{"tasks-after", "ann", "/tasks?after=zzz", 400},
		{"cases", "ann", "/cases", 200},
		{"cases-of-route", "ann", "/cases?route=bug&role=bob&q=dot", 200},
		{"cases-failed", "ann", "/cases?state=failed", 200},
		{"cases-ended", "ann", "/cases?state=completed", 200},
		{"cases-archive", "ann", "/cases?archived=1", 200},
		{"cases-sort", "ann", "/cases?sort=zzz", 400},
		{"cases-state", "ann", "/cases?state=zzz", 400},
		{"cases-after", "ann", "/cases?after=-1", 400},
		{"case", "ann", "/cases/17", 200},
		{"case-refuse", "ann", "/cases/17?open=refuse", 200},
		{"case-other-task", "ann", "/cases/17?open=none", 400},
		{"case-starter", "bob", "/cases/17?do=suspend", 200},
		{"case-timer", "ann", "/cases/17?do=timer&timer=approve.due", 200},
		{"case-fields", "bob", "/cases/17?do=fields", 200},
		{"case-people", "bob", "/cases/17?do=people", 200},
		{"case-links", "bob", "/cases/17?do=links", 200},
		{"case-label", "ann", "/cases/17?do=label", 200},
		{"case-vote", "sam", "/cases/21", 200},
		{"case-hostile", "sam", "/cases/18?log=decisions", 200},
		{"case-of-others", "sam", "/cases/17", 404},
		{"case-log", "ann", "/cases/17?log=all", 400},
		{"case-name", "ann", "/cases/017", 404},
		{"absent", "ann", "/cases/999999", 404},
		{"absent-path", "ann", "/account/none", 404},
		{"parameter", "ann", "/account?sort=zzz", 400},
	})
}

// TestPages draws every page and looks whether it keeps the rules of all pages
// (docs/pages.md#rules-of-all-pages), and whether it is as it was.
func TestPages(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	g.tryPages(t, pagesToTry())
}

// tryPages looks at pages.
func (g *rig) tryPages(t *testing.T, list []pageToTry) {
	t.Helper()
	for _, p := range list {
		got := g.browse(t, p.user).get(t, p.path)
		if got.status != p.status {
			t.Errorf("%s: got %d, want %d: %s", p.name, got.status, p.status, got.body)
		}
		for _, fault := range faultsOf(got.body) {
			t.Errorf("%s: %s", p.name, fault)
		}
		if size := gzipped(t, got.body); size > mostOfAPage {
			t.Errorf("%s: %d bytes with gzip, more than %d", p.name, size, mostOfAPage)
		}
		compareGolden(t, p.name+".html", got.body)
		checkHeaders(t, p.name, got.header)
	}
}

// mostOfAPage is how many bytes a page may have with gzip.
const mostOfAPage = 60_000

// gzipped returns how many bytes a text has with gzip.
func gzipped(t *testing.T, text string) int {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}

// changing is what differs from run to run.
var changing = regexp.MustCompile(`/assets/[0-9a-f]{12}/|name="key" value="[A-Z0-9]+"|127\.0\.0\.1:\d+|Messages/[0-9a-f]{32}|\b[0-9a-f]{32}\b|&#34;[0-9a-f]{8}-\d+\.\d+&#34;`)

// wholePages are compared with all that is around them: who is not logged in, a
// user, an administrator. Of the other pages what is around them would only make a
// change of the navigation a change of every file.
var wholePages = []string{"login.html", "tasks.html", "admin.html"}

// ownParts are the parts of a page that differ from other pages: its title, its
// scripts, what is current in the navigation, and its content.
var ownParts = regexp.MustCompile(`(?s)<title>.*?</title>|<script[^>]*></script>|<a href="[^"]*" aria-current="page">|<main.*</main>`)

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	if !slices.Contains(wholePages, name) && strings.HasPrefix(got, "<!doctype html>") {
		got = strings.Join(ownParts.FindAllString(got, -1), "\n") + "\n"
	}
	got = changing.ReplaceAllStringFunc(got, func(s string) string {
		switch {
		case strings.HasPrefix(s, "/assets/"):
			return "/assets/HASH/"
		case strings.HasPrefix(s, "name="):
			return `name="key" value="KEY"`
		case strings.HasPrefix(s, "Messages/"):
			return "Messages/UUID"
		case strings.HasPrefix(s, "&#34;"):
			return "ETAG"
		case len(s) == 32:
			return "UUID"
		}
		return "flow.example.org"
	})
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v: -update writes it; read it", err)
		return
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func checkHeaders(t *testing.T, name string, h http.Header) {
	t.Helper()
	for key, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Content-Security-Policy": policy,
	} {
		if got := h.Get(key); got != want {
			t.Errorf("%s: %s is %q, want %q", name, key, got, want)
		}
	}
	timing := h.Get("Server-Timing")
	if took, err := strconv.ParseFloat(strings.TrimPrefix(timing, "total;dur="), 64); err != nil || took <= 0 {
		t.Errorf("%s: Server-Timing is %q", name, timing)
	}
}

// TestLogIn: a wrong password says the same of everybody, the right one leads on.
func TestLogIn(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "")
	if got := b.get(t, "/account?part=x"); got.status != 401 {
		t.Errorf("a part without a session: got %d, want 401", got.status)
	}
	got := b.get(t, "/account?x=1")
	if want := "/login?next=" + url.QueryEscape("/account?x=1"); got.status != 303 || got.header.Get("Location") != want {
		t.Errorf("a page without a session: got %d %q, want 303 %q", got.status, got.header.Get("Location"), want)
	}
	wrong := b.post(t, "/login", "do", "login", "name", "ann", "password", "wrong")
	nobody := b.post(t, "/login", "do", "login", "name", "nobody", "password", "wrong")
	if wrong.status != 401 || nobody.status != 401 || textOf(wrong.body, "refused") != textOf(nobody.body, "refused") || textOf(wrong.body, "refused") == "" {
		t.Errorf("wrong log-ins: got %d %q and %d %q", wrong.status, textOf(wrong.body, "refused"), nobody.status, textOf(nobody.body, "refused"))
	}
	for range 4 {
		wrong = b.post(t, "/login", "do", "login", "name", "ann", "password", "wrong")
	}
	if wrong.status != 429 || wrong.header.Get("Retry-After") == "" || !strings.Contains(textOf(wrong.body, "refused"), "Wait") {
		t.Errorf("the fifth wrong log-in: got %d %q", wrong.status, textOf(wrong.body, "refused"))
	}
	for next, want := range map[string]string{
		"/cases/50?a=b": "/cases/50?a=b", "//evil.example": "/tasks", "https://evil.example/": "/tasks", `/\evil.example`: "/tasks", "cases": "/tasks", "": "/tasks",
	} {
		right := b.post(t, "/login?next="+url.QueryEscape(next), "do", "login", "name", "bob", "password", password)
		if right.status != 303 || right.header.Get("Location") != want {
			t.Errorf("logged in with next=%q: got %d %q, want 303 %q", next, right.status, right.header.Get("Location"), want)
		}
		cookie := right.header.Get("Set-Cookie")
		for _, part := range []string{"fd=", "HttpOnly", "SameSite=Lax", "Path=/"} {
			if !strings.Contains(cookie, part) {
				t.Errorf("the cookie %q has no %s", cookie, part)
			}
		}
	}
}

// TestSessionsNeverChangeTheDrive: a session reads the drive and opens the pages, and
// changes nothing but by the forms of pages of this origin.
func TestSessionsNeverChangeTheDrive(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "ann")
	for _, test := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/dav/Account/me.json", 200},
		{"HEAD", "/dav/Account/me.json", 200},
		{"PUT", "/dav/Account/me.json", 401},
		{"DELETE", "/dav/Workflow/Cases/1.json", 401},
		{"PROPFIND", "/dav/", 401},
		{"POST", "/clock", 401},
		{"PUT", "/attachfs/x.txt", 401},
		{"GET", "/dav/Admin/", 404},
	} {
		if got := b.do(t, test.method, test.path, nil); got.status != test.want {
			t.Errorf("%s %s by a session: got %d, want %d", test.method, test.path, got.status, test.want)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", g.http.URL+"/logout", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: "fd", Value: b.token})
	r.Header.Set("Origin", "https://evil.example")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if got := send(t, b.client, r); got.status != 403 {
		t.Errorf("a form of another origin: got %d, want 403", got.status)
	}
}

// TestSessionsEnd: with the log-out, the password and the user.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	for user, end := range map[string]func(b *browser){
		"ann": func(b *browser) { b.post(t, "/logout") },
		"bob": func(*browser) {
			g.must(t, "bob", 204, "PUT", "/dav/Account/me.json", `{"oldPassword": "`+password+`", "password": "another one"}`)
		},
		"cy": func(*browser) {
			g.must(t, "admin", 204, "PUT", "/dav/Admin/Users/cy.json", `{"disabled": true}`)
			g.must(t, "admin", 204, "PUT", "/dav/Admin/Users/cy.json", `{"disabled": false}`)
		},
	} {
		b := g.browse(t, user)
		if got := b.get(t, "/account"); got.status != 200 {
			t.Fatalf("%s: got %d before the end", user, got.status)
		}
		end(b)
		if got := b.get(t, "/account"); got.status != 303 {
			t.Errorf("%s: got %d after the end, want 303", user, got.status)
		}
		got := b.get(t, "/dav/Account/me.json")
		if got.status != 401 || strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Basic") {
			t.Errorf("%s: the drive answers %d %q after the end, want 401 without a Basic challenge", user, got.status, got.header.Get("WWW-Authenticate"))
		}
	}
}

// TestAddresses: what leads elsewhere, and what is answered in no other way.
func TestAddresses(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "ann")
	for _, test := range []struct {
		method, path string
		status       int
		location     string
	}{
		{"GET", "/", 303, "/tasks"},
		{"GET", "/ui/cases/5?x=1", 308, "/cases/5?x=1"},
		{"GET", "/ui", 308, "/"},
		{"GET", "/ui//evil.example/", 307, "/ui/evil.example/"},
		{"GET", "/account?part=none", 404, ""},
		{"GET", "/account?a=1&a=2", 400, ""},
		{"PUT", "/account", 405, ""},
		{"POST", "/account", 400, ""},
		{"GET", "/assets/none/flowdrive.css", 404, ""},
	} {
		got := b.do(t, test.method, test.path, nil)
		if got.status != test.status || got.header.Get("Location") != test.location {
			t.Errorf("%s %s: got %d %q, want %d %q", test.method, test.path, got.status, got.header.Get("Location"), test.status, test.location)
		}
	}
}

// TestAssets: they are kept by browsers and sent compressed, within the budgets in bytes
// of gzip. Each has a budget of its own, and all script and style together one.
func TestAssets(t *testing.T) {
	t.Parallel()
	a, err := newAssets()
	if err != nil {
		t.Fatal(err)
	}
	budgets := map[string]int{
		"app.js": 25_000, "board.js": 5_000, "editor.js": 5_000, "manual.js": 1_000, "upload.js": 5_000,
		"flowdrive.css": 18_000, "manual.css": 2_000, "icons.svg": 4_000, "mark.svg": 1_000,
	}
	whole := map[string]int{}
	for name, file := range a.files {
		if name == "SHA256SUMS" {
			continue
		}
		got, most := len(file.encoded["gzip"]), budgets[name]
		if got == 0 || got > most {
			t.Errorf("%s has %d bytes with gzip, want 1 to %d", name, got, most)
		}
		whole[filepath.Ext(name)] += got
	}
	for kind, most := range map[string]int{".js": 60_000, ".css": 20_000} {
		if whole[kind] == 0 || whole[kind] > most {
			t.Errorf("all %s have %d bytes with gzip, want 1 to %d", kind, whole[kind], most)
		}
	}
	g := newRig(t)
	r, err := http.NewRequestWithContext(t.Context(), "GET", g.http.URL+a.href("flowdrive.css"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip;q=0, br")
	got := send(t, http.DefaultClient, r)
	if got.status != 200 || got.header.Get("Content-Encoding") != "br" || !strings.Contains(got.header.Get("Cache-Control"), "immutable") || got.header.Get("Content-Type") != "text/css" {
		t.Errorf("got %d %v", got.status, got.header)
	}
}

// furnish fills the server with what the pages show.
func (g *rig) furnish(tb testing.TB) {
	tb.Helper()
	for _, c := range [][2]string{
		{"bob", `{"route": "expense", "title": "Two monitors for the lab", "xattrDict": {"amount": 1240, "why": "The old ones flicker"}}`},
		{"sam", `{"route": "bug", "title": "<script>alert(1)</script> \"x\" & <b>bold</b>"}`},
		{"cy", `{"route": "bug", "title": "Labels with a dot are refused"}`},
		{"sam", `{"route": "article", "title": "What changed in the autumn release"}`},
		{"sam", `{"route": "tip", "title": "TIP 42: sessions"}`},
	} {
		g.must(tb, c[0], 201, "PUT", "/dav/Workflow/Cases/new.json", c[1])
	}
	g.must(tb, "ann", 204, "PUT", "/dav/Workflow/Cases/19/Actions/resolve.json", `{"do": "accept"}`)
	g.furnishDocuments(tb)
	g.furnishRoutes(tb)
}
