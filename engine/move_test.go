package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
)

func (u user) move(route, from string, id int64, to string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.Cases.MoveOnBoard(u.Context(), u.request(options), engine.BoardMove{CaseID: id, Route: route, From: from, To: to})
}

// A case is moved on the board by the action that leads there, as if that
// had been performed.
func TestMoveOnBoard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	id := sam.startCase(`{"route": "ask"}`)
	for _, test := range []struct {
		route, from, to string
		id              int64
		kind            errs.Kind
	}{
		{"auto", "open", "answered", id, errs.NotFound},
		{"ask", "answered", "closed", id, errs.NotFound},
		{"ask", "open", "nowhere", id, errs.ActionNotEnabled},
		{"ask", "open", "answered", id + 99, errs.NotFound},
		{"ask", "open", "closed", id, errs.ActionNotEnabled},
	} {
		_, err := sam.move(test.route, test.from, test.id, test.to)
		w.refused(err, test.kind)
	}
	w.refused(try(w.as("eve").move("ask", "open", id, "answered")).err, errs.NotFound)
	out := try(ann.move("ASK", "Open", id, "Answered")).must(w, "move")
	if out.Action != "answer" || out.Status != "answered" || out.Life != machine.Active || out.LogSeq != 3 || out.Name != fmt.Sprint(id) {
		t.Errorf("%+v", out)
	}
	log := sam.logTexts(id)
	same(t, "log", log[len(log)-1], "action: Answered")
	w.refused(try(ann.move("ask", "answered", id, "closed")).err, errs.ActionNotEnabled)
	try(sam.move("ask", "answered", id, "closed")).must(w, "close")
	try(sam.move("ask", "closed", id, "open")).must(w, "reopen")
	sam.caseForm(id).wants("state", `"active"`, "status", `"open"`)
}

// routeVote is decided by whoever comes first.
const routeVote = `
name: vote
access: {start: [everyone]}
roles: {voter: {assign: ["team:core"]}}
states: {open: {type: start}, approved: {type: complete}, denied: {type: denied}}
actions:
  begin: {trigger: init}
  approve: {in: [open], role: voter, to: approved, type: approve}
  deny: {in: [open], role: voter, to: denied, type: deny}
`

// Of two who decide at the same instant exactly one wins; the other is told
// who was faster, whether it moves the case or performs the action.
func TestDecideAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("vote", routeVote)
	sam, ann := w.as("sam"), w.as("ann")
	for round := range 100 {
		id := sam.startCase(`{"route": "vote"}`)
		var both sync.WaitGroup
		var lost [2]error
		both.Go(func() { _, lost[0] = sam.perform(id, "approve", `{}`) })
		both.Go(func() {
			if round%2 == 0 {
				_, lost[1] = ann.perform(id, "deny", `{}`)
			} else {
				_, lost[1] = ann.move("vote", "open", id, "denied")
			}
		})
		both.Wait()
		winner, loser := 0, 1
		if lost[0] != nil {
			winner, loser = 1, 0
		}
		moved := loser == 1 && round%2 == 1 // what it would move is no more where it was
		if lost[winner] != nil || errs.KindOf(lost[loser]) != errs.ActionNotEnabled && !(moved && errs.Is(lost[loser], errs.NotFound)) {
			t.Fatalf("round %d: %v, %v", round, lost[0], lost[1])
		}
		if told, _ := errors.AsType[*errs.Error](lost[loser]); told.Kind == errs.ActionNotEnabled && told.Extra["performedBy"] != []string{"sam", "ann"}[winner] {
			t.Fatalf("round %d: who was faster is not told: %v %v", round, told, told.Extra)
		}
		status := []string{"approved", "denied"}[winner]
		sam.caseForm(id).wants("status", `"`+status+`"`, "version", "3")
		log := strings.Join(sam.logTexts(id), "; ")
		if strings.Contains(log, "approve") == strings.Contains(log, "deny") {
			t.Fatalf("round %d: %s", round, log)
		}
	}
}

// routePoll asks each of the team core, and routeBallot is what it asks.
const (
	routePoll = `
name: poll
access: {start: [everyone]}
roles: {voter: {assign: ["team:core"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  ask: {in: [open], past: Asked, child: {route: ballot, roles: {voter: {from: voter, each: per_user}}}, to: done}
`
	routeBallot = `
name: ballot
roles: {voter: {}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  vote: {in: [open], role: voter, to: done}
`
)

// Two vote at the same instant: the action of their parent is performed once,
// and knows of both.
func TestVoteAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("ballot", routeBallot)
	w.as("admin").mustPutRoute("poll", routePoll)
	sam, ann := w.as("sam"), w.as("ann")
	for round := range 100 {
		id := sam.startCase(`{"route": "poll"}`)
		children := sam.caseForm(id)
		var both sync.WaitGroup
		var failed [2]error
		for i := range 2 {
			child := sam.ref(children.get(fmt.Sprintf("children/%d/id", i)) + ".json").CaseID
			both.Go(func() {
				voter := sam
				if strings.Contains(w.as("admin").caseForm(child).get("roles/voter"), "ann") {
					voter = ann
				}
				_, failed[i] = voter.perform(child, "vote", `{}`)
			})
		}
		both.Wait()
		if failed[0] != nil || failed[1] != nil {
			t.Fatalf("round %d: %v, %v", round, failed[0], failed[1])
		}
		sam.caseForm(id).wants("state", `"completed"`, "children/0/state", `"closed"`, "children/1/state", `"closed"`)
		if n := strings.Count(strings.Join(sam.logTexts(id), "; "), "Asked"); n != 1 {
			t.Fatalf("round %d: the parent's action was performed %d times", round, n)
		}
	}
}
