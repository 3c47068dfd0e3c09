package machine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
)

// resting is a route with everything that can become due.
const resting = `
roles: {r: {assign: [starter]}}
states: {a: {type: start}, b: {}, c: {type: complete}}
actions:
  open: {trigger: init}
  go: {in: [a], role: r, to: b}
  nag: {in: [a], trigger: time, timeout: PT5M, past: Nagged}
  late: {in: [a], trigger: time, timeout: PT10M, past: Late}
  read: {in: [a], trigger: message, message: letter, past: Read}
  wait: {in: [a], trigger: auto, guard: "now > case.created + duration('1h')", past: Waited, max: 1}
  end: {in: [b], role: r, to: c}
  back: {in: [c], role: r, to: a}
`

func TestSuspend(t *testing.T) {
	t.Parallel()
	const active = "active a: go | nag late read wait"
	const held = "suspended a: go | nag late read wait"
	for name, steps := range map[string][]step{
		"without a date":              {{"sam !suspend", held}, {"+9000h due", held}, {"sam go", "!case-not-open"}},
		"with a date":                 {{"sam !suspend 1m", held}, {"+59s due", held}, {"+1s due", active}},
		"a date that has come":        {{"sam !suspend 0s", active}, {"sam !suspend -1h", active}},
		"what people do to tasks":     {{"sam !suspend", held}, {"admin !skip go", "!case-not-open"}, {"admin !abort nag", "!case-not-open"}, {"admin !retry nag", "!case-not-open"}, {"sam approve", "!not-found"}},
		"twice":                       {{"sam !suspend", held}, {"sam !suspend", held}, {"sam !resume", active}, {"sam !resume", active}},
		"another date":                {{"sam !suspend 1h", held}, {"sam !suspend 1m", held}, {"+1m due", active}},
		"no date after all":           {{"sam !suspend 1m", held}, {"sam !suspend", held}, {"+2m due", held}},
		"a date that has come, later": {{"sam !suspend", held}, {"sam !suspend 0s", active}},
		"changed meanwhile":           {{"sam !suspend", held}, {"sam n=5", held}, {"sam !resume", active}},
		"canceled meanwhile":          {{"sam !suspend 1h", held}, {"cancel", "canceled a:"}, {"+2h due", "canceled a:"}, {"sam !resume", "!case-not-open"}},
		"of what has ended":           {{"sam go", "active b: end"}, {"sam end", "completed c: back"}, {"sam !suspend", "!case-not-open"}, {"sam !resume", "!case-not-open"}},
		"an event after the date":     {{"sam !suspend 1m", held}, {"+2m sam go", "active b: end"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			started(t, parsed(t, resting)).script(steps)
		})
	}
	p := newPlay(t, parsed(t, resting))
	if err := p.do("sam !suspend"); !errs.Is(err, errs.CaseNotOpen) || asError(t, err).Detail == "" {
		t.Errorf("a queued case was suspended: %v", err)
	}
}

// TestResumeInOrder: what became due meanwhile is done at the resume instant,
// in the order in which it was due: an automatic action when it was enabled.
func TestResumeInOrder(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, resting))
	p.script([]step{
		{"+1m sam !suspend", "suspended a: go | nag late read wait"},
		{"+30m sam @letter dear", "suspended a: go | nag late read wait"},
		{"+60m due", "suspended a: go | nag late read wait"},
	})
	before := len(p.log)
	p.script([]step{{"ann !resume", "active a: go | nag late read"}})
	want := []string{"ann Resumed", "- Waited", "timer Nagged", "timer Late", "sam Read"}
	if got := p.texts()[before:]; !cmp.Equal(got, want) {
		t.Errorf("log %q, want %q", got, want)
	}
	for _, e := range p.log[before:] {
		if !e.Time.Equal(p.now) {
			t.Errorf("%s at %v, want %v", e.Text, e.Time, p.now)
		}
	}
	if due := p.c.NextDue(); !due.Equal(p.now.Add(5 * time.Minute)) {
		t.Errorf("due %v, want five minutes after the resume instant", due)
	}
}

// TestSuspendLog: who, when and until when.
func TestSuspendLog(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, resting))
	before := len(p.log)
	if err := p.event(Suspend{Actor: actorNamed("sam"), Comment: "holidays", Until: p.now.Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	p.script([]step{{"+2m due", "active a: go | nag late read wait"}})
	want := "2012-11-09T12:34:56Z sam Suspended until 2012-11-09T12:35:56Z (active → suspended): holidays\n" +
		"2012-11-09T12:36:56Z timer Resumed (suspended → active)\n"
	if got := string(LogText(p.log[before:])); got != want {
		t.Errorf("log\n%s\nwant\n%s", got, want)
	}
	for _, e := range p.log[before:] {
		if e.Kind != LogLife {
			t.Errorf("%s is of kind %s", e.Text, e.Kind)
		}
	}
}

// TestSuspendStep: a step suspends the case once it has its rows, and before
// anything else is performed.
func TestSuspendStep(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		steps string
		play  []step
		log   []string
	}{
		"for good": {"[{suspend: true}]", []step{
			{"sam go", "suspended b: end | tick"}, {"+9000h due", "suspended b: end | tick"}, {"sam !resume", "active b: end"},
		}, []string{"sam Gone", "- Suspended", "sam Resumed", "- Ticked"}},
		"until": {`[{suspend: {until: {cel: "now + duration('1h')"}}}]`, []step{
			{"sam go", "suspended b: end | tick"}, {"+1h due", "active b: end"},
		}, []string{"sam Gone", "- Suspended until 2012-11-09T13:34:56Z", "timer Resumed", "- Ticked"}},
		"until a date that has come": {`[{suspend: {until: "$__NOW__;"}}]`, nil, nil},
		"until now": {`[{suspend: {until: {cel: now}}}]`, []step{
			{"sam go", "active b: end"},
		}, []string{"sam Gone", "- Suspended until 2012-11-09T12:34:56Z", "timer Resumed", "- Ticked"}},
		"until null": {`[{suspend: {until: {cel: "null"}}}]`, []step{{"sam go", "suspended b: end | tick"}}, []string{"sam Gone", "- Suspended"}},
		"not":        {`[{suspend: true, if: "false"}]`, []step{{"sam go", "active b: end"}}, []string{"sam Gone", "- Ticked"}},
		"with what it wants done": {"[{perform: end}, {suspend: true}]", []step{
			{"sam go", "suspended b: end | tick"},
		}, []string{"sam Gone", "- Suspended", "- No effect: perform by go"}},
		"and cancels": {"[{suspend: true}, {cancel: true}]", []step{{"sam go", "canceled b:"}}, []string{"sam Gone", "- Canceled"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := started(t, parsed(t, `
roles: {r: {assign: [starter]}}
states: {a: {type: start}, b: {}, c: {type: complete}}
actions:
  open: {trigger: init}
  go: {in: [a], role: r, to: b, past: Gone, sideEffects: `+test.steps+`}
  end: {in: [b], role: r, to: c}
  tick: {in: [b], trigger: auto, max: 1, past: Ticked}
`))
			before := len(p.log)
			if test.play == nil {
				if err := p.do("sam go"); !errs.Is(err, errs.RouteFault) {
					t.Errorf("err %v, want a fault of the route", err)
				}
				return
			}
			p.script(test.play)
			if got := p.texts()[before:]; !cmp.Equal(got, test.log) {
				t.Errorf("log %q, want %q", got, test.log)
			}
		})
	}
}

// TestSuspendStepOfCompleteCase: a case that is complete cannot be suspended;
// one that leaves its complete status can.
func TestSuspendStepOfCompleteCase(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, `
roles: {r: {assign: [starter]}}
states: {a: {type: start}, c: {type: complete, onEnter: [{suspend: true}]}}
actions:
  open: {trigger: init}
  end: {in: [a], role: r, to: c, past: Ended}
  back: {in: [c], role: r, to: a, past: Back, sideEffects: [{suspend: true}]}
`))
	before := len(p.log)
	p.script([]step{{"sam end", "completed c: back"}, {"sam back", "suspended a: end"}, {"sam !resume", "active a: end"}})
	want := []string{"sam Ended", "- No effect: suspend by end", "sam Completed", "sam Back", "sam Reopened", "- Suspended", "sam Resumed"}
	if got := p.texts()[before:]; !cmp.Equal(got, want) {
		t.Errorf("log %q, want %q", got, want)
	}
	if !p.c.Completed.IsZero() {
		t.Errorf("completed %v", p.c.Completed)
	}
}
