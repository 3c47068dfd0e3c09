package route_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// languageRoute has nearly every key of a single case.
const languageRoute = `
xattrs: {Amount: {type: number, default: 5, edit: []}, note: {required: true}}
roles: {boss: {assign: [admins]}}
states: {a: {type: start, onEnter: [{log: in}]}, b: {}, c: {type: complete}}
actions:
  begin: {trigger: init}
  approve:
    role: boss
    type: approve
    form: {type: object, required: [amount], properties: {amount: {type: number, maximum: 10}}, additionalProperties: false}
    resolutions: {fine: Fine, other: }
    distinct: [begin]
  check: {trigger: message, message: answer, role: [], in: [b], decide: 'message["answer"].ok ? "yes" : "no"', outputs: {"yes": c, "no": }, guard: xattr.amount > 3}
  again: {in: [b], allowed: everyone, after: [approve, {action: check, min: 2}], max: 3, choice: one, enableIf: 'has(xattr.note)',
    onEnable: [{set: {amount: {cel: xattr.amount + 1}, note: "x $__TODAY__;", gone: }}],
    onFire: [{if: xattr.amount > 2, message: {label: out, value: {a: 1}}}, {assign: {role: boss, to: ["role:boss", starter, ann], mode: add}}, {perform: check}]}
transitions:
  - {from: a, to: b, requires: [approve], onFollow: [{title: x}]}
sideEffects: [{addStakeholders: [stakeholders, "team:core"]}]
`

// TestLanguage reads what the whole language of a single case compiles to.
func TestLanguage(t *testing.T) {
	t.Parallel()
	r, warnings := mustParse(t, "test", languageRoute)
	if len(warnings) > 1 {
		t.Errorf("warnings %v", warnings)
	}
	approve, check, again := &r.Actions[1], &r.Actions[2], &r.Actions[3]
	type facts = map[string]any
	got := facts{
		"transition": r.Transitions[0].Name, "in": approve.In.Has(0), "out": r.States[0].Out, "of": approve.Transitions,
		"xattr": *r.Xattr("amount").Default, "edit": r.Xattr("amount").Edit != nil && r.Xattr("note").Edit == nil, "resolutions": approve.Resolutions,
		"outputs": check.Outputs, "after": again.After, "max": again.Max, "distinct": approve.Distinct,
		"set": len(again.OnEnable[0].Set), "text": again.OnEnable[0].Set[1].Value.Literal.Text, "if": again.OnFire[0].If.Source(),
		"json": string(again.OnFire[0].Message.JSON.JSON.AppendJSON(nil)) + again.OnFire[0].Message.Type, "to": again.OnFire[1].Parties,
		"perform": again.OnFire[2].Action, "stakeholders": r.SideEffects[0].Parties, "enter": len(r.States[0].OnEnter),
		"knows": r.Knows("deny") || !r.Knows("approve") || r.Knows(""),
	}
	want := facts{
		"transition": "a-b", "in": true, "out": []int{0}, "of": []int{0},
		"xattr": label.Value{Kind: document.Number, Text: "5"}, "edit": true, "resolutions": []route.Resolution{{Name: "fine", Title: "Fine"}, {Name: "other", Title: "other"}},
		"outputs": []route.Output{{Name: "yes", To: 2}, {Name: "no", To: route.NoState}}, "after": []route.After{{Action: 1, Min: 1}, {Action: 2, Min: 2}},
		"max": int64(3), "distinct": []int{0}, "set": 3, "text": "x $__TODAY__;", "if": "xattr.amount > 2", "json": `{"a":1}application/json`,
		"to":      []route.Recipient{{Kind: route.RecipientRole, Name: "boss"}, {Kind: route.RecipientStarter}, {Kind: route.RecipientParty, Name: "ann"}},
		"perform": 2, "stakeholders": []route.Recipient{{Kind: route.RecipientStakeholders}, {Kind: route.RecipientParty, Name: "core"}}, "enter": 1,
		"knows": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("compiled (-want +got):\n%s", diff)
	}
	sent := func(key string, v label.Value) []route.Sent { return []route.Sent{{Key: key, Value: &v}} }
	for i, test := range []struct {
		sent []route.Sent
		want string
	}{
		{sent("amount", label.Value{Kind: document.Number, Text: "7"}), ""},
		{sent("amount", label.Value{Kind: document.Number, Text: "11"}), "/xattrDict/amount range"},
		{sent("amount", label.Text("7")), "/xattrDict/amount type"},
		{sent("other", label.Text("7")), "/xattrDict/amount required /xattrDict/other unknown-field"},
		{[]route.Sent{{Key: "amount"}}, "/xattrDict/amount type"},
	} {
		var faults []string
		for _, f := range approve.Form.Faults(test.sent, "/xattrDict") {
			faults = append(faults, f.Pointer+" "+string(f.Code))
		}
		if got := strings.Join(faults, " "); got != test.want {
			t.Errorf("form %d: %q, want %q", i, got, test.want)
		}
	}
}

// TestLanguageFaults: every piece of the language says what is wrong with it.
func TestLanguageFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		actions string
		want    []string
	}{
		"expression":   {"x: {in: [a], allowed: everyone, guard: xattr.a >}", []string{"/actions/x/guard: 1:10: "}},
		"unknown task": {"x: {in: [a], allowed: everyone, enableIf: 'tasks[\"y\"].count > 0'}", []string{`/actions/x/enableIf: 1:6: "y" is not an action of this route`}},
		"type":         {"x: {in: [a], allowed: everyone, guard: 1 + 1}", []string{"/actions/x/guard: 1:1: must be true or false, not of type int"}},
		"cycle": {"x: {in: [a], allowed: everyone, after: [z]}\n  y: {in: [a], allowed: everyone, after: [x]}\n  z: {in: [a], allowed: everyone, after: [y]}", []string{
			"/actions/y/after: these actions wait for each other, so they are never enabled: x, z, y",
		}},
		"itself":   {"x: {in: [a], allowed: everyone, after: [x], max: 3}", []string{`/actions/x/after: "x" waits for itself, so it is never enabled; max says how often it can be performed`}},
		"unknown":  {"x: {in: [a], allowed: everyone, after: [y], distinct: [q]}", []string{`/actions/x/after/0: "y" is not an action`, `/actions/x/distinct/0: "q" is not an action`}},
		"output":   {"x: {in: [a], allowed: everyone, decide: '\"one\"', outputs: {two: a}}", []string{`/actions/x/decide: can yield "one", which outputs does not list`}},
		"final":    {"x: {in: [a], allowed: everyone, final: true}", []string{"/actions/x/final: goes with the dependency model"}},
		"form":     {"x: {in: [a], allowed: everyone, form: {type: 5}}", []string{"/actions/x/form/type: must be array, boolean"}},
		"form ref": {"x: {in: [a], allowed: everyone, form: {$ref: 'file:///etc/passwd'}}", []string{"/actions/x/form: is not a valid JSON Schema"}},
		"steps": {"x: {in: [a], allowed: everyone, onFire: [{perform: y}, {assign: {role: r, to: ['a b', 'role:q']}}, {message: {label: m}}, {message: {label: m, text: x, value: 1, type: x}}, {set: {'a/b': 1}}, {warn: {cel: '[1]'}}]}", []string{
			`/actions/x/onFire/0/perform: "y" is not an action`, `/actions/x/onFire/1/assign/role: "r" is not a role`, "/actions/x/onFire/1/assign/to/0: must be a user or team",
			`/actions/x/onFire/1/assign/to/1: "q" is not a role`, "/actions/x/onFire/2/message/text: is required", "/actions/x/onFire/3/message/value: does not go with text",
			"/actions/x/onFire/3/message/type: must be a media type", "/actions/x/onFire/4/set/a~1b: ", "/actions/x/onFire/5/warn/cel: 1:1: must be a string, a number",
		}},
		"jq": {"x: {in: [a], allowed: everyone, onFire: [{jq: {from: m, filter: '.é ]', to: n}}, {jq: {from: m, filter: 'now', to: n}}, {jq: {from: m, filter: '.[] | $x', to: n}}, {jq: {from: m, filter: '$xattr + $case', to: n}}]}", []string{
			`/actions/x/onFire/0/jq/filter: is not a valid jq filter: unexpected token "é" (at character 2)`, "/actions/x/onFire/1/jq/filter: cannot use now", "/actions/x/onFire/2/jq/filter: is not a valid jq filter: variable not defined: $x",
		}},
		"skip of a decision": {"x: {in: [a], allowed: everyone, decide: '\"o\"', outputs: {o: }, onFire: [{skip: x}]}", []string{"/actions/x/onFire/0/skip: cannot skip"}},
		"transition": {"x: {allowed: everyone}\ntransitions: [{name: T, from: a, to: a, requires: [begin]}, {name: T, from: a, to: a, requires: [x]}]", []string{
			"/transitions/0/requires/0: the init action", `/transitions/1/name: another transition is called "T"`,
		}},
		"xattrs": {"x: {in: [a], allowed: everyone, onFire: [{set: {n: x}}]}\nxattrs: {n: {type: number, default: x, edit: [q]}, N: {}, 'a/b': {}}", []string{
			`/actions/x/onFire/0/set/n: must be a number`, "/xattrs/n/default: must be a number", `/xattrs/n/edit/0: "q" is not a role`, "/xattrs/N: is the same key", "/xattrs/a~1b: ",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := route.Parse("test", readYAML(t, "states: {a: {type: start}}\nactions:\n  begin: {trigger: init}\n  "+test.actions))
			compare(t, err, test.want)
		})
	}
}

func compare(t *testing.T, err error, want []string) {
	t.Helper()
	e, ok := errors.AsType[*errs.Error](err)
	if !ok || e.Kind != errs.Invalid {
		t.Fatalf("got %v", err)
	}
	var got []string
	for _, f := range e.Faults {
		got = append(got, f.Pointer+": "+f.Detail)
	}
	ok = len(got) == len(want)
	for i := range want {
		ok = ok && strings.HasPrefix(got[i], want[i])
	}
	if !ok {
		t.Errorf("faults (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestDependencyModel: no states, and max is once.
func TestDependencyModel(t *testing.T) {
	t.Parallel()
	r, warnings := mustParse(t, "test", `
model: dependency
roles: {r: {assign: [starter]}}
actions:
  one: {role: r, max: unlimited}
  two: {role: r, after: [{action: one, min: 2}], decide: '"x"', outputs: {x: }}
  end: {role: r, after: [two], final: true}
`)
	if warnings != nil || r.Start != route.NoState || r.Init != route.NoAction || r.Actions[0].Max != 0 || r.Actions[1].Max != 1 || !r.Actions[2].Final {
		t.Errorf("%v %+v", warnings, r)
	}
	_, _, err := route.Parse("test", readYAML(t, `
model: dependency
states: {a: {type: start}}
actions:
  one: {allowed: everyone, in: [a], to: a, decide: '"x"', outputs: {x: a}}
`))
	compare(t, err, []string{
		"/states: does not go with the dependency model", "/actions/one/in: does not go with the dependency model",
		"/actions/one/to: does not go with decide", "/actions/one/to: does not go with the dependency model", "/actions/one/outputs/x: must be null",
	})
}

// TestMoreWarnings: what is legal and probably not meant.
func TestMoreWarnings(t *testing.T) {
	t.Parallel()
	_, got := mustParse(t, "test", `
roles: {r: {assign: [starter]}, filled: {}, empty: {}}
states: {a: {type: start, onEnter: [{assign: {role: filled, to: [starter]}}]}, b: {type: complete}}
actions:
  begin: {trigger: init}
  yes: {in: [a], role: r, type: approve, to: b}
  also: {enabledIn: [a], role: r, type: approve}
  never: {in: [a], role: r, after: [{action: yes, min: 2}]}
  tick: {trigger: auto, in: [a], max: 5}
`)
	var pointers []string
	for _, f := range got {
		pointers = append(pointers, f.Pointer)
	}
	if diff := cmp.Diff([]string{"/roles/empty", "/actions/also/type"}, pointers); diff != "" {
		t.Errorf("%s %v", diff, got)
	}
}
