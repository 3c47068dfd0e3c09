package machine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
)

// TestLanguage plays the pieces of the language that a single case needs,
// each in a route that has little else.
func TestLanguage(t *testing.T) {
	t.Parallel()
	const states = "states: {a: {type: start}, b: {}, c: {type: complete}}\nactions:\n  begin: {trigger: init, past: Begun}\n"
	for name, test := range map[string]struct {
		route string
		steps []step
	}{
		"a guard offers and withdraws": {
			states + "  pay: {in: [a], allowed: everyone, guard: 'has(xattr.n) && xattr.n > 3', to: b}",
			[]step{
				{"start", "active a: | pay"},
				{"sam pay", "!action-not-enabled"},
				{"sam n=5", "active a: pay"},
				{"sam n=2", "active a: | pay"},
				{"sam n=4", "active a: pay"},
				{"sam pay", "active b:"},
			},
		},
		"an automatic action runs when its guard becomes true": {
			states + "  go: {trigger: auto, in: [a], guard: 'has(xattr.n)', to: c}",
			[]step{{"start", "active a: | go"}, {"+1s due", "active a: | go"}, {"sam n=1", "completed c:"}},
		},
		"an elapsed time-out runs when the guard becomes true": {
			states + "  late: {trigger: time, timeout: PT5S, in: [a], guard: 'has(xattr.n)', to: b}",
			[]step{{"start", "active a: | late"}, {"+9s due", "active a: | late"}, {"sam n=1", "active b:"}},
		},
		"a guard on the time is asked when somebody performs": {
			states + "  go: {in: [a], allowed: everyone, guard: 'now >= case.created + duration(\"5s\")', to: b}",
			[]step{{"start", "active a: | go"}, {"+2s sam go", "!action-not-enabled"}, {"+4s sam go", "active b:"}},
		},
		"enableIf is asked again in the next pass": {
			states + "  go: {in: [a], allowed: everyone, enableIf: 'has(xattr.n)', to: b}",
			[]step{{"start", "active a:"}, {"sam go", "!action-not-enabled"}, {"sam n=1", "active a: go"}, {"sam n=", "active a: go"}, {"sam go", "active b:"}},
		},
		"TM12": {
			states + "  go: {trigger: time, timeout: 0, in: [a], enableIf: 'false', to: b}",
			[]step{{"start", "active a:"}, {"+9s due", "active a:"}},
		},
		"a decision": {
			states + "  go: {in: [a, b], allowed: everyone, decide: 'xattr.n > 3 ? \"big\" : (xattr.n > 1 ? \"stay\" : \"small\")', outputs: {big: b, small: c, stay: }}",
			[]step{
				{"start", "active a: go"},
				{"sam go", "!route-fault"},
				{"sam n=2", "active a: go"},
				{"sam go", "active a: go"},
				{"sam n=4", "active a: go"},
				{"sam go", "active b: go"},
				{"sam n=1", "active b: go"},
				{"sam go", "completed c:"},
			},
		},
		"an output that is not listed": {
			states + "  go: {in: [a], allowed: everyone, decide: xattr.out, outputs: {one: b}}",
			[]step{{"start", "active a: go"}, {"sam out=two", "active a: go"}, {"sam go", "!route-fault"}, {"sam out=one", "active a: go"}, {"sam go", "active b:"}},
		},
		"max": {
			states + "  go: {in: [a], allowed: everyone, max: 2}\n  stop: {in: [a], allowed: everyone, to: c}",
			[]step{{"start", "active a: go stop"}, {"sam go", "active a: go stop"}, {"sam go", "active a: stop"}, {"sam go", "!action-not-enabled"}},
		},
		"after and min": {
			states + "  one: {in: [a], allowed: everyone}\n  two: {in: [a], allowed: everyone, after: [{action: one, min: 2}, begin], to: b}",
			[]step{{"start", "active a: one"}, {"sam one", "active a: one"}, {"sam one", "active a: one two"}, {"sam two", "active b:"}},
		},
		"a choice": {
			states + "  yes: {in: [a], allowed: everyone, choice: vote}\n  no: {in: [a], allowed: everyone, choice: vote}\n  redo: {in: [a], allowed: everyone, to: a}",
			[]step{{"start", "active a: yes no redo"}, {"sam yes", "active a: yes redo"}, {"sam no", "!action-not-enabled"}, {"sam redo", "active a: yes no redo"}},
		},
		"four eyes": {
			states + "  one: {in: [a], allowed: everyone, distinct: [begin]}\n  two: {in: [a], allowed: everyone, distinct: [one, begin], to: b}",
			[]step{
				{"start", "active a: one two"},
				{"sam one", "!four-eyes"},
				{"bob one", "active a: one two"},
				{"bob two", "!four-eyes"},
				{"sam two", "!four-eyes"},
				{"admin one", "active a: one two"},
				{"admin two", "!four-eyes"},
				{"bob two", "active b:"},
			},
		},
		"resolutions": {
			states + "  close: {in: [a], allowed: everyone, resolutions: {fixed: Fixed, other: }, to: b}\n  reopen: {in: [b], allowed: everyone, to: a}",
			[]step{{"start", "active a: close"}, {"sam close", "!invalid"}, {"sam close gone", "!invalid"}, {"sam close fixed", "active b: reopen"}, {"sam reopen fixed", "!invalid"}},
		},
		"a resolution by its text": {
			states + "  close: {in: [a], allowed: everyone, resolutions: {fixed: Fixed, late: Late, slow: Late}, to: b}\n  reopen: {in: [b], allowed: everyone, to: a}",
			[]step{{"start", "active a: close"}, {"sam close Late", "!invalid"}, {"sam close Fixed", "active b: reopen"}},
		},
		"a message": {
			states + "  got: {trigger: message, message: answer, in: [b], decide: 'message[\"answer\"].ok ? \"yes\" : \"no\"', outputs: {\"yes\": c, \"no\": }}\n  go: {in: [a], allowed: everyone, to: b}",
			[]step{
				{"start", "active a: go"},
				{`ann @answer {"ok": false}`, "active a: go"},
				{"sam go", "active b: | got"},
				{`ann @other {"ok": true}`, "active b: | got"},
				{`ann @answer {"ok": true}`, "completed c:"},
			},
		},
		"a message that is none": {
			states + "  got: {trigger: message, message: answer, in: [a], decide: 'message[\"answer\"].ok ? \"yes\" : \"no\"', outputs: {\"yes\": c, \"no\": }}",
			[]step{
				{"start", "active a: | got"},
				{`ann @answer no JSON`, "active a: | got"},
				{"ann !retry got", "!not-allowed"},
				{"admin !retry got", "active a: | got"},
				{`ann @answer {"ok": true}`, "active a: | got"},
				{"admin !retry got", "completed c:"},
			},
		},
		"the input message counts as written at the start": {
			states + "  got: {trigger: message, message: InputMessage, in: [a], to: b}\n  back: {in: [b], allowed: everyone, to: a}",
			[]step{{"start", "active b: back"}, {"sam back", "active a: | got"}, {"sam @InputMessage x", "active b: back"}},
		},
		"perform": {
			states + "  go: {in: [a], allowed: everyone, onFire: [{perform: then}], to: b}\n  then: {in: [b], role: [], allowed: everyone, resolutions: {x: X}, to: c}",
			[]step{{"start", "active a: go"}, {"sam go", "completed c:"}},
		},
		"skip, abort": {
			states + "  go: {in: [a], allowed: everyone, to: b, onFire: [{cancel: true}]}\n  other: {in: [a], allowed: everyone}\n  end: {in: [b], allowed: everyone, decide: '\"x\"', outputs: {x: c, y: a}}",
			[]step{
				{"start", "active a: go other"},
				{"sam !abort other", "!not-allowed"},
				{"admin !abort other", "active a: go"},
				{"admin !abort other", "!action-not-enabled"},
				{"admin !skip go x", "!invalid"},
				{"admin !skip go", "active b: end"},
				{"admin !skip end", "!invalid"},
				{"admin !skip end y", "active a: go other"},
				{"admin !retry go", "!action-not-enabled"},
				{"admin !abort nothing", "!not-found"},
			},
		},
		"steps skip and abort": {
			states + "  go: {in: [a], allowed: everyone, sideEffects: [{abort: one}, {skip: two}, {skip: none}]}\n  one: {in: [a], allowed: everyone}\n  two: {in: [a], allowed: everyone, to: b}\n  none: {in: [c], allowed: everyone}",
			[]step{{"start", "active a: go one two"}, {"sam go", "active b:"}},
		},
		"cancel": {
			states + "  go: {in: [a], allowed: everyone, onFire: [{cancel: true}], to: b}\n  auto: {trigger: auto, in: [b], to: c}",
			[]step{{"start", "active a: go"}, {"sam go", "canceled b:"}},
		},
		"a fault in a person's performance changes nothing": {
			states + "  go: {in: [a], allowed: everyone, onFire: [{set: {x: 1}}], sideEffects: [{title: {cel: xattr.none}}], to: b}",
			[]step{{"start", "active a: go"}, {"sam go", "!route-fault"}, {"", "active a: go"}},
		},
		"a fault in what follows does not undo it": {
			states + "  go: {in: [a], allowed: everyone, to: b}\n  then: {trigger: auto, in: [b], onFire: [{set: {x: {cel: xattr.none}}}], to: c}",
			[]step{
				{"start", "active a: go"},
				{"sam go", "active b: | then"},
				{"+1h due", "active b: | then"},
				{"sam !retry then", "!not-allowed"},
				{"admin !retry then", "active b: | then"},
				{"sam none=1", "active b: | then"},
				{"admin !retry then", "completed c:"},
			},
		},
		"what is escalated can be skipped": {
			states + "  then: {trigger: auto, in: [a], onFire: [{set: {x: {cel: xattr.none}}}], to: c}",
			[]step{{"start", "active a: | then"}, {"admin !skip then", "completed c:"}},
		},
		"a case that cannot start": {
			"states: {a: {type: start, onEnter: [{set: {x: {cel: xattr.none}}}]}}\nactions:\n  begin: {trigger: init}",
			[]step{{"start", "failed :"}},
		},
		"a loop of steps": {
			states + "  go: {in: [a], allowed: everyone, onFire: [{perform: one}]}\n  one: {in: [a], allowed: everyone, sideEffects: [{perform: one}]}",
			[]step{{"start", "active a: go one"}, {"sam go", "!endless-automatic-loop"}, {"", "active a: go one"}},
		},
		"onEnable of one allows another": {
			states + "  go: {in: [a], allowed: everyone, onEnable: [{set: {n: 1}}], guard: xattr.n == 1, to: b}\n  x: {in: [a], allowed: everyone, enableIf: has(xattr.n)}",
			[]step{{"start", "active a: go x"}, {"wake", "active a: go x"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newPlay(t, parsed(t, test.route)).script(test.steps)
		})
	}
}

// reported is a bug report with a resolution when it is resolved, and whose
// resolver can be reassigned.
const reported = `
xattrs: {fixed-in: {type: string}}
roles: {submitter: {assign: [starter]}, resolver: {assign: ["xattr:component", "user:bob"]}}
states: {open: {type: start}, resolved: {}, closed: {type: complete}}
actions:
  open: {trigger: init}
  reassign: {in: [open], enabledIn: [resolved], role: [submitter, resolver], onFire: [{assign: {role: resolver, to: [ann]}}]}
  resolve:
    in: [open]
    type: resolve
    role: resolver
    to: resolved
    past: Resolved
    resolutions: {fixed: Fixed, by-design: By design}
  close: {in: [resolved], role: submitter, to: closed}
  reopen: {enabledIn: [resolved, closed], allowed: submitter, to: open}
`

// TestResolutionInLog: the log entry of a performance names its resolution, and
// the case shows the last one (BT-log).
func TestResolutionInLog(t *testing.T) {
	t.Parallel()
	p := newPlay(t, parsed(t, reported))
	p.script([]step{{"start", "active open: reassign resolve"}, {"bob resolve fixed", "active resolved: reassign close reopen"}})
	if last := p.log[len(p.log)-1]; last.Text != "Resolved" || last.Resolution == nil || *last.Resolution != "fixed" || p.c.Resolution != "fixed" {
		t.Errorf("log %s, resolution %q", LogText([]LogEntry{last}), p.c.Resolution)
	}
}

// TestSteps: what each step leaves on the case, in the log and as a message.
func TestSteps(t *testing.T) {
	t.Parallel()
	p := newPlay(t, parsed(t, `
title: Test
xattrs: {n: {type: number, default: 1}}
roles: {boss: {assign: [starter]}, crew: {}}
states: {a: {type: start}}
actions:
  begin: {trigger: init}
  go:
    in: [a]
    allowed: everyone
    max: 2
    onFire:
      - {set: {n: {cel: xattr.n + 1}, who: {cel: actor}, day: "$__TODAY__; of $__ROUTE__;", gone: }}
      - {if: xattr.n > 2, set: {many: true}}
      - {if: xattr.n > 9, set: {never: true}}
      - {message: {label: text, text: "n is $__XATTR_n__;, $answer; $absent; $__NOPE__;"}}
      - {message: {label: value, type: application/vnd.x+json, value: {a: [1, "$__LOGIN__;", {b: }]}}}
      - {message: {label: sum, value: {cel: '{"n": xattr.n, "got": message["value"].a[1], "mail": input == null}'}}}
      - {message: {label: within, value: {n: {cel: xattr.n * 2}, of: [{cel: 'message["value"]'}, {cel: 5}]}}}
      - {message: {label: spoken, text: {cel: '"n is " + string(xattr.n)'}}}
      - {message: {label: counted, type: text/x, text: 5}}
      - {log: "mail $__EMAIL__;"}
      - {warn: "look out"}
      - {title: {cel: 'case.title + "!"'}}
      - {assign: {role: crew, to: [ann, "role:boss", nobody], mode: add}}
      - {addStakeholders: [core, ann]}
      - {removeStakeholders: [ann]}
  hush: {in: [a], allowed: everyone, onFire: [{unassign: {role: crew, to: [sam]}}, {unwarn: true}]}
  calm: {in: [a], allowed: everyone, onFire: [{assign: {role: crew, to: [bob]}}, {removeStakeholders: [core]}]}
`))
	p.script([]step{{"start", "active a: go hush calm"}, {"bob @answer forty-two", "active a: go hush calm"}, {"bob go", "active a: go hush calm"}})
	got := map[string]string{"title": p.c.Title, "xattrs": string(p.c.Xattrs.AppendJSON(nil)), "crew": strings.Join(p.c.RoleParties("crew"), " "), "stakeholders": strings.Join(p.c.Stakeholders, " ")}
	for name, content := range p.messages {
		got["message "+name] = string(content)
	}
	for i, text := range p.texts()[2:] {
		got["log "+string(rune('a'+i))] = text
	}
	for _, w := range p.c.Warnings {
		got["warning of "+w.Timer] += w.Text + ";"
	}
	if diff := cmp.Diff(map[string]string{
		"title": "A case!", "xattrs": `{"day":"2012-11-09 of test","n":2,"who":"bob"}`, "crew": "ann sam", "stakeholders": "core",
		"message answer": "forty-two", "message text": "n is 2, forty-two $absent; $__NOPE__;", "message value": `{"a":[1,"sam",{"b":null}]}`,
		"message sum":    `{"got":"sam","mail":true,"n":2}`,
		"message within": `{"n":4,"of":[{"a":[1,"sam",{"b":null}]},{"cel":5}]}`, "message spoken": "n is 2", "message counted": "5",
		"log a": "- These labels have no value here and were left as they are: $absent;, $__NOPE__;",
		"log b": "- Wrote text", "log c": "- Wrote value", "log d": "- Wrote sum",
		"log e": "- Wrote within", "log f": "- Wrote spoken", "log g": "- Wrote counted", "log h": "- mail sam@example.org", "log i": "- look out",
		"log j": "- Nobody is called nobody", "log k": "- Assigned crew: ann, sam", "log l": "- Stakeholders: core, ann", "log m": "- Stakeholders: core", "log n": "bob go",
		"warning of go": `look out;assign of "crew" by go leaves some out: no user or team is called nobody;`,
	}, got); diff != "" {
		t.Error(diff)
	}
	p.script([]step{{"sam hush", "active a: go hush calm"}, {"sam go", "active a: hush calm"}, {"sam calm", "active a: hush calm"}})
	if got := string(p.c.Xattrs.AppendJSON(nil)) + strings.Join(p.c.RoleParties("crew"), " "); got != `{"day":"2012-11-09 of test","many":true,"n":3,"who":"sam"}bob` {
		t.Error(got)
	}
	if texts := strings.Join(p.texts(), "\n"); !strings.Contains(texts, "- Stakeholders: nobody\n") {
		t.Errorf("the log does not say that nobody is left:\n%s", texts)
	}
}

// TestDeclaredXattrs: defaults, types and what is required.
func TestDeclaredXattrs(t *testing.T) {
	t.Parallel()
	r := parsed(t, `
xattrs: {n: {type: number, default: 5}, note: {required: true}, only: {edit: [boss]}, none: {edit: []}}
roles: {boss: {assign: ["user:bob"]}}
states: {a: {type: start}}
actions:
  begin: {trigger: init}
  go: {in: [a], allowed: everyone, form: {required: [none], additionalProperties: false, properties: {none: {type: string}, n: true}}}
  edit: {in: [a], allowed: everyone, form: {properties: {n: {type: number}}}}
  bad: {in: [a], allowed: everyone, onFire: [{set: {n: {cel: '"x"'}}}]}
`)
	_, _, err := Decide(Input{Route: r, Case: seed(), Event: Create{}, Now: startOfTests()})
	if e := asError(t, err); e.Kind != errs.Invalid || len(e.Faults) != 1 || e.Faults[0].Pointer != "/xattrDict/note" {
		t.Errorf("%v", err)
	}
	p := &play{t: t, r: r, c: seed(), now: startOfTests(), messages: map[string][]byte{}}
	p.c.Xattrs = p.c.Xattrs.Set("note", label.Text(""))
	if e := asError(t, p.event(Create{})); len(e.Faults) != 1 || e.Faults[0].Code != errs.CodeRequired || e.Faults[0].Detail != "must not be empty: it is required by the route" {
		t.Errorf("an empty text: %+v", e)
	}
	p.c.Xattrs = p.c.Xattrs.Set("note", label.Text("x"))
	if err := p.event(Create{}); err != nil {
		t.Fatal(err)
	}
	p.script([]step{{"start", "active a: go edit bad"}, {"sam n=x", "!invalid"}, {"sam bad", "!route-fault"}, {"sam go", "!invalid"}})
	if n, _ := p.c.Xattrs.Get("n"); n.Text != "5" {
		t.Errorf("n is %v", n)
	}
	dict := p.c.Xattrs.Set("n", label.Text("-7.5"))
	if err := p.event(Edit{Actor: actorNamed("sam"), Xattrs: &dict}); err != nil || string(p.c.Xattrs.AppendJSON(nil)) != `{"n":-7.5,"note":"x"}` {
		t.Errorf("%s %v", p.c.Xattrs.AppendJSON(nil), err)
	}
	err = p.event(Perform{Action: "go", Actor: actorNamed("sam"), Xattrs: []Change{{Key: "none", Value: label.Text("y")}, {Key: "n", Value: label.Text("y")}}})
	if e := asError(t, err); e.Kind != errs.Invalid || len(e.Faults) != 1 || e.Faults[0].Pointer != "/xattrDict/n" {
		t.Errorf("%v", err)
	}
	if err := p.event(Perform{Action: "go", Actor: actorNamed("sam"), Xattrs: []Change{{Key: "none", Value: label.Text("y")}}}); err != nil {
		t.Error(err)
	}
	less, empty := p.c.Xattrs.Remove("note"), p.c.Xattrs.Set("note", label.Text(""))
	for _, event := range []Event{
		Edit{Actor: actorNamed("sam"), Xattrs: &less},
		Edit{Actor: actorNamed("sam"), Xattrs: &empty},
		Perform{Action: "edit", Actor: actorNamed("sam"), Xattrs: []Change{{Key: "note", Value: label.Text("")}}},
		Perform{Action: "edit", Actor: actorNamed("sam"), Xattrs: []Change{{Key: "note", Remove: true}}},
	} {
		e := asError(t, p.event(event))
		if len(e.Faults) != 1 || e.Faults[0].Pointer != "/xattrDict/note" || e.Faults[0].Code != errs.CodeRequired {
			t.Errorf("%T without what is required: %+v", event, e)
		}
	}
	err = p.event(Perform{Action: "edit", Actor: actorNamed("sam"), Xattrs: []Change{{Key: "n", Value: label.Text("y")}}})
	if e := asError(t, err); len(e.Faults) != 1 || e.Faults[0].Code != errs.CodeType {
		t.Errorf("both the form and the declaration refuse n: %+v", e)
	}
	for _, test := range []struct {
		who, key, want string
	}{{"sam", "note", ""}, {"sam", "only", "only"}, {"bob", "only", ""}, {"bob", "note", "note"}, {"sam", "none", "none"}, {"bob", "none", "none"}, {"admin", "none", ""}} {
		if got := MayEdit(p.c, r, actorNamed(test.who), test.who == "sam", p.c.Xattrs.Set(test.key, label.Text("z"))); got != test.want {
			t.Errorf("%s sets %s: refused %q, want %q", test.who, test.key, got, test.want)
		}
	}
	if got := MayEdit(p.c, r, actorNamed("sam"), true, p.c.Xattrs.Remove("none")); got != "none" {
		t.Errorf("removing is refused %q", got)
	}
}

// TestWarningsOfConditions: one warning for each condition, gone when it can
// be evaluated or its enablement has ended.
func TestWarningsOfConditions(t *testing.T) {
	t.Parallel()
	p := newPlay(t, parsed(t, `
states: {a: {type: start}, b: {}}
actions:
  begin: {trigger: init}
  go: {in: [a], allowed: everyone, guard: xattr.x > 1}
  if: {in: [a], allowed: everyone, enableIf: xattr.y > 1}
  out: {in: [a], allowed: everyone, to: b}
`))
	texts := func() (out string) {
		for _, w := range p.c.Warnings {
			out += w.Timer + " " + w.Text + "; "
		}
		return out
	}
	for _, test := range []struct{ do, want string }{
		{"start", "if enableIf of \"if\" could not be evaluated: no such key: y; go guard of \"go\" could not be evaluated: no such key: x; "},
		{"+1s due", "if enableIf of \"if\" could not be evaluated: no such key: y; go guard of \"go\" could not be evaluated: no such key: x; "},
		{"sam y=0", "go guard of \"go\" could not be evaluated: no such key: x; "},
		{"sam x=0", ""},
		{"sam x=a", "go guard of \"go\" could not be evaluated: no such overload; "},
		{"sam out", ""},
	} {
		if err := p.do(test.do); err != nil || texts() != test.want {
			t.Errorf("%s: %q %v, want %q", test.do, texts(), err, test.want)
		}
	}
}

// TestRequiredHasAValue: an empty text does not stand for what is required, whatever its type;
// a default does, also an empty one, and what was empty before may stay so.
func TestRequiredHasAValue(t *testing.T) {
	t.Parallel()
	r := parsed(t, `
xattrs:
  amount: {type: number, required: true}
  kind: {required: true, default: plain}
  hint: {required: true, default: ""}
states: {a: {type: start}}
actions:
  begin: {trigger: init}
  go: {in: [a], allowed: everyone, form: {}}
`)
	for given, want := range map[string]string{
		``:                              "/xattrDict/amount: is required by the route",
		`"amount": ""`:                  "/xattrDict/amount: must not be empty: it is required by the route",
		`"amount": "", "kind": ""`:      "/xattrDict/amount: must not be empty: it is required by the route (and one more fault, see errors)",
		`"amount": 1, "kind": ""`:       "/xattrDict/kind: must not be empty: it is required by the route",
		`"amont": 1, "art": "x"`:        "/xattrDict/amount: is required by the route, which has amount, kind, hint, not amont, art",
		`"amount": "x"`:                 "/xattrDict/amount: must be a number, not a string",
		`"amount": 1, "hint": ""`:       "",
		`"amount": "1", "kind": "fine"`: "",
		`"amount": 0`:                   "",
	} {
		root, err := document.ParseJSON([]byte("{" + given + "}"))
		if err != nil {
			t.Fatal(err)
		}
		p := &play{t: t, r: r, c: seed(), now: startOfTests(), messages: map[string][]byte{}}
		for _, m := range root.Members {
			v, _ := label.ValueOf(m.Value)
			p.c.Xattrs = p.c.Xattrs.Set(m.Key, v)
		}
		got := ""
		if err := p.event(Create{}); err != nil {
			got = asError(t, err).Detail
		}
		if got != want {
			t.Errorf("{%s}: %q, want %q", given, got, want)
		}
	}
	p := &play{t: t, r: r, c: seed(), now: startOfTests(), messages: map[string][]byte{}}
	p.c.Xattrs = label.Dict{{Key: "amount", Value: label.Text("")}}
	if err := p.event(Create{MayLack: true}); err != nil || !p.c.IsDraft() {
		t.Errorf("a file with an empty text is not a draft: %v", err)
	}
	p = &play{t: t, r: r, c: seed(), now: startOfTests(), messages: map[string][]byte{}}
	p.c.Xattrs = label.Dict{{Key: "amount", Value: label.Value{Kind: document.Number, Text: "1"}}}
	for _, event := range []Event{Create{}, Start{}} {
		if err := p.event(event); err != nil {
			t.Fatal(err)
		}
	}
	p.c.Xattrs = p.c.Xattrs.Set("kind", label.Text("")) // by a step, or an earlier release
	if err := p.event(Perform{Action: "go", Actor: actorNamed("sam"), Xattrs: []Change{{Key: "kind", Value: label.Text("")}}}); err != nil {
		t.Errorf("what was empty stays empty: %v", err)
	}
}

// TestMessagesThatAreNotJSON: who looks into a message that is not JSON is told what it is
// instead; who asks whether there is one is told that there is none.
func TestMessagesThatAreNotJSON(t *testing.T) {
	t.Parallel()
	long := "It is a long story, " + strings.Repeat("and it goes on, ", 100)
	for content, want := range map[string]string{
		"forty-two":     `go guard of "go" could not be evaluated: the message "answer" is not JSON, but a text: "forty-two"; `,
		"\xff\x00":      `go guard of "go" could not be evaluated: the message "answer" is not JSON, but a text: "\xff\x00"; `,
		long:            `go guard of "go" could not be evaluated: the message "answer" is not JSON, but a text that begins with "It is a long story, and it goes on, and "; `,
		`{"yes": true}`: `go guard of "go" could not be evaluated: no such key: ok; `,
		"null":          `go guard of "go" could not be evaluated: no such key: answer; `,
		`{"ok": true}`:  "",
	} {
		p := newPlay(t, parsed(t, `
states: {a: {type: start}}
actions:
  begin: {trigger: init}
  go: {in: [a], allowed: everyone, guard: message.answer.ok}
  else: {in: [a], allowed: everyone, guard: 'has(message.answer) || "answer" in message'}
`))
		p.messages["answer"] = []byte(content)
		if err := p.do("start"); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, w := range p.c.Warnings {
			got += w.Timer + " " + w.Text + "; "
		}
		if got != want {
			t.Errorf("%.40q: %s\nwant %s", content, got, want)
		}
	}
}

// TestTaskFormOfForm: what a performer is asked for is shown.
func TestTaskFormOfForm(t *testing.T) {
	t.Parallel()
	p := newPlay(t, parsed(t, `
states: {a: {type: start}}
actions:
  begin: {trigger: init}
  go: {in: [a], allowed: everyone, guard: xattr.x, form: {type: object}, resolutions: {fine: All fine, other: }}
`))
	p.script([]step{{"start", "active a: | go"}})
	got := compact(t, TaskForm(p.c, p.r, "go", Beside{}))
	for _, want := range []string{
		`"state":"waiting"`, `"warnings":[{"timer":"go","time":"2012-11-09T12:34:56Z","text":"guard of \"go\" could not be evaluated: no such key: x"}]`,
		`"resolutions":{"fine":"All fine","other":"other"},"form":{"type":"object"}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
