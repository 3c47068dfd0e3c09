package engine_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/store"
)

// Every field of a start document.
func TestStartDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	doc := `{"route": "ask", "title": "May we?", "priority": 7, "context": "core", "stakeholders": ["eve", "EVE", "ops"],
		"roles": {"helper": ["bob"]}, "input": "Hello, world", "startAt": null, "suspendedUntil": null,
		"xattrDict": {"Start": "$__MONTHSTART__;", "pid": "$__PID__;", "n": 7, "yes": true, "who": "$__LOGIN__;", "what": "$__TITLE__;", "odd": "$__BAR__;"}}`
	out := sam.mustPutCase("question.json", doc)
	if !out.Created || out.Name != fmt.Sprint(out.CaseID) || out.Life != "active" || out.Status != "open" {
		t.Errorf("%+v", out)
	}
	c := sam.caseForm(out.CaseID)
	c.wants("route", `"ask"`, "title", `"May we?"`, "priority", "7", "context", `"core"`, "contextId", fmt.Sprint(w.Accounts.PartyID("core")),
		"starter", `"sam"`, "stakeholders", `["eve","ops"]`, "roles", `{"asker":["sam"],"helper":["bob"],"boss":["@admins"]}`,
		"xattrDict/start", `"2012-11-01"`, "xattrDict/pid", `"`+out.Name+`"`, "xattrDict/n", "7", "xattrDict/yes", "true",
		"xattrDict/who", `"core"`, "xattrDict/what", `"May we?"`, "xattrDict/odd", `"$__BAR__;"`,
		"state", `"active"`, "status", `"open"`, "enabledActions", `["answer","note","audit"]`, "scheduleUUID", "null",
		"created", `"`+start+`"`, "started", `"`+start+`"`, "completed", "null", "parent", "null", "children", "[]", "version", "2")
	if log := strings.Join(sam.logTexts(out.CaseID), "\n"); strings.Count(log, "BAR") != 1 {
		t.Errorf("log:\n%s", log)
	}
	same(t, "input", sam.read(out.CaseID, engine.OwnInput), "text/plain; charset=utf-8: Hello, world")
	same(t, "source", string(sam.caseResource("question.json").Source), doc)
	same(t, "the ETag of the PUT", out.ETag, sam.caseResource("question.json").SourceETag)

	// What the route says where the document does not.
	id := sam.startCase(`{"route": "ask", "input": {"b": 1, "a": [null, 2.50]}}`)
	sam.caseForm(id).wants("title", `"Question"`, "priority", "250", "context", `"sam"`, "roles/helper", `["core"]`)
	same(t, "input", sam.read(id, engine.OwnInput), `application/json: {"b":1,"a":[null,2.50]}`)
	id = sam.startCase(`{"routeId": "` + sam.routeID("auto") + `"}`)
	same(t, "no input", sam.read(id, engine.OwnInput), "text/plain: ")
	sam.caseForm(sam.startCase(`{"route": "ask", "xattrDict": {"helper": "eve"}}`)).wants("roles/helper", `["eve"]`)
}

// read returns media type and content of a message of a case.
func (u user) read(id int64, name string) string {
	u.Helper()
	c := try(u.Cases.Message(u.Context(), u.by(), id, store.UUID{}, name)).must(u.world, "the message "+name)
	data, err := io.ReadAll(c.Body)
	if err != nil {
		u.Error(err)
	}
	if err := c.Body.Close(); err != nil {
		u.Error(err)
	}
	return c.MediaType + ": " + string(data)
}

// shownTo is a route that everyone reads and only ann starts.
const shownTo = "access: {start: [ann], read: [everyone]}\n" + plainStates

// plainStates are the states and actions of a route that ends by itself.
const plainStates = `
states: {open: {type: start}, done: {type: complete}}
actions: {begin: {trigger: init}, finish: {trigger: auto, in: [open], to: done}}
`

// TestNearRouteIsNamed: a name that is not quite that of a route is answered with that name,
// but with none of a route that is not for the user.
func TestNearRouteIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, text := range map[string]string{"asc": `; did you mean "ask"?`, "owm": "that may be used here"} {
		_, err := w.as("bob").putCase("x.json", fmt.Sprintf(`{"route": %q}`, name))
		if !strings.HasSuffix(fmt.Sprint(err), text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStartRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	w.as("admin").mustPutRoute("shown", shownTo)
	for _, test := range []struct {
		who, doc string
		kind     errs.Kind
		faults   []string
	}{
		{"sam", `{`, errs.NotParseable, nil},
		{"sam", `[]`, errs.Invalid, nil},
		{"sam", `{}`, errs.Invalid, []string{"/routeId required"}},
		{"sam", `{"route": ""}`, errs.Invalid, []string{"/route format"}},
		{"sam", `{"route": 5}`, errs.Invalid, []string{"/route type"}},
		{"sam", `{"route": "nothere"}`, errs.Invalid, []string{"/route not-found"}},
		{"bob", `{"route": "own"}`, errs.Invalid, []string{"/route not-found"}},
		{"bob", `{"route": "shown"}`, errs.Invalid, []string{"/route not-found"}},
		{"bob", `{"routeId": 99999}`, errs.Invalid, []string{"/routeId not-found"}},
		{"sam", `{"route": "ask", "context": "ops"}`, errs.ContextNotAvailable, nil},
		{"sam", `{"route": "ask", "context": ""}`, errs.Invalid, []string{"/context format"}},
		{
			"sam",
			`{"route": "ask", "titel": "x", "priority": -1, "stakeholders": ["nobody", 5], "xattrDict": {"a": [], "b c": 1, "BC": 2}, "roles": {"helpr": ["bob"], "helper": ["nobody"]}}`,
			errs.Invalid,
			[]string{
				"/titel unknown-field", "/priority range", "/xattrDict/a type", "/xattrDict/BC conflict", "/stakeholders/0 not-found",
				"/stakeholders/1 type", "/roles/helpr unknown-field", "/roles/helper/0 not-found",
			},
		},
		{"sam", `{"route": "ask", "title": "` + strings.Repeat("x", 1001) + `"}`, errs.Invalid, []string{"/title range"}},
		{"sam", `{"route": "ask", "title": "a\nb"}`, errs.Invalid, []string{"/title format"}},
		{"sam", `{"route": "ask", "attachmentUUID": "` + strings.Repeat("ab", 16) + `"}`, errs.Invalid, []string{"/attachmentUUID not-found"}},
		{"sam", `{"route": "ask", "startAt": "2012-02-30"}`, errs.Invalid, []string{"/startAt format"}},
		{"sam", `{"route": "ask", "startAt": 5}`, errs.Invalid, []string{"/startAt type"}},
		{"sam", `{"route": "ask", "roles": {"helper": [], "asker": null}}`, errs.Invalid, []string{"/roles/helper range"}},
		{"sam", `{"route": "ask", "roles": {"asker": ["bob"]}}`, errs.RoleNotAssignable, nil},
		{"sam", `{"route": "ask", "roles": {"helper": ["eve"]}}`, errs.RoleNotAssignable, nil},
		{"sam", `{"route": "ask", "roles": {"helper": ["sam", "eve"]}}`, errs.RoleNotAssignable, nil},
		{"sam", `{"route": "ask", "roles": {"boss": ["sam"]}}`, errs.RoleNotAssignable, nil},
	} {
		t.Run(test.doc, func(t *testing.T) {
			_, err := w.as(test.who).putCase("x.json", test.doc)
			w.in(t).refused(err, test.kind, test.faults...)
		})
	}
	same(t, "cases", len(w.cases()), 0)
	_, err := sam.putCase("12345.json", `{"route": "ask"}`)
	w.refused(err, errs.NotFound)
	_, err = sam.putCase("x@ann.json", `{"route": "ask"}`)
	w.refused(err, errs.NotFound)

	// Whom pick yields: who belongs to the team, and the user.
	for _, who := range []string{`"sam"`, `"core"`, `"bob"`, `"sam", "bob"`} {
		sam.mustPutCase("", `{"route": "ask", "roles": {"helper": [`+who+`]}}`)
	}
	// The route's admins choose freely.
	w.as("admin").mustPutCase("", `{"route": "ask", "roles": {"asker": ["bob", "ops"], "boss": ["eve"]}}`)
}

// TestRefusedStartTakesNoNumber: the numbers of cases go on where they were when a start, or a
// file in the folder of a route, is refused; a dry run takes none either.
func TestRefusedStartTakesNoNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	w.as("admin").mustPutRoute("buy", `
access: {start: [everyone], read: [everyone]}
xattrs: {amount: {type: number, required: true, minimum: 1}}
roles: {clerk: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions: {begin: {trigger: init}, finish: {in: [open], role: clerk, to: done}}
`)
	start := func(amount string) (int64, error) {
		out, err := sam.putCase("", `{"route": "buy", "xattrDict": {"amount": `+amount+`}}`)
		if err != nil {
			return 0, err
		}
		return out.CaseID, nil
	}
	first := try(start("1")).must(w, "the first")
	for _, bad := range []string{"0", `""`, `"x"`, "null"} {
		if _, err := start(bad); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	tooLittle := func(d *engine.Drop) { d.Xattrs = label.Dict{{Key: "amount", Value: label.Text("0")}} }
	if _, err := sam.drop("buy", "a.txt", "x", tooLittle); !errs.Is(err, errs.Invalid) {
		t.Errorf("a file that is refused: %v", err)
	}
	w.form(sam.mustPutCase("", `{"route": "buy", "xattrDict": {"amount": 2}}`, dryRun()).Form).wants("id", fmt.Sprint(first+1))
	same(t, "the second", try(start("2")).must(w, "the second"), first+1)
	same(t, "a file", sam.mustDrop("buy", "b.pdf", "x").CaseID, first+2)
}

// A copy of a case starts as the case did.
func TestCopyStartsAsTheCaseDid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "ask", "title": "One", "roles": {"helper": ["bob"]}, "xattrDict": {"a": "1"}, "context": "core"}`)
	w.as("bob").mustPerform(id, "answer")
	original := sam.caseForm(id)
	out := sam.mustPutCase("copy.json", original.text)
	if out.CaseID == id {
		t.Fatal("the copy is the case itself")
	}
	clone := sam.caseForm(out.CaseID)
	for _, key := range []string{"route", "routeId", "title", "context", "priority", "roles", "xattrDict", "stakeholders"} {
		same(t, key, clone.get(key), original.get(key))
	}
	clone.wants("status", `"open"`, "version", "2")
	// It can be saved again as it was, though it names another case.
	again := sam.mustPutCase("copy.json", original.text)
	if again.Created || again.Changed || again.CaseID != out.CaseID {
		t.Errorf("saved again: %+v", again)
	}
	// Roles that the rules would fill otherwise are somebody's choice.
	_, err := w.as("ann").putCase("", original.text)
	w.refused(err, errs.RoleNotAssignable)
}

func TestCaseNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	out := sam.mustPutCase("q.json", `{"route": "ask", "context": "core"}`, ifNew())
	_, err := sam.putCase("q.json", `{"route": "ask"}`, ifNew())
	w.refused(err, errs.Precondition)
	same(t, "sam's, as ann sees it", ann.caseResource("q@sam.json").Name, out.Name)
	if own := ann.mustPutCase("q.json", `{"route": "ask"}`); !own.Created {
		t.Error("ann's own name is sam's case")
	}
	yaml := "# A question\nroute: ask\ntitle: In YAML\ninput: |\n  Hello\n"
	inYAML := sam.mustPutCase("q.yaml", yaml)
	sam.caseForm(inYAML.CaseID).wants("title", `"In YAML"`)
	same(t, "source", string(sam.caseResource("q.yaml").Source), yaml)

	// Neither performing nor a label nor time costs a case its name.
	ann.mustPerform(out.CaseID, "answer")
	try(sam.putLabel(out.CaseID, "Note", "x")).must(w, "a label")
	same(t, "given", sam.caseResource(out.Name+".json").Given, "q.json")
	w.as("admin").mustPutRoute("timed", routeTimed)
	timed := sam.mustPutCase("timed.json", `{"route": "timed"}`)
	w.advance(3 * time.Hour)
	same(t, "given", sam.caseResource(timed.Name+".json").Given, "timed.json")
	all := try(w.Cases.Cases(t.Context(), sam.by(), engine.Filter{Route: "timed"})).must(w, "listing")
	same(t, "listed", all[0].Given, "timed.json")
}

// Only what starts a case is read at its start: a file may be saved again as
// it is, whatever has become of its case.
func TestCaseSavedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	doc := `{"route": "ask", "title": "T", "input": "in", "roles": {"helper": ["bob"]}, "xattrDict": {"day": "$__TODAY__;"}}`
	out := sam.mustPutCase("q.json", doc)
	w.advance(48 * time.Hour)
	w.as("bob").mustPerform(out.CaseID, "answer")
	if again := sam.mustPutCase("q.json", doc); again.Changed || again.Created {
		t.Errorf("%+v", again)
	}
	edited := strings.Replace(doc, `"T"`, `"Another"`, 1)
	if again := sam.mustPutCase("q.json", edited); !again.Changed || again.ETag == out.ETag {
		t.Errorf("%+v", again)
	}
	sam.caseForm(out.CaseID).wants("title", `"Another"`, "xattrDict/day", `"2012-11-09"`, "roles/helper", `["bob"]`, "status", `"answered"`)
	_, err := sam.putCase("q.json", strings.Replace(edited, `"in"`, `"other"`, 1))
	w.refused(err, errs.Invalid, "/input read-only")
	_, err = sam.putCase("q.json", strings.Replace(edited, `"ask"`, `"auto"`, 1))
	w.refused(err, errs.Invalid, "/route read-only")
	_, err = sam.putCase(out.Name+".json", edited)
	w.refused(err, errs.Invalid) // "input" is no field of a case
}

func TestOpenCaseLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.config = func(c *engine.Config) { c.Limits.OpenCases = 2 } })
	sam, ann := w.as("sam"), w.as("ann")
	first := sam.startCase(`{"route": "ask"}`)
	sam.startCase(`{"route": "auto"}`) // ended already
	second := sam.startCase(`{"route": "ask"}`)
	_, err := sam.putCase("", `{"route": "ask"}`)
	w.refused(err, errs.TooMany)
	ann.startCase(`{"route": "ask"}`)
	if err := sam.deleteCase(fmt.Sprint(first) + ".json"); err != nil {
		t.Fatal(err)
	}
	ann.mustPerform(sam.startCase(`{"route": "ask"}`), "answer")
	_, err = sam.putCase("", `{"route": "ask"}`)
	w.refused(err, errs.TooMany)
	ann.mustPerform(second, "answer")
	sam.mustPerform(second, "close")
	sam.startCase(`{"route": "ask"}`)
	sam.mustPerform(second, "reopen") // which is no start
	_, err = w.as("admin").putCase(fileOf(first), `{"state": "active"}`)
	w.refused(err, errs.TooMany)
	sam.caseForm(first).wants("state", `"canceled"`)
	w.reopen()
	_, err = w.as("sam").putCase("", `{"route": "ask"}`)
	w.refused(err, errs.TooMany)
}

// What becomes of a case when it is canceled.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		cancel func(sam user, name string) error
	}{
		{"DELETE of the name", func(sam user, _ string) error { return sam.deleteCase("q.json") }},
		{"DELETE of the identity", func(sam user, name string) error { return sam.deleteCase(name + ".json") }},
		{"state under the identity", func(sam user, name string) error {
			_, err := sam.putCase(name+".json", `{"state": "canceled", "title": "Never mind"}`)
			return err
		}},
		{"state under the name", func(sam user, _ string) error {
			out, err := sam.putCase("q.json", `{"route": "ask", "state": "canceled"}`)
			if err == nil && out.ETag != "" {
				sam.Errorf("an ETag for a name that is gone: %+v", out)
			}
			return err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			sam := w.as("sam")
			out := sam.mustPutCase("q.json", `{"route": "ask"}`)
			w.refused(w.as("eve").deleteCase(out.Name+".json"), errs.NotFound)
			w.refused(w.as("ann").deleteCase(out.Name+".json"), errs.NotAllowed)
			w.refused(sam.deleteCase("q.json", ifMatch(`"x"`)), errs.Precondition)
			if err := test.cancel(sam, out.Name); err != nil {
				t.Fatal(err)
			}
			c := sam.caseForm(out.CaseID)
			c.wants("state", `"canceled"`, "status", `"open"`, "enabledActions", "[]")
			log := sam.logTexts(out.CaseID)
			same(t, "log", log[len(log)-1], "life: Canceled")
			// It resolves, is not listed, and its name is free.
			same(t, "listed", names(w.Cases.Cases(t.Context(), sam.by(), engine.Filter{})), "")
			same(t, "listed", names(w.Cases.Cases(t.Context(), sam.by(), engine.Filter{State: "canceled"})), out.Name)
			same(t, "listed among all", names(w.Cases.Cases(t.Context(), sam.by(), engine.Filter{State: engine.StateAll})), out.Name)
			same(t, "listed as open", names(w.Cases.Cases(t.Context(), sam.by(), engine.Filter{State: engine.StateOpen})), "")
			w.refused(try(sam.Cases.Case(t.Context(), sam.by(), sam.ref("q.json"))).err, errs.NotFound)
			same(t, "given", sam.caseResource(out.Name+".json").Given, "")
			if again := sam.mustPutCase("q.json", `{"route": "ask"}`); !again.Created || again.CaseID == out.CaseID {
				t.Errorf("%+v", again)
			}
			// It is read-only, and saving it as it is changes nothing.
			_, err := sam.putCase(out.Name+".json", `{"title": "x"}`)
			w.refused(err, errs.ReadOnly)
			sam.mustPutCase(out.Name+".json", c.text)
			_, err = sam.perform(out.CaseID, "answer", `{}`)
			w.refused(err, errs.CaseNotOpen)
			_, err = sam.putLabel(out.CaseID, "Note", "x")
			w.refused(err, errs.CaseNotOpen)
			w.clock.Set(w.clock.Now().Add(engine.UndoCancel))
			_, err = sam.putCase(out.Name+".json", `{"state": "active"}`)
			w.refused(err, errs.NotAllowed)
			if err := sam.deleteCase(out.Name + ".json"); err != nil {
				t.Errorf("a repeated DELETE: %v", err)
			}
			sam.mustPutCase(out.Name+".json", `{"do": "archive"}`)
			if err := sam.deleteCase(out.Name + ".json"); err != nil {
				t.Errorf("a DELETE of the archived case: %v", err)
			}
		})
	}
}

func TestCaseListing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann, admin := w.as("sam"), w.as("ann"), w.as("admin")
	mine := fmt.Sprint(sam.startCase(`{"route": "ask", "title": "Holidays"}`))
	team := fmt.Sprint(ann.startCase(`{"route": "own", "context": "core", "title": "my HOLIDAYS"}`))
	bobs := fmt.Sprint(w.as("bob").startCase(`{"route": "ask", "roles": {"helper": ["bob"]}}`))
	done := fmt.Sprint(sam.startCase(`{"route": "auto"}`))
	ann.mustPerform(sam.ref(mine).CaseID, "answer")
	for _, test := range []struct {
		who    string
		filter engine.Filter
		want   []string
	}{
		{"sam", engine.Filter{}, []string{mine, team, done}},
		{"ann", engine.Filter{}, []string{mine, team}},
		{"ann", engine.Filter{OwnOnly: true}, []string{mine, team}},
		{"bob", engine.Filter{}, []string{bobs}},
		{"eve", engine.Filter{}, nil},
		{"admin", engine.Filter{}, []string{mine, team, bobs, done}},
		{"admin", engine.Filter{OwnOnly: true}, nil},
		{"sam", engine.Filter{Query: "holidays"}, []string{mine, team}},
		{"sam", engine.Filter{Route: "ask"}, []string{mine}},
		{"sam", engine.Filter{Route: "nothere"}, nil},
		{"sam", engine.Filter{State: "completed"}, []string{done}},
		{"sam", engine.Filter{Status: "answered"}, []string{mine}},
		{"sam", engine.Filter{Context: "core"}, []string{team}},
		{"sam", engine.Filter{Context: "sam"}, []string{mine, done}},
		{"ann", engine.Filter{Context: "mine"}, []string{team}},
		{"ann", engine.Filter{Context: "sam"}, []string{mine}},
		{"sam", engine.Filter{Context: "nothere"}, nil},
		{"sam", engine.Filter{Role: "helper"}, []string{mine}},
		{"bob", engine.Filter{Role: "helper"}, []string{bobs}},
		{"sam", engine.Filter{Parent: 5}, nil},
	} {
		by := w.as(test.who)
		got := names(w.Cases.Cases(t.Context(), by.by(), test.filter))
		if want := strings.Join(test.want, " "); got != want {
			t.Errorf("%s with %+v: %q; want %q", test.who, test.filter, got, want)
		}
	}
	var paged []string
	for after := int64(0); ; {
		page := try(w.Cases.Cases(t.Context(), admin.by(), engine.Filter{Limit: 1, After: after, Query: "holidays"})).must(w, "a page")
		if len(page) == 0 {
			break
		}
		paged, after = append(paged, page[0].Name), page[0].Seq
	}
	same(t, "page by page", paged, []string{mine, team})
}

// The cases of a route that somebody administers are seen by them, in
// listings too.
func TestCasesOfAdministeredRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lookedAfter := func(by string) string {
		return strings.Replace(routeAsk, "access: {", "access: {admin: ["+by+"], ", 1)
	}
	w.as("admin").mustPutRoute("looked-after", lookedAfter("eve"))
	id := fmt.Sprint(w.as("sam").startCase(`{"route": "looked-after", "roles": {"helper": ["bob"]}}`))
	eve := w.as("eve")
	same(t, "all", names(w.Cases.Cases(t.Context(), eve.by(), engine.Filter{})), id)
	same(t, "mounted", names(w.Cases.Cases(t.Context(), eve.by(), engine.Filter{OwnOnly: true})), id)
	eve.mustPerform(eve.ref(id).CaseID, "audit")
	w.as("admin").mustPutRoute("looked-after", lookedAfter("ann"))
	same(t, "after", names(w.Cases.Cases(t.Context(), eve.by(), engine.Filter{})), "")
	w.refused(try(w.Cases.Case(t.Context(), eve.by(), eve.ref(id))).err, errs.NotFound)
}

// PUTs of one name at once start one case.
func TestConcurrentStartsUnderOneName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	const writers = 32
	outs := make([]*engine.Outcome, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			var err error
			if outs[i], err = sam.putCase("q.json", fmt.Sprintf(`{"route": "ask", "title": "T%d"}`, i)); err != nil {
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
	same(t, "cases", len(w.cases()), 1)
	res := sam.caseResource("q.json")
	same(t, "title", w.form(res.Form).get("title"), w.form(res.Source).get("title"))
}
