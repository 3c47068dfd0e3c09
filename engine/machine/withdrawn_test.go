package machine

import "testing"

// TestWithdrawnAlternatives: the log line of a performance names what could have been
// performed instead: what a transition leaves behind, and the others of a choice. What
// stays possible in the new state, and what was performed already, is not named.
func TestWithdrawnAlternatives(t *testing.T) {
	t.Parallel()
	const text = `
states: {a: {type: start}, b: {}, c: {type: denied}}
actions:
  begin: {trigger: init}
  grant: {allowed: everyone}
  confirm: {allowed: everyone}
  refuse: {allowed: everyone}
  ask: {in: [a, b], allowed: everyone}
  give-up: {in: [a], allowed: everyone, to: c}
  note: {always: true, allowed: everyone}
  left: {in: [b], allowed: everyone, choice: way}
  right: {in: [b], allowed: everyone, choice: way}
transitions:
  - {name: granted, from: a, to: b, requires: [grant, confirm]}
  - {name: refused, from: a, to: c, requires: [refuse]}
`
	for name, c := range map[string]struct {
		do   []string
		want string
	}{
		"a transition of several actions": {[]string{"sam grant", "sam confirm"}, "sam confirm (transition granted), which withdrew refuse, give-up"},
		"a transition that ends the case": {[]string{"sam refuse"}, "sam refuse (transition refused), which withdrew grant, confirm, ask, give-up"},
		"one action beside transitions":   {[]string{"sam grant", "sam give-up"}, "sam give-up, which withdrew confirm, refuse, ask"},
		"a choice":                        {[]string{"sam grant", "sam confirm", "sam right"}, "sam right, which withdrew left"},
		"a part of a transition":          {[]string{"sam grant"}, "sam grant"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := started(t, parsed(t, text))
			before := len(p.log)
			for _, step := range c.do {
				before = len(p.log)
				if err := p.do(step); err != nil {
					t.Fatal(err)
				}
			}
			if got := p.texts()[before]; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestLimitInExpressions: expressions see the limit of a timer as its form shows it,
// also after it was set.
func TestLimitInExpressions(t *testing.T) {
	t.Parallel()
	p := newTimerPlay(t, `
timers: {t: {limit: 300}, u: {}}
states: {a: {type: start}}
actions:
  begin: {trigger: init}
  short: {always: true, allowed: everyone, guard: 'timers["t"].limit == "PT5M" && timers.u.limit == null'}
  long: {always: true, allowed: everyone, guard: 'timers["t"].limit == "2024-03-01T12:00:00Z"'}
`)
	for _, s := range []struct{ do, want string }{
		{"09:00 start", "active a: short | long"}, {"09:01 set t 2024-03-01T12:00:00Z", "active a: long | short"},
	} {
		if err := p.at(s.do); err != nil || p.state() != s.want {
			t.Fatalf("%s: %v, %q; want %q", s.do, err, p.state(), s.want)
		}
	}
}
