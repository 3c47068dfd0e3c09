package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

func TestMemoryIsShared(t *testing.T) {
	t.Parallel()
	const sam, ann = 3, 4
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(100)
		of := func(user identity.ID) *room { return &room{of: m, user: user} }
		now := func(r *room, bytes int64) bool {
			_, ok := m.take(r, bytes)
			return ok
		}
		large := of(sam)
		if !now(large, 500) {
			t.Error("a request that is alone has no room")
		}
		if now(of(ann), 1) {
			t.Error("there is room beyond the whole")
		}
		large.leave()
		first, second, third := of(sam), of(sam), of(sam)
		if !now(first, 30) || !now(second, 20) || now(third, 1) {
			t.Error("a user does not have half of the room")
		}
		if other := of(ann); !now(other, 45) || now(other, 51) || !now(other, 50) {
			t.Error("another user does not have the rest")
		} else {
			other.leave()
		}
		begun := time.Now()
		if err := third.hold(t.Context(), 30); !errs.Is(err, errs.Unavailable) || time.Since(begun) != memoryTimeout {
			t.Errorf("without room: %v after %v", err, time.Since(begun))
		}
		begun = time.Now()
		time.AfterFunc(time.Second, func() { first.hold(t.Context(), 5) }) //nolint:errcheck // it is less
		if err := third.hold(t.Context(), 25); err != nil || time.Since(begun) != time.Second {
			t.Errorf("when there is room again: %v after %v", err, time.Since(begun))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := first.hold(ctx, 50); err == nil {
			t.Error("a request that has ended waits")
		}
		for _, r := range []*room{first, second, third} {
			r.leave()
		}
		if m.used != 0 || len(m.by) != 0 {
			t.Errorf("%d bytes are held, %v", m.used, m.by)
		}
	})
}

// TestRoomEndsWithTheRequest: what a request holds is given back at its end, also
// that of one that panics.
func TestRoomEndsWithTheRequest(t *testing.T) {
	t.Parallel()
	m := NewMemory(100)
	x := newRig(t, func(c *Config) {
		c.Memory = m
		c.Drive = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if err := Weigh(r.Context(), 60); err != nil || m.used != 60 || m.by[3] != 60 {
				t.Errorf("%v; %d bytes are held, %v", err, m.used, m.by)
			}
			panic("a fault")
		})
		c.Pages = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if err := Weigh(r.Context(), 70); err != nil || m.used != 70 || m.by[0] != 70 {
				t.Errorf("a page: %v; %d bytes are held, %v", err, m.used, m.by)
			}
		})
	})
	x.do(request("POST", "/login", "name=ann"))
	for range 3 {
		if w := x.do(request("GET", "/dav/", "")); w.Code != 500 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if m.used != 0 {
		t.Errorf("%d bytes are held", m.used)
	}
	if err := Weigh(t.Context(), 1000); err != nil {
		t.Errorf("beside all requests: %v", err)
	}
}

// TestHostOnLoopback: a page whose name was given the address of loopback is told
// nothing.
func TestHostOnLoopback(t *testing.T) {
	t.Parallel()
	x := newRig(t, func(c *Config) { c.Names = []string{"flow.example.org", "intern:8080"} })
	srv := httptest.NewServer(x.Handler())
	defer srv.Close()
	for host, want := range map[string]int{
		"": 200, "localhost": 200, "LOCALHOST:1": 200, "app.localhost:99": 200, "127.0.0.1": 200, "127.8.9.1:80": 200, "[::1]:8080": 200, "localhost.": 200,
		"flow.example.org": 200, "Flow.Example.Org:443": 200, "intern": 200,
		"evil.example": 421, "evil.example:8080": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example": 421, "192.0.2.1": 421,
	} {
		for _, path := range []string{"/metrics", "/dav/x", "/version", "/healthz"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			r.Header.Set("Authorization", basic("sam", "secret"))
			resp, err := srv.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if body := text(t, resp); resp.StatusCode != want && (path == "/metrics" || path == "/dav/x") || resp.StatusCode != 200 && want == 200 {
				t.Errorf("%s of %q: %d %s", path, host, resp.StatusCode, body)
			}
			_ = resp.Body.Close()
		}
	}
}

// TestChunkedBehindProxies: the connection of a proxy ends after a request whose
// length it may have taken for another.
func TestChunkedBehindProxies(t *testing.T) {
	t.Parallel()
	x := newRig(t, nil)
	for header, want := range map[string]string{"X-Other": "", "X-Forwarded-For": "close", "Via": "close"} {
		r := request("PUT", "/dav/x", "text")
		r.TransferEncoding = []string{"chunked"}
		r.Header.Set(header, "192.0.2.7")
		if got := x.do(r).Header().Get("Connection"); got != want {
			t.Errorf("with %s: Connection: %q, want %q", header, got, want)
		}
	}
}
