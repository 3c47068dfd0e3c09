package engine_test

import (
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/identity"
)

const routeToldOnce = `
title: Desk
access: {start: [everyone], read: [everyone], admin: [dora]}
xattrs: {k: {type: string}}
roles: {op: {assign: [starter]}, clerk: {assign: ["user:bob"]}}
states:
  open: {type: start, timeout: PT30M, onTimeout: [{set: {k: "$__XATTR_nix__;"}}]}
  broken: {type: failed}
  done: {type: complete}
onError: {to: broken}
actions:
  begin: {trigger: init, past: Begun}
  check: {in: [open], role: clerk, to: done, past: Checked, dueIn: PT40M, onDue: [{log: seen}]}
  late: {title: Be late, in: [open], role: clerk, to: done, dueIn: PT50M}
  weigh: {in: [open], role: clerk, trigger: message, message: Weight, to: done, onFire: [{set: {k: "$__XATTR_nix__;"}}]}
  again: {title: Go on, in: [broken], role: op, to: open, past: Went on}
`

// TestToldOnceOfOneEvent: who is told of a failure is not told by another mail of the same
// event that a timer has expired, or what they have got to do; the former says it. A timer
// that the route deals with is not overdue (docs/contract/routes.md#what-is-wrong).
func TestToldOnceOfOneEvent(t *testing.T) {
	t.Parallel()
	w := troubleWorld(t)
	w.as("admin").mustPutRoute("desk", "context: ann\n"+strings.TrimPrefix(routeToldOnce, "\n"))
	id := w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	since := w.toldSince(id)
	since()
	w.advance(31 * time.Minute)
	same(t, "the handler fails", prefixed(since(), "Failed: One: the timer state: "), []string{
		"ann@example.org", "bob@example.org: Time is up: One", "dora@example.org", "sam@example.org",
	})
	w.advance(10 * time.Minute)
	same(t, "the handler runs", since(), []string{"bob@example.org: Time is up: check (One)", "sam@example.org: Time is up: check (One)"})
	w.advance(10 * time.Minute)
	same(t, "there is no handler", prefixed(since(), "Overdue: Be late (One)"), []string{"ann@example.org", "bob@example.org", "dora@example.org", "sam@example.org"})
	if _, err := w.as("sam").putLabel(id, "Weight", "1"); err != nil {
		t.Fatal(err)
	}
	told := since()
	for _, line := range told {
		if strings.HasPrefix(line, "sam@") && !strings.HasPrefix(line, "sam@example.org: Failed: One: ") && !strings.Contains(line, "No longer overdue") {
			t.Errorf("told %q", told)
		}
	}
	if !strings.Contains(w.lastNotice(id, "sam@example.org", "Failed: One"), "Go on: /cases/") {
		t.Errorf("what sam can do is not in the mail: %s", w.lastNotice(id, "sam@example.org", "Failed: One"))
	}
}

// TestNobodyIsOver: that a task is given up, or that the case has gone on, is not that
// somebody can do it.
func TestNobodyIsOver(t *testing.T) {
	t.Parallel()
	w := troubleWorld(t)
	admin := w.as("admin")
	admin.mustPutParty(identity.User, "bob", `{"disabled": true}`)
	admin.mustPutRoute("desk", strings.NewReplacer("roles: {", "roles: {op: {assign: [starter]}, ", "  weigh:\n", "  leave: {in: [open], role: op, to: done, past: Left}\n  weigh:\n").Replace("context: ann\n"+strings.TrimPrefix(routeTrouble, "\n")))
	begin := func() (int64, func() []string) {
		id := w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
		since := w.toldSince(id)
		since()
		return id, since
	}
	id, since := begin()
	w.as("sam").mustPutCase(ref(id), `{"state": "suspended"}`)
	since()
	w.as("sam").mustPutCase(ref(id), `{"state": "active"}`)
	for _, line := range since() {
		if strings.Contains(line, "can do it") {
			t.Errorf("suspended and resumed: %s", line)
		}
	}
	w.as("dora").mustDo(id, "check", "abort")
	same(t, "aborted", prefixedOf(since(), "ann@example.org: "), []string{"Given up: Check it (One)"})
	id, since = begin()
	w.as("sam").mustPerform(id, "leave")
	same(t, "left", prefixedOf(since(), "ann@example.org: "), []string{"Not needed any more: Check it (One)"})
}

// TestDatesInZones: a date in what is wrong is told in the zone of the person.
func TestDatesInZones(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.config = func(cfg *engine.Config) {
			cfg.Channels = engine.Channels{Mail: true}
			cfg.Zones = new(clock.Zones).Zone
		}
	})
	w.as("admin").mustPutRoute("desk", "context: ann\n"+strings.TrimPrefix(strings.Replace(routeTrouble, "admin: [dora]", "admin: [ann]", 1), "\n"))
	w.as("ann").mustPutMe(`{"timezone": "Europe/Berlin"}`)
	id := w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	w.advance(25 * time.Hour)
	if text := w.lastNotice(id, "ann@example.org", "Overdue"); !strings.Contains(text, "Check it was to be performed by 2012-11-10 13:34 Europe/Berlin") {
		t.Errorf("the mail of ann: %s", text)
	}
	w.as("bob").mustPerform(id, "check")
	if text := w.lastNotice(id, "ann@example.org", "No longer overdue"); !strings.Contains(text, "by 2012-11-10 13:34 Europe/Berlin") {
		t.Errorf("the mail that it is over: %s", text)
	}
}

// lastNotice returns the text of the last mail about a case to an address, with a subject
// that begins so.
func (w *world) lastNotice(id int64, to, subject string) (text string) {
	w.Helper()
	admin := w.as("admin")
	for _, line := range admin.messages(id) {
		label, _, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(label, "Notice-") {
			continue
		}
		mail := w.form([]byte(admin.content(id, label)))
		if unquote(mail.get("to/0")) == to && strings.HasPrefix(unquote(mail.get("subject")), subject) {
			text = unquote(mail.get("text"))
		}
	}
	return text
}
