package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

const routeLists = `
access: {start: [everyone], admin: [eve]}
roles:
  worker: {assign: ["user:ann", "user:bob"]}
  boss: {assign: ["team:core"]}
states: {a: {type: start}, b: {}, c: {type: complete}}
actions:
  begin: {trigger: init}
  soon: {title: Do it soon, in: [a], role: worker, dueIn: PT2H, to: b, past: Done soon}
  later: {title: Do it later, in: [a], role: worker, dueIn: P3D}
  first: {title: Take it first, in: [a], role: worker, offerTimeout: PT1H}
  check: {in: [b], role: boss, to: c}
`

// TestToday: what is to be done by the end of the user's day, in order of time; what
// is overdue is still there.
func TestToday(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, ann := w.as("admin"), w.as("ann")
	admin.mustPutRoute("lists", routeLists)
	one := admin.startCase(`{"route": "lists", "title": "One"}`)
	w.advance(10 * time.Minute)
	two := admin.startCase(`{"route": "lists", "title": "Two"}`)
	want := fmt.Sprintf("%[1]d.first %[2]d.first %[1]d.soon %[2]d.soon", one, two)
	same(t, "today", ann.work(engine.WorklistToday, engine.Filter{}), want)
	var paged []string
	for after := int64(0); ; {
		page := try(w.Worklists.Worklist(t.Context(), ann.by(), engine.WorklistToday, engine.Filter{Limit: 3, After: after})).must(w, "a page")
		if len(page) == 0 {
			break
		}
		for i := range page {
			paged = append(paged, page[i].Name)
		}
		after = page[len(page)-1].Seq
	}
	same(t, "page by page", strings.Join(paged, " "), want)
	same(t, "of one title", ann.work(engine.WorklistToday, engine.Filter{Query: "two"}), fmt.Sprintf("%[1]d.first %[1]d.soon", two))
	w.advance(24 * time.Hour) // it is overdue
	same(t, "the next day", strings.Contains(ann.work(engine.WorklistToday, engine.Filter{}), fmt.Sprintf("%d.soon", one)), true)
	w.advance(24 * time.Hour)
	same(t, "the day before the last", strings.Contains(ann.work(engine.WorklistToday, engine.Filter{}), "later"), false)
	w.advanceTo("2012-11-12T00:00:01Z")
	same(t, "the last day", strings.Contains(ann.work(engine.WorklistToday, engine.Filter{}), fmt.Sprintf("%d.later", one)), true)
	w.refused(try(w.Worklists.WorklistTask(t.Context(), w.as("sam").by(), engine.WorklistToday, one, "soon")).err, errs.NotFound)
	if _, err := w.Worklists.WorklistTask(t.Context(), ann.by(), engine.WorklistToday, one, "soon"); err != nil {
		t.Error(err)
	}
}

// TestDoneList: what a user has performed is on the list for a week, the newest first, as
// long as the user may see the case.
func TestDoneList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, ann := w.as("admin"), w.as("ann")
	admin.mustPutRoute("lists", routeLists)
	id := admin.startCase(`{"route": "lists", "title": "One"}`)
	if _, err := ann.perform(id, "first", `{"comment": "with <care>"}`); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Minute)
	ann.mustPerform(id, "soon")
	same(t, "of ann", ann.work(engine.WorklistDone, engine.Filter{}), fmt.Sprintf("%[1]d.soon %[1]d.first", id))
	same(t, "of bob", w.as("bob").work(engine.WorklistDone, engine.Filter{}), "")
	same(t, "of the timer", admin.work(engine.WorklistDone, engine.Filter{}), "")
	form := w.form(try(w.Worklists.WorklistTask(t.Context(), ann.by(), engine.WorklistDone, id, "first")).must(w, "the file").Form)
	form.wants("case", fmt.Sprint(id), "caseTitle", `"One"`, "route", `"lists"`, "action", `"first"`, "comment", `"with <care>"`, "time", `"2012-11-09T12:34:56Z"`, "to", "null")
	same(t, "of another title", ann.work(engine.WorklistDone, engine.Filter{Query: "two"}), "")
	w.advance(7 * 24 * time.Hour)
	same(t, "a week later", ann.work(engine.WorklistDone, engine.Filter{}), "")
}

// TestTeamList: the administrators of a team are told of the open tasks of its members,
// also in cases that they may not see, but not what the cases hold. Nobody else is.
func TestTeamList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, ann, dan := w.as("admin"), w.as("ann"), w.as("dan")
	admin.mustPutParty(identity.User, "dan", `{}`)
	admin.mustPutParty(identity.Team, "crew", `{"members": ["bob"], "admins": ["dan"]}`)
	admin.mustPutRoute("lists", routeLists)
	id := admin.startCase(`{"route": "lists", "title": "Secret plans", "roles": {"worker": ["ann", "bob"]}, "xattrDict": {"secret": "x"}}`)
	crew := engine.TeamWorklist("Crew")
	same(t, "of the crew", dan.work(crew, engine.Filter{}), fmt.Sprintf("%[1]d.soon %[1]d.later %[1]d.first", id))
	_, err := w.Cases.Case(t.Context(), dan.by(), engine.Ref{CaseID: id})
	w.refused(err, errs.NotFound)
	res := try(w.Worklists.WorklistTask(t.Context(), dan.by(), crew, id, "soon")).must(w, "the file")
	w.form(res.Form).wants("case", fmt.Sprint(id), "caseTitle", `"Secret plans"`, "title", `"Do it soon"`, "members", `["bob"]`, "acceptedBy", "null", "due", `"2012-11-09T14:34:56Z"`, "state", `"offered"`)
	if strings.Contains(string(res.Form), "secret") {
		t.Errorf("the form is %s", res.Form)
	}
	for _, who := range []string{"ann", "bob", "eve"} {
		_, err := w.Worklists.Worklist(t.Context(), w.as(who).by(), crew, engine.Filter{})
		w.refused(err, errs.NotFound)
	}
	same(t, "to an administrator", len(try(w.Worklists.Worklist(t.Context(), admin.by(), crew, engine.Filter{})).must(w, "list")), 3)
	same(t, "dan heads", strings.Join(w.Worklists.HeadedTeams(dan.by()), " "), "crew")
	same(t, "bob heads", strings.Join(w.Worklists.HeadedTeams(w.as("bob").by()), " "), "")

	if _, err := ann.perform(id, "later", `{"do": "accept"}`); err != nil {
		t.Fatal(err)
	}
	same(t, "what ann has accepted is not bob's", dan.work(crew, engine.Filter{}), fmt.Sprintf("%[1]d.soon %[1]d.first", id))
	same(t, "but hers", ann.work(engine.TeamWorklist("core"), engine.Filter{}), fmt.Sprintf("%[1]d.soon %[1]d.later %[1]d.first", id))
	w.form(try(w.Worklists.WorklistTask(t.Context(), ann.by(), engine.TeamWorklist("core"), id, "later")).must(w, "the file").Form).wants("acceptedBy", `"ann"`, "members", `["ann"]`)
	same(t, "by page", dan.work(crew, engine.Filter{Limit: 1}), fmt.Sprintf("%d.soon", id))
	same(t, "by role", dan.work(crew, engine.Filter{Role: "boss"}), "")
	w.as("bob").mustPerform(id, "soon")
	same(t, "a team's task", ann.work(engine.TeamWorklist("core"), engine.Filter{}), fmt.Sprintf("%d.check", id))
}
