package server

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"
	"golang.org/x/crypto/argon2"

	"flowdrive/internal/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cheap are costs of argon2id that tests can pay.
var cheap = Costs{Memory: 8, Time: 1, Threads: 1}

func cheapHash(password string) string {
	h := passwordHash{Costs: cheap, salt: []byte("salt of sixteen!")}
	h.key = h.derive(argon2.IDKey, password)
	return h.String()
}

// accounts are users in memory, by folded name.
type accounts struct {
	mu    sync.Mutex
	users map[string]account
}

type account struct {
	id       identity.ID
	hash     string
	disabled bool
	admin    bool
	app      string // an app password
	scope    identity.Scope
	factor   bool
}

func newAccounts() *accounts {
	return &accounts{users: map[string]account{
		"admin": {id: 2, hash: cheapHash("root"), admin: true},
		"sam":   {id: 3, hash: cheapHash("secret")},
		"ann":   {id: 4, hash: cheapHash("pässword:with colon")},
		"bob":   {id: 5, hash: cheapHash("secret"), disabled: true},
		"none":  {id: 6},
	}}
}

func (a *accounts) set(name string, change func(*account)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	u := a.users[name]
	change(&u)
	a.users[name] = u
}

func (a *accounts) Account(name string) (id identity.ID, hash string, disabled, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	u, ok := a.users[identity.Fold(name)]
	return u.id, u.hash, u.disabled, ok
}

func (a *accounts) UseAppPassword(id identity.ID, secret string) (identity.AppPassword, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, u := range a.users {
		if u.id == id && u.app != "" && u.app == secret {
			return identity.AppPassword{Scope: u.scope}, true
		}
	}
	return identity.AppPassword{}, false
}

func (a *accounts) HasFactor(id identity.ID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, u := range a.users {
		if u.id == id {
			return u.factor
		}
	}
	return false
}

func (a *accounts) AppPasswordOwner(secret string) (identity.ID, identity.AppPassword) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, u := range a.users {
		if u.app != "" && u.app == secret && !u.disabled {
			return u.id, identity.AppPassword{Scope: u.scope}
		}
	}
	return 0, identity.AppPassword{}
}

func (a *accounts) Principal(id identity.ID) identity.Principal {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(a.users)) {
		if u := a.users[name]; u.id == id {
			p := identity.Principal{ID: id, Name: identity.Name(name)}
			if u.admin {
				return p.AsOperator("")
			}
			return p
		}
	}
	return identity.Principal{}
}

// testClock stands still until it is told.
type testClock struct{ at atomic.Int64 }

func newTestClock() *testClock {
	c := &testClock{}
	c.at.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *testClock) now() time.Time          { return time.Unix(0, c.at.Load()) }
func (c *testClock) advance(d time.Duration) { c.at.Add(int64(d)) }

// guard is an Authenticator over test accounts that counts its hashes.
type guard struct {
	*Authenticator
	accounts *accounts
	clock    *testClock
	hashes   atomic.Int64
}

func newGuard() *guard {
	g := &guard{accounts: newAccounts(), clock: newTestClock()}
	g.Authenticator = NewAuthenticator(g.accounts, g.clock.now, cheap)
	g.derive = func(password, salt []byte, time, memory uint32, threads uint8, keyLen uint32) []byte {
		g.hashes.Add(1)
		return argon2.IDKey(password, salt, time, memory, threads, keyLen)
	}
	return g
}

func basic(name, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
}

var (
	home   = netip.MustParseAddr("192.0.2.1")
	abroad = netip.MustParseAddr("198.51.100.7")
)

// rig is a Server with what a test looks at. Its drive answers with the
// caller's name and the path.
type rig struct {
	*Server
	guard *guard
	log   *lines
}

// lines collects the log.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func newRig(tb testing.TB, change func(*Config)) *rig {
	tb.Helper()
	x := &rig{guard: newGuard(), log: &lines{}}
	config := Config{
		Log:     zerolog.New(x.log),
		Metrics: prometheus.NewRegistry(),
		Auth:    x.guard.Authenticator,
		Now:     x.guard.clock.now,
		Version: "1.2.3",
		Drive: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, "%s %s", PrincipalOf(r.Context()).Name, r.URL.Path)
		}),
	}
	if change != nil {
		change(&config)
	}
	s, err := New(config)
	if err != nil {
		tb.Fatal(err)
	}
	x.Server = s
	return x
}

// request makes a request of sam's, from loopback.
func request(method, target, body string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:1234"
	r.Header.Set("Authorization", basic("sam", "secret"))
	return r
}

func (x *rig) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	x.Handler().ServeHTTP(w, r)
	return w
}

// text returns the body of an answer.
func text(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
