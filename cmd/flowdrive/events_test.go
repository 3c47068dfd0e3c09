package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/document"
)

// hangUp makes a client that goes as soon as a stream has begun.
func hangUp(w *httptest.ResponseRecorder, r *http.Request) (http.ResponseWriter, *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	return &hangingUp{w, cancel}, r.WithContext(ctx)
}

type hangingUp struct {
	*httptest.ResponseRecorder
	cancel context.CancelFunc
}

func (h *hangingUp) Flush() { h.cancel() }

// stream is an open stream of events. What is heard is waited for.
type stream struct {
	*inProcess
	status int
	events chan heardEvent // closed at its end
	cancel context.CancelFunc
}

type heardEvent struct{ kind, id, data string }

func (ev heardEvent) get(key string) string {
	node, err := document.ParseJSON([]byte(ev.data))
	if err != nil || node.Get(key) == nil {
		return ""
	}
	return strings.Trim(string(node.Get(key).AppendJSON(nil)), `"`)
}

// String is "kind change href".
func (ev heardEvent) String() string {
	return strings.TrimRight(ev.kind+" "+ev.get("change")+" "+ev.get("href"), " ")
}

// pipeWriter is a ResponseWriter whose body is a pipe.
type pipeWriter struct {
	header http.Header
	status chan int
	*io.PipeWriter
}

func (p *pipeWriter) Header() http.Header  { return p.header }
func (p *pipeWriter) Flush()               {}
func (p *pipeWriter) WriteHeader(code int) { p.status <- code }

// listen opens a stream, which begins when it returns.
func (s *inProcess) listen(user, last string) *stream {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	r := httptest.NewRequest("GET", "/events", nil).WithContext(ctx)
	r.SetBasicAuth(user, s.passwords[user])
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	body, w := io.Pipe()
	p := &pipeWriter{http.Header{}, make(chan int, 1), w}
	st := &stream{inProcess: s, events: make(chan heardEvent, 1000), cancel: cancel}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.server.Handler().ServeHTTP(p, r)
		_ = w.Close() // the other side reads to the end
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(st.events)
		readStream(body, st.events)
	}()
	s.Cleanup(func() {
		cancel()
		<-ended
		<-read
	})
	st.status = <-p.status
	return st
}

// readStream reads events as a browser does.
func readStream(body io.Reader, to chan<- heardEvent) {
	var ev heardEvent
	for lines := bufio.NewScanner(body); lines.Scan(); {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "event":
			ev.kind = value
		case "id":
			ev.id = value
		case "data":
			ev.data = value
		case "":
			if lines.Text() == "" && ev.data != "" {
				to <- ev
			}
			if lines.Text() == "" {
				ev = heardEvent{}
			}
		}
	}
}

// next waits for an event; the zero one is the end.
func (st *stream) next() heardEvent {
	st.Helper()
	select {
	case ev := <-st.events:
		return ev
	case <-time.After(patience):
		st.Fatal("nothing is heard")
		return heardEvent{}
	}
}

func (st *stream) hears(want ...string) (last heardEvent) {
	st.Helper()
	for _, w := range want {
		if last = st.next(); last.String() != w {
			st.Errorf("heard %q, want %q", last, w)
		}
	}
	return last
}

// told returns the data of an event of each kind.
func (s *inProcess) told(f furnished) (data []string) {
	s.Helper()
	st := s.listen("admin", "")
	defer st.cancel()
	s.must("PUT", "/dav/Workflow/Cases/new.json", `{"route": "bug", "title": "Told"}`)
	s.must("PUT", "/dav/Workflow/Schedule/"+f.entry+".json", `{"do": "pause"}`)
	s.must("PUT", "/dav/Workflow/Routes/told.yaml", "states: {a: {type: start}}\nactions: {begin: {trigger: init}}\n")
	s.must("PUT", "/dav/Documents/admin/plans/told.txt", "x")
	kinds := map[string]bool{}
	for !kinds["document"] {
		ev := st.next()
		kinds[ev.kind] = true
		data = append(data, ev.data)
	}
	if len(kinds) != 5 {
		s.Errorf("told of %v", kinds)
	}
	return data
}

// TestEvents hears what happens, over HTTP: of what the caller may see, from
// where it left off, and until it may not listen any more.
func TestEvents(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		sam, ann := s.listen("sam", ""), s.listen("ann", "")
		id := s.made("sam", "PUT", "/dav/Workflow/Cases/new.json", `{"route": "collector", "input": "1,2"}`)
		at := "/dav/Workflow/Cases/" + id + ".json"
		first := sam.hears("case created " + at)
		s.made("sam", "PUT", "/dav/Workflow/Schedule/a%20b.json", `{"type": "cron", "route": "collector", "hour": "1"}`)
		entry := sam.next()
		if entry.kind != "schedule" || entry.get("href") != "/dav/Workflow/Schedule/"+entry.get("id")+".json" {
			t.Errorf("of an entry: %v", entry.data)
		}
		s.made("ann", "PUT", "/dav/Documents/ann/a%20%23b.txt", "x")
		ann.hears("document created /dav/Documents/ann/a%20%23b.txt")

		if w := s.as("sam", "GET", first.get("href"), ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"version": `+first.get("version")) {
			t.Errorf("GET of %s: %d %s", first.data, w.Code, w.Body)
		}
		s.listen("sam", first.id).hears(entry.String())
		s.listen("sam", "12345").hears("reset")

		// Another password ends what the old one opened, and so does disabling.
		s.must("PUT", "/dav/Admin/Users/sam.json", `{"password": "another one of sam"}`)
		sam.hears("")
		s.must("PUT", "/dav/Admin/Users/ann.json", `{"disabled": true}`)
		ann.hears("")
	})
}

func TestEventsAtMostEight(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		var open []*stream
		for range 8 {
			open = append(open, s.listen("sam", ""))
		}
		w := s.as("sam", "GET", "/events", "")
		if w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), "problem:too-many") || w.Header().Get("Retry-After") == "" {
			t.Errorf("the ninth: %d %s", w.Code, w.Body)
		}
		if st := s.listen("ann", ""); st.status != http.StatusOK {
			t.Errorf("another user: %d", st.status)
		}
		open[0].cancel()
		open[0].hears("")
		if st := s.listen("sam", ""); st.status != http.StatusOK {
			t.Errorf("after one has gone: %d", st.status)
		}
	})
}

// TestEventsAfterRestart: what another run has told of is not known any more.
func TestEventsAfterRestart(t *testing.T) {
	t.Parallel()
	data, passwords, last := t.TempDir(), map[string]string{}, ""
	for run := range 2 {
		onFolder(t, data, passwords, func(s *inProcess) {
			st := s.listen("admin", last)
			if run > 0 {
				st.hears("reset")
			}
			s.must("PUT", "/dav/Workflow/Routes/r.yaml", fmt.Sprintf("title: Run %d\nstates: {a: {type: start}}\nactions: {begin: {trigger: init}}\n", run))
			last = st.hears([]string{"route created /dav/Workflow/Routes/r.json", "route changed /dav/Workflow/Routes/r.json"}[run]).id
		})
	}
}
