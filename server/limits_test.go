package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"flowdrive/internal/errs"
)

// TestRates: a user, and an address without a valid log-in, may send as many requests as
// their rate says; each has their own, and time gives them back.
func TestRates(t *testing.T) {
	t.Parallel()
	x := newRig(t, func(c *Config) {
		c.Limits = Limits{PerUser: Rate{PerSecond: 2, Burst: 3}, PerAddress: Rate{PerSecond: 1, Burst: 2}}
	})
	send := func(who, address, path string) *httptest.ResponseRecorder {
		r := request("GET", path, "")
		r.RemoteAddr = address + ":1234"
		r.Header.Del("Authorization")
		switch who {
		case "":
		case "stranger":
			r.Header.Set("Authorization", "Bearer unknown")
		case "admin":
			r.Header.Set("Authorization", basic("admin", "root"))
		default:
			r.Header.Set("Authorization", basic(who, "secret"))
		}
		return x.do(r)
	}
	const here, there = "192.0.2.1", "192.0.2.2"
	steps := []struct {
		what               string
		who, address, path string
		status             int
		retry              string
	}{
		{"the first of a burst", "sam", here, "/dav/x", 200, ""},
		{"the second", "sam", there, "/dav/x", 200, ""},
		{"the third", "sam", here, "/dav/x", 200, ""},
		{"one more is too many", "sam", here, "/dav/x", 429, "1"},
		{"from any address", "sam", there, "/dav/x", 429, "1"},
		{"another user has another rate", "admin", here, "/dav/x", 200, ""},
		{"a log-in that is missing", "", here, "/dav/x", 401, ""},
		{"one that is wrong", "stranger", here, "/dav/x", 401, ""},
		{"then no more", "", here, "/dav/x", 429, "1"},
		{"what needs no log-in neither", "", here, "/dav/Workflow/Schemas/case.json", 429, "1"},
		{"nor an unknown calendar", "", here, "/calendar/x.ics", 429, "1"},
		{"a probe is always answered", "", here, "/healthz", 200, ""},
		{"who has logged in is not concerned", "admin", here, "/dav/x", 200, ""},
		{"another address neither", "", there, "/dav/x", 401, ""},
		{"a network of IPv6 is one address", "", "[2001:db8::1]", "/dav/x", 401, ""},
		{"as is said", "", "[2001:db8::2]", "/dav/x", 401, ""},
		{"so it is used up", "", "[2001:db8::3]", "/dav/x", 429, "1"},
	}
	for _, s := range steps {
		w := send(s.who, s.address, s.path)
		if w.Code != s.status || w.Header().Get("Retry-After") != s.retry {
			t.Errorf("%s: %d, Retry-After %q; want %d, %q", s.what, w.Code, w.Header().Get("Retry-After"), s.status, s.retry)
		}
		if s.status == 429 && !strings.Contains(w.Body.String(), string(errs.TooMany)) {
			t.Errorf("%s: no problem of its kind: %s", s.what, w.Body)
		}
	}
	metrics := scraped(t, x)
	for _, want := range []string{
		`flowdrive_http_requests_limited_total{limit="rate-per-user"} 2`, `flowdrive_http_requests_limited_total{limit="rate-per-address"} 4`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}

	x.guard.clock.advance(500 * time.Millisecond) // one request of a user, half of one of an address
	if w := send("sam", here, "/dav/x"); w.Code != 200 {
		t.Errorf("after half a second: %d", w.Code)
	}
	if w := send("sam", here, "/dav/x"); w.Code != 429 {
		t.Errorf("twice after half a second: %d", w.Code)
	}
	if w := send("", here, "/dav/x"); w.Code != 429 {
		t.Errorf("an address after half a second: %d", w.Code)
	}
	x.SetLimits(Limits{})
	for range 20 {
		if w := send("sam", here, "/dav/x"); w.Code != 200 {
			t.Fatalf("without limits: %d", w.Code)
		}
		if w := send("", here, "/dav/x"); w.Code != 401 {
			t.Fatalf("an address without limits: %d", w.Code)
		}
	}
}

// TestRateOfAnAddressOverTime: however many requests without a valid log-in an address sends, it
// gets answers to so many as its rate says, is told each time when it will be answered again,
// and is answered then. What a second address sends is not its affair.
func TestRateOfAnAddressOverTime(t *testing.T) {
	t.Parallel()
	x := newRig(t, func(c *Config) { c.Limits = Limits{PerAddress: Rate{PerSecond: 0.5, Burst: 5}} })
	send := func(address string) *httptest.ResponseRecorder {
		r := request("GET", "/dav/x", "")
		r.RemoteAddr = address + ":1234"
		r.Header.Del("Authorization")
		return x.do(r)
	}
	const here, there = "192.0.2.1", "192.0.2.2"
	answered, refused := 0, 0
	for range 600 { // a minute, ten a second
		switch w := send(here); w.Code {
		case http.StatusUnauthorized:
			answered++
		case http.StatusTooManyRequests:
			refused++
			if wait := w.Header().Get("Retry-After"); wait != "1" && wait != "2" {
				t.Fatalf("after %d requests: Retry-After %q", answered+refused, wait)
			}
		default:
			t.Fatalf("after %d requests: %d", answered+refused, w.Code)
		}
		x.guard.clock.advance(100 * time.Millisecond)
	}
	const burst, inAMinute = 5, 30
	if answered != burst+inAMinute && answered != burst+inAMinute-1 { // the last one is due at its end
		t.Errorf("%d of 600 requests were answered in a minute, want %d", answered, burst+inAMinute)
	}
	if w := send(there); w.Code != http.StatusUnauthorized {
		t.Errorf("another address: %d", w.Code)
	}
	for send(here).Code != http.StatusTooManyRequests { // whatever has come back meanwhile
	}
	for range 20 { // the client that waits as it is told is answered each time
		w := send(here)
		wait, err := strconv.Atoi(w.Header().Get("Retry-After"))
		if err != nil || w.Code != http.StatusTooManyRequests {
			t.Fatalf("%d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
		}
		x.guard.clock.advance(time.Duration(wait) * time.Second)
		if w := send(here); w.Code != http.StatusUnauthorized {
			t.Fatalf("after the wait: %d", w.Code)
		}
	}
	x.guard.clock.advance(time.Hour)
	for i := range 6 { // no more than the burst is saved up
		if w := send(here); (w.Code == http.StatusUnauthorized) != (i < 5) {
			t.Errorf("request %d after an hour: %d", i+1, w.Code)
		}
	}
	metrics := scraped(t, x)
	if want := fmt.Sprintf(`flowdrive_http_requests_limited_total{limit="rate-per-address"} %d`, refused+22); !strings.Contains(metrics, want) {
		t.Errorf("the metrics lack %s", want)
	}
}

func scraped(t *testing.T, x *rig) string {
	t.Helper()
	r := request("GET", "/metrics", "")
	r.Header.Del("Authorization")
	w := x.do(r)
	if w.Code != http.StatusOK {
		t.Fatalf("/metrics: %d", w.Code)
	}
	return w.Body.String()
}

// TestRatesAreForgotten: however many addresses there are, as many are remembered as
// fit.
func TestRatesAreForgotten(t *testing.T) {
	t.Parallel()
	var r rates[netip.Addr]
	r.set(Rate{PerSecond: 1, Burst: 1})
	now := newTestClock().now()
	address := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}) }
	for i := range mostBuckets + 100 {
		if wait := r.take(address(i), now); wait != 0 {
			t.Fatalf("address %d waits %s", i, wait)
		}
	}
	if n := r.buckets.Len(); n != mostBuckets {
		t.Errorf("%d are remembered, want %d", n, mostBuckets)
	}
	if wait := r.take(address(mostBuckets+99), now); wait != time.Second {
		t.Errorf("the last waits %s, want a second", wait)
	}
	if wait := r.take(address(0), now); wait != 0 {
		t.Errorf("the first is still remembered: %s", wait)
	}
}

// TestLimitsOfConnectionsChange: a limit that was changed counts for connections that
// come after it.
func TestLimitsOfConnectionsChange(t *testing.T) {
	t.Parallel()
	x := newRig(t, func(c *Config) { c.Limits = Limits{Connections: 16} })
	if x.connections.most != 16 || x.connections.each != 2 {
		t.Errorf("%d, of one address %d", x.connections.most, x.connections.each)
	}
	x.SetLimits(Limits{Connections: 10, FromOneAddress: 7})
	if x.connections.most != 10 || x.connections.each != 7 {
		t.Errorf("after the change: %d, of one address %d", x.connections.most, x.connections.each)
	}
	config := Config{Metrics: prometheus.NewRegistry(), Auth: x.guard.Authenticator, Now: time.Now, Drive: http.NotFoundHandler(), Limits: Limits{FromOneAddress: -1}}
	if _, err := New(config); err == nil {
		t.Error("a negative limit is accepted")
	}
}

func BenchmarkRates(b *testing.B) {
	var r rates[int]
	now := newTestClock().now()
	for _, bound := range []Rate{{}, {PerSecond: 1e9, Burst: 1e9}} {
		b.Run(fmt.Sprint(bound.PerSecond > 0), func(b *testing.B) {
			r.set(bound)
			for b.Loop() {
				r.take(1, now)
			}
		})
	}
}
