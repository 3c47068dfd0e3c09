package machine

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// drawDocument draws a route of the whole language of a single case, as
// people write it.
func drawDocument(t *rapid.T) string {
	d := &drawing{T: t, dependency: rapid.IntRange(0, 3).Draw(t, "model") == 0}
	d.n = rapid.IntRange(1, 6).Draw(t, "actions")
	transitions := d.drawTransitions()
	var b strings.Builder
	b.WriteString(d.timers())
	b.WriteString("xattrs: {n: {type: number, default: 0}}\nroles: {r0: {assign: [starter]}, r1: {assign: [\"xattr:who\", \"team:core\"]}}\n")
	if d.dependency {
		b.WriteString("model: dependency\n")
	} else {
		fmt.Fprintf(&b, "states: {a: {type: start%s%s}, b: {title: B%s%s}, c: {type: complete%s}}\n",
			d.handlers(", onEnter"), d.stateTimer(), d.handlers(", onEnter"), d.stateTimer(), d.stateTimer())
	}
	b.WriteString("actions:\n  begin: {trigger: init}\n")
	for i := range d.n {
		fmt.Fprintf(&b, "  x%d: {%s}\n", i, strings.Join(d.action(i), ", "))
	}
	b.WriteString(transitions)
	return b.String()
}

type drawing struct {
	*rapid.T
	dependency bool
	n          int          // actions
	required   map[int]bool // by transitions
	begets     bool         // there is an action k0 that starts children
}

func (d *drawing) one(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(d.T, label)
}

// maybe is true once in so many.
func (d *drawing) maybe(label string, in int) bool {
	return rapid.IntRange(1, in).Draw(d.T, label) == in
}

func (d *drawing) other(label string) string {
	return fmt.Sprintf("x%d", rapid.IntRange(0, d.n-1).Draw(d.T, label))
}

func (d *drawing) drawTransitions() string {
	d.required = map[int]bool{}
	if d.dependency || !d.maybe("transitions", 3) {
		return ""
	}
	out := "transitions:\n"
	for range rapid.IntRange(1, 3).Draw(d.T, "how many") {
		requires := rapid.SliceOfNDistinct(rapid.IntRange(0, d.n-1), 1, min(3, d.n), rapid.ID).Draw(d.T, "requires")
		names := make([]string, len(requires))
		for i, action := range requires {
			names[i], d.required[action] = fmt.Sprintf("x%d", action), true
		}
		out += fmt.Sprintf("  - {from: %s, to: %s, requires: [%s]%s}\n", d.one("from", "a", "b"), d.one("to", "a", "b", "c"), strings.Join(names, ", "), d.handlers(", onFollow"))
	}
	return out
}

// conditions may look at anything but at what they decide themselves: whether
// a row is there, and in which state.
func (d *drawing) condition() string {
	return d.one("condition", "true", "false", "xattr.n > 1", "xattr.none > 1", `tasks["x0"].count < 2`, `message["m"].ok`, "now > case.created + duration('5s')", `case.status != "b"`, `has(xattr.who)`,
		`timers.t.expired`, `!timers["u"].expired`, `timers.t.date == null || timers.t.date > now`, `!timers["case"].expired`)
}

// handlers draws steps, sometimes.
func (d *drawing) handlers(key string) string {
	if !d.maybe("steps", 4) {
		return ""
	}
	steps := make([]string, rapid.IntRange(1, 2).Draw(d.T, "how many"))
	for i := range steps {
		step := d.one("step",
			"set: {n: {cel: xattr.n + 1}}", "set: {n: 0}", "set: {who: {cel: actor}}", "set: {n: {cel: xattr.none}}", "message: {label: m, value: {ok: true}}",
			"http: {url: 'https://example.org/$__XATTR_n__;', value: {n: 1}, into: m}", "mail: {to: [starter, 'role:r1'], text: hello}", "call: {name: x, into: m}", "exec: {command: x, from: m}",
			"log: logged", "warn: warned", "unwarn: true", "title: x", "assign: {role: r1, to: [starter]}", "unassign: {role: r1, to: [\"role:r1\"]}", "addStakeholders: [ann]",
			"perform: "+d.other("of"), "abort: "+d.other("of"), "retry: "+d.other("of"), "cancel: true", "suspend: true",
			`suspend: {until: {cel: "now + duration('5s')"}}`, "suspend: {until: {cel: now}}",
			"enableTimer: t", "enableTimer: u", "disableTimer: t", "setTimer: {name: t, limit: 0}", "setTimer: {name: u, limit: PT5S}", "setTimer: {name: case, limit: null}",
		)
		if (step == "cancel: true" || step == "suspend: true") && !d.maybe("really", 5) {
			step = "log: not yet"
		}
		if d.maybe("if", 3) {
			step += ", if: '" + strings.ReplaceAll(d.condition(), "'", `"`) + "'"
		}
		steps[i] = "{" + step + "}"
	}
	return key + ": [" + strings.Join(steps, ", ") + "]"
}

func (d *drawing) action(i int) []string {
	trigger := d.one("trigger", "user", "user", "user", "auto", "time", "message")
	out := []string{"trigger: " + trigger}
	switch trigger {
	case "message":
		out = append(out, "message: "+d.one("label", "m", "InputMessage"))
	case "time":
		out = append(out, "timeout: "+d.one("timeout", "0", "1", "PT5S", "P30D"))
	default:
		if trigger == "user" && d.maybe("timed", 5) {
			out = append(out, "timeout: "+d.one("timeout", "0", "1", "PT5S"))
		}
	}
	out = append(out, d.one("who", "role: r0", "role: r1", "allowed: everyone"))
	out = append(out, d.where(i)...)
	if d.maybe("guard", 4) {
		out = append(out, "guard: '"+strings.ReplaceAll(d.condition(), "'", `"`)+"'")
	}
	if d.maybe("enableIf", 5) {
		out = append(out, "enableIf: '"+strings.ReplaceAll(d.condition(), "'", `"`)+"'")
	}
	if trigger == "user" && d.maybe("task timers", 3) {
		out = append(out, "dueIn: "+d.one("dueIn", "1", "PT5S", "P40D"), "offerTimeout: "+d.one("offer", "1", "PT7S"))
		for _, key := range []string{"onDue", "onOfferTimeout"} {
			if h := d.handlers(key); h != "" {
				out = append(out, h)
			}
		}
	}
	if d.maybe("max", 3) || trigger == "auto" && !d.maybe("endless", 4) {
		out = append(out, "max: "+d.one("max", "1", "2", "3"))
	}
	if i > 0 && !d.required[i] && d.maybe("after", 4) {
		out = append(out, fmt.Sprintf("after: [{action: x%d, min: %s}]", rapid.IntRange(0, i-1).Draw(d.T, "after"), d.one("min", "1", "2")))
	}
	if d.maybe("choice", 4) {
		out = append(out, "choice: one")
	}
	if d.maybe("type", 3) {
		out = append(out, "type: "+d.one("type", "approve", "deny"))
	}
	if d.maybe("distinct", 5) {
		out = append(out, "distinct: ["+d.other("of")+"]")
	}
	if trigger == "user" && d.maybe("accept", 4) {
		out = append(out, "accept: required")
	}
	if d.maybe("resolutions", 6) {
		out = append(out, "resolutions: {fixed: Fixed}")
	}
	for _, key := range []string{"onEnable", "onUnEnable", "onFire", "sideEffects"} {
		if h := d.handlers(key); h != "" {
			out = append(out, h)
		}
	}
	return out
}

// where draws the states of an action and where it leads.
func (d *drawing) where(i int) (out []string) {
	if d.dependency {
		if d.maybe("final", 5) {
			out = append(out, "final: true")
		}
		return out
	}
	if d.required[i] {
		return nil
	}
	if d.maybe("always", 6) {
		out = append(out, "always: true")
	}
	in := rapid.IntRange(0, 7).Draw(d.T, "in")
	var states []string
	for bit, state := range []string{"a", "b", "c"} {
		if in&(1<<bit) != 0 {
			states = append(states, state)
		}
	}
	out = append(out, d.one("key", "in", "enabledIn")+": ["+strings.Join(states, ", ")+"]")
	switch d.one("way", "to", "to", "stay", "decide") {
	case "to":
		out = append(out, "to: "+d.one("to", "a", "b", "c"))
	case "decide":
		out = append(out, `decide: 'xattr.n > 1 ? "much" : (has(xattr.who) ? xattr.who : "little")'`, "outputs: {much: b, little: , sam: c}")
	}
	return out
}

func drawLanguageEvent(t *rapid.T, r *route.Route, c *Case) (Event, string) {
	actor := actorNamed(rapid.SampledFrom([]string{"sam", "bob", "admin"}).Draw(t, "actor"))
	action := rapid.SampledFrom(r.Actions).Draw(t, "action").Name
	if len(c.Enabled) > 0 && rapid.IntRange(0, 4).Draw(t, "enabled") > 0 {
		action = rapid.SampledFrom(c.Enabled).Draw(t, "row").Action
	}
	if len(c.Outbox) > 0 && rapid.IntRange(0, 3).Draw(t, "outside") == 0 {
		return drawFromOutside(t, c)
	}
	switch rapid.IntRange(0, 25).Draw(t, "event") {
	default:
		return Perform{Action: action, Actor: actor, Resolution: rapid.SampledFrom([]string{"", "fixed"}).Draw(t, "resolution")}, ""
	case 0:
		return Perform{Action: rapid.SampledFrom([]string{"approve", "deny", "cancel"}).Draw(t, "type"), Actor: actor}, ""
	case 1:
		return Skip{Action: action, Actor: actorNamed("admin"), Output: rapid.SampledFrom([]string{"", "much"}).Draw(t, "output")}, ""
	case 2:
		return Abort{Action: action, Actor: actorNamed("admin")}, ""
	case 3:
		return Retry{Action: action, Actor: actorNamed("admin")}, ""
	case 16, 17:
		return Accept{Action: action, Actor: actor}, ""
	case 18:
		return Release{Action: action, Actor: actor}, ""
	case 19:
		if rapid.Bool().Draw(t, "reject") {
			return Reject{Action: action, Actor: actor}, ""
		}
		return Delegate{Action: action, Actor: actor, To: rapid.SampledFrom([]string{"ann", "sam", "core"}).Draw(t, "to")}, ""
	case 4, 5:
		return Due{}, ""
	case 6, 7:
		dict := label.Dict{{Key: "n", Value: label.Value{Kind: document.Number, Text: rapid.SampledFrom([]string{"0", "2", "5"}).Draw(t, "n")}}}
		if rapid.Bool().Draw(t, "who") {
			dict = dict.Set("who", label.Text("sam"))
		}
		return Edit{Actor: actor, Xattrs: &dict}, ""
	case 8:
		return Wake{Actor: actor, Label: "m"}, rapid.SampledFrom([]string{`{"ok": true}`, `{"ok": false}`, "no JSON"}).Draw(t, "content")
	case 10:
		return Suspend{Actor: actor, Until: drawDate(t)}, ""
	case 11, 12:
		return Resume{Actor: actor}, ""
	case 13:
		return Reopen{Actor: actor}, ""
	case 14, 15:
		return drawSetTimer(t, actor, action), ""
	case 9:
		if rapid.IntRange(0, 20).Draw(t, "cancel") == 0 {
			return Cancel{Actor: actor}, ""
		}
		return Wake{Actor: actor, Label: "InputMessage"}, "{}"
	}
}

// drawFromOutside draws what became of a delivery: one that the case waits
// for, or one that is over.
func drawFromOutside(t *rapid.T, c *Case) (Event, string) {
	o := rapid.SampledFrom(c.Outbox).Draw(t, "delivery")
	seq := o.Seq - int64(rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "another"))
	switch rapid.IntRange(0, 5).Draw(t, "became") {
	case 0:
		return Undelivered{Seq: seq, Step: o.Step, Attempts: 3, Reason: "no\nanswer"}, ""
	case 1:
		return Recorded{Seq: seq, Step: o.Step, Content: []byte("{}")}, ""
	case 2:
		return Retry{Action: o.Name(), Actor: actorNamed("admin")}, ""
	case 3:
		return Abort{Action: o.Name(), Actor: actorNamed("admin")}, ""
	}
	return Delivered{Seq: seq, Step: o.Step, Attempts: 1, MediaType: "application/json", Content: []byte(`{"ok": true}`)}, ""
}

// TestLanguageProperties walks random routes of the whole language of a single
// case by random events (docs/contract/engine.md#7-what-must-hold). The
// subtests share the work out, so that it uses every processor.
func TestLanguageProperties(t *testing.T) {
	t.Parallel()
	const wanted = 100_000
	parts := 12
	if testing.Short() {
		parts = 2
	}
	var steps, refused atomic.Int64
	t.Run("walks", func(t *testing.T) {
		for i := range parts {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) { walkLanguage(t, &steps, &refused) })
			})
		}
	})
	t.Logf("%d steps, %d of them refused", steps.Load(), refused.Load())
	if steps.Load() < wanted && !testing.Short() {
		t.Errorf("%d steps, want %d", steps.Load(), wanted)
	}
}

// walker is a case on a random walk.
type walker struct {
	*rapid.T
	r        *route.Route
	c        *Case
	now      time.Time
	messages map[string][]byte
	recorded []recorded
	loops    int
}

// recorded is an event with its facts, as it could be replayed.
type recorded struct {
	in       Input
	messages map[string][]byte
}

func walkLanguage(t *rapid.T, steps, refused *atomic.Int64) {
	w := &walker{T: t, r: parsed(t, drawDocument(t)), now: startOfTests()}
	const mostLoops = 1 // they take their time, and hide what else there is
	for range rapid.IntRange(60, 160).Draw(t, "events") {
		if w.loops > mostLoops {
			break
		}
		switch {
		case w.c == nil, (w.c.Life == Canceled || w.c.Life == Failed) && rapid.Bool().Draw(t, "another"):
			w.another()
		case w.c.Life == Canceled || w.c.Life == Failed:
			w.event(Reopen{Actor: actorNamed("admin")}, "")
		case w.c.Life == Queued:
			w.event(Start{}, "")
		}
		if rapid.IntRange(0, 40).Draw(t, "migrate") == 0 {
			w.migrate()
			steps.Add(1)
		}
		w.now = w.now.Add(rapid.SampledFrom([]time.Duration{0, time.Second, 7 * time.Second, -time.Second, 40 * 24 * time.Hour}).Draw(t, "later"))
		e, content := drawLanguageEvent(t, w.r, w.c)
		if !w.event(e, content) {
			refused.Add(1)
		}
		steps.Add(1)
	}
	w.replay()
}

// migrate moves the case to another version of its route, which may be the
// same text.
func (w *walker) migrate() {
	from := w.r
	to := from
	if rapid.Bool().Draw(w.T, "another text") {
		to = parsed(w, drawDocument(w.T))
	}
	if to.Model == route.Dependency || from.Model == route.Dependency {
		to = from // the models have nothing in common
	}
	w.r = to
	if !w.event(Migrate{Actor: actorNamed("admin"), Version: w.c.RouteVersion + 1, From: from}, "") {
		w.r = from
	}
}

// another goes on with a new case of the same route.
func (w *walker) another() {
	if w.c != nil {
		w.replay()
	}
	w.c, w.messages, w.recorded = seed(), map[string][]byte{}, nil
	w.event(Create{}, "")
	w.event(Start{}, "")
}

// event lets it happen and checks what must hold. It reports whether it was
// not refused.
func (w *walker) event(e Event, content string) bool {
	before := w.messages
	if wake, is := e.(Wake); is {
		before = maps.Clone(before)
		before[wake.Label] = []byte(content)
	}
	in := Input{Route: w.r, Case: w.c, Event: e, Now: w.now, Facts: factsOfTests()}
	marking := w.c.Marking()
	out, err := resolve(w, in, before)
	if !bytes.Equal(w.c.Marking(), marking) {
		w.Fatalf("%#v changed its input", e)
	}
	if err != nil {
		w.refusal(e, err)
		return false
	}
	w.check(in, before, out)
	w.recorded = append(w.recorded, recorded{in, before})
	after := maps.Clone(before)
	for _, m := range out.Messages {
		after[m.Label] = m.Content
	}
	w.c, w.messages = out.Case, after
	if w.c.Life == Failed || len(out.Log) >= MaxPerformances {
		w.loops++
	}
	w.rest(in)
	return true
}

func (w *walker) refusal(e Event, err error) {
	switch errs.KindOf(err) {
	case errs.NotFound, errs.CaseNotOpen, errs.ActionNotEnabled, errs.NotAllowed, errs.FourEyes, errs.Invalid, errs.RouteFault, errs.Migrate:
	case errs.EndlessLoop:
		w.loops++
	default:
		w.Fatalf("%#v: %v", e, err)
	}
	if _, sweeps := e.(Due); sweeps {
		w.Fatalf("a sweep was refused: %v", err)
	}
}

// check checks an output by itself.
func (w *walker) check(in Input, messages map[string][]byte, out *Output) {
	again, err := resolve(w, in, messages)
	if err != nil || !bytes.Equal(render(in.Route, out), render(in.Route, again)) {
		w.Fatalf("%#v twice: %v\n%s\n%s", in.Event, err, render(in.Route, out), render(in.Route, again))
	}
	c := out.Case
	marking := c.Marking()
	changed := in.Case.Version != c.Version
	if changed != !bytes.Equal(in.Case.Marking(), marking) || len(out.Log) != int(c.LogSeq-in.Case.LogSeq) {
		w.Fatalf("%#v: version, log and case do not agree:\n%s\n%s", in.Event, in.Case.Marking(), marking)
	}
	read, err := ReadMarking(marking)
	if err != nil || !bytes.Equal(read.Marking(), marking) {
		w.Fatalf("the marking %s is read as %s %v", marking, read.Marking(), err)
	}
	if wrong := rowsAgree(w.r, c); wrong != "" {
		w.Fatalf("after %#v: %s\n%s", in.Event, wrong, marking)
	}
	if wrong := outboxAgrees(in.Case, out); wrong != "" {
		w.Fatalf("after %#v: %s\n%s", in.Event, wrong, marking)
	}
	if wrong := timersAgree(w.r, in.Case, out); wrong != "" {
		w.Fatalf("after %#v: %s\n%s", in.Event, wrong, marking)
	}
	performed := 0
	for _, e := range out.Log {
		if e.Kind == LogAction {
			performed++
		}
	}
	counts := int64(0)
	for _, p := range c.Performed {
		counts += p.Count
	}
	for _, p := range in.Case.Performed {
		counts -= p.Count
	}
	if int(counts) != performed {
		w.Fatalf("after %#v: %d performances are counted, %d logged", in.Event, counts, performed)
	}
}

func render(r *route.Route, out *Output) []byte {
	b := append(out.Case.Marking(), Form(out.Case, r)...)
	for i := range out.Case.Enabled {
		b = append(b, TaskForm(out.Case, r, out.Case.Enabled[i].Action, Beside{})...)
	}
	for _, m := range out.Messages {
		b = append(append(b, m.Label...), m.Content...)
	}
	return AppendLog(b, out.Log)
}

// rest checks that a case is at rest: nothing is due, and a second pass
// changes nothing.
func (w *walker) rest(in Input) {
	if due := w.c.NextDue(); !due.IsZero() && (!due.After(in.Now) || !due.After(w.c.Modified)) {
		w.Fatalf("after %#v something is due still: %s", in.Event, w.c.Marking())
	}
	again, err := resolve(w, Input{Route: w.r, Case: w.c, Event: Due{}, Now: in.Now, Facts: in.Facts}, w.messages)
	if err != nil {
		w.Fatalf("a second pass after %#v: %v", in.Event, err)
	}
	if !bytes.Equal(again.Case.Marking(), w.c.Marking()) || again.Log != nil {
		w.Fatalf("after %#v a second pass changed\n%s\n%s", in.Event, w.c.Marking(), again.Case.Marking())
	}
	w.inverse(in)
}

// replay decides on the recorded events again, from the seed.
func (w *walker) replay() {
	c := seed()
	for _, r := range w.recorded {
		r.in.Case = c
		out, err := resolve(w, r.in, r.messages)
		if err != nil {
			w.Fatal(err)
		}
		c = out.Case
	}
	if !bytes.Equal(c.Marking(), w.c.Marking()) {
		w.Fatalf("replayed\n got %s\nwant %s", c.Marking(), w.c.Marking())
	}
}
