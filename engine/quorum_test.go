package engine_test

import (
	"strings"
	"testing"

	"flowdrive/engine"
)

// TestQuorumOutOfReach: of a task that some can do, but fewer than it needs, people are
// told that, and not that nobody can do it.
func TestQuorumOutOfReach(t *testing.T) {
	t.Parallel()
	w := newWorld(t, notifier(engine.Channels{Mail: true}))
	w.as("admin").mustPutRoute("vote", `
context: ann
access: {start: [everyone], read: [everyone]}
roles: {voter: {assign: ["user:bob"], pick: [everyone]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  vote: {title: Vote, in: [open], to: done, need: 2 of voter}
`)
	id := w.as("sam").startCase(`{"route": "vote", "title": "One"}`)
	news := w.toldSince(id)
	who := func(text string) string {
		var names []string
		for _, line := range news() {
			if name, is := strings.CutSuffix(line, ": "+text); is {
				names = append(names, name)
			}
		}
		return strings.Join(names, " ")
	}
	const out = "Its quorum cannot be reached: Vote (it needs 2, and only 1 can do it)"
	same(t, "too few", who(out+" (One)"), "ann@example.org sam@example.org")
	if late := w.as("sam").statusPage(engine.StatusLate); !strings.Contains(late, out) || strings.Contains(late, "Nobody can") {
		t.Errorf("late.txt says\n%s", late)
	}
	w.as("ann").mustPutCase(ref(id), `{"roles": {"voter": ["bob", "eve"]}}`)
	same(t, "enough", who("Its quorum can be reached: Vote (One)"), "sam@example.org")
}
