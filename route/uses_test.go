package route_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/route"
)

// using is a route with a step and an expression to be replaced.
const using = `name: test
xattrs: {amount: {type: number, default: 0}, reason: {}}
roles:
  clerk: {assign: [starter, "xattr:RULE"]}
states:
  open: {type: start}
  done: {type: complete}
actions:
  begin: {trigger: init}
  ask:
    in: [open]
    role: clerk
    form: {type: object, properties: {Cost Centre: {type: string}}, allOf: [{properties: {nested: {}}}]}
    onFire: [{set: {urgent: true}}, {text: {from: InputMessage, contains: [a], set: found}}, {message: {label: Answer, text: hello}}]
  wait: {trigger: message, message: Reply, in: [open]}
  finish:
    in: [open]
    role: clerk
    to: done
    guard: "GUARD"
    onFire:
      - STEP
`

func warningsOf(t *testing.T, text string) (got []string) {
	t.Helper()
	_, warnings, err := route.Parse("", readYAML(t, text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, w := range warnings {
		if w.Line == 0 {
			t.Errorf("%s has no place", w.Pointer)
		}
		got = append(got, w.Pointer+": "+w.Detail)
	}
	return got
}

func TestXattrWarnings(t *testing.T) {
	t.Parallel()
	const guard, known = "/actions/finish/guard: ", "(known: amount, costcentre, found, nested, reason, urgent)"
	tests := []struct {
		guard string
		want  []string
	}{
		{"xattr.amount > 5", nil},
		{"xattr.urgent && xattr.found && xattr.costcentre != '' && xattr.nested == 1", nil},
		{"xattr.ammount > 5", []string{guard + `1:1: no XATTR "ammount" is declared in xattrs or set by a step or form ` + known + `; did you mean "amount"?`}},
		{"has(xattr.ammount)", []string{guard + `1:5: no XATTR "ammount" is declared in xattrs or set by a step or form ` + known + `; did you mean "amount"?`}},
		{"xattr.priority > 5", []string{guard + `1:1: no XATTR "priority" is declared in xattrs or set by a step or form ` + known + `; declare it in xattrs if a case comes with it; if one may come without it, ask has(xattr.priority) first`}},
		{"has(xattr.priority) && xattr.priority > 5", nil},
		{"'priority' in xattr ? xattr.priority > 5 : false", nil},
		{"xattr.Amount > 5", []string{guard + `1:1: no XATTR "Amount" is declared in xattrs or set by a step or form ` + known + `; did you mean "amount"?`}},
		{"xattr.amount > '5000'", []string{guard + `1:14: does not fit the declared type of xattr.amount: > does not take values of these types: (number, string)`}},
		{"xattr[case.title] == 1", nil},
		{"message['Answr'].ok", []string{guard + `1:1: no step writes a message "Answr"; did you mean "Answer"?`}},
		{"message['Reply'].ok && message['Answer'].ok && message['FromElsewhere'].ok", nil},
	}
	for _, tt := range tests {
		text := strings.NewReplacer("GUARD", tt.guard, "STEP", "log: done", "RULE", "boss").Replace(using)
		if diff := cmp.Diff(tt.want, warningsOf(t, text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.guard, diff)
		}
	}
	text := strings.NewReplacer("GUARD", "xattr.urgent", "STEP", "log: done", "RULE", "resaon").Replace(using)
	want := []string{`/roles/clerk/assign/1: no XATTR "resaon" is declared in xattrs or set by a step or form ` + known + `; did you mean "reason"?`}
	if diff := cmp.Diff(want, warningsOf(t, text)); diff != "" {
		t.Errorf("rule (-want +got):\n%s", diff)
	}
}

func TestLabelWarnings(t *testing.T) {
	t.Parallel()
	const step, known = "/actions/finish/onFire/0/", "(known: amount, costcentre, found, nested, reason, urgent)"
	tests := []struct {
		step string
		want []string
	}{
		{`log: "$__TITLE__; $__TODAY+3D__; $__XATTR_amount__; $__XATTR_Urgent__; $Answer; $InputMessage; $Reply; it costs $5;"`, nil},
		{`log: "$__TITEL__;"`, []string{step + `log: there is no label $__TITEL__;; did you mean "TITLE"?`}},
		{`log: "$__SOMETHING__;"`, []string{step + `log: there is no label $__SOMETHING__;; an XATTR is $__XATTR_<name>__;, a message is $<Label>;`}},
		{`log: "$__TODAY+3H__;"`, []string{step + `log: there is no label $__TODAY+3H__;: a sign, up to seven digits and D, W, M or Y may follow a date, as in $__TODAY+3D__;`}},
		{`log: "$__TITLE__ is done"`, []string{step + `log: $__TITLE__ is not replaced: a label ends with two underscores and a semicolon`}},
		{`warn: "$__XATTR_amonut__;"`, []string{step + `warn: $__XATTR_amonut__;: no XATTR "amonut" is declared in xattrs or set by a step or form ` + known + `; did you mean "amount"?`}},
		{`title: "$__XATTR_customer__;"`, []string{step + `title: $__XATTR_customer__;: no XATTR "customer" is declared in xattrs or set by a step or form ` + known + `; declare it in xattrs if a case comes with it; if one does not, the label is not replaced`}},
		{`{if: has(xattr.customer), title: "$__XATTR_customer__;"}`, nil},
		{`set: {reason: "$Answr;"}`, []string{step + `set/reason: $Answr;: no step writes a message "Answr"; did you mean "Answer"?`}},
		{`log: "$Whatever;"`, []string{step + `log: $Whatever;: no step writes a message "Whatever"; unless somebody saves Labels/Whatever, the label is not replaced`}},
		{`mail: {to: [starter], subject: "$__TITEL__;", text: "$__UID__;"}`, []string{step + `mail/subject: there is no label $__TITEL__;; did you mean "TITLE"?`, step + `mail/text: there is no label $__UID__;; did you mean "GUID"?`}},
		{`mail: {to: ["xattr:reasons"], subject: s, text: t}`, []string{step + `mail/to/0: no XATTR "reasons" is declared in xattrs or set by a step or form ` + known + `; did you mean "reason"?`}},
		{`http: {url: "https://example.org/$__PIDD__;", value: {a: ["$__TITEL__;"]}, headers: {X: "$__TITEL__;"}}`, []string{
			step + `http/url: there is no label $__PIDD__;; did you mean "PID"?`,
			step + `http/value/a/0: there is no label $__TITEL__;; did you mean "TITLE"?`,
			step + `http/headers/X: there is no label $__TITEL__;; did you mean "TITLE"?`,
		}},
		{`exec: {command: c, args: ["$__TITEL__;"], from: Answr}`, []string{
			`/actions/finish/to: completes the case before it is known whether the command "c" fails, and the case stays complete. To wait, lead to a state that is not complete, give the step into: Answer, and complete the case by an action with trigger: message and message: Answer. If that is meant, say what is done if it fails: onError`,
			step + `exec/args/0: there is no label $__TITEL__;; did you mean "TITLE"?`,
			step + `exec/from: no step writes a message "Answr"; did you mean "Answer"?`,
		}},
		{`text: {from: Answr, contains: ["$__TITEL__;"], set: found}`, []string{
			step + `text/from: no step writes a message "Answr"; did you mean "Answer"?`,
			step + `text/contains/0: there is no label $__TITEL__;; did you mean "TITLE"?`,
		}},
		{`jq: {from: Answer, to: Sum, filter: ".a + $xattr.amuont"}`, []string{step + `jq/filter: no XATTR "amuont" is declared in xattrs or set by a step or form ` + known + `; did you mean "amount"?`}},
		{`jq: {from: Answer, to: Sum, filter: ".a + $xattr.limit"}`, []string{step + `jq/filter: no XATTR "limit" is declared in xattrs or set by a step or form ` + known + `; declare it in xattrs if a case comes with it; if one does not, $xattr.limit is null`}},
		{`jq: {from: Answer, to: Sum, filter: ".a + ($xattr.limit // 3)"}`, nil},
		{`message: {label: Other, value: {a: {cel: xattr.amonut}, b: "$__TITEL__;"}}`, []string{
			step + `message/value/a/cel: 1:1: no XATTR "amonut" is declared in xattrs or set by a step or form ` + known + `; did you mean "amount"?`,
			step + `message/value/b: there is no label $__TITEL__;; did you mean "TITLE"?`,
		}},
		{`set: {amount: {cel: "xattr.urgent ? 'a' : 'b'"}}`, []string{step + `set/amount/cel: the XATTR "amount" is declared as a number, and this yields a string: the step fails`}},
		{`set: {amount: {cel: "xattr.amount + 1"}, reason: {cel: "1"}}`, nil},
		{`set: {amount: {cel: "null"}}`, nil},
	}
	for _, tt := range tests {
		text := strings.NewReplacer("GUARD", "xattr.urgent", "- STEP", "- "+tt.step, "RULE", "boss").Replace(using)
		if diff := cmp.Diff(tt.want, warningsOf(t, text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.step, diff)
		}
	}
}

// TestManyWarnings: a document in which everything is misspelt is told so a thousand
// times, and names are not compared without end.
func TestManyWarnings(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("name: test\nroles: {clerk: {assign: [starter]}}\nstates: {open: {type: start}, done: {type: complete}}\nxattrs:\n")
	for i := range 900 {
		fmt.Fprintf(&b, "  declared-with-a-long-name-%d: {}\n", i)
	}
	b.WriteString("actions:\n  begin: {trigger: init}\n  finish: {in: [open], role: clerk, to: done, onFire: [{log: a}")
	for i := range 900 {
		fmt.Fprintf(&b, `, {mail: {to: ["xattr:another-%d"], subject: "$__XATTR_unknown-%d__;", text: "$Missing%d; $__NEVER%d__;"}}`, i, i, i, i)
	}
	b.WriteString("]}\n")
	if got := warningsOf(t, b.String()); len(got) != 1000 {
		t.Errorf("%d warnings", len(got))
	}
}

// TestFromInActions: the key that people take from other languages.
func TestFromInActions(t *testing.T) {
	t.Parallel()
	_, _, err := route.Parse("", readYAML(t, strings.Replace(base, "in: [open]", "from: [open]", 1)))
	if err == nil || !strings.Contains(err.Error(), "is not a known field; the states in which an action can be performed are its in") {
		t.Error(err)
	}
}

// TestActorInConditions: who acts is not known where the engine asks a condition of all users.
func TestActorInConditions(t *testing.T) {
	t.Parallel()
	const says = "actor is always empty here: the engine asks this before anybody acts. Who may perform an action is said by its role and by allowed; that it is another user than before, by distinct"
	got := warningsOf(t, `name: test
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  one: {in: [open], allowed: [everyone], guard: 'case.id > 1 && actor == case.starter', to: done}
  two: {in: [open], allowed: [everyone], enableIf: 'actor != case.starter', to: done}
  three: {in: [open], allowed: [everyone], decide: 'actor == case.starter ? "done" : "no"', outputs: {done: done, no: null}}
  four: {in: [open], allowed: [everyone], onFire: [{if: actor == case.starter, warn: own}]}
`)
	want := []string{"/actions/one/guard: 1:16: " + says, "/actions/two/enableIf: 1:1: " + says}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
