package server

import (
	"context"
	"net/http"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/link"
)

// The names of the cookie that holds a session's token. Browsers keep the first one
// only if it came by HTTPS, for this host alone, and with Path=/
// (docs/contract/drive.md#sessions).
const (
	secureCookie = "__Host-fd"
	plainCookie  = "fd"
)

// Sessions knows the sessions of the pages. It is asked on every request that has the
// cookie, and answers from memory.
type Sessions interface {
	// SessionUser returns whose session the token opens, and notes that it is
	// used; 0 if there is none.
	SessionUser(token string) identity.ID
}

// SessionCookie returns the cookie with which a browser keeps the token of a session.
// Without a token it is the one that makes the browser forget it. secure says that the
// browser calls the server by HTTPS.
func SessionCookie(token string, secure bool) *http.Cookie {
	c := &http.Cookie{Name: plainCookie, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if secure {
		c.Name, c.Secure = secureCookie, true
	}
	if token == "" {
		c.MaxAge = -1
	}
	return c
}

// SessionToken returns the token that the request has in its cookie, or "". If the browser
// calls the server by HTTPS, through a proxy at the public address too, the cookie of plain
// HTTP does not count: another host of the domain, or somebody between on plain HTTP, can
// have set it.
func SessionToken(public link.Base, r *http.Request) string {
	for _, name := range [...]string{secureCookie, plainCookie} {
		if name == plainCookie && (r.TLS != nil || public.Secure(r.Host)) {
			break
		}
		if c, err := r.Cookie(name); err == nil && c.Value != "" {
			return c.Value
		}
	}
	return ""
}

// resume makes the request one of the user whose session its cookie opens, and reports
// whether there is one.
func (s *Server) resume(x *exchange, r *http.Request) bool {
	token := SessionToken(s.config.Links, r)
	if s.config.Sessions == nil || token == "" {
		return false
	}
	id := s.config.Sessions.SessionUser(token)
	if id == 0 {
		return false
	}
	x.principal = s.config.Auth.accounts.Principal(id)
	x.holds = func() bool { return s.config.Sessions.SessionUser(token) == id }
	return x.principal.ID != 0
}

// readBySession reports whether a request outside of the pages is made by a session: it
// reads, and brings no other credentials.
func (s *Server) readBySession(x *exchange, r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || len(r.Header["Authorization"]) > 0 {
		return false
	}
	return s.resume(x, r)
}

// isPage reports whether the pages answer the request. The root belongs to them and, for
// the methods of WebDAV, to the drive.
func (s *Server) isPage(x *exchange, r *http.Request) bool {
	if s.config.Pages == nil {
		return false
	}
	return x.area == areaPages || x.area == areaRoot && (r.Method == http.MethodGet || r.Method == http.MethodHead) && len(r.Header["Authorization"]) == 0
}

// servePages hands a request to the pages, which log in by sessions alone. What the
// request is refused for they say as pages do.
func (s *Server) servePages(x *exchange, r *http.Request) error {
	if s.resume(x, r) {
		x.reads = tells(r.Method)
	}
	x.room = s.roomOf(x.principal.ID)
	if err := s.withinRate(x); err != nil {
		return err
	}
	x.copyOf = plainETags(r.Header)
	s.compressedPages.ServeHTTP(x, r)
	return nil
}

// LogIn checks the name and password of the request that the context belongs to, and
// returns whom they log in. App passwords do not. Errors are those of Authenticate; a
// refused log-in is in the audit log.
func (s *Server) LogIn(ctx context.Context, name, password string) (identity.Principal, error) {
	if name == "" || len(name) > longestName || !sendable(name) {
		name = " " // no user has this name
	}
	a := s.config.Auth
	id, err := a.confirm(ctx, name, password)
	if err != nil {
		if x := exchangeOf(ctx); x != nil {
			s.auditLogInAs(x, name, err)
		}
		return identity.Principal{}, err
	}
	if p := a.accounts.Principal(id); p.ID != 0 {
		return p, nil
	}
	return identity.Principal{}, errNotLoggedIn()
}

// Prove has what a user proves after the password checked by check, whose errs.LogIn counts
// as a failed log-in: after some of them the user must wait, from whatever address. A code
// has few digits, and only who knows the password gets so far. One is checked at a time, so
// that none is tried before the last one counts. Errors: those of check; errs.TooMany.
func (s *Server) Prove(ctx context.Context, by identity.Principal, check func() error) error {
	x := exchangeOf(ctx)
	attempt := pair{name: identity.Fold(string(by.Name))}
	s.proving.Lock()
	defer s.proving.Unlock()
	throttle := s.config.Auth.codes
	var err error
	if wait := throttle.wait(attempt); wait > 0 {
		err = tooMany(wait)
	} else if err = check(); err == nil {
		throttle.succeed(attempt)
		return nil
	} else if errs.Is(err, errs.LogIn) {
		if wait := throttle.fail(attempt); wait > 0 {
			err = tooMany(wait)
		}
	}
	if x != nil && s.config.Audit != nil && (errs.Is(err, errs.LogIn) || errs.Is(err, errs.TooMany)) {
		s.config.Audit.LogInRefused(by.ID, x.client.String(), "wrong code of the second factor")
	}
	return err
}

// Title returns what a kind of problem is called in problem documents.
func Title(kind errs.Kind) string {
	if p, ok := problems[kind]; ok {
		return p.title
	}
	return problems[errs.Internal].title
}
