package engine_test

import (
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

const routeOfDesk = `
access: {start: [everyone], read: [everyone], admin: [sam]}
roles: {clerk: {assign: ["team:desk"]}}
states: {open: {type: start}, made: {}, done: {type: complete}}
actions:
  begin: {trigger: init}
  make: {in: [open], role: clerk, to: made}
  check: {title: Check it, in: [made], role: clerk, distinct: [make], to: done}
`

// TestFourEyesLeaveNobody: if the only player of a role must not do a task for what they
// have done before, that is a warning, and told; it ends once somebody else joins the
// team, without anything happening in the case, and comes back if they leave it.
func TestFourEyesLeaveNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	admin, sam := w.as("admin"), w.as("sam")
	admin.mustPutParty(identity.Team, "desk", `{"members": ["ann"]}`)
	admin.mustPutRoute("desk-check", strings.TrimPrefix(routeOfDesk, "\n"))
	id := sam.startCase(`{"route": "desk-check", "title": "One"}`)
	since := w.toldSince(id)
	since()
	warned := func(when string, want bool) {
		t.Helper()
		if text := sam.caseForm(id).get("warnings"); strings.Contains(text, "Nobody can do it: Check it (ann has done an earlier step, and may not do this one)") != want {
			t.Errorf("%s: warnings %s", when, text)
		}
	}
	w.as("ann").mustPerform(id, "make")
	warned("at first", true)
	const nobody, somebody = "sam@example.org: Nobody can do it: Check it", "sam@example.org: Somebody can do it: Check it (One)"
	told := func(when, want string) {
		t.Helper()
		if list := since(); !strings.Contains(strings.Join(list, "\n"), want) {
			t.Errorf("%s: told %q, want %q", when, list, want)
		}
	}
	told("at first", nobody)
	before := sam.caseResource(fileOf(id)).FormETag
	admin.mustPutParty(identity.Team, "desk", `{"members": ["ann", "bob"]}`)
	warned("bob has joined", false)
	told("bob has joined", somebody)
	if after := sam.caseResource(fileOf(id)).FormETag; after == before {
		t.Errorf("the case has the same ETag")
	}
	admin.mustPutParty(identity.Team, "desk", `{"members": ["ann"]}`)
	warned("bob has left", true)
	told("bob has left", nobody)
	admin.mustPutParty(identity.Team, "inner", `{"members": ["bob"]}`)
	admin.mustPutParty(identity.Team, "desk", `{"members": ["ann", "inner"]}`)
	warned("through a team", false)
	admin.mustPutParty(identity.Team, "inner", `{"members": []}`)
	warned("the inner team is empty", true)
	admin.mustPutParty(identity.Team, "inner", `{"members": ["bob"]}`)
	admin.mustPutParty(identity.User, "bob", `{"disabled": true}`)
	warned("bob is disabled", true)
	admin.mustPutParty(identity.User, "bob", `{"disabled": false}`)
	warned("bob is not", false)
	w.as("bob").mustPerform(id, "check")
}

// TestFourEyesAreKnownBefore: who may not perform a task is not offered it, and not told
// of it; who tries is refused as before.
func TestFourEyesAreKnownBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	admin, ann, bob := w.as("admin"), w.as("ann"), w.as("bob")
	admin.mustPutParty(identity.Team, "desk", `{"members": ["ann", "bob"]}`)
	admin.mustPutRoute("desk-check", strings.TrimPrefix(routeOfDesk, "\n"))
	id := w.as("sam").startCase(`{"route": "desk-check", "title": "One"}`)
	since := w.toldSince(id)
	since()
	ann.mustPerform(id, "make")
	if told := strings.Join(since(), "\n"); !strings.Contains(told, "bob@example.org: To do: Check it (One)") || strings.Contains(told, "ann@example.org: To do") {
		t.Errorf("told %s", told)
	}
	same(t, "offered to ann", strings.Contains(ann.work(engine.WorklistOffered, engine.Filter{}), ".check"), false)
	same(t, "offered to bob", strings.Contains(bob.work(engine.WorklistOffered, engine.Filter{}), ".check"), true)
	w.kind("ann performs it", try(ann.perform(id, "check", `{}`)).err, errs.FourEyes)
	bob.mustPerform(id, "check")
}

// TestBoardNamesWhatDecides: a move that only a decision can make says by which action.
func TestBoardNamesWhatDecides(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("weigh", `
access: {start: [everyone], read: [everyone]}
roles: {clerk: {assign: [starter]}}
states: {open: {type: start}, light: {type: complete}, heavy: {type: complete}}
actions:
  begin: {trigger: init}
  weigh: {in: [open], role: clerk, decide: '"light"', outputs: {light: light, heavy: heavy}}
`)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "weigh"}`)
	_, err := w.Cases.MoveOnBoard(t.Context(), engine.Request{By: sam.by(), Now: w.clock.Now()}, engine.BoardMove{CaseID: id, Route: "weigh", From: "open", To: "heavy"})
	w.kind("the move", err, errs.ActionNotEnabled)
	if err == nil || !strings.Contains(err.Error(), `It can get there by "weigh", which decides where the case goes`) || strings.Contains(err.Error(), "cannot move it anywhere") {
		t.Errorf("got %v", err)
	}
}

// TestFourEyesInWords: who may not do a task because of what they have done in the case is told
// that, and not that a condition of their program is not met.
func TestFourEyesInWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("buy", `{access: {start: [everyone]}, roles: {boss: {assign: [everyone]}}, states: {a: {type: start}, c: {}, b: {type: complete}},
		actions: {begin: {trigger: init}, check: {title: Check it, in: [a], role: boss, to: c},
		approve: {title: Approve, type: approve, in: [a, c], role: boss, distinct: [begin, check], to: b}}}`)
	sam, ann := w.as("sam"), w.as("ann")
	id := sam.startCase(`{"route": "buy"}`)
	words := func(u user, kind errs.Kind, want string, options ...option) {
		t.Helper()
		_, err := u.perform(id, "approve", `{}`, options...)
		if w.refused(err, kind); !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	words(sam, errs.FourEyes, `You may not do "Approve" in this case, because you have started it`)
	words(sam, errs.Precondition, `You may not do "Approve" in this case, because you have started it`, ifNew())
	words(ann, errs.Precondition, "It is not so", ifNew())
	ann.mustPerform(id, "check")
	words(ann, errs.FourEyes, `You may not do "Approve" in this case, because you have done "Check it" in it`)
	w.as("bob").mustPerform(id, "approve")
}
