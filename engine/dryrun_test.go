package engine_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"flowdrive/engine"
	"flowdrive/engine/contents"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// tally is a store that counts what becomes durable, and ids that are given.
type tally struct {
	store.Store
	mu           sync.Mutex
	commits, ids int
}

func (s *tally) Update(ctx context.Context, f func(store.Tx) error) error {
	err := s.Store.Update(ctx, f)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.commits++
	}
	return err
}

func (s *tally) NextID() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return s.Store.NextID()
}

// reset forgets what was counted, and returns it.
func (s *tally) reset() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := fmt.Sprintf("%d commits, %d ids", s.commits, s.ids)
	s.commits, s.ids = 0, 0
	return out
}

const nothing = "0 commits, 0 ids"

// listener counts what metrics are told.
type listener struct{ told int }

func (l *listener) Fired(engine.Firing) { l.told++ }
func (l *listener) Performed(string)    { l.told++ }
func (l *listener) CaseStarted()        { l.told++ }
func (l *listener) CaseEnded(string)    { l.told++ }
func (l *listener) Failed(string)       { l.told++ }

func dryRun() option { return func(req *engine.Request) { req.DryRun = true } }

// uuids are what two runs of the same request may differ in.
var uuids = regexp.MustCompile(`[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}`)

// TestDryRun rehearses everything that can be PUT and then does it: the
// rehearsal stores nothing, gives no id, tells nobody, and has foretold the
// form.
func TestDryRun(t *testing.T) {
	t.Parallel()
	tallied, metrics := &tally{}, &listener{}
	w := newWorld(t, checksPasswords, overStore(func(s store.Store) store.Store { tallied.Store = s; return tallied }), func(w *world) {
		config := w.config
		w.config = func(c *engine.Config) { config(c); c.Observer = metrics }
	})
	admin, sam := w.as("admin"), w.as("sam")
	large := strings.Repeat("large ", 10_000)
	entry := sam.mustPutEntry("", every).Name + ".json"
	sam.mustPutEntry("kept.json", every)
	open := sam.startCase(`{"route": "ask"}`)
	other := fmt.Sprint(sam.startCase(`{"route": "ask"}`)) + ".json"
	w.kind("a label", try(sam.putLabel(open, "old", large)).err, "")
	path := engine.DocumentPath{"sam", "a.txt"}
	for _, tt := range []struct {
		what string
		put  func(options ...option) (*engine.Outcome, error)
	}{
		{"an entry", func(o ...option) (*engine.Outcome, error) { return sam.putEntry("nightly.json", every, o...) }},
		{"an entry again", func(o ...option) (*engine.Outcome, error) { return sam.putEntry("kept.json", far, o...) }},
		{"an entry by identity", func(o ...option) (*engine.Outcome, error) { return sam.putEntry(entry, far, o...) }},
		{"a case", func(o ...option) (*engine.Outcome, error) { return sam.putCase("mine.json", `{"route": "ask"}`, o...) }},
		{"a case that ends", func(o ...option) (*engine.Outcome, error) { return sam.putCase("", `{"route": "auto"}`, o...) }},
		{"a change of a case", func(o ...option) (*engine.Outcome, error) { return sam.putCase(other, `{"title": "Other"}`, o...) }},
		{"a label", func(o ...option) (*engine.Outcome, error) { return sam.putLabel(open, "report", "x", o...) }},
		{"a large label", func(o ...option) (*engine.Outcome, error) { return sam.putLabel(open, "old", large+"!", o...) }},
		{"an action", func(o ...option) (*engine.Outcome, error) {
			return sam.perform(open, "answer", `{"comment": "x"}`, o...)
		}},
		{"an end", func(o ...option) (*engine.Outcome, error) { return sam.perform(open, "close", `{}`, o...) }},
		{"a cancellation", func(o ...option) (*engine.Outcome, error) { return admin.putCase(other, `{"state": "canceled"}`, o...) }},
		{"a dropped file", func(o ...option) (*engine.Outcome, error) { return sam.drop("ask", "a", "x", nil, o...) }},
		{"a large dropped file", func(o ...option) (*engine.Outcome, error) { return sam.drop("ask", "a", large+"?", nil, o...) }},
		{"a route", func(o ...option) (*engine.Outcome, error) { return sam.putRoute("new", routeTimed, o...) }},
		{"a route's next version", func(o ...option) (*engine.Outcome, error) { return sam.putRoute("new", routeAuto, o...) }},
		{"a user", func(o ...option) (*engine.Outcome, error) {
			return admin.putParty(identity.User, "dan", `{"password": "a long one"}`, o...)
		}},
		{"a team", func(o ...option) (*engine.Outcome, error) {
			return admin.putParty(identity.Team, "crew", `{"members": ["bob"]}`, o...)
		}},
		{"a change of a team", func(o ...option) (*engine.Outcome, error) {
			return admin.putParty(identity.Team, "crew", `{"members": []}`, o...)
		}},
		{"oneself", func(o ...option) (*engine.Outcome, error) { return sam.putMe(`{"fullName": "Sam"}`, o...) }},
		{"an app password", func(o ...option) (*engine.Outcome, error) { return sam.putApp("phone", `{}`, o...) }},
		{"an attachment", func(o ...option) (*engine.Outcome, error) {
			return w.Attachments.PutAttachment(t.Context(), sam.request(o), engine.NewAttachment{Name: "a", Size: -1}, strings.NewReader(large+"."))
		}},
	} {
		before, _ := w.files()
		next, told, spied := w.db.PeekID(), metrics.told, tallied.reset()
		dry, err := tt.put(dryRun())
		if err != nil {
			t.Errorf("%s: %v", tt.what, err)
			continue
		}
		if got := tallied.reset(); got != nothing {
			t.Errorf("%s: rehearsed, %s (after %s)", tt.what, got, spied)
		}
		if after, spooled := w.files(); len(after) != len(before) || spooled != 0 || metrics.told != told || w.db.PeekID() != next {
			t.Errorf("%s: rehearsed, %d contents and %d without name, was %d; told %d, was %d", tt.what, len(after), spooled, len(before), metrics.told, told)
		}
		done, err := tt.put()
		if err != nil {
			t.Errorf("%s, in earnest: %v", tt.what, err)
			continue
		}
		same(t, tt.what, uuids.ReplaceAllString(string(dry.Form), "UUID"), uuids.ReplaceAllString(string(done.Form), "UUID"))
		if dry.Created != done.Created || strings.Contains(string(dry.Form), "password\":") || strings.Contains(string(dry.Form), "secret") {
			t.Errorf("%s: rehearsed %+v", tt.what, dry)
		}
	}
	tallied.reset()
	up := contents.Upload{Size: -1, Body: strings.NewReader(large + ",")}
	dry := try(w.Files.PutDocument(t.Context(), sam.request([]option{dryRun()}), path, up)).must(w, "a document")
	w.form(dry.Form).wants("name", `"a.txt"`, "type", `"text/plain"`, "size", fmt.Sprint(len(large)+1))
	same(t, "a document", tallied.reset(), nothing)
}

// TestDryRunChecks: a rehearsal fails as the request would, also by what only
// the transaction can tell.
func TestDryRunChecks(t *testing.T) {
	t.Parallel()
	tallied := &tally{}
	w := newWorld(t, overStore(func(s store.Store) store.Store { tallied.Store = s; return tallied }), func(w *world) {
		w.config = func(c *engine.Config) { c.Limits.OpenCases, c.Limits.Quota = 1, 10 }
	})
	admin, sam, bob := w.as("admin"), w.as("sam"), w.as("bob")
	open := sam.startCase(`{"route": "ask"}`)
	tallied.reset()
	for what, tt := range map[string]struct {
		err  error
		want errs.Kind
	}{
		"faults":               {try(sam.putEntry("", `{"type": 1}`, dryRun())).err, errs.Invalid},
		"a context":            {try(sam.putEntry("", strings.Replace(every, "{", `{"context": "ops", `, 1), dryRun())).err, errs.ContextNotAvailable},
		"a condition":          {try(sam.putEntry("x.json", every, dryRun(), ifMatch(`"x"`))).err, errs.Precondition},
		"a limit":              {try(sam.putCase("", `{"route": "ask"}`, dryRun())).err, errs.TooMany},
		"a right":              {try(w.as("ann").perform(open, "audit", `{}`, dryRun())).err, errs.NotAllowed},
		"what is not enabled":  {try(sam.perform(open, "close", `{}`, dryRun())).err, errs.ActionNotEnabled},
		"what is not seen":     {try(bob.putRoute("own", routeOwn, dryRun())).err, errs.NameTaken},
		"a name in use":        {try(admin.putParty(identity.User, "core", `{}`, dryRun())).err, errs.NameTaken},
		"a quota":              {try(bob.drop("ask", "x", "01234567890", nil, dryRun())).err, errs.Full},
		"a quota of a message": {try(bob.putCase("", `{"route": "ask", "input": "01234567890"}`, dryRun())).err, errs.Full},
		"a route":              {try(bob.drop("own", "x", "", nil, dryRun())).err, errs.NotFound},
	} {
		w.kind(what, tt.err, tt.want)
	}
	same(t, "afterwards", tallied.reset(), nothing)
}

// TestDryRunKeepsNoAnswer: the key of a rehearsal is free.
func TestDryRunKeepsNoAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	key := withKey("k", "url", "body")
	for range 2 {
		sam.mustPutCase("", `{"route": "ask"}`, dryRun(), key)
	}
	kept, err := w.Replay(t.Context(), sam.by(), *keyOf("k", "url", "body"))
	if kept != nil || err != nil {
		t.Errorf("kept %q, %v", kept, err)
	}
	if n := len(w.cases()); n != 0 {
		t.Errorf("%d cases", n)
	}
}

// TestDryRunOfRoute: what was only rehearsed is no version of the route, not
// in memory either.
func TestDryRunOfRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	rehearsed := strings.Replace(routeAsk, "title: Question", "title: Rehearsed", 1)
	try(admin.putRoute("ask", rehearsed, dryRun())).must(w, "the rehearsal")
	admin.mustPutRoute("ask", strings.Replace(routeAsk, "title: Question", "title: Performed", 1))
	sam.caseForm(sam.startCase(`{"route": "ask"}`)).wants("routeVersion", "2", "title", `"Performed"`)
}

// TestDryRunBesideOthers: the id that a rehearsal shows may be given before
// it is there; then it shows the next.
func TestDryRunBesideOthers(t *testing.T) {
	t.Parallel()
	m := &meddler{}
	w := newWorld(t, overStore(func(s store.Store) store.Store { m.Store = s; return m }))
	sam := w.as("sam")
	for what, put := range map[string]func() (*engine.Outcome, error){
		"a case":         func() (*engine.Outcome, error) { return sam.putCase("", `{"route": "ask"}`, dryRun()) },
		"a dropped file": func() (*engine.Outcome, error) { return sam.drop("ask", "x", "x", nil, dryRun()) },
	} {
		n := len(w.cases())
		m.meddle = func() { w.as("ann").startCase(`{"route": "ask"}`) }
		dry := try(put()).must(w, what)
		w.form(dry.Form).wants("id", fmt.Sprint(w.db.PeekID()))
		if now := len(w.cases()); now != n+1 {
			t.Errorf("%s: %d cases, were %d", what, now, n)
		}
	}
}
