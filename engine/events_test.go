package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/files"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// ear is a stream of somebody's.
type ear struct {
	user
	*engine.Stream
	last int64
}

func (u user) listen(last string) *ear {
	u.Helper()
	s := try(u.Listen(u.by(), last)).must(u.world, "listening")
	u.Cleanup(s.Close)
	return &ear{user: u, Stream: s}
}

// heard returns what was heard since, "kind change what" each.
func (e *ear) heard() []string {
	e.Helper()
	out := []string{}
	for more := true; more; {
		h := try(e.Next(e.Context())).must(e.world, "what there is to hear")
		if h.Reset {
			out = append(out, "reset")
		}
		for i := range h.Events {
			ev := &h.Events[i].Event
			what := ev.Name
			if ev.Kind == engine.EventDocument {
				what = what[strings.LastIndexByte(what, '/')+1:]
			}
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", ev.Kind, ev.Change, what)))
			if ev.Time.IsZero() || ev.Version == 0 && ev.Change != engine.ChangeDeleted {
				e.Errorf("%+v lacks something", ev)
			}
		}
		more, e.last = h.More, h.Last
	}
	return out
}

func (e *ear) hears(what string, want ...string) {
	e.Helper()
	same(e, "after "+what+" "+e.name+" hears", e.heard(), append([]string{}, want...))
}

func TestEventsOfCases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("desk", `
access: {start: [everyone]}
roles: {clerk: {assign: ["user:ann"]}}
states: {open: {type: start}, ready: {}, done: {type: complete}}
actions:
  begin: {trigger: init}
  check: {in: [open], role: clerk, to: ready, dueIn: PT1H, choice: one}
  pass: {in: [open], role: clerk, to: ready, choice: one}
  sign: {in: [ready], role: clerk, to: done, guard: "xattr.ok == 'yes'"}
`)
	sam, ann, eve := w.as("sam").listen(""), w.as("ann").listen(""), w.as("eve").listen("")
	id := w.as("sam").startCase(`{"route": "desk", "title": "One", "xattrDict": {"ok": "no"}}`)
	both := func(what string, want ...string) {
		t.Helper()
		sam.hears(what, want...)
		ann.hears(what, want...)
		eve.hears(what)
	}
	both("the start", "case created", "task offered check", "task offered pass")
	w.as("ann").mustDo(id, "check", "accept")
	both("accepting", "case changed", "task withdrawn pass", "task accepted check")
	w.advance(2 * time.Hour)
	both("the due date", "case timer-expired", "case changed", "task changed check")
	w.as("ann").mustDo(id, "check", "release")
	both("releasing", "case changed", "task offered check", "task offered pass")
	w.as("ann").mustPerform(id, "check")
	both("performing", "case changed", "task performed check", "task withdrawn pass", "task waiting sign")
	w.as("sam").mustPutCase(fmt.Sprint(id), `{"xattrDict": {"ok": "yes"}}`)
	both("an edit", "case changed", "task offered sign")
	w.as("ann").mustPerform(id, "sign")
	both("the end", "case changed", "task performed sign")
	_ = w.as("sam").mustPutCase(fmt.Sprint(id), `{"title": "Two"}`, func(r *engine.Request) { r.Now = w.clock.Now() })
	both("another edit", "case changed")
	if _, err := w.as("ann").perform(id, "sign", `{}`); err == nil {
		t.Error("it can be signed twice")
	}
	both("what was refused")
}

// TestEventsOfMessages: a message is heard of when it is written, though
// nothing else of the case changes by it.
func TestEventsOfMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "own", "title": "One"}`)
	ear := sam.listen("")
	w.advance(time.Hour)
	try(sam.putLabel(id, "Note", "x")).must(w, "writing a message")
	events := try(ear.Next(t.Context())).must(w, "what there is to hear").Events
	if len(events) != 1 || events[0].Event.Kind != engine.EventCase || events[0].Event.Change != engine.ChangeChanged || !events[0].Event.Time.Equal(w.clock.Now()) {
		t.Errorf("heard %+v, want a case that has changed at %s", events, w.clock.Now())
	}
}

func TestEventsOfEntries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann, bob := w.as("sam").listen(""), w.as("ann").listen(""), w.as("bob").listen("")
	const entry = `{"type": "cron", "route": "own", "minute": "0", "repeat": 2, "context": "core"}`
	uuid := w.as("sam").mustPutEntry("", entry).Name + ".json"
	ann.hears("storing it", "schedule created")
	w.as("sam").mustPutEntry(uuid, `{"type": "cron", "route": "own", "minute": "0", "repeat": 2, "context": "core", "title": "Other"}`)
	w.as("sam").mustPutEntry(uuid, `{"do": "pause"}`)
	w.as("sam").mustPutEntry(uuid, `{"do": "resume"}`)
	ann.hears("commands", "schedule changed", "schedule changed", "schedule changed")
	w.advance(time.Hour)
	ann.hears("an instant", "case created", "task offered end", "schedule fired")
	w.as("ann").mustPutRoute("own", "context: ann\n"+strings.Replace(routeOwn, "context: core\n", "", 1))
	w.as("ann").hearsNothingOf(ann, "route")
	w.advance(time.Hour)
	ann.hears("an instant that fails, the last one", "schedule failed", "schedule deleted")
	bob.hears("what is core's")
	if got := sam.heard(); len(got) == 0 || got[len(got)-1] != "schedule deleted" {
		t.Errorf("sam hears %q", got)
	}
}

// hearsNothingOf passes over what a kind of events says.
func (u user) hearsNothingOf(e *ear, kind string) {
	u.Helper()
	for _, ev := range e.heard() {
		if !strings.HasPrefix(ev, kind) {
			u.Errorf("heard %q", ev)
		}
	}
}

func TestEventsOfRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, eve := w.as("ann").listen(""), w.as("eve").listen("")
	w.as("ann").mustPutRoute("mine", routeOwn)
	w.as("ann").mustPutRoute("mine", routeOwn+"title: Mine\n")
	w.as("ann").mustPutRoute("mine", routeOwn+"title: Mine\n")
	if err := w.as("ann").deleteRoute("mine"); err != nil {
		t.Fatal(err)
	}
	// By now it is gone, and who could see it may hear so; what it was before
	// there is nobody to see.
	ann.hears("all of that", "route deleted mine")
	eve.hears("what was never hers")
	w.as("ann").mustPutRoute("other", routeOwn)
	ann.hears("storing another", "route created other")
	eve.hears("storing another")
	w.as("ann").mustPutRoute("other", routeOwn+"access: {read: [eve]}\n")
	ann.hears("storing it again", "route changed other")
	eve.hears("being given it", "route changed other")
}

func TestEventsOfDocuments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann, admin := w.as("sam").listen(""), w.as("ann").listen(""), w.as("admin").listen("")
	u := w.as("sam")
	u.mustMakeFolder("sam/plans")
	u.mustPutDocument("sam/plans/a.txt", "1")
	u.mustPutDocument("sam/plans/a.txt", "2")
	if _, err := u.copyDocument("sam/plans/a.txt", "core/b.txt", files.Transfer{}); err != nil {
		t.Fatal(err)
	}
	if _, err := u.moveDocument("sam/plans", "core/shared", files.Transfer{}); err != nil {
		t.Fatal(err)
	}
	if err := u.deleteDocument("core/shared"); err != nil {
		t.Fatal(err)
	}
	own := []string{"document created plans", "document created a.txt", "document changed a.txt"}
	shared := []string{"document created b.txt", "document created shared", "document deleted shared"}
	all := append(append(append([]string{}, own...), "document created b.txt", "document deleted plans"), shared[1:]...)
	sam.hears("all of that", all...)
	admin.hears("all of that", all...)
	ann.hears("all of that", shared...)
}

// TestEventsRights: who may hear of something is judged when it is told.
func TestEventsRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, eve := w.as("ann").listen(""), w.as("eve").listen("")
	id := w.as("sam").startCase(`{"route": "ask", "stakeholders": ["eve"]}`)
	w.as("sam").mustPerformNote(id)
	eve.heard()
	w.as("sam").mustPerformNote(id)
	w.as("sam").mustPutCase(fmt.Sprint(id), `{"stakeholders": []}`)
	eve.hears("what she might have seen before she was taken out")
	w.as("sam").mustPerformNote(id)
	eve.hears("what came after")

	// Ann is a helper as a member of core, and leaves it.
	if len(ann.heard()) == 0 {
		t.Error("ann hears nothing of the case")
	}
	w.as("sam").mustPerformNote(id)
	w.as("admin").mustPutParty(identity.Team, "core", `{"members": ["sam"], "admins": []}`)
	ann.hears("having left the team")

	w.as("admin").mustPutParty(identity.User, "eve", `{"disabled": true}`)
	select {
	case <-eve.Wake():
	default:
		t.Error("a disabled user's stream is not woken")
	}
	if _, err := eve.Next(t.Context()); !errs.Is(err, errs.LogIn) {
		t.Errorf("a disabled user goes on listening: %v", err)
	}
}

func (u user) mustPerformNote(id int64) {
	u.Helper()
	u.mustPerform(id, "note")
}

func TestEventsReplay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam").listen("")
	w.as("sam").startCase(`{"route": "auto"}`)
	sam.heard()
	first := fmt.Sprint(sam.last)
	w.as("sam").startCase(`{"route": "auto"}`)
	w.as("bob").startCase(`{"route": "auto"}`)
	sam.hears("another case", "case created")
	w.as("sam").listen(first).hears("what was missed", "case created")
	w.as("sam").listen(fmt.Sprint(sam.last)).hears("what was not missed")
	for _, never := range []string{"0", "-1", "x", "99999999999999999", "999999999999999999999999999"} {
		again := w.as("sam").listen(never)
		again.hears("the number "+never, "reset")
		w.as("sam").startCase(`{"route": "auto"}`)
		again.hears("a case after "+never, "case created")
	}
	w.reopen()
	again := w.as("sam").listen(first)
	again.hears("a restart", "reset")
	w.as("sam").startCase(`{"route": "auto"}`)
	again.hears("a case after the restart", "case created")
}

// TestEventsOfNothing: what was not stored is not told.
func TestEventsOfNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam").listen("")
	u := w.as("sam")
	dry := func(r *engine.Request) { r.DryRun = true }
	_, _ = u.putCase("", `{"route": "auto"}`, dry)
	_, _ = u.putEntry("", `{"type": "interval", "route": "auto", "hours": 1}`, dry)
	_, _ = u.putRoute("mine", routeAuto, dry)
	_, _ = u.putDocument("sam/x", "1", dry)
	if _, err := u.putCase("", `{"route": "nothing"}`); err == nil {
		t.Error("a case of no route")
	}
	sam.hears("what was not done")
}
