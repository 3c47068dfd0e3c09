package events

import (
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// after returns the events after a number: in these tests events are numbers
// too.
func after(t *testing.T, b *Bus[int64], seq int64, most int) (events []int64, more bool) {
	t.Helper()
	found, more, ok := b.after(seq, most)
	if !ok {
		t.Fatalf("after %d: gone", seq)
	}
	for _, ev := range found {
		events = append(events, ev.Event)
	}
	return events, more
}

// TestBusOrder: numbers ascend, though the clock stands or goes back, and
// a reader gets all of them in parts of any size.
func TestBusOrder(t *testing.T) {
	t.Parallel()
	now := time.UnixMicro(1_000_000)
	b := NewBus[int64](func() time.Time { return now })
	begin := b.latest()
	const events = 3 * firstKept
	for i := range int64(events) {
		if i == events/2 {
			now = now.Add(-time.Second)
		}
		b.Publish(i)
	}
	for _, most := range []int{1, 7, firstKept, 10 * firstKept} {
		at, next := begin, int64(0)
		for more := true; more; {
			part, _, ok := b.after(at, most)
			if !ok || len(part) == 0 || len(part) > most {
				t.Fatalf("parts of %d: %d events after %d", most, len(part), at)
			}
			for _, ev := range part {
				if ev.Seq <= at || ev.Event != next {
					t.Fatalf("parts of %d: event %d has the number %d, after %d", most, ev.Event, ev.Seq, at)
				}
				at, next = ev.Seq, next+1
			}
			_, more = after(t, b, at, most)
			more = more || next < events
		}
		if next != events {
			t.Errorf("parts of %d: %d events", most, next)
		}
	}
}

// TestBusForgets: an hour, or so many events, and whoever is behind that
// or of another run is told so.
func TestBusForgets(t *testing.T) {
	t.Parallel()
	now := time.UnixMicro(1_000_000_000)
	b := NewBus[int64](func() time.Time { return now })
	begin := b.latest()
	b.Publish(1)
	first := b.latest()
	now = now.Add(keptFor)
	b.Publish(2)
	if ids, _ := after(t, b, begin, 10); len(ids) != 2 {
		t.Errorf("within the hour: %v", ids)
	}
	now = now.Add(time.Second)
	b.Publish(3)
	if _, _, ok := b.after(begin, 10); ok {
		t.Error("after more than an hour nothing is missing")
	}
	if ids, _ := after(t, b, first, 10); len(ids) != 2 {
		t.Errorf("what is kept: %v", ids)
	}
	for i := range int64(mostKept) {
		b.Publish(i)
	}
	if _, _, ok := b.after(first, 10); ok {
		t.Error("a full ring has lost nothing")
	}
	oldest := b.floor
	if ids, more := after(t, b, oldest, mostKept); len(ids) != mostKept || ids[0] != 0 || more {
		t.Errorf("a full ring holds %d, from %d", len(ids), ids[0])
	}
	for _, seq := range []int64{-1, 0, begin, b.latest() + 1} {
		if _, _, ok := b.after(seq, 10); ok {
			t.Errorf("the number %d was never given, and is known", seq)
		}
	}
	again := NewBus[int64](func() time.Time { return now.Add(time.Minute) })
	if _, _, ok := again.after(b.latest(), 10); ok {
		t.Error("another run knows the numbers of the one before")
	}
}

func TestBusReaders(t *testing.T) {
	t.Parallel()
	const sam, ann identity.ID = 1, 2
	b := NewBus[int64](time.Now)
	var readers []*Reader[int64]
	for range ReadersPerUser {
		r, err := b.Listen(sam, "")
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, r)
	}
	if _, err := b.Listen(sam, ""); !errs.Is(err, errs.TooMany) {
		t.Errorf("one more: %v", err)
	}
	if _, err := b.Listen(ann, ""); err != nil {
		t.Errorf("another user: %v", err)
	}
	readers[3].Close()
	readers[3].Close()
	if _, err := b.Listen(sam, ""); err != nil {
		t.Errorf("after one was closed: %v", err)
	}
	if _, err := b.Listen(sam, ""); !errs.Is(err, errs.TooMany) {
		t.Errorf("closing one twice made room for two: %v", err)
	}
}

// TestBusSlowReader: who does not read holds nobody up, and is told to look
// anew.
func TestBusSlowReader(t *testing.T) {
	t.Parallel()
	b := NewBus[int64](time.Now)
	r, err := b.Listen(1, "")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * mostKept {
		b.Publish(0) // would hang
	}
	if b.kept != mostKept {
		t.Errorf("%d events are kept", b.kept)
	}
	if events, _, ok := r.Ahead(); ok || len(events) > 0 {
		t.Errorf("a reader that has missed events reads %d of them on", len(events))
	}
	if r.Past() != b.latest() {
		t.Errorf("it is past %d then, want %d", r.Past(), b.latest())
	}
}

// TestWhatIsAheadStaysUntilItIsPassed: what is ahead stays ahead until it is passed.
func TestWhatIsAheadStaysUntilItIsPassed(t *testing.T) {
	t.Parallel()
	b := NewBus[int64](time.Now)
	b.Publish(1)
	r, err := b.Listen(1, "")
	if err != nil {
		t.Fatal(err)
	}
	if events, more, ok := r.Ahead(); len(events) > 0 || more || !ok {
		t.Errorf("a new reader has %v ahead", events)
	}
	b.Publish(2, 3)
	<-r.Wake()
	for range 2 {
		if events, more, ok := r.Ahead(); len(events) != 2 || events[0].Event != 2 || more || !ok {
			t.Errorf("there is %v ahead, want 2 and 3", events)
		}
	}
	events, _, _ := r.Ahead()
	r.Pass(events[0].Seq)
	if events, _, _ = r.Ahead(); len(events) != 1 || events[0].Event != 3 {
		t.Errorf("there is %v ahead, want 3", events)
	}
	b.Rouse()
	<-r.Wake()
}

// TestPublishAllocates: what is published is copied into the ring, and costs
// the writer nothing more.
func TestPublishAllocates(t *testing.T) {
	b := NewBus[int64](time.Now)
	for range mostKept {
		b.Publish(0) // until the ring is as large as it gets
	}
	if n := testing.AllocsPerRun(100, func() { b.Publish(1, 2, 3) }); n > 0 {
		t.Errorf("publishing allocates %v times", n)
	}
}
