package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"flowdrive/davfs/dav"
	"flowdrive/internal/errs"
	"flowdrive/internal/mediatype"
)

// problem is how a kind of failure looks on the wire. Condition is the
// precondition or postcondition of RFC 4918 (or 4331) for WebDAV methods. If it
// is empty, the kind's own slug is used.
type problem struct {
	status    int
	title     string
	condition string
}

// problems is the one table from kinds to statuses
// (docs/contract/drive.md#status-codes-and-problem-types). It is never changed.
var problems = map[errs.Kind]problem{
	errs.NotParseable: {400, "The document cannot be parsed", ""},
	errs.BadParameter: {400, "The request is malformed", ""},
	errs.ContentRange: {400, "Parts of a resource cannot be written", ""},

	errs.LogIn:   {401, "Log-in required", ""},
	errs.TooMany: {429, "Too many requests", ""},

	errs.NotAllowed:          {403, "Not allowed", ""},
	errs.ReadOnly:            {403, "Read-only", ""},
	errs.NotMovable:          {403, "Not movable", ""},
	errs.NotDeletable:        {403, "Not deletable", ""},
	errs.NotLockable:         {403, "Not lockable", ""},
	errs.ContextNotAvailable: {403, "Context not available", ""},
	errs.RoleNotAssignable:   {403, "Role not assignable", ""},
	errs.FourEyes:            {403, "A second pair of eyes is needed", ""},
	errs.FiniteDepth:         {403, "Depth infinity is not served here", "propfind-finite-depth"},

	errs.NotFound: {404, "Not found", ""},
	errs.Method:   {405, "Method not allowed here", ""},
	errs.TooSlow:  {408, "The body came too slowly", ""},

	errs.ActionNotEnabled: {409, "Action not enabled", ""},
	errs.CaseNotOpen:      {409, "Case not open", ""},
	errs.AmbiguousMove:    {409, "More than one action leads there", ""},
	errs.InUse:            {409, "In use", ""},
	errs.NameTaken:        {409, "Name taken", ""},
	errs.EndlessLoop:      {409, "Endless automatic loop", ""},
	errs.RouteFault:       {409, "The route has a fault", ""},
	errs.Migrate:          {409, "The case must be migrated", ""},
	errs.MissingParent:    {409, "The folder above is missing", ""},

	errs.Precondition: {412, "Precondition failed", ""},
	errs.TooLarge:     {413, "Too large", ""},
	errs.MediaType:    {415, "Media type not accepted", ""},
	errs.Misdirected:  {421, "Not this server's name", ""},
	errs.Locked:       {423, "Locked", "lock-token-submitted"},

	errs.Invalid:             {422, "Invalid", ""},
	errs.ScenarioBroken:      {422, "The scenario does not hold", ""},
	errs.EmptyDocument:       {422, "Empty document", ""},
	errs.NameNotAllowed:      {422, "Name not allowed", ""},
	errs.IdempotencyMismatch: {422, "Idempotency key used for something else", ""},

	errs.Internal:    {500, "Internal error", ""},
	errs.NotBuilt:    {501, "Not built yet", ""},
	errs.OtherServer: {502, "Another server's", ""},
	errs.Unavailable: {503, "Unavailable for the moment", ""},
	errs.Full:        {507, "Full", "sufficient-disk-space"},
}

// Status returns the HTTP status of a kind.
func Status(kind errs.Kind) int {
	if p, ok := problems[kind]; ok {
		return p.status
	}
	return http.StatusInternalServerError
}

// The members of errs.Error.Extra that mean something to HTTP, beside errs.ExtraRetryAfter.
// Allow and that are members of the problem document as well.
const (
	ExtraAllow     = "allow"     // []string, the methods of a 405
	ExtraCondition = "condition" // string, the DAV: condition in place of the kind's
	ExtraHref      = "href"      // string, what DAV:lock-token-submitted is about, in place of the request's path
)

// The values of Retry-After if the error has none.
const (
	retryUnavailable = 5
	retryTooMany     = 60
)

// WriteError answers the request with the problem: application/problem+json
// (RFC 9457), text/plain if Accept prefers that, an HTML page for browsers, and DAV:error (RFC 4918,
// section 16) for the methods of WebDAV. An internal error is logged once with
// its cause; the client learns only the id of the request. If the answer has
// begun already, the connection is closed, so that a part is not taken for the
// whole.
//
// If the log-in has ended since it was checked, that is the problem, even if
// the request has other faults: the user's rights end with it.
//
// The status of an invalid document is 415 for davfs2, which then keeps its
// user's text and does not try again
// (docs/contract/drive.md#a-refusal-never-destroys-anything).
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	x := exchangeOf(r.Context())
	e := explain(r.Context(), err)
	if reads(r.Method) {
		e = e.ForReader()
	}
	if x != nil && x.principal.ID != 0 && !x.stillHolds() && Status(e.Kind) < http.StatusInternalServerError {
		e = errLogInEnded()
	}
	if x != nil {
		x.failed(e.Kind, err)
		if x.status != 0 || x.begun {
			x.broken = true
			return
		}
	}
	a := answer{request: r, err: e, problem: problems[e.Kind], id: RequestID(r.Context())}
	if a.status == http.StatusUnprocessableEntity && strings.HasPrefix(r.UserAgent(), "davfs2/") {
		a.status = http.StatusUnsupportedMediaType
	}
	mediaType, body := a.render()
	h := w.Header()
	for _, stale := range []string{"Content-Encoding", "Content-Disposition", "Content-Range", "Etag", "Last-Modified", "Location"} {
		h.Del(stale)
	}
	a.headers(h)
	h.Add("Link", `</docs/problems/`+string(a.err.Kind)+`>; rel="help"`)
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if strings.HasPrefix(mediaType, "text/html") {
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	}
	lingers := false
	if x != nil {
		x.giveReason(a.status, a.detail())
		if x.body != nil {
			x.body.refuse()
			lingers = x.body.lingers(r)
		}
	}
	if lingers {
		h.Set("Connection", "close") // of the body there may be more to come
	}
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
	if lingers {
		x.body.linger(r.Context())
	}
}

// reads reports whether requests with the method change nothing.
func reads(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, "PROPFIND", "REPORT":
		return true
	}
	return false
}

// explain returns err as the problem that the client is told.
func explain(ctx context.Context, err error) *errs.Error {
	e, ok := errors.AsType[*errs.Error](err)
	if _, known := problems[errs.KindOf(err)]; ok && known && e.Kind != errs.Internal {
		return e
	}
	if fault := bodyFault(err); fault != nil {
		return fault
	}
	if ctx.Err() != nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return errs.New(errs.Unavailable, "The request ended before its answer; repeat it.")
	}
	detail := "Something failed on the server; its log says more."
	if id := RequestID(ctx); id != "" {
		detail = "Something failed on the server; its log says more under request " + id + "."
	}
	return &errs.Error{Kind: errs.Internal, Detail: detail}
}

// answer is one problem on its way to one client.
type answer struct {
	problem
	request *http.Request
	err     *errs.Error
	id      string
}

// detail returns the sentence for the person who made the request.
func (a *answer) detail() string {
	if a.err.Detail == "" {
		return a.title + "."
	}
	return a.err.Detail
}

// headers sets what belongs to the status.
func (a *answer) headers(h http.Header) {
	switch a.status {
	case http.StatusUnauthorized:
		if _, plain := a.request.Header["Authorization"]; !plain && SessionToken("", a.request) != "" {
			h.Set("WWW-Authenticate", `Session realm="Flowdrive"`) // a browser would ask for a password; the page does
			return
		}
		h.Set("WWW-Authenticate", `Basic realm="Flowdrive", charset="UTF-8"`)
		if _, given := parseBearer(a.request.Header.Get("Authorization")); given {
			// Not for all: some WebDAV clients take only the first scheme that they read.
			h.Add("WWW-Authenticate", `Bearer realm="Flowdrive", error="invalid_token"`)
		}
		if path := a.request.URL.Path; path == "/" || path == "/dav" || strings.HasPrefix(path, "/dav/") {
			// The Finder asks before it knows a password whether this is WebDAV at all.
			h.Set("DAV", dav.Classes)
			h.Set("MS-Author-Via", "DAV")
		}
	case http.StatusMethodNotAllowed:
		if allow, ok := a.err.Extra[ExtraAllow].([]string); ok {
			h.Set("Allow", strings.Join(allow, ", "))
		}
	case http.StatusRequestTimeout:
		h.Set("Connection", "close") // of the body there may be more to come
	case http.StatusTooManyRequests:
		h.Set("Retry-After", a.retryAfter(retryTooMany))
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", a.retryAfter(retryUnavailable))
	}
}

func (a *answer) retryAfter(otherwise int) string {
	if seconds, ok := a.err.Extra[errs.ExtraRetryAfter].(int); ok {
		otherwise = seconds
	}
	return strconv.Itoa(otherwise)
}

// render returns the body in the form that the client reads.
func (a *answer) render() (mediaType string, body []byte) {
	switch {
	case a.isVisited():
		return "text/html; charset=utf-8", a.appendHTML(nil)
	case prefersText(a.request.Header["Accept"]):
		return "text/plain; charset=utf-8", a.appendText(nil)
	case speaksDAV(a.request.Method) && mediatype.Quality(a.request.Header["Accept"], "application/problem+json") <= mediatype.Quality(a.request.Header["Accept"], "application/xml", "text/xml"):
		return "application/xml; charset=utf-8", a.appendXML(nil)
	}
	return "application/problem+json", a.appendJSON(nil)
}

// isVisited reports whether a person looks at the answer in a browser: it asks for HTML
// before all that machines read. The clients of KDE, which mount the drive, do so too.
func (a *answer) isVisited() bool {
	r := a.request
	accept := r.Header["Accept"]
	html := mediatype.Quality(accept, "text/html")
	page := false // a form of the pages was sent
	if x := exchangeOf(r.Context()); x != nil {
		page = r.Method == http.MethodPost && x.area == areaPages
	}
	return (r.Method == http.MethodGet || r.Method == http.MethodHead || page) && html > 0 && !strings.Contains(r.UserAgent(), "KIO/") &&
		html > mediatype.Quality(accept, "application/problem+json", "application/json", "application/*", "text/plain")
}

// speaksDAV reports whether the method's clients read XML. PUT, DELETE and
// GET are HTTP's; what they answer is read by people and scripts.
func speaksDAV(method string) bool {
	switch method {
	case "PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK":
		return true
	}
	return false
}

// prefersText reports whether the Accept header (RFC 9110, section 12.5.1)
// names text/plain, and JSON not before it.
func prefersText(accept []string) bool {
	text := mediatype.Quality(accept, "text/plain", "text/*")
	return text > mediatype.Quality(accept, "application/problem+json", "application/json", "application/*")
}
