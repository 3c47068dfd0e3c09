package route_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/route"
)

// TestDefaults reads what asks for nothing.
func TestDefaults(t *testing.T) {
	t.Parallel()
	for name, with := range map[string][2]string{
		"head":    {"name: test", "name: test\nmodel: fsm\ngroup:\ntimeout: 0\nonTimeout: []\nretention: P15D\nthen: archive\ntimers: {}\nnotify: {}"},
		"actions": {"to: done", "to: done, accept: optional, max: unlimited, dueIn: 0, offerTimeout: 0, guard: ~"},
	} {
		if _, warnings := mustParse(t, "test", strings.Replace(base, with[0], with[1], 1)); warnings != nil {
			t.Errorf("%s: warnings %v", name, warnings)
		}
	}
}

// TestWholeLanguage reads routes that use nearly everything: the schema knows
// all of the language, whatever is built.
func TestWholeLanguage(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`
name: test
title: TIP voting
access: {start: [everyone], read: [everyone]}
xattrs: {amount: {type: number, default: 0, required: false, edit: [voter], title: Amount}}
timers: {review: {limit: PT5M, onExpire: [{warn: late}, {if: 'xattr.amount > 3', unwarn: true}]}, other: {}}
notify: {remind: P2D}
retention: P1Y
then: delete
group: tips
timeout: P30D
onTimeout: [{cancel: true}]
roles:
  submitter: {assign: [starter]}
  voter: {assign: ["team:core", "parent:voter", "call:find"], pick: [everyone]}
  nobody:
states:
  proposed: {type: start, timeout: P1D, onTimeout: [{perform: withdraw}]}
  voting: {onEnter: [{enableTimer: review}, {disableTimer: review}, {setTimer: {name: review, limit: P3D}}]}
  withdrawn: {type: cancelled}
  approved: {type: complete}
  rejected: {type: denied}
  idle:
actions:
  propose: {trigger: init, past: Proposed}
  vote:
    in: [proposed]
    child: {route: tip-vote, roles: {voter: {from: voter, each: per_user}}, while: voting, complete: "tally.status.rejected > 2", inherit: true}
    decide: >-
      tally.status.approved > 0
      ? "approved" : "rejected"
    outputs: {approved: approved, rejected: rejected, again: }
  withdraw: {in: [proposed, voting], role: submitter, to: withdrawn, past: Withdrawn, max: 1, accept: required, distinct: [propose], choice: c,
    offerTimeout: 300, onOfferTimeout: [{log: "$Label; late"}], dueIn: P1D, onDue: [{suspend: {until: {cel: now}}}], resolutions: {a: A},
    form: {type: object, properties: {amount: {type: number}}}, guard: 'timers["review"].expired', enableIf: 'true', after: [propose, {action: propose, min: 2}]}
  wait: {trigger: message, message: answer, in: [voting]}
  all:
    trigger: auto
    in: [idle]
    onEnable: [{set: {amount: 5, text: "x $Label;", gone: null, sum: {cel: "1 + 2"}}}]
    onUnEnable: [{message: {label: out, type: application/json, value: {a: [1]}}}]
    onFire: [{jq: {from: in, filter: ".a", to: out}}, {assign: {role: voter, to: ["ann", "role:submitter"], mode: add}}, {unassign: {role: voter, to: []}}]
    sideEffects:
      - {addStakeholders: [ann]}
      - {removeStakeholders: [ann]}
      - {start: {route: other, title: x, xattrDict: {a: 1}, roles: {r: [ann]}, input: out, inherit: false}}
      - {suspend: true}
      - {mail: {to: ["role:voter", stakeholders, starter], subject: s, text: t}}
      - {http: {url: "https://example.org/", method: POST, headers: {A: b}, from: out, into: answer, secret: s}}
      - {exec: {command: sort, args: ["-n"], from: in, into: out}}
      - {call: {name: find, value: {any: thing}, into: out}}
      - {skip: withdraw}
      - {abort: vote}
      - {retry: all}
      - {title: {cel: "case.title"}}
`} {
		if _, _, err := route.Parse("test", readYAML(t, text)); err != nil {
			t.Errorf("got %v", err)
		}
	}
	for _, text := range []string{`
name: test
roles: {r: {assign: [starter]}, s: {assign: [starter]}}
states: {a: {type: start}, b: {type: complete}, c: {type: denied}}
actions:
  begin: {trigger: init}
  approve: {type: approve, role: r}
  deny-all: {type: deny, role: [r, s]}
transitions:
  - {name: T1, from: a, to: b, requires: [approve], onFollow: []}
  - {from: a, to: c, requires: [deny-all]}
`, `
model: dependency
roles: {r: {assign: [starter]}}
actions:
  one: {role: r}
  two: {role: r, after: [one], final: true}
`} {
		if _, warnings := mustParse(t, "test", text); warnings != nil {
			t.Errorf("warnings %v", warnings)
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		old, new string // replaced in base
		want     []string
	}{
		{"none", "name: test", "name: test", nil},
		{"unreachable", "done:", "lost: {}\n  done:", []string{"/states/lost: no action leads to this state"}},
		{"dead end", "to: done", "enabledIn: [done]", []string{
			"/states/open: is a dead end: it is not complete, and no action leads out of it",
			"/states/done: no action leads to this state",
		}},
		{"dead end of an action to itself", "to: done}", "to: open}\n  on: {trigger: auto, in: [done], to: done}", []string{
			"/states/open: is a dead end: it is not complete, and no action leads out of it",
			"/states/done: no action leads to this state", "/actions/finish/to: has no effect: the case is in the state \"open\" already. Leave it out, or name another state",
			"/actions/on: is part of a loop that never ends by itself: on",
		}},
		{"reopening", "to: done}", "to: done}\n  again: {enabledIn: [done], allowed: [everyone], to: open}", []string{"/actions/again: leads out of a complete state (done): if it is to reopen the case, say type: restart"}},
		{"always, elsewhere", "to: done}", "to: done}\n  again: {always: true, allowed: [everyone], to: open}", []string{"/actions/again: leads out of a complete state (done): if it is to reopen the case, say type: restart"}},
		{"reopening that says so", "to: done}", "to: done}\n  again: {type: restart, enabledIn: [done], allowed: [everyone], to: open}", nil},
		{"role of nobody", "clerk:", "a: {}\n  b: {assign: ['role:a', 'role:c']}\n  c: {assign: ['role:b']}\n  d: {assign: ['role:clerk']}\n  e: {pick: [everyone]}\n  clerk:", []string{
			"/roles/a: no one can fill this role: no rule in assign yields a user, and there is no pick. If the cases are children of another route, say access: {start: []}",
			"/roles/b: no one can fill this role: no rule in assign yields a user, and there is no pick. If the cases are children of another route, say access: {start: []}",
			"/roles/c: no one can fill this role: no rule in assign yields a user, and there is no pick. If the cases are children of another route, say access: {start: []}",
		}},
		{"role of a child", "roles:\n", "access: {start: []}\nroles:\n  a: {}\n", nil},
		{"never enabled", "in: [open], role: clerk, to: done}", "in: [open], role: clerk, to: done}\n  x: {role: clerk}", []string{"/actions/x: is never enabled: it names no state in in or enabledIn, and is not always"}},
		{"parties of the engine", "role: clerk", "trigger: auto, role: clerk, allowed: [everyone]", []string{
			"/actions/finish/role: has no effect: only the engine performs the action",
			"/actions/finish/allowed: has no effect: only the engine performs the action",
		}},
		{"keys of init", "trigger: init", "trigger: init, role: clerk, timeout: 5", []string{
			"/actions/begin/role: has no effect: the action is performed once, when the case starts",
			"/actions/begin/timeout: has no effect: the action is performed once, when the case starts",
		}},
		{"again after each timeout", "to: done}", "to: done}\n  nag: {trigger: time, timeout: P5D, in: [open]}", []string{`/actions/nag: performs itself again every P5D as long as the case is in "open": max: 1 has it happen once; if it is to happen again and again, say max: unlimited`}},
		{"again after each timeout, to the same state", "to: done}", "to: done}\n  nag: {trigger: time, timeout: 60, in: [open], to: open}", []string{`/actions/nag: performs itself again every PT1M as long as the case is in "open": max: 1 has it happen once; if it is to happen again and again, say max: unlimited`}},
		{"once after a timeout", "to: done}", "to: done}\n  nag: {trigger: time, timeout: P5D, in: [open], max: 1}", nil},
		{"again and again, as it says", "to: done}", "to: done}\n  nag: {trigger: time, timeout: P5D, in: [open], max: unlimited}", nil},
		{"a timeout that leads on", "to: done}", "to: done}\n  nag: {trigger: time, timeout: P5D, in: [open], to: done}", nil},
		{"a timeout with a condition", "to: done}", "to: done}\n  nag: {trigger: time, timeout: P5D, in: [open], guard: case.title != ''}", nil},
		{"words in a form", "to: done}", "to: done, form: {require: [why], x-width: 3, properties: {require: {type: string, max: 3}, why: {anyOf: [{type: string, enums: [a]}], wibble: 1}}, dependencies: {why: [require]}, default: {any: 1}}}", []string{
			"/actions/finish/form/require: has no effect: it is not a keyword of JSON Schema; did you mean \"required\"?",
			"/actions/finish/form/properties/require/max: has no effect: it is not a keyword of JSON Schema; did you mean \"maximum\"?",
			"/actions/finish/form/properties/why/anyOf/0/enums: has no effect: it is not a keyword of JSON Schema; did you mean \"enum\"?",
			"/actions/finish/form/properties/why/wibble: has no effect: it is not a keyword of JSON Schema",
		}},
		{"loop of one", "to: done}", "to: done}\n  tick: {trigger: auto, in: [open]}", []string{"/actions/tick: is part of a loop that never ends by itself: tick"}},
		{"loop of timed actions", "to: done}", "to: done}\n  tick: {trigger: time, timeout: 0, in: [open]}\n  tock: {trigger: time, timeout: 1, in: [open], max: unlimited}", []string{"/actions/tick: is part of a loop that never ends by itself: tick"}},
		{"loop over states", base, `states: {open: {type: start}, mid: {}, done: {type: complete}}
actions:
  begin: {trigger: init}
  forth: {trigger: auto, in: [open], to: mid}
  back: {trigger: auto, in: [mid], to: open}
  end: {in: [open], allowed: everyone, to: done}
`, []string{"/actions/forth: is part of a loop that never ends by itself: forth, back"}},
		{"no loop where another one leaves", "to: done}", "to: done}\n  tick: {trigger: auto, in: [open]}\n  out: {trigger: auto, in: [open], to: done}", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(base, tt.old, tt.new, 1)
			_, warnings := mustParse(t, "test", text)
			var got []string
			for _, w := range warnings {
				if w.Line == 0 {
					t.Errorf("%s has no place", w.Pointer)
				}
				got = append(got, w.Pointer+": "+w.Detail)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExamples(t *testing.T) {
	t.Parallel()
	var names []string
	for _, e := range route.Examples() {
		names = append(names, e.Name)
		if !e.YAML {
			t.Errorf("%s is not YAML", e.Name)
		}
		r, warnings := mustParse(t, e.Name, string(e.Source))
		mustParse(t, "copy-of-"+e.Name, string(e.Source)) // as the examples say
		if len(warnings) > 0 {
			t.Errorf("%s: warnings %v", e.Name, warnings)
		}
		starts := []string{"everyone"}
		if e.Name == "tip-vote" || e.Name == "ask-info" { // children of others
			starts = nil
		}
		if !slices.Equal(r.Access.Start, starts) {
			t.Errorf("%s: started by %v", e.Name, r.Access.Start)
		}
		if len(starts) == 0 && !slices.Equal(r.Access.Read, []string{"everyone"}) { // who may start a route reads it too
			t.Errorf("%s: read by %v: its comment says to copy both files", e.Name, r.Access.Read)
		}
	}
	files, err := filepath.Glob("examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want []string                                      // every route has its scenario beside it, and every scenario its route
	for _, name := range append(names, "collector-post") { // which is not stored at the first start
		want = append(want, "examples/"+name+".scenario.yaml", "examples/"+name+".yaml")
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("examples (-want +got):\n%s", diff)
	}
}

// example returns the source of an example.
func example(tb testing.TB, name string) []byte {
	tb.Helper()
	for _, e := range route.Examples() {
		if e.Name == name {
			return e.Source
		}
	}
	tb.Fatalf("there is no example %s", name)
	return nil
}

// TestBugTable is the table of what is enabled in each state of a bug.
func TestBugTable(t *testing.T) {
	t.Parallel()
	r, _ := mustParse(t, "bug", string(example(t, "bug")))
	want := map[string]string{
		"open":     "comment edit resolve",
		"resolved": "comment edit resolve close reopen",
		"closed":   "comment edit reopen",
	}
	for state, names := range want {
		var got []string
		i := r.State(state)
		for _, a := range r.Actions {
			if a.Trigger == route.TriggerUser && (a.Always || a.In.Has(i) || a.EnabledIn.Has(i)) {
				got = append(got, a.Name)
			}
		}
		if strings.Join(got, " ") != names {
			t.Errorf("%s: enabled %v, want %s", state, got, names)
		}
	}
	if r.Actions[r.Init].Name != "open" || r.States[r.Actions[r.Init].To].Name != "open" || r.Role("submitter").Assign[0].Kind != route.RuleStarter {
		t.Errorf("got %+v", r)
	}
}
