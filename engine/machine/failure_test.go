package machine

import (
	"testing"

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
	want.Output = ""
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
	if err := p.do("admin !abort count"); err != nil || p.c.Shown() != Active || len(p.mended) != 1 || p.mended[0].Name != "count" {
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
