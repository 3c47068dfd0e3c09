package engine_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/engine/contents"
	"flowdrive/engine/files"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
)

// TestFormsCount: what is large counts against the quota, whatever it is: cases,
// also those that have ended, entries, and versions of routes.
func TestFormsCount(t *testing.T) {
	t.Parallel()
	const quota = 2 << 20
	large := strings.Repeat("x", 600<<10)
	w := newWorld(t, withQuota(quota))
	sam, ann, eva := w.as("sam"), w.as("ann"), w.as("bob")
	until := func(what string, most int, do func(i int) error) {
		t.Helper()
		for i := range most {
			if err := do(i); err != nil {
				w.kind(what, err, errs.Full)
				if i == 0 {
					t.Errorf("%s: the first is refused", what)
				}
				return
			}
		}
		t.Errorf("%s: %d of them are accepted", what, most)
	}
	until("cases", 10, func(int) error {
		_, err := sam.putCase("", `{"route": "ask", "xattrDict": {"x": "`+large+`"}}`)
		return err
	})
	if used := sam.used(); used < quota/2 || used > quota {
		t.Errorf("cases: %d bytes are used", used)
	}
	if _, err := sam.putCase("", `{"route": "ask"}`); err != nil {
		t.Errorf("a small case: %v", err)
	}
	until("entries", 10, func(i int) error {
		_, err := ann.putEntry(fmt.Sprintf("e%d.json", i), `{"route": "ask", "type": "interval", "weeks": 500, "xattrDict": {"x": "`+large+`"}}`)
		return err
	})
	until("versions of a route", 10, func(i int) error {
		_, err := eva.putRoute("mine", fmt.Sprintf("title: v%d\n# %s\n", i, large)+smallRoute)
		return err
	})
}

const smallRoute = "states: {open: {type: start}, shut: {type: complete}}\nactions:\n  begin: {trigger: init}\n  close: {in: [open], to: shut, allowed: [everyone]}\n"

// TestFilesAreCounted: empty files and folders are rows all the same.
func TestFilesAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.config = func(cfg *engine.Config) { cfg.Limits.Files = 10 } })
	sam := w.as("sam")
	put := func(at string) error {
		_, err := w.Files.PutDocument(t.Context(), sam.request(nil), path(at), contents.Upload{Body: strings.NewReader("")})
		return err
	}
	folder := func(at string) error {
		_, err := w.Files.MakeFolder(t.Context(), sam.request(nil), path(at))
		return err
	}
	w.kind("a folder", folder("sam/a"), "")
	for i := range 4 {
		w.kind("a file", put(fmt.Sprintf("sam/a/%d", i)), "")
	}
	_, err := sam.copyDocument("sam/a", "sam/b", files.Transfer{})
	w.kind("a copy of all", err, "")
	w.kind("one file more", put("sam/one"), errs.Full)
	w.kind("one folder more", folder("sam/two"), errs.Full)
	_, err = sam.copyDocument("sam/a", "sam/c", files.Transfer{})
	w.kind("another copy", err, errs.Full)
	w.kind("a file in the place of another", put("sam/a/0"), "")
	w.kind("a file goes", sam.deleteDocument("sam/a/0"), "")
	w.kind("another in its place", put("sam/one"), "")
}

// held is a body whose end comes when it is told.
type held struct {
	io.Reader
	read chan struct{} // closed when all but the end was read
	end  chan struct{}
}

func newHeld(text string) *held {
	return &held{strings.NewReader(text), make(chan struct{}), make(chan struct{})}
}

func (h *held) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if n == 0 && err == io.EOF {
		close(h.read)
		<-h.end
	}
	return n, err
}

// TestArrivingBytesCount: what lies in temporary files counts before it is stored.
func TestArrivingBytesCount(t *testing.T) {
	t.Parallel()
	const quota = 10_000
	w := newWorld(t, withQuota(quota))
	sam := w.as("sam")
	put := func(at string, body io.Reader) error {
		_, err := w.Files.PutDocument(t.Context(), sam.request(nil), path(at), contents.Upload{Size: -1, Body: body})
		return err
	}
	first := newHeld(strings.Repeat("a", 6000))
	ended := make(chan error, 1)
	go func() { ended <- put("sam/a", first) }()
	<-first.read
	w.kind("5,000 beside 6,000 that are on their way", put("sam/b", strings.NewReader(strings.Repeat("b", 5000))), errs.Full)
	w.kind("4,000 beside them", put("sam/b", strings.NewReader(strings.Repeat("b", 4000))), "")
	close(first.end)
	w.kind("the first", <-ended, "")
	if used := sam.used(); used != quota {
		t.Errorf("%d bytes are used", used)
	}
}

// TestLogsAreWeighed: a long log counts against the quota of its starter, and is read only if
// there is room for it.
func TestLogsAreWeighed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	step := `{log: "$__XATTR_text__;"}`
	sam.mustPutRoute("talk", "states: {open: {type: start}}\nroles: {all: {assign: [everyone]}}\nxattrs: {text: {type: string}}\n"+
		"actions:\n  begin: {trigger: init, to: open, onFire: ["+strings.Repeat(step+", ", 99)+step+"]}\n")
	before := sam.used()
	n := sam.startCase(`{"route": "talk", "xattrDict": {"text": "` + strings.Repeat("x", 60_000) + `"}}`)
	if used := sam.used() - before; used < 100*machine.MaxLogText || used > 100*machine.MaxLogText+400_000 {
		t.Errorf("a case whose log has 100 long entries counts %d bytes", used)
	}
	asked := int64(0)
	room := func(bytes int64) error { asked = bytes; return nil }
	none := func(int64) error { return errs.New(errs.Unavailable, "no room") }
	for name, read := range map[string]func(room engine.LogRoom) error{
		"log.json": func(room engine.LogRoom) error { _, err := w.Cases.CaseLog(t.Context(), sam.by(), n, room); return err },
		"log.txt": func(room engine.LogRoom) error {
			_, err := w.Cases.CaseLogText(t.Context(), sam.by(), n, room)
			return err
		},
		"the page": func(room engine.LogRoom) error {
			_, err := w.Cases.CaseDetail(t.Context(), sam.by(), n, room)
			return err
		},
		"the picture": func(room engine.LogRoom) error {
			_, err := w.Pictures.OfCase(t.Context(), sam.by(), n, room)
			return err
		},
	} {
		asked = 0
		if err := read(room); err != nil || asked < 4*100*machine.MaxLogText {
			t.Errorf("%s: asks for %d bytes, %v", name, asked, err)
		}
		w.kind(name+" without room", read(none), errs.Unavailable)
	}
}
