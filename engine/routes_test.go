package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

func TestRouteVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	first := "title: One\n" + plainStates
	out := sam.mustPutRoute("mine", first)
	if !out.Created || !out.Changed || out.Name != "mine" {
		t.Errorf("%+v", out)
	}
	res := try(w.Routes.Route(t.Context(), sam.by(), "MINE")).must(w, "the route")
	same(t, "source", string(res.Source), first)
	same(t, "ETag", out.ETag, res.SourceETag)
	form := w.form(res.Form)
	form.wants("name", `"mine"`, "title", `"One"`, "version", "1", "author", `"sam"`, "context", `"sam"`, "created", `"`+start+`"`)

	// Equal content makes no version; other bytes are stored all the same.
	w.advance(1e9)
	again := sam.mustPutRoute("mine", first)
	if again.Created || again.Changed || again.FormETag != out.FormETag || !again.Modified.Equal(out.Modified) {
		t.Errorf("the same bytes: %+v", again)
	}
	commented := "# With a comment\n" + first
	again = sam.mustPutRoute("mine", commented)
	if again.Changed || again.FormETag != out.FormETag || again.ETag == out.ETag {
		t.Errorf("the same content: %+v", again)
	}
	same(t, "the form, whose ETag stayed", string(again.Form), string(out.Form))
	same(t, "source", string(try(w.Routes.Route(t.Context(), sam.by(), "mine")).must(w, "the route").Source), commented)
	json := `{"title": "One", "states": {"open": {"type": "start"}, "done": {"type": "complete"}}, "actions": {"begin": {"trigger": "init"}, "finish": {"trigger": "auto", "in": ["open"], "to": "done"}}}`
	asJSON := try(w.Routes.PutRoute(t.Context(), sam.request(nil), "Mine", false, []byte(json))).must(w, "as JSON")
	same(t, "in another language", fmt.Sprint(asJSON.Changed, asJSON.Name, asJSON.FormETag == out.FormETag), "falseminetrue")

	changed := sam.mustPutRoute("mine", strings.Replace(first, "One", "Two", 1))
	if !changed.Changed || changed.FormETag == out.FormETag {
		t.Errorf("other content: %+v", changed)
	}
	sam.mustPutRoute("mine", first)
	versions := try(w.Routes.RouteVersions(t.Context(), sam.by(), "mine")).must(w, "versions")
	same(t, "versions", names(versions, nil), "1 2 3")
	for i, title := range []string{"One", "Two", "One"} {
		w.form(versions[i].Form).wants("title", `"`+title+`"`, "version", fmt.Sprint(i+1))
	}
	same(t, "the first version's form", string(versions[0].Form), string(out.Form))

	// Running cases keep theirs.
	w.as("ann").mustPutRoute("own", strings.Replace(routeOwn, "to: closed", "to: closed, title: Finish", 1))
	id := sam.startCase(`{"route": "own"}`)
	w.as("ann").mustPutRoute("own", strings.Replace(routeOwn, "  end: {in", "  stop: {in", 1))
	later := sam.startCase(`{"route": "own"}`)
	w.reopen()
	sam = w.as("sam")
	sam.caseForm(id).wants("enabledActions", `["end"]`, "routeVersion", "2")
	sam.caseForm(later).wants("enabledActions", `["stop"]`, "routeVersion", "3")
	sam.mustPerform(id, "end")
	sam.mustPerform(later, "stop")
}

func TestRouteRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann, bob, admin := w.as("sam"), w.as("ann"), w.as("bob"), w.as("admin")
	for _, test := range []struct {
		who, name, doc string
		want           errs.Kind
	}{
		{"sam", "a", plainStates, ""},
		{"ann", "b", "context: core\n" + plainStates, ""},
		{"sam", "c", "context: core\n" + plainStates, errs.ContextNotAvailable}, // a member is no admin
		{"sam", "c", "context: bob\n" + plainStates, errs.ContextNotAvailable},
		{"sam", "c", "context: nothere\n" + plainStates, errs.ContextNotAvailable},
		{"sam", "c", "context: everyone\n" + plainStates, errs.ContextNotAvailable},
		{"admin", "d", "context: core\n" + plainStates, ""},
		{"admin", "e", "context: everyone\n" + plainStates, ""},
		// Names are unique, whether or not one sees who has them.
		{"bob", "A", plainStates, errs.NameTaken},
		{"bob", "own", plainStates, errs.NameTaken},
		{"bob", "own", "actions: [", errs.NotParseable}, // told first, as of any other name
		{"bob", "own", "states: {open: {}}\nactions: {}\n", errs.Invalid},
		{"bob", "ask", plainStates, errs.NotAllowed},
		{"sam", "b", plainStates, errs.NotAllowed},
		{"sam", "f", "states: {open: {}}\nactions: {}\n", errs.Invalid},
		{"sam", "f", "actions: [", errs.NotParseable},
		{"sam", "f", "name: g\n" + plainStates, errs.Invalid},
	} {
		_, err := w.as(test.who).putRoute(test.name, test.doc)
		if got := errs.KindOf(err); got != test.want {
			t.Errorf("%s stores %s:\n%s\n%v; want %q", test.who, test.name, test.doc, err, test.want)
		}
	}
	same(t, "routes", names(w.Routes.Routes(t.Context(), admin.by(), engine.Filter{})), "auto ask own a b d e")
	same(t, "bob's", names(w.Routes.Routes(t.Context(), bob.by(), engine.Filter{})), "auto ask e")
	same(t, "sam's", names(w.Routes.Routes(t.Context(), sam.by(), engine.Filter{Context: "core"})), "own b d")
	same(t, "a page", names(w.Routes.Routes(t.Context(), admin.by(), engine.Filter{Limit: 2, Query: "question"})), "ask")

	// Who is named may change it, and read it; a new owner is one's own.
	ann.mustPutRoute("b", "context: core\naccess: {admin: [bob], read: [eve]}\n"+plainStates)
	bob.mustPutRoute("b", "context: core\ntitle: By bob\naccess: {admin: [bob], read: [eve]}\n"+plainStates)
	w.form(try(w.Routes.Route(t.Context(), w.as("eve").by(), "b")).must(w, "eve's look").Form).wants("title", `"By bob"`, "author", `"ann"`, "context", `"core"`)
	_, err := w.as("eve").putRoute("b", plainStates)
	w.refused(err, errs.NotAllowed)
	bob.mustPutRoute("b", "context: bob\ntitle: By bob\naccess: {admin: [bob]}\n"+plainStates)
	w.refused(try(w.Routes.Route(t.Context(), sam.by(), "b")).err, errs.NotFound)
	w.refused(sam.deleteRoute("b"), errs.NotFound)
	w.refused(sam.deleteRoute("auto"), errs.NotAllowed)
	if err := bob.deleteRoute("B"); err != nil {
		t.Error(err)
	}
}

func TestRouteConditionsAndLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.config = func(c *engine.Config) { c.Limits.Routes = 3 } })
	sam := w.as("sam")
	_, err := sam.putRoute("mine", plainStates, ifMatch(`"x"`))
	w.refused(err, errs.Precondition)
	out := sam.mustPutRoute("mine", plainStates, ifNew())
	_, err = sam.putRoute("mine", "[", ifNew())
	w.refused(err, errs.Precondition)
	sam.mustPutRoute("mine", "# A comment\n"+plainStates, ifMatch(out.ETag))
	_, err = sam.putRoute("mine", plainStates, ifMatch(out.ETag))
	w.refused(err, errs.Precondition)
	sam.mustPutRoute("mine", "title: X\n"+plainStates, ifMatch(out.FormETag)) // the definition stood
	_, err = sam.putRoute("mine", plainStates, ifMatch(out.FormETag))
	w.refused(err, errs.Precondition)
	w.refused(sam.deleteRoute("mine", ifMatch(out.FormETag)), errs.Precondition)

	sam.mustPutRoute("two", plainStates)
	sam.mustPutRoute("three", plainStates)
	_, err = sam.putRoute("four", plainStates)
	w.refused(err, errs.TooMany)
	sam.mustPutRoute("three", "title: X\n"+plainStates)
	if err := sam.deleteRoute("two"); err != nil {
		t.Fatal(err)
	}
	sam.mustPutRoute("four", plainStates)
}

// A route that something uses stays; one that nothing uses goes, and its
// name is free.
func TestDeleteRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("ann")
	id := ann.startCase(`{"route": "own"}`)
	entry := ann.mustPutEntry("e.json", `{"type": "interval", "minutes": 2, "route": "own"}`)
	err := ann.deleteRoute("own")
	w.refused(err, errs.InUse)
	if !strings.Contains(err.Error(), `the schedule entry "e.json", the case 13 "own"`) || !strings.Contains(err.Error(), "?force") {
		t.Error(err)
	}
	if err := ann.deleteEntry(entry.Name + ".json"); err != nil {
		t.Fatal(err)
	}
	w.refused(ann.deleteRoute("own"), errs.InUse)
	ann.mustPerform(id, "end")
	if err := ann.deleteRoute("own"); err != nil {
		t.Fatal(err)
	}
	w.refused(ann.deleteRoute("own"), errs.NotFound)
	_, err = ann.putCase("", `{"route": "own"}`)
	w.refused(err, errs.Invalid, "/route not-found")
	// An ended case goes on to be read, and its route's admins are only the
	// administrators.
	ann.caseForm(id).wants("state", `"completed"`)
	same(t, "log", len(ann.logTexts(id)), 4)
	try(w.Cases.Tasks(t.Context(), ann.by(), id)).must(w, "tasks")
	out := w.as("bob").mustPutRoute("own", plainStates)
	if !out.Created {
		t.Error("the name of a deleted route is taken")
	}
	w.form(out.Form).wants("version", "1")
	w.reopen()
	w.as("ann").caseForm(id).wants("state", `"completed"`)
	w.as("bob").startCase(`{"route": "own"}`)
}

// Warnings name whoever does not exist yet, and do not stop anybody.
func TestRouteWarnings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out := w.as("sam").mustPutRoute("w", strings.Replace(routeAsk, "team:core", "team:nobody", 1))
	if warnings := w.form(out.Form).get("warnings"); !strings.Contains(warnings, "nobody") {
		t.Errorf("warnings: %s", warnings)
	}
	w.as("sam").caseForm(w.as("sam").startCase(`{"route": "w"}`)).wants("roles/helper", "[]")
}

// TestOwnersRouteWarned: a route that only its owner may start says so, and what to add.
// One of a team, one that says who may start it, and a child of another say nothing.
func TestOwnersRouteWarned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const says = "only sam may start cases"
	for _, test := range []struct {
		who, name, doc string
		warned         bool
	}{
		{"sam", "mine", plainStates, true},
		{"sam", "mine", "title: Again\n" + plainStates, true},
		{"sam", "mine", "access: {read: [everyone]}\n" + plainStates, true},
		{"sam", "mine", "access: {start: [sam]}\n" + plainStates, false},
		{"sam", "all", "access: {start: [everyone]}\n" + plainStates, false},
		{"sam", "none", "access: {start: []}\n" + plainStates, false},
		{"ann", "teams", "context: core\n" + plainStates, false},
		{"sam", "part", plainStates, true},
		{"sam", "whole", "access: {start: [everyone]}\n" + strings.Replace(plainStates, "trigger: auto, in: [open]", "in: [open], child: {route: part}", 1), false},
		{"sam", "part", "title: A part\n" + plainStates, false},
	} {
		out := w.as(test.who).mustPutRoute(test.name, test.doc)
		if got := strings.Contains(w.form(out.Form).get("warnings"), says); got != test.warned {
			t.Errorf("%s, %q: warned is %t; want %t\n%s", test.name, test.doc, got, test.warned, w.form(out.Form).get("warnings"))
		}
	}
	// A new name does not make others able to start it.
	out := try(w.Routes.RenameRoute(t.Context(), w.as("admin").request(nil), "all", "every")).must(w, "rename")
	w.form(out.Form).wants("warnings", "[]")
}

// Writers of one route at once: each replaces what was there, none is lost,
// and what is in memory agrees with what is stored.
func TestConcurrentRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	const writers = 16
	outs := make([]*engine.Outcome, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			var err error
			if outs[i], err = sam.putRoute("mine", fmt.Sprintf("title: T%d\n%s", i, plainStates)); err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
		})
		wg.Go(func() {
			if _, err := sam.putRoute(fmt.Sprintf("other%d", i), plainStates); err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	created := 0
	for _, o := range outs {
		if o != nil && o.Created {
			created++
		}
	}
	same(t, "created", created, 1)
	same(t, "versions", len(try(w.Routes.RouteVersions(t.Context(), sam.by(), "mine")).must(w, "versions")), writers)
	same(t, "routes", len(try(w.Routes.Routes(t.Context(), sam.by(), engine.Filter{})).must(w, "routes")), 3+1+writers)
	title := w.form(try(w.Routes.Route(t.Context(), sam.by(), "mine")).must(w, "the route").Form).get("title")
	sam.caseForm(sam.startCase(`{"route": "mine"}`)).wants("title", title, "routeVersion", fmt.Sprint(writers))

	// Two who want the same name: one has it.
	failed := [2]error{}
	for i, who := range []string{"ann", "bob"} {
		wg.Go(func() { _, failed[i] = w.as(who).putRoute("wanted", plainStates) })
	}
	wg.Wait()
	if (failed[0] == nil) == (failed[1] == nil) {
		t.Errorf("ann: %v, bob: %v", failed[0], failed[1])
	}
	for _, err := range failed {
		if err != nil {
			w.refused(err, errs.NameTaken)
		}
	}
}

// A version that was rolled back is not what its number means later.
func TestRolledBackRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutRoute("mine", "title: One\n"+plainStates)
	const body = "x"
	sam.mustPutEntry("", every, withKey("k", "/", body))
	_, err := sam.putRoute("mine", "title: Wrong\n"+plainStates, withKey("k", "/", body)) // the key is used
	w.refused(err, errs.NameTaken)
	sam.mustPutRoute("mine", "title: Two\n"+plainStates)
	sam.caseForm(sam.startCase(`{"route": "mine"}`)).wants("title", `"Two"`, "routeVersion", "2")
}

// The first start, which may be cut short.
func TestFound(t *testing.T) {
	t.Parallel()
	examples := []engine.Example{
		{Name: "one", YAML: true, Source: []byte("access: {start: [everyone]}\n" + plainStates)},
		{Name: "two", YAML: true, Source: []byte("access: {start: [everyone]}\n" + plainStates)},
	}
	s := &spy{}
	dir := t.TempDir()
	w := &world{T: t, dir: dir, place: storetest.NewPlace(t, dir), clock: sandboxAt(start)}
	spied(s)(w)
	w.open()
	if empty, err := w.Empty(t.Context()); !empty || err != nil {
		t.Errorf("empty: %t, %v", empty, err)
	}
	routes := 0
	s.before = func(wr write) error {
		if wr.method == "PutRoute" {
			if routes++; routes == 2 {
				return unavailable()
			}
		}
		return nil
	}
	founded, err := w.Found(t.Context(), w.clock.Now(), "hash", examples)
	if !founded || err == nil {
		t.Errorf("founded: %t, %v", founded, err)
	}
	s.before = nil
	w.reopen()
	founded, err = w.Found(t.Context(), w.clock.Now(), "other", examples)
	if founded || err != nil {
		t.Errorf("founded: %t, %v", founded, err)
	}
	admin := w.as("admin")
	same(t, "routes", names(w.Routes.Routes(t.Context(), admin.by(), engine.Filter{})), "one two")
	same(t, "users", names(w.Accounts.Parties(t.Context(), admin.by(), identity.User)), "admin")
	same(t, "teams", names(w.Accounts.Parties(t.Context(), admin.by(), identity.Team)), "everyone core")
	_, hash, disabled, ok := w.Accounts.Account("ADMIN")
	same(t, "the account", fmt.Sprint(hash, disabled, ok), "hashfalse true")
	if empty, err := w.Empty(t.Context()); empty || err != nil {
		t.Errorf("empty: %t, %v", empty, err)
	}
	if err := w.Ready(t.Context()); err != nil {
		t.Error(err)
	}

	// An example that was deleted does not come back, and a sandbox stays one.
	if err := admin.deleteRoute("two"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Found(t.Context(), w.clock.Now(), "", examples); err != nil {
		t.Error(err)
	}
	same(t, "routes", names(w.Routes.Routes(t.Context(), admin.by(), engine.Filter{})), "one")
	w.config = func(c *engine.Config) { c.Sandbox = false }
	w.reopen()
	_, err = w.Found(t.Context(), w.clock.Now(), "", nil)
	w.refused(err, errs.Invalid)
}

// A route that was stored before forms were bounded does not keep the server
// from starting, and its form is not validated by: the action says why.
func TestStoredFormBeyondTheBounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	const doc = `{"states": {"a": {"type": "start"}, "b": {"type": "complete"}}, "actions": {"go": {"trigger": "init"},
		"end": {"in": ["a"], "allowed": "everyone", "to": "b", "form": FORM},
		"other": {"in": ["a"], "allowed": "everyone", "form": {"properties": {"n": {"minimum": 1}}}}}}`
	sam.mustPutRoute("doubling", strings.Replace(doc, "FORM", `{}`, 1))
	var levels strings.Builder
	for i := range 26 {
		fmt.Fprintf(&levels, `"d%d": {"anyOf": [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}]}, `, i, i+1, i+1)
	}
	doubling := strings.Replace(doc, "FORM", `{"$ref": "#/$defs/d0", "$defs": {`+levels.String()+`"d26": {"minProperties": 5}}}`, 1)
	_, err := sam.putRoute("doubling", doubling)
	w.refused(err, errs.Invalid, "/actions/end/form/$defs/d14 range")
	w.update(func(tx store.Tx) error {
		r, err := tx.Routes().GetByName("doubling")
		if err != nil {
			return err
		}
		r.Version++
		r.Source = []byte(doubling)
		return tx.Write().Routes().Put(r)
	})
	w.reopen()
	id := sam.startCase(`{"route": "doubling"}`)
	_, err = sam.perform(id, "end", `{"xattrDict": {"a": 1}}`)
	w.refused(err, errs.Invalid, "/xattrDict range")
	if err == nil || !strings.Contains(err.Error(), "The route must be stored again with a smaller form") {
		t.Errorf("%v", err)
	}
	_, err = sam.perform(id, "other", `{"xattrDict": {"n": 1e-1000001}}`)
	w.refused(err, errs.Invalid, "/xattrDict/n range")
	try(sam.perform(id, "other", `{"xattrDict": {"n": 2}}`)).must(w, "performing another action")
	sam.mustPutRoute("doubling", strings.Replace(doc, "FORM", `{}`, 1))
}
