package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/engine/outbox"
	"flowdrive/internal/identity"
)

const routeWaiting = `
access: {start: [everyone], read: [everyone], admin: [dora]}
roles: {boss: {assign: ["user:bob"]}, office: {assign: ["team:office"]}}
states: {open: {type: start}, asked: {}, done: {type: complete}, no: {type: denied}}
notify: {remind: PT4H}
actions:
  begin: {trigger: init, past: Begun}
  agree: {title: Approve, in: [open], role: boss, to: asked, dueIn: PT2H}
  answer: {title: Answer, in: [asked], role: office, to: done}
  refuse: {title: Refuse, in: [open], role: office, to: no}
`

func waitingWorld(t *testing.T) *world {
	t.Helper()
	w := mailsWorld(t)
	for _, name := range []string{"dora", "eve"} {
		w.as("admin").mustPutParty(identity.User, name, fmt.Sprintf(`{"email": "%s@example.org", "password": "dora dora dora"}`, name))
	}
	w.as("admin").mustPutParty(identity.Team, "office", `{"members": ["ann"]}`)
	w.as("admin").mustPutRoute("wait", routeWaiting)
	return w
}

// TestNewcomersAreTold: who can log in again, or is made a member of a team, is told of the
// tasks that wait for them, in one mail, and not of those that they have had before.
func TestNewcomersAreTold(t *testing.T) {
	t.Parallel()
	w := waitingWorld(t)
	admin := w.as("admin")
	admin.mustPutParty(identity.User, "bob", `{"disabled": true}`)
	for i := range 3 {
		w.as("sam").startCase(fmt.Sprintf(`{"route": "wait", "title": "C%d"}`, i+1))
	}
	before := len(w.sentTo("bob@example.org"))
	admin.mustPutParty(identity.User, "bob", `{"disabled": false}`)
	w.advance(time.Minute)
	same(t, "bob is enabled", w.sentTo("bob@example.org")[before:], []string{"09 12:34 3 tasks wait: To do: Approve (C3)"})
	admin.mustPutParty(identity.Team, "office", `{"members": ["ann", "eve"]}`)
	w.advance(time.Minute)
	same(t, "to refuse is not something to do", len(w.sentTo("eve@example.org")), 0)
	admin.mustPutParty(identity.Team, "office", `{"members": ["ann"]}`)
	w.as("bob").mustPerform(w.caseIDs()[0], "agree")
	told := len(w.sentTo("ann@example.org"))
	admin.mustPutParty(identity.Team, "office", `{"members": ["ann", "eve"]}`)
	w.advance(time.Minute)
	eve := w.sentTo("eve@example.org")
	if len(eve) != 1 || !strings.Contains(eve[0], "To do: Answer (C") {
		t.Errorf("eve has joined the team: %q", eve)
	}
	same(t, "ann was in it", len(w.sentTo("ann@example.org")), told)
	admin.mustPutParty(identity.Team, "office", `{"members": ["ann", "eve"], "admins": ["ann"]}`)
	w.advance(time.Minute)
	same(t, "nothing has changed", len(w.sentTo("eve@example.org")), 1)
}

// TestOverdueIsNotReminded: a task that is overdue is told daily, also to who stands in for
// those who have it, and is not reminded of as well.
func TestOverdueIsNotReminded(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"PT2H", "PT1H"} { // later than it is due, and at the same instant
		w := waitingWorld(t)
		w.as("admin").mustPutRoute("wait", strings.Replace(strings.Replace(routeWaiting, "PT4H", limit, 1), "dueIn: PT2H", "dueIn: "+limit, 1))
		to := w.clock.Now().Add(200 * time.Hour).Format(time.RFC3339)
		w.as("bob").mustPutMe(fmt.Sprintf(`{"deputy": {"user": "eve", "to": %q}}`, to))
		w.as("sam").startCase(`{"route": "wait", "title": "One"}`)
		w.advance(50 * time.Hour)
		for _, name := range []string{"bob", "eve"} {
			var got []string
			for _, line := range w.sentTo(name + "@example.org") {
				if _, subject, _ := strings.Cut(line[3:], " "); !strings.HasPrefix(subject, "You stand in") {
					got = append(got, subject)
				}
			}
			if name == "eve" && len(got) > 0 && !strings.HasPrefix(got[0], "To do") {
				got = got[1:] // that she is bob's deputy
			}
			same(t, name, got, []string{"To do: Approve (One)", "Overdue: Approve (One)", "Still overdue: Approve (One)", "Still overdue: Approve (One)"})
		}
		for _, id := range w.caseIDs() {
			if log := strings.Join(w.as("sam").logTexts(id), "\n"); strings.Contains(log, "Reminded bob") {
				t.Errorf("the log says\n%s", log)
			}
		}
	}
}

// TestCompletedIsNoLongerFailed: if a case that was failed is completed by what somebody did,
// who was told of the failure is told that once, and nothing daily. What has failed can be
// tried again.
func TestCompletedIsNoLongerFailed(t *testing.T) {
	t.Parallel()
	source := strings.Replace(strings.Replace(fmt.Sprintf(routeTrier, ""), "roles: {", "roles: {clerk: {assign: [\"user:bob\"]}, ", 1)+"  on: {title: Go on, past: Gone on, in: [running], role: clerk, to: done}\n", ", onError: {steps: [], to: failed}", "", 1)
	withInbox(t, source, func(k *inbox) {
		k.works(&outbox.Final{Reason: "disk full"})
		id := k.as("sam").startCase(`{"route": "job", "title": "One"}`)
		k.wait(time.Second)
		k.news()
		try(k.as("bob").perform(id, "on", `{"comment": "I go on without it"}`)).must(k.world, "going on")
		k.wait(time.Second)
		got, texts := k.news()
		same(t, "it is completed", got, []string{"dora: No longer failed: One", "sam: Done: One"})
		for line, want := range map[string]string{"dora: No longer failed: One": "> I go on without it", "sam: Done: One": "This also ends what had been wrong"} {
			if !strings.Contains(texts[line], want) {
				t.Errorf("%s: no %q in %s", line, want, texts[line])
			}
		}
		k.wait(48 * time.Hour)
		got, _ = k.news()
		same(t, "afterwards", got, []string(nil))
	})
}

// TestMailOfDecisionSaysOutputs: the mail of a decision that failed says with which outputs it
// can be skipped, and the first of them does.
func TestMailOfDecisionSaysOutputs(t *testing.T) {
	t.Parallel()
	w := troubleWorld(t)
	w.as("admin").mustPutRoute("choose", `{access: {start: [everyone], admin: [dora]}, xattrs: {n: {type: number}},
		states: {new: {type: start}, mid: {type: complete}, done: {type: complete}},
		actions: {begin: {trigger: init}, dec: {trigger: auto, in: [new], decide: "xattr.n > 5 ? 'mid' : 'done'", outputs: {mid: mid, done: done}}}}`)
	id := w.as("sam").startCase(`{"route": "choose", "title": "One"}`)
	text := strings.Join(strings.Fields(strings.NewReplacer(`\n`, " ", `\"`, `"`).Replace(w.lastNotice(id, "dora@example.org", "Failed"))), " ")
	if !strings.Contains(text, `or {"do": "skip", "output": "mid"} to have it count as done with that output. Its outputs are: mid, done.`) {
		t.Fatalf("the mail says %s", text)
	}
	try(w.as("dora").perform(id, "dec", `{"do": "skip", "output": "mid"}`)).must(w, "what the mail says")
}
