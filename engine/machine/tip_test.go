package machine

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// tipOf is the proposal with these voters: ann, bob and cy unless others are
// named. complete is when it is decided early, "" for never.
func tipOf(tb testing.TB, complete string, voters ...string) *world {
	tb.Helper()
	if voters == nil {
		voters = []string{"ann", "bob", "cy"}
	}
	if complete != "" {
		complete = `, complete: "` + complete + `"`
	}
	w := newWorld(tb, named(tb, "tip", strings.Replace(tipRoute, "COMPLETE", complete, 1)), named(tb, "tip-vote", voteRoute))
	w.teams["voters"] = voters
	return w
}

const tipRoute = `
roles: {submitter: {assign: [starter]}, voter: {assign: ["team:voters"]}}
states: {proposed: {type: start}, voting: {}, withdrawn: {type: cancelled}, approved: {type: complete}, rejected: {type: denied}}
actions:
  propose: {trigger: init}
  vote:
    in: [proposed]
    child: {route: tip-vote, roles: {voter: {from: voter, each: per_user}}, while: votingCOMPLETE}
    decide: >-
      tally.status.approved > 0 && (tally.status.rejected == 0 || 3 * tally.status.approved >= 2 * (tally.total - tally.canceled))
      ? "approved" : "rejected"
    outputs: {approved: approved, rejected: rejected}
  withdraw: {in: [proposed, voting], role: submitter, to: withdrawn}
`

const voteRoute = `
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

// do carries out a step on a tree whose root is 17: "ann approve 18", "+24h",
// "admin !cancel 18", "admin !reopen 18".
func (w *world) do(step string) error {
	w.t.Helper()
	words := strings.Fields(step)
	if wait, is := strings.CutPrefix(words[0], "+"); is {
		d, err := time.ParseDuration(wait)
		if err != nil {
			w.t.Fatal(err)
		}
		w.pass(d)
		return nil
	}
	id := int64(17)
	if len(words) > 2 {
		id, _ = strconv.ParseInt(words[2], 10, 64)
	}
	actor := actorNamed(words[0])
	var err error
	switch words[1] {
	case "!cancel":
		err = w.event(id, Cancel{Actor: actor})
	case "!reopen":
		err = w.event(id, Reopen{Actor: actor})
	case "!suspend":
		err = w.event(id, Suspend{Actor: actor})
	case "!resume":
		err = w.event(id, Resume{Actor: actor})
	default:
		return w.perform(id, words[0], words[1])
	}
	if err == nil {
		w.run()
	}
	return err
}

// script runs the steps; want is what show says of the root, "=" for what it
// said before, or a kind of error after "!".
func (w *world) script(steps []step) {
	w.t.Helper()
	last := w.show(17)
	for i, s := range steps {
		err := w.do(s.do)
		got, want := w.show(17), s.want
		if want == "=" || strings.HasPrefix(want, "!") && got == last {
			want = strings.Replace(want, "=", last, 1)
		}
		if err != nil || strings.HasPrefix(want, "!") {
			if got != last {
				w.t.Fatalf("step %d, %q was refused (%v), and now it is %s", i+1, s.do, err, got)
			}
			got = "!" + refusal(err)
		} else {
			last = got
		}
		if got != want {
			w.t.Fatalf("step %d, %q:\n got %s\nwant %s\n err %v", i+1, s.do, got, want, err)
		}
	}
}

// tasks returns what the person is an assignee of, as "approve 18".
func (w *world) tasks(who string) (all []string) {
	actor := actorNamed(who)
	for _, id := range slices.Sorted(maps.Keys(w.cases)) {
		c := w.cases[id]
		r := w.definitionOf(c)
		for i := range c.Enabled {
			e := &c.Enabled[i]
			if action := r.Action(e.Action); e.State.forPeople() && actor.assigned(c, r.State(c.Status), &r.Actions[action], e) {
				all = append(all, fmt.Sprintf("%s %d", e.Action, id))
			}
		}
	}
	return all
}

// TestVoters plays the rows on votes that look at more than the states.
func TestVoters(t *testing.T) {
	t.Parallel()
	run := func(id string, f func(t *testing.T, w *world)) {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			w := tipOf(t, "")
			w.start("tip", nil)
			f(t, w)
		})
	}
	run("T26", func(t *testing.T, w *world) {
		t.Helper()
		if err := w.event(17, Edit{Actor: actorNamed("admin"), Roles: &[]Players{{Role: "voter", Parties: []string{"ann", "dan"}}}}); err != nil {
			t.Fatal(err)
		}
		w.run()
		w.script([]step{{"cy approve 20", "active voting | vote; 18 active open, 19 active open, 20 completed approved"}})
		if got := w.tasks("dan"); got != nil {
			t.Errorf("tasks of dan %v; children are fixed when they are created", got)
		}
	})
	run("T28", func(t *testing.T, w *world) {
		t.Helper()
		deputy := actorNamed("dan")
		deputy.DeputyFor = []Absent{{Name: "ann", Contexts: []string{"ann", "everyone"}}}
		if err := w.event(18, Perform{Action: "approve", Actor: deputy}); err != nil {
			t.Fatal(err)
		}
		e := w.logs[18][len(w.logs[18])-2]
		if e.Actor == nil || *e.Actor != "dan" || e.OnBehalfOf == nil || *e.OnBehalfOf != "ann" {
			t.Errorf("log %s", LogText([]LogEntry{e}))
		}
	})
	t.Run("T30", func(t *testing.T) {
		t.Parallel()
		w := tipOf(t, "")
		faulty := named(t, "faulty", strings.NewReplacer("COMPLETE", "", "tally.status.approved > 0", "tally.status.none > 0").Replace(tipRoute))
		w.routes["faulty"] = &Definition{ID: 3, Version: 1, Route: faulty}
		first, second := w.start("faulty", nil), w.start("tip", nil)
		w.pass(7 * 24 * time.Hour)
		if got := w.show(second); !strings.HasPrefix(got, "completed rejected") {
			t.Errorf("the second is %s", got)
		}
		if c := w.cases[first]; c.Life != Active || c.Enabled[w.cases[first].placeOf(1)].State != Escalated {
			t.Errorf("the first is %s", w.show(first))
		}
	})
}

// family plays routes by steps.
func family(t *testing.T, steps []step, texts ...string) *world {
	t.Helper()
	w := newWorld(t)
	for i := 0; i < len(texts); i += 2 {
		w.routes[texts[i]] = &Definition{ID: int64(i + 1), Version: 1, Route: named(t, texts[i], texts[i+1])}
	}
	w.start(texts[0], nil)
	w.script(steps)
	return w
}
