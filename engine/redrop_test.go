package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
)

// Routes whose cases fail on an input without a number n: while they start, in an action
// that stays escalated, and in one that leads to a state of the type failed.
const (
	failsAtStart = `
access: {start: [everyone]}
xattrs: {fixed: {edit: []}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, onFire: [{set: {n: {cel: 'int(message["InputMessage"].n)'}}}]}
  finish: {trigger: auto, in: [open], to: done}
`
	failsInAction = `
access: {start: [everyone]}
xattrs: {fixed: {edit: []}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  finish: {trigger: auto, in: [open], to: done, onFire: [{set: {n: {cel: 'int(message["InputMessage"].n)'}}}]}
`
	failsAside = `
access: {start: [everyone]}
xattrs: {fixed: {edit: []}}
states: {open: {type: start}, done: {type: complete}, broken: {type: failed}}
onError: {to: broken}
actions:
  begin: {trigger: init}
  finish: {trigger: auto, in: [open], to: done, onFire: [{set: {n: {cel: 'int(message["InputMessage"].n)'}}}]}
`
)

// TestDropOfFailedCase: a file that is saved again after its case has failed is the input of
// that case, which is tried again, by its author though they do not administer the route.
func TestDropOfFailedCase(t *testing.T) {
	t.Parallel()
	for name, route := range map[string]string{"start": failsAtStart, "action": failsInAction, "aside": failsAside} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.as("admin").mustPutRoute("load", route)
			sam := w.as("sam")
			first := sam.mustDrop("load", "rates.json", `{"n": "x"}`)
			sam.caseForm(first.CaseID).wants("state", `"failed"`)
			listed := fmt.Sprintf("rates.json=%d", first.CaseID)
			same(t, "the file stays while its case has failed", sam.aliases("load"), listed)

			still := sam.mustDrop("load", "rates.json", `{"n": "y"}`)
			if still.Created || !still.Retried || still.CaseID != first.CaseID {
				t.Errorf("tried again, and fails again: %+v", still)
			}
			sam.caseForm(first.CaseID).wants("state", `"failed"`)
			same(t, "the file", sam.dropped("load", "rates.json"), `application/json: {"n": "y"}`)

			_, err := sam.drop("load", "rates.json", `{"n": "8"}`, func(d *engine.Drop) {
				d.Xattrs = label.Dict{{Key: "fixed", Value: label.Text("x")}}
			})
			w.kind("an XATTR that its starter may not change", err, errs.NotAllowed)
			_, err = sam.drop("load", "rates.json", `{"n": "8"}`, func(d *engine.Drop) { d.Priority = new(7) })
			w.kind("the priority", err, errs.NotAllowed)
			same(t, "what is refused changes nothing", w.input(first.CaseID), `application/json: {"n": "y"}`)

			out := sam.mustDrop("load", "rates.json", `{"n": "8"}`)
			if out.Created || !out.Retried || out.CaseID != first.CaseID || len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], fmt.Sprintf("Case %d had failed", first.CaseID)) {
				t.Errorf("tried again: %+v", out)
			}
			sam.caseForm(first.CaseID).wants("state", `"completed"`, "status", `"done"`, "xattrDict/n", "8")
			same(t, "cases", len(w.cases()), 1)
			same(t, "the folder", sam.aliases("load"), "")
			if log := strings.Join(sam.logTexts(first.CaseID), "\n"); name != "start" && !strings.Contains(log, "Retried") && !strings.Contains(log, "Back to open") {
				t.Errorf("the log: %s", log)
			}

			next := sam.mustDrop("load", "rates.json", `{"n": "9"}`)
			if !next.Created || next.Retried || next.CaseID == first.CaseID {
				t.Errorf("after the case has ended: %+v", next)
			}
		})
	}
}

// TestDropAfterFailureOfOthers: a case that another user has started, one whose file was
// deleted, one whose route was changed since, and one that a person has led into a state of the
// type failed do not take a file.
func TestDropAfterFailureOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("load", failsInAction)
	sam := w.as("sam")
	first := sam.mustDrop("load", "rates.json", `{}`)
	if out := w.as("ann").mustDrop("load", "rates.json", `{"n": "1"}`); !out.Created {
		t.Errorf("of another user: %+v", out)
	}
	if err := w.Drops.DeleteAlias(t.Context(), sam.request(nil), "load", "rates.json"); err != nil {
		t.Fatal(err)
	}
	same(t, "the folder", sam.aliases("load"), "")
	if out := sam.mustDrop("load", "rates.json", `{"n": "1"}`); !out.Created || out.CaseID == first.CaseID {
		t.Errorf("once the file was deleted: %+v", out)
	}
	changed := sam.mustDrop("load", "table.json", `{}`)
	w.as("admin").mustPutRoute("load", "title: Mended\n"+failsInAction)
	if out := sam.mustDrop("load", "table.json", `{"n": "1"}`); !out.Created || out.CaseID == changed.CaseID {
		t.Errorf("once the route was changed: %+v", out)
	}
	w.as("admin").mustPutRoute("stop", `
access: {start: [everyone]}
states: {open: {type: start}, broken: {type: failed}}
actions:
  begin: {trigger: init}
  stop: {in: [open], allowed: everyone, to: broken}
`)
	stopped := sam.mustDrop("stop", "a.txt", "a")
	sam.mustPerform(stopped.CaseID, "stop")
	sam.caseForm(stopped.CaseID).wants("state", `"failed"`)
	if out := sam.mustDrop("stop", "a.txt", "b"); !out.Created || out.CaseID == stopped.CaseID {
		t.Errorf("of a case that was stopped: %+v", out)
	}
}

// TestDropSendsOtherInput: what was to be sent is made again of the new input, by another
// delivery, so that no service takes it for the one before.
func TestDropSendsOtherInput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{}
		outside.set(func(_ context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
			if string(d.Exec.Input) != "of 2" {
				return nil, &outbox.Final{Reason: "exit status 3"}
			}
			return &outbox.Reply{MediaType: "text/plain", Content: []byte("fine")}, nil
		})
		w, stop := realTime(t, reaching(outside, nil))
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutRoute("load", `
access: {start: [everyone]}
states: {open: {type: start}, sent: {onEnter: [{message: {label: List, type: text/plain, text: "of $InputMessage;"}}, {exec: {command: sort, from: List, into: Answer}}]}, done: {type: complete}, broken: {type: failed}}
onError: {to: broken}
actions:
  begin: {trigger: init}
  send: {trigger: auto, in: [open], to: sent}
  finish: {trigger: message, message: Answer, in: [sent], to: done}
`)
		sam := w.as("sam")
		first := sam.mustDrop("load", "rates.json", "1")
		await(time.Minute)
		sam.caseForm(first.CaseID).wants("state", `"failed"`, "status", `"broken"`)
		w.clock.Set(clock.Real{}.Now())
		if out := sam.mustDrop("load", "rates.json", "2"); out.CaseID != first.CaseID || !out.Retried {
			t.Errorf("%+v", out)
		}
		await(time.Minute)
		sam.caseForm(first.CaseID).wants("state", `"completed"`, "status", `"done"`)
		same(t, "the answer", sam.content(first.CaseID, "Answer"), "fine")
		sent := outside.seen()
		if n := len(sent); n != 2 || string(sent[0].Exec.Input) != "of 1" || string(sent[1].Exec.Input) != "of 2" || sent[0].Key == sent[1].Key {
			t.Errorf("sent: %+v", sent)
		}
	})
}
