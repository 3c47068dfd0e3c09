package engine_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const routeTrouble = `
title: Desk
access: {start: [everyone], read: [everyone], admin: [dora]}
roles: {clerk: {assign: ["user:bob"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, past: Begun}
  check: {title: Check it, in: [open], role: clerk, to: done, past: Checked, dueIn: P1D}
  weigh:
    in: [open]
    trigger: message
    message: Weight
    decide: message.Weight
    outputs: {light: done}
`

func troubleWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	w.as("admin").mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	w.as("admin").mustPutRoute("desk", "context: ann\n"+strings.TrimPrefix(routeTrouble, "\n"))
	return w
}

// TestTroubleIsTold: what fails in a case is told to its starter and the
// administrators of the route: once, again a day later, and when it is mended
// (docs/contract/routes.md#what-is-wrong).
func TestTroubleIsTold(t *testing.T) {
	t.Parallel()
	w := troubleWorld(t)
	id := w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	since := w.toldSince(id)
	since()
	if _, err := w.as("sam").putLabel(id, "Weight", "\"heavy\""); err != nil {
		t.Fatal(err)
	}
	told := since()
	same(t, "told", strings.Join(toWhom(told), " "), "ann@example.org dora@example.org sam@example.org")
	if !strings.HasPrefix(told[0], "ann@example.org: Failed: One: ") {
		t.Errorf("told %q", told)
	}
	w.advance(time.Hour)
	same(t, "an hour later", since(), []string(nil))
	w.reopen()
	w.advance(23 * time.Hour)
	same(t, "a day later", prefixed(since(), "Still failed: One", "Overdue: Check it (One)"), []string{
		"ann@example.org", "ann@example.org", "bob@example.org", "dora@example.org", "dora@example.org", "sam@example.org", "sam@example.org",
	})
	w.as("bob").mustPerform(id, "check")
	same(t, "the end", since(), []string{
		"ann@example.org: No longer failed: One",
		"dora@example.org: No longer failed: One",
		"sam@example.org: Checked: One",
	})
	w.advance(72 * time.Hour)
	same(t, "afterwards", since(), []string(nil))
}

// TestMendedIsTold: that something is done when it is tried again is told to everybody who
// was told of it, the starter as well, but not to whoever has it tried.
func TestMendedIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	w.as("admin").mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	w.as("admin").mustPutRoute("load", `
context: ann
access: {start: [everyone], read: [everyone], admin: [dora]}
states: {open: {type: start}, loaded: {}, done: {type: complete}}
roles: {all: {assign: ["user:bob"]}}
actions:
  begin: {trigger: init}
  load: {in: [open], trigger: auto, to: loaded, onFire: [{set: {x: {cel: message.Data.x}}}]}
  finish: {in: [loaded], role: all, to: done}
`)
	id := w.as("sam").startCase(`{"route": "load", "title": "One"}`)
	since := w.toldSince(id)
	same(t, "told", prefixed(since(), "Failed: One: The route is at fault: message.Data.x: no such key: Data."), []string{
		"ann@example.org", "bob@example.org: begin: One", "dora@example.org", "sam@example.org",
	})
	put := func(text string) {
		if _, err := w.as("sam").putLabel(id, "Data", text); err != nil {
			t.Fatal(err)
		}
		since()
		w.as("dora").mustDo(id, "load", "retry")
	}
	put(`{"y": 1}`)
	same(t, "it fails again", since(), []string(nil))
	w.advance(24 * time.Hour)
	same(t, "a day later, why it failed the last time", prefixed(since(), "Still failed: One: The route is at fault: message.Data.x: no such key: x."), []string{"ann@example.org", "dora@example.org", "sam@example.org"})
	put(`{"x": 1}`)
	same(t, "tried again", prefixed(since(), "Mended: One"), []string{"ann@example.org", "bob@example.org: To do: finish (One)", "sam@example.org"})
	w.advance(48 * time.Hour)
	same(t, "afterwards", since(), []string(nil))
}

// TestNobodyCanDoIt: a task without anybody is in the warnings of the case, and told
// until there is somebody.
func TestNobodyCanDoIt(t *testing.T) {
	t.Parallel()
	w := troubleWorld(t)
	w.as("admin").mustPutParty(identity.User, "bob", `{"disabled": true}`)
	id := w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	since := w.toldSince(id)
	want := []string{
		"ann@example.org: Nobody can do it: Check it (bob is disabled) (One)",
		"dora@example.org: Nobody can do it: Check it (bob is disabled) (One)",
		"sam@example.org: Nobody can do it: Check it (bob is disabled) (One)",
	}
	same(t, "told", since(), want)
	if text := w.as("sam").caseForm(id).get("warnings"); !strings.Contains(text, "Nobody can do it: Check it") {
		t.Errorf("warnings %s", text)
	}
	w.as("sam").mustPutCase(ref(id), `{"title": "Two"}`)
	same(t, "another event", since(), []string(nil))
	w.as("admin").mustPutParty(identity.User, "bob", `{"disabled": false}`)
	same(t, "at once", prefixed(since(), "Somebody can do it: Check it (Two)"), []string{"ann@example.org", "bob@example.org: To do: Check it (Two)", "dora@example.org", "sam@example.org"})
	w.advance(24 * time.Hour)
	same(t, "a day later", prefixed(since(), "Overdue: Check it (Two)"), []string{"ann@example.org", "bob@example.org", "dora@example.org", "sam@example.org"})
	if text := w.as("sam").caseForm(id).get("warnings"); strings.Contains(text, "Nobody") {
		t.Errorf("warnings %s", text)
	}
}

// TestTroubleOfACanceledCase ends with the case.
func TestTroubleOfACanceledCase(t *testing.T) {
	t.Parallel()
	w := troubleWorld(t)
	id := w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	if _, err := w.as("sam").putLabel(id, "Weight", "\"heavy\""); err != nil {
		t.Fatal(err)
	}
	since := w.toldSince(id)
	since()
	w.as("dora").mustPutCase(ref(id), `{"state": "canceled"}`)
	same(t, "told", since(), []string{
		"ann@example.org: Canceled: One", "bob@example.org: Canceled: One", "sam@example.org: Canceled: One",
	})
	w.advance(48 * time.Hour)
	same(t, "afterwards", since(), []string(nil))
}

// TestLastFiringFails: the author of an entry of which the last instant fails is told
// that it was the last one, and not again. The administrators are told, too.
func TestLastFiringFails(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	w.as("admin").mustPutParty(identity.User, "admin", `{"email": "root@example.org"}`)
	ann := w.as("ann")
	ann.mustPutEntry("", `{"type": "simple", "date": "2012-11-09T14:00:00Z", "route": "desk", "title": "Once"}`)
	w.as("admin").mustPutRoute("desk", "context: admin\n"+strings.Replace(routeTold, "start: [everyone], ", "", 1))
	w.advance(48 * time.Hour)
	for _, address := range []string{"ann@example.org", "root@example.org"} {
		same(t, address, w.sentTo(address), []string{`09 14:00 Not started: Once: There is no route "desk" that ann may start cases of.`})
	}
	w.view(func(r store.Reader) error {
		rows, err := r.Outbox().Due("mail", w.clock.Now(), 10)
		if len(rows) == 0 || !strings.Contains(string(rows[0].Request), "That was its last instant") || strings.Contains(string(rows[0].Request), "It goes on") {
			t.Errorf("in the outbox: %d rows", len(rows))
		}
		return err
	})
}

// TestAFailingEntryIsDeleted: those who were told that it fails are told that it was
// deleted, but not who has done that, and nothing after that.
func TestAFailingEntryIsDeleted(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	w.as("admin").mustPutParty(identity.User, "admin", `{"email": "root@example.org"}`)
	ann := w.as("ann")
	ann.mustPutEntry("e.json", `{"type": "interval", "hours": 1, "route": "desk", "title": "Hourly"}`)
	w.as("admin").mustPutRoute("desk", "context: admin\n"+strings.Replace(routeTold, "start: [everyone], ", "", 1))
	w.advance(2 * time.Hour)
	if err := ann.deleteEntry("e.json"); err != nil {
		t.Fatal(err)
	}
	w.advance(48 * time.Hour)
	same(t, "ann", w.sentTo("ann@example.org"), []string{`09 13:34 Not started: Hourly: There is no route "desk" that ann may start cases of.`})
	same(t, "the administrator", w.sentTo("root@example.org"), []string{`09 13:34 Not started: Hourly: There is no route "desk" that ann may start cases of.`, "09 14:34 Deleted: Hourly"})
}

// TestAFailingEntryIsMended: those who were told that an entry fails are told when it has
// started a case again: at an instant, or by a trigger, also if a PUT came between.
func TestAFailingEntryIsMended(t *testing.T) {
	t.Parallel()
	for name, mend := range map[string]func(ann user){
		"by a trigger":  func(ann user) { ann.mustPutEntry("e.json", `{"do": "trigger"}`) },
		"at an instant": func(ann user) { ann.advance(time.Hour) },
		"after a PUT":   func(ann user) { ann.mustPutEntry("e.json", failingEntry); ann.advance(time.Hour) },
		"by a trigger, after PUT": func(ann user) {
			ann.mustPutEntry("e.json", failingEntry)
			ann.mustPutEntry("e.json", `{"do": "trigger"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := mailsWorld(t)
			admin, ann := w.as("admin"), w.as("ann")
			admin.mustPutParty(identity.User, "admin", `{"email": "root@example.org"}`)
			ann.mustPutEntry("e.json", failingEntry)
			admin.mustPutRoute("desk", "context: admin\n"+strings.Replace(routeTold, "start: [everyone], ", "", 1))
			w.advance(time.Hour)
			wantsLines(t, try(ann.statusEntry("e.json")).must(w, "its status"), "Its next firing fails, because There is no route \"desk\" that ann may start cases of.")
			admin.mustPutRoute("desk", "context: admin\n"+routeTold)
			mend(ann)
			told := []string{`09 13:34 Not started: Hourly: There is no route "desk" that ann may start cases of.`}
			for _, line := range w.sentTo("root@example.org")[1:] {
				if _, what, _ := strings.Cut(line, " "); strings.Contains(what, "Hourly") && !strings.Contains(what, "Answer") {
					told = append(told, what[6:])
				}
			}
			same(t, "the administrator", told, []string{`09 13:34 Not started: Hourly: There is no route "desk" that ann may start cases of.`, "Started: Hourly"})
			w.advance(48 * time.Hour)
			for _, line := range w.sentTo("root@example.org") {
				if strings.Contains(line, "Still") {
					t.Errorf("told again: %s", line)
				}
			}
		})
	}
}

const failingEntry = `{"type": "interval", "hours": 1, "route": "desk", "title": "Hourly"}`

// toWhom returns the addresses of what was told.
func toWhom(told []string) (to []string) {
	for _, line := range told {
		address, _, _ := strings.Cut(line, ": ")
		to = append(to, address)
	}
	return to
}

// prefixed returns the addresses of what was told, and what was told if that begins
// in none of the ways.
func prefixed(told []string, ways ...string) []string {
	to := toWhom(told)
	for i, line := range told {
		if !slices.ContainsFunc(ways, func(way string) bool { return strings.HasPrefix(line, to[i]+": "+way) }) {
			to[i] = line
		}
	}
	return to
}

func ref(id int64) string { return strconv.FormatInt(id, 10) }

// TestOneOverdueTaskIsOneThing: of a task that was neither accepted nor done in time people
// are told one thing a day, and one when it is over.
func TestOneOverdueTaskIsOneThing(t *testing.T) {
	t.Parallel()
	w := troubleWorld(t)
	w.as("admin").mustPutRoute("offers", `
title: Offers
context: ann
access: {start: [everyone], read: [everyone], admin: [dora]}
roles: {clerk: {assign: ["user:bob"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, past: Begun}
  check: {title: Check it, in: [open], role: clerk, to: done, past: Checked, accept: required, offerTimeout: PT2H, dueIn: PT5H}
`)
	id := w.as("sam").startCase(`{"route": "offers", "title": "One"}`)
	since := w.toldSince(id)
	since()
	ofBob := func() []string { return prefixedOf(since(), "bob@example.org: ") }
	w.advance(3 * time.Hour)
	same(t, "not accepted", ofBob(), []string{"Not accepted in time: Check it (One)"})
	w.advance(3 * time.Hour)
	same(t, "not done either", ofBob(), []string{"Overdue: Check it (One)"})
	for range 3 {
		w.advance(24 * time.Hour)
		same(t, "daily", ofBob(), []string{"Still overdue: Check it (One)"})
	}
	w.as("bob").mustDo(id, "check", "accept")
	same(t, "accepted", ofBob(), []string(nil))
	w.as("bob").mustPerform(id, "check")
	same(t, "over", prefixedOf(since(), "dora@example.org: "), []string{"No longer overdue: Check it (One)"})
}

// prefixedOf returns the rest of the lines with that prefix.
func prefixedOf(lines []string, prefix string) (out []string) {
	for _, line := range lines {
		if rest, is := strings.CutPrefix(line, prefix); is {
			out = append(out, rest)
		}
	}
	return out
}
