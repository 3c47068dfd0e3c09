package server

import (
	"errors"
	"net/http"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// Auditor learns what was refused. Its methods never block.
type Auditor interface {
	// LogInRefused reports a refused log-in as a user. If there is no user of
	// that name, user is 0, and the name is not passed on: it may be a
	// password.
	LogInRefused(user identity.ID, address, detail string)

	// RequestRefused is about a request that its user has no right to.
	RequestRefused(by identity.Principal, address, target string, kind errs.Kind, detail string)
}

// auditLogIn reports a refused log-in. A request without credentials does not
// count: clients make one before they ask for credentials.
func (s *Server) auditLogIn(x *exchange, r *http.Request, err error) {
	kind := errs.KindOf(err)
	if s.config.Audit == nil || kind != errs.LogIn && kind != errs.TooMany {
		return
	}
	if _, given := parseBearer(r.Header.Get("Authorization")); given {
		s.config.Audit.LogInRefused(0, x.client.String(), "no such app password")
		return
	}
	if name, _, given := parseBasic(r.Header.Get("Authorization")); given {
		s.auditLogInAs(x, name, err)
	}
}

// auditLogInAs reports a refused log-in with a name.
func (s *Server) auditLogInAs(x *exchange, name string, err error) {
	kind := errs.KindOf(err)
	if s.config.Audit == nil || kind != errs.LogIn && kind != errs.TooMany {
		return
	}
	id, _, disabled, known := s.config.Auth.accounts.Account(name)
	detail := "wrong password"
	switch {
	case kind == errs.TooMany:
		detail = "too many failures before"
	case !known:
		id, detail = 0, "no such user"
	case disabled:
		detail = "the user is disabled"
	}
	s.config.Audit.LogInRefused(id, x.client.String(), detail)
}

// auditRequest passes on that a request was refused for want of a right.
func (s *Server) auditRequest(x *exchange, r *http.Request) {
	switch x.kind {
	case errs.NotAllowed, errs.ContextNotAvailable, errs.RoleNotAssignable, errs.FourEyes:
	default:
		return
	}
	if s.config.Audit == nil || x.principal.ID == 0 {
		return
	}
	detail := ""
	if e, ok := errors.AsType[*errs.Error](x.err); ok {
		detail = e.Detail
	}
	target := clip(r.Method, 32) + " " + loggedPath(x.area, r.URL.EscapedPath())
	s.config.Audit.RequestRefused(x.principal, x.client.String(), target, x.kind, detail)
}
