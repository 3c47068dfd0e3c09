package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/engine"
	"flowdrive/engine/events"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// scripted is a stream that says what a test has it say.
type scripted struct {
	wake   chan struct{}
	heard  chan *engine.StreamEvents
	err    error
	closed bool
}

func newScripted(heard ...*engine.StreamEvents) *scripted {
	s := &scripted{wake: make(chan struct{}, 1), heard: make(chan *engine.StreamEvents, 10)}
	for _, h := range heard {
		s.heard <- h
	}
	return s
}

func (s *scripted) Next(context.Context) (*engine.StreamEvents, error) {
	select {
	case h := <-s.heard:
		return h, nil
	default:
		return &engine.StreamEvents{Last: 9}, s.err
	}
}

func (s *scripted) Wake() <-chan struct{} { return s.wake }
func (s *scripted) Close()                { s.closed = true }

// listening is a request to /events that goes on.
type listening struct {
	*rig
	stream *scripted
	last   string // that it asked for
	cancel context.CancelFunc
	ended  chan struct{}

	mu     sync.Mutex
	w      *httptest.ResponseRecorder
	broken error // what writing answers
}

func (l *listening) Header() http.Header { return l.w.Header() }
func (l *listening) WriteHeader(code int) {
	l.w.WriteHeader(code)
}

func (l *listening) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return 0, l.broken
	}
	return l.w.Write(p)
}

func (l *listening) Flush() {}

func (l *listening) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, body, _ := strings.Cut(l.w.Body.String(), "\n\n") // what every stream begins with
	return body
}

// listen opens a stream of sam's, in a bubble.
func listen(t *testing.T, stream *scripted, header ...string) *listening {
	t.Helper()
	l := &listening{stream: stream, w: httptest.NewRecorder(), ended: make(chan struct{})}
	l.rig = newRig(t, func(c *Config) {
		c.Events = &Events{
			Listen: func(_ identity.Principal, last string) (EventStream, error) {
				l.last = last
				return stream, nil
			},
			Href: func(ev *engine.Event) string { return "/dav/" + ev.Name },
		}
	})
	r := request("GET", "/events", "")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	ctx, cancel := context.WithCancel(t.Context())
	l.cancel = cancel
	go func() {
		defer close(l.ended)
		l.Handler().ServeHTTP(l, r.WithContext(ctx))
	}()
	t.Cleanup(func() {
		cancel()
		<-l.ended
		if !stream.closed {
			t.Error("the stream was not closed")
		}
	})
	synctest.Wait()
	return l
}

func (l *listening) hasEnded() bool {
	synctest.Wait()
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

func TestEventsOnTheWire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := time.Date(2012, 11, 9, 12, 34, 56, 7, time.UTC)
		l := listen(t, newScripted(
			&engine.StreamEvents{Reset: true, Last: 5},
			&engine.StreamEvents{More: true, Last: 7, Events: []events.Numbered[engine.Event]{
				{Seq: 6, Event: engine.Event{Kind: engine.EventCase, Change: engine.ChangeTimerExpired, ID: 17, Version: 3, Time: at, Name: "c"}},
				{Seq: 7, Event: engine.Event{Kind: engine.EventTask, Change: engine.ChangeOffered, ID: 17, Version: 3, Time: at, Name: "approve"}},
			}},
			&engine.StreamEvents{Last: 9, Events: []events.Numbered[engine.Event]{
				{Seq: 8, Event: engine.Event{Kind: engine.EventSchedule, Change: engine.ChangeFired, UUID: store.UUID{1}, Version: 2, Time: at, Name: "s"}},
				{Seq: 9, Event: engine.Event{Kind: engine.EventDocument, Change: engine.ChangeDeleted, ID: 4, Version: 1, Time: at, Name: `a"b`}},
			}},
		), "Last-Event-ID", "4")
		l.stream.wake <- struct{}{}
		synctest.Wait()
		l.stream.wake <- struct{}{}
		synctest.Wait()
		want := `event: reset
id: 5
data: {}

event: case
id: 6
data: {"href":"/dav/c","kind":"case","id":17,"version":3,"change":"timer-expired","time":"2012-11-09T12:34:56Z"}

event: task
id: 7
data: {"href":"/dav/approve","kind":"task","id":"17.approve","version":3,"change":"offered","time":"2012-11-09T12:34:56Z"}

event: schedule
id: 8
data: {"href":"/dav/s","kind":"schedule","id":"01000000000000000000000000000000","version":2,"change":"fired","time":"2012-11-09T12:34:56Z"}

event: document
id: 9
data: {"href":"/dav/a\"b","kind":"document","id":4,"version":1,"change":"deleted","time":"2012-11-09T12:34:56Z"}

`
		if diff := cmp.Diff(want, l.text()); diff != "" {
			t.Error(diff)
		}
		if l.last != "4" {
			t.Errorf("asked for what comes after %q", l.last)
		}
		h := l.Header()
		if got := []string{h.Get("Content-Type"), h.Get("Cache-Control")}; !cmp.Equal(got, []string{"text/event-stream", "no-store"}) {
			t.Errorf("headers: %q", got)
		}
	})
}

func TestEventsHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := listen(t, newScripted())
		<-time.After(3*heartbeat + time.Second)
		synctest.Wait()
		if got, want := l.text(), strings.Repeat(":\nid: 9\n\n", 3); got != want {
			t.Errorf("after a minute of silence: %q, want %q", got, want)
		}
		l.cancel()
		if !l.hasEnded() {
			t.Error("the client went, and the stream goes on")
		}
	})
}

func TestEventsEnd(t *testing.T) {
	t.Parallel()
	tests := map[string]func(l *listening){
		"the password is another":   func(l *listening) { l.guard.accounts.set("sam", func(a *account) { a.hash = cheapHash("new") }) },
		"the user is disabled":      func(l *listening) { l.guard.accounts.set("sam", func(a *account) { a.disabled = true }) },
		"the user is another":       func(l *listening) { l.guard.accounts.set("sam", func(a *account) { a.id = 77 }) },
		"the engine says so":        func(l *listening) { l.stream.err = errs.New(errs.LogIn, "Gone.") },
		"the store cannot be asked": func(l *listening) { l.stream.err = errors.New("broken") },
		"the server stops":          func(l *listening) { close(l.stopping) },
		"the client does not read": func(l *listening) {
			l.mu.Lock()
			l.broken = errors.New("too slow")
			l.mu.Unlock()
			l.stream.heard <- &engine.StreamEvents{Reset: true}
		},
	}
	for name, end := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := listen(t, newScripted())
				l.stream.wake <- struct{}{}
				if l.hasEnded() {
					t.Fatal("it has ended before")
				}
				end(l)
				l.stream.wake <- struct{}{}
				if !l.hasEnded() {
					t.Error("it goes on")
				}
			})
		})
	}
}

func TestEventsByAppPassword(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		accounts := newAccounts()
		accounts.set("sam", func(a *account) { a.app = "fd-phone" })
		holds := NewAuthenticator(accounts, time.Now, cheap).Watch(basic("sam", "fd-phone"))
		if !holds() {
			t.Fatal("an app password does not hold")
		}
		accounts.set("sam", func(a *account) { a.hash = cheapHash("new") })
		if !holds() {
			t.Error("another password has ended what an app password opened")
		}
		accounts.set("sam", func(a *account) { a.app = "" })
		if holds() {
			t.Error("a revoked app password holds")
		}
	})
}

func TestEventsRefused(t *testing.T) {
	t.Parallel()
	full := newRig(t, func(c *Config) {
		c.Events = &Events{Listen: func(identity.Principal, string) (EventStream, error) { return nil, errs.New(errs.TooMany, "Eight.") }}
	})
	for _, test := range []struct {
		x              *rig
		method, target string
		status         int
		slug           string
	}{
		{full, "GET", "/events", 429, "too-many"},
		{full, "POST", "/events", 405, "method"},
		{full, "GET", "/events?kind=case", 400, "bad-parameter"},
		{full, "GET", "/events/", 404, "not-found"},
		{full, "GET", "/events/1", 404, "not-found"},
		{newRig(t, nil), "GET", "/events", 404, "not-found"},
	} {
		w := test.x.do(request(test.method, test.target, ""))
		if w.Code != test.status || !strings.Contains(w.Body.String(), problemType+test.slug+`"`) {
			t.Errorf("%s %s: %d %s; want %d %s", test.method, test.target, w.Code, w.Body, test.status, test.slug)
		}
		if test.status == 429 && w.Header().Get("Retry-After") == "" {
			t.Errorf("%s %s: no Retry-After", test.method, test.target)
		}
	}
}
