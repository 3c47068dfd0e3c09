package machine

import (
	"fmt"
	"strings"
	"testing"
)

// costlyRoute has guards that each cost as much as an evaluation may.
func costlyRoute(guards int) string {
	var b strings.Builder
	b.WriteString("timers: {tick: {limit: PT1H, onExpire: [{set: {t: 1}}, {enableTimer: tick}]}}\n")
	b.WriteString("states: {a: {type: start}, done: {type: complete}}\nactions:\n  begin: {trigger: init, onFire: [{enableTimer: tick}]}\n  go: {in: [a], allowed: everyone, to: done}\n")
	const ten = "[1,2,3,4,5,6,7,8,9,10]"
	for i := range guards {
		fmt.Fprintf(&b, "  g%d: {in: [a], allowed: everyone, to: done, guard: 'has(xattr.t) && %s.all(a, %s.all(b, %s.all(c, a + b + c > %d)))'}\n", i, ten, ten, ten, -i)
	}
	return b.String()
}

// TestCostlyEvent: a case whose timer has its expressions cost more than those of an event
// may is suspended, and says why; until a person resumes it nothing comes again.
func TestCostlyEvent(t *testing.T) {
	t.Parallel()
	p := newPlay(t, parsed(t, costlyRoute(40)))
	if err := p.do("start"); err != nil {
		t.Fatal(err)
	}
	var spent uint64
	out, _, err := Decide(Input{Route: p.r, Case: p.c, Event: Due{}, Now: p.c.NextDue(), Spent: &spent})
	if err != nil {
		t.Fatal(err)
	}
	if spent < MaxCost || spent > MaxCost+20_000 {
		t.Errorf("the event cost %d", spent)
	}
	if out.Case.Life != Suspended || !out.Case.NextDue().IsZero() {
		t.Errorf("the case is %s, and due at %s", out.Case.Life, out.Case.NextDue())
	}
	if said := string(LogText(out.Log)); strings.Count(said, "so the case is suspended") != 1 || len(out.Case.Unevaluated()) == 0 {
		t.Errorf("the log says\n%s", said)
	}
	if err := p.do("+1h due"); err != nil || p.c.Life != Suspended {
		t.Fatalf("%v, %s", err, p.c.Life)
	}
	if err := p.do("admin go"); err == nil {
		t.Error("a suspended case was performed")
	}
}

// TestDearEvent: what stays within the limit goes on, however often it comes.
func TestDearEvent(t *testing.T) {
	t.Parallel()
	p := newPlay(t, parsed(t, costlyRoute(5)))
	if err := p.do("start"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := p.do("+1h due"); err != nil || p.c.Life != Active {
			t.Fatalf("%v, %s", err, p.c.Life)
		}
	}
}
