package machine

import (
	"strings"
	"testing"
)

// An answer for which there is no room is not kept: the delivery has failed, and onError runs.
func TestAnswerWithoutRoom(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, outboxRoute))
	if err := p.do("sam ask"); err != nil {
		t.Fatal(err)
	}
	o := p.c.Outbox[0]
	for _, room := range []int64{3, 1000} {
		p.room = &room
		if err := p.event(answer(o, `{"ok": true}`)); err != nil {
			t.Fatal(err)
		}
		if room > 3 {
			break
		}
		if len(p.broke) != 1 || !strings.Contains(p.broke[0].Text, "its answer was not kept") || p.c.Shown() != Failed {
			t.Fatalf("without room: %s, %+v", p.c.Shown(), p.broke)
		}
		if err := p.do("admin !retry ask"); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.c.Outbox) != 0 || p.c.Shown() == Failed {
		t.Errorf("with room: %s, %d deliveries", p.c.Shown(), len(p.c.Outbox))
	}
}
