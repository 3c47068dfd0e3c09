package machine

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
)

// TestReopen: a canceled case has its former status again, in a visit of its
// own, is enabled afresh, and does not enter the status.
func TestReopen(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, `
roles: {r: {assign: [starter]}}
states: {a: {type: start}, b: {onEnter: [{log: entered}]}, c: {type: complete}}
actions:
  open: {trigger: init}
  go: {in: [a], role: r, to: b, past: Gone}
  one: {role: r, past: One}
  two: {role: r}
  nag: {in: [b], trigger: time, timeout: PT1H, past: Nagged, max: 1}
  free: {in: [b], role: r, choice: c}
  bound: {in: [b], role: r, choice: c}
transitions:
  - {from: b, to: c, requires: [one, two]}
`))
	p.script([]step{
		{"sam go", "active b: one two free bound | nag"},
		{"sam one", "active b: two free bound | nag"},
		{"sam free", "active b: two free | nag"},
		{"+30m admin !cancel", "canceled b:"},
		{"+2h due", "canceled b:"},
	})
	visit, row, before := p.c.Visit, p.c.LastNumber, len(p.log)
	p.script([]step{{"admin !reopen", "active b: one two free bound | nag"}, {"+59m due", "active b: one two free bound | nag"}, {"+1m due", "active b: one two free bound"}})
	if p.c.Visit != visit+1 || p.c.Enabled[0].Number <= row {
		t.Errorf("visit %d with the row %d; want a new visit and new rows", p.c.Visit, p.c.Enabled[0].Number)
	}
	if got, want := p.texts()[before:], []string{"admin Reopened", "timer Nagged"}; !cmp.Equal(got, want) {
		t.Errorf("log %q, want %q", got, want)
	}
	p.script([]step{{"sam one", "active b: two free bound"}, {"sam two", "completed c:"}})
}

// TestReopenUnstarted: what never started is queued again.
func TestReopenUnstarted(t *testing.T) {
	t.Parallel()
	newPlay(t, bug(t)).script([]step{
		{"cancel", "canceled :"}, {"admin !reopen", "queued :"}, {"start", "active open: comment edit resolve"},
	})
}

// TestReopenByActions: a completed case names the actions that reopen it.
func TestReopenByActions(t *testing.T) {
	t.Parallel()
	p := started(t, bug(t))
	p.script([]step{{"admin resolve", "active resolved: comment edit resolve reopen close"}, {"sam close", "completed closed: comment edit reopen"}})
	e := asError(t, p.do("admin !reopen"))
	if e.Kind != errs.CaseNotOpen || !strings.HasSuffix(e.Detail, "one of these actions: reopen.") || !cmp.Equal(e.Extra["actions"], []string{"reopen"}) {
		t.Errorf("got %v %v", e, e.Extra)
	}
	p = started(t, parsed(t, `
xattrs: {n: {type: number, default: 0}}
states: {a: {type: complete}, b: {type: start}}
actions:
  open: {trigger: init, to: a}
  decides: {in: [a], allowed: [everyone], decide: "xattr.n > 1 ? 'x' : 'y'", outputs: {x: b, y: }}
  waits: {in: [a], allowed: [everyone], guard: "false", to: b}
  stays: {in: [a], allowed: [everyone]}
  half: {allowed: [everyone]}
transitions: [{from: a, to: b, requires: [half]}]
`))
	e = asError(t, p.do("admin !reopen"))
	if !cmp.Equal(e.Extra["actions"], []string{"decides", "half"}) {
		t.Errorf("got %v %v", e, e.Extra)
	}
	p = started(t, parsed(t, "model: dependency\nactions: {end: {allowed: [everyone], final: true}, more: {always: true, allowed: [everyone], max: unlimited}}\n"))
	p.script([]step{{"sam end", "completed : more"}})
	e = asError(t, p.do("admin !reopen"))
	if !strings.Contains(e.Detail, "no action that is enabled now reopens it") {
		t.Errorf("got %v", e)
	}
}

// TestReopenDependency: the dependency model has one visit for life, and what
// was performed stays so.
func TestReopenDependency(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, "model: dependency\nroles: {r: {assign: [starter]}}\nactions: {a: {role: r}, b: {role: r, after: [a]}, c: {role: r, choice: x}, d: {role: r, choice: x}}\n"))
	p.script([]step{{"sam a", "active : b c d"}, {"sam c", "active : b"}, {"cancel", "canceled :"}, {"admin !reopen", "active : b"}, {"sam b", "completed :"}})
	if p.c.Visit != 1 {
		t.Errorf("visit %d", p.c.Visit)
	}
}

// TestRetryStart: what could not start is queued again, by the present
// version of its route.
func TestRetryStart(t *testing.T) {
	t.Parallel()
	broken := parsed(t, `
roles: {gone: {assign: [starter]}, kept: {}}
states: {a: {type: start}, b: {}}
actions: {open: {trigger: init}, ping: {in: [a], trigger: auto, to: b}, pong: {in: [b], trigger: auto, to: a}}
`)
	mended := parsed(t, `
xattrs: {n: {type: number, default: 5}}
roles: {kept: {assign: [starter]}}
states: {a: {type: start}}
actions: {open: {trigger: init}, look: {in: [a], role: kept}}
`)
	p := &play{t: t, r: broken, c: seed(), now: startOfTests(), messages: map[string][]byte{}}
	p.c.Roles = []Players{{Role: "gone", Parties: []string{"ann"}}, {Role: "kept", Parties: []string{"bob"}}}
	if err := p.event(Create{}); err != nil {
		t.Fatal(err)
	}
	p.script([]step{{"start", "failed :"}, {"+1h admin !reopen", "queued :"}, {"start", "failed :"}})
	p.r = mended
	before := len(p.log)
	if err := p.event(Reopen{Actor: actorNamed("admin"), Version: 4}); err != nil {
		t.Fatal(err)
	}
	p.script([]step{{"+1m start", "active a: look"}})
	if n, _ := p.c.Xattrs.Get("n"); p.c.RouteVersion != 4 || n.Text != "5" || len(p.c.Roles) != 1 || !cmp.Equal(p.c.RoleParties("kept"), []string{"bob"}) {
		t.Errorf("case %s", p.c.Marking())
	}
	if !p.c.Started.Equal(startOfTests().Add(time.Hour + time.Minute)) {
		t.Errorf("started %v", p.c.Started)
	}
	if got, want := p.texts()[before:], []string{"admin Retried", "sam open"}; !cmp.Equal(got, want) {
		t.Errorf("log %q, want %q", got, want)
	}
}

// told is an event of a case of a tree, and what the tree looks like then, or
// "!" with the kind of the refusal.
type told struct {
	id    int64
	event Event
	want  string
}

// goes plays the events, and compares what the case id and its children look
// like after each.
func (w *world) goes(t *testing.T, id int64, steps []told) {
	t.Helper()
	for _, step := range steps {
		err := w.event(step.id, step.event)
		w.run()
		got := w.show(id)
		if err != nil {
			got = "!" + string(errs.KindOf(err))
		}
		if got != step.want {
			t.Fatalf("%T of case %d:\n got %s\nwant %s (%v)", step.event, step.id, got, step.want, err)
		}
	}
}

// TestReopenChild: a canceled child is taken back while the enablement that
// created it exists, and counts again; not later
// (docs/contract/engine.md#completion-and-reopening).
func TestReopenChild(t *testing.T) {
	t.Parallel()
	w := tip(t)
	w.teams["core"] = []string{"bob", "cy", "dan"}
	id := w.start("tip", nil)
	admin := actorNamed("admin")
	w.goes(t, id, []told{
		{18, Cancel{Actor: admin}, "active voting | vote; 18 canceled open, 19 active open, 20 active open"},
		{18, Reopen{Actor: admin}, "active voting | vote; 18 active open, 19 active open, 20 active open"},
		{18, Perform{Action: "approve", Actor: actorNamed("bob")}, "active voting | vote; 18 completed approved, 19 active open, 20 active open"},
		{20, Cancel{Actor: admin}, "active voting | vote; 18 completed approved, 19 active open, 20 canceled open"},
		{id, Suspend{Actor: admin}, "suspended voting | vote; 18 completed approved, 19 suspended open, 20 canceled open"},
		{20, Reopen{Actor: admin}, "!case-not-open"},
		{id, Resume{Actor: admin}, "active voting | vote; 18 completed approved, 19 active open, 20 canceled open"},
		{19, Perform{Action: "approve", Actor: actorNamed("cy")}, "completed approved; 18 closed approved, 19 closed approved, 20 canceled open"},
		{20, Reopen{Actor: admin}, "!case-not-open"},
		{19, Reopen{Actor: admin}, "!case-not-open"},
	})
}

// TestReopenParent: a case that was canceled while it waited for its children
// waits for new ones (docs/contract/engine.md#completion-and-reopening).
func TestReopenParent(t *testing.T) {
	t.Parallel()
	w := tip(t)
	w.teams["core"] = []string{"bob", "cy"}
	id := w.start("tip", nil)
	admin := actorNamed("admin")
	w.goes(t, id, []told{
		{18, Perform{Action: "approve", Actor: actorNamed("bob")}, "active voting | vote; 18 completed approved, 19 active open"},
		{id, Cancel{Actor: admin}, "canceled voting; 18 closed approved, 19 canceled open"},
		{18, Reopen{Actor: admin}, "!case-not-open"},
		{id, Reopen{Actor: admin}, "active voting | vote; 18 closed approved, 19 canceled open, 20 active open, 21 active open"},
		{id, Cancel{Actor: admin}, "canceled voting; 18 closed approved, 19 canceled open, 20 canceled open, 21 canceled open"},
		{id, Reopen{Actor: admin}, "active voting | vote; 18 closed approved, 19 canceled open, 20 canceled open, 21 canceled open, 22 active open, 23 active open"},
		{22, Perform{Action: "reject", Actor: actorNamed("bob")}, "active voting | vote; 18 closed approved, 19 canceled open, 20 canceled open, 21 canceled open, 22 completed rejected, 23 active open"},
		{23, Perform{Action: "reject", Actor: actorNamed("cy")}, "completed rejected; 18 closed approved, 19 canceled open, 20 canceled open, 21 canceled open, 22 closed rejected, 23 closed rejected"},
	})
}

// TestReopenRefused: what is refused when the case is reopened is asked for
// again, also after it was canceled in between.
func TestReopenRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, named(t, "poll", `
xattrs: {ready: {type: boolean, default: true}}
roles: {r: {assign: [starter]}}
states: {a: {type: start}, meanwhile: {}, b: {type: complete}}
actions:
  begin: {trigger: init}
  ask: {in: [a], enableIf: xattr.ready, child: {route: answer, while: meanwhile}, to: b}
`), named(t, "answer", `
roles: {r: {assign: [starter]}}
states: {open: {type: start}, given: {type: complete}}
actions: {begin: {trigger: init}, give: {in: [open], role: r, to: given}}
`))
	id := w.start("poll", nil)
	admin := actorNamed("admin")
	ready := func(text string) Event {
		return Edit{Actor: admin, Xattrs: new(label.Dict{}.Set("ready", label.Value{Kind: document.Bool, Text: text}))}
	}
	w.goes(t, id, []told{
		{id, Cancel{Actor: admin}, "canceled meanwhile; 18 canceled open"},
		{id, ready("false"), "canceled meanwhile; 18 canceled open"},
		{id, Reopen{Actor: admin}, "active meanwhile; 18 canceled open"},
		{id, Cancel{Actor: admin}, "canceled meanwhile; 18 canceled open"},
		{id, Reopen{Actor: admin}, "active meanwhile; 18 canceled open"},
		{id, ready("true"), "active meanwhile | ask; 18 canceled open, 19 active open"},
		{19, Perform{Action: "give", Actor: actorNamed("sam")}, "completed b; 18 canceled open, 19 closed given"},
	})
}
