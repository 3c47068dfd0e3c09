package davfs

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// heapWriter takes an answer, holds none of it, and notes how much is held by the program each
// time that some more of it has come.
type heapWriter struct {
	http.ResponseWriter
	size, resources, looked int
	most                    uint64
}

const lookEach = 1 << 20

func liveHeap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Write implements io.Writer.
func (w *heapWriter) Write(p []byte) (int, error) {
	w.size += len(p)
	w.resources += strings.Count(string(p), "</D:response>")
	if w.size >= w.looked+lookEach {
		w.looked = w.size
		w.most = max(w.most, liveHeap())
	}
	return len(p), nil
}

// TestListingsAreWrittenInParts: a listing of thousands of tasks is written while it is read, and
// holds no more for twice as many. Three of 150,000 tasks took half a gigabyte.
func TestListingsAreWrittenInParts(t *testing.T) {
	const actions, cases, room = 450, 45, 4 << 20
	var most atomic.Int64
	d := newTestDrive(t, func(c *Config) {
		c.MaxRoute = 1 << 20
		c.Weigh = func(_ context.Context, bytes int64) error {
			most.Store(max(most.Load(), bytes))
			return nil
		}
	})
	var many strings.Builder
	for i := range actions {
		fmt.Fprintf(&many, "  a%03d: {in: [open], to: done, role: me}\n", i)
	}
	route := "roles: {me: {assign: [starter]}}\nstates: {open: {type: start}, done: {type: complete}}\nactions:\n  begin: {trigger: init}\n" + many.String()
	put := func(path, body string) {
		t.Helper()
		if rec := d.ask(t, "sam PUT "+path, "> "+body); rec.Code != http.StatusCreated {
			t.Fatalf("PUT %s: %d %.400s", path, rec.Code, rec.Body)
		}
	}
	put("/dav/Workflow/Routes/many.yaml", route)
	for i := range cases {
		put(fmt.Sprintf("/dav/Workflow/Cases/m%d.json", i), `{"route": "many"}`)
	}
	most.Store(0)
	before := liveHeap()
	for _, name := range []string{"acme-robot/1.0", "a mount"} {
		w := &heapWriter{ResponseWriter: httptest.NewRecorder()}
		r := httptest.NewRequestWithContext(t.Context(), "PROPFIND", "/dav/Workflow/Worklist/Offered/", nil)
		r.Header.Set("Depth", "1")
		r.Header.Set("User-Agent", name)
		d.handler.ServeHTTP(w, d.as("sam", r))
		if want := actions*cases + 1; w.resources != want {
			t.Errorf("%s is told of %d, want %d", name, w.resources, want)
		}
		if w.most > before+room {
			t.Errorf("%s: %d bytes are held in the middle of the answer, want %d at most", name, w.most-before, room)
		}
	}
	if most.Load() > partsWeight {
		t.Errorf("%d bytes were weighed, want %d at most", most.Load(), partsWeight)
	}
}
