package server

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"flowdrive/internal/errs"
)

func TestCheckHead(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("/a", maxSegments)
	tests := []struct {
		target string
		ok     bool
	}{
		{"/", true},
		{"/dav", true},
		{"/dav/", true},
		{"/dav//a", true},
		{"/dav/M%C3%BCller%20%26%20S%C3%B6hne.json?x=1", true},
		{"/dav/a.b/..c/...", true},
		{"/dav/%5Ba%5D", true},
		{"/dav/100%25", true},
		{deep, true},
		{deep + "/", true},
		{"/dav?limit=10&q=a+b%20c", true},
		{"/" + strings.Repeat("a", maxTarget-1), true},

		{"/" + strings.Repeat("a", maxTarget), false},
		{deep + "/a", false},
		{"/dav/a%2Fb", false},
		{"/dav/a%2fb", false},
		{"/dav/..%2fb", false},
		{"/dav/a%00", false},
		{"/dav/a%0Ab", false},
		{"/dav/%7F", false},
		{"/dav/..", false},
		{"/dav/../x", false},
		{"/dav/%2e%2e/x", false},
		{"/dav/.%2E", false},
		{"/dav/./x", false},
		{"/.", false},
		{"/dav/%FF", false},
		{"/dav/%C3", false},
		{"/dav/%ED%A0%80", false}, // a surrogate
		{"/dav/?a=%zz", false},
		{"/dav/?a=$__TODAY__;&b", true},
	}
	for _, test := range tests {
		err := checkHead(httptest.NewRequest("GET", test.target, nil))
		if (err == nil) != test.ok || err != nil && !errs.Is(err, errs.BadParameter) {
			t.Errorf("%.60s: %v; want ok %t", test.target, err, test.ok)
		}
	}
}

func TestCheckHeadFields(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("GET", "/dav/", nil)
	for range maxFields {
		r.Header.Add("If", "(<x>)")
	}
	if err := checkHead(r); err != nil {
		t.Errorf("%d fields: %v", maxFields, err)
	}
	r.Header.Add("Accept", "*/*")
	if err := checkHead(r); !errs.Is(err, errs.BadParameter) {
		t.Errorf("%d fields: %v; want bad-parameter", maxFields+1, err)
	}
	r = httptest.NewRequest("GET", "/dav/", nil)
	r.Header["Authorization"] = []string{basic("sam", "secret"), basic("admin", "root")}
	if err := checkHead(r); !errs.Is(err, errs.BadParameter) {
		t.Errorf("two log-ins: %v; want bad-parameter", err)
	}
	r = &http.Request{Method: "CONNECT", URL: &url.URL{Host: "example.org:80"}}
	if err := checkHead(r); !errs.Is(err, errs.BadParameter) {
		t.Errorf("no path: %v; want bad-parameter", err)
	}
}

func FuzzCheckPath(f *testing.F) {
	for _, seed := range []string{"/", "/dav/a%2fb", "/dav/%2e%2e/", "/a/./b", "//", "/%00", "/%C3%BC", "/%ff", "/a%5c..%5cb", "/..;/x", "/a/..."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || checkPath(u) != nil {
			return
		}
		segments := strings.Split(u.Path, "/")
		if len(segments) > maxSegments+2 && !strings.Contains(u.Path, "//") {
			t.Errorf("%q has %d segments", target, len(segments))
		}
		for _, s := range segments {
			if s == "." || s == ".." || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' && !strings.Contains(s, "\uFFFD") }) {
				t.Errorf("%q has the segment %q", target, s)
			}
		}
		// The slashes that we see are the slashes that were sent.
		if got, want := strings.Count(u.Path, "/"), strings.Count(u.EscapedPath(), "/"); got != want {
			t.Errorf("%q has %d slashes, %d of them sent", target, got, want)
		}
	})
}

func TestClientOf(t *testing.T) {
	t.Parallel()
	trusted := proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	tests := []struct {
		name, peer string
		forwarded  []string
		want       string
	}{
		{"no proxy", "192.0.2.1:1", nil, "192.0.2.1"},
		{"a liar", "192.0.2.1:1", []string{"203.0.113.9"}, "192.0.2.1"},
		{"a proxy", "10.1.1.1:1", []string{"203.0.113.9"}, "203.0.113.9"},
		{"a proxy over IPv6", "[::1]:1", []string{"2001:db8::1"}, "2001:db8::1"},
		{"a liar behind a proxy", "10.1.1.1:1", []string{"1.1.1.1, 203.0.113.9"}, "203.0.113.9"},
		{"two proxies", "10.1.1.1:1", []string{"1.1.1.1", "203.0.113.9,10.2.2.2"}, "203.0.113.9"},
		{"proxies only", "10.1.1.1:1", []string{"10.3.3.3, 10.2.2.2"}, "10.3.3.3"},
		{"a proxy that is silent", "10.1.1.1:1", nil, "10.1.1.1"},
		{"rubbish", "10.1.1.1:1", []string{"203.0.113.9, unknown"}, "10.1.1.1"},
		{"with a port", "10.1.1.1:1", []string{"203.0.113.9:4711"}, "203.0.113.9"},
		{"mapped", "[::ffff:10.1.1.1]:1", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		{"empty", "10.1.1.1:1", []string{""}, "10.1.1.1"},
		{"a Unix socket", "@", []string{"203.0.113.9"}, "invalid IP"},
	}
	for _, test := range tests {
		h := http.Header{"X-Forwarded-For": test.forwarded}
		if got := trusted.clientOf(addrOf(test.peer), h).String(); got != test.want {
			t.Errorf("%s: %s; want %s", test.name, got, test.want)
		}
		if got, want := proxies(nil).clientOf(addrOf(test.peer), h), addrOf(test.peer); got != want {
			t.Errorf("%s, trusting nobody: %s; want %s", test.name, got, want)
		}
	}
}

// TestUnnamedProxy: that a proxy next door is not named by the settings is said once, and
// not because somebody far away says so.
func TestUnnamedProxy(t *testing.T) {
	t.Parallel()
	const said = "a proxy that --trusted-proxy does not name"
	x := newRig(t, func(c *Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")} })
	ask := func(peer, header string) int {
		r := request("GET", "/dav/", "")
		r.RemoteAddr = peer
		if header != "" {
			r.Header.Set(header, "203.0.113.9")
		}
		x.do(r)
		return strings.Count(x.log.String(), said)
	}
	for _, test := range []struct {
		peer, header string
		want         int
	}{
		{"127.0.0.1:1", "", 0},
		{"198.51.100.7:1", "X-Forwarded-For", 0},
		{"10.1.2.3:1", "X-Forwarded-For", 0},
		{"10.2.2.3:1", "X-Forwarded-For", 1},
		{"127.0.0.1:1", "Forwarded", 1},
	} {
		if got := ask(test.peer, test.header); got != test.want {
			t.Errorf("from %s with %q: said %d times, want %d", test.peer, test.header, got, test.want)
		}
	}
}
