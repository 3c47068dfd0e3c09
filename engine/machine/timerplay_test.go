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
			if limit, err = route.ParseLimit(text, nil); err != nil {
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
	if strings.Contains(string(TimerForm(p.c, p.r, name)), `"state": "`+out+`"`) != true {
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

// TestLimitRefused: a limit that is not valid is refused, and the timer stays as
// it is (TM-13).
func TestLimitRefused(t *testing.T) {
	t.Parallel()
	p := newTimerPlay(t, `
timers: {t: {limit: 300}}
states: {a: {type: start}}
actions:
  begin: {trigger: init}
  on: {always: true, allowed: everyone, onFire: [{enableTimer: t}]}
`)
	p.script("t", []timerStep{{"09:00 start", ""}, {"09:00 on", ""}, {"09:05 tick", ""}})
	for _, bad := range []string{"-PT5S", "P-5D", "P1M", "P1Y", "next friday", "", "2024-02-30T10:00:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00"} {
		if err := p.at("09:06 set t " + bad); err == nil || p.shows("t") != "running 09:05:00 true 1" {
			t.Errorf("the limit %q: %v, %s", bad, err, p.shows("t"))
		}
	}
}

// TestPastLimit: an absolute limit that is past when it is set is shown and logged as it was
// set, though the timer expires a second after its last firing.
func TestPastLimit(t *testing.T) {
	t.Parallel()
	p := newTimerPlay(t, `
timers: {t: {limit: 300}}
states: {a: {type: start}}
actions:
  begin: {trigger: init}
  on: {always: true, allowed: everyone, onFire: [{enableTimer: t}]}
`)
	p.script("t", []timerStep{
		{"09:00 start", ""},
		{"09:00 on", "running 09:05:00 false 0"},
		{"09:05 tick", "running 09:05:00 true 1"},
		{"09:06 set t 2004-09-15T21:59:00Z", ""},
	})
	if form := string(TimerForm(p.c, p.r, "t")); !strings.Contains(form, `"2004-09-15T21:59:00Z"`) || strings.Contains(form, "2024-03-01T09:05:01") {
		t.Errorf("the form is %s", form)
	}
	p.script("t", []timerStep{{"09:07 tick", "running 09:05:01 true 2"}})
	if log := string(LogText(p.log)); !strings.Contains(log, "due 2004-09-15T21:59:00Z") || strings.Contains(log, "due 2024-03-01T09:05:01Z") {
		t.Errorf("the log is %s", log)
	}
}

// TestStateTimer: the timer of a state can take the decision (RQ-43).
func TestStateTimer(t *testing.T) {
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
}

// TestTaskTimerWarnings: the form of a task that is late has the warnings of its
// timers. A timer's warning goes when it gets another limit.
func TestTaskTimerWarnings(t *testing.T) {
	t.Parallel()
	p := newTimerPlay(t, `
states: {a: {type: start}, z: {type: complete}}
actions:
  begin: {trigger: init}
  work: {in: [a], allowed: everyone, dueIn: 600, offerTimeout: 120, to: z}
`)
	p.script("work.due", []timerStep{{"09:00 start", ""}, {"09:02 tick", ""}, {"09:10 tick", ""}})
	form := compact(t, TaskForm(p.c, p.r, "work", Beside{}))
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
}

func days(n int) (d clock.Duration) { return clock.Duration{Exact: time.Duration(n) * 24 * time.Hour} }
