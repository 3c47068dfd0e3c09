package engine

import (
	"context"

	"flowdrive/engine/events"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Stream is the events that one user may be told of, from where it began.
type Stream struct {
	engine *base
	user   identity.ID
	reader *events.Reader[Event]
}

// Listen opens a stream for the user. It begins after the event of that
// number, "" for what comes from now on.
func (e *base) Listen(by identity.Principal, last string) (*Stream, error) {
	r, err := e.events.Listen(by.ID, last)
	if err != nil {
		return nil, err
	}
	return &Stream{engine: e, user: by.ID, reader: r}, nil
}

// Close ends the stream.
func (s *Stream) Close() { s.reader.Close() }

// Wake receives if there may be something to read.
func (s *Stream) Wake() <-chan struct{} { return s.reader.Wake() }

// StreamEvents is a part of a stream.
type StreamEvents struct {
	Reset  bool // events are missing here: the reader has to look at everything again
	Events []events.Numbered[Event]
	Last   int64 // number of the last event that the stream is past
	More   bool  // there is more to read
}

// Next returns the events after those that were returned before, without
// waiting. Whether the user may be told of them is decided now, by what is
// stored now. Errors: errs.LogIn if the user may no longer listen.
func (s *Stream) Next(ctx context.Context) (*StreamEvents, error) {
	e := s.engine
	if !e.directory().Active(s.user) {
		return nil, errs.New(errs.LogIn, "The user is disabled or no longer exists.")
	}
	ahead, more, ok := s.reader.Ahead()
	if !ok {
		return &StreamEvents{Reset: true, Last: s.reader.Past()}, nil
	}
	if len(ahead) == 0 {
		return &StreamEvents{Last: s.reader.Past()}, nil
	}
	by, cases := e.accounts.Principal(s.user), map[int64]bool{}
	heard := ahead[:0]
	last := ahead[len(ahead)-1].Seq
	err := e.Store.View(ctx, func(r store.Reader) error {
		for i := range ahead {
			hears, err := e.maySeeEvent(r, by, &ahead[i].Event, cases)
			if err != nil {
				return err
			}
			if hears {
				heard = append(heard, ahead[i])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.reader.Pass(last)
	return &StreamEvents{Events: heard, Last: last, More: more}, nil
}
