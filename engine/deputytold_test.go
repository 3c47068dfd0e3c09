package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
)

const routeLent = `
title: Desk
access: {start: [everyone], read: [everyone], admin: [dora]}
notify: {remind: P2D}
roles: {clerk: {assign: ["user:bob"]}, boss: {assign: ["user:ann"]}, own: {assign: ["user:eve"]}, chief: {assign: [admins]}}
states: {open: {type: start}, checked: {}, done: {type: complete}}
actions:
  begin: {trigger: init, past: Begun}
  check: {title: Check it, in: [open], role: clerk, to: checked, past: Checked, dueIn: P3D}
  weigh: {title: Weigh it, in: [open], role: boss, past: Weighed}
  look: {title: Look, in: [open], role: own, past: Looked}
  oversee: {title: Oversee, in: [open], role: chief, past: Overseen}
  sign: {title: Sign, in: [checked], role: clerk, to: done, past: Signed}
  seal: {title: Seal, in: [checked], role: boss, distinct: [check], past: Sealed}
`

// lentWorld is a world in which eve stands in for those named.
func lentWorld(t *testing.T, absent ...string) *world {
	t.Helper()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	w.as("admin").mustPutParty("user", "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	w.as("admin").mustPutRoute("desk", routeLent)
	for _, name := range absent {
		w.as(name).mustPutMe(`{"deputy": {"user": "eve", "to": "2012-12-24T00:00:00Z"}}`)
	}
	return w
}

// mailsTo returns the mails about a case to a user, by their subjects.
func (w *world) mailsTo(user string, id int64) (subjects []string, texts map[string]string) {
	w.Helper()
	texts = map[string]string{}
	for _, line := range w.as("admin").messages(id) {
		label, _, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(label, "Notice-") {
			continue
		}
		mail := w.form([]byte(w.as("admin").content(id, label)))
		if subject := mail.node.Get("subject").Text; unquote(mail.get("to/0")) == user+"@example.org" {
			subjects = append(subjects, subject)
			texts[subject] = strings.Join(strings.Fields(mail.node.Get("text").Text), " ")
		}
	}
	return subjects, texts
}

// wantsParts checks that a text has the parts.
func wantsParts(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q: %s", what, part, text)
		}
	}
}

// TestDeputyOfTwo: a deputy of two users is told of the tasks of both and of their own, in one
// mail, and of none that is not lent: what administrators have is not.
func TestDeputyOfTwo(t *testing.T) {
	t.Parallel()
	w := lentWorld(t, "bob", "ann")
	w.as("dora").mustPutMe(`{"deputy": {"user": "eve", "to": "2012-12-24T00:00:00Z"}}`)
	id := w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	subjects, texts := w.mailsTo("eve", id)
	same(t, "to eve", subjects, []string{"To do: Look, Check it, Weigh it (One)"})
	wantsParts(t, "the mail", texts[subjects[0]],
		"There is something to do for you, and for bob and ann, for whom you stand in, in case",
		"Check it You would do it for bob.", "Weigh it You would do it for ann.",
		"You get this because you have something to do yourself, and stand in for bob and ann.")
	if strings.Contains(texts[subjects[0]], "Look You would") {
		t.Errorf("eve's own task is called lent: %s", texts[subjects[0]])
	}
}

// TestDeputyIsReminded: as the users are for whom they stand in.
func TestDeputyIsReminded(t *testing.T) {
	t.Parallel()
	w := lentWorld(t, "bob", "ann")
	id := w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	w.as("eve").mustPerform(id, "look")
	w.advance(48 * time.Hour)
	subjects, texts := w.mailsTo("eve", id)
	const reminder = "Reminder: Look, Check it, Weigh it (One)"
	same(t, "the last to eve", subjects[len(subjects)-1], reminder)
	wantsParts(t, "the reminder", texts[reminder], "This still waits for you, and for bob and ann, for whom you stand in, in case", "stand in for bob and ann.")
}

// TestDeputyIsToldOfWhatIsOverdue: as the users are for whom they stand in.
func TestDeputyIsToldOfWhatIsOverdue(t *testing.T) {
	t.Parallel()
	w := lentWorld(t, "bob")
	id := w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	w.advance(73 * time.Hour)
	subjects, texts := w.mailsTo("eve", id)
	const overdue = "Overdue: Check it (One)"
	if !slices.Contains(subjects, overdue) {
		t.Fatalf("to eve: %q", subjects)
	}
	wantsParts(t, "the mail", texts[overdue], "You get this because you stand in for bob.")
}

// TestDeputyKnowsWhatTheyDid: who performs for another is not told of the next task of that
// user, which they have brought about, nor of one that they may not do after that.
func TestDeputyKnowsWhatTheyDid(t *testing.T) {
	t.Parallel()
	w := lentWorld(t, "bob", "ann")
	id := w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	before, _ := w.mailsTo("eve", id)
	w.as("eve").mustPerform(id, "check")
	after, _ := w.mailsTo("eve", id)
	same(t, "mails to eve", len(after), len(before))
	bob, _ := w.mailsTo("bob", id)
	same(t, "to bob", bob[len(bob)-1], "To do: Sign (One)")
	w.advance(48 * time.Hour)
	after, _ = w.mailsTo("eve", id)
	same(t, "eve is reminded of what she may do", after[len(after)-1], "Reminder: Sign (One)")
}
