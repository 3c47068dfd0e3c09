package machine

import (
	"strings"
	"testing"

	"flowdrive/internal/errs"
)

// lifecycle says what each event does to a case in each state of its life
// (docs/contract/engine.md#1-life-cycle-of-a-case): the state afterwards, "="
// for no change of the case at all, or the kind of the refusal after "!".
const lifecycle = `
               queued          active        suspended      completed      closed         canceled       failed
start        | active        | !case-not-open | !case-not-open | !case-not-open | !case-not-open | !case-not-open | !case-not-open
sam go       | !case-not-open | completed    | !case-not-open | !action-not-enabled | !case-not-open | !case-not-open | !case-not-open
sam back     | !case-not-open | !action-not-enabled | !case-not-open | active | !case-not-open | !case-not-open | !case-not-open
sam approve  | !case-not-open | completed    | !case-not-open | !action-not-enabled | !case-not-open | !case-not-open | !case-not-open
sam nothing  | !not-found    | !not-found    | !not-found     | !not-found     | !not-found     | !not-found     | !not-found
admin !skip go | !case-not-open | completed  | !case-not-open | !action-not-enabled | !case-not-open | !case-not-open | !case-not-open
admin !abort go | !case-not-open | active    | !case-not-open | !action-not-enabled | !case-not-open | !case-not-open | !case-not-open
admin !retry go | !case-not-open | !action-not-enabled | !case-not-open | !action-not-enabled | !case-not-open | !case-not-open | !case-not-open
due          | =             | =             | =              | =              | =              | =              | =
+1h due      | =             | active        | =              | =              | =              | =              | =
+48h due     | =             | active        | active         | =              | =              | =              | =
sam @letter  | queued        | active        | suspended      | completed      | =              | =              | =
sam n=5      | queued        | active        | suspended      | completed      | closed         | canceled       | failed
sam !cancel  | canceled      | canceled      | canceled       | !case-not-open | !case-not-open | !case-not-open | !not-allowed
admin !cancel | canceled     | canceled      | canceled       | !case-not-open | !case-not-open | !case-not-open | canceled
sam !suspend | !case-not-open | suspended    | suspended      | !case-not-open | !case-not-open | !case-not-open | !case-not-open
sam !suspend 1h | !case-not-open | suspended | suspended      | !case-not-open | !case-not-open | !case-not-open | !case-not-open
sam !suspend -1h | !case-not-open | active   | active         | !case-not-open | !case-not-open | !case-not-open | !case-not-open
sam !suspend 24h | !case-not-open | suspended | =             | !case-not-open | !case-not-open | !case-not-open | !case-not-open
sam !resume  | !case-not-open | =            | active         | !case-not-open | !case-not-open | !case-not-open | !case-not-open
sam !reopen  | !case-not-open | !case-not-open | !case-not-open | !case-not-open | !case-not-open | active       | queued
`

// living is a case's route: n = 3 makes it loop, and fail to start.
const living = `
xattrs: {n: {type: number, default: 0}}
roles: {r: {assign: [starter]}}
states: {a: {type: start}, b: {}, c: {type: complete}}
actions:
  open: {trigger: init}
  go: {in: [a], role: r, to: c, type: approve}
  back: {in: [c], role: r, to: a}
  nag: {in: [a], trigger: time, timeout: PT30M}
  read: {in: [b], trigger: message, message: letter}
  ping: {in: [a], trigger: auto, guard: "xattr.n == 3", to: b}
  pong: {in: [b], trigger: auto, to: a}
`

// lived returns a case in that state of its life.
func lived(t *testing.T, life string) *play {
	t.Helper()
	p := newPlay(t, parsed(t, living))
	before := map[string][]string{
		"queued": nil, "active": {"start"}, "suspended": {"start", "sam !suspend 24h"}, "completed": {"start", "sam go"},
		"closed": {"start", "sam go"}, "canceled": {"start", "cancel"}, "failed": {"sam n=3", "start", "sam n=0"},
	}
	for _, do := range before[life] {
		if err := p.do(do); err != nil {
			t.Fatalf("%s: %v", do, err)
		}
	}
	if life == "closed" { // what a parent does that has moved on
		c := *p.c
		c.Life, c.Enabled = Closed, nil
		p.c = &c
	}
	if string(p.c.Life) != life {
		t.Fatalf("the case is %s, want %s", p.c.Life, life)
	}
	return p
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(lifecycle), "\n")
	lives := strings.Fields(lines[0])
	for _, line := range lines[1:] {
		cells := strings.Split(line, "|")
		if len(cells) != 1+len(lives) {
			t.Fatalf("%q has %d cells", line, len(cells))
		}
		do := strings.TrimSpace(cells[0])
		for i, life := range lives {
			want := strings.TrimSpace(cells[1+i])
			t.Run(do+"/"+life, func(t *testing.T) {
				t.Parallel()
				p := lived(t, life)
				before := p.c
				err := p.do(do)
				got := string(p.c.Life)
				switch {
				case err != nil:
					got = "!" + string(errs.KindOf(err))
				case p.c.Version == before.Version:
					got = "="
				}
				if got != want {
					t.Errorf("got %s, want %s (%v)\n%s", got, want, err, p.c.Marking())
				}
				if e := errs.KindOf(err); e == errs.CaseNotOpen && asError(t, err).Extra["state"] != life {
					t.Errorf("the refusal does not name the state: %+v", err)
				}
			})
		}
	}
}
