package machine

import (
	"strings"
	"testing"
)

// TestIfThatCannotBeEvaluated: an if that cannot be evaluated is a fault of its step
// (docs/contract/engine.md#failures): a person is refused, the engine escalates the
// action and runs onError, and a timer's handler is undone and warned of.
func TestIfThatCannotBeEvaluated(t *testing.T) {
	t.Parallel()
	const source = `
timers: {nag: {limit: PT1H, onExpire: [{set: {before: 1}}, {if: xattr.none > 2, log: nagged}, {set: {after: 1}}]}}
states: {a: {type: start}, b: {}, broken: {type: failed}}
actions:
  begin: {trigger: init, onFire: [{enableTimer: nag}]}
  go: {in: [a], allowed: everyone, to: b, onFire: [{if: xattr.none > 2, title: never}]}
  work:
    in: [a]
    trigger: message
    message: Work
    to: b
    onFire: [{set: {began: true}}, {if: xattr.none > 2, title: never}]
    ONERROR
`
	play := func(onError string) *play {
		t.Helper()
		p := newPlay(t, parsed(t, strings.Replace(source, "ONERROR", onError, 1)))
		p.script([]step{{"start", "active a: go | work"}})
		return p
	}
	p := play("")
	if err := p.do("bob go"); err == nil || !strings.Contains(err.Error(), "if of the step title could not be evaluated: no such key: none") {
		t.Errorf("a person: %v", err)
	}
	if err := p.do("bob @Work x"); err != nil {
		t.Fatal(err)
	}
	if e := p.c.enablement("work"); e.State != Escalated || e.Step != "title" || !strings.Contains(e.Fault, "no such key: none") {
		t.Errorf("the engine: %+v", e)
	}
	if _, began := p.c.Xattrs.Get("began"); began {
		t.Error("the performance was not undone")
	}
	if err := p.do("+1h due"); err != nil {
		t.Fatal(err)
	}
	if got := string(p.c.Xattrs.AppendJSON(nil)); got != `{"after":1,"before":1}` || !p.c.FailedHandler("the timer nag") {
		t.Errorf("a timer: %s, %+v", got, p.c.Warnings)
	}

	p = play(`onError: {steps: [{set: {why: {cel: "error.step + ' ' + error.kind"}}}], to: broken}`)
	if err := p.do("bob @Work x"); err != nil {
		t.Fatal(err)
	}
	if got := string(p.c.Xattrs.AppendJSON(nil)); got != `{"why":"title fault"}` || p.c.Status != "broken" {
		t.Errorf("onError: %s in %s", got, p.c.Status)
	}
}

// TestMailsThatReachNobody: a mail that goes to nobody, or whose recipients are not all
// known, is warned of, until it goes out.
func TestMailsThatReachNobody(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ to, want string }{
		{`[ann]`, ""},
		{`[ann, bob]`, ""},
		{`[stakeholders]`, ""},
		{`["role:none"]`, `the mail "Hello A case" of go has nobody to go to`},
		{`["xattr:absent"]`, `the mail "Hello A case" of go has nobody to go to`},
		{`[ann, "xattr:absent"]`, ""},
		{`[dan, bob]`, `the mail "Hello A case" of go has nobody to go to: without an e-mail address: bob`},
		{`[ann, nobody]`, `the mail "Hello A case" of go does not go to all that it names: no user or team is called nobody`},
		{`["xattr:who"]`, `the mail "Hello A case" of go has nobody to go to: no user or team is called nobody`},
	} {
		p := newPlay(t, parsed(t, `
roles: {none: {}}
states: {a: {type: start}, b: {}}
actions:
  begin: {trigger: init, onFire: [{set: {who: nobody}}]}
  go: {in: [a], allowed: everyone, onFire: [{mail: {to: `+test.to+`, subject: "Hello $__TITLE__;"}}]}
  out: {in: [a], allowed: everyone, to: b}
`))
		var got []string
		for _, do := range []string{"start", "sam go", "sam go"} {
			if err := p.do(do); err != nil {
				t.Fatal(test.to, err)
			}
		}
		for _, w := range p.c.Warnings {
			got = append(got, w.Text)
		}
		if text := strings.Join(got, "; "); text != test.want {
			t.Errorf("%s: %q, want %q", test.to, text, test.want)
		}
		if err := p.do("sam out"); err != nil || len(p.c.Warnings) > 0 {
			t.Errorf("%s: in another state: %v %+v", test.to, err, p.c.Warnings)
		}
	}
}

// TestNothingToRead: a step that has nothing to read says so: a table without any row, and
// a case without an input, whose message is there and empty.
func TestNothingToRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ step, name, input, want string }{
		{"csv: {from: InputMessage, to: Rows}", "", "", `csv: the message "InputMessage" is empty: the case was given no input.`},
		{"csv: {from: InputMessage, to: Rows, header: false}", "", "", `csv: the message "InputMessage" is empty: the case was given no input.`},
		{"csv: {from: InputMessage, to: Rows}", "a.csv", "", `csv: the message "InputMessage" is empty.`},
		{"csv: {from: InputMessage, to: Rows, header: false}", "a.csv", "", "[]"},
		{"csv: {from: InputMessage, to: Rows, header: false, min: 2}", "a.csv", "a\n", `csv: the message "InputMessage", which has only 1 of at least 2 rows.`},
		{"csv: {from: InputMessage, to: Rows}", "a.csv", "a,b\n", "[]"},
		{"csv: {from: InputMessage, to: Rows, min: 1}", "a.csv", "a,b\n", `csv: the message "InputMessage", which has no row below the names of the columns, and must have at least 1.`},
		{"csv: {from: InputMessage, to: Rows}", "a.csv", "a,b\n1,\xc3", `csv: it is not UTF-8, and its media type names no other charset. Save it as UTF-8, which spreadsheets call CSV UTF-8.`},
		{"csv: {from: InputMessage, to: Rows}", "a.csv", "\xff\xfea\x00\n\x00\x00\xd8", `csv: it has bytes that are no characters in its charset.`},
		{"csv: {from: Other, to: Rows}", "", "", `csv: there is no message "Other".`},
		{"jq: {from: InputMessage, filter: ., to: Rows}", "", "", `jq: the message "InputMessage" is empty: the case was given no input.`},
	} {
		p := newPlay(t, parsed(t, `
states: {a: {type: start}}
actions:
  begin: {trigger: init}
  go: {in: [a], allowed: everyone, onFire: [{`+test.step+`}]}
`))
		p.c.InputName, p.messages = test.name, map[string][]byte{labelInput: []byte(test.input)}
		if err := p.do("start"); err != nil {
			t.Fatal(err)
		}
		var got string
		if err := p.do("sam go"); err != nil {
			_, got, _ = strings.Cut(err.Error(), " is at fault: ")
		} else {
			got = string(p.messages["Rows"])
		}
		if got != test.want {
			t.Errorf("%s of %q: %s, want %s", test.step, test.input, got, test.want)
		}
	}
}
