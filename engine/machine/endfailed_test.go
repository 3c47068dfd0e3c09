package machine

import (
	"slices"
	"testing"
)

// TestOnErrorOfACompletedCase: the log of a case that onError has led from one complete
// state into one of the type failed says that it has failed, and after it was tried again
// that it is completed.
func TestOnErrorOfACompletedCase(t *testing.T) {
	t.Parallel()
	p := ranOn(t, `
roles: {all: {assign: [starter]}}
states: {open: {type: start}, good: {type: complete}, broken: {type: failed}}
onError: {to: broken}
actions:
  begin: {trigger: init}
  run: {in: [open], role: all, to: good, onFire: [{exec: {command: x}}]}
`)
	lives := func() (out []string) {
		for _, e := range p.log {
			if e.Kind == LogLife && e.From != nil && e.To != nil {
				out = append(out, *e.From+" → "+*e.To+": "+e.Text)
			}
		}
		return out
	}
	if p.c.Shown() != Failed || !slices.Contains(lives(), "completed → failed: Failed") {
		t.Fatalf("it is %s in %s: %q", p.c.Shown(), p.c.Status, lives())
	}
	o := p.c.Outbox[0]
	if err := p.do("admin !retry run"); err != nil || p.c.Status != "good" || p.c.Shown() != Completed {
		t.Fatalf("%v: it is %s in %s: %q", err, p.c.Shown(), p.c.Status, lives())
	}
	if err := p.event(answer(o, `{}`)); err != nil || p.c.Shown() != Completed || !slices.Contains(lives(), "failed → completed: Completed") {
		t.Errorf("%v: it is %s in %s: %q", err, p.c.Shown(), p.c.Status, lives())
	}
}
