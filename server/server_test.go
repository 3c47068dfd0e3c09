package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/schema"
)

func TestDispatch(t *testing.T) {
	t.Parallel()
	clock := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "clock for %s", PrincipalOf(r.Context()).Name)
	})
	x := newRig(t, func(c *Config) { c.Clock = clock })
	plain := newRig(t, nil)
	const anonymous, sam, admin = "", "sam:secret", "admin:root"
	tests := []struct {
		x              *rig
		method, target string
		as             string
		status         int
		body           string // or the slug
	}{
		// Without log-in.
		{x, "GET", "/healthz", anonymous, 200, "ok\n"},
		{x, "HEAD", "/healthz", anonymous, 200, ""},
		{x, "POST", "/healthz", anonymous, 405, "method"},
		{x, "GET", "/livez", anonymous, 200, "ok\n"},
		{x, "HEAD", "/livez", anonymous, 200, ""},
		{x, "POST", "/livez", anonymous, 405, "method"},
		{x, "GET", "/readyz", anonymous, 200, "ready\n"},
		{x, "GET", "/version", anonymous, 200, `{"name":"flowdrive","version":"1.2.3"}` + "\n"},
		{x, "PUT", "/version", anonymous, 405, "method"},
		{x, "GET", "/openapi.json", anonymous, 200, string(schema.OpenAPI())},
		{x, "PUT", "/openapi.json", anonymous, 405, "method"},
		{x, "GET", "/openapi.json/", sam, 404, "not-found"},
		{x, "OPTIONS", "/", anonymous, 200, " /"},
		{x, "OPTIONS", "/dav", anonymous, 200, " /dav"},
		{x, "OPTIONS", "/dav/", anonymous, 200, " /dav/"},
		{x, "OPTIONS", "/dav/", "sam:wrong", 200, " /dav/"},
		{x, "OPTIONS", "/dav/Workflow", anonymous, 200, " /dav/Workflow"},
		{x, "OPTIONS", "/dav/Documents/ann/plan.txt", anonymous, 200, " /dav/Documents/ann/plan.txt"},
		{x, "OPTIONS", "/attachfs/x", anonymous, 200, " /attachfs/x"},
		{x, "OPTIONS", "/dav/Workflow", "sam:wrong", 401, "log-in"},
		{x, "OPTIONS", "/clock", anonymous, 401, "log-in"},
		{x, "GET", "/dav/Workflow/Schemas/route.schema.json", anonymous, 200, " /dav/Workflow/Schemas/route.schema.json"},
		{x, "GET", "/dav/Workflow/Schemas/", anonymous, 401, "log-in"},
		{x, "GET", "/", anonymous, 401, "log-in"},
		{x, "GET", "/dav/", anonymous, 401, "log-in"},
		{x, "GET", "/davX", anonymous, 401, "log-in"},
		{x, "GET", "/clock", anonymous, 401, "log-in"},
		{x, "GET", "/attachfs/view/x", anonymous, 401, "log-in"},
		{x, "GET", "/dav/%2e%2e/x", anonymous, 400, "bad-parameter"},
		{x, "GET", "/healthz/%00", anonymous, 400, "bad-parameter"},

		// The drive, untouched by redirects.
		{x, "PROPFIND", "/", sam, 200, "sam /"},
		{x, "PROPFIND", "/dav", sam, 200, "sam /dav"},
		{x, "PROPFIND", "/dav/", sam, 200, "sam /dav/"},
		{x, "MOVE", "/dav//a", sam, 200, "sam /dav//a"},
		{x, "GET", "/dav/a%20b", sam, 200, "sam /dav/a b"},
		{x, "PUT", "/dav/Workflow/Cases/1.json", sam, 200, "sam /dav/Workflow/Cases/1.json"},
		{x, "GET", "/davX", sam, 404, "not-found"},
		{x, "GET", "/davX/dav/", sam, 404, "not-found"},
		{x, "GET", "//dav/", sam, 404, "not-found"},
		{x, "GET", "/healthz/", sam, 404, "not-found"},
		{x, "GET", "/favicon.ico", sam, 404, "not-found"},
		{x, "GET", "/DAV/", sam, 404, "not-found"},

		// The rest.
		{x, "GET", "/clock", sam, 200, "clock for sam"},
		{x, "GET", "/clock/x", sam, 404, "not-found"},

		// What no resource of the server's own asks for.
		{x, "GET", "/healthz?x", "", 400, "bad-parameter"},
		{x, "GET", "/livez?verbose", "", 400, "bad-parameter"},
		{x, "GET", "/readyz?verbose=1", "", 400, "bad-parameter"},
		{x, "GET", "/version?x=y", "", 400, "bad-parameter"},
		{x, "GET", "/openapi.json?format=yaml", "", 400, "bad-parameter"},
		{x, "GET", "/openapi.json?a;b", "", 400, "bad-parameter"},
		{x, "GET", "/metrics?x", admin, 400, "bad-parameter"},
		{x, "GET", "/metrics?x", sam, 404, "not-found"},
		{x, "GET", "/clock?x", sam, 400, "bad-parameter"},
		{x, "GET", "/clock?", sam, 200, "clock for sam"},
		{x, "POST", "/clock?dryRun", admin, 400, "bad-parameter"},
		{x, "GET", "/clock?x", "", 401, "log-in"},
		{plain, "GET", "/clock?x", admin, 404, "not-found"},
		{plain, "GET", "/clock", admin, 404, "not-found"},
		{x, "GET", "/attachfs", sam, 200, "sam /attachfs"},
		{x, "PUT", "/attachfs/a.ods", sam, 200, "sam /attachfs/a.ods"},
		{x, "GET", "/calendar/x.ics", sam, 404, "not-found"},
		{x, "GET", "/ui/", sam, 501, "not-built"},
		{x, "GET", "/events", sam, 404, "not-found"},
	}
	for _, test := range tests {
		r := httptest.NewRequest(test.method, test.target, nil)
		if name, password, ok := strings.Cut(test.as, ":"); ok {
			r.Header.Set("Authorization", basic(name, password))
		}
		resp := test.x.do(r)
		body := resp.Body.String()
		if resp.Code != test.status {
			t.Errorf("%s %s as %q: %d; want %d", test.method, test.target, test.as, resp.Code, test.status)
		}
		if test.status == 200 && body != test.body || test.status != 200 && !strings.Contains(body, problemType+test.body+`"`) {
			t.Errorf("%s %s as %q: %s; want %s", test.method, test.target, test.as, body, test.body)
		}
		if resp.Header().Get("X-Request-Id") == "" || resp.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: %v", test.method, test.target, resp.Header())
		}
	}
}

func TestMetricsAccess(t *testing.T) {
	t.Parallel()
	x := newRig(t, nil)
	tests := []struct {
		name, remote string
		header       http.Header
		as           string
		status       int
	}{
		{"loopback", "127.0.0.1:1", nil, "", 200},
		{"loopback over IPv6", "[::1]:1", nil, "", 200},
		{"through a proxy on this machine", "127.0.0.1:1", http.Header{"X-Forwarded-For": {"203.0.113.9"}}, "", 401},
		{"through another", "127.0.0.1:1", http.Header{"Via": {"1.1 x"}}, "", 401},
		{"a stranger", "203.0.113.9:1", nil, "", 401},
		{"a user", "203.0.113.9:1", nil, "sam:secret", 404},
		{"an administrator", "203.0.113.9:1", nil, "admin:root", 200},
	}
	for _, test := range tests {
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.RemoteAddr = test.remote
		for name, values := range test.header {
			r.Header[name] = values
		}
		if name, password, ok := strings.Cut(test.as, ":"); ok {
			r.Header.Set("Authorization", basic(name, password))
		}
		if got := x.do(r).Code; got != test.status {
			t.Errorf("%s: %d; want %d", test.name, got, test.status)
		}
	}
	r := httptest.NewRequest("DELETE", "/metrics", nil)
	r.RemoteAddr = "127.0.0.1:1"
	if resp := x.do(r); resp.Code != 405 || resp.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("DELETE: %d, Allow %q", resp.Code, resp.Header().Get("Allow"))
	}
}

func TestMetricLabelsAreBounded(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	x := newRig(t, func(c *Config) {
		c.Metrics = registry
		c.Drive = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var status int
			if _, err := fmt.Sscanf(r.URL.Query().Get("status"), "%d", &status); err == nil {
				w.WriteHeader(status)
			}
		})
	})
	for _, target := range []string{
		"/", "/dav", "/dav/x", "/dav/Workflow", "/dav/Workflow/x", "/dav/Workflow/Schedule/a.json", "/dav/Workflow/Routes", "/dav/Workflow/Cases/17.json",
		"/dav/Workflow/Cases/18.json", "/dav/Workflow/Worklist/", "/dav/Workflow/Archive/2026/", "/dav/Documents/sam/x", "/dav/Account/me.json", "/dav/Admin/",
		"/healthz", "/readyz", "/clock", "/attachfs/x", "/calendar/x", "/ui", "/events", "/openapi.json", "/whatever", "/dav/?status=599", "/dav/?status=999", "/dav/?status=207",
	} {
		x.do(request("GET", target, ""))
	}
	for i := range 50 {
		x.do(request(fmt.Sprintf("METHOD%d", i), "/dav/", ""))
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]map[string]bool{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if seen[label.GetName()] == nil {
					seen[label.GetName()] = map[string]bool{}
				}
				seen[label.GetName()][label.GetValue()] = true
			}
		}
	}
	want := map[string]map[string]bool{"reason": set("wrong", "throttled"), "limit": set("rate-per-user", "rate-per-address"), "method": set("GET", "other"), "code": set("200", "207", "404", "501", "other"), "area": set(
		"/", "/dav", "/dav/Workflow", "/dav/Workflow/Schedule", "/dav/Workflow/Routes", "/dav/Workflow/Cases", "/dav/Workflow/Worklist", "/dav/Workflow/Archive",
		"/dav/Documents", "/dav/Account", "/dav/Admin", "/healthz", "/clock", "/attachfs", "/calendar", "pages", "/events", "/openapi.json", "other")}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("label values (-want +got):\n%s", diff)
	}
	if _, err := New(Config{Metrics: registry, Auth: x.guard.Authenticator, Now: x.guard.clock.now, Drive: http.NotFoundHandler()}); err == nil {
		t.Error("a second server has its metrics in the same registry")
	}
}

func set(values ...string) map[string]bool {
	m := map[string]bool{}
	for _, v := range values {
		m[v] = true
	}
	return m
}

func TestThrottledRequest(t *testing.T) {
	t.Parallel()
	x := newRig(t, func(c *Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	try := func(password, client string) *httptest.ResponseRecorder {
		r := request("GET", "/dav/", "")
		r.Header.Set("Authorization", basic("sam", password))
		r.Header.Set("X-Forwarded-For", client)
		return x.do(r)
	}
	for i := range freeFailures {
		resp := try("wrong", "203.0.113.9")
		if resp.Code != 401 || resp.Header().Get("WWW-Authenticate") != `Basic realm="Flowdrive", charset="UTF-8"` {
			t.Fatalf("failure %d: %d, %v", i+1, resp.Code, resp.Header())
		}
	}
	for _, want := range []string{"1", "1", "1"} {
		if resp := try("wrong", "203.0.113.9"); resp.Code != 429 || resp.Header().Get("Retry-After") != want {
			t.Fatalf("%d, Retry-After %s; want 429, %s", resp.Code, resp.Header().Get("Retry-After"), want)
		}
	}
	if resp := try("secret", "203.0.113.10"); resp.Code != 200 {
		t.Errorf("from the good address: %d", resp.Code)
	}
	x.guard.clock.advance(time.Second)
	if resp := try("secret", "203.0.113.9"); resp.Code != 200 {
		t.Errorf("after the wait: %d", resp.Code)
	}
}

// TestOtherOrigins: a page of another origin changes nothing, also if the browser says by
// Origin alone where it is from, or it is of the same site.
func TestOtherOrigins(t *testing.T) {
	t.Parallel()
	x := newRig(t, nil)
	for _, test := range []struct {
		site, origin string
		own          bool
	}{
		{"", "", true},
		{"none", "", true},
		{"same-origin", "http://example.com", true},
		{"", "http://example.com", true},
		{"same-site", "", false},
		{"cross-site", "", false},
		{"same-site", "http://other.example.com", false},
		{"", "http://example.com:8080", false},
		{"", "http://evil.example", false},
		{"", "null", false},
	} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "POST", "DELETE", "PROPFIND", "MOVE"} {
			r := request(method, "/dav/a", "")
			for name, value := range map[string]string{"Sec-Fetch-Site": test.site, "Origin": test.origin} {
				if value != "" {
					r.Header.Set(name, value)
				}
			}
			want := 200
			if !test.own && method != "GET" && method != "HEAD" && method != "OPTIONS" {
				want = 403
			}
			if got := x.do(r).Code; got != want {
				t.Errorf("%s of %q, %q: %d; want %d", method, test.site, test.origin, got, want)
			}
		}
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	var ready error
	x := newRig(t, func(c *Config) {
		c.Ready = func(context.Context) error { return ready }
		c.Parts = func(context.Context) []Part {
			return []Part{{Name: "disk"}, {Name: "backup", Says: "the last one was not made"}}
		}
	})
	ready = errors.New("no database at secret-host")
	resp := x.do(request("GET", "/readyz", ""))
	if body := resp.Body.String(); resp.Code != 503 || strings.Contains(body, "secret") || resp.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", resp.Code, body)
	}
	if !strings.Contains(x.log.String(), "secret-host") {
		t.Errorf("the log does not say why: %s", x.log)
	}
	ready = &errs.Error{Kind: errs.Unavailable, Detail: "disk: It is full.", Err: errors.New("at secret-place")}
	resp = x.do(request("GET", "/readyz", ""))
	if body := resp.Body.String(); resp.Code != 503 || strings.Contains(body, "secret") || !strings.Contains(body, `"The server is not ready. disk: It is full."`) {
		t.Errorf("with a reason for anybody: %d %s", resp.Code, body)
	}
	ready = nil
	if resp := x.do(request("GET", "/readyz", "")); resp.Code != 200 || resp.Body.String() != "ready\ndisk: ok\nbackup: the last one was not made\n" {
		t.Errorf("%d %s; want 200 and the parts", resp.Code, resp.Body)
	}
	x.draining.Store(true)
	for target, want := range map[string]int{"/healthz": 200, "/livez": 200, "/version": 200, "/readyz": 503, "/dav/": 503, "/clock": 503, "/dav/..": 400} {
		resp := x.do(request("GET", target, ""))
		if resp.Code != want || want == 503 && resp.Header().Get("Retry-After") == "" {
			t.Errorf("%s while draining: %d, %v; want %d", target, resp.Code, resp.Header(), want)
		}
	}
}

func TestAccessLog(t *testing.T) {
	t.Parallel()
	x := newRig(t, nil)
	r := request("MOVE", "/dav/a%20b?token=hush", "body-hush")
	r.Header.Set("User-Agent", strings.Repeat("agent", 100))
	r.Header.Set("Destination", "http://u:hush@host/dav/hush")
	r.Header.Set("If", "(<urn:hush>)")
	r.Header.Set("Cookie", "hush")
	x.do(r)
	log := x.log.String()
	for _, want := range []string{
		`"method":"MOVE"`, `"path":"/dav/a%20b"`, `"status":200`, `"bytes":12`, `"duration":`, `"user":"sam"`, `"user_agent":"agentagent`, `"remote":"127.0.0.1"`,
		`"request_id":"`, `"level":"info"`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("%s is not in %s", want, log)
		}
	}
	for _, secret := range []string{"hush", "c2Ft", "secret", strings.Repeat("agent", 50)} {
		if strings.Contains(log, secret) {
			t.Errorf("%s is in %s", secret, log)
		}
	}
	if n := strings.Count(log, "\n"); n != 1 {
		t.Errorf("%d lines; want 1", n)
	}
	x.do(request("GET", "/calendar/0123456789abcdef.ics", ""))
	x.do(request("GET", "/dav/\"%0A"+strings.Repeat("ä", 2000), ""))
	if log := x.log.String(); strings.Contains(log, "0123456789abcdef.ics") || strings.Count(log, "\n") != 3 || len(log) > 4000 {
		t.Errorf("the log is %s", log)
	}
}

func TestPanic(t *testing.T) {
	t.Parallel()
	x := newRig(t, func(c *Config) {
		c.Drive = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == "PUT" {
				_, _ = fmt.Fprint(w, "half an ans")
			}
			if r.Method == "DELETE" {
				panic(http.ErrAbortHandler)
			}
			panic("the secret reason")
		})
	})
	resp := x.do(request("GET", "/dav/", ""))
	if body := resp.Body.String(); resp.Code != 500 || strings.Contains(body, "secret reason") {
		t.Errorf("%d %s", resp.Code, body)
	}
	if log := x.log.String(); !strings.Contains(log, "the secret reason") || !strings.Contains(log, "server_test.go") {
		t.Errorf("log: %s", log)
	}
	// What has begun cannot become an error: the connection is broken off.
	for _, method := range []string{"PUT", "DELETE"} {
		aborted := func() (v any) {
			defer func() { v = recover() }()
			x.do(request(method, "/dav/", ""))
			return nil
		}()
		if aborted != any(http.ErrAbortHandler) {
			t.Errorf("%s: the frame ended with %v; want ErrAbortHandler", method, aborted)
		}
	}
	if n := x.requests.count(); n != 0 {
		t.Errorf("%v requests are in flight", n)
	}
}

func TestErrorAfterTheAnswerHasBegun(t *testing.T) {
	t.Parallel()
	x := newRig(t, func(c *Config) {
		c.Drive = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprint(w, "half an ans")
			WriteError(w, r, errs.Wrap("store", errors.New("gone")))
		})
	})
	srv := httptest.NewServer(x.Handler())
	defer srv.Close()
	req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/dav/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("sam", "secret")
	resp, err := srv.Client().Do(req)
	if err == nil {
		defer resp.Body.Close()
		var body strings.Builder
		if err = resp.Write(&body); err == nil {
			t.Errorf("the client took a part for the whole: %s", body.String())
		}
	}
	if log := x.log.String(); !strings.Contains(log, "gone") {
		t.Errorf("log: %s", log)
	}
}

func TestContextValues(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	if p := PrincipalOf(ctx); p.ID != 0 || RequestID(ctx) != "" {
		t.Errorf("an empty context has %+v, %q", p, RequestID(ctx))
	}
	ctx = WithPrincipal(ctx, identity.Principal{ID: 3, Name: "sam"})
	if p := PrincipalOf(ctx); p.Name != "sam" {
		t.Errorf("PrincipalOf = %+v; want sam", p)
	}
	outer := context.WithValue(ctx, exchangeKey{}, &exchange{id: [1]string{"abc"}})
	if inner := WithPrincipal(outer, identity.Principal{ID: 4}); RequestID(inner) != "abc" || PrincipalOf(inner).ID != 4 || PrincipalOf(outer).ID != 0 {
		t.Error("WithPrincipal does not keep the request, or changes it")
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	full := func() Config {
		g := newGuard()
		return Config{Metrics: prometheus.NewRegistry(), Auth: g.Authenticator, Now: g.clock.now, Drive: http.NotFoundHandler()}
	}
	for name, change := range map[string]func(*Config){
		"Metrics": func(c *Config) { c.Metrics = nil }, "Auth": func(c *Config) { c.Auth = nil }, "Now": func(c *Config) { c.Now = nil },
		"Drive": func(c *Config) { c.Drive = nil }, "Drain": func(c *Config) { c.Drain = -1 }, "Limits": func(c *Config) { c.Limits.Connections = -1 },
	} {
		c := full()
		change(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), "Config."+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(full()); err != nil {
		t.Error(err)
	}
}

// TestOnlyTLS: browsers that have come by TLS are told to come by nothing else.
func TestOnlyTLS(t *testing.T) {
	t.Parallel()
	x := newRig(t, nil)
	const header = "Strict-Transport-Security"
	r := request("GET", "/dav/x", "")
	if got := x.do(r).Header().Get(header); got != "" {
		t.Errorf("plain: %q", got)
	}
	r.TLS = &tls.ConnectionState{}
	if got := x.do(r).Header().Get(header); got != "max-age=31536000" {
		t.Errorf("by TLS: %q", got)
	}
}
