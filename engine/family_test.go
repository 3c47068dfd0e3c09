package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// routeTIPVote is what each voter of routeTIP gets.
const routeTIPVote = `
access: {start: [], read: []}
roles: {voter: {}}
states: {open: {type: start}, approved: {type: complete}, rejected: {type: denied}, abstained: {type: complete}}
actions:
  open: {trigger: init}
  approve: {in: [open], role: voter, to: approved, type: approve}
  reject: {in: [open], role: voter, to: rejected, type: deny}
  abstain: {in: [open], role: voter, to: abstained}
  no-vote: {in: [open], trigger: time, timeout: P7D, to: abstained}
`

// routeTIP is a proposal on which the core team votes, each in a child case.
const routeTIP = `
access: {start: [everyone], read: [everyone]}
roles: {submitter: {assign: [starter]}, voter: {assign: ["team:core"], pick: [everyone]}}
states: {proposed: {type: start}, voting: {}, withdrawn: {type: cancelled}, approved: {type: complete}, rejected: {type: denied}}
actions:
  propose: {trigger: init, past: Proposed}
  vote:
    in: [proposed]
    child: {route: tip-vote, roles: {voter: {from: voter, each: per_user}}, while: voting}
    decide: >-
      tally.status.approved > 0 && (tally.status.rejected == 0 || 3 * tally.status.approved >= 2 * (tally.total - tally.canceled)) ? "approved" : "rejected"
    outputs: {approved: approved, rejected: rejected}
  withdraw: {in: [proposed, voting], role: submitter, to: withdrawn, past: Withdrawn}
`

// tipWorld is a world with the routes of the proposal.
func tipWorld(t *testing.T, options ...func(*world)) *world {
	t.Helper()
	w := newWorld(t, options...)
	w.as("admin").mustPutRoute("tip-vote", routeTIPVote)
	w.as("admin").mustPutRoute("tip", routeTIP)
	return w
}

// children returns the ids of the newest children of a case.
func (u user) children(id int64) (ids []int64) {
	u.Helper()
	f := u.caseForm(id)
	for i := 0; f.get(fmt.Sprintf("children/%d", i)) != "absent"; i++ {
		ids = append(ids, u.ref(f.get(fmt.Sprintf("children/%d/id", i))).CaseID)
	}
	return ids
}

// TestTIP plays the proposal through the store, looks at every form on the
// way, and at who sees what.
func TestTIP(t *testing.T) {
	t.Parallel()
	w := tipWorld(t)
	sam, ann, bob, eve := w.as("sam"), w.as("ann"), w.as("bob"), w.as("eve")
	id := sam.startCase(`{"route": "tip", "title": "TIP 42", "roles": {"voter": ["ann", "bob", "eve"]}}`)
	kids := sam.children(id)
	if len(kids) != 3 {
		t.Fatalf("children %v", kids)
	}
	sam.caseForm(id).wants("state", `"active"`, "status", `"voting"`, "childrenCount", "3", "enabledActions", `["withdraw"]`, "pendingActions", `["vote"]`,
		"parent", "null", "parentAction", "null",
		"children/0", fmt.Sprintf(`{"id":%d,"route":"tip-vote","state":"active","status":"open","action":"vote"}`, kids[0]))
	ann.caseForm(kids[0]).wants("state", `"active"`, "title", `"TIP 42 (ann)"`, "parent", fmt.Sprint(id), "parentAction", `"vote"`,
		"starter", `"sam"`, "context", `"sam"`, "roles", `{"voter":["ann"]}`, "enabledActions", `["approve","reject","abstain"]`, "pendingActions", `["no-vote"]`)
	for who, want := range map[string]string{"sam": "true true", "ann": "true false", "bob": "false true"} {
		if got := fmt.Sprint(w.as(who).sees(kids[0]), w.as(who).sees(kids[1])); got != want {
			t.Errorf("%s sees %s of the first two, want %s", who, got, want)
		}
	}
	same(t, "the children listed", sam.lists(engine.Filter{Parent: id}), strings.Trim(fmt.Sprint(kids), "[]"))
	same(t, "the children of bob", bob.lists(engine.Filter{Parent: id}), fmt.Sprint(kids[1]))
	same(t, "a page", sam.lists(engine.Filter{Parent: id, Limit: 1, After: kids[0]}), fmt.Sprint(kids[1]))

	before := sam.caseResource(fmt.Sprint(id))
	_, err := eve.perform(kids[0], "approve", `{}`)
	w.refused(err, errs.NotFound) // not hers to see
	out := ann.mustPerform(kids[0], "approve")
	same(t, "the vote", fmt.Sprint(out.CaseID, out.Life, out.Status), fmt.Sprint(kids[0], "completed", "approved"))
	after := sam.caseResource(fmt.Sprint(id))
	if before.FormETag == after.FormETag || before.Definition != after.Definition {
		t.Errorf("ETag %s, then %s; a vote gives another, and leaves the version", before.FormETag, after.FormETag)
	}
	sam.mustPutCase(fmt.Sprint(id), `{"title": "TIP 42: sessions"}`, ifMatch(before.FormETag)) // only a line changed
	_, err = sam.putCase(fmt.Sprint(id), `{"title": "TIP 43"}`, ifMatch(before.FormETag))
	w.refused(err, errs.Precondition)

	_, err = sam.perform(id, "vote", `{}`)
	w.refused(err, errs.ActionNotEnabled)
	_, err = w.as("admin").perform(id, "vote", `{}`)
	w.refused(err, errs.ActionNotEnabled)
	w.advance(7*24*time.Hour - time.Second)
	sam.caseForm(id).wants("status", `"voting"`)
	w.advance(time.Second)
	sam.caseForm(id).wants("state", `"completed"`, "status", `"approved"`, "enabledActions", "[]", "children/1/state", `"closed"`, "children/1/status", `"abstained"`)
	_, err = bob.perform(kids[1], "approve", `{}`)
	w.refused(err, errs.CaseNotOpen)
	_, err = w.as("admin").putCase(fmt.Sprint(kids[1]), `{"state": "active"}`)
	w.refused(err, errs.CaseNotOpen)
	same(t, "output of a closed case", bob.read(kids[1], engine.OwnOutput), "text/plain: ")
	w.refused(try(w.Cases.Message(t.Context(), bob.by(), kids[1], store.UUID{}, engine.OwnException)).err, errs.NotFound)
	log := strings.Join(sam.logTexts(id), "\n")
	for _, want := range []string{"action: Proposed", "child: Started 3 cases of the route tip-vote", fmt.Sprintf("child: Case %d completed: approved", kids[0]), "action: vote"} {
		if strings.Count(log, want) != 1 {
			t.Errorf("%q is not in the log once:\n%s", want, log)
		}
	}
	same(t, "failures", w.log.count(`"level":"error"`), 0)
}

// TestVotesTogether is T31 of the proposal's scenarios: of two voters at the same instant both are heard, and the
// parent moves once.
func TestVotesTogether(t *testing.T) {
	t.Parallel()
	w := tipWorld(t)
	for range 100 {
		id := w.as("sam").startCase(`{"route": "tip", "roles": {"voter": ["ann", "bob"]}}`)
		kids := w.as("sam").children(id)
		var failed [2]error
		var wg sync.WaitGroup
		for i, who := range []string{"ann", "bob"} {
			wg.Go(func() { _, failed[i] = w.as(who).perform(kids[i], []string{"approve", "reject"}[i], `{}`) })
		}
		wg.Wait()
		if err := errors.Join(failed[:]...); err != nil {
			t.Fatal(err)
		}
		w.as("sam").caseForm(id).wants("state", `"completed"`, "status", `"rejected"`, "children/0/state", `"closed"`, "children/1/state", `"closed"`)
		if n := strings.Count(strings.Join(w.as("sam").logTexts(id), "\n"), "action: vote"); n != 1 {
			t.Fatalf("the vote was counted %d times", n)
		}
	}
}

// TestParentFaults: a decision that cannot be made is escalated, and the vote
// that set it off stands. An administrator says how it goes on.
func TestParentFaults(t *testing.T) {
	t.Parallel()
	w := tipWorld(t)
	admin, sam, ann := w.as("admin"), w.as("sam"), w.as("ann")
	admin.mustPutRoute("tip", strings.Replace(routeTIP, "tally.status.approved > 0 &&", "tally.status.unheard > 0 &&", 1))
	start := func() (id, kid int64) {
		id = sam.startCase(`{"route": "tip", "roles": {"voter": ["ann"]}}`)
		kid = sam.children(id)[0]
		out := ann.mustPerform(kid, "approve")
		same(t, "the vote", fmt.Sprint(out.Life, " ", out.Status), "completed approved")
		sam.caseForm(id).wants("state", `"failed"`, "status", `"voting"`, "pendingActions", `["vote"]`)
		sam.taskForm(id, "vote").wants("state", `"escalated"`)
		return id, kid
	}
	id, kid := start()
	_, err := sam.perform(id, "vote", `{"do": "retry"}`)
	w.refused(err, errs.NotAllowed)
	admin.mustDo(id, "vote", "retry") // the same fault again
	sam.taskForm(id, "vote").wants("state", `"escalated"`)
	try(admin.perform(id, "vote", `{"do": "skip", "output": "approved"}`)).must(w, "skip")
	sam.caseForm(id).wants("state", `"completed"`, "status", `"approved"`)
	ann.caseForm(kid).wants("state", `"closed"`)

	id, kid = start()
	admin.mustDo(id, "vote", "abort")
	sam.caseForm(id).wants("state", `"active"`, "status", `"voting"`, "pendingActions", "[]")
	ann.caseForm(kid).wants("state", `"closed"`)
}

// TestLoopThroughTree: parent and child that set each other off without end
// are refused whole.
func TestLoopThroughTree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	admin.mustPutRoute("step", "states: {a: {type: start}, z: {type: complete}}\nactions:\n  begin: {trigger: init}\n  end: {trigger: auto, in: [a], to: z}\n")
	admin.mustPutRoute("wheel", `
access: {start: [everyone]}
states: {rest: {type: start}, turning: {}}
actions:
  begin: {trigger: init}
  push: {in: [rest], allowed: everyone, to: turning}
  turn: {in: [turning], child: {route: step}, to: turning}
`)
	id := sam.startCase(`{"route": "wheel"}`)
	before := w.snapshot()
	_, err := sam.perform(id, "push", `{}`)
	w.refused(err, errs.EndlessLoop)
	problem, _ := errors.AsType[*errs.Error](err)
	same(t, "the loop", fmt.Sprint(problem.Extra["actions"]), "[turn step/end]")
	same(t, "the store", w.snapshot(), before)
	same(t, "cases", len(w.caseIDs()), 1)
}

// TestStrandedChildren: children of an enablement that is gone refuse
// everything at once, and end by and by, over a restart too.
func TestStrandedChildren(t *testing.T) {
	t.Parallel()
	w := manyWorld(t, 20) // squared
	sam := w.as("sam")
	id := sam.startCase(`{"route": "crowd"}`)
	sam.caseForm(id).wants("childrenCount", "400", "status", `"asking"`)
	kids := sam.children(id)
	w.config = func(c *engine.Config) { c.Sandbox = false } // nobody sweeps
	w.reopen()
	sam = w.as("sam")
	sam.mustPerform(id, "stop")
	last := kids[len(kids)-1]
	sam.caseForm(last).wants("state", `"active"`)
	_, err := w.as("u19").perform(last, "yes", `{}`)
	w.refused(err, errs.CaseNotOpen)
	_, err = sam.putCase(fmt.Sprint(last), `{"title": "x"}`)
	w.refused(err, errs.CaseNotOpen)
	w.config = nil
	w.reopen()
	w.advance(0)
	for _, c := range w.cases() {
		if c.get("route") == `"opinion"` {
			c.wants("state", `"canceled"`)
		}
	}
	w.as("sam").caseForm(id).wants("state", `"completed"`, "children/0/state", `"canceled"`)
}

// manyWorld has so many users, who are the team crowd, and a route that asks
// each pair of them.
func manyWorld(t *testing.T, people int, options ...func(*world)) *world {
	t.Helper()
	w := newWorld(t, options...)
	admin := w.as("admin")
	var names []string
	for i := range people {
		name := fmt.Sprintf("u%02d", i)
		admin.mustPutParty(identity.User, name, `{}`)
		names = append(names, `"`+name+`"`)
	}
	admin.mustPutParty(identity.Team, "crowd", `{"members": [`+strings.Join(names, ", ")+`]}`)
	admin.mustPutRoute("opinion", `
roles: {one: {}, other: {}}
states: {open: {type: start}, given: {type: complete}}
actions:
  begin: {trigger: init}
  yes: {in: [open], role: one, to: given}
`)
	admin.mustPutRoute("crowd", `
access: {start: [everyone]}
roles: {crowd: {assign: ["team:crowd"]}, boss: {assign: [starter]}}
states: {new: {type: start}, asking: {}, stopped: {type: cancelled}, done: {type: complete}}
actions:
  begin: {trigger: init}
  ask: {in: [new], child: {route: opinion, while: asking, roles: {one: {from: crowd, each: per_user}, other: {from: crowd, each: per_user}}}, to: done}
  stop: {in: [asking], role: boss, to: stopped}
`)
	return w
}

// TestRehearsedChildren: a dry run that would start children stores nothing,
// and foretells the form.
func TestRehearsedChildren(t *testing.T) {
	t.Parallel()
	w := tipWorld(t)
	sam := w.as("sam")
	const doc = `{"route": "tip", "roles": {"voter": ["ann", "bob"]}}`
	before, next := w.snapshot(), w.db.PeekID()
	dry := sam.mustPutCase("", doc, dryRun())
	same(t, "the store", w.snapshot(), before)
	same(t, "the next id", w.db.PeekID(), next)
	out := sam.mustPutCase("", doc)
	if got, want := uuids.ReplaceAllString(string(dry.Form), "X"), uuids.ReplaceAllString(string(out.Form), "X"); got != want {
		t.Errorf("foretold\n%s\nand then\n%s", got, want)
	}
}

// TestChildrenAreBounded: routes that start cases without bound come to the
// starter's limit of open cases.
func TestChildrenAreBounded(t *testing.T) {
	t.Parallel()
	w := manyWorld(t, 20, func(w *world) { w.config = func(c *engine.Config) { c.Limits.OpenCases = 100 } })
	id := w.as("sam").startCase(`{"route": "crowd"}`)
	w.as("sam").caseForm(id).wants("childrenCount", "256", "pendingActions", `["ask"]`)
	w.as("sam").taskForm(id, "ask").wants("state", `"escalated"`)
	w.as("sam").mustPerform(id, "stop")
	w.as("admin").mustPutRoute("noop", routeAuto)
	w.as("sam").caseForm(id).wants("state", `"completed"`)
	w.as("sam").startCase(`{"route": "ask"}`) // all of them have ended
}

// TestTreeOfRoutes: routes name each other's cases, and so hold each other.
func TestTreeOfRoutes(t *testing.T) {
	t.Parallel()
	w := tipWorld(t)
	admin := w.as("admin")
	_, err := admin.putRoute("x", strings.Replace(routeTIP, "tip-vote", "tip-votes", 1))
	w.refused(err, errs.Invalid, "/actions/vote/child/route not-found")
	_, err = admin.putRoute("x", strings.Replace(routeTIP, "{voter: {from: voter", "{voters: {from: voter", 1))
	w.refused(err, errs.Invalid, "/actions/vote/child/roles/voters not-found")
	_, err = w.as("sam").putRoute("x", routeTIP)
	w.refused(err, errs.Invalid, "/actions/vote/child/route not-found") // not his to see
	_, err = admin.putRoute("x", strings.NewReplacer("tip-vote", "tip-votes", "withdraw: {in: [", "withdraw: {in: [nowhere, ").Replace(routeTIP))
	w.refused(err, errs.Invalid, "/actions/withdraw/in/0 not-found", "/actions/vote/child/route not-found") // all at once
	w.refused(admin.deleteRoute("tip-vote"), errs.InUse)
	if err := admin.deleteRoute("tip"); err != nil {
		t.Fatal(err)
	}
	if err := admin.deleteRoute("tip-vote"); err != nil {
		t.Fatal(err)
	}
}

// TestSuspendedTree: a completed child with something due below a suspended
// parent keeps nobody busy.
func TestSuspendedTree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	admin.mustPutRoute("echo", `
states: {open: {type: start}, heard: {type: complete}}
actions:
  begin: {trigger: init}
  hear: {in: [open], allowed: everyone, to: heard}
  forget: {in: [heard], trigger: time, timeout: P1D, to: open}
`)
	admin.mustPutRoute("call", `
access: {start: [everyone]}
roles: {caller: {assign: [starter]}, heard: {assign: ["team:core"]}}
states: {open: {type: start}, over: {type: complete}}
actions:
  begin: {trigger: init}
  call: {in: [open], child: {route: echo, roles: {}}, guard: "xattr.answered", to: over}
`)
	id := sam.startCase(`{"route": "call", "xattrDict": {"answered": false}}`)
	kid := sam.children(id)[0]
	sam.mustPerform(kid, "hear")
	sam.mustPutCase(fmt.Sprint(id), `{"state": "suspended"}`)
	sam.caseForm(kid).wants("state", `"completed"`)
	_, err := sam.perform(kid, "hear", `{}`)
	w.refused(err, errs.CaseNotOpen)
	if done := w.advance(48 * time.Hour); !done.Complete || done.Fired != 0 {
		t.Errorf("%+v", done)
	}
	sam.mustPutCase(fmt.Sprint(id), `{"state": "active"}`)
	sam.caseForm(kid).wants("state", `"active"`, "status", `"open"`)
}

// TestCancelTree: canceling a case, or deleting it, ends what it started, and
// a child that is deleted counts as finished.
func TestCancelTree(t *testing.T) {
	t.Parallel()
	w := tipWorld(t)
	sam := w.as("sam")
	start := func() (int64, []int64) {
		id := sam.startCase(`{"route": "tip", "roles": {"voter": ["ann", "bob"]}}`)
		return id, sam.children(id)
	}
	id, kids := start()
	w.as("ann").mustPerform(kids[0], "approve")
	if err := sam.deleteCase(fmt.Sprint(kids[1])); err != nil {
		t.Fatal(err)
	}
	sam.caseForm(id).wants("state", `"completed"`, "status", `"approved"`, "children/1/state", `"canceled"`)

	id, kids = start()
	if err := sam.deleteCase(fmt.Sprint(id)); err != nil {
		t.Fatal(err)
	}
	for _, kid := range kids {
		sam.caseForm(kid).wants("state", `"canceled"`)
		_, err := w.as("admin").putCase(fmt.Sprint(kid), `{"state": "active"}`)
		w.refused(err, errs.CaseNotOpen)
	}
	// The parent is taken back, and has new children.
	w.as("admin").mustPutCase(fmt.Sprint(id), `{"state": "active"}`)
	if again := sam.children(id); len(again) != 2 && len(again) != 4 {
		t.Errorf("children %v", again)
	}
}

// TestChildrenOfAdmins: the administrators of a route, whom its role "admins"
// stands for, play in its children by their names.
func TestChildrenOfAdmins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	admin.mustPutRoute("judge", "roles: {one: {}, all: {}, boss: {assign: [\"parent:bosses\"]}}\nstates: {open: {type: start}, done: {type: complete}}\n"+
		"actions: {begin: {trigger: init}, end: {in: [open], role: one, to: done}}\n")
	for _, each := range []string{"per_user", "per_member"} {
		admin.mustPutRoute("court", `
access: {start: [everyone], admin: [bob]}
roles: {bosses: {assign: [admins]}}
states: {new: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  ask: {in: [new], child: {route: judge, roles: {one: {from: bosses, each: `+each+`}, all: {from: bosses}}}, to: done}
`)
		id := sam.startCase(`{"route": "court"}`)
		sam.caseForm(id).wants("childrenCount", "2")
		for i, kid := range admin.children(id) {
			one := []string{"admin", "bob"}[i]
			admin.caseForm(kid).wants("roles", `{"one":["`+one+`"],"all":["admin","bob"],"boss":["admin","bob"]}`)
		}
	}
}
