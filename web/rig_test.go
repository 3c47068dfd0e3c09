package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"flowdrive/attach"
	"flowdrive/davfs"
	"flowdrive/engine"
	"flowdrive/engine/account"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/server"
	"flowdrive/store/sqlite"
)

// rig is a whole server over a database of its own, as a sandbox, with the example
// routes. admin administers it; ann, bob and cy are in the team core, sam is not.
type rig struct {
	engine *engine.Engine // nil: the server runs elsewhere (nodes_browser_test.go)
	auth   *server.Authenticator
	clock  *clock.Sandbox
	http   *httptest.Server
	wall   func() time.Time // the machine's clock, as the engine asks it

	refuses atomic.Pointer[errs.Error] // what the drive refuses the changes of pages with; nil: it does them
	full    atomic.Pointer[errs.Error] // what there is no room for a form with; nil: there is

	weighed atomic.Int64 // what the last form that was sent may hold in memory
}

// password is everybody's.
const password = "correct horse"

// cheap is what the hash of a password costs here: at the costs of a server, hashing takes
// more than half of the time of all these tests.
var cheap = server.Costs{Memory: 8, Time: 1, Threads: 1}

func newRig(tb testing.TB) *rig {
	tb.Helper()
	dir := tb.TempDir()
	db, err := sqlite.Open(tb.Context(), filepath.Join(dir, "flowdrive.db"), sqlite.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	blobs, err := attach.Open(filepath.Join(dir, "contents"))
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx) }()
	g := &rig{wall: time.Now, clock: clock.NewSandbox(time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC))}
	zones := new(clock.Zones)
	g.engine = engine.New(engine.Config{
		Store: db, Blobs: blobs, Clock: g.clock, Log: zerolog.Nop(), Sandbox: true, Wall: func() time.Time { return g.wall() }, Zones: zones.Zone, HashPassword: cheap.Hash,
		Address: server.AddressOf, Standing: server.Standing,
		OwnAddress: func(address string) (refused string, confirm bool) {
			return "", strings.HasSuffix(address, "@confirmed.example")
		},
		CheckPassword: func(ctx context.Context, user identity.Name, password string) error {
			return g.auth.Confirm(ctx, string(user), password)
		},
	})
	g.auth = server.NewAuthenticator(g.engine.Accounts, time.Now, cheap)
	tb.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, db.Close()); err != nil && !errors.Is(err, context.Canceled) {
			tb.Error(err)
		}
	})
	g.found(tb)
	g.serve(tb, zones)
	g.hire(tb)
	return g
}

// hire makes the people.
func (g *rig) hire(tb testing.TB) {
	tb.Helper()
	for _, u := range [][2]string{{"ann", "Ann Lindqvist"}, {"bob", "Bob Marsh"}, {"cy", "Cy Tanaka"}, {"sam", "Sam Okafor"}} {
		g.must(tb, "admin", 201, "PUT", "/dav/Admin/Users/"+u[0]+".json", `{"password": "`+password+`", "fullName": "`+u[1]+`"}`)
	}
	g.must(tb, "admin", 204, "PUT", "/dav/Admin/Teams/core.json", `{"members": ["ann", "bob", "cy"]}`)
}

// found makes the administrator and the routes.
func (g *rig) found(tb testing.TB) {
	tb.Helper()
	hash, err := cheap.Hash(password)
	if err != nil {
		tb.Fatal(err)
	}
	var examples []engine.Example
	for _, e := range route.Examples() {
		examples = append(examples, engine.Example{Name: e.Name, YAML: e.YAML, Source: e.Source})
	}
	if _, err := g.engine.Found(tb.Context(), g.clock.Now(), hash, examples); err != nil {
		tb.Fatal(err)
	}
	if err := g.engine.Load(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

// serve starts the server.
func (g *rig) serve(tb testing.TB, zones *clock.Zones) {
	tb.Helper()
	drive := davfs.New(davfs.Config{
		Engine: davfs.EngineOf(g.engine), Clock: g.clock, Log: zerolog.Nop(), Principal: server.PrincipalOf, WriteError: server.WriteError, Status: server.Status, PageOf: PageOf,
	})
	var s *server.Server
	pages, err := New(Config{
		Queries: EngineQueries(g.engine), Drive: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if refusal := g.refuses.Load(); refusal != nil && r.Method != http.MethodGet && r.Method != http.MethodHead {
				server.WriteError(w, r, refusal)
				return
			}
			drive.ServeHTTP(w, r)
		}), Log: zerolog.Nop(), Sandbox: true, Clock: &server.SandboxClock{Clock: g.clock, Engine: g.engine}, Now: g.clock.Now, Wall: time.Now, Begin: stopwatch, Zone: zones.Zone,
		LogIn: func(ctx context.Context, name, password string) (identity.Principal, error) {
			return s.LogIn(ctx, name, password)
		},
		Prove: func(ctx context.Context, by identity.Principal, check func() error) error {
			return s.Prove(ctx, by, check)
		},
		Sessions: g.engine.Accounts, Factors: g.engine.Accounts, Principal: server.PrincipalOf, RequestID: func(context.Context) string { return "0123456789abcdef" },
		Status: server.Status, Title: server.Title, Token: func(r *http.Request) string { return server.SessionToken("", r) }, Cookie: server.SessionCookie,
		Weigh: func(ctx context.Context, bytes int64) error {
			g.weighed.Store(bytes)
			if full := g.full.Load(); full != nil {
				return full
			}
			return server.Weigh(ctx, bytes)
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	s, err = server.New(server.Config{
		Log: zerolog.Nop(), Metrics: prometheus.NewRegistry(), Auth: g.auth, Now: time.Now, Version: "test",
		Drive: drive, Pages: pages, Sessions: g.engine.Accounts, Clock: &server.SandboxClock{Clock: g.clock, Engine: g.engine},
		Events: &server.Events{Href: davfs.EventHref, Listen: func(by identity.Principal, last string) (server.EventStream, error) {
			return g.engine.Listen(by, last)
		}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	g.http = httptest.NewServer(s.Handler())
	tb.Cleanup(g.http.Close)
}

// answer is what the server has answered.
type answer struct {
	status int
	header http.Header
	body   string
}

// must makes a request to the drive that has to be answered with the status.
func (g *rig) must(tb testing.TB, user string, status int, method, path, body string) *answer {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), method, g.http.URL+path, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	r.SetBasicAuth(user, password)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	a := send(tb, http.DefaultClient, r)
	if a.status != status {
		tb.Fatalf("%s %s %s as %s: got %d %s, want %d", method, path, body, user, a.status, a.body, status)
	}
	return a
}

// start starts a case and returns its number.
func (g *rig) start(tb testing.TB, user, body string) string {
	tb.Helper()
	at := g.must(tb, user, 201, "PUT", "/dav/Workflow/Cases/new.json", body).header.Get("Location")
	return strings.TrimSuffix(strings.TrimPrefix(at, "/dav/Workflow/Cases/"), ".json")
}

// statusAs makes a request to the drive with another password, and returns its status.
func (g *rig) statusAs(tb testing.TB, user, secret, method, path string) int {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), method, g.http.URL+path, nil)
	if err != nil {
		tb.Fatal(err)
	}
	r.SetBasicAuth(user, secret)
	return send(tb, http.DefaultClient, r).status
}

func send(tb testing.TB, client *http.Client, r *http.Request) *answer {
	tb.Helper()
	resp, err := client.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return &answer{resp.StatusCode, resp.Header, string(body)}
}

// browser is somebody who looks at pages, without script.
type browser struct {
	rig    *rig
	client *http.Client
	token  string
	zone   string // that script has kept in the cookie, "" for none
}

// browse returns a browser in which the user is logged in; "" is nobody.
func (g *rig) browse(tb testing.TB, user string) *browser {
	tb.Helper()
	b := &browser{rig: g, client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if user == "" {
		return b
	}
	if g.engine == nil {
		for _, c := range (&http.Response{Header: b.post(tb, "/login", "name", user, "password", password).header}).Cookies() {
			b.token = c.Value
		}
		return b
	}
	id := g.engine.Accounts.Table().Directory().ByName(identity.Name(user)).ID
	token, err := g.engine.Accounts.StartSession(tb.Context(), account.NewSession{User: id, Agent: "test"})
	if err != nil {
		tb.Fatal(err)
	}
	b.token = token
	return b
}

// get fetches a page.
func (b *browser) get(tb testing.TB, path string) *answer {
	tb.Helper()
	return b.do(tb, http.MethodGet, path, nil)
}

// post sends a form.
func (b *browser) post(tb testing.TB, path string, fields ...string) *answer {
	tb.Helper()
	v := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		v.Add(fields[i], fields[i+1])
	}
	return b.do(tb, http.MethodPost, path, v)
}

func (b *browser) do(tb testing.TB, method, path string, v url.Values) *answer {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), method, b.rig.http.URL+path, strings.NewReader(v.Encode()))
	if err != nil {
		tb.Fatal(err)
	}
	if v != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if b.token != "" {
		r.AddCookie(&http.Cookie{Name: "fd", Value: b.token})
	}
	if b.zone != "" {
		r.AddCookie(&http.Cookie{Name: "tz", Value: b.zone})
	}
	got := send(tb, b.client, r)
	if method == http.MethodPost && strings.Contains(got.body, "<html") { // what a form answers with is a page like others
		for _, fault := range faultsOf(got.body) {
			tb.Errorf("POST %s %v, %d: %s", path, v, got.status, fault)
		}
	}
	return got
}

func stopwatch() (elapsed func() time.Duration) {
	begun := time.Now()
	return func() time.Duration { return time.Since(begun) }
}
