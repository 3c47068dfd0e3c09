package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// routeTrier is a job whose failure leads to a state in which its owner can give it
// up, and which tells the owner of it by a mail of its own if that is put in.
const routeTrier = `
title: Job
access: {start: [everyone], read: [everyone], admin: [dora]}
roles: {owner: {assign: [starter]}}
states: {running: {type: start}, done: {type: complete, title: Done}, failed: {type: failed, title: Failed}, over: {type: cancelled, title: Over}}
actions:
  run: {title: Run, trigger: init, sideEffects: [{exec: {command: sort, into: Answer}}], onError: {steps: [%s], to: failed}}
  finish: {trigger: message, message: Answer, in: [running], to: done}
  give-up: {title: Give up, past: Given up, in: [failed], role: owner, to: over}
`

// inbox is what people get by mail, in real time.
type inbox struct {
	*world
	outside *outsideWorld
	kinds   *failureKinds
	read    int
}

// withInbox plays something in a world whose people get mails: dora administers the
// route "job", sam starts its cases.
// play has the context of k: that of the test outside is not one of the bubble.
func withInbox(t *testing.T, source string, play func(*inbox)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		outside, kinds := &outsideWorld{}, &failureKinds{}
		w, stop := realTime(t, func(w *world) {
			w.config = func(c *engine.Config) {
				c.Outside, c.Channels, c.Observer = outside, engine.Channels{Mail: true}, kinds
			}
		})
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
		w.as("admin").mustPutRoute("job", "context: dora\n"+strings.TrimPrefix(source, "\n"))
		play(&inbox{world: w, outside: outside, kinds: kinds})
	})
}

// failureKinds is told what fails, as metrics are.
type failureKinds struct {
	mu    sync.Mutex
	kinds []string
}

func (*failureKinds) Fired(engine.Firing) {}
func (*failureKinds) Performed(string)    {}
func (*failureKinds) CaseStarted()        {}
func (*failureKinds) CaseEnded(string)    {}

func (f *failureKinds) Failed(kind string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kinds = append(f.kinds, kind)
}

func (f *failureKinds) list() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.kinds)
}

// wait lets time pass, and everything that it sets off.
func (k *inbox) wait(d time.Duration) {
	await(d)
	k.clock.Set(clock.Real{}.Now())
}

// works says what becomes of commands and requests from now on; nil: they get through.
func (k *inbox) works(failure error) {
	k.outside.set(func(_ context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
		if d.Mail != nil {
			return nil, nil
		}
		if failure != nil {
			return nil, failure
		}
		return &outbox.Reply{MediaType: "application/json", Content: []byte(`{}`)}, nil
	})
}

// news returns who got what since the last call, "name: subject", and the mails by that.
func (k *inbox) news() (lines []string, texts map[string]string) {
	k.Helper()
	texts = map[string]string{}
	all := k.outside.seen()
	for ; k.read < len(all); k.read++ {
		if m := all[k.read].Mail; m != nil {
			name, _, _ := strings.Cut(m.To[0], "@")
			line := name + ": " + m.Subject
			lines, texts[line] = append(lines, line), strings.Join(strings.Fields(m.Text), " ")
		}
	}
	slices.Sort(lines)
	return lines, texts
}

// TestOneMailOfAFailure: nobody gets two mails of a failure, or of its end, whatever
// comes with it (docs/contract/routes.md#what-is-wrong).
func TestOneMailOfAFailure(t *testing.T) {
	t.Parallel()
	withInbox(t, fmt.Sprintf(routeTrier, ""), func(k *inbox) {
		k.works(&outbox.Final{Reason: "disk full"})
		id := k.as("sam").startCase(`{"route": "job", "title": "One", "stakeholders": ["eve"]}`)
		k.wait(time.Second)
		got, texts := k.news()
		same(t, "it fails", got, []string{"dora: Failed: One: disk full", "eve: Failed: One", "eve: Run: One", "sam: Failed: One: disk full"})
		for line, want := range map[string]string{
			"dora: Failed: One: disk full": fmt.Sprintf(`Try it again: /cases/%[1]d?do=retry&open=run.3-1#todo The page of the case has it tried again or gives it up. On the drive, save {"do": "retry"} to /dav/Workflow/Cases/%[1]d/Actions/run.3-1.json to have it tried again, or {"do": "abort"} to give it up. With the command line: flowdrive resume %[1]d`, id),
			"sam: Failed: One: disk full": fmt.Sprintf("Those who administer the route can have it tried again or give it up: dora. "+
				"You can also do one of these: Give up: /cases/%d?open=give-up#todo", id),
		} {
			if !strings.Contains(texts[line], want) {
				t.Errorf("%s: no %q in %s", line, want, texts[line])
			}
		}
		if text := texts["sam: Failed: One: disk full"]; !strings.Contains(text, "You get this because you started the case.") {
			t.Errorf("why sam is told: %s", text)
		}

		k.works(nil)
		k.as("dora").mustDo(id, "run", "retry")
		k.wait(time.Second)
		got, texts = k.news()
		same(t, "it is mended", got, []string{"dora: Mended: One", "eve: Done: One", "sam: Done: One"})
		if text := texts["sam: Done: One"]; !strings.Contains(text, "This also ends what had been wrong since") || !strings.Contains(text, "disk full.") {
			t.Errorf("what sam is told: %s", text)
		}
		if text := texts["dora: Mended: One"]; !strings.Contains(text, "because you administer the route.") {
			t.Errorf("why dora is told: %s", text)
		}
	})
	withInbox(t, fmt.Sprintf(routeTrier, `{mail: {to: ["role:owner"], subject: "It broke", text: "$__ERROR_TEXT__;"}}`), func(k *inbox) {
		k.works(&outbox.Final{Reason: "disk full"})
		id := k.as("sam").startCase(`{"route": "job", "title": "One"}`)
		k.wait(time.Second)
		got, _ := k.news()
		same(t, "the route tells its owner", got, []string{"dora: Failed: One: disk full", "sam: Failed: One: disk full", "sam: It broke"})
		k.as("sam").mustPerform(id, "give-up")
		k.wait(time.Second)
		got, _ = k.news()
		same(t, "who gives it up knows", got, []string{"dora: No longer failed: One"})
	})
}

// TestGivenUpIsNotMended: who gives something up is not told; the others are told that
// it was given up, and by whom.
func TestGivenUpIsNotMended(t *testing.T) {
	t.Parallel()
	withInbox(t, strings.Replace(fmt.Sprintf(routeTrier, ""), ", onError: {steps: [], to: failed}", "", 1), func(k *inbox) {
		k.works(&outbox.Final{Reason: "disk full"})
		id := k.as("sam").startCase(`{"route": "job", "title": "One"}`)
		k.wait(time.Second)
		k.news()
		k.as("dora").mustDo(id, "run", "abort")
		k.wait(time.Second)
		got, texts := k.news()
		same(t, "given up", got, []string{"sam: Given up: One"})
		if text := texts["sam: Given up: One"]; !strings.Contains(text, "It was given up by dora, and is not tried again.") || !strings.Contains(text, "because you started the case.") {
			t.Errorf("what sam is told: %s", text)
		}
		k.wait(72 * time.Hour)
		got, _ = k.news()
		same(t, "afterwards", got, []string(nil))
	})
}

// TestNotDeliveredYet: a service that answers 503 is tried for a day. Within an hour
// people are told, once, and once when it gets through; everywhere the case says how
// often it was tried, what came of it and when it is tried next.
func TestNotDeliveredYet(t *testing.T) {
	t.Parallel()
	source := strings.Replace(fmt.Sprintf(routeTrier, ""), "{exec: {command: sort,", `{http: {url: "https://api.example.org/",`, 1)
	withInbox(t, source, func(k *inbox) {
		k.works(errors.New("the service answered 503 Service Unavailable"))
		sam := k.as("sam")
		id := sam.startCase(`{"route": "job", "title": "One"}`)
		k.wait(time.Minute)
		text := string(try(k.Status.Case(k.Context(), sam.by(), id)).must(k.world, "its status").Text)
		if !strings.Contains(text, "attempts have failed, the last one because: the service answered 503 Service Unavailable. The next one is at 2000-01-01 00:0") {
			t.Errorf("its status after a minute: %s", text)
		}
		k.wait(time.Hour)
		got, texts := k.news()
		const dora = "dora: Not delivered yet: One: the service answered 503 Service Unavailable"
		same(t, "within an hour", got, []string{dora, strings.Replace(dora, "dora", "sam", 1)})
		if !strings.Contains(texts[dora], "attempts have failed. It is tried again at 2000-01-01 0") || !strings.Contains(texts[dora], "and further until 2000-01-0") {
			t.Errorf("what dora is told: %s", texts[dora])
		}
		late := string(try(k.Status.Page(k.Context(), sam.by(), engine.StatusLate)).must(k.world, "what is late").Text)
		if !strings.Contains(late, "Not delivered yet: http: ") || !strings.Contains(late, "503") {
			t.Errorf("what is late: %s", late)
		}
		sam.caseForm(id).wants("state", `"active"`)
		k.wait(3 * time.Hour)
		got, _ = k.news()
		same(t, "once", got, []string(nil))
		k.works(nil)
		k.wait(2 * time.Hour)
		got, _ = k.news()
		same(t, "it gets through", got, []string{"dora: Delivered: One", "sam: Done: One"})
		sam.caseForm(id).wants("warnings", "[]")
	})
	withInbox(t, source, func(k *inbox) {
		k.works(errors.New("the service answered 503 Service Unavailable"))
		k.as("sam").startCase(`{"route": "job", "title": "One"}`)
		k.wait(2 * time.Hour)
		k.news()
		k.wait(30 * time.Hour)
		got, _ := k.news()
		for _, name := range []string{"dora", "sam"} {
			if !slices.Contains(got, name+": Failed: One: the service answered 503 Service Unavailable") {
				t.Errorf("after a day %s is told %q", name, got)
			}
		}
	})
}

// TestWhatHasFailedIsATask: each failure has a file to which people can save what is
// to be done, by the name that the mail has; and a state of the type failed has tasks.
func TestWhatHasFailedIsATask(t *testing.T) {
	t.Parallel()
	withInbox(t, fmt.Sprintf(routeTrier, ""), func(k *inbox) {
		k.works(&outbox.Final{Reason: "disk full"})
		dora, sam := k.as("dora"), k.as("sam")
		id := sam.startCase(`{"route": "job", "title": "One"}`)
		k.wait(time.Second)
		for _, name := range []string{"run", "run.3-1"} {
			dora.taskForm(id, name).wants("state", `"escalated"`, "error", `"disk full"`, "choices/retry", `"It is sent again."`)
		}
		same(t, "the task of who administers the route", dora.work(engine.WorklistEscalated, engine.Filter{}), fmt.Sprintf("%d.run.3-1", id))
		same(t, "the task of the owner", sam.work(engine.WorklistOffered, engine.Filter{}), fmt.Sprintf("%d.give-up", id))
	})
	source := strings.Replace(fmt.Sprintf(routeTrier, ""), "{exec: {command: sort, into: Answer}}", `{log: Begun}`, 1)
	source = strings.Replace(source, "in: [running], to: done}", `in: [running], onFire: [{jq: {from: Answer, filter: ".a", to: B}}], to: done, onError: {steps: [], to: failed}}`, 1)
	withInbox(t, source, func(k *inbox) {
		dora, sam := k.as("dora"), k.as("sam")
		id := sam.startCase(`{"route": "job", "title": "One"}`)
		if _, err := sam.putLabel(id, "Answer", "not JSON"); err != nil {
			t.Fatal(err)
		}
		k.wait(time.Second)
		same(t, "the task", dora.work(engine.WorklistEscalated, engine.Filter{}), fmt.Sprintf("%d.finish", id))
		wantsLines(t, dora.statusPage(engine.StatusLate), "Could not be done by the server", fmt.Sprintf("case %d: One", id), "No other case has failed.")
		form := dora.taskForm(id, "finish")
		form.wants("step", `"jq"`, "choices/retry", `"The case goes back to \"running\", and the engine tries again."`)
		k.refused(sam.do(id, "finish", "abort"), errs.NotAllowed)
		k.news()
		dora.mustDo(id, "finish", "abort")
		k.wait(time.Second)
		got, _ := k.news()
		same(t, "given up", got, []string{"sam: Given up: One"})
		_, err := k.Cases.Task(k.Context(), dora.by(), id, "finish")
		k.refused(err, errs.NotFound)
		sam.caseForm(id).wants("state", `"failed"`, "status", `"failed"`)
		for _, who := range []string{"sam", "dora", "admin"} { // nobody needs to do anything about it
			page := k.as(who).statusPage(engine.StatusLate)
			wantsLines(t, page, "The server could do everything.", "No case has failed.")
		}
	})
}

// TestLettersOfASandboxHaveTheirDate: what is told again a day later has the date of
// that day.
func TestLettersOfASandboxHaveTheirDate(t *testing.T) {
	t.Parallel()
	var dates []string
	w := newWorld(t, func(w *world) {
		w.config = func(cfg *engine.Config) {
			cfg.Channels = engine.Channels{Mail: true}
			cfg.Letter = func(_ string, m *machine.Mail, to string, at time.Time) ([]byte, error) {
				dates = append(dates, at.Format("02 15:04 ")+to+" "+m.Subject)
				return []byte(m.Subject), nil
			}
		}
	})
	w.as("admin").mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	w.as("admin").mustPutRoute("desk", "context: dora\n"+strings.TrimPrefix(routeTrouble, "\n"))
	id := w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	if _, err := w.as("sam").putLabel(id, "Weight", "\"heavy\""); err != nil {
		t.Fatal(err)
	}
	w.advance(24 * time.Hour)
	if !slices.ContainsFunc(dates, func(line string) bool {
		return strings.HasPrefix(line, "10 12:00 dora@example.org Still failed: One: ")
	}) {
		t.Errorf("letters %q", dates)
	}
}

// TestActiveRetriesWhatHasFailed: to save the state active to a failed case has
// everything tried again that has failed in it, by who may retry.
func TestActiveRetriesWhatHasFailed(t *testing.T) {
	t.Parallel()
	noHandler := strings.Replace(fmt.Sprintf(routeTrier, ""), ", onError: {steps: [], to: failed}", "", 1)
	for _, source := range []string{noHandler, fmt.Sprintf(routeTrier, "")} {
		withInbox(t, source, func(k *inbox) {
			k.works(&outbox.Final{Reason: "disk full"})
			sam, dora := k.as("sam"), k.as("dora")
			id := sam.startCase(`{"route": "job", "title": "One"}`)
			k.wait(time.Second)
			sam.mustPutCase(ref(id), `{"state": "failed", "title": "Two"}`) // as it is shown: nothing is tried again
			k.wait(time.Second)
			sam.caseForm(id).wants("state", `"failed"`, "title", `"Two"`)
			k.works(nil)
			_, err := sam.putCase(ref(id), `{"state": "active"}`)
			k.refused(err, errs.NotAllowed)
			dora.mustPutCase(ref(id), `{"state": "active"}`)
			k.wait(time.Second)
			sam.caseForm(id).wants("state", `"completed"`, "status", `"done"`)
		})
	}
	w := troubleWorld(t)
	id := w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	if _, err := w.as("sam").putLabel(id, "Weight", "\"heavy\""); err != nil {
		t.Fatal(err)
	}
	before := len(w.as("sam").logTexts(id))
	w.as("dora").mustPutCase(ref(id), `{"state": "active"}`)
	if log := w.as("sam").logTexts(id)[before:]; !slices.Contains(log, "task: Retried weigh") {
		t.Errorf("the log: %q", log)
	}
	w.as("sam").caseForm(id).wants("state", `"failed"`) // it has failed again
}

// TestASandboxSaysSo: what a sandbox does not do is said where people look, and a
// secret that is not set fails as outside.
func TestASandboxSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, reaching(&outsideWorld{}, nil))
	w.as("admin").mustPutRoute("job", routeJob(""))
	sam := w.as("sam")
	id := sam.startCase(`{"route": "job"}`)
	for name, f := range map[string]*engine.StatusFile{
		"the case": try(w.Status.Case(t.Context(), sam.by(), id)).must(w, "its status"), "the overview": try(w.Status.Page(t.Context(), sam.by(), engine.StatusOverview)).must(w, "the overview"),
	} {
		if !strings.Contains(string(f.Text), "This is a sandbox: no command is run, and no request and no mail is sent.") || !strings.Contains(string(f.JSON), `"sandbox": true`) {
			t.Errorf("%s: %s %s", name, f.Text, f.JSON)
		}
	}
	w.as("admin").mustPutRoute("call", strings.Replace(routeJob(""), "{exec: {command: sort,", `{http: {url: "https://api.example.org/", headers: {Authorization: {secret: unset}},`, 1))
	id = sam.startCase(`{"route": "call"}`)
	sam.caseForm(id).wants("state", `"failed"`)
	if log := strings.Join(sam.logTexts(id), "\n"); !strings.Contains(log, "Not delivered: http: ") || !strings.Contains(log, "is none") {
		t.Errorf("the log: %s", log)
	}
}

// TestStillWrongIsOneMail: what went wrong in the same hour is told again in one mail a
// day later, and nothing of it if it is over.
func TestStillWrongIsOneMail(t *testing.T) {
	t.Parallel()
	withInbox(t, fmt.Sprintf(routeTrier, ""), func(k *inbox) {
		k.works(&outbox.Final{Reason: "disk full"})
		for _, title := range []string{"One", "Two", "Three"} {
			k.as("sam").startCase(`{"route": "job", "title": "` + title + `"}`)
			k.wait(10 * time.Minute)
		}
		k.news()
		k.wait(24*time.Hour - 30*time.Minute)
		got, texts := k.news()
		same(t, "a day later", got, []string{"dora: 3 things are still wrong: Still failed: Three: disk full", "sam: 3 things are still wrong: Still failed: Three: disk full"})
		for _, text := range texts {
			for _, want := range []string{"3 things are still wrong: ", "Still failed: One: disk full", "Still failed: Two: disk full", "You get this because "} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in %s", want, text)
				}
			}
		}
	})
}
