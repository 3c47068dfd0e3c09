package engine

import (
	"testing"
	"time"

	"flowdrive/errs"
	"flowdrive/identity"
)

// seqs are the ids of the events after a number, as the tests give them.
func (b *eventBus) ids(t *testing.T, after int64, most int) (ids []int64, more bool) {
	t.Helper()
	events, more, ok := b.after(after, most)
	if !ok {
		t.Fatalf("after %d: gone", after)
	}
	for _, ev := range events {
		ids = append(ids, ev.ID)
	}
	return ids, more
}

// TestEventBusOrder: numbers ascend, though the clock stands or goes back, and
// a reader gets all of them in parts of any size.
func TestEventBusOrder(t *testing.T) {
	t.Parallel()
	now := time.UnixMicro(1_000_000)
	b := newEventBus(func() time.Time { return now })
	begin := b.latest()
	const events = 3 * firstKept
	for i := range int64(events) {
		if i == events/2 {
			now = now.Add(-time.Second)
		}
		b.publish(Event{ID: i})
	}
	for _, most := range []int{1, 7, firstKept, 10 * firstKept} {
		at, next := begin, int64(0)
		for more := true; more; {
			part, _, ok := b.after(at, most)
			if !ok || len(part) == 0 || len(part) > most {
				t.Fatalf("parts of %d: %d events after %d", most, len(part), at)
			}
			for _, ev := range part {
				if ev.Seq <= at || ev.ID != next {
					t.Fatalf("parts of %d: event %d has the number %d, after %d", most, ev.ID, ev.Seq, at)
				}
				at, next = ev.Seq, next+1
			}
			_, more = b.ids(t, at, most)
			more = more || next < events
		}
		if next != events {
			t.Errorf("parts of %d: %d events", most, next)
		}
	}
}

// TestEventBusForgets: an hour, or so many events, and whoever is behind that
// or of another run is told so.
func TestEventBusForgets(t *testing.T) {
	t.Parallel()
	now := time.UnixMicro(1_000_000_000)
	b := newEventBus(func() time.Time { return now })
	begin := b.latest()
	b.publish(Event{ID: 1})
	first := b.latest()
	now = now.Add(keepEvents)
	b.publish(Event{ID: 2})
	if ids, _ := b.ids(t, begin, 10); len(ids) != 2 {
		t.Errorf("within the hour: %v", ids)
	}
	now = now.Add(time.Second)
	b.publish(Event{ID: 3})
	if _, _, ok := b.after(begin, 10); ok {
		t.Error("after more than an hour nothing is missing")
	}
	if ids, _ := b.ids(t, first, 10); len(ids) != 2 {
		t.Errorf("what is kept: %v", ids)
	}
	for i := range int64(keptEvents) {
		b.publish(Event{ID: i})
	}
	if _, _, ok := b.after(first, 10); ok {
		t.Error("a full ring has lost nothing")
	}
	oldest := b.floor
	if ids, more := b.ids(t, oldest, keptEvents); len(ids) != keptEvents || ids[0] != 0 || more {
		t.Errorf("a full ring holds %d, from %d", len(ids), ids[0])
	}
	for _, seq := range []int64{-1, 0, begin, b.latest() + 1} {
		if _, _, ok := b.after(seq, 10); ok {
			t.Errorf("the number %d was never given, and is known", seq)
		}
	}
	again := newEventBus(func() time.Time { return now.Add(time.Minute) })
	if _, _, ok := again.after(b.latest(), 10); ok {
		t.Error("another run knows the numbers of the one before")
	}
}

func TestEventBusStreams(t *testing.T) {
	t.Parallel()
	e := New(Config{})
	sam, ann := identity.Principal{ID: 1}, identity.Principal{ID: 2}
	var streams []*Stream
	for range StreamsPerUser {
		s, err := e.Listen(sam, "")
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	if _, err := e.Listen(sam, ""); !errs.Is(err, errs.TooMany) {
		t.Errorf("one more: %v", err)
	}
	if _, err := e.Listen(ann, ""); err != nil {
		t.Errorf("another user: %v", err)
	}
	streams[3].Close()
	streams[3].Close()
	if _, err := e.Listen(sam, ""); err != nil {
		t.Errorf("after one was closed: %v", err)
	}
	if _, err := e.Listen(sam, ""); !errs.Is(err, errs.TooMany) {
		t.Errorf("closing one twice made room for two: %v", err)
	}
}

// TestEventBusSlowReader: who does not read holds nobody up.
func TestEventBusSlowReader(t *testing.T) {
	t.Parallel()
	e := New(Config{})
	if _, err := e.Listen(identity.Principal{ID: 1}, ""); err != nil {
		t.Fatal(err)
	}
	for range 2 * keptEvents {
		e.events.publish(Event{}) // would hang
	}
	if e.events.kept != keptEvents {
		t.Errorf("%d events are kept", e.events.kept)
	}
}
