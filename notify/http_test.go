package notify

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"flowdrive/engine/outbox"
)

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func get(url string) *outbox.Delivery {
	return &outbox.Delivery{HTTP: &outbox.HTTPCall{Method: http.MethodGet, URL: url}}
}

// TestAnswers: what a service answers decides whether it is asked again.
func TestAnswers(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/json":
			w.Header().Set("Content-Type", "Application/JSON; charset=utf-8")
			_, _ = io.WriteString(w, `{"a": 1}`)
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		case "/untyped":
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, "x")
		case "/gone":
			w.WriteHeader(http.StatusGone)
			_, _ = io.WriteString(w, "it is\x1b[31m\r\n gone "+strings.Repeat("!", 300))
		case "/nowhere":
			w.WriteHeader(http.StatusFound)
		case "/text":
			w.Header().Set("Content-Type", `Text/Plain; Charset="ISO-8859-1"; format=flowed`)
			_, _ = io.WriteString(w, "caf\xe9")
		case "/seconds":
			w.Header().Set("Retry-After", "90")
			w.WriteHeader(http.StatusTooManyRequests)
		case "/date":
			w.Header().Set("Retry-After", noon().Add(5*time.Minute).Format(http.TimeFormat))
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/past":
			w.Header().Set("Retry-After", noon().Add(-5*time.Minute).Format(http.TimeFormat))
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/ages":
			w.Header().Set("Retry-After", "9223372036854775807")
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/soon":
			w.Header().Set("Retry-After", "soon")
			w.WriteHeader(http.StatusBadGateway)
		case "/timeout":
			w.WriteHeader(http.StatusRequestTimeout)
		case "/early":
			w.WriteHeader(http.StatusTooEarly)
		}
	})
	g := newGateway(t, Config{Hosts: allow(t, "127.0.0.1")})
	for _, test := range []struct{ path, want string }{
		{"/json", `application/json {"a": 1}`},
		{"/none", "text/plain "},
		{"/untyped", "application/octet-stream x"},
		{"/text", "text/plain; charset=ISO-8859-1 caf\xe9"},
		{"/gone", "final: GET " + s.URL + " answered 410 Gone: it is[31m gone " + strings.Repeat("!", 185) + "…"},
		{"/nowhere", "final: GET " + s.URL + " answered 302 Found"},
		{"/seconds", "later 1m30s: GET " + s.URL + " answered 429 Too Many Requests"},
		{"/date", "later 5m0s: GET " + s.URL + " answered 503 Service Unavailable"},
		{"/past", "again: GET " + s.URL + " answered 503 Service Unavailable"},
		{"/ages", "later 1h0m0s: GET " + s.URL + " answered 503 Service Unavailable"},
		{"/soon", "again: GET " + s.URL + " answered 502 Bad Gateway"},
		{"/timeout", "again: GET " + s.URL + " answered 408 Request Timeout"},
		{"/early", "again: GET " + s.URL + " answered 425 Too Early"},
	} {
		if got := deliver(t, g, get(s.URL+test.path+"?token=secret")); got != test.want {
			t.Errorf("%s: got %s\nwant %s", test.path, got, test.want)
		}
	}
}

// TestSent: what a service gets, and nothing else.
func TestSent(t *testing.T) {
	t.Parallel()
	var got http.Header
	var body []byte
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		got = r.Header
		body, _ = io.ReadAll(r.Body)
	})
	secrets, err := ParseSecrets(map[string]string{
		"billing": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "default": "the default of all of them",
	})
	if err != nil {
		t.Fatal(err)
	}
	g := newGateway(t, Config{Hosts: allow(t, "127.0.0.1"), Secrets: secrets})
	call := &outbox.HTTPCall{
		Method: http.MethodPut, URL: s.URL, MediaType: "application/json", Body: []byte(`{"test": 2432232314}`), Secret: "billing",
		Header: map[string]string{
			"X-Api-Key": "k", "accept": "text/csv", "user-agent": "x", "idempotency-key": "x", "webhook-signature": "x", "webhook-id": "x",
			"host": "other.example", "connection": "x-api-key", "transfer-encoding": "chunked", "accept-encoding": "gzip",
		},
	}
	if out := deliver(t, g, &outbox.Delivery{HTTP: call}); out != "text/plain " {
		t.Fatal(out)
	}
	key := "5d3c0f0e8a5b4f6c9d1e2f3a4b5c6d7e-3-1"
	want := map[string]string{
		"Accept": "text/csv", "Accept-Encoding": "identity", "Content-Length": "20", "Content-Type": "application/json",
		"Idempotency-Key": key, "User-Agent": "flowdrive/1.2.3", "Webhook-Id": key, "Webhook-Timestamp": "1795176000", "X-Api-Key": "k",
		"Webhook-Signature": signatureOf(t, "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", key+".1795176000."+string(call.Body)),
	}
	for name := range got {
		if got.Get(name) != want[name] {
			t.Errorf("%s: got %q, want %q", name, got.Get(name), want[name])
		}
	}
	if len(got) != len(want) || string(body) != string(call.Body) {
		t.Errorf("got %v, %s", got, body)
	}

	call.Secret = ""
	deliver(t, g, &outbox.Delivery{HTTP: call})
	if got.Get("Webhook-Signature") == "" || got.Get("Webhook-Signature") == want["Webhook-Signature"] {
		t.Error("the default secret did not sign")
	}
	g.Secrets = Secrets{}
	deliver(t, g, &outbox.Delivery{HTTP: call})
	if got.Get("Webhook-Signature") != "" || got.Get("Webhook-Id") != key {
		t.Errorf("without a secret: %v", got)
	}
	call.Secret = "billing"
	if out := deliver(t, g, &outbox.Delivery{HTTP: call}); !strings.HasPrefix(out, "final: ") || !strings.Contains(out, "setting secrets") {
		t.Errorf("with a secret that is gone: %s", out)
	}
}

// TestRefusedCalls: what cannot be sent never can.
func TestRefusedCalls(t *testing.T) {
	t.Parallel()
	g := newGateway(t, Config{Hosts: allow(t, "127.0.0.1")})
	for _, call := range []outbox.HTTPCall{
		{Method: "CONNECT", URL: "http://127.0.0.1/"},
		{Method: "GET\r\nX: y", URL: "http://127.0.0.1/"},
		{Method: "", URL: "http://127.0.0.1/"},
		{Method: "GET", URL: "http://127.0.0.1\r\nX: y/"},
		{Method: "GET", URL: "file:///etc/passwd"},
		{Method: "GET", URL: "http://127.0.0.1/", Header: map[string]string{"X\r\nY": "z"}},
		{Method: "GET", URL: "http://127.0.0.1/", Header: map[string]string{"X": "y\r\nZ: z"}},
		{Method: "GET", URL: "http://127.0.0.1/", Header: map[string]string{"": "z"}},
		{Method: "POST", URL: "http://127.0.0.1/", MediaType: "text/plain\r\nX: y", Body: []byte("x")},
	} {
		if got := deliver(t, g, &outbox.Delivery{HTTP: &call}); !strings.HasPrefix(got, "final: ") || strings.ContainsAny(got, "\r\n") {
			t.Errorf("%+v: got %q", call, got)
		}
	}
}

// TestEndless: a service that does not end, whatever it does, is left in
// time.
func TestEndless(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	wait := func(r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}
	endless := func(w io.Writer, text string) {
		for {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
		}
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			wait(r)
		case "/slow-body":
			_, _ = io.WriteString(w, "{")
			_ = http.NewResponseController(w).Flush()
			wait(r)
		case "/body":
			endless(w, strings.Repeat("x", 1000))
		case "/declared":
			w.Header().Set("Content-Length", "1048577")
			_, _ = io.WriteString(w, "x")
		case "/error":
			w.WriteHeader(http.StatusForbidden)
			endless(w, "no ")
		case "/just":
			_, _ = w.Write(make([]byte, 1<<20))
		}
	})
	g := newGateway(t, Config{Hosts: allow(t, "127.0.0.1")})
	patient := g.limits.call
	for _, test := range []struct {
		path, want string
		patience   time.Duration
	}{
		{"/slow", "again: GET " + s.URL + " was not answered within 50ms", 50 * time.Millisecond},
		{"/slow-body", "again: the answer of " + s.URL + " was not complete within 50ms", 50 * time.Millisecond},
		{"/body", "final: the answer of " + s.URL + " has more than 1048576 bytes", patient},
		{"/declared", "final: the answer of " + s.URL + " has more than 1048576 bytes", patient},
		{"/error", "final: GET " + s.URL + " answered 403 Forbidden: no no no", patient},
		{"/just", "application/octet-stream \x00", patient},
	} {
		g.limits.call = test.patience
		if got := deliver(t, g, get(s.URL+test.path)); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: got %.200s\nwant %s", test.path, got, test.want)
		}
	}
}

// TestCompressed: nothing is inflated.
func TestCompressed(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(make([]byte, 64<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("asked for %q", r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	})
	g := newGateway(t, Config{Hosts: allow(t, "127.0.0.1")})
	if got, want := deliver(t, g, get(s.URL)), "final: the answer of "+s.URL+" is encoded as gzip, which the request did not accept"; got != want {
		t.Errorf("got %s", got)
	}
}

// raw is a server that answers each connection with a text.
func raw(t *testing.T, answer string) (address string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				if _, err := c.Read(make([]byte, 4096)); err == nil {
					_, _ = io.WriteString(c, answer)
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	return "http://" + l.Addr().String()
}

// TestNonsense: what is not HTTP, or too much of it, is tried again, and
// costs no more than it should.
func TestNonsense(t *testing.T) {
	t.Parallel()
	g := newGateway(t, Config{Hosts: allow(t, "127.0.0.1")})
	for _, answer := range []string{
		"", "\x00\x01\x02", "HTTP/1.1 abc\r\n\r\n", "220 smtp.example ESMTP\r\n",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n",
		"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 1<<17) + "\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
		strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 1000),
	} {
		got := deliver(t, g, get(raw(t, answer)))
		if !strings.HasPrefix(got, "again: ") && !strings.HasPrefix(got, "final: ") || len(got) > 1000 {
			t.Errorf("%.40q: got %.1000s", answer, got)
		}
	}
	if got := deliver(t, g, get("http://127.0.0.1:9/")); !strings.HasPrefix(got, "again: ") {
		t.Errorf("nobody listens: got %s", got)
	}
}

// TestRedirects: each step of a way is judged as the first one.
func TestRedirects(t *testing.T) {
	t.Parallel()
	type seen struct{ method, body, apiKey, contentType, key string }
	var last seen
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		last = seen{r.Method, string(body), r.Header.Get("X-Api-Key"), r.Header.Get("Content-Type"), r.Header.Get("Webhook-Id")}
		_, _ = io.WriteString(w, "other")
	})
	unlisted := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a host that is not listed was called") })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		to, status := r.URL.Query().Get("to"), http.StatusTemporaryRedirect
		if code := r.URL.Query().Get("code"); code != "" {
			status = map[string]int{"301": 301, "302": 302, "303": 303, "307": 307, "308": 308}[code]
		}
		if r.URL.Path == "/here" {
			last = seen{r.Method, string(body), r.Header.Get("X-Api-Key"), r.Header.Get("Content-Type"), r.Header.Get("Webhook-Id")}
			_, _ = io.WriteString(w, "here")
			return
		}
		w.Header().Set("Location", to)
		w.WriteHeader(status)
	})
	g := newGateway(t, Config{Hosts: allow(t, at(s), at(other), "metadata.example", "127.0.0.1:1")})
	const key = "5d3c0f0e8a5b4f6c9d1e2f3a4b5c6d7e-3-1"
	post := func(method, query string) string {
		last = seen{}
		return deliver(t, g, &outbox.Delivery{HTTP: &outbox.HTTPCall{
			Method: method, URL: s.URL + "/go?" + query, MediaType: "text/plain", Body: []byte("body"), Header: map[string]string{"X-Api-Key": "k"},
		}})
	}
	for _, test := range []struct {
		method, query, want string
		last                seen
	}{
		{"POST", "code=307&to=/here", "text/plain here", seen{"POST", "body", "k", "text/plain", key}},
		{"POST", "code=308&to=/here%23x", "text/plain here", seen{"POST", "body", "k", "text/plain", key}},
		{"POST", "code=301&to=/here", "text/plain here", seen{"GET", "", "k", "", key}},
		{"POST", "code=302&to=here", "text/plain here", seen{"GET", "", "k", "", key}},
		{"PUT", "code=303&to=/here", "text/plain here", seen{"GET", "", "k", "", key}},
		{"PUT", "code=301&to=/here", "text/plain here", seen{"PUT", "body", "k", "text/plain", key}},
		{"DELETE", "code=302&to=/here", "text/plain here", seen{"DELETE", "body", "k", "text/plain", key}},
		{"POST", "code=307&to=" + other.URL, "text/plain other", seen{"POST", "body", "", "text/plain", key}}, // the author's header stays
		{"POST", "to=/go%3Fto=/go%3Fto=/here", "text/plain here", seen{"POST", "body", "k", "text/plain", key}},
		{"POST", "to=/go%3Fto%3D/go%3Fto%3D/go%3Fto%3D/here", "final: " + s.URL + " redirects more than 3 times", seen{}},
		{"POST", "to=" + unlisted.URL, "final: " + unlisted.URL + ": routes may not call 127.0.0.1 at port " + port(unlisted) + "; an administrator allows it with the setting allow-host", seen{}},
		{"POST", "to=http://169.254.169.254/latest", "final: http://169.254.169.254: routes may not call 169.254.169.254; an administrator allows it with the setting allow-host", seen{}},
		{"POST", "to=file:///etc/passwd", "final: file://: is not an http or https URL with a host", seen{}},
		{"POST", "to=gopher://" + at(other), "final: gopher://" + at(other) + ": is not an http or https URL with a host", seen{}},
		{"POST", "to=http://user:pw@" + at(other), "final: " + other.URL + ": must not contain a user or password: everyone who may read the route would see them", seen{}},
		{"POST", "to=http://%25zz", "final: " + s.URL + " redirects to something that is not a valid URL", seen{}},
	} {
		got := post(test.method, test.query)
		got = strings.Replace(got, "; charset=utf-8", "", 1)
		if got != test.want || last != test.last {
			t.Errorf("%s %s: got %s, %+v\nwant %s, %+v", test.method, test.query, got, last, test.want, test.last)
		}
	}
}

// TestTLS: certificates are checked, and https is not left for http.
func TestTLS(t *testing.T) {
	t.Parallel()
	plain := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("https was left for http") })
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			http.Redirect(w, r, plain.URL, http.StatusTemporaryRedirect)
		}
	}))
	t.Cleanup(s.Close)
	g := newGateway(t, Config{Hosts: allow(t, "127.0.0.1")})
	if got := deliver(t, g, get(s.URL)); !strings.HasPrefix(got, "again: ") || !strings.Contains(got, "certificate") {
		t.Errorf("an unknown certificate: got %s", got)
	}
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	trusting := newGateway(t, Config{Hosts: allow(t, "127.0.0.1"), RootCAs: pool})
	if got := deliver(t, trusting, get(s.URL)); got != "text/plain " {
		t.Errorf("got %s", got)
	}
	if got, want := deliver(t, trusting, get(s.URL+"/down")), "final: "+s.URL+" redirects from https to http, which is not followed"; got != want {
		t.Errorf("got %s", got)
	}
}

// TestSameHost: what a route's author sends goes to no other server.
func TestSameHost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"http://a.example/", "http://A.example:80/x", true},
		{"http://a.example/", "https://a.example/", true},
		{"https://a.example/", "http://a.example/", false},
		{"http://a.example/", "https://a.example:8443/", false},
		{"http://a.example:8080/", "https://a.example/", false},
		{"http://a.example:443/", "https://a.example/", false},
		{"http://a.example/", "http://b.a.example/", false},
		{"http://127.0.0.1/", "http://127.0.0.2/", false},
	} {
		r := func(text string) *http.Request { return httptest.NewRequestWithContext(t.Context(), "GET", text, nil) }
		if got := sameHost(r(test.a).URL, r(test.b).URL); got != test.want {
			t.Errorf("%s, %s: got %t", test.a, test.b, got)
		}
	}
}

// TestRebinding: a name whose address changes between two look-ups is judged
// by the address that is connected to.
func TestRebinding(t *testing.T) {
	t.Parallel()
	called := 0
	s := serve(t, func(http.ResponseWriter, *http.Request) { called++ })
	answers := [][4]byte{{127, 0, 0, 1}, {169, 254, 169, 254}, {10, 1, 2, 3}, {0, 0, 0, 0}}
	asked := 0
	resolver := resolving(t, func() [4]byte { return answers[asked] })
	g := newGateway(t, Config{Hosts: allow(t, "rebound.example", "inside.example=127.0.0.1"), Resolver: resolver})
	for asked = range answers {
		got := deliver(t, g, get("http://rebound.example:"+port(s)+"/"))
		if !strings.HasPrefix(got, "final: ") || !strings.Contains(got, "is not a public address") {
			t.Errorf("%v: got %s", answers[asked], got)
		}
	}
	if called > 0 {
		t.Error("an address that is not public was called")
	}
	asked = 0
	if got := deliver(t, g, get("http://inside.example:"+port(s)+"/")); got != "text/plain " || called != 1 {
		t.Errorf("a host that may be inside: got %s", got)
	}
	asked = 1
	g.Close() // the connection to what it was before
	if got := deliver(t, g, get("http://inside.example:"+port(s)+"/")); !strings.HasPrefix(got, "final: ") {
		t.Errorf("a host that has moved: got %s", got)
	}
}

// resolving returns a resolver in whose world all names have that address.
func resolving(t *testing.T, address func() [4]byte) *net.Resolver {
	t.Helper()
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		wg.Go(func() { answerDNS(theirs, address) })
		return ours, nil
	}}
}

// answerDNS answers questions for addresses on a connection as by TCP.
func answerDNS(c net.Conn, address func() [4]byte) {
	defer c.Close()
	for {
		var length [2]byte
		if _, err := io.ReadFull(c, length[:]); err != nil {
			return
		}
		text := make([]byte, int(length[0])<<8|int(length[1]))
		if _, err := io.ReadFull(c, text); err != nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(text); err != nil {
			return
		}
		m.Response, m.Additionals = true, nil
		if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: address()},
			}}
		}
		packed, err := m.Pack()
		if err != nil {
			return
		}
		if _, err := c.Write(append([]byte{byte(len(packed) >> 8), byte(len(packed))}, packed...)); err != nil {
			return
		}
	}
}

// TestNoProxy: the environment does not say where requests go.
func TestNoProxy(t *testing.T) {
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") })
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	t.Setenv("ALL_PROXY", proxy.URL)
	g := newGateway(t, Config{Hosts: allow(t, "unknown.invalid")})
	_, err := g.Deliver(t.Context(), get("http://unknown.invalid/"))
	if _, ok := errors.AsType[*net.DNSError](err); !ok {
		t.Errorf("got %v", err)
	}
}
