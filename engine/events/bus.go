// Package events keeps the latest events of a run under ascending numbers, and
// wakes those who read them. It knows neither what an event is about nor for
// whom it is.
package events

import (
	"sync"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

const (
	mostKept  = 32 << 10 // at most so many are replayed …
	keptFor   = time.Hour
	mostRead  = 256 // that a reader takes at once
	firstKept = 64  // the ring grows from here

	// ReadersPerUser is how many readers a user may have at a time
	// (docs/contract/drive.md#events).
	ReadersPerUser = 8
)

// Numbered is an event with its number.
type Numbered[E any] struct {
	Seq   int64 // ascending; see Bus
	Event E
}

// Bus keeps the latest events and wakes the readers. It is kept in memory. A
// reader that has missed events for longer, or over a restart, has to look at
// everything again.
//
// A number is the instant of the event in Unix microseconds, or one more than
// the number before. So the numbers of a run are above those of earlier runs.
// The distance of two numbers means nothing, and readers must not see a meaning
// in it.
type Bus[E any] struct {
	wall func() time.Time

	mu      sync.Mutex
	ring    []Numbered[E] // of a length that is a power of two
	oldest  int           // its index in the ring
	kept    int
	last    int64 // number of the newest one, ever
	floor   int64 // every event after this one is in the ring
	readers map[*Reader[E]]struct{}
	users   map[identity.ID]int // how many readers each has
}

// NewBus returns a bus whose numbers are made of that clock.
func NewBus[E any](wall func() time.Time) *Bus[E] {
	now := wall().UnixMicro()
	return &Bus[E]{
		wall: wall, ring: make([]Numbered[E], firstKept), last: now, floor: now,
		readers: map[*Reader[E]]struct{}{}, users: map[identity.ID]int{},
	}
}

// Publish keeps the events and wakes the readers. It does not block: it runs
// after commits, and the writer waits for it.
func (b *Bus[E]) Publish(events ...E) {
	now := b.wall().UnixMicro()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(now)
	for i := range events {
		b.last = max(b.last+1, now)
		slot := b.next()
		slot.Seq, slot.Event = b.last, events[i]
	}
	for r := range b.readers {
		r.rouse()
	}
}

// next makes room for one more event.
func (b *Bus[E]) next() *Numbered[E] {
	if b.kept == len(b.ring) {
		if len(b.ring) == mostKept {
			b.drop()
		} else {
			grown := make([]Numbered[E], 2*len(b.ring))
			for i := range b.kept {
				grown[i] = *b.at(i)
			}
			b.ring, b.oldest = grown, 0
		}
	}
	b.kept++
	return b.at(b.kept - 1)
}

// at returns the i-th oldest event.
func (b *Bus[E]) at(i int) *Numbered[E] { return &b.ring[(b.oldest+i)&(len(b.ring)-1)] }

// drop forgets the oldest event.
func (b *Bus[E]) drop() {
	first := b.at(0)
	b.floor = first.Seq
	*first = Numbered[E]{}
	b.oldest = (b.oldest + 1) & (len(b.ring) - 1)
	b.kept--
}

// forget drops what is older than is kept.
func (b *Bus[E]) forget(now int64) {
	for b.kept > 0 && b.at(0).Seq < now-keptFor.Microseconds() {
		b.drop()
	}
}

// after returns the events after seq, at most most of them, and whether there
// are more; ok is false if some of them are no longer kept.
func (b *Bus[E]) after(seq int64, most int) (events []Numbered[E], more, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if seq < b.floor || seq > b.last {
		return nil, false, false
	}
	from, to := 0, b.kept
	for from < to {
		if mid := (from + to) / 2; b.at(mid).Seq <= seq {
			from = mid + 1
		} else {
			to = mid
		}
	}
	n := min(most, b.kept-from)
	for i := range n {
		events = append(events, *b.at(from + i))
	}
	return events, from+n < b.kept, true
}

// latest returns the number of the newest event.
func (b *Bus[E]) latest() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// Rouse wakes every reader without an event, to check whether it may still
// read.
func (b *Bus[E]) Rouse() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for r := range b.readers {
		r.rouse()
	}
}

func (b *Bus[E]) join(r *Reader[E]) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.users[r.user] >= ReadersPerUser {
		return errs.New(errs.TooMany, "You have %d streams of events open already; close one first.", ReadersPerUser)
	}
	b.forget(b.wall().UnixMicro())
	b.users[r.user]++
	b.readers[r] = struct{}{}
	return nil
}

func (b *Bus[E]) leave(r *Reader[E]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, there := b.readers[r]; !there {
		return
	}
	delete(b.readers, r)
	if b.users[r.user]--; b.users[r.user] == 0 {
		delete(b.users, r.user)
	}
}
