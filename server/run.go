package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log" //nolint:depguard // net/http takes no other logger
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Times that a client may take.
const (
	headTimeout  = 10 * time.Second // for the head of a request
	idleTimeout  = 2 * time.Minute  // between requests
	stallTimeout = time.Minute      // for any part of a body, in either direction
	bodyTimeout  = 24 * time.Hour   // for the whole of a request's body
)

// slowestBody is how many bytes of a request's body must come in a second: who
// sends less uses up stallTimeout, and who sends more gets it back.
const slowestBody = 1 << 10

// cutTimeout is how long a request may go on after it was cut off, so that it
// can undo what it has begun.
const cutTimeout = 3 * time.Second

var (
	// ErrRequestsCut is in the error of Server.Run if requests were cut off.
	ErrRequestsCut = errors.New("cut off when the server stopped")
	// ErrRequestsLeft is in it as well if some of them did not end then.
	ErrRequestsLeft = errors.New("requests did not end although they were cut off")
)

// Run serves on the listeners, which it closes, until ctx ends or a listener
// fails. Then it accepts nothing more, refuses for the time of Config.LastAnswers what
// comes over open connections, gives the requests in flight the time
// of Config.Drain, cuts off what is left, and returns when all its goroutines
// have. The error is ErrRequestsCut if there were requests to cut off. If one goes
// on for three seconds after that, the error is ErrRequestsLeft, too, and the
// goroutines of those requests are still running. A Server runs once.
func (s *Server) Run(ctx context.Context, listeners ...net.Listener) error {
	defer func() {
		for _, l := range listeners {
			_ = l.Close() // for the second time, mostly
		}
	}()
	for _, l := range listeners {
		if err := checkListener(l, s.config.TLS, s.config.InsecureHTTP); err != nil {
			return err
		}
	}
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	hs := newHTTPServer(s.Handler(), s.connections, s.config.Log)
	hs.HTTP2 = receiving(s.config.Memory)
	hs.TLSConfig = s.config.TLS
	hs.BaseContext = func(net.Listener) context.Context { return base }
	bounds := bounds{s.connections, s.config.TLS}
	ended := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { ended <- serveListener(hs, bounds, l) }()
	}
	var failure error
	running := len(listeners)
	select {
	case <-ctx.Done():
	case failure = <-ended:
		running--
	}
	failure = errors.Join(failure, s.drain(hs, cut, listeners))
	for range running {
		if err := <-ended; !errors.Is(err, net.ErrClosed) { // the drain may have closed it before hs did
			failure = errors.Join(failure, err)
		}
	}
	if left := s.requests.wait(cutTimeout); left > 0 {
		s.config.Log.Error().Int("requests", left).Msg("server: requests have not ended although they were cut off")
		failure = errors.Join(failure, fmt.Errorf("%d %w", left, ErrRequestsLeft))
	}
	return failure
}

// newHTTPServer returns a server without TLS, with the bounds that every one has.
func newHTTPServer(handler http.Handler, connections *connections, errors zerolog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headTimeout,
		WriteTimeout:      2 * stallTimeout, // an exchange extends it; a body that is not read stalls before
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       withConnection,
		ConnState:         connections.stateChanged,
		ErrorLog:          plainLog(errors),
	}
}

// Bounds of what HTTP/2 takes of bodies before they are read.
const (
	leastWindow    = 1 << 20
	mostWindow     = 4<<20 - 1 // the most that net/http allows
	windowsInTotal = 32        // that are as much as the room of all requests
)

// receiving returns how much of a body a client may send over HTTP/2 before it is read:
// for each round trip it waits once for so much. One stream may fill the window of its
// connection, since most clients send one body at a time. What is in the windows is not
// weighed (docs/contract/drive.md#memory).
func receiving(m *Memory) *http.HTTP2Config {
	window := int64(mostWindow)
	if m != nil {
		window = min(max(m.total/windowsInTotal, leastWindow), mostWindow)
	}
	return &http.HTTP2Config{MaxReceiveBufferPerConnection: int(window), MaxReceiveBufferPerStream: int(window)}
}

// plainLog returns a log for the library.
func plainLog(to zerolog.Logger) *log.Logger { return log.New(connectionLog{to}, "", 0) }

// checkListener refuses to let passwords travel in the clear.
func checkListener(l net.Listener, secure *tls.Config, insecure bool) error {
	addr, ok := l.Addr().(*net.TCPAddr)
	_, peers := l.(*peerListener)
	if !ok || peers || secure != nil || insecure || addr.IP.IsLoopback() {
		return nil
	}
	return fmt.Errorf("plain HTTP on %s would show passwords to the network; give a certificate, listen on loopback, or allow insecure HTTP", addr)
}

// bounds are what every listener for clients gets.
type bounds struct {
	connections *connections
	secure      *tls.Config // nil: plain HTTP
}

func serveListener(hs *http.Server, b bounds, l net.Listener) error {
	_, tcp := l.Addr().(*net.TCPAddr)
	_, peers := l.(*peerListener)
	var err error
	switch {
	case peers: // has TLS of its own, and as many connections as other nodes need
		err = hs.Serve(l)
	case b.secure != nil && tcp:
		err = hs.ServeTLS(&boundedListener{l, b.connections}, "", "")
	default:
		err = hs.Serve(&boundedListener{l, b.connections})
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serving on %s: %w", l.Addr(), err)
}

// drain waits for the requests in flight, and cuts off what is left when
// their time is over: then the error is ErrRequestsCut.
func (s *Server) drain(hs *http.Server, cut context.CancelFunc, listeners []net.Listener) error {
	s.draining.Store(true)
	close(s.stopping) // streams would not end by themselves
	s.config.Log.Info().Msg("server: stopping, no new requests are accepted")
	ctx, cancel := context.WithTimeout(context.Background(), s.config.Drain)
	defer cancel()
	if s.config.LastAnswers > 0 {
		for _, l := range listeners {
			_ = l.Close() // Shutdown closes it again
		}
		awaitLastAnswers(s.config.LastAnswers)
	}
	if hs.Shutdown(ctx) == nil {
		return nil
	}
	n := s.requests.each(func(x *exchange) {
		s.config.Log.Warn().Str("request_id", x.id[0]).Str("method", clip(x.method, 32)).Str("path", loggedPath(x.area, x.path)).
			Msg("server: cutting off a request that has not ended")
	})
	cut()
	_ = hs.Close()
	if n == 0 {
		return nil // connections without a request
	}
	return fmt.Errorf("requests %w: %d", ErrRequestsCut, n)
}

// awaitLastAnswers returns when clients of open connections have learned that a server ends. To close
// one over which a client has just sent a request would leave it without an answer.
func awaitLastAnswers(how time.Duration) {
	over := time.NewTimer(how)
	<-over.C
}

// requests counts those in flight, and refuses more once they are waited
// for.
type requests struct {
	mu     sync.Mutex
	n      int
	first  *exchange // of those in flight, the newest first
	closed bool
	zero   chan struct{}
}

func (c *requests) begin(x *exchange) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.n++
	if x.before = c.first; x.before != nil {
		x.before.after = x
	}
	c.first = x
	return true
}

func (c *requests) end(x *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n--
	if x.before != nil {
		x.before.after = x.after
	}
	if x.after != nil {
		x.after.before = x.before
	} else {
		c.first = x.before
	}
	x.before, x.after = nil, nil
	if c.n == 0 && c.zero != nil {
		close(c.zero)
		c.zero = nil
	}
}

// each calls f with every request in flight, and returns how many there are. What
// f uses of it must not change while the request is answered.
func (c *requests) each(f func(x *exchange)) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for x := c.first; x != nil; x = x.before {
		f(x)
	}
	return c.n
}

func (c *requests) count() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return float64(c.n)
}

// wait lets no request begin any more. It returns when none is in flight, or
// after the timeout with the number of those that still are.
func (c *requests) wait(timeout time.Duration) (left int) {
	c.mu.Lock()
	c.closed = true
	if c.n == 0 {
		c.mu.Unlock()
		return 0
	}
	zero := make(chan struct{})
	c.zero = zero
	c.mu.Unlock()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-zero:
		return 0
	case <-timer.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// CatchLibraryLog writes to log what libraries write to the standard logger of
// the process. net/http as a client has no other way to report an unsolicited
// response, which it quotes.
func CatchLibraryLog(to zerolog.Logger) {
	log.SetFlags(0)
	log.SetOutput(connectionLog{to})
}

// connectionLog takes what net/http has to say about connections that never
// became a request.
type connectionLog struct{ log zerolog.Logger }

// Write implements io.Writer.
func (c connectionLog) Write(line []byte) (int, error) {
	c.log.Debug().Str("text", strings.TrimSpace(string(line))).Msg("server: connection")
	return len(line), nil
}
