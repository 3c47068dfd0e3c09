package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/internal/errs"
)

const (
	// leaderWithin is for how long a request waits until a node is active.
	leaderWithin = 3 * time.Second
	// dialWithin is within which the active node must take a connection.
	dialWithin = 2 * time.Second
	// peerIdle is how long a connection to the active node is kept without a request:
	// less than that node keeps it, so that none is used that is being closed.
	peerIdle = idleTimeout / 2
	// passEnd is how long requests may go on when the node stops passing them on: longer
	// than one waits for an active node.
	passEnd = 15 * time.Second
	// answeredWithin is how long requests that are cut off then have to be answered.
	answeredWithin = time.Second
	// LastAnswers is the Config.LastAnswers of nodes.
	LastAnswers = 500 * time.Millisecond
)

// StandbyConfig is what a Standby needs.
type StandbyConfig struct {
	TLS            *tls.Config    // nil: plain HTTP, on loopback
	InsecureHTTP   bool           // plain HTTP on any address
	TrustedProxies []netip.Prefix // whose connections are not counted
	Limits         Limits         // those of connections
	Why            func() string  // what keeps this node from being active, a sentence
	Log            zerolog.Logger
}

// Standby serves on a node that is not the active one: it passes requests on to that.
type Standby struct {
	config      StandbyConfig
	connections *connections
	proxy       *httputil.ReverseProxy

	ending   context.Context //nolint:containedctx // its end cuts streams, which would not end by themselves
	end      context.CancelFunc
	released chan struct{} // closed when Run accepts nothing more

	mu      sync.Mutex
	leader  *leader       // nil: none is known
	changed chan struct{} // closed when leader changes
}

// leader is the active node, for as long as it is that.
type leader struct {
	way       PeerWay
	transport *http.Transport
	over      context.Context //nolint:containedctx // its end cuts what is passed on
	end       context.CancelFunc
}

// NewStandby returns a Standby that knows no active node.
func NewStandby(config StandbyConfig) *Standby {
	s := &Standby{config: config, connections: newConnections(config.TrustedProxies), released: make(chan struct{}), changed: make(chan struct{})}
	s.ending, s.end = context.WithCancel(context.Background())
	s.connections.bound(cmp.Or(config.Limits.Connections, 4096), cmp.Or(config.Limits.FromOneAddress, 256))
	s.proxy = &httputil.ReverseProxy{
		Rewrite: rewrite, Transport: s, ErrorHandler: s.failed, ModifyResponse: keepReason,
		ErrorLog: plainLog(config.Log), FlushInterval: -1,
	}
	return s
}

// Follow says how the active node is reached, nil if there is none. What another one has not
// begun to answer is cut off: that one cannot answer any more.
func (s *Standby) Follow(way *PeerWay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.leader
	if way == nil && was == nil || way != nil && was != nil && was.way.Address == way.Address && string(was.way.Certificate) == string(way.Certificate) {
		return
	}
	s.leader = nil
	if way != nil {
		next, err := newLeader(way)
		if err != nil {
			s.config.Log.Error().Err(err).Msg("node: the active one cannot be reached")
		}
		s.leader = next
	}
	close(s.changed)
	s.changed = make(chan struct{})
	if was != nil {
		was.end()
		was.transport.CloseIdleConnections()
	}
}

func newLeader(way *PeerWay) (*leader, error) {
	config, err := way.config()
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: dialWithin, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}}
	l := &leader{way: *way, transport: &http.Transport{
		DialTLSContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, dialWithin)
			defer cancel()
			return (&tls.Dialer{NetDialer: dialer, Config: config}).DialContext(ctx, network, way.Address)
		},
		DisableCompression: true, MaxIdleConnsPerHost: 256, IdleConnTimeout: peerIdle, ExpectContinueTimeout: stallTimeout,
	}}
	l.over, l.end = context.WithCancel(context.Background())
	return l, nil
}

// notReached is why a node was not reached: nothing was sent to it.
type notReached struct{ error }

// Unwrap returns the cause.
func (e notReached) Unwrap() error { return e.error }

// known returns the active node, nil if none is known, and what is closed when that changes.
func (s *Standby) known() (*leader, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leader, s.changed
}

// Released is closed when Run accepts no more connections on its listener, so that another
// server can do that. Requests may still be under way.
func (s *Standby) Released() <-chan struct{} { return s.released }

// Run serves on the listener, which it closes, until ctx ends. Then it accepts no more
// connections, and returns when the requests that are under way have been answered: what
// waits for an active node is passed on to it, also if that is this node by now, or refused.
// What takes longer than passEnd is cut off. A Standby runs once.
func (s *Standby) Run(ctx context.Context, l net.Listener) error {
	defer s.end()
	if err := checkListener(l, s.config.TLS, s.config.InsecureHTTP); err != nil {
		close(s.released)
		return errors.Join(err, l.Close())
	}
	hs := newHTTPServer(http.HandlerFunc(s.serve), s.connections, s.config.Log)
	hs.TLSConfig = s.config.TLS
	ended := make(chan error, 1)
	go func() { ended <- serveListener(hs, bounds{s.connections, s.config.TLS}, l) }()
	select {
	case err := <-ended:
		close(s.released)
		return err
	case <-ctx.Done():
	}
	s.end()
	_ = l.Close() // Shutdown closes it again
	err := <-ended
	close(s.released)
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	awaitLastAnswers(LastAnswers)
	if !shutDown(hs, passEnd) {
		s.Follow(nil) // what waits for an answer is told that it may have been done
		if !shutDown(hs, answeredWithin) {
			_ = hs.Close() // what is left are answers that do not end
		}
	}
	s.Follow(nil)
	return err
}

// shutDown waits for the requests that are under way, and reports whether they have ended.
func shutDown(hs *http.Server, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return hs.Shutdown(ctx) == nil
}

func (s *Standby) serve(w http.ResponseWriter, r *http.Request) {
	if s.ending.Err() != nil {
		w.Header().Set("Connection", "close")
	}
	switch alive := r.URL.Path == "/healthz" || r.URL.Path == "/livez"; {
	case alive:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "ok\n") // who asked has gone if it fails
		return
	case isSpare(r) && r.URL.Path != "/readyz":
		w.Header().Set("Connection", "close")
		WriteError(w, r, s.unavailable("This node has too many connections."))
		return
	}
	s.proxy.ServeHTTP(&passedOn{ResponseWriter: w, control: http.NewResponseController(w), r: r, ending: s.ending}, r)
}

// rewrite makes the request for the active node: as it came, with where it came from.
func rewrite(p *httputil.ProxyRequest) {
	p.Out.URL.Scheme, p.Out.URL.Host = "https", peerName
	p.Out.URL.RawQuery = p.In.URL.RawQuery // as it was sent, whatever it is
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, sent := p.In.Header[name]; sent {
			p.Out.Header[name] = values
		}
	}
	if _, sent := p.In.Header["User-Agent"]; !sent {
		p.Out.Header["User-Agent"] = []string{""} // none, instead of that of net/http
	}
	local, _ := p.In.Context().Value(http.LocalAddrContextKey).(net.Addr)
	for name, value := range map[string]string{headerPeerFrom: p.In.RemoteAddr, headerPeerTo: fmt.Sprint(local), headerPeerTLS: ""} {
		p.Out.Header.Set(name, value)
	}
	if p.In.TLS != nil {
		p.Out.Header.Set(headerPeerTLS, "1")
	}
}

// RoundTrip implements http.RoundTripper: it asks the active node. If that is not reached,
// nothing was sent to it, and the request waits a moment for the one that follows it.
func (s *Standby) RoundTrip(r *http.Request) (*http.Response, error) {
	patience := time.NewTimer(leaderWithin)
	defer patience.Stop()
	body := r.Body
	for {
		to, changed := s.known()
		err := error(notReached{errors.New("no active node is known")})
		if to != nil {
			ctx, cancel := context.WithCancel(r.Context())
			unbind := context.AfterFunc(to.over, cancel)
			var connected atomic.Bool
			out := r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}))
			if body != nil {
				out.Body = io.NopCloser(body) // it is needed again if nothing was sent
			}
			var res *http.Response
			if res, err = to.transport.RoundTrip(out); err == nil {
				s.bindAnswer(to, res, unbind, cancel)
				return res, nil
			}
			unbind()
			cancel()
			if !connected.Load() {
				err = notReached{err}
			}
		}
		if _, again := errors.AsType[notReached](err); !again || r.Context().Err() != nil {
			return nil, err
		}
		select {
		case <-changed:
		case <-patience.C:
			return nil, err
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

// bindAnswer lets the body of an answer go on for a while after the node has ceased to be
// the active one: it may be a long one, of which the rest still comes. A stream ends at once.
// unbind is that which has cut off the request until now.
func (s *Standby) bindAnswer(to *leader, res *http.Response, unbind func() bool, cancel context.CancelFunc) {
	ends := []func() bool{unbind}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		ends = append(ends, context.AfterFunc(s.ending, cancel))
	} else if unbind() {
		ends = []func() bool{context.AfterFunc(to.over, func() { time.AfterFunc(passEnd, cancel) })}
	}
	res.Body = &endedBody{ReadCloser: res.Body, end: func() {
		for _, end := range ends {
			end()
		}
		cancel()
	}}
}

// endedBody is a body after which something ends.
type endedBody struct {
	io.ReadCloser
	end func()
}

// Close implements io.Closer.
func (b *endedBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

// failed answers what the active node has not answered.
func (s *Standby) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody waits
	}
	if _, unsent := errors.AsType[notReached](err); unsent {
		WriteError(w, r, s.unavailable(s.config.Why()+" Nothing was stored; try again in a moment."))
		return
	}
	s.config.Log.Warn().Err(err).Str("method", r.Method).Msg("node: the active one has not answered")
	WriteError(w, r, s.unavailable("The active node did not answer. It may have done what you asked for: look, or repeat the request with its Idempotency-Key."))
}

func (s *Standby) unavailable(detail string) error {
	return &errs.Error{Kind: errs.Unavailable, Detail: detail, Extra: map[string]any{errs.ExtraRetryAfter: 1}}
}

// keepReason takes the reason of a refusal from one status line to the other.
func keepReason(res *http.Response) error {
	_, reason, _ := strings.Cut(res.Status, " ")
	if reason != http.StatusText(res.StatusCode) {
		res.Header.Set(headerReason, reason)
	}
	return nil
}

// headerReason has the reason on its way through this node only.
const headerReason = "Flowdrive-Reason"

// passedOn writes the answer of the active node.
type passedOn struct {
	http.ResponseWriter
	control *http.ResponseController
	r       *http.Request
	ending  context.Context //nolint:containedctx // after it the connection is not used again
}

// Unwrap is for http.ResponseController.
func (p *passedOn) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (p *passedOn) WriteHeader(status int) {
	h := p.Header()
	reason := h.Get(headerReason)
	h.Del(headerReason)
	if p.ending.Err() != nil { // it may have ended since the request came
		h.Set("Connection", "close")
	}
	if connection := connectionOf(p.r); connection != nil && status >= http.StatusOK {
		spell(h)
		if c, ok := connection.(interface {
			setReason(status int, detail string)
		}); ok && reason != "" {
			c.setReason(status, reason)
		}
	}
	p.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. Each part of an answer has its time.
func (p *passedOn) Write(b []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(2 * stallTimeout)); err != nil { //nolint:forbidigo // the kernel knows no other clock
		return 0, err
	}
	return p.ResponseWriter.Write(b)
}
