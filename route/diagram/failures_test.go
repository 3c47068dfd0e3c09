package diagram_test

import (
	"strings"
	"testing"

	"flowdrive/route/diagram"
)

// routeOfFailures has an action whose command may fail, one that the engine cannot perform,
// one that a person performs, and one of every state. It says for three what happens then.
const routeOfFailures = `
states:
  running: {title: Running, type: start}
  checked: {title: Checked}
  done: {title: Done, type: complete}
  wrong: {title: Wrong}
  failed: {title: Failed, type: failed}
roles: {owner: {assign: [starter]}}
actions:
  run: {title: Run, trigger: init, onFire: [{exec: {command: backup, into: Answer}}], onError: {to: failed}}
  check: {title: Check, trigger: message, message: Answer, in: [running], decide: 'message.Answer.ok ? "yes" : "no"', outputs: {yes: checked, no: wrong}, onError: {to: wrong}}
  tell: {title: Tell, in: [checked], role: owner, onFire: [{http: {method: POST, url: "https://example.org/", value: {}}}], to: done}
  note: {title: Note, in: [checked], role: owner, onFire: [{log: Noted}], to: done}
  shout: {title: Shout, always: true, role: owner, onFire: [{exec: {command: shout}}], onError: {to: failed}}
`

// TestWhereFailuresLead: onError is an arrow from where the case is when the action fails,
// the same in all forms; that of the route is one arrow a state, for what says nothing of
// failures itself. A person is told when their action cannot be done, which is not an arrow.
func TestWhereFailuresLead(t *testing.T) {
	t.Parallel()
	p := diagram.Draw(diagram.Of(parsed(t, "failures", []byte(routeOfFailures))))
	mermaid, dot, text := string(p.Mermaid(nil)), string(p.DOT()), string(p.Text(nil))
	want := func(what, in string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(in, part) {
				t.Errorf("%s has no %q:\n%s", what, part, in)
			}
		}
	}
	want("Mermaid", mermaid, "n1 --> n5 : if Run fails\n", "n1 --> n4 : if Check fails\n")
	want("DOT", dot, `n1 -> n5 [label="if Run fails", style=dashed];`)
	want("the table", text, "Running, Failed (if it fails)", "Checked (yes), Wrong (no), Wrong (if it fails)")
	if n := strings.Count(text, "(if it fails)"); n != 3 { // those and Shout
		t.Errorf("%d times:\n%s", n, text)
	}
	went := &diagram.Marks{
		States: map[string]diagram.Mark{"failed": diagram.Reached},
		Went:   []diagram.Way{{Action: "run", To: "running"}, {Action: "run", From: "running", To: "failed"}},
		Can:    []diagram.Way{{Action: "check", From: "running"}},
	}
	svg := string(p.SVG(diagram.Options{Marks: went}))
	want("the picture", svg, `<g class="edge fails went"><path`, `<g class="edge fails"><path`, `stroke-dasharray="4 3"`, ">if Check fails</text>", ">if Shout fails: to Failed</text>", ">In every state:</text>")
	if strings.Contains(svg, `fails can"`) {
		t.Errorf("a case can choose to fail:\n%s", svg)
	}

	ofRoute := strings.Replace(routeOfFailures, "roles:", "onError: {to: failed}\nroles:", 1)
	mermaid = string(diagram.Draw(diagram.Of(parsed(t, "failures", []byte(ofRoute)))).Mermaid(nil))
	want("Mermaid", mermaid, "n1 --> n5 : if Run fails\n", "n3 --> n5 : if something fails\n")
	if n := strings.Count(mermaid, "something fails"); n != 1 {
		t.Errorf("%d arrows of the route:\n%s", n, mermaid)
	}
}
