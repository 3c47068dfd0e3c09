package simulate

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/schema"
)

const whole = `
title: Everything once
description: For the reader.
clock: 2026-03-02T10:00:00+01:00
users: {jane: {fullName: Jane, email: jane@example.org}, tom: null}
teams: {core: [tom, ops], ops: {members: [jane], admins: [tom]}, none: null}
author: tom
as: jane
steps:
  - {start: {title: A, route: other}, name: first, expect: {state: active, children: 0}}
  - {start: null, as: tom, refused: not-allowed}
  - {perform: approve, comment: c, resolution: r, xattrDict: {n: 1}}
  - {accept: approve, case: first, child: [2, "of ann"]}
  - {release: approve}
  - {reject: approve}
  - {delegate: approve, to: tom}
  - {skip: approve, output: yes}
  - {retry: approve}
  - {abort: approve}
  - {move: closed}
  - {advance: P3D}
  - {advance: 300}
  - {advance: "2026-04-01T00:00:00Z"}
  - {message: Answer, text: yes indeed}
  - {message: Answer, value: {a: [1]}}
  - {timer: review, limit: null}
  - {change: {title: B}}
  - {suspend: true}
  - {suspend: {until: "2026-05-01T00:00:00Z"}}
  - {resume: true}
  - {cancel: true}
  - {team: core, members: []}
  - {deputy: {user: tom, from: "2026-01-01", to: "2026-02-01"}, as: jane}
  - {deputy: null}
  - check: true
    note: at last
    expect:
      - {status: closed, tasks: {approve: null}, log: [Created], notLog: [Failed], warnings: []}
      - {case: first, child: 1, children: {count: 2, states: {active: 2}, statuses: {}}, worklist: {tom: []}}
`

func TestParse(t *testing.T) {
	t.Parallel()
	s, err := Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range slices.Concat(s.Users, s.Teams) {
		got = append(got, u.Name+" "+string(u.Document))
	}
	for i := range s.Steps {
		step := &s.Steps[i]
		line := strings.Join(slices.DeleteFunc([]string{string(step.Verb), step.As, step.Subject, step.Of.Case, strings.Join(step.Of.Child, "/"), string(step.Body), step.Refused}, func(s string) bool { return s == "" }), " ")
		got = append(got, line)
	}
	want := []string{
		`jane {"fullName":"Jane","email":"jane@example.org"}`, `tom {}`,
		`core {"members":["tom","ops"]}`, `ops {"members":["jane"],"admins":["tom"]}`, `none {"members":[]}`,
		`start jane other {"title":"A","route":"other"}`, `start tom {} not-allowed`,
		`perform jane approve {"do":"perform","comment":"c","resolution":"r","xattrDict":{"n":1}}`,
		`accept jane approve first 2/of ann {"do":"accept"}`, `release jane approve {"do":"release"}`, `reject jane approve {"do":"reject"}`,
		`delegate jane approve {"do":"delegate","to":"tom"}`, `skip jane approve {"do":"skip","output":"yes"}`,
		`retry jane approve {"do":"retry"}`, `abort jane approve {"do":"abort"}`, `move jane closed`,
		`advance admin {"advance":"P3D"}`, `advance admin {"advance":300}`, `advance admin {"set":"2026-04-01T00:00:00Z"}`,
		`message jane Answer yes indeed`, `message jane Answer {"a":[1]}`, `timer jane review {"limit":null}`,
		`change jane {"title":"B"}`, `suspend jane {"state":"suspended"}`, `suspend jane {"state":"suspended","suspendedUntil":"2026-05-01T00:00:00Z"}`,
		`resume jane {"state":"active"}`, `cancel jane {"state":"canceled"}`, `team admin core {"members":[]}`,
		`deputy jane {"deputy":{"user":"tom","from":"2026-01-01","to":"2026-02-01"}}`, `deputy jane {"deputy":null}`, `check jane`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.Author != "tom" || s.Clock.Format("15:04Z07:00") != "09:00Z" || s.Title != "Everything once" {
		t.Errorf("author %s, clock %v, title %q", s.Author, s.Clock, s.Title)
	}
	last := s.Steps[len(s.Steps)-1].Expect
	if len(last) != 2 || last[1].Case != "first" || last[1].Child[0] != "1" || last[1].At.Line == 0 {
		t.Errorf("expectations: %+v", last)
	}
	if validator(t)(whole) != nil {
		t.Errorf("the schema refuses it: %v", validator(t)(whole))
	}
}

// validator returns what judges a scenario by its JSON Schema.
func validator(t *testing.T) func(text string) error {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.JSON("scenario")))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("urn:flowdrive:schema:scenario", value); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("urn:flowdrive:schema:scenario")
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) error {
		node, err := document.ParseYAML([]byte(text))
		if err != nil {
			return err
		}
		return compiled.Validate(node.Any())
	}
}

// TestFaults: every fault of a scenario is told at once, each with its place.
func TestFaults(t *testing.T) {
	t.Parallel()
	valid := validator(t)
	const head = "users: [jane]\nteams: {core: [jane]}\nas: jane\nsteps:\n- start: {}\n  name: a\n"
	for _, test := range []struct {
		text string
		want []string
		word bool // the schema cannot know it: it is a matter of names
	}{
		{text: "[]", want: []string{"1:1 : must be an object, not a list"}},
		{text: "title: x", want: []string{"/steps: is required and must be a list"}},
		{text: "steps: []", want: []string{"1:8 /steps: must have at least one step"}},
		{text: "steps: [3]", want: []string{"/steps/0: must be an object, not a number"}},
		{text: "stps: []\nsteps: [{start: {}, as: admin}]", want: []string{`1:1 /stps: is not a known field; did you mean "steps"?`}},
		{text: "clock: tomorrow\nusers: 3\nsteps: [{start: {}, as: admin}]", want: []string{
			"1:8 /clock: must be an instant such as 2026-03-02T09:00:00Z", "2:8 /users: must be a list of names, or an object",
		}},
		{text: "users: [jane, jane]\nsteps: [{start: {}, as: jane}]", want: []string{`1:15 /users/1: "jane" is there already`}},
		{text: "users: [a/b]\nsteps: [{start: {}, as: admin}]", want: []string{`"a/b" cannot be a name`}, word: true},
		{text: "users: {jane: {name: x}}\nsteps: [{start: {}, as: jane}]", want: []string{"/users/jane/name: is not a known field"}},
		{text: "teams: {core: [jan], b: [3], '': []}\nusers: [jane]\nsteps: [{start: {}, as: jane}]", want: []string{
			`/teams/core/0: "jan" is neither among the users nor among the teams; did you mean "jane"?`, "/teams/b/0: must be a string", `/teams/: "" cannot be the name of a team`,
		}},
		{text: "author: x\nas: y\nsteps: [{start: {}}]", want: []string{`/author: "x" is not among the users`, `/as: "y" is not among the users`}, word: true},
		{text: "steps: [{start: {}}]", want: []string{"/steps/0: must say who does it"}, word: true},
		{text: "steps: [{perform: x, as: admin}]", want: []string{"/steps/0: needs a case"}, word: true},
		{text: "steps: [{advance: P1D, expect: {state: active}}]", want: []string{"/steps/0/expect: needs a case"}, word: true},
		{text: head + "- {}", want: []string{"/steps/1: must have a verb: start, perform"}},
		{text: head + "- {preform: x}", want: []string{`did you mean "perform"?`}},
		{text: head + "- {perform: x, accept: x}", want: []string{`/steps/1/accept: is a second verb after "perform"`}},
		{text: head + "- {perform: x, to: jane}", want: []string{"/steps/1/to: is not a known field"}, word: true},
		{text: head + "- {perform: a/b}", want: []string{`/steps/1/perform: "a/b" cannot be a name`}, word: true},
		{text: head + "- {perform: 3}", want: []string{"/steps/1/perform: must be a string"}},
		{text: head + "- {perform: x, as: tom, refused: ''}", want: []string{`/steps/1/as: "tom" is not among the users`, "/steps/1/refused: must be the name of a problem"}},
		{text: head + "- {perform: x, case: b, child: [0, true]}", want: []string{
			`/steps/1/case: no earlier step names a case "b"`, "/steps/1/child/0: must be from 1", "/steps/1/child/1: must be a string",
		}},
		{text: head + "- {start: [], name: a}", want: []string{"/steps/1/start: must be an object", `/steps/1/name: "a" is the name of another case already`}},
		{text: head + "- {start: {}, case: a}", want: []string{`/steps/1/case: does not go with "start"`}, word: true},
		{text: head + "- {advance: P1X}", want: []string{"/steps/1/advance: "}, word: true},
		{text: head + "- {advance: soon}", want: []string{"/steps/1/advance: must be a duration such as P3D or PT5M, or an instant"}, word: true},
		{text: head + "- {advance: -1}", want: []string{"/steps/1/advance: must be from 0"}, word: true},
		{text: head + "- {message: m}", want: []string{"/steps/1: must have text or value"}, word: true},
		{text: head + "- {message: m, text: a, value: b}", want: []string{"/steps/1/value: does not go with text"}, word: true},
		{text: head + "- {timer: t}", want: []string{"/steps/1/limit: is required"}, word: true},
		{text: head + "- {suspend: false}\n- {resume: false}\n- {cancel: 3}", want: []string{
			"/steps/1/suspend: must be true", "/steps/2/resume: must be true", "/steps/3/cancel: must be true or false",
		}},
		{text: head + "- {suspend: {}}", want: []string{"/steps/1/suspend/until: is required"}},
		{text: head + "- {team: cor, members: [tom]}", want: []string{`/steps/1/team: "cor" is not among the teams; did you mean "core"?`, `/steps/1/members/0: "tom" is neither`}, word: true},
		{text: head + "- {team: core}", want: []string{"/steps/1/members: is required"}, word: true},
		{text: head + "- {deputy: {usr: tom}}", want: []string{"/steps/1/deputy/usr: is not a known field", "/steps/1/deputy/user: is required"}},
		{text: head + "- {check: true, refused: x}", want: []string{"/steps/1/refused: does not go with check"}, word: true},
		{text: head + "- check: true\n  expect: {stat: open, log: x, tasks: [], children: -1, warnings: [3]}", want: []string{
			`8:12 /steps/1/expect/stat: is not a known field; did you mean "state"?`, "/steps/1/expect/log: must be a list", "/steps/1/expect/tasks: must be an object",
			"/steps/1/expect/children: must be from 0", "/steps/1/expect/warnings/0: must be a string",
		}},
		{text: head + "- check: true\n  expect: [3, {children: {states: {}, total: 1}}]", want: []string{"/steps/1/expect/0: must be an object", "/steps/1/expect/1/children/total: is not a known field"}},
	} {
		_, err := Parse([]byte(test.text))
		e, ok := errors.AsType[*errs.Error](err)
		if !ok {
			t.Errorf("%s:\nno error", test.text)
			continue
		}
		var got []string
		for _, f := range e.Faults {
			got = append(got, f.String())
		}
		same := len(got) == len(test.want)
		for i := 0; same && i < len(got); i++ {
			same = slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, strings.TrimPrefix(test.want[i], "1:1 ")) })
		}
		if !same {
			t.Errorf("%s:\ngot  %q\nwant %q", test.text, got, test.want)
		}
		if err := valid(test.text); err == nil && !test.word {
			t.Errorf("%s:\nthe schema takes it", test.text)
		}
	}
}

// FuzzParse: no text makes the reader do anything but read it or tell what is
// wrong with it, with a place for each fault.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	files, err := filepath.Glob(filepath.Join("..", "..", "route", "examples", "*.scenario.yaml"))
	if err != nil || len(files) == 0 {
		f.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			e, ok := errors.AsType[*errs.Error](err)
			if !ok || e.Kind != errs.Invalid && e.Kind != errs.NotParseable && e.Kind != errs.EmptyDocument {
				t.Errorf("%v", err)
			}
			return
		}
		for i := range s.Steps {
			step := &s.Steps[i]
			if step.Verb == "" || step.As == "" && step.Verb != VerbCheck || len(step.Of.Child) > 0 && step.At.Line == 0 {
				t.Errorf("%+v", step)
			}
			if step.Type != "application/json" || step.Verb == VerbCheck || step.Verb == VerbMove {
				continue
			}
			if _, err := document.ParseJSON(step.Body); err != nil {
				t.Errorf("%s: %v", step.Body, err)
			}
		}
	})
}
