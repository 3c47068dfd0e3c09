package machine

import (
	"fmt"
	"strings"
	"testing"
)

// TestTimeLimits: a task says what happens if nobody does anything, and when: by its own
// limits, by those of its state and case, by timers, and by other actions.
func TestTimeLimits(t *testing.T) {
	t.Parallel()
	r := parsed(t, `
roles: {head: {title: Head of desk, assign: [starter]}}
timeout: P9D
timers: {nag: {limit: PT1H, onExpire: [{mail: {to: [starter], subject: s, text: t}}]}, quiet: {limit: PT2H, onExpire: [{log: x}]}}
states:
  a: {type: start, timeout: P5D, onTimeout: [{log: late}, {perform: refuse}, {if: 'true', assign: {role: head, to: [dora]}}]}
  r: {type: denied, title: Refused}
  z: {type: complete}
actions:
  begin: {trigger: init, sideEffects: [{enableTimer: nag}, {enableTimer: quiet}]}
  sign: {in: [a], allowed: everyone, to: z, dueIn: P2D, offerTimeout: P1D, onOfferTimeout: [{suspend: true}]}
  refuse: {in: [a], allowed: everyone, to: r}
  close: {in: [a], to: z, trigger: time, timeout: P7D}
`)
	p := newPlay(t, r)
	p.script([]step{{"start", "active a: sign refuse | close"}})
	told := func(action string) string {
		var b strings.Builder
		for _, l := range TimeLimits(p.c, p.r, action) {
			fmt.Fprintf(&b, "%s %s: %s\n", l.At.Sub(p.c.Started), l.Kind, l.Then)
		}
		return b.String()
	}
	const common = `1h0m0s user: A mail is sent to the starter.
2h0m0s user: The timer expires. What follows depends on conditions of the route.
`
	const later = `120h0m0s state: The engine performs "refuse", and the case goes to "r" (Refused), which completes it; the role "Head of desk" is given to dora, if the route's condition for that holds.
168h0m0s timeout: The engine performs "close", and the case goes to "z", which completes it.
216h0m0s case: The case counts as overdue, and those concerned are told.
`
	if got, want := told("sign"), common+`24h0m0s offer: The case is suspended.
48h0m0s due: The task counts as overdue, and those concerned are told.
`+later; got != want {
		t.Errorf("sign\n got %s\nwant %s", got, want)
	}
	if got, want := told("refuse"), common+later; got != want {
		t.Errorf("refuse\n got %s\nwant %s", got, want)
	}
	p.c.Life = Suspended
	if got := told("sign"); got != "" {
		t.Errorf("suspended: %s", got)
	}
}
