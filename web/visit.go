package web

import (
	"bytes"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// visit is one request of a page.
type visit struct {
	*pages
	w       http.ResponseWriter
	r       *http.Request
	query   url.Values
	by      identity.Principal   // the zero Principal: nobody is logged in
	token   string               // of the session
	now     time.Time            // by the drive's clock
	elapsed func() time.Duration // since the request came
	Words   words

	sent    url.Values // what a form has sent that is drawn again; nil: nothing was
	refused *refusal   // why; nil: it is shown as it would be sent
	status  int        // of the answer, 0 for 200
	changed *string    // the cases that the reader of a list says have changed; nil: it is drawn in any case
}

func (p *pages) newVisit(w http.ResponseWriter, r *http.Request) *visit {
	x := &visit{pages: p, w: w, r: r, query: r.URL.Query(), by: p.Principal(r.Context()), token: p.Token(r), now: p.Now(), elapsed: p.Begin()}
	x.Words = words{now: x.now, zone: x.zone()}
	return x
}

// zone returns the time zone of the page: the user's own, else the browser's, which it
// has said in a cookie, else the server's.
func (x *visit) zone() *time.Location {
	zone, own := x.Queries.ZoneOf(x.by)
	if own {
		return zone
	}
	if c, err := x.r.Cookie("tz"); err == nil {
		if browsers := x.Zone(strings.ReplaceAll(c.Value, "%2F", "/")); browsers != nil {
			return browsers
		}
	}
	return zone
}

// Me returns the name of the user.
func (x *visit) Me() string { return string(x.by.Name) }

// theme returns the theme that the user has chosen, "" for that of the system.
func (x *visit) theme() string {
	if c, err := x.r.Cookie("theme"); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

// secure reports whether the browser calls the server by HTTPS, perhaps through a proxy.
func (x *visit) secure() bool { return x.r.TLS != nil || x.Links.Secure(x.r.Host) }

// address returns how the server is called, for curl lines.
func (x *visit) address() string {
	if x.Links.Absolute() {
		return string(x.Links)
	}
	scheme := "http"
	if x.r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + x.r.Host
}

// redirect answers that something is at another address of the pages, after a POST or
// in general. An address that only leads on has no parts.
func (x *visit) redirect(to string) error {
	if x.r.Method != http.MethodPost && x.query.Has("part") {
		return absent()
	}
	x.headers("")
	x.w.Header().Set("Location", to)
	x.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// head says what is above a page, and where it belongs.
type head struct {
	Title                    string // of the document
	Nav                      string // the item of the navigation that is the page's
	Path                     string // on the drive, decoded; "/dav/" is not shown
	JSON                     string // what shows it as JSON, escaped; "": nothing does
	Text                     string // what it is stored as, escaped; "" or as JSON: nothing else
	Alternate, AlternateType string // what shows it in another type than JSON, escaped, and that; "": nothing does
	Script                   string // a file of assets that this page has beside app.js, "" for none
	Narrow                   bool
	Bare                     bool    // without the frame
	Secret                   bool    // it shows something that nobody is to keep
	Cases                    []int64 // that the list of the page has; nil: it has no list of cases
}

// drawing is what a template gets.
type drawing struct {
	Frame  *frame
	Head   head
	Page   any
	X      *visit
	Untold *refusal  // that no form of the page tells of
	Kept   *keptForm // what was typed into its form
}

// tell adds the refusal to the frame if the page does not draw the form that was refused: it
// is not for the caller, or no longer. Forms tell it in an element of their own.
func (x *visit) tell(t *template.Template, d *drawing) error {
	if x.refused == nil {
		return nil
	}
	var page bytes.Buffer
	if err := t.ExecuteTemplate(&page, "main", d); err != nil {
		return err
	}
	if !bytes.Contains(page.Bytes(), []byte(` id="refused"`)) {
		d.Untold, d.Kept = x.refused, refusedForm(x, x.refused.Kind)
	}
	return nil
}

// draw answers with a page, or with the part of it that the request asks for. Parts are
// templates of the page's file that are named "part-<id>", by the id of their region.
func (x *visit) draw(file string, h head, data any) error {
	parsed := x.templates[file]
	if parsed == nil {
		return errs.New(errs.Internal, "There is no template %s.", file)
	}
	t, err := parsed()
	if err != nil {
		return errs.Wrap("templates of "+file, err)
	}
	name := "frame"
	part, wantsPart := x.query.Get("part"), x.query.Has("part")
	if wantsPart {
		if name = "part-" + part; t.Lookup(name) == nil {
			return absent()
		}
	}
	if same, err := (caching{x}).unchanged(h); err != nil || same {
		return err
	}
	d := &drawing{Head: h, Page: data, X: x}
	if !wantsPart {
		if d.Frame, err = x.frame(h); err != nil {
			return err
		}
		if err := x.tell(t, d); err != nil {
			return errs.Wrap("draw "+file, err)
		}
	}
	var body bytes.Buffer
	if err := t.ExecuteTemplate(&body, name, d); err != nil {
		return errs.Wrap("draw "+file, err)
	}
	x.headers("private, no-cache")
	header := x.w.Header()
	secret := h.Secret || d.Frame != nil && d.Frame.Notice != nil && d.Frame.Notice.Secret != ""
	once := bytes.Contains(body.Bytes(), []byte(` name="key" `))
	if secret || wantsPart && once || x.r.Method == http.MethodPost {
		header.Set("Cache-Control", "no-store")
	}
	if h.Alternate != "" && !wantsPart {
		header.Add("Link", "<"+h.Alternate+`>; rel="alternate"; type=`+strconv.Quote(h.AlternateType))
	}
	if h.JSON != "" && !wantsPart {
		header.Add("Link", fmt.Sprintf(`<%s>; rel="alternate"; type="application/json"`, h.JSON))
	}
	if !secret && !once && x.r.Method != http.MethodPost && x.status == 0 {
		return caching{x}.writeIfNew(body.Bytes())
	}
	return x.write(body.Bytes())
}

// timing says how long the server has worked.
func (x *visit) timing() string {
	return "total;dur=" + strconv.FormatFloat(x.elapsed().Seconds()*1000, 'f', 2, 64)
}

// write answers with HTML.
func (x *visit) write(body []byte) error {
	header := x.w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Server-Timing", x.timing())
	status := x.status
	if status == 0 {
		status = http.StatusOK
	}
	x.w.WriteHeader(status)
	if x.r.Method != http.MethodHead {
		_, _ = x.w.Write(body)
	}
	return nil
}

// policy is the Content-Security-Policy of the pages
// (docs/contract/drive.md#headers-of-the-pages).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'none'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// permissions turns off what pages never ask for.
const permissions = "accelerometer=(), autoplay=(), camera=(), clipboard-read=(), clipboard-write=(self), display-capture=(), encrypted-media=(), fullscreen=(), geolocation=(), gyroscope=(), hid=(), magnetometer=(), microphone=(), midi=(), payment=(), picture-in-picture=(), publickey-credentials-get=(), screen-wake-lock=(), serial=(), usb=(), xr-spatial-tracking=()"

// headers sets what every answer of the pages has.
func (x *visit) headers(caching string) {
	h := x.w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", permissions)
	h.Add("Vary", "Cookie")
	if caching == "" {
		caching = "no-store"
	}
	h.Set("Cache-Control", caching)
}

// fail answers with an error. What needs a log-in leads to it, and back. A part is
// answered by its words alone.
func (x *visit) fail(err error) {
	e := x.explain(err)
	if x.r.Method == http.MethodGet || x.r.Method == http.MethodHead {
		e = e.ForReader()
	}
	if e.Kind == errs.LogIn && !x.query.Has("part") && x.r.Method != http.MethodPost {
		to := "/login?next=" + url.QueryEscape(x.r.URL.RequestURI())
		_ = x.redirect(to) // it does not fail
		return
	}
	x.status = x.Status(e.Kind)
	if seconds, ok := e.Extra[errs.ExtraRetryAfter].(int); ok {
		x.w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	if x.query.Has("part") {
		x.headers("")
		_ = x.write([]byte(`<p class="note bad" role="alert">` + template.HTMLEscapeString(e.Detail) + `</p>`))
		return
	}
	x.keepSent()
	x.refused = nil // the page is about the error alone
	file, h := "error.html", head{Title: x.Title(e.Kind), Bare: x.by.ID == 0}
	x.query.Del("part")
	if failed := x.draw(file, h, x.errorView(e)); failed != nil {
		x.Log.Error().Err(failed).Msg("web: an error cannot be drawn")
		x.headers("")
		_ = x.write([]byte("<!doctype html><title>Internal error</title><p>Something failed on the server."))
	}
}

// explain returns the error as people are told it. What is the server's own fault is
// logged with its cause.
func (x *visit) explain(err error) *errs.Error {
	if e := asProblem(err); e != nil {
		return e
	}
	if x.r.Context().Err() == nil { // somebody still waits for it
		x.Log.Error().Err(err).Str("request_id", x.RequestID(x.r.Context())).Msg("web: a page failed")
	}
	return errs.New(errs.Internal, "Something failed on the server; its log says more.")
}

// errorView is what error.html shows.
type errorView struct {
	Title   string
	Detail  string
	Missing bool // nothing is there
	Retry   int  // seconds after which it may work, 0: unknown
	Again   string
	Request string
	Me      string
	Kept    *keptForm
}

func (x *visit) errorView(e *errs.Error) errorView {
	v := errorView{Title: x.Title(e.Kind), Detail: e.Detail, Missing: e.Kind == errs.NotFound, Request: x.RequestID(x.r.Context()), Me: string(x.by.Name), Kept: x.keptForm(e.Kind)}
	if v.Missing {
		v.Title = "There is nothing at this address, or it is not for you to see"
	}
	if x.r.Method == http.MethodGet && x.status >= http.StatusInternalServerError {
		v.Again = x.r.URL.RequestURI()
	}
	v.Retry = retryAfter(e)
	return v
}

// retryAfter returns after how many seconds what was refused may work, 0 if that is not a
// matter of time.
func retryAfter(e *errs.Error) int {
	if e.Kind != errs.Unavailable && e.Kind != errs.TooMany {
		return 0
	}
	if seconds, _ := e.Extra[errs.ExtraRetryAfter].(int); seconds > 0 {
		return seconds
	}
	const unknown = 5
	return unknown
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
