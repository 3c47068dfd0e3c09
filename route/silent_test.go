package route_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// silent is a route in which one line is replaced by a mistake.
const silent = `name: test
xattrs:
  amount: {type: number, default: 0, maximum: 100}
  day: {type: string, format: date, default: "2026-01-01"}
  pause: {type: string, default: P3D}
  hours: {type: string, default: 72h}
  later: {type: string, format: date, default: "2026-01-01"}
  flag: {type: boolean, default: false}
roles: {boss: {assign: [starter]}, other: {assign: [starter]}}
states: {open: {type: start}, mid: {}, done: {type: complete}}
actions:
  begin: {trigger: init}
  go: {in: [open], role: boss, to: mid, title: Go on, onFire: [{set: {later: "$__DATETIME__;"}}]}
  finish: {in: [mid], role: boss, to: done}
`

// TestSilentMistakes repeats mistakes in routes that were stored without a word, and their
// honest neighbours, which still are.
func TestSilentMistakes(t *testing.T) {
	t.Parallel()
	const finish = "finish: {in: [mid], role: boss, to: done"
	with := func(key string) [2]string { return [2]string{finish, finish + ", " + key} }
	form := func(properties string) [2]string { return with("form: {properties: {" + properties + "}}") }
	guard := func(expression string) [2]string { return with("guard: '" + expression + "'") }
	const at = "/actions/finish/"
	for _, tt := range []struct {
		name  string
		write [2]string // in place of what
		want  []string
	}{
		{"nothing", [2]string{}, nil},

		{"a form at the start", [2]string{"trigger: init", "trigger: init, form: {properties: {amount: {type: number}}}"}, []string{"/actions/begin/form: has no effect: nobody is asked when a case starts; what a start gives is declared in xattrs, with required: true if it must"}},
		{"a guard of the start", [2]string{"trigger: init", "trigger: init, guard: xattr.flag"}, []string{"/actions/begin/guard: has no effect: the action is performed once, when the case starts"}},
		{"steps at the start", [2]string{"trigger: init", "trigger: init, onFire: [{log: a}], past: Asked"}, nil},

		{"a text for a number", form("amount: {type: string}"), []string{at + `form/properties/amount/type: the XATTR "amount" is declared as a number: write number here, or change the declaration in xattrs`}},
		{"a number for a date", form("Day: {type: number}"), []string{at + `form/properties/Day/type: the XATTR "day" is declared as a string: write string here, or change the declaration in xattrs`}},
		{"a list", form("more: {type: array}"), []string{at + "form/properties/more/type: nobody can give it: an XATTR is a string, a number or a boolean"}},
		{"words for a boolean", form("flag: {enum: [yes it is, no]}"), []string{at + `form/properties/flag/enum: none of these can be the value of the XATTR "flag", which is declared as true or false`}},
		{"an instant for a date", form("day: {type: string, format: date-time}"), []string{at + `form/properties/day/format: the XATTR "day" is declared with format: date: nobody can give it as date-time`}},
		{"beyond the maximum", form("amount: {minimum: 500}"), []string{at + `form/properties/amount/minimum: nobody can give it: the XATTR "amount" is declared with maximum: 100`}},
		{"what fits", form(`amount: {type: integer, minimum: 5, maximum: 500}, day: {type: string, format: date}, flag: {const: true}, pause: {type: [string, "null"], format: duration}, more: {type: [array, string]}, other: {enum: [5, a]}, hours: {enum: [1h]}`), nil},
		{"a text that reads as a number", form(`amount: {enum: ["5", "6"]}`), nil},

		{"a label in a title", with(`title: "Pay $__XATTR_amount__;"`), []string{at + "title: $__XATTR_amount__; stays as it is written: labels are replaced in the texts of steps, such as title, log and mail, and not here"}},
		{"a message in a title", with(`past: "Said $InputMessage;"`), []string{at + "past: $InputMessage; stays as it is written: labels are replaced in the texts of steps, such as title, log and mail, and not here"}},
		{"dollars", with(`title: "Pay $5; or $ 6"`), nil},

		{"a date as an instant", guard("timestamp(xattr.day) < now"), []string{at + `guard: 1:10: xattr.day is declared with format: date, and a date is not an instant: write timestamp(xattr.day + "T00:00:00Z")`}},
		{"a date as a length", guard("duration(xattr.day) < now - case.created"), []string{at + "guard: 1:9: xattr.day is declared with format: date, and a date is not a length of time"}},
		{"a date with a time", guard(`timestamp(xattr.day + "T00:00:00Z") < now`), nil},
		{"a date that a step sets", guard("timestamp(xattr.later) < now"), nil},
		{"a length as ISO 8601", guard("duration(xattr.pause) < now - case.created"), []string{at + `guard: 1:9: duration cannot read the default of xattr.pause, "P3D"; a length of time is written in hours, minutes and seconds, as in duration("72h") or duration("1h30m")`}},
		{"a length", guard("duration(xattr.hours) < now - case.created"), nil},
		{"a length that is written out", guard(`now - case.created > duration("3 days")`), []string{at + `guard: 1:30: duration cannot read "3 days"; a length of time is written in hours, minutes and seconds, as in duration("72h") or duration("1h30m")`}},
		{"an instant that is written out", guard(`xattr.flag || now > timestamp("2026-12-24")`), []string{at + `guard: 1:30: timestamp cannot read "2026-12-24"; an instant has a time and a zone: write timestamp("2026-12-24T00:00:00Z")`}},

		{"to the same state", [2]string{finish, "stay: {in: [mid], role: boss, to: mid}\n  " + finish}, []string{`/actions/stay/to: has no effect: the case is in the state "mid" already. Leave it out, or name another state`}},
		{"to one of its states", [2]string{finish, "stay: {in: [open, mid], role: boss, to: mid}\n  " + finish}, nil},
		{"to the same state, which begins again", [2]string{"mid: {}, done: {type: complete}}\nactions:", "mid: {onEnter: [{log: a}]}, done: {type: complete}}\nactions:\n  stay: {in: [mid], role: boss, to: mid}"}, nil},
		{"a circle", [2]string{"to: done}", "to: open}"}, []string{
			"/states/open: the cases never end: no actions lead from open, mid to a complete state (type: complete, denied, cancelled or failed)",
			"/states/done: no action leads to this state",
		}},
		{"a circle with a way out", [2]string{"to: done}", "to: open}\n  out: {in: [open], role: boss, to: done}"}, nil},
		{"a circle that a step ends", [2]string{"to: done}", "to: open}\nsideEffects: [{if: xattr.flag, cancel: true}]"}, []string{"/states/done: no action leads to this state"}},

		{"one title twice", [2]string{finish, "second: {in: [open], role: [other, boss], to: done, title: go on}\n  " + finish}, []string{`/actions/second/title: "go" has the same title, and the same people can have both at the same time: they cannot tell them apart`}},
		{"one title for others", [2]string{finish, "second: {in: [open], role: other, to: done, title: Go on}\n  " + finish}, nil},
		{"one title in another state", [2]string{finish, "second: {in: [mid], role: boss, to: done, title: Go on}\n  " + finish}, nil},
		{"one title, one of them at a time", [2]string{finish, "second: {in: [open], role: boss, to: done, title: Go on, guard: xattr.amount > 5}\n  " + finish}, nil},

		{"always true", guard("true"), []string{at + "guard: is true whatever the case has: leave it out"}},
		{"true in the end", guard("xattr.amount > 5 || 2 > 1"), []string{at + "guard: is true whatever the case has: leave it out"}},
		{"always false", guard(`xattr.flag && "a" == "b"`), []string{at + "guard: is false whatever the case has: what it is the condition of is never done"}},
		{"always fails", guard("1 / 0 == 1"), []string{at + "guard: always fails: division by zero"}},
		{"an expression as a text", with("onFire: [{set: {pause: xattr.amount + 1}}]"), []string{at + `onFire/0/set/pause: is taken as a text; an expression is written as {cel: "xattr.amount + 1"}`}},
		{"a text about an XATTR", with("onFire: [{set: {pause: see xattr. there}}]"), nil},
		{"a constant that is set", with("onFire: [{set: {amount: {cel: 1 + 1}}}]"), nil},
	} {
		if diff := cmp.Diff(tt.want, warningsOf(t, strings.Replace(silent, tt.write[0], tt.write[1], 1))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
