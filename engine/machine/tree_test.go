package machine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
	"flowdrive/route"
)

func TestTIP(t *testing.T) {
	t.Parallel()
	w := tip(t)
	id := w.start("tip", nil)
	check := func(want string) {
		t.Helper()
		if got := w.show(id); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
	check("active voting | vote; 18 active open, 19 active open")
	if got := w.cases[18].Title + w.cases[19].Title; got != "A case (bob)A case (cy)" {
		t.Errorf("titles %q", got)
	}
	if err := w.perform(18, "cy", "approve"); refusal(err) != "not-allowed" {
		t.Errorf("another's vote: %v", err)
	}
	if err := w.perform(18, "bob", "approve"); err != nil {
		t.Fatal(err)
	}
	check("active voting | vote; 18 completed approved, 19 active open")
	w.pass(7*24*time.Hour - time.Second)
	check("active voting | vote; 18 completed approved, 19 active open")
	w.pass(time.Second)
	check("completed approved; 18 closed approved, 19 closed abstained")
	if err := w.perform(18, "bob", "reject"); refusal(err) != "case-not-open" {
		t.Errorf("a vote of a closed case: %v", err)
	}
}

func TestWithdraw(t *testing.T) {
	t.Parallel()
	w := tip(t)
	id := w.start("tip", nil)
	if err := w.perform(19, "cy", "reject"); err != nil {
		t.Fatal(err)
	}
	if err := w.perform(id, "sam", "withdraw"); err != nil {
		t.Fatal(err)
	}
	if got, want := w.show(id), "completed withdrawn; 18 canceled open, 19 closed rejected"; got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
}

// TestManyChildren: 100,000 children are created, ended and tallied in
// batches, without looking at all of them at once.
func TestManyChildren(t *testing.T) {
	t.Parallel()
	const many = 3000 // the test of the store has more
	w := tip(t)
	var voters []string
	for i := range many {
		voters = append(voters, fmt.Sprintf("v%06d", i))
	}
	w.teams["core"] = voters
	id := w.start("tip", nil)
	if got := len(w.cases); got != many+1 {
		t.Fatalf("%d cases", got)
	}
	if w.most > 2*Batch {
		t.Errorf("a transaction changed %d cases", w.most)
	}
	if c := w.cases[id]; c.Enabled[0].Children.open() != many || len(c.Children) != maxChildLines || c.ChildrenCount != many {
		t.Fatalf("%+v", c.Enabled[0].Children)
	}
	for i := range 3 {
		if err := w.perform(int64(18+i), fmt.Sprintf("v%06d", i), "reject"); err != nil {
			t.Fatal(err)
		}
	}
	if c := w.cases[id]; c.Status != "rejected" || len(c.Work) != 0 {
		t.Fatalf("status %s, %v", c.Status, c.Work)
	}
	for _, c := range w.cases {
		if c.ID != id && c.Life != Canceled && c.Life != Closed {
			t.Fatalf("case %d is %s", c.ID, c.Life)
		}
	}
	if w.scans > 0 {
		t.Errorf("%d scans", w.scans)
	}
}

// TestSuspendTree: a case is suspended while an ancestor is, and its own mark
// is its own (docs/contract/engine.md#suspension).
func TestSuspendTree(t *testing.T) {
	t.Parallel()
	w := tip(t)
	id := w.start("tip", nil)
	admin := actorNamed("admin")
	do := func(id int64, e Event, want string) {
		t.Helper()
		if got := refusal(w.event(id, e)); got != want {
			t.Fatalf("%T of case %d: %q, want %q", e, id, got, want)
		}
		w.run()
	}
	check := func(want string) {
		t.Helper()
		if got := w.show(id); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
	do(19, Suspend{Actor: admin}, "")
	check("active voting | vote; 18 active open, 19 suspended open")
	do(id, Suspend{Actor: admin}, "")
	check("suspended voting | vote; 18 suspended open, 19 suspended open")
	do(18, Perform{Action: "approve", Actor: actorNamed("bob")}, "case-not-open")
	do(18, Resume{Actor: admin}, "case-not-open")
	w.pass(8 * 24 * time.Hour)
	check("suspended voting | vote; 18 suspended open, 19 suspended open")
	do(id, Resume{Actor: admin}, "")
	check("active voting | vote; 18 completed abstained, 19 suspended open")
	do(19, Resume{Actor: admin}, "")
	check("completed rejected; 18 closed abstained, 19 closed abstained")
}

// suspendable is a world in which case 17 has started case 18, which has
// completed and waits for case 19, for its guard and for a letter.
func suspendable(t *testing.T) *world {
	t.Helper()
	const each = `roles: {r: {from: r, each: per_user}}`
	w := newWorld(t, named(t, "top", `
roles: {r: {assign: [starter]}}
states: {a: {type: start}, z: {type: complete}}
actions:
  begin: {trigger: init}
  k: {in: [a], child: {route: mid, `+each+`}, guard: 'case.title == ""', to: z}
`), named(t, "mid", `
xattrs: {open: {type: boolean, default: false}}
roles: {r: {}}
states: {a: {type: start}, c: {type: complete}, d: {type: complete}, e: {type: complete}}
actions:
  begin: {trigger: init}
  k: {in: [a], child: {route: leaf, `+each+`, while: c}, to: d}
  go: {in: [c], trigger: auto, guard: xattr.open, to: e}
  letter: {in: [c], trigger: message, message: m, to: e}
`), named(t, "leaf", `
roles: {r: {}}
states: {a: {type: start}, z: {type: complete}}
actions:
  begin: {trigger: init}
  end: {in: [a], role: r, to: z}
`))
	w.start("top", nil)
	return w
}

// TestSuspendCompleted: a case that has completed stays so while an ancestor is
// suspended, and is no more passed over than others: neither the end of its
// last child nor what people may change then has it perform anything.
func TestSuspendCompleted(t *testing.T) {
	t.Parallel()
	admin := actorNamed("admin")
	set := SetTimer{Timer: "state", Actor: admin, Limit: route.Limit{Kind: route.RelativeLimit, After: time.Minute}}
	xattrs := &label.Dict{{Key: "open", Value: label.Value{Kind: document.Bool, Text: "true"}}}
	for name, test := range map[string]struct {
		id      int64
		event   Event
		resumed string // the case in the middle, once everything goes on
	}{
		"its child ends": {19, Cancel{Actor: admin}, "completed d"},
		"a guard":        {18, Edit{Actor: admin, Xattrs: xattrs}, "completed e"},
		"a message":      {18, Wake{Actor: admin, Label: "m"}, "completed e"},
		"a timer":        {18, set, "completed c | k go letter"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := suspendable(t)
			const top = 17
			show := func() string { s, _, _ := strings.Cut(w.show(18), ";"); return s }
			for _, e := range []happened{{id: top, e: Suspend{Actor: admin}}, {id: test.id, e: test.event}} {
				if err := w.event(e.id, e.e); err != nil {
					t.Fatal(err)
				}
				w.pass(time.Hour)
				if got, want := show(), "completed c | k go letter"; got != want {
					t.Fatalf("after %T: %s, want %s\n%s", e.e, got, want, LogText(w.logs[18]))
				}
			}
			timer := compact(t, TimerForm(w.cases[18], w.definitionOf(w.cases[18]), "state"))
			if !strings.Contains(timer, `"state":"suspended"`) || !strings.Contains(timer, `"expirationDate":null`) {
				t.Errorf("the timer of the state: %s", timer)
			}
			if err := w.event(top, Resume{Actor: admin}); err != nil {
				t.Fatal(err)
			}
			w.run()
			if due := w.cases[18].NextDue(); name == "a timer" && !due.Equal(w.now.Add(time.Minute)) {
				t.Errorf("due %s, want a minute after the resumption", due)
			}
			if got := show(); got != test.resumed {
				t.Errorf("resumed: %s, want %s\n%s", got, test.resumed, LogText(w.logs[18]))
			}
		})
	}
}

// TestNewsOfUnreached: what an ancestor did has not reached a case yet when it
// hears from its last child: it performs nothing all the same.
func TestChildChangesOfUnreached(t *testing.T) {
	t.Parallel()
	const each = `roles: {r: {from: r, each: per_user}}`
	admin := actorNamed("admin")
	for name, test := range map[string]struct {
		before, after Event  // of the case at the top
		last          Event  // of the last case of all, meanwhile
		heard, then   string // the case between, upon that, and in the end
	}{
		"suspended": {Suspend{Actor: admin}, Resume{Actor: admin}, Cancel{Actor: admin}, "suspended a | k; 21 canceled a", "active d; 21 canceled a"},
		"gone":      {Perform{Action: "leave", Actor: admin}, Due{}, Due{}, "canceled a; 21 canceled a", "canceled a; 21 canceled a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, named(t, "top", `
roles: {r: {assign: ['team:core']}}
states: {a: {type: start}, z: {type: complete}}
actions:
  begin: {trigger: init}
  k: {in: [a], child: {route: mid, `+each+`}, guard: 'case.title == ""', to: z}
  leave: {in: [a], allowed: everyone, to: z}
`), named(t, "mid", `
roles: {r: {}}
states: {a: {type: start}, d: {}}
actions:
  begin: {trigger: init}
  k: {in: [a], child: {route: leaf, `+each+`}, to: d}
`), named(t, "leaf", `
roles: {r: {}}
states: {a: {type: start}, z: {type: complete}}
actions:
  begin: {trigger: init}
  end: {in: [a], role: r, to: z}
`))
			w.batch = 1
			top := w.start("top", nil)
			for _, e := range []happened{{id: top, e: test.before}, {id: 21, e: test.last}} {
				if err := w.event(e.id, e.e); err != nil {
					t.Fatal(err)
				}
			}
			if len(w.cases[top].Work) == 0 {
				t.Fatal("no work is left: the event has reached every child")
			}
			if got := w.show(19); got != test.heard {
				t.Errorf("got  %s\nwant %s\n%s", got, test.heard, LogText(w.logs[19]))
			}
			w.run()
			if err := w.event(top, test.after); err != nil {
				t.Fatal(err)
			}
			w.run()
			if got := w.show(19); got != test.then {
				t.Errorf("in the end\n got %s\nwant %s\n%s", got, test.then, LogText(w.logs[19]))
			}
		})
	}
}

func TestSuspendMany(t *testing.T) {
	t.Parallel()
	w := tip(t)
	var voters []string
	for i := range 700 {
		voters = append(voters, fmt.Sprintf("v%06d", i))
	}
	w.teams["core"] = voters
	id := w.start("tip", nil)
	count := func(life Life) (n int) {
		for _, c := range w.cases {
			if c.Life == life {
				n++
			}
		}
		return n
	}
	for _, e := range []struct {
		event Event
		life  Life
	}{{Suspend{Actor: actorNamed("admin")}, Suspended}, {Resume{Actor: actorNamed("admin")}, Active}, {Cancel{Actor: actorNamed("admin")}, Canceled}} {
		if err := w.event(id, e.event); err != nil {
			t.Fatal(err)
		}
		if n := count(e.life); n > Batch+1 {
			t.Errorf("%T: %d at once", e.event, n)
		}
		w.run()
		if n := count(e.life); n != 701 {
			t.Errorf("%T: %d %s", e.event, n, e.life)
		}
	}
}
