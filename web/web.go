// Package web is the pages beside the drive, for people who would rather look
// (docs/pages.md says how one is added). A page reads by queries of its own, under
// the caller's rights. What it does it does as the drive does: a form becomes the
// requests that a script would make, which are shown as curl lines and handed to the
// drive's handler. Everything works without script.
//
//	web.go       the addresses, and what all pages share
//	visit.go     one request of a page
//	frame.go     what is around every page
//	submit.go    what a form does
//	drive.go     requests to the drive, and their curl lines
//	refusal.go   what the drive refuses, at the fields of a form
//	login.go     log-in and log-out
//	words.go     times and numbers as people read them
//	assets.go    style sheet, icons
//	manual.go    the manual at /docs/
package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"flowdrive/engine/account"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/link"
)

// Config is what the pages are made of. All fields but Sandbox, Clock, Metrics and Weigh
// are required.
type Config struct {
	Queries Queries
	Drive   http.Handler // acts as the principal of the request's context
	Log     zerolog.Logger
	Links   link.Base // the address by which people call the server; "": what the browser calls

	Now  func() time.Time // the drive's clock
	Wall func() time.Time // the machine's, in milliseconds
	// Begin begins to measure; what it returns says how long ago that was, whatever clocks
	// are set meanwhile.
	Begin func() (elapsed func() time.Duration)
	Zone  func(name string) *time.Location

	Sandbox bool         // the drive's clock stands still
	Clock   http.Handler // answers /clock; nil: this is not a sandbox

	Metrics prometheus.Gatherer // the figures of the server; nil: they are not shown

	// Weigh lets a request hold so many bytes in memory, all in all; nil: as many as it
	// likes. Its error is the request's.
	Weigh func(ctx context.Context, bytes int64) error

	// LogIn checks a name and password: errs.LogIn, errs.TooMany.
	LogIn    func(ctx context.Context, name, password string) (identity.Principal, error)
	Sessions Sessions
	Factors  Factors

	// SignOn is the provider at which people may log in, too; nil: there is none.
	SignOn SignOn

	// Prove has what a user proves after the password checked, and counts what is wrong
	// as a failed log-in: errs.LogIn, errs.TooMany.
	Prove func(ctx context.Context, by identity.Principal, check func() error) error

	Principal func(ctx context.Context) identity.Principal
	RequestID func(ctx context.Context) string
	Status    func(kind errs.Kind) int
	Title     func(kind errs.Kind) string
	Token     func(r *http.Request) string // of the request's session, "" for none
	Cookie    func(token string, secure bool) *http.Cookie
}

// Sessions makes and ends the sessions of users.
type Sessions interface {
	StartSession(ctx context.Context, n account.NewSession) (token string, err error)
	EndSession(ctx context.Context, token string) error
	EndSessionOf(ctx context.Context, by identity.Principal, id int64) error // errs.NotFound: the user has none of this id
	EndOtherSessions(ctx context.Context, by identity.Principal, token string) (ended int, err error)
}

// Factors are the second factors of users (engine/account/factor.go).
type Factors interface {
	HasFactor(user identity.ID) bool
	Begun(user identity.ID) string // a mark of the user's password
	UseFactor(ctx context.Context, user identity.ID, begun, code string) error
	SetFactor(ctx context.Context, by identity.Principal, password, secret, code string) (codes []string, err error)
	RemoveFactor(ctx context.Context, by identity.Principal, code string) error
	RenewRecovery(ctx context.Context, by identity.Principal, code string) (codes []string, err error)
}

// pages serves the pages.
type pages struct {
	Config
	mux       *http.ServeMux
	templates templates
	built     map[string]bool // first segments of the addresses that there are
	assets    *assets
	notices   *notices
	halfway   *halfway
	ways      *ways
	manual    theManual
	origins   *http.CrossOriginProtection
}

// page is an address of the pages, and what is done there.
type page struct {
	pattern string   // of http.ServeMux, without a method
	query   []string // the parameters that it takes; "part" is one of all
	open    bool     // it needs no log-in
	admin   bool     // it is not there for others than administrators
	draw    func(x *visit) error
	forms   map[string]form      // by the value of "do"
	fields  map[string]string    // of each form (formfields.go)
	post    func(x *visit) error // instead of forms, if what is sent is nothing for the drive
	put     func(x *visit) error // takes a file from script; nil: PUT is not done here
}

// New returns the handler of the pages. It fails if the frame's template does.
func New(cfg Config) (http.Handler, error) {
	p := &pages{Config: cfg, mux: http.NewServeMux(), notices: newNotices(), halfway: &halfway{of: map[string]halfLogin{}}, built: map[string]bool{}, origins: http.NewCrossOriginProtection()}
	var err error
	if p.ways, err = newWays(); err != nil {
		return nil, err
	}
	if p.assets, err = newAssets(); err != nil {
		return nil, err
	}
	if p.templates, err = p.parseTemplates(); err != nil {
		return nil, err
	}
	if p.Weigh == nil {
		p.Weigh = func(context.Context, int64) error { return nil }
	}
	for _, g := range p.all() {
		p.built[firstSegment(g.pattern)] = true
		p.mux.Handle(g.pattern, p.handler(g))
	}
	p.mux.Handle("/assets/", p.assets)
	p.mux.HandleFunc("/ui/", movedFromUI)
	p.mux.HandleFunc("/ui", movedFromUI)
	p.mux.Handle("/", p.handler(page{draw: func(*visit) error { return absent() }, query: nil}))
	return p, nil
}

// all lists the pages, in the order of the navigation.
func (p *pages) all() []page {
	return slices.Concat(
		[]page{{pattern: "/{$}", open: true, draw: func(x *visit) error { return x.redirect("/tasks") }}},
		loginPages(),
		signOnPages(),
		taskPages(),
		casePages(),
		taskListPages(),
		routePages(),
		documentPages(),
		searchPages(),
		mountPages(),
		schedulePages(),
		latePages(),
		adminPages(),
		sandboxPages(),
		accountPages(),
		factorPages(),
		manualPages(),
	)
}

func firstSegment(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// Link returns the address of a page or, if it is not built, of what is on the drive in its
// place.
func (p *pages) Link(page, drive string) string {
	if p.built[firstSegment(page)] {
		return page
	}
	return drive
}

// ServeHTTP answers a request of a page.
func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }

// movedFromUI answers addresses of pages as they were announced once.
func movedFromUI(w http.ResponseWriter, r *http.Request) {
	to := &url.URL{Path: "/" + strings.TrimLeft(strings.TrimPrefix(r.URL.Path, "/ui"), "/"), RawQuery: r.URL.RawQuery}
	http.Redirect(w, r, to.RequestURI(), http.StatusPermanentRedirect)
}

// absent is the error of what is not there, or not to be seen: the same page tells both.
func absent() error {
	return errs.New(errs.NotFound, "There is nothing at this address, or it is not for you to see.")
}

// handler answers the requests of a page: what it may not be asked, what its forms do,
// and what it shows.
func (p *pages) handler(g page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := p.newVisit(w, r)
		if err := p.serve(x, g); err != nil {
			x.fail(err)
		}
	})
}

func (p *pages) serve(x *visit, g page) error {
	if err := p.admit(x, g); err != nil {
		return err
	}
	if x.query.Has("changed") { // what is drawn does not lead on with it
		x.changed = new(x.query.Get("changed"))
		x.query.Del("changed")
	}
	switch x.r.Method {
	case http.MethodGet, http.MethodHead:
		return g.draw(x)
	case http.MethodPost:
		switch {
		case g.post != nil:
			return g.post(x)
		case len(g.forms) > 0:
			return p.submit(x, g)
		}
	case http.MethodPut:
		if g.put != nil {
			return g.put(x)
		}
	}
	allow := []string{http.MethodGet, http.MethodHead}
	if len(g.forms) > 0 || g.post != nil {
		allow = append(allow, http.MethodPost)
	}
	if g.put != nil {
		allow = append(allow, http.MethodPut)
	}
	x.w.Header().Set("Allow", strings.Join(allow, ", "))
	return errs.New(errs.Method, "%s is not done at this address.", x.r.Method)
}

// admit refuses what is not for the caller, in the order of the drive: log-in, then the
// address, then its parameters.
func (p *pages) admit(x *visit, g page) error {
	if !g.open && x.by.ID == 0 {
		return errs.New(errs.LogIn, "Log in to see this page.")
	}
	if g.draw == nil || g.admin && !x.by.Admin() {
		return absent()
	}
	if err := p.origins.Check(x.r); err != nil {
		return errs.New(errs.NotAllowed, "A page of another site may not change anything here.")
	}
	known := append([]string{"part"}, g.query...)
	for _, name := range sortedKeys(x.query) {
		if !slices.Contains(known, name) && !(strings.HasPrefix(name, "x.") && slices.Contains(known, "x.*")) {
			return errs.New(errs.BadParameter, "There is no parameter %q on this page.", name)
		}
		if len(x.query[name]) > 1 {
			return errs.New(errs.BadParameter, "The parameter %q is there more than once.", name)
		}
	}
	if do := x.query.Get("do"); do != "" && g.forms[do] == nil {
		return errs.New(errs.BadParameter, "do can be %s, not %q.", strings.Join(sortedKeys(g.forms), ", "), do)
	}
	return nil
}
