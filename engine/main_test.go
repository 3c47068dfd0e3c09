package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"flowdrive/attach"
	"flowdrive/clock"
	"flowdrive/document"
	"flowdrive/engine"
	"flowdrive/errs"
	"flowdrive/identity"
	"flowdrive/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is the instant at which worlds begin: a Friday.
const start = "2012-11-09T12:34:56Z"

// world is an engine over a real store in a folder of its own: a sandbox,
// unless a test says otherwise. A test acts as a user, does something, and
// looks.
type world struct {
	*testing.T
	dir    string
	wrap   func(engine.Store) engine.Store // nil: the store itself
	config func(*engine.Config)            // nil: as newWorld has it
	db     *sqlite.DB
	clock  *clock.Sandbox
	log    *logBook
	*engine.Engine
	stop func()
}

// newWorld opens a world with the people and routes that most tests need:
// sam and ann are in the team core, bob is in ops, eve is nobody's; core
// belongs to staff. Routes are auto and ask (everyone's), own (core's).
func newWorld(t *testing.T, options ...func(*world)) *world {
	t.Helper()
	w := emptyWorld(t, options...)
	admin := w.as("admin")
	for _, name := range []string{"sam", "ann", "bob", "eve"} {
		admin.mustPutParty(identity.User, name, `{"email": "`+name+`@example.org"}`)
	}
	admin.mustPutParty(identity.Team, "core", `{"members": ["sam", "ann"], "admins": ["ann"]}`)
	admin.mustPutParty(identity.Team, "ops", `{"members": ["bob"]}`)
	admin.mustPutParty(identity.Team, "staff", `{"members": ["core"]}`)
	admin.mustPutRoute("auto", routeAuto)
	admin.mustPutRoute("ask", routeAsk)
	w.as("ann").mustPutRoute("own", routeOwn)
	return w
}

// emptyWorld opens a world in which there are only the administrator and the
// teams of a first start.
func emptyWorld(t *testing.T, options ...func(*world)) *world {
	t.Helper()
	w := &world{T: t, dir: t.TempDir(), clock: sandboxAt(start)}
	for _, option := range options {
		option(w)
	}
	w.open()
	if _, err := w.Found(t.Context(), w.clock.Now(), "", nil); err != nil {
		t.Fatal(err)
	}
	w.load()
	return w
}

// open opens store and engine; both are closed at the end of the test.
func (w *world) open() {
	w.Helper()
	db, err := sqlite.Open(w.Context(), filepath.Join(w.dir, "flowdrive.db"), sqlite.Options{WriterCache: 2048, ReaderCache: 512})
	if err != nil {
		w.Fatal(err)
	}
	blobs, err := attach.Open(filepath.Join(w.dir, "contents"))
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.Context()))
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx) }()
	stopped := false
	w.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := errors.Join(<-ended, db.Close()); err != nil {
			w.Errorf("close the store: %v", err)
		}
	}
	w.Cleanup(w.stop)
	w.db, w.log = db, &logBook{}
	cfg := engine.Config{
		Store: db, Blobs: blobs, Clock: w.clock, Log: zerolog.New(w.log), Sandbox: true,
		HashPassword: func(password string) (string, error) { return "hash of " + password, nil },
	}
	if w.wrap != nil {
		cfg.Store = w.wrap(db)
	}
	if w.config != nil {
		w.config(&cfg)
	}
	w.Engine = engine.New(cfg)
}

func (w *world) load() {
	w.Helper()
	if err := w.Load(w.Context()); err != nil {
		w.Fatal(err)
	}
}

// reopen ends the process, as far as memory is concerned, and begins a new
// one on the same folder.
func (w *world) reopen() {
	w.Helper()
	w.stop()
	w.open()
	w.load()
}

// in returns the world for a sub-test.
func (w *world) in(t *testing.T) *world {
	t.Helper()
	inner := *w
	inner.T = t
	return &inner
}

// update writes to the store behind the engine's back.
func (w *world) update(f func(engine.Tx) error) {
	w.Helper()
	if err := w.db.Update(w.Context(), f); err != nil {
		w.Fatal(err)
	}
}

// view reads the store behind the engine's back.
func (w *world) view(f func(engine.Reader) error) {
	w.Helper()
	if err := w.db.View(w.Context(), f); err != nil {
		w.Fatal(err)
	}
}

// advance moves the clock on.
func (w *world) advance(d time.Duration) engine.Advanced {
	w.Helper()
	return w.advanceTo(w.clock.Now().Add(d).Format(time.RFC3339Nano))
}

// advanceTo moves the clock to the instant.
func (w *world) advanceTo(to string) engine.Advanced {
	w.Helper()
	done, err := w.Advance(w.Context(), instant(to), w.clock.Set)
	if err != nil {
		w.Fatal(err)
	}
	return done
}

func sandboxAt(text string) *clock.Sandbox { return clock.NewSandbox(instant(text)) }

func instant(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// cases returns the forms of all cases there are, by id.
func (w *world) cases() []form {
	w.Helper()
	var forms []form
	w.view(func(r engine.Reader) error {
		all, err := r.Cases(engine.CaseFilter{})
		for i := range all {
			forms = append(forms, w.form(all[i].Form))
		}
		return err
	})
	return forms
}

// entries returns the forms of all schedule entries there are.
func (w *world) entries() []form {
	w.Helper()
	var forms []form
	w.view(func(r engine.Reader) error {
		all, err := r.Entries(engine.EntryFilter{})
		for i := range all {
			forms = append(forms, w.form(all[i].Form))
		}
		return err
	})
	return forms
}

// form is a complete form to look into.
type form struct {
	*world
	node *document.Node
	text string
}

func (w *world) form(data []byte) form {
	w.Helper()
	node, err := document.ParseJSON(data)
	if err != nil {
		w.Fatalf("%v\n%s", err, data)
	}
	return form{w, node, string(data)}
}

// get returns what stands at a path of keys and indices, as JSON; "absent"
// for nothing.
func (f form) get(path string) string {
	n := f.node.At(strings.Split(path, "/")...)
	if n == nil {
		return "absent"
	}
	return string(n.AppendJSON(nil))
}

// wants compares what stands at paths, which alternate with the JSON wanted
// there.
func (f form) wants(pairs ...string) {
	f.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := f.get(pairs[i]); got != pairs[i+1] {
			f.Errorf("%s is %s; want %s", pairs[i], got, pairs[i+1])
		}
	}
}

// user is somebody who acts.
type user struct {
	*world
	name string
}

func (w *world) as(name string) user { return user{w, name} }

// by returns the principal, with the contexts of this moment.
func (u user) by() identity.Principal {
	id := u.PartyID(u.name)
	if id == 0 {
		u.Fatalf("there is no %s", u.name)
	}
	return u.Principal(id)
}

func (u user) id() identity.ID { return u.by().ID }

// option changes a request.
type option func(*engine.Request)

// onlyIf makes a request conditional on what is stored.
func onlyIf(what string, holds func(engine.Version) bool) option {
	return func(req *engine.Request) {
		req.If = func(v engine.Version) error {
			if holds(v) {
				return nil
			}
			return errs.New(errs.Precondition, "It is not so: %s.", what)
		}
	}
}

// ifMatch is an If-Match, as the drive judges it.
func ifMatch(etag string) option {
	return onlyIf("If-Match: "+etag, func(v engine.Version) bool {
		return v.Exists && (v.ETag == etag || v.Definition != "" && strings.HasPrefix(etag, v.Definition))
	})
}

// ifNew is If-None-Match: *.
func ifNew() option {
	return onlyIf("If-None-Match: *", func(v engine.Version) bool { return !v.Exists })
}

// withKey gives a request an idempotency key; its answer is the identity.
func withKey(key, url, body string) option {
	return func(req *engine.Request) {
		req.Key = keyOf(key, url, body)
		req.Answer = func(o *engine.Outcome) []byte { return []byte(o.Name) }
	}
}

func keyOf(key, url, body string) *engine.IdempotencyKey {
	k := &engine.IdempotencyKey{Key: key}
	copy(k.URL[:], url)
	copy(k.Request[:], body)
	return k
}

func (u user) request(options []option) engine.Request {
	req := engine.Request{By: u.by(), Now: u.clock.Now()}
	for _, o := range options {
		o(&req)
	}
	return req
}

// ref reads a file name as the drive does.
func (u user) ref(name string) engine.Ref {
	stem, ext, _ := strings.Cut(name, ".")
	if uuid, ok := engine.ParseUUID(stem); ok {
		return engine.Ref{Entry: uuid}
	}
	if id, err := strconv.ParseInt(stem, 10, 64); err == nil {
		return engine.Ref{CaseID: id}
	}
	if name == "" {
		return engine.Ref{}
	}
	if own, author, found := strings.Cut(stem, "@"); found {
		return engine.Ref{Author: u.PartyID(author), Name: own + "." + ext}
	}
	return engine.Ref{Author: u.id(), Name: name}
}

func (u user) putEntry(name, doc string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.PutEntry(u.Context(), u.request(options), u.ref(name), []byte(doc))
}

func (u user) mustPutEntry(name, doc string, options ...option) *engine.Outcome {
	u.Helper()
	return try(u.putEntry(name, doc, options...)).must(u.world, "PUT of the entry "+name)
}

func (u user) deleteEntry(name string, options ...option) error {
	return u.DeleteEntry(u.Context(), u.request(options), u.ref(name))
}

// entry returns the complete form of an entry.
func (u user) entry(name string) form {
	u.Helper()
	return u.form(u.entryResource(name).Form)
}

func (u user) entryResource(name string) *engine.Resource {
	u.Helper()
	return try(u.Entry(u.Context(), u.by(), u.ref(name))).must(u.world, "GET of the entry "+name)
}

// occurrences returns the outcome and instant of each occurrence, newest
// first.
func (u user) occurrences(uuid string) []string {
	u.Helper()
	res := try(u.Occurrences(u.Context(), u.by(), u.ref(uuid).Entry)).must(u.world, "GET of the occurrences")
	list := u.form(res.Form)
	out := []string{}
	for i := range list.node.Items {
		at := strconv.Itoa(i)
		out = append(out, unquote(list.get(at+"/outcome"))+" "+unquote(list.get(at+"/instant")))
	}
	return out
}

func unquote(s string) string { return strings.Trim(s, `"`) }

func (u user) putCase(name, doc string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.PutCase(u.Context(), u.request(options), u.ref(name), []byte(doc))
}

func (u user) mustPutCase(name, doc string, options ...option) *engine.Outcome {
	u.Helper()
	return try(u.putCase(name, doc, options...)).must(u.world, "PUT of the case "+name)
}

// startCase starts a case and returns its id.
func (u user) startCase(doc string) int64 {
	u.Helper()
	return u.mustPutCase("", doc).CaseID
}

func (u user) deleteCase(name string, options ...option) error {
	return u.DeleteCase(u.Context(), u.request(options), u.ref(name))
}

func (u user) caseResource(name string) *engine.Resource {
	u.Helper()
	return try(u.Case(u.Context(), u.by(), u.ref(name))).must(u.world, "GET of the case "+name)
}

// caseForm returns the complete form of a case.
func (u user) caseForm(id int64) form {
	u.Helper()
	return u.form(u.caseResource(strconv.FormatInt(id, 10)).Form)
}

func (u user) perform(id int64, action, doc string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.Perform(u.Context(), u.request(options), id, action, []byte(doc))
}

func (u user) mustPerform(id int64, action string) *engine.Outcome {
	u.Helper()
	return try(u.perform(id, action, `{}`)).must(u.world, "performing "+action)
}

func (u user) putLabel(id int64, label, content string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.PutLabel(u.Context(), u.request(options), id, label, "text/plain", strings.NewReader(content))
}

func (u user) putRoute(name, doc string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.PutRoute(u.Context(), u.request(options), name, true, []byte(doc))
}

func (u user) mustPutRoute(name, doc string, options ...option) *engine.Outcome {
	u.Helper()
	return try(u.putRoute(name, doc, options...)).must(u.world, "PUT of the route "+name)
}

func (u user) deleteRoute(name string, options ...option) error {
	return u.DeleteRoute(u.Context(), u.request(options), name, false)
}

// routeID returns the id of a route.
func (u user) routeID(name string) string {
	u.Helper()
	res := try(u.Route(u.Context(), u.by(), name)).must(u.world, "GET of the route "+name)
	return u.form(res.Form).get("id")
}

func (u user) putParty(kind identity.Kind, name, doc string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.PutParty(u.Context(), u.request(options), kind, name, []byte(doc))
}

func (u user) mustPutParty(kind identity.Kind, name, doc string, options ...option) *engine.Outcome {
	u.Helper()
	return try(u.putParty(kind, name, doc, options...)).must(u.world, "PUT of the "+string(kind)+" "+name)
}

// logTexts returns what the log of a case says, "kind: text" each.
func (u user) logTexts(id int64) []string {
	u.Helper()
	res := try(u.CaseLog(u.Context(), u.by(), id)).must(u.world, "GET of the log")
	log := u.form(res.Form)
	var out []string
	for i := range log.node.Items {
		at := strconv.Itoa(i)
		out = append(out, unquote(log.get(at+"/kind"))+": "+unquote(log.get(at+"/text")))
	}
	return out
}

// attempt is what came of something that can fail.
type attempt[T any] struct {
	value T
	err   error
}

func try[T any](value T, err error) attempt[T] { return attempt[T]{value, err} }

// must returns the value, and ends the test where there is an error.
func (a attempt[T]) must(w *world, what string) T {
	w.Helper()
	if a.err != nil {
		w.Fatalf("%s: %v", what, a.err)
	}
	return a.value
}

// refused wants an error of the kind, and exactly these faults, "pointer
// code" each.
func (w *world) refused(err error, kind errs.Kind, faults ...string) {
	w.Helper()
	if err == nil {
		w.Errorf("nothing is wrong; want %s", kind)
		return
	}
	if got := errs.KindOf(err); got != kind {
		w.Errorf("got %s (%v); want %s", got, err, kind)
		return
	}
	if len(faults) == 0 {
		return
	}
	if diff := cmp.Diff(faults, faultsOf(err)); diff != "" {
		w.Errorf("faults (-want +got):\n%s", diff)
	}
}

func faultsOf(err error) []string {
	var out []string
	if e, ok := errors.AsType[*errs.Error](err); ok {
		for _, f := range e.Faults {
			out = append(out, f.Pointer+" "+string(f.Code))
		}
	}
	return out
}

// same compares two things.
func same[T any](tb testing.TB, what string, got, want T) {
	tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// logBook keeps what the engine logs.
type logBook struct {
	mu    sync.Mutex
	lines []string
}

// Write implements io.Writer.
func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(p))
	return len(p), nil
}

// count returns how many lines hold the text.
func (l *logBook) count(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// names returns the names of resources.
func names(resources []engine.Resource, err error) string {
	if err != nil {
		return fmt.Sprint(err)
	}
	out := make([]string, len(resources))
	for i := range resources {
		out[i] = resources[i].Name
	}
	return strings.Join(out, " ")
}
