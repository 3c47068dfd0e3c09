package notify

import (
	"context"
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"flowdrive/engine/outbox"
	"flowdrive/internal/confine"
	"flowdrive/route"
)

const (
	confinedArgument = "confined-of-this-test"
	endArgument      = "end-of-this-test"
	serverArgument   = "server-of-this-test"
)

// TestMain makes this test binary what confines commands, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == confinedArgument {
		os.Exit(confine.Become(os.Args[2:], os.Environ(), os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == endArgument { // before it becomes a command
		_, _ = os.Stderr.WriteString("no memory\n")
		os.Exit(2)
	}
	if len(os.Args) == 4 && os.Args[1] == serverArgument {
		os.Exit(serveCommand(os.Args[2], os.Args[3]))
	}
	goleak.VerifyTestMain(m)
}

// still is a clock that stands still.
type still struct{ time.Time }

func (s still) Now() time.Time { return s.Time }

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func newGateway(t *testing.T, c Config) *Gateway {
	t.Helper()
	c.Clock, c.Version, c.Log = still{noon()}, "1.2.3", zerolog.New(zerolog.NewTestWriter(t))
	c.Confined, c.Scratch = []string{confinedArgument}, t.TempDir()
	g := New(c)
	t.Cleanup(g.Close)
	return g
}

func allow(t *testing.T, items ...string) Hosts {
	t.Helper()
	h, err := ParseHosts(items)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// at returns the host and port of a test server.
func at(s *httptest.Server) string {
	return strings.TrimPrefix(strings.TrimPrefix(s.URL, "http://"), "https://")
}

func port(s *httptest.Server) string {
	_, p, err := net.SplitHostPort(at(s))
	if err != nil {
		return err.Error()
	}
	return p
}

// deliver returns what became of a delivery: "media/type content",
// "final: …", "later 5s: …" or "again: …".
func deliver(t *testing.T, g *Gateway, d *outbox.Delivery) string {
	t.Helper()
	d.Key = "5d3c0f0e8a5b4f6c9d1e2f3a4b5c6d7e-3-1"
	r, err := g.Deliver(t.Context(), d)
	return outcomeOf(r, err)
}

func outcomeOf(r *outbox.Reply, err error) string {
	if final, ok := errors.AsType[*outbox.Final](err); ok {
		return "final: " + final.Reason
	}
	if later, ok := errors.AsType[*outbox.Later](err); ok {
		return "later " + later.After.String() + ": " + later.Error()
	}
	switch {
	case err != nil:
		return "again: " + err.Error()
	case r == nil:
		return "nothing"
	}
	return r.MediaType + " " + string(r.Content)
}

func TestErrorTextIsOneShortLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"  a\r\n\tb  ", "a b"},
		{"a\x1b[31mb\x00c", "a[31mbc"},
		{"gr\xffün", "grün"},
		{"\u202eabc\u2028d", "abc d"},
		{strings.Repeat("é", 12), "éééééééééé…"},
	} {
		if got := clean([]byte(test.text), 10); got != test.want {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
}

// TestCallbacksGoNowhere: what an embedding program's callback is for goes nowhere.
func TestCallbacksGoNowhere(t *testing.T) {
	t.Parallel()
	g := newGateway(t, Config{})
	if got := deliver(t, g, &outbox.Delivery{Call: &outbox.Callback{Name: "x"}}); !strings.HasPrefix(got, "final: ") {
		t.Errorf("got %s", got)
	}
}

// TestNothingLeavesWithoutSettings: without settings nothing may leave the machine, and what says
// so says what to set.
func TestNothingLeavesWithoutSettings(t *testing.T) {
	t.Parallel()
	g := newGateway(t, Config{})
	for _, test := range []struct{ got, want string }{
		{g.RefusesURL("https://example.org/x"), "setting allow-host"},
		{g.RefusesAddress("ann@example.org"), "setting smtp"},
		{g.RefusesCommand("ls"), "setting commands"},
		{g.RefusesSecret(nil, route.ReachSecret, "default"), "setting secrets"},
		{deliver(t, g, &outbox.Delivery{HTTP: &outbox.HTTPCall{Method: "GET", URL: "http://127.0.0.1/"}}), "setting allow-host"},
		{deliver(t, g, &outbox.Delivery{Mail: &outbox.Mail{To: []string{"ann@example.org"}}}), "setting smtp"},
		{deliver(t, g, &outbox.Delivery{Exec: &outbox.Command{Name: "ls"}}), "setting commands"},
	} {
		if !strings.Contains(test.got, test.want) {
			t.Errorf("got %q, want something with %q", test.got, test.want)
		}
	}
}

// TestCanceled: a delivery ends with its context, and is not over.
func TestCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := newGateway(t, Config{Hosts: allow(t, "127.0.0.1")})
	r, err := g.Deliver(ctx, &outbox.Delivery{HTTP: &outbox.HTTPCall{Method: "GET", URL: "http://127.0.0.1:9/"}})
	if !errors.Is(err, context.Canceled) || strings.HasPrefix(outcomeOf(r, err), "final") {
		t.Errorf("got %v, %v", r, err)
	}
}
