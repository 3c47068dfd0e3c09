package machine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
)

// compact returns a form as one line, without blanks between its tokens.
func compact(t *testing.T, form []byte) string {
	t.Helper()
	if len(form) == 0 {
		return ""
	}
	var out bytes.Buffer
	if err := json.Compact(&out, form); err != nil {
		t.Fatalf("%s: %v", form, err)
	}
	return out.String()
}

func TestTaskForm(t *testing.T) {
	t.Parallel()
	p := startedByCore(t)
	const head = `{"do":"","comment":"","resolution":null,"xattrDict":{},"case":17,"caseTitle":"A case","route":"test","starter":"sam","for":null,"remark":null,"files":[],`
	for action, want := range map[string]string{
		"resolve": head + `"action":"resolve","title":"resolve","description":null,` +
			`"choices":{"perform":"The case goes to \"resolved\". A comment alone performs it, too.","accept":"It is offered to no other person. A comment is only noted.","reject":"It is not offered to you any more.",` +
			`"delegate":"It is offered to the user that \"to\" names, alone."},"leadsTo":["resolved"],"state":"offered","due":null,"acceptBy":null,"fireAt":"2012-11-10T12:34:56Z",` +
			`"offered":"2012-11-09T12:34:56Z","roles":["assignee","submitter"],"assignees":["core","@admins","sam"],"acceptedBy":null,"need":null,"warnings":[],"resolutions":{},"form":null,"version":3}`,
		"comment": head + `"action":"comment","title":"Comment on it","description":null,` +
			`"choices":{"perform":"The case stays where it is. A comment alone performs it, too.","accept":"It is offered to no other person. A comment is only noted.","reject":"It is not offered to you any more.",` +
			`"delegate":"It is offered to the user that \"to\" names, alone."},"leadsTo":[],"state":"offered","due":null,"acceptBy":null,"fireAt":null,` +
			`"offered":"2012-11-09T12:34:56Z","roles":[],"assignees":[],"acceptedBy":null,"need":null,"warnings":[],"resolutions":{},"form":null,"version":3}`,
		"nag": head + `"action":"nag","title":"nag","description":null,"choices":{},"leadsTo":[],"state":"running","due":null,"acceptBy":null,"fireAt":"2012-11-09T12:39:56Z",` +
			`"offered":"2012-11-09T12:34:56Z","roles":[],"assignees":[],"acceptedBy":null,"need":null,"warnings":[],"resolutions":{},"form":null,"version":3}`,
		"close": "",
		"none":  "",
	} {
		form := TaskForm(p.c, p.r, action, Beside{})
		if got := compact(t, form); got != want {
			t.Errorf("%s\n got %s\nwant %s", action, got, want)
		}
		if !bytes.Equal(form, document.Indent(form)) {
			t.Errorf("%s is not indented: %s", action, form)
		}
	}
}

// TestTaskFormSaysWhatItLeadsTo: states, decisions, transitions and choices, in
// words and by name.
func TestTaskFormSaysWhatItLeadsTo(t *testing.T) {
	t.Parallel()
	p := newPlay(t, parsed(t, `
xattrs: {amount: {type: number}, note: {type: string}}
states: {a: {type: start}, b: {title: Being bought}, z: {type: complete, title: Bought}}
actions:
  begin: {trigger: init}
  buy: {in: [a], allowed: everyone, to: z, choice: c, description: Order it.}
  drop: {in: [a], allowed: everyone, to: a, choice: c, accept: required}
  weigh: {in: [a], allowed: everyone, decide: '"big"', outputs: {big: b, small: z, none: null}}
  one: {allowed: everyone, form: {properties: {note: {type: string}, why: {type: string}}}}
  two: {allowed: everyone}
transitions:
  - {name: both, from: a, to: b, requires: [one, two]}
`))
	p.script([]step{{"start", "active a: buy drop weigh one two"}})
	two := started(t, parsed(t, `
roles: {head: {assign: [starter]}}
states: {a: {type: start}, z: {type: complete}, n: {type: denied}}
actions:
  begin: {trigger: init}
  agree: {in: [a], role: head, to: z}
  decline: {in: [a], role: head, to: n}
`))
	const alone = `"accept":"It is offered to no other person. It is this task alone; still offered: decline. A comment is only noted."`
	if form := compact(t, TaskForm(two.c, two.r, "agree", Beside{})); !strings.Contains(form, alone) {
		t.Errorf("agree: %s\nlacks %s", form, alone)
	}
	p.c.Xattrs = p.c.Xattrs.Set("amount", label.Value{Kind: document.Number, Text: "9000"})
	for action, wants := range map[string][]string{
		"buy":   {`"perform":"The case goes to \"z\" (Bought), which completes it. It takes back: drop. A comment alone performs it, too."`, `"leadsTo":["z"]`, `"description":"Order it."`, `"xattrDict":{"amount":9000,"note":null}`},
		"drop":  {`"choices":{"accept":"It is offered to no other person. A comment is only noted.","perform":"First it must be accepted. The case goes to \"a\". It takes back: buy."`},
		"weigh": {`"perform":"The route decides: big: goes to \"b\" (Being bought). small: goes to \"z\" (Bought), which completes it. none: stays where it is. A comment alone performs it, too."`, `"leadsTo":["b","z"]`},
		"one":   {`"perform":"The case goes to \"b\" (Being bought) once two is performed. A comment alone performs it, too, if nothing is missing that \"form\" requires."`, `"leadsTo":["b"]`, `"xattrDict":{"amount":9000,"note":null,"why":null}`},
	} {
		form := compact(t, TaskForm(p.c, p.r, action, Beside{}))
		for _, want := range wants {
			if !strings.Contains(form, want) {
				t.Errorf("%s: %s\nlacks %s", action, form, want)
			}
		}
	}
}

// TestFormSaysWhatACommentDoes: an action that cancels the case, or needs a resolution, is
// not performed by a comment, and its form does not say so.
func TestFormSaysWhatACommentDoes(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, `
states: {a: {type: start}, z: {type: complete}, gone: {type: cancelled}}
actions:
  begin: {trigger: init}
  refuse: {in: [a], allowed: everyone, to: z, resolutions: {budget: There is no budget for it, other: Other}}
  withdraw: {type: cancel, in: [a], allowed: everyone, to: gone}
  drop: {in: [a], allowed: everyone, to: gone}
`))
	for action, want := range map[string]string{
		"refuse":   `It needs one of \"resolutions\" in \"resolution\"."`,
		"withdraw": `A comment alone does not perform it."`,
		"drop":     `A comment alone does not perform it."`,
	} {
		if form := compact(t, TaskForm(p.c, p.r, action, Beside{})); !strings.Contains(form, want) || strings.Contains(form, "A comment alone performs") {
			t.Errorf("%s: %s\nlacks %s", action, form, want)
		}
	}
}

// TestFormOfManyTasks: the form of a task does not grow with the other tasks of its case.
func TestFormOfManyTasks(t *testing.T) {
	t.Parallel()
	for what, of := range map[string]string{"offered alike": "", "of one choice": ", choice: one"} {
		text := "roles: {all: {assign: [everyone]}}\nstates: {open: {type: start}, done: {type: complete}}\nactions:\n  begin: {trigger: init}\n"
		for i := range 500 {
			text += fmt.Sprintf("  a%d: {in: [open], role: all, to: done%s}\n", i, of)
		}
		p := started(t, parsed(t, text))
		form := string(TaskForm(p.c, p.r, "a400", Beside{}))
		if len(form) > 2000 || !strings.Contains(form, "a0, a1, a2, a3, a4, a5, a6, a7, a8, a9 and others.") {
			t.Errorf("%s: %d bytes\n%s", what, len(form), form)
		}
	}
}
