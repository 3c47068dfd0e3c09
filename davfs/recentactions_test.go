package davfs

import (
	"strconv"
	"testing"
	"time"

	"flowdrive/internal/identity"
)

// TestRecent: the oldest makes room, what is over is dropped, and a second
// thing about a path takes the place of the first.
func TestRecent(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	r := newRecentActions[int](func() time.Time { return now }, time.Minute, 100, 1000)
	nth := func(n int) userPath {
		return userPathOf(identity.ID(1), addressOf([]string{"dav", "Workflow", "Schedule", strconv.Itoa(n) + ".json"}))
	}
	for n := range 102 {
		r.add(nth(n), n, 1)
	}
	if r.has(nth(0)) || r.has(nth(1)) || !r.has(nth(2)) || !r.has(nth(101)) || len(r.in(1, nth(0).folder)) != 100 || r.held != 100 {
		t.Errorf("%d of %d bytes are remembered, not the latest 100", len(r.in(1, nth(0).folder)), r.held)
	}
	r.add(nth(200), 200, 950)
	if r.has(nth(51)) || !r.has(nth(52)) || r.held != 1000 {
		t.Errorf("there are %d bytes", r.held)
	}
	r.add(nth(201), 201, 1001)
	if r.has(nth(201)) || !r.has(nth(52)) || r.held != 1000 {
		t.Errorf("something larger than all is remembered, and %d bytes", r.held)
	}
	r.forget(nth(200))

	for n := range 1000 { // always the same path
		r.add(nth(0), n, 1)
	}
	if last, _ := r.find(nth(0)); last != 999 || r.held > 100 || len(r.order) > 100 {
		t.Errorf("%d is kept of a path, %d bytes, %d actions", last, r.held, len(r.order))
	}
	if _, found := r.find(userPath{by: 2, folder: nth(0).folder, name: nth(0).name}); found {
		t.Error("it is remembered of somebody else")
	}
	r.forget(nth(0))
	if r.has(nth(0)) {
		t.Error("what was forgotten is remembered")
	}

	r.add(nth(1), 1, 1)
	now = now.Add(time.Minute)
	if !r.has(nth(1)) {
		t.Error("it is forgotten within its time")
	}
	now = now.Add(time.Second)
	if r.has(nth(1)) || len(r.in(1, nth(1).folder)) != 0 {
		t.Error("it is remembered after its time")
	}
	r.add(nth(2), 2, 1)
	if len(r.order) != 1 || len(r.folders) != 1 {
		t.Errorf("%d events are held after their time", len(r.order)-1)
	}
}
