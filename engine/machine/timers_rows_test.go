package machine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/route"
)

// timerPlay is a case of the rows on timers. Its times are of the day that
// the tables are written for.
type timerPlay struct{ *play }

// timersOfUser is the route of the rows on user-defined timers: people turn t
// on and off. What a row adds to t and to the route comes in its own words.
func timersOfUser(t string, more string) string {
	return `
timers: {t: {` + t + `}, other: {limit: PT1H}}
states: {a: {type: start}, z: {type: complete}}
actions:
  begin: {trigger: init}
  on: {always: true, allowed: everyone, onFire: [{enableTimer: t}]}
  off: {always: true, allowed: everyone, onFire: [{disableTimer: t}]}
  again: {always: true, allowed: everyone, onFire: [{setTimer: {name: t, limit: 30}}, {enableTimer: t}]}
  end: {in: [a], allowed: everyone, to: z}
` + more
}

func newTimerPlay(t *testing.T, text string) *timerPlay {
	t.Helper()
	p := &play{t: t, r: parsed(t, text), c: seed(), messages: map[string][]byte{}, now: instantOfDay(t, "08:00")}
	if err := p.event(Create{}); err != nil {
		t.Fatal(err)
	}
	return &timerPlay{p}
}

func instantOfDay(tb testing.TB, text string) time.Time {
	tb.Helper()
	if strings.Count(text, ":") == 1 {
		text += ":00"
	}
	at, err := time.Parse(time.DateTime, "2024-03-01 "+text)
	if err != nil {
		tb.Fatal(err)
	}
	return at
}

// at carries out a step at its time: "09:00 start", "09:02 on" (performed by
// sam), "09:05 tick", "09:10 set t PT5M", "09:10 cancel".
func (p *timerPlay) at(step string) error {
	p.t.Helper()
	when, what, _ := strings.Cut(step, " ")
	p.now = instantOfDay(p.t, when)
	switch rest, sets := strings.CutPrefix(what, "set "); {
	case sets:
		name, text, _ := strings.Cut(rest, " ")
		var limit route.Limit
		if text != "none" {
			var err error
			if limit, err = route.ParseLimit(text); err != nil {
				return err
			}
		}
		return p.event(SetTimer{Timer: name, Actor: actorNamed("sam"), Limit: limit})
	case what == "tick":
		return p.event(Due{})
	case what == "start", what == "cancel":
		return p.do(what)
	case what == "suspend", what == "resume":
		return p.do("sam !" + what)
	case strings.HasPrefix(what, "admin "):
		return p.do(what)
	}
	return p.do("sam " + what)
}

// shows renders a timer: its state, the time of its date, its flag, and how
// often it has expired.
func (p *timerPlay) shows(name string) string {
	p.t.Helper()
	at, ok := findTimer(p.c, p.r, name)
	if !ok {
		return "none"
	}
	t := at.stored(p.c)
	out, date := "off", "-"
	if at.on(p.c, &t) {
		out = "running"
		if p.c.suspended() {
			out = "suspended"
		}
	}
	if !t.Date.IsZero() {
		date = t.Date.Format("15:04:05")
	}
	if strings.Contains(string(TimerForm(p.c, p.r, name)), `"state":"`+out+`"`) != true {
		p.t.Fatalf("the form of %s is %s", name, TimerForm(p.c, p.r, name))
	}
	return fmt.Sprintf("%s %s %t %d", out, date, t.Expired, p.expiries(name))
}

// expiries counts how often the timer has expired, by the log.
func (p *timerPlay) expiries(name string) (n int) {
	for _, e := range p.log {
		if e.Kind == LogTimer && strings.HasPrefix(e.Text, "TimerExpired: "+name+" ") {
			n++
		}
	}
	return n
}

// timerStep is a step and how the timer of the row is afterwards; "" asks for
// nothing, "!kind" for a refusal.
type timerStep struct{ do, want string }

func (p *timerPlay) script(name string, steps []timerStep) {
	p.t.Helper()
	for i, s := range steps {
		err := p.at(s.do)
		got := p.shows(name)
		if err != nil {
			got = "!" + string(errs.KindOf(err))
		}
		if s.want != "" && got != s.want {
			p.t.Fatalf("step %d, %q:\n got %s\nwant %s\n err %v\n%s", i+1, s.do, got, s.want, err, LogText(p.log))
		}
	}
}

// TestConformanceUserTimers plays the rows on user-defined timers: their core
// behaviour, turning off and on, and changes of limits.
func TestConformanceUserTimers(t *testing.T) {
	t.Parallel()
	const l300 = "limit: 300"
	start := timerStep{"09:00 start", "off - false 0"}
	for id, test := range map[string]struct {
		timer string
		steps []timerStep
	}{
		"TM-01": {l300, []timerStep{start, {"12:00 tick", "off - false 0"}}},
		"TM-02": {l300, []timerStep{start, {"09:00 on", "running 09:05:00 false 0"}, {"09:04:59 tick", "running 09:05:00 false 0"}, {"09:05 tick", "running 09:05:00 true 1"}}},
		"TM-03": {l300, []timerStep{start, {"09:00 on", ""}, {"09:07:30 tick", "running 09:05:00 true 1"}}},
		"TM-04": {l300, []timerStep{start, {"09:00 on", ""}, {"09:05 tick", "running 09:05:00 true 1"}, {"09:06 tick", "running 09:05:00 true 1"}, {"23:00 tick", "running 09:05:00 true 1"}}},
		"TM-05": {"", []timerStep{start, {"09:00 set t 2024-03-01T21:59:00+01:00", "off - false 0"}, {"09:00 on", "running 20:59:00 false 0"}, {"20:58:59 tick", "running 20:59:00 false 0"}, {"20:59 tick", "running 20:59:00 true 1"}}},
		"TM-06": {"", []timerStep{start, {"09:00 set t 2024-03-01T08:00:00Z", "off - false 0"}, {"09:00 on", "running 08:00:00 true 1"}}},
		"TM-07": {"limit: 0", []timerStep{start, {"09:00 on", "running 09:00:00 true 1"}}},
		"TM-08": {"", []timerStep{start, {"09:00 set t PT5M", "off - false 0"}, {"09:10 on", "running 09:15:00 false 0"}}},
		"TM-09": {l300, []timerStep{start, {"09:00 on", "running 09:05:00 false 0"}, {"09:02 on", "running 09:05:00 false 0"}}},
		"TM-10": {l300, []timerStep{start, {"09:00 off", "off - false 0"}}},
		"TM-11": {"", []timerStep{start, {"09:00 on", "running - false 0"}, {"18:00 tick", "running - false 0"}, {"18:10 set t PT60S", "running 18:11:00 false 0"}, {"18:11 tick", "running 18:11:00 true 1"}}},
		"TM-12": {l300, []timerStep{start, {"09:00 on", ""}, {"09:02 set t none", "running - false 0"}, {"10:00 tick", "running - false 0"}}},
		"TM-26": {l300, []timerStep{start, {"09:00 on", ""}, {"09:01 off", "off 09:05:00 false 0"}, {"09:05 tick", "off 09:05:00 false 0"}}},
		"TM-27": {l300, []timerStep{start, {"09:00 on", ""}, {"09:01 off", ""}, {"09:03 on", "running 09:05:00 false 0"}, {"09:05 tick", "running 09:05:00 true 1"}}},
		"TM-29": {l300, []timerStep{start, {"09:00 on", ""}, {"09:05 tick", ""}, {"09:06 off", "off 09:05:00 true 1"}, {"09:07 on", "running 09:05:00 true 1"}}},
		"TM-30": {l300, []timerStep{start, {"09:00 on", ""}, {"09:01 off", ""}, {"09:02 set t PT60S", "off - false 0"}, {"09:10 on", "running 09:11:00 false 0"}}},
		"TM-31": {l300, []timerStep{start, {"09:00 on", ""}, {"09:05 tick", ""}, {"09:10 set t PT2M", "running 09:12:00 false 1"}, {"09:12 tick", "running 09:12:00 true 2"}}},
		"TM-32": {l300, []timerStep{start, {"09:00 on", ""}, {"09:05 tick", ""}, {"09:10 set t PT300S", "running 09:15:00 false 1"}, {"09:15 tick", "running 09:15:00 true 2"}}},
		"TM-33": {l300, []timerStep{start, {"09:00 on", ""}, {"09:03 set t PT10M", "running 09:13:00 false 0"}, {"09:05 tick", "running 09:13:00 false 0"}, {"09:13 tick", "running 09:13:00 true 1"}}},
		"TM-39": {l300, []timerStep{start, {"09:00 on", ""}, {"09:05 tick", ""}, {"09:06 off", "off 09:05:00 true 1"}, {"09:07 set t PT10S", "off - false 1"}}},
		"TM-40": {"limit: 0", []timerStep{
			start,
			{"08:59 on", "running 09:00:00 true 1"}, // a clock that steps back does not move a case
			{"09:00 again", "running 09:00:30 false 1"},
			{"09:00:30 tick", "running 09:00:30 true 2"},
			{"09:31 again", "running 09:31:30 false 2"},
			{"09:31:30 tick", "running 09:31:30 true 3"},
			{"10:02 again", "running 10:02:30 false 3"},
			{"10:02:30 tick", "running 10:02:30 true 4"},
		}},
		"TM-45": {"limit: 5, onExpire: [{setTimer: {name: t, limit: 0}}]", []timerStep{
			start,
			{"09:00 on", "running 09:00:05 false 0"},
			{"09:00:05 tick", "running 09:00:06 false 1"},
			{"09:00:05 tick", "running 09:00:06 false 1"},
			{"09:00:06 tick", "running 09:00:07 false 2"},
		}},
		"TM-46":       {"limit: 5, onExpire: [{disableTimer: t}]", []timerStep{start, {"09:00 on", ""}, {"09:00:05 tick", "off 09:00:05 true 1"}}},
		"TM-79":       {l300, []timerStep{start, {"09:00 on", ""}, {"09:20 tick", "running 09:05:00 true 1"}, {"09:21 tick", "running 09:05:00 true 1"}}},
		"TM-81":       {l300, []timerStep{start, {"09:00 on", ""}, {"09:05 tick", ""}, {"09:01 tick", "running 09:05:00 true 1"}, {"09:06 tick", "running 09:05:00 true 1"}}},
		"I8":          {l300, []timerStep{start, {"09:00 on", ""}, {"09:01 end", "off - false 0"}, {"09:02 on", "off - false 0"}, {"09:30 tick", "off - false 0"}}},
		"I8/canceled": {l300, []timerStep{start, {"09:00 on", ""}, {"09:01 cancel", "off - false 0"}, {"09:30 tick", "off - false 0"}, {"09:30 set t PT1S", "!case-not-open"}}},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			p := newTimerPlay(t, timersOfUser(test.timer, ""))
			p.script("t", test.steps)
		})
	}
	t.Run("TM-13", func(t *testing.T) {
		t.Parallel()
		p := newTimerPlay(t, timersOfUser(l300, ""))
		p.script("t", []timerStep{start, {"09:00 on", ""}, {"09:05 tick", ""}})
		for _, bad := range []string{"-PT5S", "P-5D", "P1M", "P1Y", "next friday", "", "2024-03-01T10:00:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00"} {
			if err := p.at("09:06 set t " + bad); err == nil || p.shows("t") != "running 09:05:00 true 1" {
				t.Errorf("the limit %q: %v, %s", bad, err, p.shows("t"))
			}
		}
	})
}

// TestConformanceTimerHandlers plays the rows on handlers and guards.
func TestConformanceTimerHandlers(t *testing.T) {
	t.Parallel()
	log := func(p *timerPlay) string { return string(LogText(p.log)) }
	t.Run("TM-42", func(t *testing.T) {
		t.Parallel()
		p := newTimerPlay(t, timersOfUser(`limit: 5, onExpire: [{log: {cel: '"h1 " + string(timers.t.expired)'}}, {log: {cel: '"h2 " + string(timers.t.expired)'}}]`, ""))
		p.script("t", []timerStep{{"09:00 start", ""}, {"09:00 on", ""}, {"09:00:05 tick", "running 09:00:05 true 1"}})
		if got := log(p); strings.Count(got, "h1 true\n") != 1 || strings.Index(got, "h1 true") > strings.Index(got, "h2 true") {
			t.Errorf("log:\n%s", got)
		}
	})
	t.Run("TM-43", func(t *testing.T) {
		t.Parallel()
		p := newTimerPlay(t, timersOfUser(`limit: 5, onExpire: [{set: {x: {cel: xattr.none}}}, {log: h2}]`, ""))
		p.script("t", []timerStep{{"09:00 start", ""}, {"09:00 on", ""}, {"09:00:05 tick", "running 09:00:05 true 1"}, {"09:30 tick", "running 09:00:05 true 1"}})
		if got := log(p); strings.Count(got, "Handler 1 of the timer t failed") != 1 || strings.Count(got, "- h2\n") != 1 || p.c.Life != Active {
			t.Errorf("log:\n%s", got)
		}
	})
	t.Run("TM-47", func(t *testing.T) {
		t.Parallel()
		p := newTimerPlay(t, timersOfUser(`limit: 5`, ""))
		p.script("t", []timerStep{{"09:00 start", ""}, {"09:00 on", ""}, {"09:00:05 tick", "running 09:00:05 true 1"}})
		if len(p.c.Warnings) > 0 {
			t.Errorf("warnings %v", p.c.Warnings)
		}
		last := p.log[len(p.log)-1]
		if want := "TimerExpired: t (user), due 2024-03-01T09:00:05Z, fired at 2024-03-01T09:00:05Z"; last.Kind != LogTimer || last.Text != want || *last.Actor != ActorTimer {
			t.Errorf("got %+v", last)
		}
	})
	t.Run("TM-49", func(t *testing.T) {
		t.Parallel()
		p := newTimerPlay(t, timersOfUser(`limit: 30`, "  wait: {trigger: auto, in: [a], guard: 'timers.t.expired', to: z}\n"))
		p.script("t", []timerStep{{"09:00 start", ""}, {"09:00 on", "running 09:00:30 false 0"}, {"09:00:29 tick", ""}, {"09:00:30 tick", "off - false 1"}})
		if got := p.state(); got != "completed z: on off again" {
			t.Errorf("state %s", got)
		}
	})
	t.Run("TM-50", func(t *testing.T) {
		t.Parallel()
		p := newTimerPlay(t, timersOfUser(`limit: 30`, "  work: {in: [a], allowed: everyone, guard: '!timers.t.expired', dueIn: 600, offerTimeout: 120}\n"))
		p.script("work.due", []timerStep{{"09:00 start", "running 09:10:00 false 0"}, {"09:00 on", ""}, {"09:00:30 tick", "off 09:10:00 false 0"}, {"09:30 tick", "off 09:10:00 false 0"}})
		if got := p.shows("work.offer"); got != "off 09:02:00 false 0" {
			t.Errorf("offer %s", got)
		}
	})
	t.Run("RQ-43", func(t *testing.T) {
		t.Parallel()
		p := &timerPlay{&play{t: t, r: requestRoute(t, "", ""), c: seed(), messages: map[string][]byte{}, now: startOfTests()}}
		for i := range p.r.States {
			if p.r.States[i].Name == "a" {
				p.r.States[i].OnTimeout = parsed(t, "states: {a: {type: start}}\nactions: {b: {trigger: init, onFire: [{log: late}]}}").Actions[0].OnFire
				p.r.States[i].OnTimeout = append(p.r.States[i].OnTimeout, route.Step{Verb: route.StepPerform, Action: p.r.Action("deny-executives")})
				p.r.States[i].Timeout = new(days(3))
			}
		}
		if err := p.event(Create{}); err != nil {
			t.Fatal(err)
		}
		p.play.script([]step{{"start", inA}, {"+71h59m59s due", inA}, {"+1s due", denied}})
	})
}

// TestConformanceCaseTimer plays the rows on the timer of the case.
func TestConformanceCaseTimer(t *testing.T) {
	t.Parallel()
	base := func(head string) string {
		return head + `
states: {a: {type: start}, z: {type: complete}}
actions:
  begin: {trigger: init}
  end: {in: [a], allowed: everyone, to: z}
  back: {enabledIn: [z], allowed: everyone, to: a}
`
	}
	for id, test := range map[string]struct {
		head     string
		steps    []timerStep
		warnings int
	}{
		"TM-51":     {"timeout: PT1H", []timerStep{{"08:30 tick", "off - false 0"}, {"09:00 start", "running 10:00:00 false 0"}}, 0},
		"TM-51/set": {"timeout: PT1H", []timerStep{{"08:30 set case PT2H", "off - false 0"}, {"09:00 start", "running 11:00:00 false 0"}}, 0},
		"TM-52":     {"timeout: PT1H", []timerStep{{"09:00 start", ""}, {"10:00 tick", "running 10:00:00 true 1"}}, 1},
		"TM-53":     {"timeout: PT1H", []timerStep{{"09:00 start", ""}, {"09:59 end", "off - false 0"}, {"10:00 tick", "off - false 0"}}, 0},
		"TM-54":     {"timeout: PT1H", []timerStep{{"09:00 start", ""}, {"09:30 cancel", "off - false 0"}, {"10:00 tick", "off - false 0"}}, 0},
		"TM-55":     {"timeout: PT1H", []timerStep{{"09:00 start", ""}, {"09:10 suspend", "suspended 10:00:00 false 0"}, {"10:30 resume", "running 10:00:00 true 1"}}, 1},
		"TM-56":     {"timeout: 0", []timerStep{{"09:00 start", "running - false 0"}, {"23:00 tick", "running - false 0"}}, 0},
		"TM-57":     {"timeout: PT1H\nonTimeout: [{log: late}]", []timerStep{{"09:00 start", ""}, {"10:00 tick", "running 10:00:00 true 1"}}, 0},
		"reopened":  {"timeout: PT1H", []timerStep{{"09:00 start", ""}, {"10:00 tick", ""}, {"10:10 end", "off - false 1"}, {"10:20 back", "running 11:20:00 false 1"}}, 0},
		"set": {"timeout: PT1H", []timerStep{
			{"09:00 start", ""}, {"10:00 tick", "running 10:00:00 true 1"}, {"10:10 set case 2024-03-01T12:00:00Z", "running 12:00:00 false 1"}, {"11:00 tick", "running 12:00:00 false 1"},
		}, 0},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			p := newTimerPlay(t, base(test.head))
			p.script("case", test.steps)
			if len(p.c.Warnings) != test.warnings {
				t.Errorf("warnings %v", p.c.Warnings)
			}
		})
	}
}

// TestConformanceTaskTimers plays the rows on the timers of tasks.
func TestConformanceTaskTimers(t *testing.T) {
	t.Parallel()
	base := func(more, others string) string {
		return `
xattrs: {open: {type: boolean, default: true}}
states: {a: {type: start}, z: {type: complete}}
actions:
  begin: {trigger: init}
  work: {in: [a], allowed: everyone, dueIn: 600, offerTimeout: 120, guard: xattr.open, to: z` + more + `}
  shut: {always: true, allowed: everyone, onFire: [{set: {open: false}}]}
  unshut: {always: true, allowed: everyone, onFire: [{set: {open: true}}]}
` + others
	}
	start := "09:00 start"
	for id, test := range map[string]struct {
		timer, more, others string
		steps               []timerStep
	}{
		"TM-58":       {"work.offer", "", "", []timerStep{{start, "running 09:02:00 false 0"}, {"09:02 tick", "running 09:02:00 true 1"}, {"09:10 tick", "running 09:02:00 true 1"}}},
		"TM-58/due":   {"work.due", "", "", []timerStep{{start, "running 09:10:00 false 0"}, {"09:02 tick", "running 09:10:00 false 0"}, {"09:10 tick", "running 09:10:00 true 1"}}},
		"TM-65":       {"work.due", "", "", []timerStep{{start, ""}, {"09:01 shut", "off 09:10:00 false 0"}, {"09:02 tick", ""}, {"09:10 tick", "off 09:10:00 false 0"}}},
		"TM-65/offer": {"work.offer", "", "", []timerStep{{start, ""}, {"09:01 shut", "off 09:02:00 false 0"}, {"09:10 tick", "off 09:02:00 false 0"}}},
		"TM-66":       {"work.offer", "", "", []timerStep{{start, ""}, {"09:01 shut", "off 09:02:00 false 0"}, {"09:05 unshut", "running 09:02:00 true 1"}}},
		"TM-66/due":   {"work.due", "", "", []timerStep{{start, ""}, {"09:01 shut", ""}, {"09:05 unshut", "running 09:10:00 false 0"}, {"09:10 tick", "running 09:10:00 true 1"}}},
		"first offer": {"work.due", "", "", []timerStep{{"09:00 open=false", ""}, {start, "off - false 0"}, {"09:05 unshut", "running 09:15:00 false 0"}}},
		"TM-68":       {"work.due", "", "", []timerStep{{start, ""}, {"09:01 admin !skip work", "none"}, {"09:10 tick", "none"}}},
		"TM-69":       {"work.due", "", "", []timerStep{{start, ""}, {"09:01 admin !abort work", "none"}, {"09:10 tick", "none"}}},
		"TM-69/case":  {"work.due", "", "", []timerStep{{start, ""}, {"09:01 cancel", "none"}, {"09:10 tick", "none"}}},
		"TM-77":       {"work.due", ", onDue: [{abort: work}]", "", []timerStep{{start, ""}, {"09:10 tick", "none"}}},
		"TM-78": {"retry", "", "  fails: {trigger: auto, in: [a], max: 1, onFire: [{set: {x: {cel: xattr.none}}}]}\n  mend: {always: true, allowed: everyone, onFire: [{set: {none: 1}}]}\ntimers: {retry: {limit: PT1M, onExpire: [{retry: fails}]}}\nsideEffects: [{enableTimer: retry}]\n", []timerStep{
			{start, "running 09:01:00 false 0"}, {"09:00:30 mend", ""}, {"09:01 tick", "running 09:01:00 true 1"},
		}},
		"TM-72":     {"work.offer", "", "", []timerStep{{start, ""}, {"09:01 suspend", "suspended 09:02:00 false 0"}, {"09:01:30 !accept work", "!case-not-open"}, {"09:05 resume", "running 09:02:00 true 1"}}},
		"TM-72/due": {"work.due", "", "", []timerStep{{start, ""}, {"09:01 suspend", "suspended 09:10:00 false 0"}, {"09:05 resume", "running 09:10:00 false 0"}}},
		"TM-74":     {"work.offer", "", "", []timerStep{{start, ""}, {"09:01 suspend", ""}, {"09:01:30 open=false", "suspended 09:02:00 false 0"}, {"09:05 resume", "off 09:02:00 true 1"}}},
		"late":      {"work.offer", "", "", []timerStep{{start, ""}, {"09:01 !suspend 2m", "suspended 09:02:00 false 0"}, {"09:05 set work.offer 2024-03-01T09:00:00Z", "running 09:05:01 false 1"}, {"09:05:01 tick", "running 09:05:01 true 2"}}},
		"late/gone": {"work.offer", ", timeout: 240", "", []timerStep{{start, ""}, {"09:01 !suspend 2m", ""}, {"09:05 set work.offer PT1H", "!not-found"}, {"09:05 tick", "none"}}},
		"late/anew": {"stay.offer", "", "  stay: {in: [a], allowed: everyone, offerTimeout: 120, timeout: 240}\n", []timerStep{
			{start, ""}, {"09:01 !suspend 2m", "suspended 09:02:00 false 0"}, {"09:05 set stay.offer 2024-03-01T09:00:00Z", "running 09:00:00 true 2"},
		}},
		"choice": {"work.due", ", choice: c", "  else: {in: [a], allowed: everyone, choice: c}\n", []timerStep{{start, ""}, {"09:01 else", "none"}}},
		"set":    {"work.due", "", "", []timerStep{{start, ""}, {"09:10 tick", "running 09:10:00 true 1"}, {"09:11 set work.due PT5M", "running 09:16:00 false 1"}, {"09:16 tick", "running 09:16:00 true 2"}}},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			p := newTimerPlay(t, base(test.more, test.others))
			p.script(test.timer, test.steps)
			if id == "TM-78" && p.c.count("fails") != 1 {
				t.Errorf("not retried:\n%s", LogText(p.log))
			}
		})
	}
	t.Run("TM-58/warnings", func(t *testing.T) {
		t.Parallel()
		p := newTimerPlay(t, base("", ""))
		p.script("work.due", []timerStep{{start, ""}, {"09:02 tick", ""}, {"09:10 tick", ""}})
		form := string(TaskForm(p.c, p.r, "work"))
		for _, want := range []string{
			`"state":"offered"`, `"due":"2024-03-01T09:10:00Z"`, `"acceptBy":"2024-03-01T09:02:00Z"`,
			`{"timer":"work.offer","time":"2024-03-01T09:02:00Z","text":"work was to be accepted by 2024-03-01T09:02:00Z"}`,
			`{"timer":"work.due","time":"2024-03-01T09:10:00Z","text":"work was to be performed by 2024-03-01T09:10:00Z"}`,
		} {
			if !strings.Contains(form, want) {
				t.Errorf("%s lacks %s", form, want)
			}
		}
		p.script("work.due", []timerStep{{"09:11 set work.due PT5M", ""}})
		if len(p.c.Warnings) != 1 || p.c.Warnings[0].Timer != "work.offer" {
			t.Errorf("warnings %v", p.c.Warnings)
		}
		p.script("work.due", []timerStep{{"09:12 work", "none"}})
		if len(p.c.Warnings) != 0 {
			t.Errorf("warnings %v", p.c.Warnings)
		}
	})
}

func days(n int) (d clock.Duration) { return clock.Duration{Exact: time.Duration(n) * 24 * time.Hour} }
