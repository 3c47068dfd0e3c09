package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// routeRun is routeAsk, administered by bob.
func routeRun() string {
	return strings.Replace(routeAsk, "access: {", "access: {admin: [bob], ", 1)
}

// Who may change what of a case (docs/contract/drive.md#rights-table): its
// starter, a player of a role, a stakeholder, an admin of its route, an
// administrator, a stranger.
func TestCaseRights(t *testing.T) {
	t.Parallel()
	const (
		yes       = errs.Kind("")
		no        = errs.NotAllowed
		unseen    = errs.NotFound
		notYours  = errs.RoleNotAssignable
		noContext = errs.ContextNotAvailable
	)
	people := []string{"sam", "ann", "lou", "bob", "admin", "eve"}
	for _, test := range []struct {
		change string
		want   [6]errs.Kind // of each of the people
	}{
		{`{}`, [6]errs.Kind{yes, yes, yes, yes, yes, unseen}},
		{`{"title": "Other"}`, [6]errs.Kind{yes, no, no, yes, yes, unseen}},
		{`{"title": "Question"}`, [6]errs.Kind{yes, yes, yes, yes, yes, unseen}}, // which it is
		{`{"stakeholders": ["bob"]}`, [6]errs.Kind{yes, no, no, yes, yes, unseen}},
		{`{"priority": 1}`, [6]errs.Kind{no, no, no, yes, yes, unseen}},
		{`{"context": "bob"}`, [6]errs.Kind{noContext, noContext, noContext, yes, noContext, unseen}},
		{`{"context": "core"}`, [6]errs.Kind{no, no, noContext, noContext, noContext, unseen}},
		{`{"roles": {"asker": ["sam"], "helper": ["bob"], "boss": ["@admins"]}}`, [6]errs.Kind{yes, notYours, notYours, yes, yes, unseen}},
		{`{"roles": {"asker": ["sam"], "helper": ["eve"], "boss": ["@admins"]}}`, [6]errs.Kind{notYours, notYours, notYours, yes, yes, unseen}},
		{`{"roles": {"asker": ["bob"], "helper": ["core"], "boss": ["@admins"]}}`, [6]errs.Kind{notYours, notYours, notYours, yes, yes, unseen}},
		{`{"roles": {"asker": ["sam"], "boss": ["@admins"]}}`, [6]errs.Kind{yes, notYours, notYours, yes, yes, unseen}},
		{`{"roles": {"helper": ["core"]}}`, [6]errs.Kind{notYours, notYours, notYours, yes, yes, unseen}},
		{`{"roles": {"boss": ["@admins"], "helper": ["core"], "asker": ["sam"]}}`, [6]errs.Kind{yes, yes, yes, yes, yes, unseen}},
		{`{"xattrDict": {"a": "2"}}`, [6]errs.Kind{yes, no, no, yes, yes, unseen}},
		{`{"xattrDict": {"A": "1"}}`, [6]errs.Kind{yes, yes, yes, yes, yes, unseen}},
		{`{"state": "active"}`, [6]errs.Kind{yes, yes, yes, yes, yes, unseen}},
		{`{"state": "canceled"}`, [6]errs.Kind{yes, no, no, yes, yes, unseen}},
		{`{"state": "suspended"}`, [6]errs.Kind{yes, no, no, yes, yes, unseen}},
		{`{"suspendedUntil": null}`, [6]errs.Kind{yes, yes, yes, yes, yes, unseen}},
	} {
		t.Run(test.change, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.as("admin").mustPutParty(identity.User, "lou", `{}`)
			w.as("admin").mustPutRoute("run", routeRun())
			for i, who := range people {
				id := w.as("sam").startCase(`{"route": "run", "xattrDict": {"a": "1"}, "stakeholders": ["lou"]}`)
				before := w.as("admin").caseForm(id)
				_, err := w.as(who).putCase(fmt.Sprint(id)+".json", test.change)
				if got := errs.KindOf(err); got != test.want[i] {
					t.Errorf("%s: %v; want %q", who, err, test.want[i])
				}
				if err != nil {
					same(t, "the case after a refusal", w.as("admin").caseForm(id).text, before.text)
				}
			}
		})
	}
}

// A case is a record: absent stays, null resets, what the server computes is
// passed over, what identifies must be what it is.
func TestCaseIsARecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("run", routeRun())
	id := w.as("sam").startCase(`{"route": "run", "title": "T", "priority": 9, "xattrDict": {"a": "1", "b": 2}, "stakeholders": ["eve"]}`)
	bob, name := w.as("bob"), fmt.Sprint(id)+".json"
	version := bob.caseForm(id).get("version")

	for _, same := range []string{
		`{}`, `{"version": 99, "status": "closed", "starter": "eve", "enabledActions": ["x"], "modified": "never", "children": 7, "visit": {}}`,
		`{"id": ` + fmt.Sprint(id) + `, "route": "run", "title": "T", "priority": "9", "stakeholders": ["EVE", "eve"]}`,
		bob.caseForm(id).text, strings.Replace(bob.caseForm(id).text, `,"contextId"`, `, "contextId"`, 1),
	} {
		if out := try(bob.putCase(name, same)).must(w, same); out.Changed {
			t.Errorf("%s changed the case", same)
		}
	}
	bob.caseForm(id).wants("version", version)

	for _, test := range []struct {
		doc    string
		faults []string
	}{
		{`{"id": 5, "routeId": "5", "guid": "x", "route": "ask", "created": "2012-01-01T00:00:00Z"}`, []string{
			"/id read-only", "/routeId read-only", "/guid read-only", "/route read-only", "/created read-only",
		}},
		{`{"titel": "x", "priority": 65536, "xattrDict": {"a": []}, "stakeholders": "eve", "roles": []}`, []string{
			"/titel unknown-field", "/priority range", "/xattrDict/a type", "/roles type", "/stakeholders type",
		}},
		{`{"status": "closed", "starter": "eve", "resolution": "done"}`, []string{"/status read-only", "/resolution read-only", "/starter read-only"}},
		{`{"version": ` + version + `, "status": "closed"}`, []string{"/status read-only"}},
		{`{"title": 5, "state": "open"}`, []string{"/title type", "/state range"}},
		{`{"input": "x", "attachmentUUID": null}`, []string{"/input unknown-field", "/attachmentUUID unknown-field"}},
		{`{"stakeholders": ["@admins"]}`, []string{"/stakeholders/0 not-found"}},
	} {
		_, err := bob.putCase(name, test.doc)
		w.refused(err, errs.Invalid, test.faults...)
	}
	for doc, want := range map[string]string{
		`{"state": "cancelled"}`: `can be set to suspended, active or canceled, not to "cancelled"; did you mean "canceled"?`,
		`{"state": "gone"}`:      `can be set to suspended, active or canceled, not to "gone"`,
		`{"do": "archvie"}`:      `must be "archive", not "archvie"; did you mean "archive"?`,
		`{"do": "close"}`:        `must be "archive", not "close"; what else becomes of a case is its state, or one of its actions`,
	} {
		_, err := bob.putCase(name, doc)
		if e, is := errors.AsType[*errs.Error](err); !is || len(e.Faults) != 1 || e.Faults[0].Detail != want {
			t.Errorf("%s: %v, want %s", doc, err, want)
		}
	}
	_, err := bob.putCase(name, `{"startAt": "2013-01-01T00:00:00Z"}`)
	w.refused(err, errs.CaseNotOpen)
	bob.caseForm(id).wants("version", version)

	bob.mustPutCase(name, `{"title": "U"}`)
	bob.caseForm(id).wants("title", `"U"`, "priority", "9", "xattrDict", `{"a":"1","b":2}`, "stakeholders", `["eve"]`)
	bob.mustPutCase(name, `{"xattrDict": {"b": "$__TODAY__;"}}`) // merged, and taken as it is
	bob.caseForm(id).wants("xattrDict", `{"a":"1","b":"$__TODAY__;"}`)
	bob.mustPutCase(name, `{"title": null, "priority": null, "xattrDict": null, "stakeholders": null, "roles": null}`)
	bob.caseForm(id).wants("title", `"Question"`, "priority", "250", "xattrDict", `{}`, "stakeholders", `[]`,
		"roles", `{"asker":[],"helper":[],"boss":[]}`)
	log := bob.logTexts(id)
	same(t, "log", log[len(log)-1], `roles: Changed title: U → Question; priority: 9 → 250; roles; stakeholders; a removed, was 1; b removed, was \"$__TODAY__;\`) // which is cut at the quotation mark
	w.refused(try(w.Cases.Case(t.Context(), w.as("eve").by(), w.as("eve").ref(name))).err, errs.NotFound)
}

// The context of a case can be changed in a document that was read before,
// by name or by id.
func TestCaseContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("run", routeRun())
	id := w.as("sam").startCase(`{"route": "run"}`)
	bob, name := w.as("bob"), fmt.Sprint(id)+".json"
	sams, opss, bobs := fmt.Sprint(w.Accounts.PartyID("sam")), fmt.Sprint(w.Accounts.PartyID("ops")), fmt.Sprint(w.Accounts.PartyID("bob"))
	form := bob.caseForm(id).text
	bob.mustPutCase(name, strings.Replace(form, `"context": "sam"`, `"context": "ops"`, 1))
	bob.caseForm(id).wants("context", `"ops"`, "contextId", opss)
	form = bob.caseForm(id).text
	bob.mustPutCase(name, strings.Replace(form, `"contextId": `+opss, `"contextId": `+bobs, 1))
	bob.caseForm(id).wants("context", `"bob"`, "contextId", bobs)
	_, err := bob.putCase(name, `{"contextId": `+opss+`, "context": "sam"}`)
	w.refused(err, errs.Invalid, "/context conflict")
	_, err = bob.putCase(name, `{"contextId": `+sams+`}`)
	w.refused(err, errs.ContextNotAvailable)
	_, err = bob.putCase(name, `{"context": "everyone"}`)
	w.refused(err, errs.ContextNotAvailable)
	// What it was visible by, it is no more; the starter still sees it.
	w.as("sam").caseForm(id).wants("context", `"bob"`)
}

func TestCaseConditions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	_, err := sam.putCase("q.json", `{"route": "ask"}`, ifMatch(`"x"`))
	w.refused(err, errs.Precondition)
	out := sam.mustPutCase("q.json", `{"route": "ask"}`)
	name := out.Name + ".json"
	first := sam.caseResource(name).FormETag
	changed := sam.mustPutCase(name, `{"title": "A"}`, ifMatch(first))
	same(t, "the ETag of the form", changed.FormETag, sam.caseResource(name).FormETag)
	_, err = sam.putCase(name, `{"title": "B"}`, ifMatch(first))
	w.refused(err, errs.Precondition)
	_, err = sam.putCase(name, `{`, ifMatch(first))
	w.refused(err, errs.Precondition)
	// Under the given name the ETag is that of the bytes.
	source := sam.caseResource("q.json").SourceETag
	sam.mustPutCase("q.json", `{"title": "C"}`, ifMatch(source))
	_, err = sam.putCase("q.json", `{"title": "D"}`, ifMatch(source))
	w.refused(err, errs.Precondition)
	w.refused(sam.deleteCase(name, ifMatch(first)), errs.Precondition)
	if err := sam.deleteCase(name, ifMatch(sam.caseResource(name).FormETag)); err != nil {
		t.Error(err)
	}
}

// The field roles is replaced whole; whoever leaves a role out is told so.
func TestRoleMissingFromRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("run", routeRun())
	sam := w.as("sam")
	id := sam.startCase(`{"route": "run"}`)
	_, err := sam.putCase(fmt.Sprint(id)+".json", `{"roles": {"helper": ["core"]}}`)
	w.refused(err, errs.RoleNotAssignable)
	if err == nil || !strings.Contains(err.Error(), "replaces all roles") || !strings.Contains(err.Error(), `"asker"`) || strings.Contains(err.Error(), "leave it out") {
		t.Error(err)
	}
}
