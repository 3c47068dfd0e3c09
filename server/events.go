package server

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// EventStream is what one caller hears of events; *engine.Stream is one.
type EventStream interface {
	// Next returns the events that are there, without waiting. Errors:
	// errs.LogIn if the caller may no longer listen.
	Next(ctx context.Context) (*engine.StreamEvents, error)
	Wake() <-chan struct{} // receives if there may be an event
	Close()
}

// Events is the source of /events.
type Events struct {
	// Listen opens a stream that begins after the event with the number last;
	// "" begins with the next event. Errors: errs.TooMany if the user has too
	// many streams.
	Listen func(by identity.Principal, last string) (EventStream, error)
	// Href returns the percent-encoded path of the resource of an event.
	Href func(*engine.Event) string
}

const (
	// heartbeat is how long a stream is silent at most: proxies close what is
	// silent for a minute, and a client that has gone is noticed by writing.
	heartbeat = 20 * time.Second
	// reconnectAfter is what clients are asked to wait when a stream has
	// ended, so that they do not all come back with a server that restarts.
	reconnectAfter = 2 * time.Second
)

// streamEvents serves /events: server-sent events (HTML, section 9.2) until
// the client goes, the server stops, or the caller may not listen any more.
func (s *Server) streamEvents(x *exchange, r *http.Request) error {
	switch {
	case s.config.Events == nil || r.URL.Path != "/events":
		return errs.New(errs.NotFound, "There is nothing at this address; the stream of events is /events.")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return onlyRead(r)
	}
	if err := takesNoQuery(r); err != nil {
		return err
	}
	stream, err := s.config.Events.Listen(x.principal, r.Header.Get("Last-Event-ID"))
	if err != nil {
		return err
	}
	defer stream.Close()
	h := x.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would keep events until it has a buffer of them
	x.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	hello := strconv.AppendInt([]byte(": what changes on the drive\nretry: "), reconnectAfter.Milliseconds(), 10)
	t := &telling{x: x, stream: stream, href: s.config.Events.Href, holds: x.holds}
	if !t.write(append(hello, "\n\n"...)) {
		return nil
	}
	s.tellUntil(r.Context(), t)
	return nil
}

// tellUntil writes what the stream has until something ends it.
func (s *Server) tellUntil(ctx context.Context, t *telling) {
	silence := time.NewTicker(heartbeat)
	defer silence.Stop()
	for {
		more, ok := t.tell(ctx)
		if !ok {
			return
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-s.stopping:
			return
		case <-t.stream.Wake():
		case <-silence.C:
			if !t.beat() {
				return
			}
		}
	}
}

// telling is a stream on its way to a client.
type telling struct {
	x      *exchange
	stream EventStream
	href   func(*engine.Event) string
	holds  func() bool
	last   int64 // number of the last event that the stream is past, 0 before it was asked
	buf    []byte
}

// tell writes the events that are there. If ok is false, the stream has ended.
func (t *telling) tell(ctx context.Context) (more, ok bool) {
	if !t.holds() {
		return false, false
	}
	heard, err := t.stream.Next(ctx)
	if err != nil {
		if !errs.Is(err, errs.LogIn) && ctx.Err() == nil {
			t.x.failed(errs.KindOf(err), err) // the log's line says why it ended
		}
		return false, false
	}
	t.last = heard.Last
	b := t.buf[:0]
	if heard.Reset {
		b = strconv.AppendInt(append(b, "event: reset\nid: "...), heard.Last, 10)
		b = append(b, "\ndata: {}\n\n"...)
	}
	for i := range heard.Events {
		b = t.appendEvent(b, heard.Events[i].Seq, &heard.Events[i].Event)
	}
	t.buf = b
	return heard.More, len(b) == 0 || t.write(b)
}

// beat breaks the silence. Its id makes that a client that heard nothing for
// hours, because nothing was for it, has missed nothing either.
func (t *telling) beat() bool {
	b := strconv.AppendInt(append(t.buf[:0], ":\nid: "...), t.last, 10)
	return t.write(append(b, "\n\n"...))
}

func (t *telling) write(b []byte) bool {
	if _, err := t.x.Write(b); err != nil {
		return false // the client has gone, or does not read
	}
	t.x.Flush()
	return true
}

// appendEvent appends an event as it goes over the wire
// (docs/contract/drive.md#events).
func (t *telling) appendEvent(dst []byte, seq int64, ev *engine.Event) []byte {
	dst = append(append(dst, "event: "...), ev.Kind...)
	dst = strconv.AppendInt(append(dst, "\nid: "...), seq, 10)
	dst = document.AppendString(append(dst, "\ndata: {\"href\":"...), t.href(ev))
	dst = document.AppendString(append(dst, `,"kind":`...), string(ev.Kind))
	dst = append(dst, `,"id":`...)
	switch ev.Kind {
	case engine.EventSchedule:
		dst = document.AppendString(dst, ev.UUID.String())
	case engine.EventTask:
		dst = document.AppendString(dst, strconv.FormatInt(ev.ID, 10)+"."+ev.Name)
	default:
		dst = strconv.AppendInt(dst, ev.ID, 10)
	}
	dst = strconv.AppendInt(append(dst, `,"version":`...), ev.Version, 10)
	dst = document.AppendString(append(dst, `,"change":`...), string(ev.Change))
	dst = document.AppendString(append(dst, `,"time":`...), ev.Time.UTC().Format(time.RFC3339))
	return append(dst, "}\n\n"...)
}
