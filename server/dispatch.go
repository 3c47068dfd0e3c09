package server

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// answer dispatches a request, in the order of
// docs/contract/drive.md#order-of-checks: 503, 400, 401 and 429, then what the
// part of the tree says. No http.ServeMux is
// asked: it redirects paths that it finds untidy, which WebDAV clients do
// not follow.
func (s *Server) answer(x *exchange, r *http.Request) error {
	if isSpare(r) || len(r.TransferEncoding) > 0 && s.viaProxy(x, r) {
		// The spare ones are for others. And a proxy may have gone by the length of a
		// request that has both, so that what follows it would be somebody else's
		// (RFC 9112, section 6.1).
		x.Header().Set("Connection", "close")
	}
	if err := checkHead(r); err != nil {
		return err
	}
	switch r.URL.Path {
	case "/healthz", "/livez", "/readyz", "/version", "/openapi.json":
		if err := takesNoQuery(r); err != nil {
			return err
		}
	}
	switch r.URL.Path {
	case "/healthz", "/livez":
		return reply(x, r, "text/plain; charset=utf-8", []byte("ok\n"))
	case "/readyz":
		return s.ready(x, r)
	case "/version":
		return reply(x, r, "application/json", s.version)
	case "/openapi.json":
		s.compressedAPI.ServeHTTP(x, r)
		return nil
	}
	if s.draining.Load() {
		return errs.New(errs.Unavailable, "The server is stopping; try again in a moment.")
	}
	if isSpare(r) {
		return errs.New(errs.Unavailable, "Too many requests are under way from your address, or in all; try again in a moment.")
	}
	if err := s.checkHost(x, r); err != nil {
		return err
	}
	if x.area == areaMetrics && x.peer.IsLoopback() && !isForwarded(r.Header) {
		return s.scrapeMetrics(x, r)
	}
	if x.area == areaCalendar || x.area == areaHook {
		if err := s.withinRate(x); err != nil {
			return err
		}
		if x.area == areaHook {
			return s.serveHook(x, r)
		}
		return s.serveCalendar(x, r)
	}
	if s.isPage(x, r) {
		return s.servePages(x, r)
	}
	if err := s.logIn(x, r); err != nil {
		return err
	}
	return s.dispatch(x, r)
}

// logIn finds out who makes the request, and refuses it if nobody may, or too often.
func (s *Server) logIn(x *exchange, r *http.Request) error {
	switch {
	case needsNoLogIn(x, r):
	case s.readBySession(x, r):
		x.reads = x.area != areaEvents // as below
	default:
		// Before the log-in: what is changed meanwhile ends the request.
		x.holds = s.config.Auth.Watch(r.Header.Get("Authorization"))
		p, err := s.config.Auth.Authenticate(r.Header.Get("Authorization"), x.client)
		if err != nil {
			s.auditLogIn(x, r, err)
			return cmp.Or(s.withinRate(x), err)
		}
		x.principal = p
		x.room = s.roomOf(p.ID)
		x.reads = tells(r.Method) && x.area != areaEvents // a stream asks by itself, and ends in order
		if err := checkOrigin(r); err != nil {
			return err
		}
		if err := checkScope(p.Scope, r); err != nil {
			return cmp.Or(s.withinRate(x), err)
		}
	}
	return s.withinRate(x)
}

// checkScope refuses what the app password of the request is not for.
func checkScope(scope identity.Scope, r *http.Request) error {
	to := ""
	if text := r.Header.Get("Destination"); text != "" && (r.Method == "COPY" || r.Method == "MOVE") {
		u, err := url.Parse(text)
		if err != nil {
			return errs.New(errs.BadParameter, "The header Destination is not a valid address.")
		}
		to = u.Path
	}
	if scope.Allows(r.Method, r.URL.Path, to) {
		return nil
	}
	if scope == identity.ScopeRead {
		return errs.New(errs.NotAllowed, "This app password is only for reading; log in with one whose scope is all.")
	}
	if scope.Removes(r.Method, r.URL.Path, to) {
		return errs.New(errs.NotAllowed, "This app password is for what is in %s; the folder itself stays where it is.", scope)
	}
	return errs.New(errs.NotAllowed, "This app password is only for %s and what is below it.", scope)
}

// dispatch hands the request of a known caller to the part of the tree that
// it is for.
func (s *Server) dispatch(x *exchange, r *http.Request) error {
	switch x.area {
	case areaOther, areaProbe, areaAPI, areaCalendar, areaHook, areas:
	case areaRoot, areaDrive, areaWorkflow, areaSchedule, areaRoutes, areaCases, areaWorklist, areaArchive, areaDocuments, areaAccount, areaAdmin, areaAttach:
		s.serveDrive(x, r)
		return nil
	case areaMetrics:
		if x.principal.Admin() {
			return s.scrapeMetrics(x, r)
		}
	case areaClock:
		if s.config.Clock != nil && r.URL.Path == "/clock" {
			if err := takesNoQuery(r); err != nil {
				return err
			}
			s.config.Clock.ServeHTTP(x, r)
			return nil
		}
	case areaPages:
		return notBuilt("The web interface")
	case areaEvents:
		return s.streamEvents(x, r)
	}
	return errs.New(errs.NotFound, "There is nothing at this address; the drive is /dav/.")
}

func notBuilt(what string) error {
	return errs.New(errs.NotBuilt, "%s is not built yet.", what)
}

// tells reports whether a method tells what is stored and changes nothing.
func tells(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, "PROPFIND":
		return true
	}
	return false
}

// needsNoLogIn reports whether the request tells nothing that a log-in protects
// (docs/contract/drive.md#log-in): the OPTIONS that clients send before they know of
// a log-in, and the schemas, which editors fetch.
func needsNoLogIn(x *exchange, r *http.Request) bool {
	if r.Method == http.MethodOptions && (r.URL.Path == "/" || r.URL.Path == "/dav" || r.URL.Path == "/dav/") {
		return true
	}
	if len(r.Header["Authorization"]) > 0 {
		return false // it is answered as to whom it names
	}
	switch r.Method {
	case http.MethodOptions:
		return x.area == areaAttach || strings.HasPrefix(areaNames[x.area], "/dav")
	case http.MethodGet, http.MethodHead:
		folder, file, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/dav/Workflow/"), "/")
		return folder == "Schemas" && file != ""
	}
	return false
}

// origins tells requests of pages of other origins, by Sec-Fetch-Site, or by Origin and Host
// if the browser does not say that, as over plain HTTP.
var origins = http.NewCrossOriginProtection()

// checkOrigin lets pages of other origins read but not change, even if the browser
// adds credentials by itself.
func checkOrigin(r *http.Request) error {
	if origins.Check(r) != nil {
		return errs.New(errs.NotAllowed, "A page of another site may not change anything here.")
	}
	return nil
}

// Part is how a part of the server is.
type Part struct {
	Name string
	Says string // in a few words that anybody may read; "" if all is well
}

// ready answers /readyz. Why the server is not ready is for the log; which part it is, anybody
// may read. Parts that are not well are named; people can work all the same, so that the
// status does not depend on them.
func (s *Server) ready(x *exchange, r *http.Request) error {
	if s.draining.Load() {
		return errs.New(errs.Unavailable, "The server is stopping.")
	}
	if s.config.Ready != nil {
		if err := s.config.Ready(r.Context()); err != nil {
			detail := "The server is not ready."
			if known, is := errors.AsType[*errs.Error](err); is {
				detail += " " + known.Detail
			}
			return &errs.Error{Kind: errs.Unavailable, Detail: detail, Err: err}
		}
	}
	body := []byte("ready\n")
	if s.config.Parts != nil {
		for _, part := range s.config.Parts(r.Context()) {
			body = fmt.Appendf(body, "%s: %s\n", part.Name, cmp.Or(part.Says, "ok"))
		}
	}
	return reply(x, r, "text/plain; charset=utf-8", body)
}

func (s *Server) scrapeMetrics(x *exchange, r *http.Request) error {
	if r.URL.Path != "/metrics" {
		return errs.New(errs.NotFound, "The metrics are at /metrics.")
	}
	if err := takesNoQuery(r); err != nil {
		return err
	}
	if err := onlyRead(r); err != nil {
		return err
	}
	s.scrape.ServeHTTP(x, r)
	return nil
}

// reply answers a small resource of the server itself.
func reply(w http.ResponseWriter, r *http.Request, mediaType string, body []byte) error {
	if err := onlyRead(r); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Cache-Control", "no-store")
	if r.Method == http.MethodGet {
		_, _ = w.Write(body)
	}
	return nil
}

// takesNoQuery refuses parameters at addresses that take none
// (docs/contract/drive.md#query-parameters).
func takesNoQuery(r *http.Request) error {
	first, _, _ := strings.Cut(strings.TrimLeft(r.URL.RawQuery, "&"), "&")
	if first == "" {
		return nil
	}
	name, _, _ := strings.Cut(first, "=")
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	return errs.New(errs.BadParameter, "There is no parameter %q here; this address takes none.", name)
}

// onlyRead refuses methods other than GET and HEAD.
func onlyRead(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	allow := []string{http.MethodGet, http.MethodHead}
	return &errs.Error{
		Kind:   errs.Method,
		Detail: "This address answers " + strings.Join(allow, " and ") + " only.",
		Extra:  map[string]any{ExtraAllow: allow},
	}
}
