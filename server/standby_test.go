package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/internal/errs"
)

// serveUntilEnd serves on a free port of loopback until the test ends, and returns its address.
func serveUntilEnd(t *testing.T, run func(ctx context.Context, l net.Listener) error) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, l) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// standingBy starts a standby without an active node.
func standingBy(t *testing.T) (s *Standby, address string) {
	t.Helper()
	s = NewStandby(StandbyConfig{Log: zerolog.Nop(), Why: func() string { return "Nobody is active." }})
	return s, serveUntilEnd(t, s.Run)
}

// active starts a server with the drive, for other nodes only, and returns the way to it.
func active(t *testing.T, drive http.HandlerFunc) *PeerWay {
	t.Helper()
	x := newRig(t, func(c *Config) { c.Drive, c.Now, c.Names = drive, time.Now, []string{"flow.example"} })
	var way *PeerWay
	address := make(chan string, 1)
	serveUntilEnd(t, func(ctx context.Context, l net.Listener) error {
		var err error
		if way, err = NewPeerWay(l.Addr().String()); err != nil {
			return errors.Join(err, l.Close())
		}
		peers, err := ListenToPeers(l, way)
		address <- way.Address
		if err != nil {
			return err
		}
		return x.Run(ctx, peers)
	})
	<-address
	return way
}

// TestStandbyPassesOn: what a client sends comes to the active node as it was sent, and what
// that answers comes back, with the words of a refusal.
func TestStandbyPassesOn(t *testing.T) {
	t.Parallel()
	s, address := standingBy(t)
	s.Follow(active(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.Method == "PROPPATCH" {
			WriteError(w, r, errs.New(errs.Locked, "Ann has locked it until noon."))
			return
		}
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		w.Header().Set("ETag", `"7"`)
		_, _ = fmt.Fprintf(w, "%s %s host=%s body=%d depth=%s from=%s local=%s tls=%t forwarded=%q agent=%q faked=%q", r.Method, r.URL.RequestURI(), r.Host, len(body),
			r.Header.Get("Depth"), r.RemoteAddr[:strings.LastIndexByte(r.RemoteAddr, ':')], local, r.TLS != nil, r.Header.Get("X-Forwarded-For"), r.UserAgent(), r.Header.Get(headerPeerFrom))
	}))

	ask := func(head, body string) string {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := fmt.Fprintf(c, "%s\r\nHost: flow.example\r\nAuthorization: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", head, basic("sam", "secret"), len(body), body); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(bufio.NewReader(c))
		if err != nil {
			t.Fatalf("%.60s: %v after %q", head, err, answer)
		}
		return string(answer)
	}
	large := strings.Repeat("x", 3<<20)
	for _, tt := range []struct{ head, body, want string }{
		{
			"PUT /dav/Documents/a%20b?x=%7a;y HTTP/1.1\r\nDepth: 1\r\nX-Forwarded-For: 10.1.2.3\r\n" + headerPeerFrom + ": 9.9.9.9:9\r\nUser-Agent: cadaver", large,
			"PUT /dav/Documents/a%20b?x=%7a;y host=flow.example body=" + fmt.Sprint(len(large)) + " depth=1 from=127.0.0.1 local=" + address + ` tls=false forwarded="10.1.2.3" agent="cadaver" faked=""`,
		},
		{"GET /dav/x HTTP/1.1", "", `GET /dav/x host=flow.example body=0 depth= from=127.0.0.1 local=` + address + ` tls=false forwarded="" agent="" faked=""`},
		{"GET /dav/x HTTP/1.1", "", "\r\nETag: \"7\"\r\n"},
		{"PROPPATCH /dav/x HTTP/1.1", "", "HTTP/1.1 423 Ann has locked it until noon.\r\n"},
		{"GET /healthz HTTP/1.1", "", "ok\n"},
		{"GET /livez HTTP/1.1", "", "ok\n"},
	} {
		if got := ask(tt.head, tt.body); !strings.Contains(got, tt.want) {
			t.Errorf("%.80s: got\n%s\nwhich has no\n%s", tt.head, got, tt.want)
		}
	}
}

// TestStandbyWithoutLeader: nothing is lost while no node is active. A request waits for one, and is
// refused if none comes; probes say how things are.
func TestStandbyWithoutLeader(t *testing.T) {
	t.Parallel()
	s, address := standingBy(t)
	gone, err := NewPeerWay("127.0.0.1:1") // nobody listens there
	if err != nil {
		t.Fatal(err)
	}
	way := active(t, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(w, r.Body); err != nil {
			t.Error(err)
		}
	})
	follow := func(next *PeerWay) func() { return func() { s.Follow(next) } }
	for _, tt := range []struct {
		name   string
		before *PeerWay
		during func()
		status int
	}{
		{"none", nil, func() {}, http.StatusServiceUnavailable},
		{"one that has gone", gone, func() {}, http.StatusServiceUnavailable},
		{"one after the other", gone, follow(way), http.StatusOK},
		{"one at last", nil, follow(way), http.StatusOK},
		{"with another key", &PeerWay{Address: way.Address, Certificate: gone.Certificate, Key: gone.Key}, follow(way), http.StatusOK},
	} {
		s.Follow(tt.before)
		asked, result := make(chan struct{}), make(chan *http.Response, 1)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+address+"/dav/x", &toldReader{Reader: strings.NewReader("text"), told: asked})
		if err != nil {
			t.Fatal(err)
		}
		request.SetBasicAuth("sam", "secret")
		go func() {
			res, err := http.DefaultClient.Do(request) //nolint:bodyclose // who gets the result closes it
			if err != nil {
				t.Error(err)
			}
			result <- res
		}()
		<-asked
		tt.during()
		res := <-result
		if res == nil {
			continue
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != tt.status {
			t.Errorf("%s: %d %s, %v", tt.name, res.StatusCode, body, err)
		}
		if tt.status == http.StatusOK && string(body) != "text" {
			t.Errorf("%s: %q came back", tt.name, body)
		}
		if tt.status != http.StatusOK && (res.Header.Get("Retry-After") != "1" || !strings.Contains(string(body), "Nobody is active. Nothing was stored")) {
			t.Errorf("%s: %v %s", tt.name, res.Header, body)
		}
		_ = res.Body.Close()
	}
}

// TestStandbyEndsInOrder: a standby that ends, as it becomes the active node, leaves nobody who
// waits without an answer, nor who asks over a connection that is open.
func TestStandbyEndsInOrder(t *testing.T) {
	t.Parallel()
	way := active(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	for _, tt := range []struct {
		name   string
		next   *PeerWay
		status int
	}{{"it is the active one", way, http.StatusOK}, {"nobody is", nil, http.StatusServiceUnavailable}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := NewStandby(StandbyConfig{Log: zerolog.Nop(), Why: func() string { return "Nobody is active." }})
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, end := context.WithCancel(t.Context())
			defer end()
			ended := make(chan error, 1)
			const requests = 10
			accepted := make(chan struct{}, requests)
			go func() { ended <- s.Run(ctx, toldListener{l, accepted}) }()
			results := make(chan error, requests)
			for range requests {
				asked := make(chan struct{})
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+l.Addr().String()+"/dav/x", &toldReader{Reader: strings.NewReader("text"), told: asked})
				if err != nil {
					t.Fatal(err)
				}
				request.SetBasicAuth("sam", "secret")
				go func() {
					res, err := http.DefaultClient.Do(request)
					if err == nil {
						if res.StatusCode != tt.status || tt.next == nil && res.Header.Get("Retry-After") == "" {
							err = fmt.Errorf("it got %s, Retry-After %q", res.Status, res.Header.Get("Retry-After"))
						}
						if !res.Close { // the next request would be met by a connection that is closed
							err = errors.Join(err, errors.New("the connection is said to stay open"))
						}
						err = errors.Join(err, res.Body.Close())
					}
					results <- err
				}()
				<-asked
				<-accepted // the machine resets a connection that the server has not taken
			}
			end()
			<-s.Released()
			s.Follow(tt.next)
			for range requests {
				if err := <-results; err != nil {
					t.Error(err)
				}
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// toldListener says that a connection was accepted.
type toldListener struct {
	net.Listener
	accepted chan<- struct{}
}

func (l toldListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.accepted <- struct{}{}
	}
	return c, err
}

// TestLastAnswers: who asks over an open connection while the server ends is refused in
// words, and not met by a connection that was closed. Nor who has an answer to a request
// from before, and asks again: that answer says that the connection is closed.
func TestLastAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		finish := make(chan struct{})
		x := newRig(t, func(c *Config) {
			c.Now, c.LastAnswers = time.Now, LastAnswers
			c.Drive = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { <-finish; w.WriteHeader(http.StatusNoContent) })
		})
		l := newPipes()
		stop := x.running(t, l)
		c, busy := l.dial(), l.dial()
		send(t, busy, "GET /dav/ HTTP/1.1", "")
		synctest.Wait()
		stopped := make(chan error, 1)
		go func() { stopped <- stop() }()
		synctest.Wait()
		close(finish)
		before, err := http.ReadResponse(bufio.NewReader(busy), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer before.Body.Close()
		if before.StatusCode != http.StatusNoContent || !before.Close {
			t.Errorf("the request from before got %s %v", before.Status, before.Header)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the listener accepts still: %v", err)
		}
		send(t, c, "GET /dav/ HTTP/1.1", "")
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" || !res.Close {
			t.Errorf("got %s %v", res.Status, res.Header)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Error(err)
		}
		begun := time.Now()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("stopping took %v", took)
		}
	})
}

// toldReader tells when it is read for the first time.
type toldReader struct {
	io.Reader
	told chan struct{}
	once bool
}

func (r *toldReader) Read(p []byte) (int, error) {
	if !r.once {
		r.once = true
		close(r.told)
	}
	return r.Reader.Read(p)
}

// TestPeersMustShowTheKey: who does not have the key is not listened to.
func TestPeersMustShowTheKey(t *testing.T) {
	t.Parallel()
	way := active(t, func(http.ResponseWriter, *http.Request) { t.Error("a stranger was listened to") })
	other, err := NewPeerWay(way.Address)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := way.config()
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := other.config()
	if err != nil {
		t.Fatal(err)
	}
	wrong.RootCAs = theirs.RootCAs
	for name, config := range map[string]*tls.Config{
		"without a key": {RootCAs: theirs.RootCAs, ServerName: peerName, Time: theirs.Time, MinVersion: tls.VersionTLS13},
		"another key":   wrong,
	} {
		c, err := (&tls.Dialer{Config: config}).DialContext(t.Context(), "tcp", way.Address)
		if err != nil {
			continue // refused at once
		}
		_, _ = io.WriteString(c, "GET /dav/ HTTP/1.1\r\nHost: x\r\n\r\n")
		if answer, err := io.ReadAll(c); err == nil && len(answer) > 0 {
			t.Errorf("%s: got %q", name, answer)
		}
		_ = c.Close()
	}
}
