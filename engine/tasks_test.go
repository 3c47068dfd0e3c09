package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// routeDesk is a route of tasks for the team core, two of them a choice.
const routeDesk = `{"access": {"start": ["everyone"], "read": ["everyone"]},
	"roles": {"clerk": {"assign": ["team:core"]}, "boss": {"assign": ["user:bob"]}, "keeper": {"assign": ["admins"]}},
	"states": {"open": {"type": "start"}, "done": {"type": "complete"}},
	"actions": {
		"begin": {"trigger": "init"},
		"answer": {"in": ["open"], "role": "clerk", "to": "done", "choice": "one"},
		"refuse": {"in": ["open"], "role": "clerk", "to": "done", "choice": "one", "accept": "required"},
		"check": {"in": ["open"], "role": "boss"},
		"file": {"in": ["open"], "role": "keeper"}
	}}`

func (u user) do(id int64, action, do string, options ...option) error {
	_, err := u.perform(id, action, `{"do": "`+do+`"}`, options...)
	return err
}

func (u user) mustDo(id int64, action, do string) {
	u.Helper()
	if err := u.do(id, action, do); err != nil {
		u.Fatalf("%s: %s %s: %v", u.name, do, action, err)
	}
}

// taskForm returns a task as it is shown.
func (u user) taskForm(id int64, action string) form {
	u.Helper()
	return u.form(try(u.Cases.Task(u.Context(), u.by(), id, action)).must(u.world, action).Form)
}

// What people do with a task shows in it, in the case and in the log.
func TestTaskShowsWhatPeopleDoWithIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	w.as("admin").mustPutRoute("desk", routeDesk)
	id := w.as("eve").startCase(`{"route": "desk"}`)
	etag := try(w.Cases.Task(t.Context(), ann.by(), id, "refuse")).must(w, "the task").FormETag
	w.refused(ann.do(id, "refuse", "perform"), errs.ActionNotEnabled)
	try(ann.perform(id, "refuse", `{"do": "accept", "comment": "mine"}`, ifMatch(etag))).must(w, "accept")
	w.refused(sam.do(id, "refuse", "accept", ifMatch(etag)), errs.Precondition)
	ann.taskForm(id, "refuse").wants("state", `"accepted"`, "acceptedBy", `"ann"`, "assignees", `["core"]`)
	sam.caseForm(id).wants("enabledActions", `["refuse","check","file"]`) // the other of the choice is withdrawn
	err := sam.do(id, "answer", "perform")
	w.refused(err, errs.ActionNotEnabled)
	if problem, _ := errors.AsType[*errs.Error](err); problem.Extra["acceptedBy"] != "ann" {
		t.Errorf("who has accepted the other is not told: %v", problem.Extra)
	}
	ann.mustDo(id, "refuse", "release")
	sam.caseForm(id).wants("enabledActions", `["answer","refuse","check","file"]`)
	ann.mustDo(id, "refuse", "reject")
	w.refused(sam.do(id, "refuse", "reject"), errs.ActionNotEnabled) // the last one
	try(sam.perform(id, "refuse", `{"do": "delegate", "to": "EVE"}`)).must(w, "delegate")
	sam.taskForm(id, "refuse").wants("state", `"offered"`, "assignees", `["eve"]`)
	w.refused(sam.do(id, "refuse", "accept"), errs.NotAllowed)
	out := try(w.as("eve").perform(id, "refuse", `{"do": "accept"}`)).must(w, "accept")
	same(t, "the entry of the log", out.LogSeq, 7)
	again := try(w.as("eve").perform(id, "refuse", `{"do": "accept"}`)).must(w, "accept again")
	same(t, "nothing new in the log", again.LogSeq, 7)
	w.as("eve").mustDo(id, "refuse", "perform")
	sam.caseForm(id).wants("state", `"completed"`)

	log := w.form(try(w.Cases.CaseLog(t.Context(), sam.by(), id, nil)).must(w, "log").Form)
	log.wants("2/kind", `"task"`, "2/action", `"refuse"`, "2/actor", `"ann"`, "2/comment", `"mine"`, "2/trigger", `"user"`,
		"2/text", `"Accepted refuse, which withdrew answer"`, "3/text", `"Released refuse"`, "4/text", `"Rejected refuse"`, "5/text", `"Delegated refuse to eve"`)
}

// Documents about tasks are judged like all others.
func TestDoDocuments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	admin.mustPutRoute("desk", routeDesk)
	admin.mustPutParty(identity.User, "off", `{"fullName": "Off", "disabled": true}`)
	id := w.as("eve").startCase(`{"route": "desk"}`)
	for doc, fault := range map[string]string{
		`{"do": "delegate"}`:                                "/to required",
		`{"do": "delegate", "to": 5}`:                       "/to type",
		`{"do": "delegate", "to": "noone"}`:                 "/to not-found",
		`{"do": "delegate", "to": "core"}`:                  "/to not-found",
		`{"do": "delegate", "to": "off"}`:                   "/to not-found",
		`{"do": "delegate", "to": "@admins"}`:               "/to not-found",
		`{"do": "accept", "to": "bob"}`:                     "/to conflict",
		`{"do": "release", "resolution": "x"}`:              "/resolution conflict",
		`{"do": "reject", "xattrDict": {"a": 1}}`:           "/xattrDict conflict",
		`{"do": "accept", "output": "x"}`:                   "/output conflict",
		`{"do": "acept"}`:                                   "/do range",
		`{"do": "delegate", "to": "bob", "why": "holiday"}`: "/why unknown-field",
	} {
		_, err := w.as("sam").perform(id, "answer", doc)
		if got := strings.Join(faultsOf(err), "|"); errs.KindOf(err) != errs.Invalid && errs.KindOf(err) != errs.ActionNotEnabled || got != fault && errs.KindOf(err) == errs.Invalid {
			t.Errorf("%s: %v %q; want %q", doc, err, got, fault)
		}
	}
	_, err := w.as("sam").perform(id, "answer", `{"do": "acept"}`)
	if want := `; did you mean "accept"?`; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	same(t, "nothing was done", len(w.as("eve").logTexts(id)), 2)
	// A dry run shows what would be, and does nothing.
	out := try(w.as("sam").perform(id, "answer", `{"do": "accept"}`, dryRun())).must(w, "dry run")
	w.form(out.Form).wants("enabledActions", `["answer","check","file"]`)
	same(t, "nothing was done", len(w.as("eve").logTexts(id)), 2)
}

// Of two who accept at once exactly one wins; whoever loses is told who was
// faster.
func TestOneAccepts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("desk", routeDesk)
	const rounds = 100
	for range rounds {
		id := w.as("eve").startCase(`{"route": "desk"}`)
		// One of the two may go for the other of the choice.
		w.race(id, "accept", "acceptedBy", "answer", "answer")
		id = w.as("eve").startCase(`{"route": "desk"}`)
		w.race(id, "accept", "acceptedBy", "answer", "refuse")
	}
}

// race has sam and ann do something to one action each at the same instant.
func (w *world) race(id int64, do, told, sams, anns string) {
	w.Helper()
	var failed [2]error
	var wg sync.WaitGroup
	actions, who := []string{sams, anns}, []string{"sam", "ann"}
	for i := range who {
		wg.Go(func() { failed[i] = w.as(who[i]).do(id, actions[i], do) })
	}
	wg.Wait()
	winner, loser := 0, 1
	if failed[0] != nil {
		winner, loser = 1, 0
	}
	if failed[winner] != nil || failed[loser] == nil {
		w.Fatalf("sam: %v, ann: %v", failed[0], failed[1])
	}
	problem, _ := errors.AsType[*errs.Error](failed[loser])
	if problem == nil || problem.Kind != errs.ActionNotEnabled || problem.Extra[told] != who[winner] || !strings.Contains(problem.Detail, who[winner]) {
		w.Fatalf("%v; %s was faster", failed[loser], who[winner])
	}
}

// Deputies do for the absent what these may do with tasks, and only then.
func TestDoAsDeputy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("desk", routeDesk)
	id := w.as("sam").startCase(`{"route": "desk"}`)
	w.refused(w.as("eve").do(id, "check", "accept"), errs.NotFound)
	w.standsIn("eve", "bob")
	w.as("eve").mustDo(id, "check", "accept")
	w.as("bob").taskForm(id, "check").wants("acceptedBy", `"eve"`)
	w.as("bob").mustDo(id, "check", "release")
	w.as("eve").mustDo(id, "check", "perform")
	log := w.form(try(w.Cases.CaseLog(t.Context(), w.as("sam").by(), id, nil)).must(w, "log").Form)
	log.wants("2/actor", `"eve"`, "2/onBehalfOf", `"bob"`, "3/actor", `"bob"`, "3/onBehalfOf", "null", "4/actor", `"eve"`, "4/onBehalfOf", `"bob"`)
}

// Whom a task is delegated to sees the case as long as it is, and so does
// that user's deputy.
func TestDelegateSees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	admin.mustPutRoute("desk", routeDesk)
	admin.mustPutParty(identity.User, "lou", `{}`)
	admin.mustPutParty(identity.User, "pam", `{}`)
	w.standsIn("pam", "lou")
	id := w.as("sam").startCase(`{"route": "desk"}`)
	seen := func(want bool) {
		t.Helper()
		for _, name := range []string{"lou", "pam"} {
			u := w.as(name)
			if listed := u.lists(engine.Filter{}) == fmt.Sprint(id); u.sees(id) != want || listed != want {
				t.Errorf("%s sees the case %v, lists it %v; want %v", name, u.sees(id), listed, want)
			}
		}
	}
	seen(false)
	try(w.as("bob").perform(id, "check", `{"do": "delegate", "to": "lou"}`)).must(w, "delegate")
	seen(true)
	w.as("pam").mustDo(id, "check", "perform")
	seen(false)
}

// work returns the names on one of the user's worklists.
func (u user) work(list engine.Worklist, f engine.Filter) string {
	u.Helper()
	return names(u.Worklists.Worklist(u.Context(), u.by(), list, f))
}

// Worklists show to everybody what is theirs, and nothing else: by role, team
// or deputy.
func TestWorklists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	admin.mustPutRoute("desk", routeDesk)
	id := w.as("eve").startCase(`{"route": "desk", "title": "Rates of November"}`)
	shows := func(who string, list engine.Worklist, want string) {
		t.Helper()
		if got, want := w.as(who).work(list, engine.Filter{}), strings.ReplaceAll(want, "#", fmt.Sprint(id)); got != want {
			t.Errorf("%s of %s: %q, want %q", list, who, got, want)
		}
	}
	shows("sam", engine.WorklistOffered, "#.answer #.refuse")
	shows("ann", engine.WorklistOffered, "#.answer #.refuse")
	shows("bob", engine.WorklistOffered, "#.check")
	shows("admin", engine.WorklistOffered, "#.file")
	shows("eve", engine.WorklistOffered, "")
	w.standsIn("eve", "bob")
	shows("eve", engine.WorklistOffered, "#.check")
	shows("bob", engine.WorklistOffered, "#.check") // who keeps it
	w.as("ann").mustDo(id, "answer", "accept")
	shows("sam", engine.WorklistOffered, "")
	shows("ann", engine.WorklistOffered, "")
	shows("ann", engine.WorklistAccepted, "#.answer")
	shows("sam", engine.WorklistAccepted, "")
	w.as("eve").mustDo(id, "check", "accept")
	shows("eve", engine.WorklistAccepted, "#.check")
	shows("bob", engine.WorklistAccepted, "#.check")
	w.as("ann").mustDo(id, "answer", "release")
	w.as("sam").mustDo(id, "answer", "reject")
	shows("sam", engine.WorklistOffered, "#.refuse")
	shows("ann", engine.WorklistOffered, "#.answer #.refuse")
	try(w.as("ann").perform(id, "answer", `{"do": "delegate", "to": "eve"}`)).must(w, "delegate")
	shows("ann", engine.WorklistOffered, "#.refuse")
	shows("eve", engine.WorklistOffered, "#.answer")
	w.as("sam").mustDo(id, "refuse", "accept")

	// Who leaves the team has nothing to do any more, who joins has.
	admin.mustPutParty(identity.Team, "core", `{"members": ["ann"]}`)
	shows("sam", engine.WorklistAccepted, "")
	w.as("admin").mustDo(id, "refuse", "release")
	shows("sam", engine.WorklistOffered, "")
	admin.mustPutParty(identity.Team, "core", `{"members": ["sam"]}`)
	shows("sam", engine.WorklistOffered, "#.answer #.refuse")

	// CS7: a suspended case has none.
	admin.mustPutCase(fmt.Sprintf("%d.json", id), `{"state": "suspended"}`)
	shows("sam", engine.WorklistOffered, "")
	admin.mustPutCase(fmt.Sprintf("%d.json", id), `{"state": "active"}`)
	shows("sam", engine.WorklistOffered, "#.answer #.refuse")

	// An ended case has no tasks.
	w.as("sam").mustDo(id, "answer", "perform")
	for _, who := range []string{"sam", "bob", "admin", "eve"} {
		for _, list := range []engine.Worklist{engine.WorklistOffered, engine.WorklistAccepted, engine.WorklistWarnings, engine.WorklistEscalated} {
			shows(who, list, "")
		}
	}
}

// A worklist is paged and filtered.
func TestWorklistPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	admin.mustPutRoute("desk", routeDesk)
	admin.mustPutRoute("other", strings.Replace(routeDesk, `"team:core"`, `"team:core", "starter"`, 1))
	var all []string
	for i := range 7 {
		id := w.as("eve").startCase(fmt.Sprintf(`{"route": %q, "title": "No. %d"}`, []string{"desk", "other"}[i%2], i))
		all = append(all, fmt.Sprintf("%d.answer", id), fmt.Sprintf("%d.refuse", id))
	}
	w.as("ann").startCase(`{"route": "ask"}`) // with a task of the team as well
	same(t, "all of two routes", sam.work(engine.WorklistOffered, engine.Filter{Query: "no."}), strings.Join(all, " "))
	for _, limit := range []int{1, 3, 4, 100} {
		var got []string
		f := engine.Filter{Limit: limit, Query: "no."}
		for {
			page := try(w.Worklists.Worklist(t.Context(), sam.by(), engine.WorklistOffered, f)).must(w, "a page")
			for i := range page {
				got = append(got, page[i].Name)
			}
			if len(page) < limit {
				break
			}
			f.After = page[limit-1].Seq
		}
		same(t, fmt.Sprintf("pages of %d", limit), strings.Join(got, " "), strings.Join(all, " "))
	}
	for want, f := range map[string]engine.Filter{
		strings.Join(all[2:4], " "): {Query: "NO. 1"},
		all[6]:                      {Limit: 1, Query: "no. 3"},
		all[0] + " " + all[4]:       {Route: "DESK", Query: "answer", Role: "clerk", Limit: 2},
		"":                          {Context: "mine"},
		all[1]:                      {Context: "eve", Query: "refuse", Limit: 1},
	} {
		same(t, fmt.Sprintf("%+v", f), sam.work(engine.WorklistOffered, f), want)
	}
	for _, f := range []engine.Filter{{Route: "nothere"}, {Role: "boss"}, {Context: "nobody"}, {Query: "nothing"}} {
		same(t, fmt.Sprintf("%+v", f), sam.work(engine.WorklistOffered, f), "")
	}
	w.refused(try(w.Worklists.WorklistTask(t.Context(), sam.by(), engine.WorklistOffered, 1, "answer")).err, errs.NotFound)
}

// Warnings are shown to whose tasks they are about, what the engine failed to
// do to whoever may have it retried; a worklist's file is the case's.
func TestWarningsAndEscalated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	admin.mustPutRoute("weak", `{"access": {"start": ["everyone"], "admin": ["bob"]}, "roles": {"clerk": {"assign": ["starter"]}},
		"states": {"open": {"type": "start"}, "done": {"type": "complete"}},
		"actions": {"begin": {"trigger": "init"}, "wait": {"in": ["open"], "role": "clerk", "guard": "xattr.n > 1", "to": "done"},
			"robot": {"in": ["open"], "trigger": "auto", "decide": "xattr.none", "outputs": {"something": "done"}}}}`)
	id := w.as("sam").startCase(`{"route": "weak", "xattrDict": {"n": "x"}}`)
	same(t, "warnings of sam", w.as("sam").work(engine.WorklistWarnings, engine.Filter{}), fmt.Sprintf("%d.wait", id))
	same(t, "offered to sam", w.as("sam").work(engine.WorklistOffered, engine.Filter{}), "")
	same(t, "warnings of bob, who administers the route", w.as("bob").work(engine.WorklistWarnings, engine.Filter{}), fmt.Sprintf("%d.wait", id))
	for _, who := range []string{"bob", "admin", "sam"} {
		same(t, "escalated to "+who, w.as(who).work(engine.WorklistEscalated, engine.Filter{}), fmt.Sprintf("%d.robot", id))
	}
	same(t, "escalated to ann", w.as("ann").work(engine.WorklistEscalated, engine.Filter{}), "")
	listed := try(w.Worklists.WorklistTask(t.Context(), w.as("bob").by(), engine.WorklistEscalated, id, "robot")).must(w, "the task")
	shown := try(w.Cases.Task(t.Context(), w.as("bob").by(), id, "robot")).must(w, "the task")
	same(t, "one file", listed.FormETag+string(listed.Form), shown.FormETag+string(shown.Form))
	w.as("bob").mustDo(id, "robot", "abort")
	same(t, "escalated to bob", w.as("bob").work(engine.WorklistEscalated, engine.Filter{}), "")
}

// To move a task between the lists accepts and releases it.
func TestMoveTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("desk", routeDesk)
	id := w.as("eve").startCase(`{"route": "desk"}`)
	move := func(who string, from, to engine.Worklist) error {
		_, err := w.Worklists.MoveTask(t.Context(), w.as(who).request(nil), engine.TaskMove{CaseID: id, Action: "answer", From: from, To: to})
		return err
	}
	w.refused(move("sam", engine.WorklistAccepted, engine.WorklistOffered), errs.ActionNotEnabled)
	w.refused(move("sam", engine.WorklistOffered, engine.WorklistWarnings), errs.NotMovable)
	if err := move("sam", engine.WorklistOffered, engine.WorklistAccepted); err != nil {
		t.Fatal(err)
	}
	w.refused(move("ann", engine.WorklistOffered, engine.WorklistAccepted), errs.ActionNotEnabled)
	w.refused(move("ann", engine.WorklistAccepted, engine.WorklistOffered), errs.NotAllowed)
	if err := move("sam", engine.WorklistAccepted, engine.WorklistOffered); err != nil {
		t.Fatal(err)
	}
	w.as("ann").taskForm(id, "answer").wants("state", `"offered"`, "acceptedBy", "null")
}
