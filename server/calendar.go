package server

import (
	"bytes"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"flowdrive/internal/errs"
)

// CalendarFile is a calendar as it is served.
type CalendarFile struct {
	Form     []byte
	ETag     string // quoted
	Modified time.Time
}

const calendarSuffix = ".ics"

// serveCalendar answers /calendar/<token>.ics. A client that knows the address
// needs no log-in (docs/contract/drive.md#the-calendar). An unknown address
// counts as a failed log-in, so that addresses cannot be searched for. A known
// address is served even after failures, because it cannot be guessed.
func (s *Server) serveCalendar(x *exchange, r *http.Request) error {
	if err := takesNoQuery(r); err != nil {
		return err
	}
	token, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/calendar/"), calendarSuffix)
	if !ok || s.config.Calendar == nil {
		return errs.New(errs.NotFound, "There is nothing at this address.")
	}
	file, err := s.config.Calendar(r.Context(), token)
	if errs.Is(err, errs.NotFound) {
		if s.config.Audit != nil {
			s.config.Audit.LogInRefused(0, x.client.String(), "no such calendar address")
		}
		return s.config.Auth.unknownAddress(x.client)
	}
	if err != nil {
		return err
	}
	if err := onlyRead(r); err != nil {
		return err
	}
	h := x.Header()
	h.Set("ETag", file.ETag)
	h.Set("Content-Type", "text/calendar; charset=utf-8")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	http.ServeContent(x, r, "", file.Modified, bytes.NewReader(file.Form))
	return nil
}

// unknownAddress counts an unknown secret address as a failed log-in, and
// returns the error to answer.
func (a *Authenticator) unknownAddress(from netip.Addr) error {
	attempt := pairOf(from, "/calendar") // no user is called so
	wait := a.throttle.wait(attempt)
	if wait == 0 {
		wait = a.throttle.fail(attempt)
	}
	if wait > 0 {
		return tooMany(wait)
	}
	return errs.New(errs.NotFound, "There is nothing at this address; it may have been revoked.")
}
