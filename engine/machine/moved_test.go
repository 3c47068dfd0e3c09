package machine

import (
	"strings"
	"testing"
)

// TestMovedByFault: a case that is ended by onError at its start says what has failed, and
// its starter is told of the end; one that is canceled says who has canceled it.
func TestMovedByFault(t *testing.T) {
	t.Parallel()
	p := newPlay(t, parsed(t, `
roles: {head: {assign: ["user:bob"]}}
states: {asked: {type: start}, refused: {type: denied}}
actions:
  ask: {trigger: init}
  count:
    trigger: auto
    in: [asked]
    max: 1
    onFire: [{set: {n: {cel: 'int("x")'}}}]
    onError: {to: refused}
  refuse: {in: [asked], role: head, to: refused}
`))
	p.script([]step{{"start", "completed refused:"}})
	if why := p.c.MovedByFault(); !strings.HasPrefix(why, "On error of count: ") || len(why) < len("On error of count: ")+5 {
		t.Errorf("why: %q", why)
	}
	c := started(t, parsed(t, article))
	c.script([]step{{"cancel", "canceled draft:"}})
	if m := c.c.Moved; m == nil || m.Text != "Canceled" || m.By == "" {
		t.Errorf("canceled: %+v", m)
	}
	if why := c.c.MovedByFault(); why != "" {
		t.Errorf("canceled, it says %q", why)
	}
}
