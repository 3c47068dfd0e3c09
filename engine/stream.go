package engine

import (
	"context"
	"strconv"

	"flowdrive/errs"
	"flowdrive/identity"
)

// Stream is what one user hears of events, from where it began. It holds no
// events: a reader that is too slow for what is kept is told to look anew.
type Stream struct {
	engine *Engine
	user   identity.ID
	wake   chan struct{}
	seq    int64 // of the last event that it was past
}

// Listen opens a stream for the user. It begins after the event of that
// number, "" for what comes from now on.
func (e *Engine) Listen(by identity.Principal, last string) (*Stream, error) {
	s := &Stream{engine: e, user: by.ID, wake: make(chan struct{}, 1)}
	if err := e.events.join(s); err != nil {
		return nil, err
	}
	s.seq = e.events.latest()
	if last != "" {
		s.seq = -1 // what cannot be a number was never given
		if n, err := strconv.ParseInt(last, 10, 64); err == nil {
			s.seq = n
		}
	}
	return s, nil
}

// Close ends the stream.
func (s *Stream) Close() { s.engine.events.leave(s) }

// Wake receives where there may be something to read.
func (s *Stream) Wake() <-chan struct{} { return s.wake }

func (s *Stream) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Heard is a part of a stream.
type Heard struct {
	Reset  bool // events are missing from here: whoever listens shall look anew
	Events []Event
	Last   int64 // number of the last event that the stream is past
	More   bool  // there is more to read
}

// Next returns what there is to hear after what was returned before, without
// waiting for it. Who may hear it is judged now, by what is stored now. Errors
// are errs.LogIn where the user may not listen any more.
func (s *Stream) Next(ctx context.Context) (*Heard, error) {
	e := s.engine
	if !e.directory().Active(s.user) {
		return nil, errs.New(errs.LogIn, "The user is disabled, or gone.")
	}
	events, more, ok := e.events.after(s.seq, mostEvents)
	if !ok {
		s.seq = e.events.latest()
		return &Heard{Reset: true, Last: s.seq}, nil
	}
	if len(events) == 0 {
		return &Heard{Last: s.seq}, nil
	}
	by, cases := e.Principal(s.user), map[int64]bool{}
	heard := events[:0]
	last := events[len(events)-1].Seq
	err := e.store.View(ctx, func(r Reader) error {
		for i := range events {
			hears, err := e.hears(r, by, &events[i], cases)
			if err != nil {
				return err
			}
			if hears {
				heard = append(heard, events[i])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.seq = last
	return &Heard{Events: heard, Last: s.seq, More: more}, nil
}
