package machine

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"flowdrive/internal/errs"

	"github.com/google/go-cmp/cmp"
)

// A failure is told with everything that is known of it; that it is mended is told
// once it is delivered, not when somebody tries again.
func TestFailureAndMending(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, outboxRoute))
	if err := p.do("sam ask"); err != nil {
		t.Fatal(err)
	}
	o := p.c.Outbox[0]
	if err := p.event(Undelivered{Seq: o.Seq, Step: o.Step, Attempts: 1, Reason: "it ended with exit status 3", Kind: FailureExit, Status: 3, Output: "disk full\n"}); err != nil {
		t.Fatal(err)
	}
	want := Failure{Name: o.Name(), Action: "ask", Step: "http", Kind: FailureExit, Status: 3, Text: "it ended with exit status 3", Output: "disk full\n", At: p.now}
	if diff := cmp.Diff([]Failure{want}, p.broke); diff != "" || p.mended != nil {
		t.Errorf("failures (-want +got):\n%s\nmended %v", diff, p.mended)
	}
	if p.c.Shown() != Failed || p.c.Life != Active {
		t.Errorf("the case is %s, and decided on as %s", p.c.Shown(), p.c.Life)
	}
	if err := p.do("admin !retry ask"); err != nil || p.c.Shown() != Active || p.broke != nil || p.mended != nil {
		t.Errorf("retried: %v, %s %v %v", err, p.c.Shown(), p.broke, p.mended)
	}
	if err := p.event(answer(o, `{"ok": true}`)); err != nil {
		t.Fatal(err)
	}
	want.Output, want.Over = "", FailureMended
	if diff := cmp.Diff([]Failure{want}, p.mended); diff != "" || p.broke != nil {
		t.Errorf("mended (-want +got):\n%s\nfailures %v", diff, p.broke)
	}
}

// What the engine could not do is a failure of the action, which goes on when it
// is retried.
func TestEscalationIsAFailure(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, `
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  count: {trigger: message, message: Number, in: [open], onFire: [{set: {n: {cel: 'int(message["Number"].n)'}}}], to: done}
`))
	if err := p.do(`sam @Number {"n": "x"}`); err != nil {
		t.Fatal(err)
	}
	if p.c.Shown() != Failed || len(p.broke) != 1 || p.broke[0].Name != "count" || p.broke[0].Kind != FailureFault || p.broke[0].Text == "" {
		t.Fatalf("%s %+v", p.c.Shown(), p.broke)
	}
	if err := p.do("admin !abort count"); err != nil || p.c.Shown() != Active || len(p.mended) != 1 || p.mended[0].Name != "count" || p.mended[0].Over != FailureGivenUp {
		t.Errorf("%v: %s %+v", err, p.c.Shown(), p.mended)
	}
}

// A case in a state of the type failed has ended there, as in any complete state, and
// people see it as failed.
func TestFailedState(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, `
states: {open: {type: start}, broken: {type: failed}}
actions:
  begin: {trigger: init}
  stop: {allowed: everyone, in: [open], to: broken}
  again: {allowed: everyone, in: [broken], to: open}
`))
	for _, step := range []struct {
		do    string
		shown Life
		life  Life
	}{{"sam stop", Failed, Completed}, {"sam again", Active, Active}} {
		if err := p.do(step.do); err != nil || p.c.Shown() != step.shown || p.c.Life != step.life {
			t.Errorf("%s: %v, %s", step.do, err, p.c.Shown())
		}
	}
	if got := p.log[len(p.log)-3]; got.Text != "Failed" || got.Kind != LogLife || *got.From != string(Active) || *got.To != string(Failed) {
		t.Errorf("log %s", LogText(p.log))
	}
}

const errorRoute = `
states: {open: {type: start}, done: {type: complete}, manual: {}, broken: {type: failed, onEnter: [{log: "in $__ERROR_KIND__;"}]}}
actions:
  begin: {trigger: init}
  run: {allowed: everyone, in: [open], sideEffects: [{exec: {command: x, into: Answer}}]%s}
  answer: {trigger: message, message: Answer, in: [open], to: done}
  fix: {allowed: everyone, in: [manual, broken], to: done}
  give-up: {allowed: everyone, always: true, max: 1, to: manual}
`

// ran is a case of errorRoute whose command has failed.
func ran(t *testing.T, onError string) *play {
	t.Helper()
	p := started(t, parsed(t, strings.Replace(errorRoute, "%s", onError, 1)))
	if err := p.do("sam run"); err != nil {
		t.Fatal(err)
	}
	o := p.c.Outbox[0]
	if err := p.event(Undelivered{Seq: o.Seq, Step: o.Step, Attempts: 1, Reason: "x ended with exit status 3", Kind: FailureExit, Status: 3, Output: "disk full"}); err != nil {
		t.Fatal(err)
	}
	return p
}

// onError runs its steps with what failed, and leads the case to a state.
func TestOnError(t *testing.T) {
	t.Parallel()
	const said = `{set: {said: {cel: "error.step + ' ' + error.kind + ' ' + string(error.status) + ' ' + error.text + ' ' + error.output"}}}`
	for name, test := range map[string]struct {
		onError string
		shown   Life
		status  string
		left    int // deliveries that can be retried
		handled bool
	}{
		"nothing":           {"", Failed, "open", 1, false},
		"steps alone":       {", onError: {steps: [" + said + "]}", Failed, "open", 1, false},
		"a state":           {", onError: {steps: [" + said + "], to: manual}", Active, "manual", 0, true},
		"a failed state":    {", onError: {to: broken, steps: [" + said + "]}", Failed, "broken", 1, false},
		"of the route":      {"}\nonError: {to: manual, steps: [" + said + "]", Active, "manual", 0, true},
		"the action's own":  {", onError: {to: manual, steps: [" + said + "]}}\nonError: {to: broken", Active, "manual", 0, true},
		"a step that leads": {", onError: {steps: [" + said + ", {perform: give-up}]}", Active, "manual", 0, true},
		"a step at fault":   {", onError: {steps: [{set: {x: {cel: 'xattr.none'}}}, " + said + "], to: manual}", Active, "manual", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := test.onError
			if strings.Contains(text, "\n") { // of the route: the action ends before
				before, after, _ := strings.Cut(text, "}\n")
				p := ranOn(t, strings.Replace(errorRoute, "%s", before, 1)+after+"}\n")
				checkError(t, p, test.shown, test.status, test.left, test.handled)
				return
			}
			p := ran(t, text)
			checkError(t, p, test.shown, test.status, test.left, test.handled)
			if v, ok := p.c.Xattrs.Get("said"); ok != strings.Contains(text, "said") || ok && v.Text != "exec exit 3 x ended with exit status 3 disk full" {
				t.Errorf("the steps saw %q", v.Text)
			}
			if entered := slices.Contains(p.texts(), "- in exit"); entered != (test.status == "broken") {
				t.Errorf("log %s", LogText(p.log))
			}
		})
	}
}

// ranOn is as ran, of another route.
func ranOn(t *testing.T, text string) *play {
	t.Helper()
	p := started(t, parsed(t, text))
	if err := p.do("sam run"); err != nil {
		t.Fatal(err)
	}
	o := p.c.Outbox[0]
	if err := p.event(Undelivered{Seq: o.Seq, Step: o.Step, Attempts: 1, Reason: "x ended with exit status 3", Kind: FailureExit, Status: 3}); err != nil {
		t.Fatal(err)
	}
	return p
}

func checkError(t *testing.T, p *play, shown Life, status string, left int, handled bool) {
	t.Helper()
	if p.c.Shown() != shown || p.c.Status != status || len(p.c.Outbox) != left {
		t.Errorf("the case is %s in %s, and %d deliveries are left\n%s", p.c.Shown(), p.c.Status, len(p.c.Outbox), LogText(p.log))
	}
	steps := slices.DeleteFunc(slices.Clone(p.broke), func(f Failure) bool { return f.Handler != "" }) // a handler may have failed after it
	if len(steps) != 1 || steps[0].Handled != handled || steps[0].Kind != FailureExit {
		t.Errorf("failures %+v", p.broke)
	}
}

// A retry leads a case that onError has led into a failed state back to where it
// was, and sends again.
func TestRetryAfterOnError(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"run", "task"} {
		p := ran(t, ", onError: {to: broken}")
		o := p.c.Outbox[0]
		if name == "task" {
			name = o.Name()
		}
		if err := p.do("admin !retry " + name); err != nil || p.c.Shown() != Active || p.c.Status != "open" || !p.c.Sending() {
			t.Fatalf("%v: %s %s\n%s", err, p.c.Shown(), p.c.Status, LogText(p.log))
		}
		if err := p.event(answer(o, `{}`)); err != nil || p.c.Status != "done" || p.c.Shown() != Completed || len(p.mended) != 1 {
			t.Errorf("%v: %s %s %v", err, p.c.Shown(), p.c.Status, p.mended)
		}
	}
	// Another way out leaves nothing to be retried.
	p := ran(t, ", onError: {to: broken}")
	if err := p.do("sam give-up"); err != nil || p.c.Shown() != Active || p.c.Status != "manual" || p.c.Outbox != nil {
		t.Errorf("%v: %s %s %v", err, p.c.Shown(), p.c.Status, p.c.Outbox)
	}
}

// TestHandlersThatFailAreSeen: a handler that fails is told of and leaves a warning, which
// goes when the handler runs again, with the task that it is of, when the case leaves the
// state, and, of onError, when what had failed is tried again. It is mended only if it has
// run to its end. What onError could not do is told with what is escalated.
func TestHandlersThatFailAreSeen(t *testing.T) {
	t.Parallel()
	p := newPlay(t, parsed(t, `
states: {a: {type: start}, b: {}}
timers: {nag: {limit: PT1M, onExpire: [{set: {x: {cel: 'xattr.late'}}}, {log: nagged}]}}
actions:
  begin: {trigger: init, onFire: [{enableTimer: nag}]}
  on: {in: [a], allowed: everyone, onEnable: [{set: {x: {cel: 'xattr.enabled'}}}]}
  off: {in: [a], allowed: everyone, onUnEnable: [{set: {x: {cel: 'xattr.over'}}}]}
  again: {in: [a, b], allowed: everyone, to: a}
  fail: {in: [a, b], trigger: message, message: Go, onFire: [{set: {x: {cel: 'xattr.none'}}}], onError: {steps: [{set: {x: {cel: 'xattr.handler'}}}, {set: {x: {cel: 'xattr.second'}}}]}}
  out: {in: [a], allowed: everyone, to: b}
`))
	sources := func() (out string) {
		for _, w := range p.c.Warnings {
			text, _, _ := strings.Cut(w.Text, " failed: ")
			out += text + "; "
		}
		return out
	}
	events := func(list []Failure) (out string) {
		for i := range list {
			if f := &list[i]; f.Handler != "" {
				out += f.Handler + " " + string(f.Over) + "; "
			} else {
				out += f.Name + ": " + strconv.Itoa(strings.Count(f.Text, "onError of fail: ")) + "; "
			}
		}
		return out
	}
	const on, nag, over, failed = "onEnable of on; ", "Handler 1 of the timer nag; ", "onUnEnable of off; ", "onError of fail; onError of fail; "
	for _, test := range []struct{ do, want, broke, mended string }{
		{"start", on, "onEnable of on ; ", ""},
		{"+61s due", on + nag, "the timer nag ; ", ""},
		{"sam @Go {}", on + nag + failed, "fail: 2; ", ""},
		{"sam out", over, "onUnEnable of off ; ", "onEnable of on gone; the timer nag gone; onError of fail gone; "},
		{"sam enabled=1", over, "", ""},
		{"sam again", "", "", "onUnEnable of off gone; "},
		{"sam out", over, "onUnEnable of off ; ", ""},
		{"sam over=1", over, "", ""},
		{"sam handler=1", over, "", ""},
		{"admin !retry fail", over + "onError of fail; ", "fail: 1; ", ""},
		{"sam second=1", over + "onError of fail; ", "", ""},
		{"admin !retry fail", over, "fail: 0; ", "onError of fail mended; "},
		{"sam again", "", "", "onUnEnable of off gone; "},
		{"sam out", "", "", ""},
	} {
		if err := p.do(test.do); err != nil || sources() != test.want || events(p.broke) != test.broke || events(p.mended) != test.mended {
			t.Errorf("%s: %v: %q, want %q; broke %q, mended %q\n%s", test.do, err, sources(), test.want, events(p.broke), events(p.mended), LogText(p.log))
		}
		watched := slices.ContainsFunc(Tasks(p.c, p.r, actorNamed("sam")), func(task Task) bool { return task.OfCase && task.Lists&WatchedWarnings != 0 })
		if watched != (strings.Contains(test.want, over) || strings.Contains(test.want, nag)) {
			t.Errorf("%s: who started the case is shown the case for its warnings: %v", test.do, watched)
		}
	}
}

// What a handler of errors asks for and is not delivered does not call it again.
func TestErrorOfOnError(t *testing.T) {
	t.Parallel()
	p := ran(t, ", onError: {steps: [{exec: {command: x}}]}")
	if len(p.c.Outbox) != 2 {
		t.Fatalf("outbox %+v", p.c.Outbox)
	}
	o := p.c.Outbox[1]
	if err := p.event(Undelivered{Seq: o.Seq, Step: o.Step, Attempts: 1, Reason: "no", Kind: FailureExit, Status: 1}); err != nil || len(p.c.Outbox) != 2 || len(p.broke) != 1 {
		t.Errorf("%v: outbox %+v", err, p.c.Outbox)
	}
}

// What fails while the case is suspended is handled when it resumes.
func TestOnErrorAfterASuspension(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, strings.Replace(errorRoute, "%s", ", onError: {to: manual}", 1)))
	for _, step := range []string{"sam run", "admin !suspend"} {
		if err := p.do(step); err != nil {
			t.Fatal(err)
		}
	}
	o := p.c.Outbox[0]
	if err := p.event(Undelivered{Seq: o.Seq, Step: o.Step, Attempts: 1, Reason: "no", Kind: FailureExit, Status: 1}); err != nil || p.c.Status != "open" {
		t.Fatalf("%v: %s", err, p.c.Status)
	}
	if err := p.do("admin !resume"); err != nil || p.c.Status != "manual" || p.c.Shown() != Active || p.c.Outbox != nil {
		t.Errorf("%v: %s %s", err, p.c.Shown(), p.c.Status)
	}
}

// A fault of the engine's own performance is handled as what is not delivered is.
func TestOnErrorOfAFault(t *testing.T) {
	t.Parallel()
	text := func(on string) string {
		return `
states: {open: {type: start}, done: {type: complete}, broken: {type: failed}}
actions:
  begin: {trigger: init}
  count: {trigger: message, message: Number, in: [open], onFire: [{set: {n: {cel: 'int(message["Number"].n)'}}}], to: done` + on + `}
`
	}
	p := started(t, parsed(t, text(`, onError: {steps: [{set: {why: {cel: "error.step + ' ' + error.kind"}}}], to: broken}`)))
	if err := p.do(`sam @Number {"n": "x"}`); err != nil {
		t.Fatal(err)
	}
	if why, _ := p.c.Xattrs.Get("why"); p.c.Shown() != Failed || p.c.Status != "broken" || why.Text != "set fault" || len(p.broke) != 1 || p.broke[0].Step != "set" {
		t.Fatalf("%s %s %q %+v", p.c.Shown(), p.c.Status, why.Text, p.broke)
	}
	if err := p.do("sam !retry count"); !errs.Is(err, errs.NotAllowed) {
		t.Error(err)
	}
	if err := p.do("admin !retry count"); err != nil || p.c.Status != "broken" || len(p.broke) != 1 {
		t.Fatalf("%v: %s %s", err, p.c.Shown(), p.c.Status) // the same fault again
	}
	p.messages["Number"] = []byte(`{"n": "7"}`)
	if err := p.do("admin !retry count"); err != nil || p.c.Status != "done" || p.c.Shown() != Completed {
		t.Errorf("%v: %s %s\n%s", err, p.c.Shown(), p.c.Status, LogText(p.log))
	}
}

// A handler that leads to what fails again does so without end only for as long as
// an event may.
func TestOnErrorWithoutEnd(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, `
states: {open: {type: start}, a: {}, b: {}}
actions:
  begin: {trigger: init}
  go: {trigger: time, timeout: PT1H, in: [open], to: a}
  x: {trigger: auto, in: [a], onFire: [{set: {x: {cel: xattr.none}}}]}
  y: {trigger: auto, in: [b], to: a}
onError: {to: b}
`))
	p.script([]step{{"+1h due", "active b: | y"}})
	if p.c.Shown() != Failed {
		t.Errorf("the case is %s", p.c.Shown())
	}
}
