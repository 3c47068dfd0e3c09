package davfs

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/link"
	"flowdrive/store"
)

// Config is what a drive is made of. Zero limits take the defaults
// (docs/contract/drive.md#limits).
type Config struct {
	Engine Engine
	Clock  Clock
	Log    zerolog.Logger

	// Now is the machine's clock, also if the drive's is a sandbox's: overlays
	// last for seconds of real time. The default is clock.Real.
	Now func() time.Time

	// Principal returns who makes the request that the context belongs to.
	Principal func(ctx context.Context) identity.Principal
	// WriteError answers a request with an error. If the answer has begun already
	// it breaks the connection off.
	WriteError func(w http.ResponseWriter, r *http.Request, err error)
	// Status returns the HTTP status of a kind, for answers that hold several.
	Status func(errs.Kind) int

	// Weigh lets a request hold so many bytes in memory, all in all. Its error is the
	// answer: there is no room. nil: there is as much as one likes.
	Weigh func(ctx context.Context, bytes int64) error

	// PageOf returns the address of the page that shows a folder of the drive, "" for none.
	// nil: there are no pages.
	PageOf func(folder string) string

	MaxDocument int64 // bytes of a JSON document
	MaxRoute    int64 // bytes of a route
	MaxContent  int64 // bytes of a message

	// ScriptClients are prefixes of User-Agent that name further script
	// clients, which are taken at their word.
	ScriptClients []string

	// PublicNames are the hosts, with or without port, by which clients call
	// the server: a Destination at another host is refused. Without any the
	// host is not looked at.
	PublicNames []string

	// Links is the address by which people call the server; "": the one by which a
	// request comes.
	Links link.Base
}

// The default limits (docs/contract/drive.md#limits).
const (
	defaultDocument = 1 << 20
	defaultRoute    = 4 << 20
	defaultContent  = 4 << 30
)

// drive serves the tree over HTTP.
type drive struct {
	Config
	since    time.Time
	listing  *template.Template
	overlays *overlays
}

// New returns the handler of "/", "/dav" and everything below.
func New(cfg Config) http.Handler { return newDrive(cfg) }

func newDrive(cfg Config) *drive {
	for _, limit := range []struct {
		at    *int64
		value int64
	}{{&cfg.MaxDocument, defaultDocument}, {&cfg.MaxRoute, defaultRoute}, {&cfg.MaxContent, defaultContent}} {
		if *limit.at <= 0 {
			*limit.at = limit.value
		}
	}
	if cfg.Weigh == nil {
		cfg.Weigh = func(context.Context, int64) error { return nil }
	}
	if cfg.Now == nil {
		cfg.Now = clock.Real{}.Now
	}
	return &drive{
		Config: cfg, since: cfg.Clock.Now().UTC().Truncate(time.Second), listing: newListing(), overlays: newOverlays(cfg.Now),
	}
}

// request is a request, and where in the tree it leads.
type request struct {
	*scope
	r     *http.Request
	at    address
	query query

	within folder // of the address, once that was walked to; nil: see folderOf

	overlays *overlays

	// malformed is what is wrong with the query of a PUT, and of a GET in Documents/. It
	// does not matter if the query is part of what is written (queried), or passed over.
	malformed error

	tokens     []store.UUID  // that the If header submits; condition reads them
	moveSource *engine.Taken // of the PUT that a MOVE is: what it moves
	transferBy string        // of the PUT that a COPY or MOVE is: that method

	fromSecrets bool // of the PUT that a COPY or MOVE is: its source may hold a password

	differs bool   // a PUT was accepted, and its client finds another size than it sent
	allow   string // of a refused method, what the address takes
}

// ServeHTTP answers a request. Every error is answered in one place.
func (d *drive) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := d.serve(w, r)
	if givenUp(r.Context(), err) {
		err = &errs.Error{Kind: errs.BadParameter, Detail: "The request was cut off; nothing was changed.", Err: err}
	}
	if err != nil {
		d.WriteError(w, r, err)
	}
}

// givenUp reports whether an error is that of a request that its client has cut short: it does
// not read the answer, and the server did not fail.
func givenUp(ctx context.Context, err error) bool {
	return errors.Is(err, context.Canceled) && ctx.Err() != nil
}

// couldNotRead logs that something could not be read that only makes the answer to a request
// better.
func (d *drive) couldNotRead(ctx context.Context, err error, message string) {
	if !givenUp(ctx, err) {
		d.Log.Warn().Err(err).Msg(message)
	}
}

func (d *drive) serve(w http.ResponseWriter, r *http.Request) error {
	x, err := d.newRequest(r)
	if err != nil {
		return err
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return d.get(w, x)
	case "PROPFIND":
		return d.propfind(w, x)
	}
	a, err := d.answer(x)
	if x.allow != "" {
		w.Header().Set("Allow", x.allow)
	}
	if err != nil {
		return err
	}
	a.send(w)
	return nil
}

// newRequest reads where a request leads.
func (d *drive) newRequest(r *http.Request) (*request, error) {
	path, err := dav.ParsePath(r.URL.EscapedPath())
	if err != nil {
		return nil, err
	}
	q, err := parseQuery(r.URL.RawQuery)
	if err != nil && r.Method != http.MethodPut && !passesOverQuery(r.Method, address{path}) {
		return nil, err
	}
	return &request{
		scope: &scope{
			engine: &d.Engine, by: d.Principal(r.Context()), since: d.since, wall: d.Now(),
			script: d.scriptClient(r.UserAgent()), writes: r.Method == http.MethodPut, weigh: d.Weigh,
			address: d.calledAt(r), secrets: d.overlays.secrets,
		},
		r: r, at: address{path}, query: q, malformed: err, overlays: d.overlays,
	}, nil
}

// answer does what a request asks for, except GET and PROPFIND, whose answers are
// written as they are read.
func (d *drive) answer(x *request) (*answer, error) {
	switch x.r.Method {
	case http.MethodPut:
		a, err := d.put(x)
		d.noteRefusal(x, err)
		return a, err
	case http.MethodPost:
		return d.post(x)
	case http.MethodDelete:
		a, err := d.remove(x)
		if err != nil {
			d.rejectDelete(x, err)
		}
		return a, err
	case http.MethodOptions:
		return d.options(x)
	case "MKCOL":
		a, err := d.mkcol(x)
		if err != nil {
			d.rejectFolder(x, err)
		}
		return a, err
	case "COPY", "MOVE":
		return d.copyOrMove(x)
	case "LOCK":
		return d.lock(x)
	case "UNLOCK":
		return d.unlock(x)
	case "PROPPATCH":
		return d.proppatch(x)
	}
	n, err := x.place()
	if err != nil {
		return nil, err
	}
	return nil, x.notAllowed(n)
}

// place returns the node that the address names. One that is not built yet is an
// error for every method (docs/contract/drive.md#1-the-tree).
func (x *request) place() (node, error) {
	n, within, err := x.walkWithin(x.r.Context(), x.at)
	x.within = within
	if note := x.notShown(); note != nil {
		if err == nil {
			_, err = n.stat(x.r.Context())
		}
		if errs.Is(err, errs.NotFound) && x.inFolder(x.r.Context()) == nil {
			return note, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

// notAllowed answers a method that the node lacks. If nothing is there the answer
// is 404, since what does not exist has no methods.
func (x *request) notAllowed(n node) error {
	if err := x.query.only(); err != nil {
		return err
	}
	if _, err := n.stat(x.r.Context()); err != nil {
		return err
	}
	x.allow = strings.Join(allowed(n), ", ")
	how := ""
	if h := postHint(n); h != "" && x.r.Method == http.MethodPost {
		how = " " + h
	}
	return errs.New(errs.Method, "%s is not allowed at this address; it takes %s.%s", x.r.Method, x.allow, how)
}

// allowed lists the methods of a node.
func allowed(n node) []string {
	out := []string{http.MethodOptions, http.MethodGet, http.MethodHead, "PROPFIND", "PROPPATCH"}
	if _, ok := n.(writer); ok {
		out = append(out, http.MethodPut)
	}
	if _, ok := n.(poster); ok {
		out = append(out, http.MethodPost)
	}
	if _, ok := n.(remover); ok {
		out = append(out, http.MethodDelete)
	}
	if _, ok := n.(creator); ok {
		out = append(out, "MKCOL")
	}
	if canCopy(n) {
		out = append(out, "COPY")
	}
	if canMove(n) {
		out = append(out, "MOVE")
	}
	if _, ok := n.(lockable); ok {
		out = append(out, "LOCK", "UNLOCK")
	}
	return out
}

// anyMethod is what some place of the drive takes, for callers that are not
// known.
const anyMethod = "OPTIONS, GET, HEAD, PROPFIND, PROPPATCH, PUT, POST, DELETE, MKCOL, COPY, MOVE, LOCK, UNLOCK"

// options answers what may be done here. To callers that are logged in it tells what
// the kind of place takes. Others get the same answer everywhere, so that it does not
// tell what is there: clients ask before they know of a log-in.
func (d *drive) options(x *request) (*answer, error) {
	if err := x.query.only(); err != nil {
		return nil, err
	}
	allow := anyMethod
	if x.by.ID != 0 || len(x.at.Segments) < 2 {
		n, err := x.place()
		if err != nil {
			return nil, err
		}
		allow = strings.Join(allowed(n), ", ")
	}
	// Clients ask the folder that they mount, so that the class is the drive's,
	// although some places cannot be locked. Those say so in supportedlock, which
	// Office programs read.
	a := &answer{Status: http.StatusOK, Body: []byte{}}
	a.add("DAV", dav.Classes)
	a.add("MS-Author-Via", "DAV")
	a.add("Allow", allow)
	return a, nil
}

// remove answers DELETE. A folder stays: rm -r must not cancel cases.
func (d *drive) remove(x *request) (*answer, error) {
	n, err := x.place()
	if err != nil {
		return nil, err
	}
	done := &answer{Status: http.StatusNoContent}
	d.endRefused(x)
	if removed, err := d.removeOverlay(x, n); removed || err != nil {
		return done, err
	}
	target, ok := n.(remover)
	if !ok {
		return nil, x.notDeletable(n)
	}
	if err := x.query.only(target.options()...); err != nil {
		return nil, err
	}
	if err := x.wholeFolder(n); err != nil {
		return nil, err
	}
	condition, err := x.condition()
	if err != nil {
		return nil, err
	}
	req := x.engineRequest(d.Clock.Now())
	if req.If, err = x.clientCondition(x.r.Context(), x.at, n, condition); err != nil {
		return nil, err
	}
	if err := d.checkBrake(x, n); err != nil {
		return nil, err
	}
	source, err := d.deletedSource(x, n)
	if err != nil {
		return nil, err
	}
	started, canceled := d.startedBy(x, n), d.cancels(x, n)
	if err := target.remove(x.r.Context(), req, x.query); err != nil {
		return nil, err
	}
	d.noteGoesOn(x, started)
	d.noteCanceled(x, canceled)
	if source != nil {
		x.overlays.recentlyDeleted.add(x.userPath(), source, int64(len(source)))
	}
	return done, x.forgetEcho(x.r.Context())
}

// notDeletable says why a place cannot be deleted.
func (x *request) notDeletable(n node) error {
	_, isFolder := n.(folder)
	if !isFolder && x.script {
		return x.notAllowed(n)
	}
	if err := x.query.only(); err != nil {
		return err
	}
	if _, err := n.stat(x.r.Context()); err != nil {
		return err
	}
	if file, ofBoard := n.(boardFile); ofBoard && !x.script {
		return file.staysOnBoard(x.r.Context())
	}
	if !isFolder { // of a mount: davfs2 takes a 405 for done
		return errs.New(errs.NotDeletable, "This file cannot be deleted: it shows how things stand.")
	}
	switch n := n.(type) {
	case caseFolder:
		return errs.New(errs.NotDeletable, "The folder of a case stays. To give the case up, delete its file %s: that cancels an open case.", x.fileOfCase(x.r.Context(), n.id))
	case boardFolder, stateFolder:
		return errs.New(errs.NotDeletable, "The folders of a board stay: they are the states of the route. To give a case up, move it to a state that ends it, or delete its file in Cases/: that cancels an open case.")
	}
	return errs.New(errs.NotDeletable, "A folder of the workflow cannot be deleted; delete what is in it, one by one.")
}

// wholeFolder refuses to delete less of a folder than all of it (RFC 4918,
// section 9.6.1): a client that asks for less would lose the rest.
func (x *request) wholeFolder(n node) error {
	_, isFolder := n.(folder)
	for _, depth := range x.r.Header.Values("Depth") {
		if isFolder && !strings.EqualFold(depth, "infinity") {
			return errs.New(errs.BadParameter, "DELETE of a folder deletes all that is in it: Depth must be infinity, or not there, not %q.", depth)
		}
	}
	return nil
}

// mkcol answers MKCOL: below Documents/ and of a side file's name it makes a
// folder, those of the workflow are given. What exists is 405 (RFC 4918, section
// 9.3.1), on which some clients rely.
func (d *drive) mkcol(x *request) (*answer, error) {
	if err := x.query.only(); err != nil {
		return nil, err
	}
	n, err := x.place()
	if err == nil {
		if _, err = n.stat(x.r.Context()); err == nil {
			return nil, x.notAllowed(n)
		}
	}
	if !errs.Is(err, errs.NotFound) {
		return nil, err
	}
	if target, ok := n.(creator); ok {
		return d.makeFolder(x, target)
	}
	return nil, errs.New(errs.NotAllowed, "Folders cannot be made here, where they are given; make yours in Documents/%s/.", x.by.Name)
}

// makeFolder answers MKCOL at a place for it.
func (d *drive) makeFolder(x *request, n creator) (*answer, error) {
	if err := checkFolderBody(x.r); err != nil {
		return nil, err
	}
	condition, err := x.condition()
	if err != nil {
		return nil, err
	}
	req := x.engineRequest(d.Clock.Now())
	req.If = condition
	out, err := n.makeFolder(x.r.Context(), req)
	if err != nil {
		return nil, err
	}
	a := &answer{Status: http.StatusCreated}
	a.add("Location", dav.FolderHref(dav.Href(strings.TrimPrefix(out.Name, "/"))))
	return a, nil
}
