package engine_test

import (
	"strings"
	"testing"
	"time"

	"flowdrive/internal/identity"
)

const routeUnstarted = `
context: ann
title: Desk
access: {start: [everyone], read: [everyone], admin: [dora]}
roles: {clerk: {assign: ["user:bob"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, past: Begun, onFire: [{set: {k: "$__XATTR_nix__;"}}]}
  check: {title: Check it, in: [open], role: clerk, to: done, past: Checked}
`

// unstartedWorld has a case of sam's that could not start, and a route that is mended.
func unstartedWorld(t *testing.T) (w *world, id int64, since func() []string) {
	t.Helper()
	w = troubleWorld(t)
	w.as("admin").mustPutRoute("desk", routeUnstarted)
	id = w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	since = w.toldSince(id)
	same(t, "told", prefixed(since(), "Not started: One: "), []string{"ann@example.org", "dora@example.org", "sam@example.org"})
	w.as("admin").mustPutRoute("desk", strings.Replace(routeUnstarted, `, onFire: [{set: {k: "$__XATTR_nix__;"}}]`, "", 1))
	return w, id, since
}

// TestStartedAfterAll: those who were told that a case could not start are told when it has
// started, and not that it still has not (docs/contract/routes.md#what-is-wrong).
func TestStartedAfterAll(t *testing.T) {
	t.Parallel()
	w, id, since := unstartedWorld(t)
	w.as("dora").mustPutCase(ref(id), `{"state": "active"}`)
	same(t, "started", since(), []string{"ann@example.org: Started: One", "bob@example.org: To do: Check it (One)", "sam@example.org: Started: One"})
	w.as("bob").mustPerform(id, "check")
	since()
	w.advance(72 * time.Hour)
	same(t, "afterwards", since(), []string(nil))
}

// TestRetriedByItsStarter: who has a case started again and had started it knows that it starts.
func TestRetriedByItsStarter(t *testing.T) {
	t.Parallel()
	w, id, since := unstartedWorld(t)
	w.as("admin").mustPutParty(identity.User, "sam", `{"admin": true}`)
	w.as("sam").mustPutCase(ref(id), `{"state": "active"}`)
	same(t, "started", since(), []string{"ann@example.org: Started: One", "bob@example.org: To do: Check it (One)", "dora@example.org: Started: One"})
	w.advance(72 * time.Hour)
	same(t, "afterwards", since(), []string(nil))
}

// TestArchivedBeforeItStarted: those who were told that a case could not start are told that
// it was given up when it is archived, by a DELETE or by its retention, and nothing after that.
func TestArchivedBeforeItStarted(t *testing.T) {
	t.Parallel()
	w, id, since := unstartedWorld(t)
	if err := w.as("dora").deleteCase(ref(id)); err != nil {
		t.Fatal(err)
	}
	same(t, "deleted", since(), []string{"ann@example.org: Given up: One", "sam@example.org: Given up: One"})
	w.advance(72 * time.Hour)
	same(t, "afterwards", since(), []string(nil))
}

// TestCanceledBeforeItStarted: the same of a case that is canceled.
func TestCanceledBeforeItStarted(t *testing.T) {
	t.Parallel()
	w, id, since := unstartedWorld(t)
	w.as("dora").mustPutCase(ref(id), `{"state": "canceled"}`)
	same(t, "canceled", since(), []string{"ann@example.org: Canceled: One", "sam@example.org: Canceled: One"})
	w.advance(72 * time.Hour)
	same(t, "afterwards", since(), []string(nil))
}

// TestDeletedBeforeItStarted: those who were told that a case could not start are told that it
// was deleted by its retention, though nothing of the case is left in the outbox.
func TestDeletedBeforeItStarted(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	w.as("admin").mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	w.as("admin").mustPutRoute("desk", "retention: P2D\nthen: delete\n"+routeUnstarted)
	w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	told := w.sentTo("dora@example.org")
	w.advance(10 * 24 * time.Hour)
	told = append(told, w.sentTo("dora@example.org")...)
	if len(told) < 2 || !strings.Contains(told[0], "Not started: One: ") || !strings.HasSuffix(told[len(told)-1], " Deleted: One") {
		t.Errorf("told\n%s", strings.Join(told, "\n"))
	}
	if n := len(w.cases()); n != 0 {
		t.Errorf("%d cases are left", n)
	}
}
