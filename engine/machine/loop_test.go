package machine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// TestLoopOfPerson: a request that sets off a loop fails whole and names it.
func TestLoopOfPerson(t *testing.T) {
	t.Parallel()
	p := started(t, looping(t))
	err := p.do("sam go")
	e := asError(t, err)
	if diff := cmp.Diff(map[string]any{"actions": []string{"ping", "pong"}}, e.Extra); e.Kind != errs.EndlessLoop || diff != "" {
		t.Errorf("%v %s", e, diff)
	}
	if got, want := p.state(), "active s: go stop"; got != want {
		t.Errorf("state %s, want %s", got, want)
	}
}

// TestLoopOfSweeper: nobody waits for an answer, so the loop's last action
// is escalated. People can still lead the case out of it.
func TestLoopOfSweeper(t *testing.T) {
	t.Parallel()
	p := started(t, looping(t))
	p.script([]step{{"+24h due", "active b: stop | pong"}})
	escalated := p.c.Enabled[len(p.c.Enabled)-1]
	if escalated.Action != "pong" || escalated.State != Escalated || !escalated.Due.IsZero() {
		t.Errorf("row %+v", escalated)
	}
	if got := len(p.log) - 2; got != MaxPerformances+2 {
		t.Errorf("%d log entries, want one for each of %d performances and two more", got, MaxPerformances)
	}
	if failed := p.log[len(p.log)-1]; failed.Kind != LogLife || *failed.To != string(Failed) || p.c.Shown() != Failed {
		t.Errorf("log %s", LogText([]LogEntry{failed}))
	}
	last := p.log[len(p.log)-2]
	if last.Kind != LogError || *last.Action != "pong" || !strings.Contains(last.Text, "ping, pong") {
		t.Errorf("log %s", LogText([]LogEntry{last}))
	}
	p.script([]step{
		{"due", "active b: stop | pong"},
		{"admin pong", "!action-not-enabled"},
		{"sam stop", "active s: go stop"},
		{"sam go", "!endless-automatic-loop"},
	})
}

// TestLoopAtStart: a case that can't start is failed, as before its start.
func TestLoopAtStart(t *testing.T) {
	t.Parallel()
	r := makeRoute(t, []route.Role{role("who", rule(route.RuleStarter, ""))}, "a b",
		act{name: "ping", in: "a", trigger: route.TriggerAuto, to: "b"}, act{name: "pong", in: "b", trigger: route.TriggerAuto, to: "a"})
	p := started(t, r)
	if got, want := p.state()+fmt.Sprint(p.c.Roles, p.c.Performed, p.c.Started.IsZero(), p.c.Version), "failed :[] [] true 2"; got != want {
		t.Errorf("case %s, want %s", got, want)
	}
	if len(p.log) != 3 || p.log[1].Kind != LogError || p.log[2].Kind != LogLife || *p.log[2].To != string(Failed) {
		t.Errorf("log %s", LogText(p.log))
	}
	p.script([]step{{"start", "!case-not-open"}, {"due", "failed :"}, {"sam ping", "!case-not-open"}, {"cancel", "!not-allowed"}})
	if err := p.event(Cancel{Actor: actorNamed("admin")}); err != nil || p.c.Life != Canceled {
		t.Errorf("an administrator gives it up: %v, %s", err, p.c.Life)
	}
}

// TestManyLoops: beyond the limit all that is due is escalated, so that a
// sweep always ends with nothing due. The sentence names a few.
func TestManyLoops(t *testing.T) {
	t.Parallel()
	acts := []act{{name: "go", in: "s", allowed: everybody(), timeout: "P1D", to: "a"}}
	for i := range 20 {
		acts = append(acts, act{name: fmt.Sprintf("self%02d", i), in: "a", trigger: route.TriggerTime, timeout: "PT0S"})
	}
	p := started(t, makeRoute(t, nil, "s a", acts...))
	e := asError(t, p.do("sam go"))
	if got, ok := e.Extra["actions"].([]string); !ok || len(got) != 20 || !strings.Contains(e.Detail, "self09 and 10 more") {
		t.Errorf("%v names %v", e, got)
	}
	if err := p.do("+24h due"); err != nil {
		t.Fatal(err)
	}
	for _, row := range p.c.Enabled {
		if row.State != Escalated {
			t.Errorf("%s is %s", row.Action, row.State)
		}
	}
	if due := p.c.NextDue(); !due.IsZero() || len(p.c.Enabled) != 20 {
		t.Errorf("%d rows, due %v", len(p.c.Enabled), due)
	}
}
