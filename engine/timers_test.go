package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/route"
	"flowdrive/store"
)

// routeTimers is a route with timers of all kinds for the team core.
const routeTimers = `{"access": {"start": ["everyone"], "read": ["everyone"]},
	"timeout": "P7D", "timers": {"review": {"limit": "PT5M", "onExpire": [{"log": "reviewed"}]}},
	"roles": {"clerk": {"assign": ["team:core"]}},
	"states": {"open": {"type": "start", "timeout": "P2D"}, "done": {"type": "complete"}},
	"actions": {
		"begin": {"trigger": "init", "onFire": [{"enableTimer": "review"}]},
		"answer": {"in": ["open"], "role": "clerk", "to": "done", "dueIn": "P1D", "offerTimeout": 3600, "onDue": [{"abort": "answer"}]},
		"give-up": {"in": ["open"], "trigger": "time", "timeout": "P30D", "to": "done"}
	}}`

func (u user) setTimer(id int64, name, doc string, options ...option) (*engine.Outcome, error) {
	return u.Cases.PutTimer(u.Context(), u.request(options), id, name, []byte(doc))
}

func (u user) timerForm(id int64, name string) form {
	u.Helper()
	return u.form(try(u.Cases.Timer(u.Context(), u.by(), id, name)).must(u.world, name).Form)
}

// What a case has of timers is listed, and shown as it is.
func TestTimers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	w.as("admin").mustPutRoute("timed", routeTimers)
	id := sam.startCase(`{"route": "timed"}`)
	start := w.clock.Now()
	at := func(d time.Duration) string { return `"` + start.Add(d).Format(time.RFC3339) + `"` }
	day := 24 * time.Hour

	listed := try(w.Cases.Timers(t.Context(), sam.by(), id)).must(w, "timers")
	same(t, "timers", names(listed, nil), "case state review answer.offer answer.due give-up.timeout")
	sam.timerForm(id, "case").wants("name", `"case"`, "kind", `"case"`, "state", `"running"`, "limit", `"P7D"`, "relative", "true", "expirationDate", at(7*day), "expired", "false", "action", "null")
	sam.timerForm(id, "state").wants("kind", `"state"`, "limit", `"P2D"`, "expirationDate", at(2*day))
	sam.timerForm(id, "review").wants("kind", `"user"`, "limit", `"PT5M"`, "expirationDate", at(5*time.Minute))
	sam.timerForm(id, "answer.due").wants("kind", `"due"`, "expirationDate", at(day), "action", `"answer"`)
	sam.timerForm(id, "answer.offer").wants("kind", `"offer"`, "expirationDate", at(time.Hour))
	sam.timerForm(id, "give-up.timeout").wants("kind", `"timeout"`, "limit", `"P30D"`, "expirationDate", at(30*day))
	sam.timerForm(id, "give-up.timeout").wants("action", `"give-up"`)
	sam.taskForm(id, "answer").wants("due", at(day), "acceptBy", at(time.Hour), "fireAt", "null")
	_, err := w.Cases.Timer(t.Context(), sam.by(), id, "give-up.due")
	w.refused(err, errs.NotFound)
	_, err = w.Cases.Timer(t.Context(), sam.by(), id, "nothere")
	w.refused(err, errs.NotFound)

	// The due time of the case is the first of all.
	w.advance(5 * time.Minute)
	sam.timerForm(id, "review").wants("expired", "true", "state", `"running"`)
	w.advance(time.Hour)
	ann.taskForm(id, "answer").wants("warnings/0/timer", `"answer.offer"`)
	w.view(func(r store.Reader) error {
		row, err := r.Cases().Get(id)
		if err == nil {
			same(t, "due", row.Due, start.Add(day))
		}
		return err
	})
	if texts := strings.Join(sam.logTexts(id), "\n"); !strings.Contains(texts, "reviewed") || strings.Count(texts, "TimerExpired") != 2 {
		t.Errorf("log:\n%s", texts)
	}
	try(sam.putCase(fmt.Sprint(id), `{"state": "suspended"}`)).must(w, "suspend")
	sam.timerForm(id, "case").wants("state", `"suspended"`)
	sam.timerForm(id, "answer.due").wants("state", `"suspended"`)
	try(sam.setTimer(id, "case", `{"limit": "PT1H"}`)).must(w, "set while suspended")
	sam.timerForm(id, "case").wants("state", `"suspended"`, "expirationDate", "null")
	w.advance(day)
	ann.timerForm(id, "answer.due").wants("expired", "false")
	try(sam.putCase(fmt.Sprint(id), `{"state": "active"}`)).must(w, "resume")
	_, err = w.Cases.Timer(t.Context(), sam.by(), id, "answer.due")
	w.refused(err, errs.NotFound) // its handler has aborted the task
	sam.timerForm(id, "case").wants("state", `"running"`, "expirationDate", `"`+w.clock.Now().Add(time.Hour).Format(time.RFC3339)+`"`)
}

// People set limits, whatever the route says; documents are judged like all
// others.
func TestSetTimer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	w.as("admin").mustPutRoute("timed", routeTimers)
	id := w.as("eve").startCase(`{"route": "timed"}`)
	old := try(w.Cases.Timer(t.Context(), ann.by(), id, "answer.due")).must(w, "timer")

	out := try(ann.setTimer(id, "answer.due", `{"limit": "P3D"}`, ifMatch(old.FormETag))).must(w, "set")
	w.form(out.Form).wants("limit", `"P3D"`, "relative", "true", "expired", "false")
	same(t, "the ETag", out.FormETag, try(w.Cases.Timer(t.Context(), ann.by(), id, "answer.due")).must(w, "timer").FormETag)
	_, err := ann.setTimer(id, "answer.due", `{"limit": "P4D"}`, ifMatch(old.FormETag))
	w.refused(err, errs.Precondition)
	ann.mustSetTimer(id, "answer.due", `{"limit": 300}`)
	ann.timerForm(id, "answer.due").wants("limit", `"PT5M"`)
	ann.mustSetTimer(id, "answer.due", `{"limit": "2112-09-15T21:59:00+01:00"}`)
	ann.timerForm(id, "answer.due").wants("limit", `"2112-09-15T20:59:00Z"`, "relative", "false", "expirationDate", `"2112-09-15T20:59:00Z"`)
	form := try(w.Cases.Timer(t.Context(), ann.by(), id, "answer.due")).must(w, "timer").Form
	ann.mustSetTimer(id, "answer.due", string(form)) // as it was read
	ann.mustSetTimer(id, "answer.due", `{"limit": null}`)
	ann.timerForm(id, "answer.due").wants("limit", "null", "relative", "null", "expirationDate", "null", "state", `"running"`)
	before := w.snapshot()
	ann.mustSetTimer(id, "answer.due", `{}`)
	try(ann.setTimer(id, "answer.due", `{"limit": "P1D"}`, dryRun())).must(w, "a dry run")
	for doc, fault := range map[string]string{
		`{"limit": "next friday"}`:         "/limit format",
		`{"limit": "P1M"}`:                 "/limit format",
		`{"limit": "2004-09-31T21:59:00"}`: "/limit format",
		`{"limit": ""}`:                    "/limit format",
		`{"limit": -5}`:                    "/limit range",
		`{"limit": 1.5}`:                   "/limit range",
		`{"limit": 1e300}`:                 "/limit range",
		`{"limit": true}`:                  "/limit type",
		`{"limit": {"cel": "1"}}`:          "/limit type",
		`{"limit": "P1D", "name": "case"}`: "/name read-only",
		`{"limt": "P1D"}`:                  "/limt unknown-field",
		`[]`:                               " type",
	} {
		_, err := ann.setTimer(id, "answer.due", doc)
		w.refused(err, errs.Invalid)
		if got := strings.Join(faultsOf(err), "|"); got != fault {
			t.Errorf("%s: %q, want %q (%v)", doc, got, fault, err)
		}
		if strings.HasSuffix(fault, "limit format") && !strings.Contains(fmt.Sprint(err), route.LimitForm) && !strings.Contains(fmt.Sprint(err), "give the date") {
			t.Errorf("%s: the forms are not told: %v", doc, err)
		}
	}
	_, err = ann.setTimer(id, "answer.due", ``)
	w.refused(err, errs.EmptyDocument)
	_, err = ann.setTimer(id, "answer.due", `{`)
	w.refused(err, errs.NotParseable)
	_, err = sam.setTimer(id, "case", `{"limit": "P1D"}`) // neither starter nor administrator
	w.refused(err, errs.NotAllowed)
	_, err = sam.setTimer(id, "nothere", `{`)
	w.refused(err, errs.NotFound)
	same(t, "nothing has changed", w.snapshot(), before)

	// The action performs itself at another time, and with the case's end
	// there is nothing to set any more.
	w.as("admin").mustSetTimer(id, "give-up.timeout", `{"limit": 60}`)
	out = try(ann.setTimer(id, "answer.due", `{"limit": 0}`)).must(w, "due at once") // its handler aborts the task
	same(t, "the case is shown", out.Name, "")
	w.form(out.Form).wants("id", fmt.Sprint(id))
	w.advance(time.Minute)
	sam.caseForm(id).wants("state", `"completed"`)
	_, err = w.as("eve").setTimer(id, "case", `{"limit": "P1D"}`)
	w.refused(err, errs.CaseNotOpen)
	other := w.as("eve").startCase(`{"route": "timed"}`)
	try(w.as("eve").putCase(fmt.Sprint(other), `{"state": "canceled"}`)).must(w, "cancel")
	_, err = w.as("eve").setTimer(other, "case", `{"limit": "P1D"}`)
	w.refused(err, errs.ReadOnly)
}

func (u user) mustSetTimer(id int64, name, doc string) {
	u.Helper()
	if _, err := u.setTimer(id, name, doc); err != nil {
		u.Fatalf("%s sets %s to %s: %v", u.name, name, doc, err)
	}
}

// TM-80: where the unit in which a timer expires fails, nothing of it has
// happened, and it expires once when the store is back.
func TestTimerExpiresOnceAfterFailures(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	w.as("admin").mustPutRoute("timed", routeTimers)
	id := w.as("eve").startCase(`{"route": "timed"}`)
	before := w.snapshot()
	failing := 0
	s.before = func(write) error {
		if failing++; failing <= 2 {
			return unavailable()
		}
		return nil
	}
	_, err := w.Advance(t.Context(), to(w.clock.Now().Add(5*time.Minute)), w.clock.Set)
	if err == nil {
		t.Fatal("the store failed, and nobody noticed")
	}
	same(t, "nothing has happened", w.snapshot(), before)
	s.before = nil
	w.advanceTo(w.clock.Now().Add(5 * time.Minute).Format(time.RFC3339))
	if texts := strings.Join(w.as("eve").logTexts(id), "\n"); strings.Count(texts, "TimerExpired") != 1 || strings.Count(texts, "reviewed") != 1 {
		t.Errorf("log:\n%s", texts)
	}
}

// TM-82: of several who find a timer due exactly one lets it expire.
func TestTimerExpiresOnceInRace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("timed", routeTimers)
	id := w.as("eve").startCase(`{"route": "timed"}`)
	w.clock.Set(w.clock.Now().Add(5 * time.Minute)) // nobody has swept yet
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := w.Advance(ctx, to(w.clock.Now()), w.clock.Set); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, err := w.as("ann").setTimer(id, "answer.offer", `{"limit": "PT2H"}`); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if texts := strings.Join(w.as("eve").logTexts(id), "\n"); strings.Count(texts, "TimerExpired: review") != 1 {
		t.Errorf("log:\n%s", texts)
	}
}
