// Package server is the HTTP shell around the drive: listeners, log-in,
// limits, problem documents, the access log and metrics. It decides which
// part of the tree a request is for and who makes it, and nothing about what
// it means there.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"flowdrive/internal/identity"
	"flowdrive/internal/link"
	"flowdrive/schema"
)

// Config is what a Server is made of. Fields without a default are required.
type Config struct {
	Log     zerolog.Logger
	Metrics *prometheus.Registry
	Auth    *Authenticator
	Now     func() time.Time // the machine's clock, monotonic, in a sandbox too
	Version string           // what /version tells

	// Drive serves /, /dav and below /dav/. It finds the caller by
	// PrincipalOf. OPTIONS and the schemas may come without one.
	Drive http.Handler

	// Pages serves the pages beside the drive, which judge themselves what may be
	// seen without a log-in; nil: they are not built. Their sessions are Sessions.
	Pages    http.Handler
	Sessions Sessions // nil: none

	Events *Events // serves /events; nil: 404
	// Calendar returns the calendar of a secret address. Errors: errs.NotFound
	// if the token is unknown. If Calendar is nil there are no calendars.
	Calendar func(ctx context.Context, token string) (*CalendarFile, error)

	Hooks Hooks // takes requests to hooks; nil: there are none

	Tracer         trace.Tracer                 // of spans of requests; nil: there are none
	Audit          Auditor                      // is told what was refused; may be nil
	Clock          http.Handler                 // serves /clock; nil: 404, as outside a sandbox
	Ready          func(context.Context) error  // says why not, to anybody by the detail of an errs.Error; nil: always ready
	Parts          func(context.Context) []Part // of the server, and how they are, for /readyz; nil: none
	TrustedProxies []netip.Prefix               // whose X-Forwarded-For counts
	TLS            *tls.Config                  // nil: plain HTTP, on loopback
	InsecureHTTP   bool                         // plain HTTP on any address
	Drain          time.Duration                // for requests in flight at the end; 15 s by default
	LastAnswers    time.Duration                // of it, how long requests over open connections are still refused at the end
	Memory         *Memory                      // that requests share; nil: as much as there is
	Limits         Limits                       // in force from the start; see SetLimits
	Links          link.Base                    // by which people call the server, through a proxy perhaps; "": what they call
	Names          []string                     // hosts by which clients call the server on loopback, beside loopback's own; see checkHost
}

// check returns the configuration with its defaults, or an error that names
// what is missing.
func (c Config) check() (Config, error) {
	switch {
	case c.Metrics == nil:
		return c, errors.New("server: Config.Metrics is missing")
	case c.Auth == nil:
		return c, errors.New("server: Config.Auth is missing")
	case c.Now == nil:
		return c, errors.New("server: Config.Now is missing")
	case c.Drive == nil:
		return c, errors.New("server: Config.Drive is missing")
	case c.Drain < 0:
		return c, errors.New("server: Config.Drain is negative")
	case c.Limits.Connections < 0 || c.Limits.FromOneAddress < 0:
		return c, errors.New("server: a limit of connections in Config.Limits is negative")
	}
	if c.Drain == 0 {
		c.Drain = 15 * time.Second
	}
	return c, nil
}

// Server serves the drive over HTTP.
type Server struct {
	config  Config
	proxies proxies
	names   map[string]bool // see checkHost
	unnamed sync.Once       // see noteProxy
	proving sync.Mutex      // see Prove
	metrics *metrics
	scrape  http.Handler
	version []byte

	compressed      http.Handler // the drive
	compressedAPI   http.Handler // /openapi.json
	compressedPages http.Handler // nil: there are none

	userRate    rates[identity.ID]
	addressRate rates[netip.Addr]
	connections *connections
	requests    requests
	draining    atomic.Bool
	stopping    chan struct{} // closed when the server begins to stop
}

// New returns a Server. It fails if the configuration lacks something, or if
// the registry has the server's metrics already.
func New(config Config) (*Server, error) {
	config, err := config.check()
	if err != nil {
		return nil, err
	}
	s := &Server{
		config:   config,
		stopping: make(chan struct{}),
		proxies:  config.TrustedProxies,
		names:    namesOf(config.Names),
		scrape:   promhttp.HandlerFor(config.Metrics, promhttp.HandlerOpts{}),
		version:  append(plainJSON(map[string]string{"name": "flowdrive", "version": config.Version}), '\n'),
	}
	s.connections = newConnections(s.proxies)
	s.SetLimits(config.Limits)
	if s.metrics, err = newMetrics(config.Metrics, s); err != nil {
		return nil, err
	}
	compress, err := newCompressor()
	if err != nil {
		return nil, err
	}
	if config.Pages != nil {
		s.compressedPages = compress(config.Pages)
	}
	api := sync.OnceValue(schema.OpenAPI) // few ask for it, and it is a fifth of the work of a start
	s.compressed = compress(config.Drive)
	s.compressedAPI = compress(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := reply(w, r, "application/json", api()); err != nil {
			WriteError(w, r, err)
		}
	}))
	return s, nil
}

// Handler returns the whole of the server as a handler. Run serves it;
// tests may do without.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// serve is the frame around every request: it gets an id, is answered,
// measured and logged.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	now := s.config.Now()
	r = asAsked(r)
	x := &exchange{ResponseWriter: w, draining: &s.draining, started: now, written: now, now: s.config.Now, area: areaOf(r.URL.Path)}
	x.id[0] = newRequestID()
	x.method, x.path = r.Method, r.URL.Path
	if !s.requests.begin(x) {
		panic(http.ErrAbortHandler) // the server has ended and cannot answer
	}
	x.connection = connectionOf(r)
	x.peer = addrOf(r.RemoteAddr)
	x.client = s.proxies.clientOf(x.peer, r.Header)
	s.noteProxy(x.peer, r.Header)
	r = r.WithContext(context.WithValue(s.traced(r.Context(), x, r), exchangeKey{}, x))
	defer s.end(x, r)
	if r.Body != nil && r.Body != http.NoBody {
		x.body = newRequestBody(r.Body, x)
		r.Body = x.body
	}
	h := w.Header()
	h["X-Request-Id"] = x.id[:]
	h["X-Content-Type-Options"] = nosniff
	if r.TLS != nil {
		h["Strict-Transport-Security"] = onlyTLS
	}
	if err := s.answer(x, r); err != nil {
		WriteError(x, r, err)
	}
}

// Values of headers that no handler changes in place.
var (
	nosniff = []string{"nosniff"}
	onlyTLS = []string{"max-age=31536000"} // RFC 6797: for a year nothing but HTTPS
)
