package machine

import (
	"strings"
	"testing"

	"flowdrive/internal/errs"
)

const reviewed = `
roles: {reviewer: {}, boss: {assign: [starter]}}
xattrs: {note: {type: string}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  approve:
    in: [open]
    type: approve
    need: 2 of reviewer
    to: done
    past: Approved
    form: {type: object, properties: {note: {type: string}}}
  deny: {in: [open], type: deny, role: boss}
`

// reviewing returns a case with the reviewers.
func reviewing(t *testing.T, reviewers ...string) *play {
	t.Helper()
	p := newPlay(t, parsed(t, reviewed))
	if err := p.event(Edit{Actor: actorNamed("admin"), Roles: &[]Players{{Role: "reviewer", Parties: reviewers}}}); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestQuorum: an action that needs two is performed when two users of the role have
// performed it, each once.
func TestQuorum(t *testing.T) {
	t.Parallel()
	p := reviewing(t, "ann", "core")
	refused := func(step string, kind errs.Kind) {
		t.Helper()
		if err := p.do(step); !errs.Is(err, kind) {
			t.Errorf("%s: %v; want %s", step, err, kind)
		}
	}
	must := func(step string) {
		t.Helper()
		if err := p.do(step); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
	}
	must("start")
	refused("sam approve", errs.NotAllowed)   // not in the role
	refused("admin approve", errs.NotAllowed) // does not count
	must("ann approve")
	if p.c.Status != "open" || !strings.HasSuffix(p.last(), "Approved: 1 of 2") {
		t.Errorf("%s: %s", p.c.Status, p.last())
	}
	if form := string(TaskForm(p.c, p.r, "approve", Beside{})); !strings.Contains(strings.Join(strings.Fields(form), ""), `"need":{"count":2,"of":"reviewer","given":1,"by":["ann"]}`) {
		t.Error(form)
	}
	refused("ann approve", errs.FourEyes)
	if tasks := Tasks(p.c, p.r, actorNamed("ann")); len(tasks) != 0 {
		t.Errorf("ann still has %v", tasks)
	}
	refused("bob !accept approve", errs.ActionNotEnabled)
	refused("bob !delegate approve ann", errs.ActionNotEnabled)
	refused("bob !release approve", errs.ActionNotEnabled) // there is nothing of bob's
	must("ann !release approve")
	if !strings.HasSuffix(p.last(), "0 of 2") {
		t.Error(p.last())
	}
	must("ann approve")
	must("bob approve")
	if p.c.Life != Completed {
		t.Errorf("after two the case is %s", p.c.Life)
	}
	if text := strings.Join(p.texts(), "\n"); !strings.Contains(text, "Approved (2 of 2)") {
		t.Error(text)
	}
}

// TestQuorumByDeputies: a deputy counts for whom they act, and nobody has a hand in
// two votes.
func TestQuorumByDeputies(t *testing.T) {
	t.Parallel()
	p := reviewing(t, "ann", "core")
	if err := p.do("start"); err != nil {
		t.Fatal(err)
	}
	deputy := actorNamed("dan")
	deputy.DeputyFor = []Absent{{Name: "ann", Contexts: actorNamed("ann").Contexts}}
	if err := p.by(deputy, "approve"); err != nil {
		t.Fatal(err)
	}
	if votes := p.c.enablement("approve").Votes; len(votes) != 1 || votes[0].By != "dan" || votes[0].For != "ann" {
		t.Errorf("%+v", votes)
	}
	for _, actor := range []Actor{deputy, actorNamed("ann")} {
		if err := p.by(actor, "approve"); !errs.Is(err, errs.FourEyes) {
			t.Errorf("%s once more: %v", actor.Name, err)
		}
	}
	both := actorNamed("bob")
	both.DeputyFor = deputy.DeputyFor
	if err := p.by(both, "approve"); err != nil || p.c.Life != Completed {
		t.Errorf("bob: %v, %s", err, p.c.Life)
	}
}

// TestQuorumOfThoseWhoAreThere: who has left the role does not count any more.
func TestQuorumOfThoseWhoAreThere(t *testing.T) {
	t.Parallel()
	p := reviewing(t, "ann", "core")
	for _, step := range []string{"start", "ann approve"} {
		if err := p.do(step); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.event(Edit{Actor: actorNamed("admin"), Roles: &[]Players{{Role: "reviewer", Parties: []string{"bob", "sam"}}, {Role: "boss", Parties: []string{"sam"}}}}); err != nil {
		t.Fatal(err)
	}
	if err := p.do("bob approve"); err != nil {
		t.Fatal(err)
	}
	if p.c.Life != Active || !strings.HasSuffix(p.last(), "Approved: 1 of 2") {
		t.Errorf("%s: %s", p.c.Life, strings.Join(p.texts(), "\n"))
	}
	if err := p.do("sam approve"); err != nil || p.c.Life != Completed {
		t.Errorf("sam: %v, %s", err, p.c.Life)
	}
}
