package server

import (
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/internal/errs"
)

// end measures and logs a request, and answers one whose handler panicked.
func (s *Server) end(x *exchange, r *http.Request) {
	defer s.requests.end(x)
	defer x.room.leave()
	if v := recover(); v != nil {
		s.recovered(x, r, v)
	}
	if x.status == 0 {
		x.status = http.StatusOK // as net/http will say
	}
	s.auditRequest(x, r)
	x.endSpan()
	took := s.config.Now().Sub(x.started)
	s.metrics.observe(x.area, r.Method, x.status, took)
	s.config.Log.WithLevel(x.level()).Func(func(e *zerolog.Event) { x.describe(e, r, took) }).Msg("request")
	if x.broken {
		// net/http closes the connection, so that the client sees a cut.
		panic(http.ErrAbortHandler)
	}
}

// level is what the answer deserves.
func (x *exchange) level() zerolog.Level {
	switch x.kind {
	case errs.Internal:
		return zerolog.ErrorLevel
	case errs.Unavailable, errs.Full:
		return zerolog.WarnLevel
	default:
		return zerolog.InfoLevel
	}
}

// describe fills a request's line. The cause of a failure is in it when it
// is the server's, and nowhere else. Of the request there is nothing that
// may hold a secret: no query, no header that names a place or a password.
func (x *exchange) describe(e *zerolog.Event, r *http.Request, took time.Duration) {
	e.Str("request_id", x.id[0]).
		Str("method", clip(r.Method, 32)).
		Str("path", loggedPath(x.area, r.URL.EscapedPath())).
		Int("status", x.status).
		Int64("bytes", x.bytes).
		Dur("duration", took).
		Str("remote", x.client.String())
	if x.principal.ID != 0 {
		e.Str("user", string(x.principal.Name))
	}
	if agent := r.UserAgent(); agent != "" {
		e.Str("user_agent", clip(agent, 200))
	}
	if x.kind != "" {
		e.Str("problem", string(x.kind))
	}
	if x.level() > zerolog.InfoLevel {
		e.AnErr("error", x.err)
	}
	if x.stack != nil {
		e.Bytes("stack", x.stack)
	}
}

// recovered turns a panic of a handler into an internal error.
func (s *Server) recovered(x *exchange, r *http.Request, v any) {
	if v == http.ErrAbortHandler { //nolint:errorlint // a panic's value, compared as net/http does
		x.broken = true
		return
	}
	x.stack = debug.Stack()
	WriteError(x, r, errs.New(errs.Internal, "panic: %v", v))
}

// loggedPath returns the path without what is as good as a password: the
// token of a calendar's or hook's address.
func loggedPath(at area, path string) string {
	switch at { //nolint:exhaustive // the others have no tokens
	case areaCalendar:
		return "/calendar/…"
	case areaHook:
		return "/hook/…"
	}
	return clip(path, 1024)
}

// clip bounds what a client can make the log hold.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
