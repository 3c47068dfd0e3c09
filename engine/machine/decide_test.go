package machine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// TestStartLeadsToStart: the init action's destination defaults to the start

// state.

// TestPerformRefused: in the order of docs/contract/engine.md#checks, with what
// helps.

func TestPerformRefused(t *testing.T) {
	t.Parallel()
	p := started(t, bug(t))
	for _, s := range []string{"admin resolve", "+1m sam close"} {
		if err := p.do(s); err != nil {
			t.Fatal(err)
		}
	}
	perform := func(action, actor string, xattrs ...Change) *errs.Error {
		t.Helper()
		e := asError(t, p.event(Perform{Action: action, Actor: actorNamed(actor), Xattrs: xattrs}))
		return e
	}
	if e := perform("reslove", "ann"); e.Kind != errs.NotFound || !strings.Contains(e.Detail, `"resolve"`) {
		t.Errorf("unknown: %v", e)
	}
	e := perform("close", "ann")
	want := map[string]any{"enabled": []string{"comment", "edit", "reopen"}, "performedBy": "sam", "performedAt": "2012-11-09T12:35:56Z"}
	if diff := cmp.Diff(want, e.Extra); e.Kind != errs.ActionNotEnabled || diff != "" {
		t.Errorf("performed by another: %v %s", e, diff)
	}
	if e := perform("reopen", "ann", Change{Key: "a"}); e.Kind != errs.NotAllowed {
		t.Errorf("not allowed: %v", e)
	}
	if e := perform("reopen", "sam", Change{Key: "a"}); e.Kind != errs.Invalid || e.Faults[0].Pointer != "/xattrDict" {
		t.Errorf("XATTRs for an action without form: %v", e)
	}

	fresh := started(t, bug(t))
	e = asError(t, fresh.do("sam reopen"))
	if _, faster := e.Extra["performedBy"]; e.Kind != errs.ActionNotEnabled || faster {
		t.Errorf("not enabled yet: %v %v", e, e.Extra)
	}
	if err := newPlay(t, bug(t)).do("sam comment"); !errs.Is(err, errs.CaseNotOpen) {
		t.Errorf("queued: %v", err)
	}
	p.script([]step{{"sam reopen", "active open: comment edit resolve"}, {"cancel", "canceled open:"}, {"admin comment", "!case-not-open"}, {"admin nothing", "!not-found"}})
}

// TestNotForPeople: what is not offered is nobody's, an administrator's

// neither.

func TestNotForPeople(t *testing.T) {
	t.Parallel()
	p := started(t, timed(t))
	p.script([]step{
		{"admin nag", "!action-not-enabled"},
		{"admin open", "!action-not-enabled"},
		{"sam stay", "active a: stay go | nag"},
	})
	if MayPerform(p.c, p.r, "nag", actorNamed("admin")) || !MayPerform(p.c, p.r, "go", actorNamed("ann")) || MayPerform(p.c, p.r, "gone", actorNamed("admin")) {
		t.Error("MayPerform is wrong about who may")
	}
}

// TestAssignmentLater: a role keeps whom it has; one that has nobody is tried

// again after every performance, and only then.

// TestNeedsOfPerform: a person's performance needs facts as well.

// TestUndo: a snapshot brings everything back that a performance changes.

func TestUndo(t *testing.T) {
	t.Parallel()
	p := started(t, bug(t))
	d, err := begin(Input{Route: p.r, Case: p.c, Event: Due{}, Now: p.now.Add(time.Hour), Facts: factsOfTests()})
	if err != nil {
		t.Fatal(err)
	}
	before := d.savepoint()
	if err := d.performances().perform(performance{action: p.r.Action("resolve"), enablement: 3, trigger: ByTime}); err != nil {
		t.Fatal(err)
	}
	if err := d.bringToRest(); err != nil || d.c.Status != "resolved" {
		t.Fatalf("status %s, err %v", d.c.Status, err)
	}
	d.rollBack(before)
	if err := d.bringToRest(); err != nil {
		t.Fatal(err)
	}
	out := d.output()
	if diff := cmp.Diff(p.c, out.Case); diff != "" || len(out.Log) != 0 {
		t.Errorf("undone (-before +after): %s", diff)
	}
}

// TestWideRoute: many actions are found as few are.

func TestWideRoute(t *testing.T) {
	t.Parallel()
	const n = 100
	var acts []act
	for i := range n {
		acts = append(acts, act{name: fmt.Sprintf("x%02d", i), in: "a", allowed: everybody()})
	}
	p := started(t, makeRoute(t, nil, "a", acts...))
	for _, s := range []string{"sam x50", "sam x00"} {
		if err := p.do(s); err != nil {
			t.Fatal(err)
		}
	}
	if p.c.Enabled[n-2].Action != "x50" || p.c.Enabled[n-1].Action != "x00" || p.c.LastNumber != n+2 {
		t.Errorf("rows %v", p.c.Enabled[n-3:])
	}
	if names := enabledFor(p.c, p.r, people); len(names) != n || names[0] != "x00" || names[n-1] != "x99" {
		t.Errorf("enabled %v", names)
	}
	// A row of an action that the route does not have goes with the next pass.
	p.c.Enabled[3].Action = "lost"
	if err := p.do("due"); err != nil || p.c.LastNumber != n+3 {
		t.Errorf("err %v, last row %d", err, p.c.LastNumber)
	}
}

// TestUserActionWithTimeout: people may perform it until time does.

func TestUserActionWithTimeout(t *testing.T) {
	t.Parallel()
	r := makeRoute(t, nil, "a b!", act{name: "agree", past: "Agreed", in: "a", allowed: everybody(), timeout: "PT1H", to: "b"})
	p := started(t, r)
	p.script([]step{{"+59m due", "active a: agree"}, {"+1m due", "completed b:"}})
	e := p.log[2]
	if *e.Actor != ActorTimer || *e.Trigger != ByTime || *e.From != "a" || *e.To != "b" {
		t.Errorf("log %s", LogText(p.log))
	}
	if got := p.c.performed("agree"); got.By != "" || got.Count != 1 {
		t.Errorf("performed %+v", got)
	}
	p = started(t, r)
	p.script([]step{{"+30m ann agree", "completed b:"}, {"+30m due", "completed b:"}})
	if e := p.log[2]; *e.Actor != "ann" || *e.Trigger != ByUser {
		t.Errorf("log %s", LogText(p.log))
	}
}

// TestDueBeforePeople: what is due is performed inside the pass of whatever

// event comes first, after that event itself.

func TestDueBeforePeople(t *testing.T) {
	t.Parallel()
	p := started(t, timed(t))
	p.script([]step{{"+168h sam stay", "active a: stay go | nag"}, {"due", "active a: stay go | nag"}, {"wake", "active a: stay go | nag"}})
	if got, want := p.texts()[2:], []string{"sam Stayed", "timer Nagged"}; !cmp.Equal(got, want) {
		t.Errorf("log %q, want %q", got, want)
	}
}

// TestVisits: a visit begins whenever a state is entered; what stays enabled

// keeps its row.

func TestVisits(t *testing.T) {
	t.Parallel()
	r := makeRoute(t, nil, "a b", act{name: "again", in: "a", allowed: everybody(), to: "a"},
		act{name: "keep", in: "a", enabledIn: "b", allowed: everybody()},
		act{name: "stay", in: "a", allowed: everybody()}, act{name: "leave", in: "a", allowed: everybody(), to: "b"})
	p := started(t, r)
	rows := func() string {
		out := fmt.Sprint(p.c.Visit)
		for _, e := range p.c.Enabled {
			out += fmt.Sprintf(" %s=%d", e.Action, e.Number)
		}
		return out
	}
	for _, test := range []step{
		{"", "1 again=1 keep=2 stay=3 leave=4"},
		{"sam again", "2 keep=2 stay=3 leave=4 again=5"},
		{"sam stay", "2 keep=2 leave=4 again=5 stay=6"},
		{"sam leave", "3 keep=2"},
	} {
		if err := p.do(test.do); err != nil {
			t.Fatal(err)
		}
		if got := rows(); got != test.want {
			t.Errorf("%s: %s, want %s", test.do, got, test.want)
		}
	}
}

// TestNowNeverGoesBack: a clock that steps back leaves the case's times in

// order.

func TestNowNeverGoesBack(t *testing.T) {
	t.Parallel()
	p := started(t, bug(t))
	modified := p.c.Modified
	p.now = p.now.Add(-time.Hour)
	p.script([]step{{"sam comment", "active open: comment edit resolve"}})
	if !p.c.Modified.Equal(modified) {
		t.Errorf("modified %v, want %v", p.c.Modified, modified)
	}
}

// TestNowNeverGoesBackBehindChildren: what the children's end has made due
// waits for no clock that stepped back meanwhile.
func TestNowNeverGoesBackBehindChildren(t *testing.T) {
	t.Parallel()
	w := family(t, []step{
		{"sam !suspend", "suspended asking | ask; 18 suspended open"},
		{"+1h", "="},
		{"sam !cancel 18", "suspended asking | ask; 18 canceled open"},
	}, "outer", `
states: {asking: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  ask: {in: [asking], child: {route: asks, roles: {}}, to: done}
`, "asks", "states: {open: {type: start}, done: {type: complete}}\nactions:\n  begin: {trigger: init}\n  give: {in: [open], allowed: everyone, to: done}\n")
	w.now = w.now.Add(-30 * time.Minute)
	w.script([]step{{"sam !resume", "completed done; 18 canceled open"}})
	for i, entry := range w.logs[17] {
		if i > 0 && entry.Time.Before(w.logs[17][i-1].Time) {
			t.Errorf("the log goes back from %s to %s", w.logs[17][i-1].Time, entry.Time)
		}
	}
}

// TestChildrenThatEndLater: an action is due when its children have ended, though a
// clock that stepped back says that this is still to come, and though its case was
// suspended with a parent whose clock had not gone so far.
func TestChildrenThatEndLater(t *testing.T) {
	t.Parallel()
	end := time.Date(2012, 11, 9, 12, 34, 57, 0, time.UTC)
	for state, want := range map[TaskState]time.Time{Running: end, Escalated: {}, Waiting: {}} {
		c := &Case{Life: Active, Enabled: []Enabled{{Number: 1, Action: "ask", State: state, Children: &ChildSummary{Total: 1, Made: 1, Canceled: 1, Finished: end}}}}
		if due := c.NextDue(); !due.Equal(want) {
			t.Errorf("%s: due %v, want %v", state, due, want)
		}
	}
}

// TestNeverDue: a time that no date can carry never comes.

func TestNeverDue(t *testing.T) {
	t.Parallel()
	p := started(t, makeRoute(t, nil, "a", act{name: "x", in: "a", trigger: route.TriggerTime, timeout: "P9999Y"}))
	if due := p.c.NextDue(); !due.IsZero() {
		t.Errorf("due %v", due)
	}
	p.script([]step{{"due", "active a: | x"}})
}

// TestDecideDefects: what the shell must not ask is an error, not a panic.

func TestDecideDefects(t *testing.T) {
	t.Parallel()
	r, c := bug(t), newPlay(t, bug(t)).c
	lost := started(t, r).c.clone()
	lost.Status = "gone"
	noInit := *r
	noInit.Init = 99
	for name, test := range map[string]struct {
		in   Input
		want errs.Kind
	}{
		"nothing":   {Input{}, errs.Internal},
		"no case":   {Input{Route: r, Event: Start{}}, errs.Internal},
		"no event":  {Input{Route: r, Case: c}, errs.Internal},
		"no init":   {Input{Route: &noInit, Case: c, Event: Start{}}, errs.Internal},
		"no status": {Input{Route: r, Case: lost, Event: Due{}}, errs.Internal},
	} {
		if out, needs, err := Decide(test.in); out != nil || needs != nil || !errs.Is(err, test.want) {
			t.Errorf("%s: %v %v %v, want %s", name, out, needs, err, test.want)
		}
	}
}
