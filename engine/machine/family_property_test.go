package machine

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// drawFamily draws three routes: the first starts cases of the second and of
// the third, the second of the third. Loops through the tree are possible.
func drawFamily(t *rapid.T) []string {
	d := &drawing{T: t}
	return []string{d.member("p", "q", "r"), d.member("q", "r"), d.member("r")}
}

// member draws a route that may start cases of the others.
func (d *drawing) member(name string, others ...string) string {
	d.begets = len(others) > 0
	var b strings.Builder
	b.WriteString("roles: {r0: {assign: [\"team:core\"]}, r1: {assign: [starter]}, r2: {}}\n")
	fmt.Fprintf(&b, "states: {a: {type: start}, m: {%s}, b: {}, c: {type: complete}, z: {type: denied}}\nactions:\n  begin: {trigger: init}\n",
		strings.TrimPrefix(d.familySteps(", onEnter"), ", "))
	for i := range rapid.IntRange(1, 3).Draw(d.T, name+" actions") {
		a := []string{"allowed: everyone", "to: " + d.one("to", "a", "b", "c", "c", "z"), "in: [" + d.one("in", "a", "a, b", "b", "m", "c", "a, m") + "]"}
		switch d.one("trigger", "user", "user", "user", "time", "auto") {
		case "time":
			a = append(a[1:], "trigger: time", "timeout: "+d.one("timeout", "0", "PT5S", "P30D"))
		case "auto":
			a = append(a[1:], "trigger: auto", "max: "+d.one("max", "1", "3", "unlimited"))
		}
		fmt.Fprintf(&b, "  x%d: {%s%s}\n", i, strings.Join(a, ", "), d.familySteps(", sideEffects"))
	}
	for i := range others {
		if i == 0 || d.maybe("another child", 3) {
			fmt.Fprintf(&b, "  k%d: {%s}\n", i, strings.Join(d.begetting(others[i]), ", "))
		}
	}
	return b.String()
}

func (d *drawing) begetting(of string) []string {
	child := []string{"route: " + of}
	roles := []string{"r0: {from: " + d.one("from", "r0", "r0", "r1", "r2") + ", each: " + d.one("each", "per_user", "per_member", "per_role") + "}"}
	if d.maybe("product", 4) {
		roles = append(roles, "r2: {from: r0, each: per_user}")
	}
	child = append(child, "roles: {"+strings.Join(roles, ", ")+"}")
	if d.maybe("while", 2) {
		child = append(child, "while: "+d.one("status", "m", "m", "b", "c"))
	}
	if d.maybe("complete", 3) {
		child = append(child, "complete: '"+d.one("condition", "tally.status.c > 0", "tally.open < 2", `children.exists(c, c.status == "z")`, "tally.status.none > 0", "true")+"'")
	}
	out := []string{"child: {" + strings.Join(child, ", ") + "}", "in: [" + d.one("in", "a", "a", "a, b", "b", "c") + "]"}
	switch d.one("way", "to", "decide", "stay", "fault") {
	case "to":
		out = append(out, "to: "+d.one("to", "a", "b", "c"))
	case "decide":
		out = append(out, `decide: 'tally.status.c > tally.status.z ? "yes" : (tally.open > 0 ? "early" : "no")'`, "outputs: {yes: c, no: z, early: b}")
	case "fault":
		out = append(out, `decide: 'tally.status.c > 1 ? "yes" : tally.status.none > 0 ? "yes" : "no"'`, "outputs: {yes: c, no: z}")
	}
	if d.maybe("timed", 4) {
		out = append(out, "timeout: "+d.one("timeout", "0", "PT5S"))
	}
	if d.maybe("max", 2) {
		out = append(out, "max: "+d.one("max", "1", "2"))
	}
	if d.maybe("guard", 6) {
		out = append(out, `guard: 'tasks["x0"].count > 0'`)
	}
	return out
}

func (d *drawing) familySteps(key string) string {
	if !d.maybe("steps", 5) {
		return ""
	}
	of := "x0"
	if d.begets {
		of = "k0"
	}
	return key + ": [{" + d.one("step", "log: logged", "abort: "+of, "perform: "+of, "perform: x0", "retry: "+of, "suspend: true", "cancel: true",
		"suspend: {until: {cel: \"now + duration('5s')\"}}", "set: {n: {cel: xattr.none}}") + "}]"
}

// TestFamilyProperties walks random trees of cases by random events
// (docs/contract/engine.md#7-what-must-hold).
func TestFamilyProperties(t *testing.T) {
	t.Parallel()
	const wanted = 20_000
	parts := 10
	if testing.Short() {
		parts = 2
	}
	var steps, refused atomic.Int64
	t.Run("walks", func(t *testing.T) {
		for i := range parts {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) { walkFamily(t, &steps, &refused) })
			})
		}
	})
	t.Logf("%d steps, %d of them refused", steps.Load(), refused.Load())
	if steps.Load() < wanted && !testing.Short() {
		t.Errorf("%d steps, want %d", steps.Load(), wanted)
	}
}

const (
	mostLoops = 1   // they take their time, and hide what else there is
	mostCases = 60  // then another tree begins
	tooMany   = 200 // of a loop that takes many events, each of which has more children than one event makes
)

// familyWalk is a world on a random walk.
type familyWalk struct {
	*rapid.T
	w      *world
	texts  []string
	routes []*route.Route // of the texts
	loops  int
	done   []happened
}

// happened is an event that was not refused.
type happened struct {
	id  int64
	e   Event
	now time.Time
}

func newFamilyWorld(t *rapid.T, routes []*route.Route) *world {
	w := newWorld(t, routes...)
	w.batch = 2
	return w
}

func walkFamily(t *rapid.T, steps, refused *atomic.Int64) {
	f := &familyWalk{T: t, texts: drawFamily(t)}
	for i, name := range []string{"p", "q", "r"} {
		f.routes = append(f.routes, named(t, name, f.texts[i]))
	}
	f.w = newFamilyWorld(t, f.routes)
	for range rapid.IntRange(20, 60).Draw(t, "events") {
		if f.loops > mostLoops {
			break
		}
		if len(f.w.cases) == 0 || len(f.w.cases) > mostCases {
			f.another()
		}
		before := f.w.units
		if !f.step() {
			refused.Add(1)
		}
		steps.Add(int64(max(1, f.w.units-before)))
	}
	f.replay()
}

// another goes on with a new root in an empty world.
func (f *familyWalk) another() {
	f.replay()
	now := f.w.now
	f.w, f.done = newFamilyWorld(f.T, f.routes), nil
	f.w.now = now
	id := f.w.seed("p")
	f.event(id, Create{})
	f.event(id, Start{})
}

// step lets something happen, and then sometimes what that left to do.
func (f *familyWalk) step() bool {
	ids := slices.Sorted(maps.Keys(f.w.cases))
	id := rapid.SampledFrom(ids).Draw(f.T, "case")
	c := f.w.cases[id]
	actor := actorNamed(rapid.SampledFrom([]string{"sam", "bob", "admin"}).Draw(f.T, "actor"))
	action := "x0"
	if len(c.Enabled) > 0 {
		action = rapid.SampledFrom(c.Enabled).Draw(f.T, "row").Action
	}
	var e Event
	switch rapid.IntRange(0, 16).Draw(f.T, "event") {
	case 0:
		e = Suspend{Actor: actor, Until: drawDate(f.T)}
	case 1, 2:
		e = Resume{Actor: actor}
	case 3:
		e = Cancel{Actor: actor}
		if c.Parent == 0 && rapid.IntRange(0, 3).Draw(f.T, "the root") > 0 {
			e = Due{}
		}
	case 4:
		e = Skip{Action: action, Actor: actorNamed("admin"), Output: rapid.SampledFrom([]string{"", "yes"}).Draw(f.T, "output")}
	case 5:
		e = Abort{Action: action, Actor: actorNamed("admin")}
	case 6, 7:
		e = Retry{Action: action, Actor: actorNamed("admin")}
	case 8:
		e = Edit{Actor: actor, Roles: &[]Players{{Role: "r0", Parties: rapid.SliceOfN(rapid.SampledFrom([]string{"sam", "bob", "core", PartyAdmins}), 0, 3).Draw(f.T, "players")}}}
	case 9, 10, 11:
		f.w.now = f.w.now.Add(rapid.SampledFrom([]time.Duration{0, time.Second, 7 * time.Second, -time.Second, 40 * 24 * time.Hour}).Draw(f.T, "later"))
		e = Due{}
	default:
		e = Perform{Action: action, Actor: actor}
	}
	happens := f.event(id, e)
	if rapid.IntRange(0, 2).Draw(f.T, "rest") > 0 {
		f.rest()
	}
	return happens
}

// event lets it happen and checks what must hold.
func (f *familyWalk) event(id int64, e Event) bool {
	f.orphansRefuse()
	was := maps.Clone(f.w.cases)
	err := f.w.event(id, e)
	if err != nil {
		f.refusal(id, e, err)
		if !maps.Equal(was, f.w.cases) {
			f.Fatalf("%T was refused, and something happened", e)
		}
		return false
	}
	f.done = append(f.done, happened{id, e, f.w.now})
	f.loops += f.w.loops
	f.w.loops = 0
	for _, c := range f.w.cases {
		if wrong := f.wrong(c); wrong != "" {
			f.Fatalf("after %#v of case %d, case %d: %s\n%s\n%s", e, id, c.ID, wrong, f.show(), strings.Join(f.texts, "\n"))
		}
	}
	return true
}

func (f *familyWalk) refusal(id int64, e Event, err error) {
	switch errs.KindOf(err) {
	case errs.NotFound, errs.CaseNotOpen, errs.ActionNotEnabled, errs.NotAllowed, errs.Invalid, errs.RouteFault:
	case errs.EndlessLoop:
		f.loops++
	default:
		f.Fatalf("%#v of case %d: %v\n%s", e, id, err, f.show())
	}
	switch e.(type) {
	case Due, Start, Create:
		// A case whose automatic actions never end is not started.
		if _, starts := e.(Start); !starts || !errs.Is(err, errs.CaseNotOpen) && !errs.Is(err, errs.EndlessLoop) {
			f.Fatalf("%T was refused: %v", e, err)
		}
	}
}

// rest does what is due and queued now, one unit at a time, and checks that a
// second pass changes nothing.
func (f *familyWalk) rest() {
	const most = 1000
	for n := 0; ; n++ {
		id, e := f.w.upcoming()
		if id == 0 {
			break
		}
		if n == most {
			f.Fatalf("due without end: %T of case %d\n%s\n%s", e, id, f.show(), strings.Join(f.texts, "\n"))
		}
		if len(f.w.cases) > tooMany {
			f.loops = mostLoops + 1
			return
		}
		f.event(id, e)
		if f.loops > mostLoops {
			return
		}
	}
	for id, c := range f.w.cases {
		if wrong := f.unfinished(c); wrong != "" {
			f.Fatalf("at rest, case %d: %s\n%s", id, wrong, f.show())
		}
		out, err := f.w.decide(f.w.input(id, Due{}))
		if err != nil {
			f.Fatalf("a second pass of case %d: %v", id, err)
		}
		if len(out.Others) > 0 || out.Log != nil || !bytes.Equal(out.Case.Marking(), c.Marking()) {
			f.Fatalf("a second pass of case %d changed\n%s\n%s\n%d others", id, c.Marking(), out.Case.Marking(), len(out.Others))
		}
	}
}

// orphansRefuse checks that nothing can be done with a case whose parent has
// moved on, though its end has not reached it.
func (f *familyWalk) orphansRefuse() {
	for id, c := range f.w.cases {
		if !f.orphan(c) || c.Life == Closed || c.Life == Canceled {
			continue
		}
		for _, e := range []Event{Perform{Action: "x0", Actor: actorNamed("sam")}, Cancel{Actor: actorNamed("sam")}, Resume{Actor: actorNamed("sam")}} {
			if err := f.w.event(id, e); !errs.Is(err, errs.CaseNotOpen) {
				f.Fatalf("%T of the orphan %d: %v", e, id, err)
			}
		}
	}
}

func (f *familyWalk) orphan(c *Case) bool {
	for ; c.Parent != 0; c = f.w.cases[c.Parent] {
		parent := f.w.cases[c.Parent]
		if parent.Life == Closed || parent.Life == Canceled || parent.Life == Failed || parent.placeOf(c.ParentEnablement) < 0 {
			return true
		}
	}
	return false
}

// wrong says what does not hold after a transaction, "" for nothing.
func (f *familyWalk) wrong(c *Case) string {
	switch c.Life {
	case Queued, Closed, Canceled, Failed:
		if len(c.Enabled) > 0 {
			return "a row outlives its case"
		}
	case Active, Suspended, Completed:
	}
	if c.SuspendedSelf && c.Life != Suspended {
		return "a mark outlives the suspension"
	}
	made := int64(0)
	for i := range c.Enabled {
		e := &c.Enabled[i]
		if e.State == Escalated && !e.Due.IsZero() {
			return e.Action + " is escalated and due"
		}
		if e.Children == nil {
			continue
		}
		children := f.w.childrenOf(Enablement{c.ID, e.Number})
		count := ChildSummary{Route: e.Children.Route, Total: e.Children.Total, Made: int64(len(children)), Entered: e.Children.Entered, Finished: e.Children.Finished}
		for _, s := range f.w.routes[e.Children.Route].Route.States {
			count.Tally = append(count.Tally, Tally{Status: s.Name})
		}
		for _, child := range children {
			switch child.Life {
			case Completed:
				count.add(child.Status, 1)
			case Canceled:
				count.Canceled++
			case Closed:
				if !f.orphan(c) { // whose end has not come to it yet, but to the child
					return fmt.Sprintf("the child %d is closed while the enablement stands", child.ID)
				}
				count.add(child.Status, 1)
			case Queued, Active, Suspended, Failed:
			}
		}
		if got, want := fmt.Sprintf("%+v", *e.Children), fmt.Sprintf("%+v", count); got != want {
			return "counters\n got " + got + "\nwant " + want
		}
		if pending := slices.ContainsFunc(c.Work, makesChildren(e.Number)); (e.Children.Made < e.Children.Total) != pending && e.State != Escalated {
			return "children are missing, and nothing makes them, or none is"
		}
		if (e.Children.Made < e.Children.Total) != (f.w.plans[Enablement{c.ID, e.Number}] != nil) {
			return "a plan is missing, or is left over"
		}
		made++
	}
	for _, l := range c.Children {
		if child := f.w.cases[l.ID]; child == nil || child.Shown() != l.Life || child.Status != l.Status || child.ParentAction != l.Action {
			return fmt.Sprintf("the line of child %d is %+v", l.ID, l)
		}
	}
	return f.onceEach(c)
}

// onceEach checks that an action is performed at most once for each time that
// it got children.
func (f *familyWalk) onceEach(c *Case) string {
	begot, performed := map[string]int{}, map[string]int{}
	for _, l := range f.w.logs[c.ID] {
		switch {
		case l.Kind == LogChild && (strings.Contains(l.Text, " of the route ") || strings.HasPrefix(l.Text, "No cases")):
			begot[*l.Action]++
		case l.Kind == LogAction && strings.HasPrefix(*l.Action, "k") && (*l.Trigger == ByChild || *l.Trigger == ByTime):
			performed[*l.Action]++
		}
	}
	for action, n := range performed {
		if n > begot[action] {
			return fmt.Sprintf("%s was performed %d times and got children %d times", action, n, begot[action])
		}
	}
	return ""
}

// unfinished says what does not hold where nothing is left to do.
func (f *familyWalk) unfinished(c *Case) string {
	if len(c.Work) > 0 && c.Life != Suspended && !c.AncestorSuspended {
		return fmt.Sprintf("work is left: %+v", c.Work)
	}
	if f.orphan(c) && c.Life != Closed && c.Life != Canceled {
		return "its parent has moved on"
	}
	held := false
	for p := c; p.Parent != 0; {
		p = f.w.cases[p.Parent]
		held = held || p.Life == Suspended
	}
	switch {
	case c.Life == Suspended && !c.SuspendedSelf && !held:
		return "nobody suspends it"
	case held && (c.Life == Active || c.Life == Queued):
		return "an ancestor is suspended"
	case c.AncestorSuspended != (held && c.Life == Completed):
		return "halted"
	}
	for row := range f.w.plans {
		if plan := f.w.plans[row]; plan != nil && f.w.cases[row.Case].placeOf(row.Number) < 0 {
			return "a plan outlives its enablement"
		}
	}
	for i := range c.Enabled {
		if k := c.Enabled[i].Children; k != nil && k.Made == k.Total && k.open() == 0 && c.Enabled[i].State == Running && c.Life == Active {
			return c.Enabled[i].Action + " should have been performed"
		}
	}
	return ""
}

// replay lets the same happen in another world.
func (f *familyWalk) replay() {
	if f.done == nil {
		return
	}
	again := newFamilyWorld(f.T, f.routes)
	again.seed("p")
	for _, h := range f.done {
		again.now = h.now
		if err := again.event(h.id, h.e); err != nil {
			f.Fatalf("replayed: %v", err)
		}
	}
	for id, c := range f.w.cases {
		if other := again.cases[id]; other == nil || !bytes.Equal(other.Marking(), c.Marking()) {
			f.Fatalf("replayed, case %d is another", id)
		}
	}
}

func (f *familyWalk) show() string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(f.w.cases)) {
		b.Write(append(f.w.cases[id].Marking(), '\n'))
		b.Write(LogText(f.w.logs[id]))
	}
	return b.String()
}
