package main

import (
	"context"
	"testing"

	"flowdrive/internal/identity"
)

// TestStoriesTakeTurns: a few stories are played at a time, and one of each user, so that
// nobody keeps others from storing their routes.
func TestStoriesTakeTurns(t *testing.T) {
	t.Parallel()
	p := &player{slots: make(chan struct{}, storiesAtATime), turns: map[identity.Name]*turn{}}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	admitted := func(by identity.Name) func() {
		t.Helper()
		done, err := p.admit(t.Context(), by)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	waits := func(by identity.Name) {
		t.Helper()
		if _, err := p.admit(over, by); err == nil {
			t.Errorf("a story of %s is played", by)
		}
	}
	sam := admitted("sam")
	waits("sam")
	ann := admitted("ann")
	waits("eve")
	sam()
	waits("ann")
	admitted("sam")()
	ann()
	if len(p.turns) != 0 || len(p.slots) != 0 {
		t.Errorf("left behind: %v, %d", p.turns, len(p.slots))
	}
}

// TestStoryIsAlone: a story sees the users and teams that it names and nothing of the
// server, and is refused if its route needs more.
func TestStoryIsAlone(t *testing.T) {
	t.Parallel()
	skipShort(t) // a story is played in a process
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Routes/mine.yaml", `
access: {start: [everyone]}
context: core
roles: {clerk: {assign: ["user:sam"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  end: {type: resolve, in: [open], role: clerk, to: done}
`[1:])
		r := s.broken("/dav/Workflow/Routes/mine.scenario.yaml", "as: admin\nsteps:\n- start: {}\n- perform: end\n  as: admin\n- start: {}\n  expect: {assignees: {end: [sam]}}\n")
		if r.Step != 3 || len(r.Errors) != 1 || r.Errors[0].Pointer != "/steps/2/expect/assignees/end" {
			t.Errorf("sam, who is a user of the server: %+v", r)
		}
		s.must("PUT", "/dav/Workflow/Routes/mine.scenario.yaml", "users: [sam]\nas: admin\nsteps:\n- start: {}\n  expect: {assignees: {end: [sam]}}\n")
	})
}
