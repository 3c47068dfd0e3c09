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

// TestMistypedChoices: who mistypes a resolution or an output is told which one may be meant.
func TestMistypedChoices(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, `states: {a: {type: start}, b: {type: complete}}
actions:
  begin: {trigger: init}
  close: {in: [a], allowed: everyone, to: b, resolutions: {fixed: Fixed, dup: Known already}}
  count: {in: [a], allowed: everyone, decide: '"yes"', outputs: {yes: b, never: null}}
`))
	closing := func(resolution string) Event {
		return Perform{Action: "close", Actor: actorNamed("ann"), Resolution: resolution}
	}
	skip := func(output string) Event {
		return Skip{Action: "count", Actor: actorNamed("admin"), Output: output}
	}
	for _, test := range []struct {
		event Event
		want  string
	}{
		{closing(""), "must be one of fixed (Fixed), dup (Known already)"},
		{closing("fixd"), `must be one of fixed (Fixed), dup (Known already), not "fixd"; did you mean "fixed"?`},
		{closing("known alredy"), `must be one of fixed (Fixed), dup (Known already), not "known alredy"; did you mean "Known already"?`},
		{closing("later"), `must be one of fixed (Fixed), dup (Known already), not "later"`},
		{skip(""), `must be one of the outputs of "count": yes, never`},
		{skip("nevre"), `must be one of the outputs of "count": yes, never, not "nevre"; did you mean "never"?`},
	} {
		e := asError(t, p.event(test.event))
		if len(e.Faults) != 1 || e.Faults[0].Detail != test.want {
			t.Errorf("%+v: %v\nwant %s", test.event, e, test.want)
		}
	}
}

// TestFalseCondition: who performs an action whose condition does not hold is told which one,
// what it reads, and why if it could not be evaluated.
func TestFalseCondition(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, `states: {a: {type: start}, b: {type: complete}}
xattrs: {amount: {type: number, default: 250}, kind: {default: car}}
actions:
  begin: {trigger: init}
  small: {in: [a], allowed: everyone, type: approve, guard: 'xattr.amount <= 100 && xattr.kind == "bike" && !has(xattr.note)', to: b}
  odd: {in: [a], allowed: everyone, guard: 'xattr.none > 1', to: b}
  never: {in: [a], allowed: everyone, enableIf: 'xattr.amount == 1', to: b}
  long: {in: [a], allowed: everyone, guard: 'case.title == "`+strings.Repeat("x", 500)+`"', to: b}
  elsewhere: {in: [b], allowed: everyone, guard: 'xattr.amount < 0', to: b}
  refuse: {in: [a], allowed: everyone, to: b}
`))
	const small = `The condition of "small" does not hold (guard: xattr.amount <= 100 && xattr.kind == "bike" && !has(xattr.note); xattr.amount is 250; xattr.kind is "car"; there is no xattr.note).`
	for action, want := range map[string]string{
		"small":     `"small" is not enabled in "a"; enabled: refuse. ` + small,
		"approve":   `"approve" is not enabled in "a"; enabled: refuse. ` + small,
		"odd":       `"odd" is not enabled in "a"; enabled: refuse. The condition of "odd" (guard: xattr.none > 1) could not be evaluated: no such key: none.`,
		"never":     `"never" is not enabled in "a"; enabled: refuse. The condition of "never" does not hold (enableIf: xattr.amount == 1; xattr.amount is 250).`,
		"elsewhere": `"elsewhere" is not enabled in "a"; enabled: refuse.`,
	} {
		e := asError(t, p.event(Perform{Action: action, Actor: actorNamed("ann")}))
		if e.Kind != errs.ActionNotEnabled || e.Detail != want {
			t.Errorf("%s: %v\nwant %s", action, e, want)
		}
	}
	e := asError(t, p.event(Perform{Action: "long", Actor: actorNamed("ann")}))
	if !strings.HasSuffix(e.Detail, "xxx…).") || len(e.Detail) > 350 {
		t.Errorf("long: %s", e.Detail)
	}
	if got := Over(p.c, p.r, "small"); !strings.Contains(got, `"small" cannot be done now. `+small) {
		t.Errorf("over: %s", got)
	}
}

// TestRequestEnablements plays the rows on requests that look at more than the
// state.
func TestRequestEnablements(t *testing.T) {
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
			"sam Created", "sam Begun", "sam Approved", "bob Approved by executives (transition T1), which withdrew deny-executives", "- followed", "- in b", "- Stakeholders: core, ann",
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
		form := compact(t, Form(p.c, p.r))
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
