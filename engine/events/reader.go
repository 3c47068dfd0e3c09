package events

import (
	"strconv"

	"flowdrive/internal/identity"
)

// Reader is the place of one user in the events. It keeps no events. A reader
// that is too slow for what the bus keeps is told to look at everything again.
type Reader[E any] struct {
	bus  *Bus[E]
	user identity.ID
	wake chan struct{}
	seq  int64 // of the last event that it is past
}

// Listen opens a reader for the user. It begins after the event of that
// number, "" for what comes from now on.
func (b *Bus[E]) Listen(user identity.ID, last string) (*Reader[E], error) {
	r := &Reader[E]{bus: b, user: user, wake: make(chan struct{}, 1)}
	if err := b.join(r); err != nil {
		return nil, err
	}
	r.seq = b.latest()
	if last != "" {
		r.seq = -1 // what cannot be a number was never given
		if n, err := strconv.ParseInt(last, 10, 64); err == nil {
			r.seq = n
		}
	}
	return r, nil
}

// Close ends the reader.
func (r *Reader[E]) Close() { r.bus.leave(r) }

// Wake receives if there may be something to read.
func (r *Reader[E]) Wake() <-chan struct{} { return r.wake }

func (r *Reader[E]) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Past returns the number of the last event that the reader is past.
func (r *Reader[E]) Past() int64 { return r.seq }

// Ahead returns the next events and whether there are more. The reader passes
// them by Pass. If some of them are no longer kept, ok is false, and the reader
// is past all events.
func (r *Reader[E]) Ahead() (events []Numbered[E], more, ok bool) {
	if events, more, ok = r.bus.after(r.seq, mostRead); !ok {
		r.seq = r.bus.latest()
	}
	return events, more, ok
}

// Pass has the reader be past the event of that number.
func (r *Reader[E]) Pass(seq int64) { r.seq = seq }
