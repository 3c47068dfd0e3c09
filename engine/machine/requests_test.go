package machine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// requestRoute is the one that the rows on requests begin with: sam asks, bob
// and cy (the team core) decide. What a row adds comes in its own words.
func requestRoute(tb testing.TB, actions, transitions string) *route.Route {
	tb.Helper()
	return parsed(tb, `
roles:
  requester: {assign: [starter]}
  executives: {assign: ["team:core"]}
  admins: {assign: [admins]}
  circle: {pick: [everyone]}
states: {a: {type: start}, b: {onEnter: [{log: in b}, {addStakeholders: ["role:executives", ann]}]}, c: {type: denied, onEnter: [{removeStakeholders: [ann]}]}, d: {type: complete}, x: {type: cancelled}}
actions:
  begin: {trigger: init, past: Begun}
  approve-requester: {role: requester, type: approve, past: Approved}
  approve-executives: {role: executives, type: approve, past: Approved by executives}
  deny-executives: {role: executives, type: deny, past: Denied by executives}
  deny-requester: {role: requester, type: deny, past: Denied}
`+actions+`
transitions:
  - {name: T1, from: a, to: b, requires: [approve-requester, approve-executives], onFollow: [{log: followed}]}
  - {name: T2, from: a, to: c, requires: [deny-executives]}
  - {name: T3, from: b, to: c, requires: [deny-requester]}
`+transitions)
}

const (
	inA    = "active a: approve-requester approve-executives deny-executives"
	inB    = "active b: deny-requester"
	denied = "completed c:"
)

func toB() []step {
	return []step{{"start", inA}, {"sam approve", "active a: approve-executives deny-executives"}, {"bob approve", inB}}
}

// TestConformanceRequests plays the rows on requests. Not here: RQ-14 (an
// unknown user) and RQ-36 (two at the same instant), which are the engine's;
// RQ-21, RQ-22, RQ-35, RQ-40 and RQ-41, which are about definitions; RQ-42
// (running cases keep their version); RQ-43, which needs the timer of a state.
func TestConformanceRequests(t *testing.T) {
	t.Parallel()
	for id, test := range map[string]struct {
		actions, transitions string
		steps                []step
	}{
		"RQ-01": {steps: toB()},
		"RQ-02": {steps: append(toB(), step{"sam deny", denied})},
		"RQ-03": {steps: []step{{"start", inA}, {"bob approve", "active a: approve-requester deny-executives"}, {"sam approve", inB}}},
		"RQ-04": {steps: append(toB()[:2], step{"sam approve", "!not-allowed"}, step{"", "active a: approve-executives deny-executives"})},
		"RQ-05": {steps: []step{{"start", inA}, {"bob approve", "active a: approve-requester deny-executives"}, {"cy approve", "!not-allowed"}}},
		"RQ-06": {steps: append(toB()[:2], step{"cy approve", inB})},
		"RQ-07": {steps: []step{{"start", inA}, {"sam deny", "!not-allowed"}}},
		"RQ-08": {steps: []step{{"start", inA}, {"bob deny", denied}}},
		"RQ-09": {steps: append(toB()[:2], step{"bob deny", denied})},
		"RQ-11": {steps: []step{{"start", inA}, {"bob deny", denied}, {"sam approve", "!action-not-enabled"}}},
		"RQ-12": {steps: append(toB(), step{"bob deny", "!not-allowed"})},
		"RQ-13": {steps: append(toB(), step{"cy approve", "!action-not-enabled"})},
		"RQ-15": {steps: []step{{"start", inA}, {"sam cancel", "!not-found"}, {"sam restart", "!not-found"}, {"sam resolve", "!not-found"}}},
		"RQ-17": { // two parts for the same people
			"  one: {role: executives, type: approve}\n  two: {role: executives, type: approve}", "  - {from: b, to: d, requires: [one, two]}",
			append(toB()[:2], step{"bob approve", "active b: deny-requester one two"}, step{"bob approve", "active b: deny-requester two"}, step{"bob approve", "completed d:"}),
		},
		"RQ-17/distinct": {
			"  one: {role: executives, type: approve}\n  two: {role: executives, type: approve, distinct: [one]}", "  - {from: b, to: d, requires: [one, two]}",
			append(toB()[:2], step{"bob approve", "active b: deny-requester one two"}, step{"bob approve", "active b: deny-requester two"}, step{"bob approve", "!four-eyes"}, step{"cy approve", "completed d:"}),
		},
		"RQ-18": {steps: append(toB()[:2], step{"ann approve", "!not-allowed"})}, // ann has left the team: who is in it is asked now
		"RQ-19": {steps: append(toB()[:2], step{"cy approve", inB})},             // cy has joined it
		"RQ-20": {
			"  both: {role: [requester, admins], type: resolve}", "  - {from: a, to: d, requires: [both]}",
			[]step{{"start", inA + " both"}, {"admin resolve", "completed d:"}},
		},
		"RQ-23": {
			"  circle: {role: circle, type: resolve, onEnable: [{assign: {role: circle, to: [stakeholders]}}]}", "  - {from: b, to: d, requires: [circle]}",
			append(toB()[:2], step{"bob approve", "active b: deny-requester circle"}, step{"sam resolve", "!not-allowed"}, step{"ann resolve", "completed d:"}),
		},
		"RQ-24": { // an administrator of another route is none here
			"  mine: {role: admins, type: resolve}", "  - {from: a, to: d, requires: [mine]}",
			[]step{{"start", inA + " mine"}, {"cy resolve", "!not-allowed"}},
		},
		"RQ-25": {
			"  a5: {role: requester, type: resolve}\n  a6: {role: requester, type: resolve}", "  - {from: a, to: b, requires: [a5]}\n  - {from: a, to: d, requires: [a6]}",
			[]step{{"start", inA + " a5 a6"}, {"sam resolve", inB}},
		},
		"RQ-26": {
			"  a7: {role: requester, type: resolve}\n  a8: {role: requester, type: cancel}", "  - {from: a, to: b, requires: [a7]}\n  - {from: a, to: d, requires: [a7, a8]}",
			[]step{{"start", inA + " a7 a8"}, {"sam resolve", inB}},
		},
		"RQ-28": {
			"  give-up: {role: requester, type: cancel}", "  - {from: b, to: x, requires: [give-up]}",
			append(toB()[:2], step{"bob approve", inB + " give-up"}, step{"sam cancel", "completed x:"}),
		},
		"RQ-30": { // what earlier visits saw does not count
			"  redo: {role: admins, type: restart}", "  - {from: b, to: a, requires: [redo]}",
			append(toB()[:2], step{"bob approve", inB + " redo"}, step{"admin restart", inA},
				step{"sam approve", "active a: approve-executives deny-executives"}, step{"bob approve", inB + " redo"}),
		},
		"RQ-32": {
			"  settle: {role: executives, type: resolve}", "  - {from: b, to: d, requires: [settle]}",
			append(toB()[:2], step{"bob approve", inB + " settle"}, step{"cy resolve", "completed d:"}),
		},
		"RQ-33": {
			"  back: {role: executives, type: deny}", "  - {from: b, to: a, requires: [back]}",
			append(toB()[:2], step{"bob approve", inB + " back"}, step{"bob deny", inA}),
		},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			newPlay(t, requestRoute(t, test.actions, test.transitions)).script(test.steps)
		})
	}
}

// TestConformanceRequestRows plays the rows that look at more than the state.
func TestConformanceRequestRows(t *testing.T) {
	t.Parallel()
	rows := func(p *play) map[string]int64 {
		out := map[string]int64{}
		for _, e := range p.c.Enabled {
			out[e.Action] = e.Number
		}
		return out
	}
	t.Run("RQ-29", func(t *testing.T) {
		t.Parallel()
		p := newPlay(t, requestRoute(t, "  redo: {role: admins, type: restart}", "  - {from: b, to: a, requires: [redo]}"))
		p.script([]step{{"start", inA}})
		first, visit := rows(p), p.c.Visit
		p.script(append(toB()[1:2], step{"bob approve", inB + " redo"}, step{"admin restart", inA}))
		for action, row := range rows(p) {
			if row <= first[action] {
				t.Errorf("%s has row %d, want a new one", action, row)
			}
		}
		if p.c.Visit != visit+2 || p.c.Done != nil || p.c.count("approve-requester") != 1 {
			t.Errorf("visit %d, done %q, performed %+v", p.c.Visit, p.c.Done, p.c.Performed)
		}
	})
	t.Run("RQ-34", func(t *testing.T) {
		t.Parallel()
		p := newPlay(t, requestRoute(t, "  loop: {role: requester, type: resolve}\n  stay: {in: [a], allowed: everyone}", "  - {from: a, to: a, requires: [loop]}"))
		p.script([]step{{"start", inA + " loop stay"}})
		first := rows(p)
		p.script([]step{{"sam approve", "active a: approve-executives deny-executives loop stay"}, {"sam resolve", inA + " loop stay"}})
		for action, row := range rows(p) {
			if fresh := row > first[action]; fresh != (action != "stay") {
				t.Errorf("%s has row %d, had %d: actions of transitions get new ones, others keep theirs", action, row, first[action])
			}
		}
	})
	t.Run("RQ-38", func(t *testing.T) {
		t.Parallel()
		p := newPlay(t, requestRoute(t, "", ""))
		p.script(toB())
		want := []string{
			"sam Created", "sam Begun", "sam Approved", "bob Approved by executives (transition T1)", "- followed", "- in b", "- Stakeholders: core, ann",
		}
		if diff := cmp.Diff(want, p.texts()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("RQ-39", func(t *testing.T) {
		t.Parallel()
		p := newPlay(t, requestRoute(t, "", ""))
		p.script(append(toB(), step{"sam deny", denied}))
		if diff := cmp.Diff([]string{"core"}, p.c.Stakeholders); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("RQ-45", func(t *testing.T) {
		t.Parallel()
		p := newPlay(t, requestRoute(t, "", ""))
		p.script(toB()[:2])
		form := string(Form(p.c, p.r))
		want := `"visit":{"number":1,"actions":[` +
			`{"action":"approve-requester","transitions":["T1"],"state":"performed","by":"sam","at":"2012-11-09T12:34:56Z"},` +
			`{"action":"approve-executives","transitions":["T1"],"state":"waiting","by":null,"at":null},` +
			`{"action":"deny-executives","transitions":["T2"],"state":"waiting","by":null,"at":null}]},`
		if !strings.Contains(form, want) {
			t.Errorf("%s\nwant %s", form, want)
		}
	})
}

// TestByTypeRefused: who was faster is told, by type as by name.
func TestByTypeRefused(t *testing.T) {
	t.Parallel()
	p := newPlay(t, requestRoute(t, "", ""))
	p.script(toB())
	err := p.do("cy approve")
	e := asError(t, err)
	if e.Kind != errs.ActionNotEnabled || e.Extra["performedBy"] != "bob" {
		t.Errorf("%v %v", e, e.Extra)
	}
	if err := p.do("sam deny"); err != nil || p.performed != "deny-requester" {
		t.Errorf("performed %q %v", p.performed, err)
	}
}
