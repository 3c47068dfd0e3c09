package machine

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"flowdrive/route"
)

// timers draws the timers of a case and of the user.
func (d *drawing) timers() string {
	out := "timers: {t: {limit: " + d.one("limit of t", "0", "1", "PT5S", "P39D") + d.handlers(", onExpire") + "}, u: {" + strings.TrimPrefix(d.handlers(", onExpire"), ", ") + "}}\n"
	if d.maybe("timeout", 2) {
		out += "timeout: " + d.one("of the case", "1", "PT20S") + "\n" + strings.TrimPrefix(d.handlers("onTimeout"), ", ") + "\n"
	}
	if d.maybe("reminders", 3) {
		out += "notify: {remind: PT1M}\n"
	}
	return out
}

func (d *drawing) stateTimer() string {
	if !d.maybe("timer of the state", 4) {
		return ""
	}
	return ", timeout: " + d.one("of the state", "0", "1", "PT5S") + d.handlers(", onTimeout")
}

func drawSetTimer(t *rapid.T, actor Actor, action string) Event {
	name := rapid.SampledFrom([]string{"t", "u", "case", "state", action + ".due", action + ".offer", action + ".timeout"}).Draw(t, "timer")
	limits := []route.Limit{
		{},
		{Kind: route.RelativeLimit},
		{Kind: route.RelativeLimit, After: 5 * time.Second},
		{Kind: route.AbsoluteLimit, At: startOfTests()},
		{Kind: route.AbsoluteLimit, At: startOfTests().Add(time.Hour)},
	}
	return SetTimer{Timer: name, Actor: actor, Limit: rapid.SampledFrom(limits).Draw(t, "limit")}
}

// timersAgree checks the timers of a case against the rest of it: the
// invariants of the tables on timers.
func timersAgree(r *route.Route, before *Case, out *Output) string {
	c := out.Case
	fired := map[string]bool{}
	for _, e := range out.Log {
		if text, set := strings.CutPrefix(e.Text, "Set the limit of the timer "); set && e.Kind == LogTask {
			name, _, _ := strings.Cut(text, " ")
			fired[name] = fired[name] && !anew(before, c, *e.Action)
			continue
		}
		text, expired := strings.CutPrefix(e.Text, "TimerExpired: ")
		if !expired {
			continue
		}
		name, rest, _ := strings.Cut(text, " ")
		if fired[name] {
			return name + " expired twice in an event"
		}
		fired[name] = true
		_, rest, _ = strings.Cut(rest, "due ")
		due, at, _ := strings.Cut(rest, ", fired at ")
		if at < due {
			return e.Text + ": too early"
		}
	}
	if !slices.IsSortedFunc(c.Timers, func(a, b Timer) int { return strings.Compare(a.Name, b.Name) }) {
		return "the timers are out of order"
	}
	over := c.Life == Canceled || c.Life == Failed || c.Life == Closed
	for i := range c.Timers {
		t := &c.Timers[i]
		switch at, known := findTimer(c, r, t.Name); {
		case t.blank() || t.Number > c.LastNumber || t.Number == 0 && !t.Date.IsZero():
			return t.Name + " is kept for nothing, or has no row"
		case !known && t.Visit == c.Visit || over:
			return t.Name + " outlives what it is about"
		case c.Life == Completed && at.kind != StateTimer && (t.On || t.Expired || !t.Date.IsZero()):
			return t.Name + " outlives the completion"
		}
	}
	for _, name := range Timers(c, r) {
		at, _ := findTimer(c, r, name)
		t := at.stored(c)
		if runs := (c.Life == Active || c.Life == Completed) && at.on(c, &t); runs && t.Date.IsZero() && at.limit(c, r, &t).Kind != route.NoLimit {
			if at.kind != TimeoutTimer {
				return name + " runs without a date"
			}
		}
		if t.Expired && t.Fired.IsZero() || t.Fired.After(c.Modified) {
			return name + " has expired, but never fired"
		}
		if TimerForm(c, r, name) == nil {
			return name + " has no form"
		}
	}
	return ""
}

// anew reports whether the enablement of an action is another than before the
// event. Its timers are others then, though they have the names of the former
// ones. By its definition such a timer expires later than it was enabled; but
// an event that comes after the end of a suspension wakes the case first, and
// may give what was enabled just then a limit that is over.
func anew(before, after *Case, action string) bool {
	row := func(c *Case) int64 {
		for i := range c.Enabled {
			if c.Enabled[i].Action == action {
				return c.Enabled[i].Number
			}
		}
		return 0
	}
	return row(before) != row(after)
}

// inverse checks that suspending and resuming at once leave the timers as
// they are once roles without players are looked for, as resuming does; and that turning one
// off and on again leaves them as they were.
func (w *walker) inverse(in Input) {
	if w.c.Life != Active || !w.maybe("inverse") {
		return
	}
	timers := func(c *Case) []byte {
		only := &Case{Timers: c.Timers, Enabled: slices.Clone(c.Enabled), LastNumber: c.LastNumber}
		return only.Marking()
	}
	filled, err := resolve(w, Input{Route: w.r, Case: w.c, Event: FillRoles{}, Now: in.Now, Facts: in.Facts}, w.messages)
	if err != nil {
		w.Fatal(err)
	}
	held := Input{Route: w.r, Case: w.c, Event: Suspend{Actor: actorNamed("sam")}, Now: in.Now, Facts: in.Facts}
	out, err := resolve(w, held, w.messages)
	if err != nil {
		w.Fatal(err)
	}
	held.Case, held.Event = out.Case, Resume{Actor: actorNamed("sam")}
	if out, err = resolve(w, held, w.messages); err != nil {
		w.Fatal(err)
	}
	if got, want := timers(out.Case), timers(filled.Case); !bytes.Equal(got, want) {
		w.Fatalf("suspended and resumed\n got %s\nwant %s", got, want)
	}
	for _, t := range w.c.Timers {
		if !t.On || t.Date.IsZero() {
			continue
		}
		d, err := begin(Input{Route: w.r, Case: w.c, Event: Due{}, Now: in.Now})
		if err != nil {
			w.Fatal(err)
		}
		stepRun{caseDecision: d}.turnTimer(t.Name, false)
		if at := d.c.timer(t.Name); at.On || !at.Date.Equal(t.Date) || at.Expired != t.Expired {
			w.Fatalf("turned off: %+v, was %+v", at, t)
		}
		stepRun{caseDecision: d}.turnTimer(t.Name, true)
		if got, want := timers(d.c), timers(w.c); !bytes.Equal(got, want) {
			w.Fatalf("off and on again\n got %s\nwant %s", got, want)
		}
	}
}

func (w *walker) maybe(label string) bool { return rapid.IntRange(0, 3).Draw(w.T, label) == 0 }
