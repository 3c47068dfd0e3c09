package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"flowdrive/attach"
	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is the instant at which worlds begin: a Friday.
const start = "2012-11-09T12:34:56Z"

// world is an engine over a real store of its own: a sandbox,
// unless a test says otherwise. A test acts as a user, does something, and
// looks.
type world struct {
	*testing.T
	dir    string
	wrap   func(store.Store) store.Store // nil: the store itself
	config func(*engine.Config)          // nil: as newWorld has it
	place  storetest.Place
	db     *storetest.DB
	clock  *clock.Sandbox
	log    *logBook
	*engine.Engine
	stop func()

	mayBeUnsound bool // what is stored is changed behind the back of the engine
}

// newWorld opens a world with the people and routes that most tests need:
// sam and ann are in the team core, bob is in ops, eve is nobody's; core
// belongs to staff. Routes are auto and ask (everyone's), own (core's).
func newWorld(t *testing.T, options ...func(*world)) *world {
	t.Helper()
	return worldOn(t, true, options)
}

// emptyWorld opens a world in which there are only the administrator and the
// teams of a first start.
func emptyWorld(t *testing.T, options ...func(*world)) *world {
	t.Helper()
	return worldOn(t, false, options)
}

// people stores what newWorld promises.
func (w *world) people() {
	w.Helper()
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
}

// open opens store and engine; both are closed at the end of the test.
func (w *world) open() {
	w.Helper()
	db, err := w.place.Open(w.Context())
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
		if wrong, err := unsound(db); !w.mayBeUnsound && (err != nil || len(wrong) > 0) {
			w.Errorf("what is stored is wrong: %v\n%s", err, strings.Join(wrong, "\n"))
		}
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
		Limits:       engine.Limits{VersionsLast: -1}, // so that what is deleted is gone at once
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
func (w *world) update(f func(store.Tx) error) {
	w.Helper()
	if err := w.db.Update(w.Context(), f); err != nil {
		w.Fatal(err)
	}
}

// view reads the store behind the engine's back.
func (w *world) view(f func(store.Reader) error) {
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
func (w *world) advanceTo(at string) engine.Advanced {
	w.Helper()
	done, err := w.Advance(w.Context(), to(instant(at)), w.clock.Set)
	if err != nil {
		w.Fatal(err)
	}
	return done
}

// to leads a move of the clock to the instant, wherever it begins.
func to(at time.Time) func(time.Time) (time.Time, error) {
	return func(time.Time) (time.Time, error) { return at, nil }
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
	w.view(func(r store.Reader) error {
		all, err := r.Cases().List(store.CaseFilter{})
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
	w.view(func(r store.Reader) error {
		all, err := r.Entries().List(store.EntryFilter{})
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

// indented returns a complete form as it is written.
func indented(form string) string { return string(document.Indent([]byte(form + "\n"))) }

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
