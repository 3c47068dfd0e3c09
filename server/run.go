package server

import (
	"context"
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
const cutTimeout = 5 * time.Second

// ErrRequestsLeft is in the error of Server.Run if requests did not end
// although they were cut off.
var ErrRequestsLeft = errors.New("requests did not end although they were cut off")

// Run serves on the listeners, which it closes, until ctx ends or a listener
// fails. Then it accepts nothing more, gives the requests in flight the time
// of Config.Drain, cuts off what is left, and returns when all its goroutines
// have. If a request goes on for five seconds after that, the error is
// ErrRequestsLeft and the goroutines of those requests are still running. A
// Server runs once.
func (s *Server) Run(ctx context.Context, listeners ...net.Listener) error {
	defer func() {
		for _, l := range listeners {
			_ = l.Close() // for the second time, mostly
		}
	}()
	for _, l := range listeners {
		if err := s.checkListener(l); err != nil {
			return err
		}
	}
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	hs := &http.Server{
		Handler:           s.Handler(),
		TLSConfig:         s.config.TLS,
		ReadHeaderTimeout: headTimeout,
		WriteTimeout:      2 * stallTimeout, // an exchange extends it; a body that is not read stalls before
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext:       withConnection,
		ErrorLog:          log.New(connectionLog{s.config.Log}, "", 0),
	}
	ended := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { ended <- s.serveListener(hs, l) }()
	}
	var failure error
	running := len(listeners)
	select {
	case <-ctx.Done():
	case failure = <-ended:
		running--
	}
	s.drain(hs, cut)
	for range running {
		failure = errors.Join(failure, <-ended)
	}
	if left := s.requests.wait(cutTimeout); left > 0 {
		s.config.Log.Error().Int("requests", left).Msg("server: requests have not ended although they were cut off")
		failure = errors.Join(failure, fmt.Errorf("%d %w", left, ErrRequestsLeft))
	}
	return failure
}

// checkListener refuses to let passwords travel in the clear.
func (s *Server) checkListener(l net.Listener) error {
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok || s.config.TLS != nil || s.config.InsecureHTTP || addr.IP.IsLoopback() {
		return nil
	}
	return fmt.Errorf("plain HTTP on %s would show passwords to the network; give a certificate, listen on loopback, or allow insecure HTTP", addr)
}

func (s *Server) serveListener(hs *http.Server, l net.Listener) error {
	_, tcp := l.Addr().(*net.TCPAddr)
	serve := hs.Serve
	if s.config.TLS != nil && tcp {
		serve = func(l net.Listener) error { return hs.ServeTLS(l, "", "") }
	}
	err := serve(newLimitListener(l, s.config.MaxConnections))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serving on %s: %w", l.Addr(), err)
}

// drain waits for the requests in flight, and cuts off what is left when
// their time is over.
func (s *Server) drain(hs *http.Server, cut context.CancelFunc) {
	s.draining.Store(true)
	close(s.stopping) // streams would not end by themselves
	s.config.Log.Info().Msg("server: stopping, no new requests are accepted")
	ctx, cancel := context.WithTimeout(context.Background(), s.config.Drain)
	defer cancel()
	if err := hs.Shutdown(ctx); err != nil {
		s.config.Log.Warn().Float64("requests", s.requests.count()).Msg("server: cutting off the requests that have not ended")
		cut()
		_ = hs.Close()
	}
}

// requests counts those in flight, and refuses more once they are waited
// for.
type requests struct {
	mu     sync.Mutex
	n      int
	closed bool
	zero   chan struct{}
}

func (c *requests) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.n++
	return true
}

func (c *requests) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n--
	if c.n == 0 && c.zero != nil {
		close(c.zero)
		c.zero = nil
	}
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
