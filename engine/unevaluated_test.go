package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/identity"
)

const routeConditions = `
context: ann
access: {start: [everyone], read: [everyone], admin: [dora]}
roles: {clerk: {assign: ["user:bob"]}}
states: {open: {type: start}, other: {}, done: {type: complete}}
actions:
  begin: {trigger: init}
  check: {title: Check, in: [open], role: clerk, to: done, guard: xattr.amount > 5}
  extra: {title: Extra, in: [open], role: clerk, enableIf: xattr.kind == "x"}
  leave: {in: [open], allowed: everyone, to: other}
  back: {in: [other], allowed: everyone, to: open}
  need: {in: [other], trigger: auto, guard: timers.case.expired, to: done}
  nudge: {in: [open], allowed: everyone, onFire: [{perform: need}]}
`

func conditionsWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	w.as("admin").mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	w.as("admin").mustPutRoute("desk", routeConditions)
	for _, name := range []string{"sam", "bob"} {
		w.as(name).mustPutMe(`{"mail": {"kinds": ["failure", "mended"]}}`)
	}
	return w
}

// TestUnevaluatedIsTold: a guard or enableIf that cannot be evaluated is told as what
// fails is: once, again a day later, and once when it can be evaluated; that the case has
// gone on without it, as that (docs/contract/engine.md#failures).
func TestUnevaluatedIsTold(t *testing.T) {
	t.Parallel()
	w := conditionsWorld(t)
	id := w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	told := w.toldSince(id)
	const (
		guard    = `ailed: One: guard of "check" could not be evaluated: no such key: amount`
		enableIf = `ailed: One: enableIf of "extra" could not be evaluated: no such key: kind`
		people   = "ann@example.org dora@example.org sam@example.org"
	)
	who := func(list []string, subject string) string {
		var names []string
		for _, line := range list {
			if name, is := strings.CutSuffix(strings.ReplaceAll(line, `\`, ""), ": "+subject); is {
				names = append(names, name)
			}
		}
		return strings.Join(names, " ")
	}
	got := told()
	same(t, "guard, at once", who(got, "F"+guard), people)
	same(t, "enableIf, at once", who(got, "F"+enableIf), people)
	if late := w.as("dora").statusPage(engine.StatusLate); !strings.Contains(late, `enableIf of "extra"`) || !strings.Contains(late, `guard of "check"`) {
		t.Errorf("late.txt says\n%s", late)
	}
	w.advance(23 * time.Hour)
	w.reopen()
	w.advance(time.Hour)
	got = told()
	same(t, "guard, a day later", who(got, "Still f"+guard), people)
	same(t, "enableIf, a day later", who(got, "Still f"+enableIf), people)

	w.as("dora").mustPutCase(ref(id), `{"xattrDict": {"amount": 3}}`)
	same(t, "false is no fault", strings.Join(told(), "\n"), "ann@example.org: Mended: One\nsam@example.org: Mended: One")
	w.as("sam").mustPerform(id, "leave")
	got = told()
	same(t, "the state is left", who(got, "No longer failed: One"), "ann@example.org dora@example.org")
	if text := w.as("sam").caseForm(id).get("warnings"); text != "[]" {
		t.Errorf("in another state: %s", text)
	}
	w.advance(72 * time.Hour)
	same(t, "afterwards", told(), []string(nil))
	w.as("sam").mustPerform(id, "back")
	same(t, "again", who(told(), "F"+enableIf), people)
	w.as("dora").mustPutCase(ref(id), `{"state": "canceled"}`)
	same(t, "canceled", who(told(), "Canceled: One"), "ann@example.org sam@example.org")
}

// TestPerformWithoutEffectIsTold: what a step was to perform, and could not, is told, and
// goes when the case leaves the state.
func TestPerformWithoutEffectIsTold(t *testing.T) {
	t.Parallel()
	w := conditionsWorld(t)
	id := w.as("sam").startCase(`{"route": "desk", "title": "One", "xattrDict": {"amount": 1, "kind": "y"}}`)
	told := w.toldSince(id)
	told()
	w.as("bob").mustPerform(id, "nudge")
	const text = `perform of "need" by nudge had no effect: the action is not enabled`
	since := func(subject string) string {
		var names []string
		for _, line := range told() {
			if name, _, is := strings.Cut(strings.ReplaceAll(line, `\`, ""), ": "+subject); is {
				names = append(names, name)
			}
		}
		return strings.Join(names, " ")
	}
	same(t, "at once", since("Failed: One: "+text), "ann@example.org dora@example.org sam@example.org")
	if late := w.as("dora").statusPage(engine.StatusLate); !strings.Contains(late, text) {
		t.Errorf("late.txt says\n%s", late)
	}
	if log := strings.Join(w.as("sam").logTexts(id), "\n"); !strings.Contains(log, "No effect: perform by nudge") {
		t.Errorf("the log says\n%s", log)
	}
	w.advance(24 * time.Hour)
	same(t, "a day later", since("Still failed: One: "+text), "ann@example.org dora@example.org sam@example.org")
	w.as("sam").mustPerform(id, "leave")
	told()
	w.advance(72 * time.Hour)
	same(t, "in another state", since("Still"), "")
}

const routeStaffed = `
context: ann
access: {start: [everyone], read: [everyone], admin: [dora]}
roles: {clerk: {assign: ["call:on-duty", "user:bob"]}, other: {assign: ["user:bob"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  give: {in: [open], allowed: everyone, onFire: [{assign: {role: other, to: ["xattr:who"]}}]}
  watch: {in: [open], allowed: everyone, onFire: [{addStakeholders: [starter, "xattr:who"]}]}
  finish: {in: [open], allowed: everyone, to: done, onFire: [{suspend: true}]}
`

// TestStepsForNobodyAreTold: that a callback yields nobody, that a step gives a role to
// nobody or leaves some out, and that a case is complete which was to be suspended, is told
// as what fails is, and that the same step has found them, once.
func TestStepsForNobodyAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.config = func(c *engine.Config) {
			c.Channels = engine.Channels{Mail: true}
			c.Callbacks = map[string]outbox.CallbackFunc{"on-duty": func(context.Context, outbox.CallbackInput) (json.RawMessage, error) {
				return nil, errors.New("the rota cannot be read")
			}}
		}
	})
	w.as("admin").mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	w.as("admin").mustPutRoute("desk", routeStaffed)
	for _, name := range []string{"sam", "bob"} {
		w.as(name).mustPutMe(`{"mail": {"kinds": ["failure", "mended"]}}`)
	}
	id := w.as("sam").startCase(`{"route": "desk", "title": "One", "xattrDict": {"who": "nemo"}}`)
	told := w.toldSince(id)
	who := func(subject string) string {
		t.Helper()
		var names []string
		for _, line := range told() {
			if name, text, is := strings.Cut(strings.ReplaceAll(line, `\`, ""), ": "); is && text == subject {
				names = append(names, strings.TrimSuffix(name, "@example.org"))
			}
		}
		return strings.Join(names, " ")
	}
	same(t, "a callback", who("Failed: One: The callback on-duty yields nobody: the rota cannot be read"), "ann dora sam")
	w.as("bob").mustPerform(id, "give")
	const given = `assign of "other" by give names nobody: no user or team is called nemo`
	same(t, "a role", who("Failed: One: "+given), "ann dora sam")
	if late := w.as("dora").statusPage(engine.StatusLate); !strings.Contains(late, given) {
		t.Errorf("late.txt says\n%s", late)
	}
	w.as("bob").mustPerform(id, "watch")
	same(t, "stakeholders", who("Failed: One: addStakeholders by watch leaves some out: no user or team is called nemo"), "ann dora sam")
	w.as("dora").mustPutCase(ref(id), `{"xattrDict": {"who": "bob"}}`)
	told()
	w.as("bob").mustPerform(id, "give")
	same(t, "it names somebody", who("Mended: One"), "ann dora sam")
	w.as("bob").mustPerform(id, "finish")
	same(t, "it is complete", who("Failed: One: suspend by finish had no effect: the case is complete"), "ann dora sam")
}
