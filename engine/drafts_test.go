package engine_test

import (
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/identity"
)

const routeBuy = `
access: {start: [everyone], read: [everyone]}
xattrs: {amount: {type: number, required: true, title: Amount}}
roles: {clerk: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions: {begin: {trigger: init}, finish: {in: [open], role: clerk, to: done}}
`

// TestDraftIsRemindedOf: the author of a draft is reminded of it, survives a restart with
// it, and is told of its end (docs/contract/drive.md#draft-cases).
func TestDraftIsRemindedOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	w.as("admin").mustPutRoute("buy", routeBuy)
	out := w.as("sam").mustDrop("buy", "q.pdf", "pixels")
	same(t, "the life", string(out.Life), "draft")
	told := w.toldSince(out.CaseID)
	same(t, "at the drop", told(), []string{"sam@example.org: To do: Say what is missing: Amount (q)"})
	w.advance(24 * time.Hour)
	same(t, "after a day", told(), []string{"sam@example.org: Reminder: Say what is missing: Amount (q)"})
	w.reopen()
	w.advance(7 * 24 * time.Hour)
	same(t, "after a week more", told(), []string{"sam@example.org: Reminder: Say what is missing: Amount (q)"})
	w.advance(30 * 24 * time.Hour)
	if last := strings.Join(told(), "\n"); !strings.HasPrefix(last, "sam@example.org: Canceled") {
		t.Errorf("at the end: %s", last)
	}
	w.as("sam").caseForm(out.CaseID).wants("state", `"canceled"`)
}

// TestDraftFollowsItsAuthor: a draft is handed over with what its author has.
func TestDraftFollowsItsAuthor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	admin.mustPutRoute("buy", routeBuy)
	id := w.as("sam").mustDrop("buy", "q.pdf", "pixels").CaseID
	if err := admin.deleteParty(identity.User, "sam", "bob"); err != nil {
		t.Fatal(err)
	}
	bob := w.as("bob")
	same(t, "ann sees it", w.as("ann").sees(id), false)
	out := try(bob.perform(id, "start", `{"xattrDict": {"amount": 5}}`)).must(w, "start")
	same(t, "the life", string(out.Life), "active")
	bob.caseForm(id).wants("starter", `"bob"`, "xattrDict", `{"amount":5}`, "roles", `{"clerk":["bob"]}`)
}
