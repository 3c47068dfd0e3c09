package route_test

import (
	"strings"
	"testing"

	"flowdrive/route"
)

// warned returns the warnings of a route that is alone, a line each.
func warned(t *testing.T, text string) string {
	t.Helper()
	_, warnings, err := route.Parse("", readYAML(t, text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var out []string
	for _, w := range warnings {
		out = append(out, w.Pointer+": "+w.Detail)
	}
	return strings.Join(out, "\n")
}

// TestUnawaited: an automatic action that completes a case does not wait for what a step has
// asked for.
func TestUnawaited(t *testing.T) {
	t.Parallel()
	const job = `name: job
states: {run: {type: start}, ok: {type: complete}}
actions: {go: {trigger: init, onFire: [{STEP}]}, fin: {TRIGGER, in: [run], to: ok}}
`
	for _, tt := range []struct{ step, trigger, want string }{
		{"exec: {command: fail, into: Out}", "trigger: auto", `/actions/fin/trigger: does not wait for the message "Out", which a step of go asks for: the case is complete before it is known whether that step fails. To wait, say trigger: message, with message: Out`},
		{"exec: {command: fail, into: Out}", "trigger: time, timeout: 0", `does not wait for the message "Out"`},
		{"exec: {command: fail, into: Out}", "trigger: message, message: Out", ""},
		{"exec: {command: fail, into: Out}", "trigger: auto, guard: case.title == 'x'", ""},
		{"exec: {command: fail}", "trigger: auto", `/actions/fin/trigger: does not wait for the command "fail", which a step of go runs: the case is complete before it is known whether it fails, and stays complete. To wait, give that step into: Answer, and say trigger: message, with message: Answer`},
		{"exec: {command: fail}", "onError: {steps: [{log: x}]}, trigger: auto", `does not wait for the command "fail"`},
		{"http: {url: 'https://example.org/', value: 1}", "trigger: auto", ""},
	} {
		got := warned(t, strings.NewReplacer("STEP", tt.step, "TRIGGER", tt.trigger).Replace(job))
		if !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s, %s: got\n%s\nwant\n%s", tt.step, tt.trigger, got, tt.want)
		}
	}
}

// TestCompleteBeforeTheCommandEnds: row a1 of a walk. An action that runs a command and
// completes the case cannot let it fail.
func TestCompleteBeforeTheCommandEnds(t *testing.T) {
	t.Parallel()
	const job = "name: job\nstates: {run: {type: start}, ok: {type: complete}, bad: {type: failed}}\nactions: {go: {trigger: init, onFire: [{STEP}], to: ok}, fin: {trigger: message, message: X, in: [ok], to: bad}}\n"
	const want = `/actions/go/to: completes the case before it is known whether the command "fail" fails, and the case stays complete.`
	for text, warns := range map[string]bool{
		strings.Replace(job, "STEP", "exec: {command: fail}", 1):                                   true,
		strings.Replace(job, "STEP", "exec: {command: fail, into: Out}", 1):                        true,
		strings.Replace(job, "STEP", "http: {url: 'https://example.org/', value: 1}", 1):           false,
		strings.Replace(job, "STEP}]", "exec: {command: fail}}], onError: {to: bad}", 1):           false,
		strings.Replace("onError: {to: bad}\n"+job, "STEP", "exec: {command: fail}", 1):            false,
		strings.Replace(strings.Replace(job, "STEP", "log: x", 1), "to: bad", "to: run", 1):        false,
		strings.Replace(strings.Replace(job, "STEP", "exec: {command: fail}", 1), "to: ok", "", 1): false,
	} {
		if got := warned(t, text); strings.Contains(got, want) != warns {
			t.Errorf("%s\ngot\n%s", text, got)
		}
	}
}

// TestIdleHandlersAndForms: a handler without its timer, and an XATTR that a form requires and
// does not ask for.
func TestIdleHandlersAndForms(t *testing.T) {
	t.Parallel()
	got := warned(t, `name: job
states: {run: {type: start}, ok: {type: complete}}
roles: {clerk: {assign: [starter]}}
actions:
  go: {trigger: init}
  fin: {in: [run], to: ok, role: clerk, onDue: [{log: late}], form: {type: object, properties: {answer: {type: string}}, required: [answr]}}
`)
	for _, want := range []string{
		"/actions/fin/onDue: has no effect unless somebody sets that timer of the task: there is no dueIn",
		`/actions/fin/form/required/0: "answr" is not among the properties, so that nobody is asked for it; did you mean "answer"?`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// TestRolesThatNoParentHas: a rule names a role that no parent has.
func TestRolesThatNoParentHas(t *testing.T) {
	t.Parallel()
	const chore = "name: chore\nroles: {worker: {assign: [\"parent:boss\"]}}\nstates: {a: {type: start}, b: {type: complete}}\nactions: {begin: {trigger: init}, end: {in: [a], to: b, role: worker}}\n"
	const parent = "name: parent\nroles: {bos: {assign: [starter]}}\nstates: {a: {type: start}, b: {type: complete}}\nactions: {begin: {trigger: init}, chores: {in: [a], to: b, child: {route: chore}}}\n"
	if got := strings.Join(among(t, chore, parent), "\n"); !strings.Contains(got, `/roles/worker/assign/0: no route that has these cases as children has a role "boss", so this yields nobody`) {
		t.Errorf("the child: %s", got)
	}
	if got := strings.Join(among(t, parent, chore), "\n"); !strings.Contains(got, `/actions/chores/child: a case of "chore" takes who plays "worker" from the role "boss" of this case, and there is no such role; did you mean "bos"?`) {
		t.Errorf("the parent: %s", got)
	}
	right := strings.ReplaceAll(parent, "bos:", "boss:")
	if got := strings.Join(append(among(t, chore, right), among(t, right, chore)...), "\n"); strings.Contains(got, "boss") {
		t.Errorf("a role that is there: %s", got)
	}
}
