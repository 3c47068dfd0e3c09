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

func TestPerform(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	id := sam.startCase(`{"route": "ask"}`)
	tasks := try(w.Cases.Tasks(t.Context(), ann.by(), id)).must(w, "tasks")
	same(t, "tasks", names(tasks, nil), "answer note audit")
	task := try(w.Cases.Task(t.Context(), ann.by(), id, "answer")).must(w, "the task")
	w.form(task.Form).wants("case", fmt.Sprint(id), "action", `"answer"`, "state", `"offered"`, "roles", `["helper"]`, "assignees", `["core"]`)
	same(t, "the task's ETag", task.FormETag, tasks[0].FormETag)

	out := try(ann.perform(id, "answer", `{"do": "perform", "comment": "42"}`)).must(w, "answer")
	same(t, "outcome", fmt.Sprint(out.CaseID, out.Life, out.Status, out.LogSeq, out.Changed), fmt.Sprint(id, "active", "answered", 3, true))
	sam.caseForm(id).wants("status", `"answered"`, "enabledActions", `["close","note","audit"]`)
	log := w.form(try(w.Cases.CaseLog(t.Context(), sam.by(), id, nil)).must(w, "log").Form)
	log.wants("2/kind", `"action"`, "2/action", `"answer"`, "2/actor", `"ann"`, "2/from", `"open"`, "2/to", `"answered"`,
		"2/comment", `"42"`, "2/trigger", `"user"`, "2/text", `"Answered"`, "2/seq", "3", "3", "absent")
	text := string(try(w.Cases.CaseLogText(t.Context(), sam.by(), id, nil)).must(w, "log").Form)
	if lines := strings.Split(text, "\n"); len(lines) != 4 || !strings.Contains(lines[2], "ann Answered (open → answered): 42") {
		t.Errorf("log.txt:\n%s", text)
	}
	sam.mustPerform(id, "close")
	sam.caseForm(id).wants("state", `"completed"`, "status", `"closed"`, "enabledActions", `["reopen","note","audit"]`)
	out = sam.mustPerform(id, "reopen")
	same(t, "reopened", fmt.Sprint(out.Life, " ", out.Status), "active open")

	// A task's complete form may be saved back, which does nothing until it says what.
	task = try(w.Cases.Task(t.Context(), ann.by(), id, "answer")).must(w, "the task")
	same(t, "the form saved back", try(ann.perform(id, "answer", string(task.Form))).must(w, "the form saved back").Idle, true)
	// What it shows and saving it cannot change is refused if it was edited, unless the
	// form is an older one, or is only in another order.
	for was, now := range map[string]string{`"caseTitle": "Question"`: `"caseTitle": "Answer"`, `"assignees": ["core"]`: `"assignees": ["bob"]`} {
		edited := strings.Replace(string(task.Form), was, now, 1)
		_, err := ann.perform(id, "answer", edited)
		w.refused(err, errs.Invalid, "/"+now[1:strings.Index(now, `":`)]+" read-only")
	}
	old := strings.Replace(strings.Replace(string(task.Form), `"caseTitle": "Question"`, `"caseTitle": "Answer"`, 1), `"version": `, `"version": 1`, 1)
	same(t, "an older form saved back", try(ann.perform(id, "answer", old)).must(w, "an older form").Idle, true)
	said := strings.Replace(string(task.Form), `"do": ""`, `"do": "perform"`, 1)
	same(t, "the form that says what", try(ann.perform(id, "answer", said)).must(w, "the form that says what").Idle, false)
	_, err := w.Cases.Task(t.Context(), ann.by(), id, "answer")
	w.refused(err, errs.NotFound) // no more enabled
}

// The checks come in the order of docs/contract/engine.md#checks: the document,
// the case, the action, the condition, what is enabled, the right, the
// document's faults.
func TestPerformOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.as("sam").startCase(`{"route": "ask"}`)
	const wrong = `{"commnt": "x"}`
	for _, test := range []struct {
		who    string
		id     int64
		action string
		doc    string
		option []option
		want   errs.Kind
	}{
		{"eve", id, "nothere", `{`, []option{ifMatch(`"x"`)}, errs.NotParseable},
		{"eve", id, "answer", wrong, []option{ifMatch(`"x"`)}, errs.NotFound},
		{"sam", 99999, "answer", wrong, []option{ifMatch(`"x"`)}, errs.NotFound},
		{"sam", id, "nothere", wrong, []option{ifMatch(`"x"`)}, errs.NotFound},
		{"sam", id, "ask", wrong, []option{ifMatch(`"x"`)}, errs.Precondition},
		{"sam", id, "close", wrong, []option{ifMatch(`"x"`)}, errs.Precondition},
		{"sam", id, "close", wrong, nil, errs.ActionNotEnabled},
		{"sam", id, "audit", wrong, nil, errs.NotAllowed},
		{"ann", id, "answer", wrong, nil, errs.Invalid},
		{"ann", id, "answer", `[]`, nil, errs.Invalid},
		{"ann", id, "answer", `{"do": "explode"}`, nil, errs.Invalid},
		{"ann", id, "answer", `{"xattrDict": {"a": 1}}`, nil, errs.Invalid},
		{"ann", id, "answer", `{"resolution": "fixed"}`, nil, errs.Invalid},
		{"ann", id, "answer", `{"comment": 5, "xattrDict": 7}`, nil, errs.Invalid},
	} {
		_, err := w.as(test.who).perform(test.id, test.action, test.doc, test.option...)
		if got := errs.KindOf(err); got != test.want {
			t.Errorf("%s performs %s with %s: %v; want %s", test.who, test.action, test.doc, err, test.want)
		}
	}
	same(t, "log", len(w.as("sam").logTexts(id)), 2)

	// Of a task the condition is strict.
	ann := w.as("ann")
	etag := try(w.Cases.Task(t.Context(), ann.by(), id, "note")).must(w, "the task").FormETag
	try(ann.perform(id, "note", `{}`, ifMatch(etag))).must(w, "note")
	w.advance(1e9)
	try(ann.perform(id, "note", `{}`)).must(w, "note")
	_, err := ann.perform(id, "note", `{}`, ifMatch(etag))
	w.refused(err, errs.Precondition)
}

// What is refused names what is possible, and who was faster.
func TestActionNotEnabled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	id := sam.startCase(`{"route": "ask"}`)
	ann.mustPerform(id, "answer")
	w.advance(5e9)
	_, err := sam.perform(id, "answer", `{}`)
	w.refused(err, errs.ActionNotEnabled)
	problem, _ := errors.AsType[*errs.Error](err)
	same(t, "members of the problem", problem.Extra, map[string]any{
		"enabled": []string{"close", "note", "audit"}, "performedBy": "ann", "performedAt": start,
	})
	_, err = sam.perform(id, "reopen", `{}`)
	problem, _ = errors.AsType[*errs.Error](err)
	if problem == nil || problem.Extra["performedBy"] != nil {
		t.Errorf("nobody reopened: %v", err)
	}
}

// A link in a mail leads to a task that somebody has done since: who may see the case is
// told what became of it.
func TestTaskThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	id := sam.startCase(`{"route": "ask"}`)
	ann.mustPerform(id, "answer")
	for _, test := range []struct {
		who, action, want string
	}{
		{"sam", "answer", `"answer" is done: ann performed it at ` + start + `; nothing is left to do for it. The case is active, in "answered"; its log.txt says more.`},
		{"sam", "reopen", `"reopen" cannot be done now. The case is active, in "answered"; its log.txt says more.`},
		{"sam", "nothing", "There is no such enabled action, or you may not see it."},
		{"eve", "answer", "There is no such case, or you may not see it."},
	} {
		_, err := w.Cases.Task(t.Context(), w.as(test.who).by(), id, test.action)
		w.refused(err, errs.NotFound)
		same(t, test.who+" "+test.action, err.Error(), test.want)
	}
}

// Two save a task at once: the condition of the second one fails, and it is told who was
// faster. That nothing is at the address says nothing.
func TestConditionOnATaskThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	id := sam.startCase(`{"route": "ask"}`)
	etag := try(w.Cases.Task(t.Context(), sam.by(), id, "answer")).must(w, "the task").FormETag
	ann.mustPerform(id, "answer")
	_, err := sam.perform(id, "answer", `{"do": "perform"}`, ifMatch(etag))
	w.refused(err, errs.Precondition)
	same(t, "the refusal", err.Error(), `"answer" is done: ann performed it at `+start+`; nothing is left to do for it. The case is active, in "answered"; its log.txt says more.`)
}

// A wrong word in "do" names what this task offers, and the way to do it.
func TestWrongDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "ask"}`)
	for do, want := range map[string]string{
		"answer": `1:8 /do: must be one of perform, accept, reject, delegate, not "answer"; write "perform" to do "answer"`,
		"acept":  `1:8 /do: must be one of perform, accept, reject, delegate, not "acept"; did you mean "accept"?`,
		"yes":    `1:8 /do: must be one of perform, accept, reject, delegate, not "yes"; write "perform" to do what the task asks for`,
	} {
		_, err := sam.perform(id, "answer", `{"do": "`+do+`"}`)
		w.refused(err, errs.Invalid)
		same(t, do, err.Error(), want)
	}
}

// An XATTR that is written beside xattrDict belongs below it: in what starts a case, in
// its file, in its tasks and in schedule entries.
func TestXattrBesideXattrDict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("buy", `
access: {start: [everyone]}
xattrs: {amount: {type: number}}
states: {asked: {type: start}, done: {type: complete}}
actions:
  ask: {trigger: init}
  agree: {in: [asked], allowed: everyone, to: done}
`)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "buy"}`)
	refused := func(what string, err error) {
		t.Helper()
		w.refused(err, errs.Invalid)
		problem, _ := errors.AsType[*errs.Error](err)
		if want := `is not a known field; "amount" is an XATTR of the route: write it below xattrDict`; len(problem.Faults) != 1 || problem.Faults[0].Detail != want {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}
	_, err := sam.putCase("new.json", `{"route": "buy", "amount": 900}`)
	refused("a start", err)
	_, err = sam.putCase(fmt.Sprint(id)+".json", `{"amount": 900}`)
	refused("a case", err)
	_, err = sam.perform(id, "agree", `{"amount": 900}`)
	refused("a task", err)
	_, err = sam.putEntry("a.json", `{"route": "buy", "type": "cron", "hour": 5, "amount": 900}`)
	refused("an entry", err)
	_, err = sam.putCase("new.json", `{"route": "buy", "height": 900}`)
	w.refused(err, errs.Invalid)
	if strings.Contains(err.Error(), "xattrDict") {
		t.Errorf("a word that is not an XATTR: %v", err)
	}
}

// Who may perform: players of the roles, those it allows, the route's
// admins; whoever else sees the case may not.
func TestPerformRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	admin.mustPutParty(identity.User, "lou", `{}`)
	admin.mustPutRoute("run", routeRun())
	start := func() int64 { return w.as("sam").startCase(`{"route": "run", "stakeholders": ["lou"]}`) }
	for action, who := range map[string]map[string]errs.Kind{
		"answer": {"sam": "", "ann": "", "bob": "", "admin": "", "lou": errs.NotAllowed, "eve": errs.NotFound},
		"note":   {"sam": "", "ann": "", "bob": "", "admin": "", "lou": "", "eve": errs.NotFound},
		"audit":  {"sam": errs.NotAllowed, "ann": errs.NotAllowed, "bob": "", "admin": "", "lou": errs.NotAllowed, "eve": errs.NotFound},
	} {
		for name, want := range who {
			_, err := w.as(name).perform(start(), action, `{}`)
			if got := errs.KindOf(err); got != want {
				t.Errorf("%s performs %s: %v; want %q", name, action, err, want)
			}
		}
	}
	// Who leaves the team has lost the right at once.
	id := start()
	admin.mustPutParty(identity.Team, "core", `{"members": ["sam"]}`)
	_, err := w.as("ann").perform(id, "answer", `{}`)
	w.refused(err, errs.NotFound)
}

// Of two who perform at once one wins, whoever loses is told who was faster.
func TestOneWinner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const rounds = 100
	var lost []error
	for range rounds {
		id := w.as("sam").startCase(`{"route": "ask", "roles": {"helper": ["ann", "bob"]}}`)
		outs, failed := [2]*engine.Outcome{}, [2]error{}
		var wg sync.WaitGroup
		for i, who := range []string{"ann", "bob"} {
			wg.Go(func() { outs[i], failed[i] = w.as(who).perform(id, "answer", `{}`) })
		}
		wg.Wait()
		winner, loser := 0, 1
		if failed[0] != nil {
			winner, loser = 1, 0
		}
		if failed[winner] != nil || failed[loser] == nil {
			t.Fatalf("ann: %v, bob: %v", failed[0], failed[1])
		}
		lost = append(lost, failed[loser])
		problem, _ := errors.AsType[*errs.Error](failed[loser])
		want := []string{"ann", "bob"}[winner]
		if problem == nil || problem.Kind != errs.ActionNotEnabled || problem.Extra["performedBy"] != want {
			t.Fatalf("%v; %s was faster", failed[loser], want)
		}
		if log := w.as("sam").logTexts(id); len(log) != 3 {
			t.Fatalf("log: %q", log)
		}
	}
	same(t, "losers", len(lost), rounds)
}

// Performing is serialised, whoever does it: none is lost, none twice.
func TestPerformTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.as("sam").startCase(`{"route": "ask", "roles": {"helper": ["core", "bob"]}}`)
	const each = 8
	var wg sync.WaitGroup
	for _, who := range []string{"sam", "ann", "bob", "admin"} {
		for range each {
			wg.Go(func() {
				if _, err := w.as(who).perform(id, "note", `{}`); err != nil {
					t.Errorf("%s: %v", who, err)
				}
			})
		}
	}
	wg.Wait()
	log := w.form(try(w.Cases.CaseLog(t.Context(), w.as("sam").by(), id, nil)).must(w, "log").Form)
	same(t, "entries of the log", len(log.node.Items), 2+4*each)
	for i := range log.node.Items {
		log.wants(fmt.Sprint(i)+"/seq", fmt.Sprint(i+1))
	}
}

// An XATTR is what expressions and readers of JSON can take, wherever it is
// given.
func TestNumbersThatNoDoubleHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "ask", "xattrDict": {"n": 1e308}}`)
	const dict = `"xattrDict": {"n": 1e400, "m": -1e999, "o": []}`
	_, err := sam.perform(id, "note", `{`+dict+`}`)
	w.refused(err, errs.Invalid, "/xattrDict/n range", "/xattrDict/m range", "/xattrDict/o type")
	_, err = sam.putCase("", `{"route": "ask", `+dict+`}`)
	w.refused(err, errs.Invalid, "/xattrDict/n range", "/xattrDict/m range", "/xattrDict/o type")
	_, err = sam.putCase(fmt.Sprint(id, ".json"), `{"xattrDict": {"n": 1e400}}`)
	w.refused(err, errs.Invalid, "/xattrDict/n range")
	_, err = sam.putEntry("", `{"type": "interval", "minutes": 1, "route": "ask", "xattrDict": {"n": 1e400}}`)
	w.refused(err, errs.Invalid, "/xattrDict/n range")
	sam.caseForm(id).wants("xattrDict", `{"n":1e308}`)
}
