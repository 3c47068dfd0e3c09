package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/notice"
	"flowdrive/engine/outbox"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

func notifier(c engine.Channels) func(*world) {
	return func(w *world) {
		w.config = func(cfg *engine.Config) { cfg.Channels = c }
	}
}

// toldOf returns what a sandbox has recorded of what people were told of a
// case, "to: subject" each, since the last so many.
func (w *world) toldOf(id int64) (out []string) {
	w.Helper()
	admin := w.as("admin")
	for _, line := range admin.messages(id) {
		label, _, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(label, "Notice-") {
			continue
		}
		mail := w.form([]byte(admin.content(id, label)))
		out = append(out, unquote(mail.get("to/0"))+": "+unquote(mail.get("subject")))
	}
	return out
}

// toldSince returns a function that returns what people were told of the cases
// since it was called last, in order of the addresses.
func (w *world) toldSince(ids ...int64) func() []string {
	seen := map[int64]int{}
	return func() (out []string) {
		w.Helper()
		for _, id := range ids {
			told := w.toldOf(id)
			out = append(out, told[seen[id]:]...)
			seen[id] = len(told)
		}
		slices.Sort(out)
		return out
	}
}

// exampleRoute returns the source of a route that ships.
func exampleRoute(t *testing.T, name string) string {
	t.Helper()
	for _, example := range route.Examples() {
		if example.Name == name {
			return string(example.Source)
		}
	}
	t.Fatalf("no example %s", name)
	return ""
}

const routeTold = `
title: Desk
access: {start: [everyone], read: [everyone]}
notify: {remind: P2D}
roles: {clerk: {assign: ["user:bob"]}, boss: {assign: ["user:ann"]}}
states: {open: {type: start}, checked: {}, done: {type: complete}}
actions:
  begin: {trigger: init, past: Begun}
  check: {title: Check it, in: [open], role: clerk, to: checked, past: Checked}
  sign: {in: [checked], role: boss, to: done, past: Signed}
`

// TestNoticesByMail: people are told once an event, as they want it
// (docs/contract/routes.md#6-notifications).
func TestNoticesByMail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	w.as("admin").mustPutRoute("desk", routeTold)
	w.as("eve").mustPutMe(`{"watch": ["Desk", "desk"]}`)
	same(t, "what eve watches", w.as("eve").me().get("watch"), `["desk"]`)
	id := w.as("sam").startCase(`{"route": "desk", "title": "One", "stakeholders": ["eve"]}`)
	told := func(what string, want ...string) {
		t.Helper()
		got := w.toldOf(id)
		if len(got) < len(want) {
			t.Fatalf("%s: %q", what, got)
		}
		same(t, what, got[len(got)-len(want):], want)
		w.update(func(tx store.Tx) error { return nil })
	}
	told("the start", "bob@example.org: To do: Check it (One)", "ann@example.org: Begun: One", "eve@example.org: Begun: One")
	before := len(w.toldOf(id))
	w.as("sam").mustPutCase(fmt.Sprint(id), `{"title": "Two"}`)
	same(t, "an edit tells nobody", len(w.toldOf(id)), before)

	w.as("ann").mustPutMe(`{"notify": false}`)
	w.advance(48 * time.Hour)
	told("the reminder", "eve@example.org: Begun: One", "bob@example.org: Reminder: Check it (Two)")
	if _, err := w.as("bob").perform(id, "check", `{"comment": "looks right\nTo: x"}`); err != nil {
		t.Fatal(err)
	}
	told("performing", "bob@example.org: Reminder: Check it (Two)", "eve@example.org: Checked: Two", "sam@example.org: Checked: Two")
	w.as("ann").mustPutMe(`{"notify": null, "watch": null}`)
	w.as("ann").mustPerform(id, "sign")
	told("the end", "bob@example.org: Signed: Two", "eve@example.org: Signed: Two", "sam@example.org: Signed: Two")
}

// TestNoticeText is a mail as it is read.
func TestNoticeText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	w.as("admin").mustPutRoute("desk", routeTold)
	id := w.as("sam").startCase(`{"route": "desk", "title": "One two"}`)
	if _, err := w.as("bob").perform(id, "check", `{"comment": "looks right\nTo: x"}`); err != nil {
		t.Fatal(err)
	}
	var text string
	for _, line := range w.as("admin").messages(id) {
		if label, _, _ := strings.Cut(line, " "); strings.HasPrefix(label, "Notice-") {
			if mail := w.form([]byte(w.as("admin").content(id, label))); mail.get("to/0") == `"ann@example.org"` {
				text = mail.node.Get("text").Text
			}
		}
	}
	want := strings.ReplaceAll(`There is something for you to do in case NUMBER, One two:

  sign
    The case goes to "done", which completes it.
    /cases/NUMBER?open=sign#todo

  Checked by bob (open → checked), 2012-11-09 12:34 UTC
  > looks right
  > To: x

Case:         NUMBER, One two
Route:        desk
Asked by:     sam

The case:     /cases/NUMBER
Its log:      /cases/NUMBER#log
On the drive: /dav/Workflow/Cases/NUMBER.json

A link opens the form of its task. On the drive each task has a file in
/dav/Workflow/Cases/NUMBER/Actions/: save {} to it to do it, {"comment": "…"} to
say something with it, {"do": "accept"} to take it on first.

You get this because the task is yours. This mail is of the kind "New tasks".
To get no more of that kind, untick it at /account, or leave "task" out of
mail.kinds in /dav/Account/me.json. Mails of failures are another kind and go
on. {"notify": false} there would end all mails, those of failures, too.
`, "NUMBER", fmt.Sprint(id))
	same(t, "the mail", text, want)
}

// TestMailTellsTimeLimits: the mail of a task says until when it is offered, and what happens
// by itself, and when: its reader decides by that whether it can wait.
func TestMailTellsTimeLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	w.as("admin").mustPutRoute("limits", `access: {start: [everyone]}
timeout: P9D
roles: {boss: {assign: ["user:bob", "user:ann"]}}
states: {open: {type: start, timeout: P3D}, late: {}, done: {type: complete}}
actions:
  ask: {trigger: init}
  sign: {title: Sign, in: [open], to: done, role: boss, dueIn: P1D, offerTimeout: PT2H}
  escalate: {title: Ask the manager, trigger: time, timeout: P2D, in: [open], to: late}
  end: {in: [late], to: done, role: boss}
`)
	id := w.as("sam").startCase(`{"route": "limits", "title": "Lamp"}`)
	_, texts := w.mailsTo("bob", id)
	wantsParts(t, "the mail", fmt.Sprint(texts),
		"Sign The case goes to \"done\", which completes it.", "It is offered until 2012-11-09 14:34 UTC. It is due by 2012-11-10 12:34 UTC.",
		"If nobody does anything: 2012-11-09 14:34 UTC: The task counts as overdue, and those concerned are told. "+
			"2012-11-10 12:34 UTC: The task counts as overdue, and those concerned are told. "+
			"2012-11-11 12:34 UTC: The engine performs \"Ask the manager\", and the case goes to \"late\". "+
			"2012-11-12 12:34 UTC: The case counts as overdue, and those concerned are told. "+
			"2012-11-18 12:34 UTC: The case counts as overdue, and those concerned are told.")
}

// TestNoticesRights: who watches a route is told of what is for them to see; a
// deputy is told of the tasks of those it stands in for.
func TestNoticesRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	w.as("admin").mustPutRoute("desk", routeTold)
	w.as("eve").mustPutMe(`{"watch": ["desk"]}`)
	w.as("bob").mustPutMe(`{"deputy": {"user": "eve", "to": "2012-11-10T00:00:00Z"}}`)
	id := w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	same(t, "eve stands in for bob", w.toldOf(id), []string{"bob@example.org: To do: Check it (One)", "eve@example.org: To do: Check it (One)", "ann@example.org: Begun: One"})
	w.advance(24 * time.Hour)
	w.as("bob").mustPerform(id, "check")
	same(t, "eve does not see the case any more", w.toldOf(id)[3:], []string{"ann@example.org: To do: sign (One)", "sam@example.org: Checked: One"})
	_, err := w.as("eve").putMe(`{"watch": ["own"]}`)
	w.refused(err, "invalid", "/watch/0 not-found")
	_, err = w.as("eve").putMe(`{"watch": "desk", "notify": 1}`)
	w.refused(err, "invalid", "/notify type", "/watch type")
}

// TestNoticesInTheOutbox: outside a sandbox they leave by the outbox, and no
// case waits for what becomes of them. A webhook is
// called once for each kind of notice of an event.
func TestNoticesInTheOutbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.config = func(cfg *engine.Config) {
			cfg.Sandbox = false
			cfg.Channels = engine.Channels{Mail: true, Destinations: []notice.Destination{{ID: "standard-1"}, {ID: "standard-1", Kinds: []notice.Kind{notice.KindTask}}, {ID: "slack-2", Least: notice.Serious}}}
		}
	})
	w.as("admin").mustPutRoute("desk", routeTold)
	id := w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	requests := func() (out []string) {
		for _, lane := range []string{outbox.MailLane, outbox.NewsLane("standard-1"), outbox.NewsLane("slack-2")} {
			for _, row := range w.outboxRows(lane) {
				if row.Step != 0 {
					t.Errorf("a case waits for %s", row.Request)
				}
				out = append(out, lane+" "+string(row.Request))
			}
		}
		return out
	}
	got := requests()
	if len(got) != 4 || !strings.HasPrefix(got[2], "notify:standard-1 ") || !strings.Contains(got[0], "bob@example.org") || !strings.Contains(got[1], "ann@example.org") ||
		!strings.Contains(got[2], w.as("sam").caseForm(id).node.Get("guid").Text) {
		t.Errorf("in the outbox: %q", got)
	}

	// An entry that fails is told of once, until it fires again.
	w.as("admin").mustPutParty(identity.User, "admin", `{"email": "root@example.org"}`)
	w.as("ann").mustPutEntry("", `{"type": "cron", "route": "own", "minute": "0", "context": "core", "title": "Hourly"}`)
	w.as("ann").mustPutRoute("own", "context: ann\n"+strings.Replace(routeOwn, "context: core\n", "", 1))
	failures := func() (n int) {
		for _, text := range requests() {
			if strings.Contains(text, "root@example.org") && strings.Contains(text, "Not started: Hourly") {
				n++
			}
		}
		return n
	}
	w.advance(time.Hour)
	w.advance(time.Hour)
	same(t, "after two failures", failures(), 1)
	w.as("ann").mustPutRoute("own", routeOwn)
	w.advance(time.Hour)
	same(t, "after it has fired", failures(), 1)
	w.as("ann").mustPutRoute("own", "context: ann\n"+strings.Replace(routeOwn, "context: core\n", "", 1))
	w.advance(time.Hour)
	same(t, "when it fails again", failures(), 2)
}

// TestOutcomes: people are told how a case ended in its own title and words. A vote
// is told as a vote, to those who may see it
// (docs/contract/routes.md#6-notifications).
func TestOutcomes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	w.as("admin").mustPutParty(identity.Team, "core", `{"members": ["ann", "bob"]}`)
	for _, name := range []string{"tip-vote", "tip"} {
		w.as("admin").mustPutRoute(name, exampleRoute(t, name))
	}
	w.as("admin").mustPutMe(`{"email": "root@example.org", "watch": ["tip"]}`)
	tip := w.as("sam").startCase(`{"route": "tip", "title": "TIP 42", "stakeholders": ["eve"]}`)
	votes := w.as("sam").children(tip)
	since := w.toldSince(append([]int64{tip}, votes...)...)
	same(t, "the start: to be able to withdraw is nothing to do", since(), []string{
		"ann@example.org: To do: Approve, Reject, Abstain (TIP 42 (ann))",
		"bob@example.org: To do: Approve, Reject, Abstain (TIP 42 (bob))",
		"eve@example.org: Proposed: TIP 42",
		"root@example.org: Proposed: TIP 42",
	})
	w.as("ann").mustPerform(votes[0], "approve")
	same(t, "a vote: bob and eve may see the proposal, but not the vote", since(), []string{
		"root@example.org: Ann voted Approve: TIP 42 (1 of 2)",
		"sam@example.org: Ann voted Approve: TIP 42 (1 of 2)",
	})
	w.as("bob").mustPerform(votes[1], "reject")
	same(t, "the last vote", since(), []string{
		"ann@example.org: Rejected: TIP 42",
		"bob@example.org: Rejected: TIP 42",
		"eve@example.org: Rejected: TIP 42",
		"root@example.org: Rejected: TIP 42",
		"sam@example.org: Rejected: TIP 42",
	})

	tip = w.as("sam").startCase(`{"route": "tip", "title": "TIP 43"}`)
	since = w.toldSince(append([]int64{tip}, w.as("sam").children(tip)...)...)
	since()
	w.advance(7 * 24 * time.Hour)
	same(t, "nobody votes", since(), []string{
		"ann@example.org: Did not vote: TIP 43 (ann) (1 of 2)",
		"ann@example.org: Rejected: TIP 43",
		"bob@example.org: Rejected: TIP 43",
		"root@example.org: Did not vote: TIP 43 (ann) (1 of 2)",
		"root@example.org: Rejected: TIP 43",
		"sam@example.org: Did not vote: TIP 43 (ann) (1 of 2)",
		"sam@example.org: Rejected: TIP 43",
	})

	// Three votes lapse in the same second: each is told as a vote, but the last, which
	// decides, and then the outcome.
	w.as("admin").mustPutParty(identity.Team, "core", `{"members": ["ann", "bob", "eve"]}`)
	w.as("admin").mustPutMe(`{"watch": []}`)
	tip = w.as("sam").startCase(`{"route": "tip", "title": "TIP 3"}`)
	since = w.toldSince(append([]int64{tip}, w.as("sam").children(tip)...)...)
	since()
	w.advance(7 * 24 * time.Hour)
	var starter []string
	for _, line := range since() {
		if text, is := strings.CutPrefix(line, "sam@example.org: "); is {
			starter = append(starter, text)
		}
	}
	same(t, "three votes in a second", starter, []string{"Did not vote: TIP 3 (ann) (1 of 3)", "Did not vote: TIP 3 (bob) (2 of 3)", "Rejected: TIP 3"})
	w.as("admin").mustPutMe(`{"watch": ["tip"]}`)

	tip = w.as("sam").startCase(`{"route": "tip", "title": "TIP 44"}`)
	since = w.toldSince(tip)
	since()
	w.as("sam").mustPerform(tip, "withdraw")
	same(t, "who withdraws knows", since(), []string{
		"ann@example.org: Withdrawn: TIP 44", "bob@example.org: Withdrawn: TIP 44", "eve@example.org: Withdrawn: TIP 44", "root@example.org: Withdrawn: TIP 44",
	})
}
