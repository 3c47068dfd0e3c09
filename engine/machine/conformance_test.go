package machine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// TestConformance plays scenario tables, each row under its own id. Not here:
// B4 (the definition read back is the route package's), B5 and B7 (not
// applicable), A4 (a definition changed under running cases).
func TestConformance(t *testing.T) {
	t.Parallel()
	auto := func(trigger route.Trigger, timeout string) func(testing.TB) *route.Route {
		return func(tb testing.TB) *route.Route {
			tb.Helper()
			return makeRoute(tb, nil, "open closed!", act{name: "close", past: "Closed", in: "open", trigger: trigger, timeout: timeout, to: "closed"},
				act{name: "reopen", in: "closed", allowed: everybody(), to: "open"})
		}
	}
	for id, test := range map[string]struct {
		route func(testing.TB) *route.Route
		steps []step
	}{
		"B1": {bug, []step{{"start", "active open: comment edit resolve"}}},
		"B2": {bug, []step{
			{"start", "active open: comment edit resolve"},
			{"admin resolve", "active resolved: comment edit resolve reopen close"},
		}},
		"B3": {bug, []step{
			{"start", "active open: comment edit resolve"},
			{"admin resolve", "active resolved: comment edit resolve reopen close"},
			{"admin close", "completed closed: comment edit reopen"},
		}},
		"A1": {auto(route.TriggerAuto, ""), []step{{"start", "completed closed: reopen"}}},
		"A2": {auto(route.TriggerTime, "PT1S"), []step{{"start", "active open: | close"}}},
		"A3": {auto(route.TriggerTime, "PT1S"), []step{
			{"start", "active open: | close"},
			{"+999ms due", "active open: | close"},
			{"+1ms due", "completed closed: reopen"},
		}},
		"A6": {auto(route.TriggerTime, "PT1S"), []step{
			{"start", "active open: | close"},
			{"+1s due", "completed closed: reopen"},
			{"sam reopen", "active open: | close"},
			{"+1s due", "completed closed: reopen"},
		}},
		"CS3": {bug, []step{
			{"start", "active open: comment edit resolve"},
			{"admin resolve", "active resolved: comment edit resolve reopen close"},
			{"sam close", "completed closed: comment edit reopen"},
			{"sam reopen", "active open: comment edit resolve"},
		}},
		"CS1": {timed, []step{
			{"start", "active a: stay go | nag"},
			{"sam !suspend 48h", "suspended a: stay go | nag"},
			{"+172799s due", "suspended a: stay go | nag"},
			{"+1s due", "active a: stay go | nag"},
		}},
		"CS2": {timed, []step{
			{"start", "active a: stay go | nag"},
			{"sam !suspend", "suspended a: stay go | nag"},
			{"+9000h due", "suspended a: stay go | nag"},
			{"sam !resume", "active a: stay go | nag"},
		}},
		"TM3": {timed, []step{
			{"start", "active a: stay go | nag"},
			{"sam go", "active b: back"},
			{"+168h due", "active b: back"},
		}},
		"TM16": {bug, []step{
			{"start", "active open: comment edit resolve"},
			{"ann resolve", "!not-allowed"},
			{"ann comment", "!not-allowed"},
			{"", "active open: comment edit resolve"},
		}},
		"TM17": {bug, []step{
			{"start", "active open: comment edit resolve"},
			{"admin resolve", "active resolved: comment edit resolve reopen close"},
			{"sam close", "completed closed: comment edit reopen"},
			{"sam close", "!action-not-enabled"},
		}},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			newPlay(t, test.route(t)).script(test.steps)
		})
	}
}

// timed has a timed action in one state of two.
func timed(tb testing.TB) *route.Route {
	tb.Helper()
	return makeRoute(tb, nil, "a b",
		act{name: "nag", past: "Nagged", in: "a", trigger: route.TriggerTime, timeout: "P7D"},
		act{name: "stay", title: "Stayed", in: "a", allowed: everybody()},
		act{name: "go", in: "a", allowed: everybody(), to: "b"},
		act{name: "back", in: "b", allowed: everybody(), to: "a"})
}

// TestConformanceTimers plays the rows on time that look at more than the
// state.
func TestConformanceTimers(t *testing.T) {
	t.Parallel()
	count := func(p *play, text string) (n int) {
		for _, got := range p.texts() {
			if got == text {
				n++
			}
		}
		return n
	}
	t.Run("TM1", func(t *testing.T) {
		t.Parallel()
		p := started(t, timed(t))
		p.script([]step{{"+604799s due", "active a: stay go | nag"}})
		if n := count(p, "timer Nagged"); n != 0 {
			t.Errorf("fired %d times", n)
		}
	})
	t.Run("TM2", func(t *testing.T) {
		t.Parallel()
		p := started(t, timed(t))
		p.script([]step{{"+168h due", "active a: stay go | nag"}, {"due", "active a: stay go | nag"}})
		if n := count(p, "timer Nagged"); n != 1 {
			t.Errorf("fired %d times, want once", n)
		}
	})
	t.Run("TM5", func(t *testing.T) {
		t.Parallel()
		p := started(t, timed(t))
		due := p.c.NextDue()
		p.script([]step{{"+24h sam stay", "active a: stay go | nag"}})
		if got := p.c.NextDue(); !got.Equal(due) {
			t.Errorf("due %v, want as before %v", got, due)
		}
	})
	t.Run("TM6", func(t *testing.T) {
		t.Parallel()
		r := makeRoute(t, nil, "a", act{name: "remind", past: "Reminded", in: "a", allowed: everybody(), timeout: "P7D"})
		p := started(t, r)
		p.script([]step{{"+24h sam remind", "active a: remind"}})
		if got, want := p.c.NextDue(), startOfTests().AddDate(0, 0, 8); !got.Equal(want) {
			t.Errorf("due %v, want %v", got, want)
		}
		p.script([]step{{"+168h due", "active a: remind"}})
		if got, want := p.texts(), []string{"sam Created", "sam Opened", "sam Reminded", "timer Reminded"}; !cmp.Equal(got, want) {
			t.Errorf("log %q, want %q", got, want)
		}
	})
	t.Run("TM7", func(t *testing.T) {
		t.Parallel()
		r := makeRoute(t, nil, "a b",
			act{name: "y", past: "Y", in: "a", trigger: route.TriggerTime, timeout: "PT2S"},
			act{name: "x", past: "X", in: "a", trigger: route.TriggerTime, timeout: "PT1S", to: "b"})
		p := started(t, r)
		p.script([]step{{"+5s due", "active b:"}, {"+5s due", "active b:"}})
		if x, y := count(p, "timer X"), count(p, "timer Y"); x != 1 || y != 0 {
			t.Errorf("x fired %d times and y %d; want x alone, once", x, y)
		}
	})
	t.Run("TM8", func(t *testing.T) {
		t.Parallel()
		r := makeRoute(t, nil, "a b",
			act{name: "y", past: "Y", in: "a", enabledIn: "b", trigger: route.TriggerTime, timeout: "PT2S", to: "b"},
			act{name: "x", past: "X", in: "a", trigger: route.TriggerTime, timeout: "PT1S"})
		p := started(t, r)
		p.script([]step{{"+2s due", "active b: | y"}})
		if got, want := p.texts()[2:], []string{"timer X", "timer Y"}; !cmp.Equal(got, want) {
			t.Errorf("log %q, want %q", got, want)
		}
	})
	t.Run("TM9", func(t *testing.T) {
		t.Parallel()
		r := makeRoute(t, nil, "s a b c!",
			act{name: "go", past: "Gone", in: "s", allowed: everybody(), to: "a"},
			act{name: "first", past: "First", in: "a", trigger: route.TriggerTime, timeout: "PT0S", to: "b"},
			act{name: "second", past: "Second", in: "b", trigger: route.TriggerTime, timeout: "PT0S", to: "c"})
		p := started(t, r)
		p.script([]step{{"sam go", "completed c:"}})
		want := []string{"sam Created", "sam Opened", "sam Gone", "timer First", "timer Second", "timer Completed"}
		if got := p.texts(); !cmp.Equal(got, want) {
			t.Errorf("log %q, want %q", got, want)
		}
	})
	t.Run("TM19", func(t *testing.T) {
		t.Parallel()
		p := started(t, timed(t))
		p.script([]step{{"sam !suspend", "suspended a: stay go | nag"}, {"+168h due", "suspended a: stay go | nag"}})
		if n := count(p, "timer Nagged"); n != 0 {
			t.Errorf("fired %d times while suspended", n)
		}
		p.script([]step{{"sam !resume", "active a: stay go | nag"}})
		if n := count(p, "timer Nagged"); n != 1 {
			t.Errorf("fired %d times once resumed, want once", n)
		}
	})
	t.Run("TM10", func(t *testing.T) {
		t.Parallel()
		p := started(t, looping(t))
		before := p.c
		err := p.do("sam go")
		if !errs.Is(err, errs.EndlessLoop) || !strings.Contains(err.Error(), "ping, pong") {
			t.Errorf("err %v, want an endless loop of ping and pong", err)
		}
		if p.c != before {
			t.Error("the case has changed")
		}
	})
}

// looping has two automatic actions that set each other off, once somebody
// lets them.
func looping(tb testing.TB) *route.Route {
	tb.Helper()
	return makeRoute(tb, nil, "s a b",
		act{name: "go", in: "s", allowed: everybody(), timeout: "P1D", to: "a"},
		act{name: "ping", in: "a", trigger: route.TriggerAuto, to: "b"},
		act{name: "pong", in: "b", trigger: route.TriggerTime, timeout: "PT0S", to: "a"},
		act{name: "stop", always: true, allowed: everybody(), to: "s"})
}
