package machine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// foreseen returns a forecast as lines, the last of which says why it ends.
func (p *play) foreseen() (lines []string) {
	p.t.Helper()
	before := string(Form(p.c, p.r)) + fmt.Sprint(len(p.log))
	f, err := Foresee(Input{Route: p.r, Case: p.c, Facts: factsOfTests()}, func(facts *Facts, need Need) error {
		if need.Members == "" && need.Email == "" {
			return fmt.Errorf("the fact %+v", need)
		}
		set(&facts.Members, need.Members, membersOfTests()[need.Members])
		set(&facts.Emails, need.Email, emailsOfTests()[need.Email])
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	if string(Form(p.c, p.r))+fmt.Sprint(len(p.log)) != before {
		p.t.Error("a forecast has changed the case")
	}
	for _, s := range f.Steps {
		text := s.Text
		if s.Kind == LogTimer {
			text, _, _ = strings.Cut(text, " (")
		}
		line := s.At.Format("15:04") + " " + string(s.Kind) + " " + text
		if s.To != "" {
			line += " → " + s.To
		}
		lines = append(lines, line)
	}
	return append(lines, string(f.Then))
}

// TestForesee plays a case that nobody touches, on a clock of its own.
func TestForesee(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		route string
		want  []string
	}{
		"people": {
			`
states: {a: {type: start}}
actions: {begin: {trigger: init}, go: {in: [a], allowed: everyone}}
`, []string{"waits"},
		},
		"a due date without handlers, and a timed action behind it": {
			`
states: {a: {type: start}, b: {}, c: {type: complete}}
actions:
  begin: {trigger: init}
  go: {title: Go on, in: [a], allowed: everyone, to: c, dueIn: PT1H}
  give-up: {title: Give up, past: Given up, trigger: time, timeout: PT3H, in: [a], to: b}
  end: {past: Ended, trigger: time, timeout: PT1H, in: [b], to: c}
`, []string{
				"10:00 timer TimerExpired: go.due", "10:00 warning Go on was to be performed by 2024-03-01T10:00:00Z",
				"12:00 action Given up → b", "13:00 action Ended → c", "13:00 life Completed", "ended",
			},
		},
		"reminders are left out": {
			`
notify: {remind: P1D}
roles: {r: {assign: [starter]}}
states: {a: {type: start}}
actions: {begin: {trigger: init}, go: {in: [a], role: r}}
`, []string{"waits"},
		},
		"a timer that sets itself again": {
			`
timers: {t: {limit: PT1H, onExpire: [{setTimer: {name: t, limit: PT1H}}]}}
states: {a: {type: start}}
actions: {begin: {trigger: init, sideEffects: [{enableTimer: t}]}}
`, append(strings.Split(strings.TrimSuffix(strings.Repeat("timer TimerExpired: t,", 20), ","), ","), "more"),
		},
		"an answer from outside": {
			`
states: {a: {type: start}, b: {}}
actions:
  begin: {trigger: init}
  later: {trigger: time, timeout: PT1H, in: [a], to: b, past: Sent, sideEffects: [{http: {url: "https://example.org/", into: Answer}}]}
  much-later: {trigger: time, timeout: PT1H, in: [b]}
`, []string{"10:00 action Sent → b", "outside"},
		},
		"a mail has no answer": {
			`
states: {a: {type: start}, b: {}, c: {type: complete}}
actions:
  begin: {trigger: init}
  later: {trigger: time, timeout: PT1H, in: [a], to: b, past: Sent, sideEffects: [{mail: {to: [starter], subject: x, text: y}}]}
  much-later: {trigger: time, timeout: PT1H, in: [b], to: c, past: Ended}
`, []string{"10:00 action Sent → b", "11:00 action Ended → c", "11:00 life Completed", "ended"},
		},
		"expressions without end": {
			`
states: {a: {type: start}}
actions:
  begin: {trigger: init}
  later: {trigger: time, timeout: PT1H, in: [a], guard: '[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, a + b + c > 0)))'}
`, []string{"unknown"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTimerPlay(t, c.route)
			if err := p.at("09:00 start"); err != nil {
				t.Fatal(err)
			}
			got := p.foreseen()
			if strings.HasPrefix(name, "a timer that") {
				for i := range got {
					_, got[i], _ = strings.Cut(" "+got[i], " ")
					if at := strings.Index(got[i], "timer"); at > 0 {
						got[i] = got[i][at:]
					}
				}
			}
			if strings.HasPrefix(name, "expressions") {
				got = got[len(got)-1:]
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestForeseeStart: a queued case starts at its startAt, in the forecast too; without
// one it waits for its turn.
func TestForeseeStart(t *testing.T) {
	t.Parallel()
	p := newTimerPlay(t, "states: {a: {type: start}}\nactions: {begin: {trigger: init, past: Begun}}\n")
	if got := p.foreseen(); cmp.Diff([]string{"queued"}, got) != "" {
		t.Errorf("queued: %q", got)
	}
	p.c.StartAt = instantOfDay(t, "09:30")
	if got := p.foreseen(); cmp.Diff([]string{"09:30 action Begun → a", "waits"}, got) != "" {
		t.Errorf("with a startAt: %q", got)
	}
}
