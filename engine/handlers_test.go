package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/identity"
)

const routeHandlers = `
context: ann
access: {start: [everyone], read: [everyone], admin: [dora]}
notify: {remind: P9D}
timers: {nag: {limit: PT1H, onExpire: [{setTimer: {name: nag, limit: PT1H}}, {set: {x: {cel: xattr.lacks}}}]}}
states: {open: {type: start}, other: {}, done: {type: complete}}
actions:
  begin: {trigger: init, onFire: [{enableTimer: nag}]}
  leave: {in: [open], allowed: everyone, to: other}
  back: {in: [other], allowed: everyone, to: open}
  quiet: {in: [open, other], allowed: everyone, onFire: [{disableTimer: nag}], onUnEnable: [{set: {x: {cel: xattr.over}}}]}
  loud: {in: [open, other], allowed: everyone, onFire: [{setTimer: {name: nag, limit: PT1H}}, {enableTimer: nag}]}
  end: {in: [open, other], allowed: everyone, to: done}
`

func handlersWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	w.as("admin").mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	w.as("admin").mustPutRoute("nags", routeHandlers)
	w.as("sam").mustPutMe(`{"mail": {"kinds": ["failure", "mended", "outcome"]}}`)
	return w
}

// TestFailedHandlersAreTold: that steps of a handler fail is told as other failures are:
// once, again a day later, once if it runs to its end; and not at all any more if the case
// leaves the state (docs/contract/routes.md#what-is-wrong).
func TestFailedHandlersAreTold(t *testing.T) {
	t.Parallel()
	w := handlersWorld(t)
	id := w.as("sam").startCase(`{"route": "nags", "title": "One"}`)
	told := w.toldSince(id)
	const failed, people = "Failed: One: the timer nag: The route is at fault: xattr.lacks: no such key: lacks.", "ann@example.org dora@example.org sam@example.org"
	since := func(subject string) string { w.Helper(); return strings.Join(prefixed(told(), subject), " ") }
	since("")
	w.advance(time.Hour)
	same(t, "at once", since(failed), people)
	w.advance(10 * time.Hour)
	w.reopen()
	same(t, "each hour again", since(""), "")
	w.advance(14 * time.Hour)
	same(t, "a day later", since("Still f"+failed[1:]), people)
	if late := w.as("dora").statusPage(engine.StatusLate); !strings.Contains(late, "the timer nag failed") {
		t.Errorf("late.txt says\n%s", late)
	}

	w.as("ann").mustPutCase(ref(id), `{"xattrDict": {"lacks": "y"}}`)
	w.advance(time.Hour)
	same(t, "it has run to its end", since("Mended: One"), people)
	w.advance(48 * time.Hour)
	same(t, "two days later", since(""), "")

	w.as("ann").mustPutCase(ref(id), `{"xattrDict": {"lacks": null}}`)
	w.advance(time.Hour)
	same(t, "it fails again", since(failed), people)
	w.as("sam").mustPerform(id, "quiet")
	told()
	w.as("sam").mustPerform(id, "leave")
	told()
	if text := w.as("sam").caseForm(id).get("warnings"); text != "[]" {
		t.Errorf("in another state: %s", text)
	}
	w.as("sam").mustPerform(id, "loud")
	told()
	w.advance(2 * time.Hour)
	same(t, "in another state it fails on the same day", since(""), "")
	w.as("sam").mustPerform(id, "quiet")
	w.as("sam").mustPerform(id, "back")
	told()
	w.advance(72 * time.Hour)
	same(t, "nobody is told any more", since(""), "")
	w.as("sam").mustPerform(id, "end")
	const over = "Failed: One: onUnEnable of quiet: The route is at fault: xattr.over: no such key: over."
	same(t, "the last of the case", strings.Join(told(), "\n"), strings.Join([]string{
		"ann@example.org: " + over, "dora@example.org: " + over, "sam@example.org: " + over,
	}, "\n"))
	w.advance(72 * time.Hour)
	same(t, "afterwards", since(""), "")
}

// TestFailedHandlersOfAnEntry: cases of an entry whose handlers fail in the same way are
// one failure, and if they are canceled that is told with the last of them.
func TestFailedHandlersOfAnEntry(t *testing.T) {
	t.Parallel()
	w := handlersWorld(t)
	w.as("sam").mustPutEntry("often.json", `{"type": "cron", "minute": "0", "route": "nags", "title": "Often"}`)
	w.advance(150 * time.Minute)
	ids := w.caseIDs()
	if len(ids) < 2 {
		t.Fatalf("cases %v", ids)
	}
	told := w.toldSince(ids...)
	w.advance(2 * time.Hour)
	same(t, "of the first alone", strings.Join(prefixed(told(), "Failed: Often: the timer nag"), " "), "ann@example.org dora@example.org sam@example.org")
	w.as("sam").mustPutEntry("often.json", `{"do": "pause"}`)
	cases := w.caseIDs()
	told = w.toldSince(cases...)
	told()
	slices.Sort(cases)
	cases = cases[:len(cases)-1] // the timer of the newest is not due
	for _, id := range cases[:len(cases)-1] {
		w.as("dora").mustPutCase(ref(id), `{"state": "canceled"}`)
	}
	same(t, "canceled", slices.Compact(told()), []string{"sam@example.org: Canceled: Often"})
	w.as("dora").mustPutCase(ref(cases[len(cases)-1]), `{"state": "canceled"}`)
	same(t, "the last one", prefixedOf(told(), "ann@example.org: "), []string{fmt.Sprintf("Canceled: Often (%d cases)", len(cases))})
}

// TestOneMailOfOnError: what onError could not do about something that has failed is told
// with that, in one mail, and whose doing the end is does not matter: nobody hears of it
// after a retry.
func TestOneMailOfOnError(t *testing.T) {
	t.Parallel()
	w := handlersWorld(t)
	w.as("admin").mustPutRoute("load", `
context: ann
access: {start: [everyone], read: [everyone], admin: [dora]}
onError: {steps: [{set: {x: {cel: xattr.lacks}}}]}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  load: {in: [open], trigger: auto, to: done, onFire: [{set: {x: {cel: xattr.data}}}]}
`)
	id := w.as("sam").startCase(`{"route": "load", "title": "One"}`)
	told := w.toldSince(id)
	const failed = "Failed: One: The route is at fault: xattr.data: no such key: data; onError of load: The route is at fault:"
	same(t, "told", strings.Join(prefixed(told(), failed), " "), "ann@example.org dora@example.org sam@example.org")
	w.as("ann").mustPutCase(ref(id), `{"xattrDict": {"data": "y"}}`)
	w.as("dora").mustDo(id, "load", "retry")
	told()
	w.advance(72 * time.Hour)
	same(t, "afterwards", told(), []string(nil))
}

// TestStarterOfWhatFailsAtOnce: who starts a case that a fault ends at once is told so,
// with the reason, as others are, and the case's status says why, until it is canceled.
func TestStarterOfWhatFailsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	w.as("admin").mustPutRoute("leave", `
title: Leave
access: {start: [everyone], read: [everyone]}
roles: {head: {assign: ["user:bob"]}}
states: {asked: {type: start}, refused: {type: denied, title: Refused}}
actions:
  ask: {title: Ask, past: Asked, trigger: init}
  count: {trigger: auto, in: [asked], max: 1, onFire: [{set: {n: {cel: 'int("Xmas")'}}}], onError: {to: refused}}
  refuse: {in: [asked], role: head, to: refused}
`)
	id := w.as("sam").startCase(`{"route": "leave", "title": "Xmas"}`)
	told := w.toldOf(id)
	if !slices.Contains(told, "sam@example.org: Refused: Xmas") {
		t.Errorf("told: %q", told)
	}
	if text := string(try(w.Cases.CaseLogText(t.Context(), w.as("sam").by(), id, nil)).must(w, "log").Form); !strings.Contains(text, "On error of count") {
		t.Errorf("log.txt:\n%s", text)
	}
	for _, line := range w.as("admin").messages(id) {
		if label, _, _ := strings.Cut(line, " "); strings.HasPrefix(label, "Notice-") {
			if mail := w.as("admin").content(id, label); strings.Contains(mail, "sam@") && !strings.Contains(mail, "On error of count: ") {
				t.Errorf("the mail to the starter: %s", mail)
			}
		}
	}
}
