package route_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
)

// readYAML reads a document that tests write as YAML.
func readYAML(t *testing.T, text string) *document.Node {
	t.Helper()
	n, err := document.ParseYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func mustParse(t *testing.T, name, text string) (*route.Route, []errs.Fault) {
	t.Helper()
	r, warnings, err := route.Parse(name, readYAML(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return r, warnings
}

func set(states ...int) (s route.StateSet) {
	for _, state := range states {
		s.Add(state)
	}
	return s
}

func TestParse(t *testing.T) {
	t.Parallel()
	got, _ := mustParse(t, "expense", `
title: Expense
description: Money back
context: core
access: {start: [everyone], admin: [ann]}
priority: 300
output: Result
roles:
  boss: {title: The boss, assign: [role:clerk, "user:bob", admins], pick: ["team:core"]}
  clerk: {assign: [starter, everyone, stakeholders, "xattr:Cost Centre"]}
states:
  open: {type: start, title: Being looked at}
  paid: {type: complete}
  refused: {type: denied}
  gone: {complete: true}
  kept: {type: normal, complete: true}
actions:
  ask: {trigger: init, past: Asked}
  pay: {in: [open], enabledIn: [kept], role: [boss, clerk], to: paid, timeout: PT1H30M}
  refuse: {title: Say no, in: [open], role: boss, allowed: [clerk, "user:ann", "team:core", everyone, readers], to: refused}
  note: {always: true, allowed: readers}
  forget: {trigger: time, in: [open], timeout: 86400, to: gone}
  keep: {trigger: auto, in: [gone], to: kept, timeout: 0}
`)
	hour, day, zero := clock.Duration{Exact: 90 * time.Minute}, clock.Duration{Exact: 24 * time.Hour}, clock.Duration{}
	want := &route.Route{
		Name: "expense", Title: "Expense", Description: "Money back", Model: route.FSM, Context: "core",
		Access:   route.Access{Start: []string{"everyone"}, Admin: []string{"ann"}},
		Priority: 300, Output: "Result", Retention: &clock.Duration{Exact: route.DefaultRetention}, Then: route.ThenArchive,
		Roles: []route.Role{
			{Name: "boss", Title: "The boss", Assign: []route.Rule{{Kind: route.RuleRole, Arg: "clerk"}, {Kind: route.RuleUser, Arg: "bob"}, {Kind: route.RuleAdmins}}, Pick: []route.Rule{{Kind: route.RuleTeam, Arg: "core"}}},
			{Name: "clerk", Title: "clerk", Assign: []route.Rule{{Kind: route.RuleStarter}, {Kind: route.RuleEveryone}, {Kind: route.RuleStakeholders}, {Kind: route.RuleXattr, Arg: "costcentre"}}},
		},
		States: []route.State{
			{Name: "open", Title: "Being looked at", Type: route.StateStart},
			{Name: "paid", Title: "paid", Type: route.StateComplete, Complete: true},
			{Name: "refused", Title: "refused", Type: route.StateDenied, Complete: true},
			{Name: "gone", Title: "gone", Type: route.StateComplete, Complete: true},
			{Name: "kept", Title: "kept", Type: route.StateNormal, Complete: true},
		},
		Actions: []route.Action{
			{Name: "ask", Title: "ask", Past: "Asked", Trigger: route.TriggerInit, To: 0},
			{Name: "pay", Title: "pay", Past: "pay", Trigger: route.TriggerUser, In: set(0), EnabledIn: set(4), Roles: []string{"boss", "clerk"}, To: 1, Timeout: &hour},
			{Name: "refuse", Title: "Say no", Past: "Say no", Trigger: route.TriggerUser, In: set(0), Roles: []string{"boss"}, To: 2, Allowed: []route.Allowed{
				{Kind: route.AllowedRole, Name: "clerk"},
				{Kind: route.AllowedUser, Name: "ann"},
				{Kind: route.AllowedTeam, Name: "core"},
				{Kind: route.AllowedEveryone},
				{Kind: route.AllowedReaders},
			}},
			{Name: "note", Title: "note", Past: "note", Trigger: route.TriggerUser, Always: true, To: route.NoState, Allowed: []route.Allowed{{Kind: route.AllowedReaders}}},
			{Name: "forget", Title: "forget", Past: "forget", Trigger: route.TriggerTime, In: set(0), To: 3, Timeout: &day},
			{Name: "keep", Title: "keep", Past: "keep", Trigger: route.TriggerAuto, In: set(3), To: 4, Timeout: &zero},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(route.Route{})); diff != "" {
		t.Errorf("route (-want +got):\n%s", diff)
	}
	parties := []route.Party{
		{Name: "core", Pointer: "/context", Line: 4, Column: 10},
		{Name: "ann", Pointer: "/access/admin/0", Line: 5, Column: 37},
		{Name: "bob", Pointer: "/roles/boss/assign/1", Line: 9, Column: 48},
		{Name: "core", Pointer: "/roles/boss/pick/0", Line: 9, Column: 76},
		{Name: "ann", Pointer: "/actions/refuse/allowed/1", Line: 20, Column: 68},
		{Name: "core", Pointer: "/actions/refuse/allowed/2", Line: 20, Column: 80},
	}
	if diff := cmp.Diff(parties, got.Parties()); diff != "" {
		t.Errorf("parties (-want +got):\n%s", diff)
	}
}

func TestParseDefaults(t *testing.T) {
	t.Parallel()
	r, warnings := mustParse(t, "", "name: x\nstates: {a: {type: start}, b: {type: complete}}\nactions:\n  go: {trigger: init, to: b}\n  back: {trigger: auto, in: [b], to: a}\n")
	if r.Name != "x" || r.Title != "x" || r.Priority != route.DefaultPriority || r.Access.Start != nil || r.Access.Read != nil || r.Access.Admin != nil {
		t.Errorf("got %+v", r)
	}
	if r.Actions[r.Init].To != 1 {
		t.Errorf("the init action leads to %d", r.Actions[r.Init].To)
	}
	if len(warnings) != 2 {
		t.Errorf("warnings %v", warnings)
	}
}

// base is a route without faults; tests replace or add lines.
const base = `name: test
roles:
  clerk: {assign: [starter]}
states:
  open: {type: start}
  done: {type: complete}
actions:
  begin: {trigger: init}
  finish: {in: [open], role: clerk, to: done}
`

func TestFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		old, new string // replaced in base; with old empty, new is the document
		want     []string
	}{
		{name: "none", old: "name: test", new: "name: test"},
		{name: "no object", new: "- 1", want: []string{
			`1:1 /: must be an object, not a list (type)`,
		}},
		{name: "empty", new: "", want: []string{
			`1:1 /: must be an object, not null (type)`,
		}},
		{name: "nothing in it", new: "{}", want: []string{
			`1:1 /actions: is required (required)`,
			`1:1 /states: is required: the states of a case, exactly one of them of type start (required)`,
		}},
		{name: "empty states and actions", new: "{states: {}, actions: {}}", want: []string{
			`1:10 /states: must have exactly one state of type start (required)`,
			`1:23 /actions: must not be empty (range)`,
		}},
		{name: "several at once", new: "name: other\ntitel: x\npriority: 70000\nstates: {open: {typ: start}}\nactions:\n  go: {in: [oepn], role: clerk}\n", want: []string{
			`1:7 /name: must be equal to the file's name, "test" (conflict)`,
			`2:1 /titel: is not a known field; did you mean "title"? (unknown-field)`,
			`3:11 /priority: must be from 0 to 65535, not 70000 (range)`,
			`4:9 /states: must have exactly one state of type start (required)`,
			`4:17 /states/open/typ: is not a known field; did you mean "type"? (unknown-field)`,
			`6:3 /actions: must have exactly one action with trigger: init, which is performed when a case starts (required)`,
			`6:13 /actions/go/in/0: "oepn" is not a state of this route; did you mean "open"? (not-found)`,
			`6:26 /actions/go/role: "clerk" is not a role of this route (not-found)`,
		}},
		{name: "types", new: "model: 1\naccess: [everyone]\npriority: '300'\nstates: {a: {type: 1, complete: yes}}\nactions: {b: {trigger: init, in: a, always: 1, role: 7}, c: 3}\nroles: 5\n", want: []string{
			`1:8 /model: must be fsm or dependency, not a number (type)`,
			`2:9 /access: must be an object, not a list (type)`,
			`3:11 /priority: must be a whole number, not a string (type)`,
			`4:9 /states: must have exactly one state of type start (required)`,
			`4:20 /states/a/type: must be start, normal, complete, denied, cancelled or failed, not a number (type)`,
			`4:33 /states/a/complete: must be true or false, not a string (type)`,
			`5:34 /actions/b/in: does not go with trigger: init, which is performed once, when the case starts (conflict)`,
			`5:45 /actions/b/always: does not go with trigger: init, which is performed once, when the case starts (conflict)`,
			`5:54 /actions/b/role: must be a string or a list, not a number (type)`,
			`5:61 /actions/c: must be an object, not a number (type)`,
			`6:8 /roles: must be an object, not a number (type)`,
		}},
		{name: "fractional priority", old: "name: test", new: "priority: 1.5", want: []string{`1:11 /priority: must be a whole number, not 1.5 (type)`}},
		{name: "negative priority", old: "name: test", new: "priority: -1", want: []string{`1:11 /priority: must be from 0 to 65535, not -1 (range)`}},
		{name: "misspelled words", old: "trigger: init", new: "trigger: inti", want: []string{
			`8:3 /actions: must have exactly one action with trigger: init, which is performed when a case starts (required)`,
			`8:20 /actions/begin/trigger: must be user, init, auto, time or message, not "inti"; did you mean "init"? (range)`,
		}},
		{name: "names", old: "done: {type: complete}", new: "done: {type: complete}\n  Done: {}\n  a b: {}\n  -c: {}\n  " + strings.Repeat("d", 64) + ": {}", want: []string{
			`7:3 /states/Done: differs from the state "done" only in capitals (conflict)`,
			`8:3 /states/a b: the name of a state must be a name: a letter or digit, then up to 62 letters, digits, _ or - (format)`,
			`9:3 /states/-c: the name of a state must be a name: a letter or digit, then up to 62 letters, digits, _ or - (format)`,
			`10:3 /states/` + strings.Repeat("d", 64) + `: the name of a state must be a name: a letter or digit, then up to 62 letters, digits, _ or - (format)`,
		}},
		{name: "messages", old: "name: test", new: "name: test\nmessages: {a b: , Paid: {edit: [clerk, boss], titel: x}, paid: {}, InputMessage: {}, Outbox-1-1: {}, error: {}, Note: {edit: []}}", want: []string{
			`2:12 /messages/a b: the label of a message must be a name: a letter or digit, then up to 62 letters, digits, _ or - (format)`,
			`2:40 /messages/Paid/edit/1: "boss" is not a role of this route (not-found)`,
			`2:47 /messages/Paid/titel: is not a known field (unknown-field)`,
			`2:58 /messages/paid: differs from the message "Paid" only in capitals (conflict)`,
			`2:68 /messages/InputMessage: is what a case is started with; only administrators of the route write it later (conflict)`,
			`2:86 /messages/Outbox-1-1: is written by the engine; only administrators of the route write it, too (conflict)`,
			`2:102 /messages/error: is written by the engine; only administrators of the route write it, too (conflict)`,
		}},
		{name: "labels in the name of a route", old: "trigger: init", new: "trigger: init, onFire: [{start: {route: 'a-$__XATTR_kind__;'}}, {start: {route: $Kind;}}, {start: {route: cost$}}]", want: []string{
			`8:51 /actions/begin/onFire/0/start/route: names a route as it is called: $__XATTR_kind__; is not replaced here (format)`,
			`8:91 /actions/begin/onFire/1/start/route: names a route as it is called: $Kind; is not replaced here (format)`,
		}},
		{name: "contexts", old: "name: test", new: "context: a/b\naccess: {start: [everyone, 'a b', everyone], raed: [], read: ['team:core']}", want: []string{
			`1:10 /context: must be a name: a letter or digit, then up to 62 letters, digits, _ or -, not "a/b" (format)`,
			`2:28 /access/start/1: must be the name of a user or team: use letters, digits, _, -, single dots and @, at most 63, the first a letter or digit, no dot or @ at the end, and no extension such as .json, not "a b" (format)`,
			`2:35 /access/start/2: appears twice in the list (conflict)`,
			`2:46 /access/raed: is not a known field; did you mean "read"? (unknown-field)`,
			`2:63 /access/read/0: must be the name alone: write "core", not "team:core" (format)`,
		}},
		{name: "two start states", old: "type: complete", new: "type: start", want: []string{`6:16 /states/done/type: must not be start, which "open" is already (conflict)`}},
		{name: "complete that is not", old: "type: complete", new: "type: denied, complete: false", want: []string{`6:34 /states/done/complete: must not be false: a state of type denied is complete (conflict)`}},
		{name: "two init actions", old: "{in: [open], role: clerk, to: done}", new: "{trigger: init}", want: []string{`9:21 /actions/finish/trigger: must not be init, which "begin" is already (conflict)`}},
		{name: "user action of nobody", old: "role: clerk, ", new: "", want: []string{`9:11 /actions/finish/role: is required, or allowed: someone must be able to perform a user action (required)`}},
		{name: "in and enabledIn", old: "in: [open]", new: "in: [open], enabledIn: [done, open]", want: []string{`9:42 /actions/finish/enabledIn/1: "open" is in both in and enabledIn; keep one of them (conflict)`}},
		{name: "unknown to", old: "to: done", new: "to: doen", want: []string{`9:41 /actions/finish/to: "doen" is not a state of this route; did you mean "done"? (not-found)`}},
		{name: "time without timeout", old: "role: clerk", new: "trigger: time", want: []string{`9:11 /actions/finish/timeout: is required with trigger: time (required)`}},
		{name: "message without label", old: "role: clerk", new: "trigger: message", want: []string{`9:11 /actions/finish/message: is required with trigger: message: the label to wait for (required)`}},
		{name: "name of a type", old: "finish: {", new: "resolve: {type: approve, ", want: []string{`9:12 /actions/resolve/type: must be resolve: an action may have the name of a type only if it is of that type; write type: resolve, or give the action another name (conflict)`}},
		{name: "unknown role", old: "role: clerk", new: "role: [clerk, clerc], allowed: [clark, 'user:', 'group:x', 'team:a b']", want: []string{
			`9:38 /actions/finish/role/1: "clerc" is not a role of this route; did you mean "clerk"? (not-found)`,
			`9:56 /actions/finish/allowed/0: must be a role of the route, user:<name>, team:<name>, everyone or readers, and "clark" is not one; did you mean "clerk"? (not-found)`,
			`9:63 /actions/finish/allowed/1: after user: must be the name of a user, not "": use letters, digits, _, -, single dots and @, at most 63, the first a letter or digit, no dot or @ at the end, and no extension such as .json (format)`,
			`9:72 /actions/finish/allowed/2: must be a role of the route, user:<name>, team:<name>, everyone or readers, not "group:x" (format)`,
			`9:83 /actions/finish/allowed/3: after team: must be the name of a team, not "a b": use letters, digits, _ and -, at most 63, the first a letter or digit (format)`,
		}},
		{name: "rules", old: "[starter]", new: "[startr, clerk, 'user:', 'role:boss', 'xattr:ä', 'team:core', 'starter:x', 5]", want: []string{
			`3:20 /roles/clerk/assign/0: must be ` + ruleForm + `, not "startr"; did you mean "starter"? (format)`,
			`3:28 /roles/clerk/assign/1: must be ` + ruleForm + `, not "clerk"; did you mean "role:clerk"? (format)`,
			`3:35 /roles/clerk/assign/2: after user: must be the name of a user, not "": use letters, digits, _, -, single dots and @, at most 63, the first a letter or digit, no dot or @ at the end, and no extension such as .json (format)`,
			`3:44 /roles/clerk/assign/3: "boss" is not a role of this route (not-found)`,
			`3:57 /roles/clerk/assign/4: the name of an XATTR must be 1 to 127 characters of letters, digits, _, - and ., not "ä" (format)`,
			`3:81 /roles/clerk/assign/6: starter takes nothing after it, not "starter:x" (format)`,
			`3:94 /roles/clerk/assign/7: must be a string, not a number (type)`,
		}},
		{name: "reserved role", old: "clerk: {", new: "readers: {}\n  clerk: {", want: []string{`3:12 /roles/readers: a role cannot be called readers, which has another meaning in the lists of who is allowed (conflict)`}},
		{name: "durations", old: "finish: {", new: "a: {trigger: time, timeout: P1M}\n  b: {trigger: time, timeout: -1}\n  c: {trigger: time, timeout: soon}\n  d: {trigger: time, timeout: 1.5}\n  e: {trigger: time, timeout: true}\n  f: {trigger: time, timeout: -PT1H}\n  g: {trigger: time, timeout: 2d}\n  finish: {", want: []string{
			`9:31 /actions/a/timeout: must be ` + durationForm + `: years and months have no fixed length (range)`,
			`10:31 /actions/b/timeout: must be ` + durationForm + `, not -1 (range)`,
			`11:31 /actions/c/timeout: must be ` + durationForm + `, not "soon" (format)`,
			`12:31 /actions/d/timeout: must be ` + durationForm + `, not 1.5 (range)`,
			`13:31 /actions/e/timeout: must be a string or a whole number, not true or false (type)`,
			`14:31 /actions/f/timeout: must be ` + durationForm + `, not "-PT1H" (format)`,
			`15:31 /actions/g/timeout: must be ` + durationForm + `, not "2d": write P2D (format)`,
		}},
		{name: "tasks of nobody", old: "role: clerk", new: "trigger: auto, accept: required, dueIn: P1D, message: x", want: []string{
			`9:47 /actions/finish/accept: goes with user actions only (conflict)`,
			`9:64 /actions/finish/dueIn: goes with user actions only (conflict)`,
			`9:78 /actions/finish/message: goes with trigger: message only (conflict)`,
		}},
		{name: "decide", old: "to: done", new: "to: done, decide: '\"x\"'", want: []string{
			`9:11 /actions/finish/outputs: is required with decide: every output that it can yield (required)`,
			`9:41 /actions/finish/to: does not go with decide, whose outputs say the new state (conflict)`,
		}},
		{name: "outputs", old: "to: done", new: "decide: 'true ? \"a\" : \"e\"', outputs: {a: done, b: gone, c: ~, d: 1}", want: []string{
			`9:45 /actions/finish/decide: can yield "e", which outputs does not list (not-found)`,
			`9:87 /actions/finish/outputs/b: "gone" is not a state of this route; did you mean "done"? (not-found)`,
			`9:102 /actions/finish/outputs/d: must be a string, not a number (type)`,
		}},
		{name: "transitions", old: "actions:", new: "transitions:\n  - {from: open, to: gone, requires: []}\n  - {name: T, from: open, to: done, requires: [finish, finnish], requries: 1}\nactions:", want: []string{
			`8:22 /transitions/0/to: "gone" is not a state of this route; did you mean "done"? (not-found)`,
			`8:38 /transitions/0/requires: must not be empty (range)`,
			`9:56 /transitions/1/requires/1: "finnish" is not an action of this route; did you mean "finish"? (not-found)`,
			`9:66 /transitions/1/requries: is not a known field; did you mean "requires"? (unknown-field)`,
			`12:16 /actions/finish/in: does not go with an action that a transition names (conflict)`,
			`12:41 /actions/finish/to: does not go with an action that a transition names (conflict)`,
		}},
		{name: "child", old: "role: clerk", new: "child: {while: gone, roles: {clerk: {each: all}}}, role: clerk, accept: required", want: []string{
			`9:31 /actions/finish/child/route: is required (required)`,
			`9:39 /actions/finish/child/while: "gone" is not a state of this route; did you mean "done"? (not-found)`,
			`9:60 /actions/finish/child/roles/clerk/from: is required (required)`,
			`9:67 /actions/finish/child/roles/clerk/each: must be per_role, per_member or per_user, not "all" (range)`,
			`9:81 /actions/finish/role: does not go with child: the engine performs the action when its children are finished (conflict)`,
			`9:96 /actions/finish/accept: does not go with child: the engine performs the action when its children are finished (conflict)`,
		}},
		{name: "steps", old: "to: done", new: "to: done, onFire: [{if: 'true'}, {log: x, warn: y}, {set: {}}, {loge: x}, {http: {method: LOOK}}, {set: {a: {cell: x}}}, {cancel: false}, {perform: ''}]", want: []string{
			`9:56 /actions/finish/onFire/0: must have exactly one of the verbs of a step, such as set, message or log (range)`,
			`9:70 /actions/finish/onFire/1: must have exactly one of the verbs of a step, such as set, message or log (range)`,
			`9:95 /actions/finish/onFire/2/set: must not be empty (range)`,
			`9:101 /actions/finish/onFire/3/loge: is not a known field; did you mean "log"? (unknown-field)`,
			`9:118 /actions/finish/onFire/4/http/url: is required (required)`,
			`9:127 /actions/finish/onFire/4/http/method: must be GET, POST, PUT, PATCH or DELETE, not "LOOK" (range)`,
			`9:145 /actions/finish/onFire/5/set/a/cel: is required (required)`,
			`9:146 /actions/finish/onFire/5/set/a/cell: is not a known field; did you mean "cel"? (unknown-field)`,
			`9:167 /actions/finish/onFire/6/cancel: must be true (range)`,
			`9:185 /actions/finish/onFire/7/perform: must be a name: a letter or digit, then up to 62 letters, digits, _ or -, not "" (format)`,
		}},
		{name: "other forms", old: "name: test", new: "retention: always\ngroup: a b\nnotify: {remind: P1Y}\ntimers: {t t: {limit: 5}}\ntitle: " + strings.Repeat("x", 201), want: []string{
			`1:12 /retention: must be a duration such as P15D, or forever, not "always" (format)`,
			`2:8 /group: must be a name: a letter or digit, then up to 62 letters, digits, _ or -, not "a b" (format)`,
			`3:18 /notify/remind: must be ` + durationForm + `: years and months have no fixed length (range)`,
			`4:10 /timers/t t: the name of a timer must be a name: a letter or digit, then up to 62 letters, digits, _ or - (format)`,
			`5:8 /title: must not be longer than 200 characters (range)`,
		}},
		{name: "reminders", old: "name: test", new: "notify: {remind: PT59S, watch: x}", want: []string{
			`1:18 /notify/remind: must be at least PT1M: everyone who has a task gets each reminder (range)`,
			`1:25 /notify/watch: is not a known field (unknown-field)`,
		}},
		{name: "max", old: "to: done", new: "to: done, max: many, after: [{min: 0}], enableIf: ''", want: []string{
			`9:52 /actions/finish/max: must be a number or unlimited, not "many" (format)`,
			`9:66 /actions/finish/after/0/action: is required (required)`,
			`9:72 /actions/finish/after/0/min: must be 1 or more, not 0 (range)`,
			`9:87 /actions/finish/enableIf: must not be empty (range)`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := tt.new
			if tt.old != "" {
				text = strings.Replace(base, tt.old, tt.new, 1)
			}
			_, _, err := route.Parse("test", readYAML(t, text))
			var got []string
			if e, ok := errors.AsType[*errs.Error](err); ok {
				if e.Kind != errs.Invalid {
					t.Errorf("kind %s", e.Kind)
				}
				for _, f := range e.Faults {
					got = append(got, f.String()+" ("+string(f.Code)+")")
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

const (
	ruleForm     = "starter, everyone, stakeholders, admins, user:<name>, team:<name>, role:<name>, parent:<role>, xattr:<key> or call:<name>"
	durationForm = "a duration in weeks, days, hours, minutes, seconds such as P3D or PT5M, or whole seconds"
)

func TestNoNameAtAll(t *testing.T) {
	t.Parallel()
	_, _, err := route.Parse("", readYAML(t, strings.Replace(base, "name: test\n", "", 1)))
	if want := "1:1 /name: is required, since the document has no file's name"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}

func TestManyParts(t *testing.T) {
	t.Parallel()
	text := strings.Replace(base, "  open:", strings.Join(make([]string, 1001), "  s: {}\n")+"  open:", 1)
	for i := range 1000 {
		text = strings.Replace(text, "  s: {}", fmt.Sprintf("  s%d: {}", i), 1)
	}
	_, _, err := route.Parse("test", readYAML(t, text))
	if want := "5:3 /states: must not have more than 1000 entries"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}

// TestManyFaults makes sure that a hopeless document is answered in bounds.
func TestManyFaults(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, ", \"a%d\": 1", i)
	}
	n, err := document.ParseJSON([]byte(`{"x": 1` + b.String() + "}"))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = route.Parse("test", n)
	if e, ok := errors.AsType[*errs.Error](err); !ok || len(e.Faults) != 1000 {
		t.Errorf("got %v", err)
	}
}

func readFile(t *testing.T, parts ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestStoredStartOfLabel: a route that was stored before labels in the name of a route were
// refused is read as it is.
func TestStoredStartOfLabel(t *testing.T) {
	t.Parallel()
	text := strings.Replace(base, "trigger: init", "trigger: init, onFire: [{start: {route: $Kind;}}]", 1)
	if _, err := route.ParseStored("test", readYAML(t, text), route.Meant{}); err != nil {
		t.Error(err)
	}
}
