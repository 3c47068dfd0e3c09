package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// contents returns how many contents are kept as files.
func (w *world) contents() int {
	w.Helper()
	kept, _ := w.files()
	return len(kept)
}

// messages returns the label and version of every message of a case.
func (u user) messages(id int64) (out []string) {
	u.Helper()
	for _, m := range try(u.Cases.Messages(u.Context(), u.by(), id)).must(u.world, "messages") {
		out = append(out, fmt.Sprintf("%s %d", m.Label, m.Version))
	}
	return out
}

func TestLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "ask", "input": "in"}`)
	out := try(sam.putLabel(id, "Note", "one")).must(w, "a new label")
	uuid, ok := store.ParseUUID(out.Name)
	if !out.Created || !ok || out.CaseID != id || out.Status != "open" {
		t.Errorf("%+v", out)
	}
	if uuid[6]>>4 != 5 {
		t.Errorf("the UUID %s is not of version 5", out.Name)
	}
	same(t, "content", sam.read(id, "Note"), "text/plain: one")
	byUUID := try(w.Cases.Message(t.Context(), sam.by(), id, uuid, "")).must(w, "by UUID")
	same(t, "size, version", fmt.Sprint(byUUID.Size, byUUID.Version), "3 1")
	same(t, "ETag", engine.MessageETag(&byUUID.Message), out.ETag)

	w.advance(1e9)
	again := try(sam.putLabel(id, "Note", "two")).must(w, "another content")
	if again.Created || again.Name != out.Name || again.ETag == out.ETag {
		t.Errorf("%+v", again)
	}
	same(t, "content", sam.read(id, "Note"), "text/plain: two")
	m := try(w.Cases.Message(t.Context(), sam.by(), id, uuid, "")).must(w, "by UUID")
	same(t, "times", m.Created.Format("05")+" "+m.Modified.Format("05"), "56 57")
	same(t, "messages", sam.messages(id), []string{"InputMessage 1", "Note 2"})

	// Conditions; labels differ by case; other cases have labels of their own.
	_, err := sam.putLabel(id, "Note", "x", ifMatch(out.ETag))
	w.refused(err, errs.Precondition)
	_, err = sam.putLabel(id, "Note", "x", ifNew())
	w.refused(err, errs.Precondition)
	try(sam.putLabel(id, "Note", "three", ifMatch(again.ETag))).must(w, "as it was")
	try(sam.putLabel(id, "note", "small", ifNew())).must(w, "in small letters")
	other := sam.startCase(`{"route": "ask"}`)
	same(t, "messages", sam.messages(other), []string{"InputMessage 1"})
	w.refused(try(w.Cases.Message(t.Context(), sam.by(), other, uuid, "")).err, errs.NotFound)
	w.refused(try(w.Cases.Message(t.Context(), sam.by(), other, store.UUID{}, "Note")).err, errs.NotFound)

	// A label may be called as the case calls its own.
	out = try(sam.putLabel(id, "output", "mine")).must(w, "the label output")
	w.refused(try(w.Cases.Message(t.Context(), sam.by(), id, store.UUID{}, engine.OwnOutput)).err, errs.NotFound)
	uuid, _ = store.ParseUUID(out.Name)
	same(t, "label", try(w.Cases.Message(t.Context(), sam.by(), id, uuid, "")).must(w, "by UUID").Label, "output")

	for _, illegal := range []string{"", "a b", "-a", "_a", "é", "a/b", "a@b", strings.Repeat("a", 64)} {
		_, err := sam.putLabel(id, illegal, "x")
		w.refused(err, errs.NameNotAllowed)
	}
	try(sam.putLabel(id, strings.Repeat("a", 63), "x")).must(w, "a long label")
}

func TestLabelRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("run", routeRun())
	id := w.as("sam").startCase(`{"route": "run", "stakeholders": ["ops"]}`)
	answered := w.as("sam").startCase(`{"route": "own"}`)
	for _, test := range []struct {
		who, label string
		id         int64
		want       errs.Kind
	}{
		{"sam", "Note", id, ""},
		{"ann", "Note", id, ""}, // may answer
		{"bob", "Note", id, ""},
		{"admin", "Note", id, ""},
		{"eve", "Note", id, errs.NotFound},
		{"sam", "InputMessage", id, errs.NotAllowed},
		{"ann", "InputMessage", id, errs.NotAllowed},
		{"bob", "InputMessage", id, ""},
		{"admin", "InputMessage", id, ""},
		{"sam", "Note", answered, ""},
		{"eve", "Note", 99999, errs.NotFound},
	} {
		_, err := w.as(test.who).putLabel(test.id, test.label, "x")
		if got := errs.KindOf(err); got != test.want {
			t.Errorf("%s writes %s: %v; want %q", test.who, test.label, err, test.want)
		}
	}
	// Nothing can be written once the case has ended.
	sam := w.as("sam")
	sam.mustPerform(answered, "end")
	_, err := sam.putLabel(answered, "Note", "x")
	w.refused(err, errs.CaseNotOpen)
}

// What a case shows as its own: the input always, an output once it is
// completed, and then closed, the reason once it has failed.
func TestOwnContents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, admin := w.as("sam"), w.as("admin")
	admin.mustPutRoute("named", "access: {start: [everyone]}\noutput: Result\nroles: {worker: {assign: [starter]}}\n"+
		"states: {open: {type: start}, done: {type: complete}}\nactions: {begin: {trigger: init}, end: {in: [open], role: worker, to: done}}\n")
	admin.mustPutRoute("loop", routeLoop)
	none := func(id int64, name string) {
		t.Helper()
		w.refused(try(w.Cases.Message(t.Context(), sam.by(), id, store.UUID{}, name)).err, errs.NotFound)
	}
	id := sam.startCase(`{"route": "auto", "input": "in"}`)
	same(t, "output", sam.read(id, engine.OwnOutput), "text/plain; charset=utf-8: in")
	none(id, engine.OwnException)

	open := sam.startCase(`{"route": "named", "input": "in"}`)
	none(open, engine.OwnOutput)
	try(sam.putLabel(open, "Result", "result")).must(w, "a label")
	named := sam.startCase(`{"route": "named", "input": "in"}`)
	for _, label := range []string{"Result", "OutputMessage"} {
		try(sam.putLabel(named, label, label)).must(w, "a label")
	}
	for id, want := range map[int64]string{open: "result", named: "OutputMessage"} {
		sam.mustPerform(id, "end")
		same(t, "output", sam.read(id, engine.OwnOutput), "text/plain: "+want)
	}

	failed := sam.startCase(`{"route": "loop", "input": "in"}`)
	none(failed, engine.OwnOutput)
	same(t, "exception", sam.read(failed, engine.OwnException), "text/plain; charset=utf-8: "+
		"The automatic actions there, back set each other off without end: more than 1000 performances in one event. The route must be corrected.\n")
	same(t, "input of a failed case", sam.read(failed, engine.OwnInput), "text/plain; charset=utf-8: in")

	canceled := sam.startCase(`{"route": "ask"}`)
	if err := sam.deleteCase(fmt.Sprint(canceled) + ".json"); err != nil {
		t.Fatal(err)
	}
	none(canceled, engine.OwnOutput)
	none(canceled, engine.OwnException)
	same(t, "input", sam.read(canceled, engine.OwnInput), "text/plain: ")
}

// Small contents are in the database, large ones are files; what breaks off
// leaves nothing.
func TestLargeContents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "ask"}`)
	small, large := strings.Repeat("s", 4<<10), strings.Repeat("l", 4<<10+1)
	try(sam.putLabel(id, "Small", small)).must(w, "a small content")
	same(t, "files", w.contents(), 0)
	try(sam.putLabel(id, "Large", large)).must(w, "a large content")
	same(t, "files", w.contents(), 1)
	try(sam.putLabel(id, "Equal", large)).must(w, "an equal content")
	same(t, "files", w.contents(), 1)
	for label, want := range map[string]string{"Small": small, "Large": large, "Equal": large} {
		same(t, label, sam.read(id, label), "text/plain: "+want)
	}
	content := try(w.Cases.Message(t.Context(), sam.by(), id, store.UUID{}, "Large")).must(w, "the message")
	if at, err := content.Body.Seek(-1, io.SeekEnd); at != 4<<10 || err != nil {
		t.Errorf("a part of it: %d, %v", at, err)
	}
	if err := content.Body.Close(); err != nil {
		t.Error(err)
	}
	w.reopen()
	sam = w.as("sam")
	same(t, "after a restart", sam.read(id, "Large"), "text/plain: "+large)

	cut := errors.New("cut")
	for _, body := range []io.Reader{
		iotest.ErrReader(cut),
		io.MultiReader(strings.NewReader("x"), iotest.ErrReader(cut)),
		io.MultiReader(strings.NewReader(large), iotest.ErrReader(cut)),
	} {
		_, err := w.Cases.PutLabel(t.Context(), sam.request(nil), id, engine.NewMessage{Label: "Cut", MediaType: "text/plain", Body: body})
		if !errors.Is(err, cut) {
			t.Errorf("a body that breaks off: %v", err)
		}
	}
	// As net/http says it.
	_, err := w.Cases.PutLabel(t.Context(), sam.request(nil), id, engine.NewMessage{Label: "Cut", MediaType: "text/plain", Body: io.MultiReader(strings.NewReader("x"), iotest.ErrReader(io.ErrUnexpectedEOF))})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a body that breaks off: %v", err)
	}
	same(t, "messages", sam.messages(id), []string{"InputMessage 1", "Small 1", "Large 1", "Equal 1"})
	same(t, "files", w.contents(), 1)

	// What is refused is not read.
	_, err = w.Cases.PutLabel(t.Context(), w.as("eve").request(nil), id, engine.NewMessage{Label: "Note", MediaType: "text/plain", Body: iotest.ErrReader(cut)})
	w.refused(err, errs.NotFound)
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := w.Cases.PutLabel(ended, sam.request(nil), id, engine.NewMessage{Label: "Note", MediaType: "text/plain", Body: strings.NewReader("x")}); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that has ended: %v", err)
	}
}

// Writers of one label at once are serialised: the versions count them all,
// and one alone finds nothing there.
func TestConcurrentLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "ask"}`)
	const writers = 32
	outs, failed := make([]*engine.Outcome, writers), make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			var options []option
			if i%2 == 0 {
				options = []option{ifNew()}
			}
			outs[i], failed[i] = sam.putLabel(id, "Note", fmt.Sprint(i), options...)
		})
	}
	wg.Wait()
	created, written := 0, 0
	for i := range writers {
		if failed[i] == nil {
			written++
			if outs[i].Created {
				created++
			} else if i%2 == 0 {
				t.Errorf("writer %d replaced what it wanted to create", i)
			}
		} else if i%2 != 0 || !errs.Is(failed[i], errs.Precondition) {
			t.Errorf("writer %d: %v", i, failed[i])
		}
	}
	same(t, "created", created, 1)
	same(t, "messages", sam.messages(id), []string{"InputMessage 1", fmt.Sprintf("Note %d", written)})
}

// What a route's steps write is a message like any other: with its case when
// it starts, and with each performance.
func TestMessagesOfSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("writes", `
access: {start: [everyone]}
roles: {worker: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, onFire: [{message: {label: Begun, type: text/markdown, text: "by $__LOGIN__;"}}]}
  end:
    in: [open]
    role: worker
    to: done
    onFire:
      - {message: {label: OutputMessage, text: "one"}}
      - {message: {label: Begun, text: "no more"}}
      - {message: {label: OutputMessage, text: "two"}}
`)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "writes"}`)
	same(t, "messages", sam.messages(id), []string{"InputMessage 1", "Begun 1"})
	same(t, "written at the start", sam.read(id, "Begun"), "text/markdown: by sam")
	sam.mustPerform(id, "end")
	same(t, "messages", sam.messages(id), []string{"InputMessage 1", "Begun 2", "OutputMessage 1"})
	same(t, "output", sam.read(id, engine.OwnOutput), "text/plain: two")
	// A scheduled case writes when it is started.
	sam.mustPutEntry("", `{"type": "interval", "minutes": 2, "repeat": 1, "route": "writes"}`)
	w.advanceTo("2012-11-09T12:36:56Z")
	scheduled := sam.ref(w.cases()[1].get("id")).CaseID
	same(t, "written at the start", sam.read(scheduled, "Begun"), "text/markdown: by sam")
}

// TestWritersOfLabels: what a step writes or a hook that verifies its requests delivers, only
// administrators of the route write; what nothing in the route writes, people do, also if an
// action waits for it. Each writing is in the log.
func TestWritersOfLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, admin := w.as("sam"), w.as("admin")
	admin.mustPutRoute("order", `access: {start: [everyone], read: [everyone]}
states: {open: {type: start}, paid: {type: complete}}
actions:
  begin: {trigger: init, onFire: [{message: {label: Check, type: application/json, value: {ok: false}}}]}
  pay: {in: [open], trigger: message, message: Paid, to: paid}
  call: {in: [open], trigger: message, message: Called}
`)
	hook := func(name, doc string) {
		t.Helper()
		try(w.Hooks.PutHook(t.Context(), admin.request(nil), "order", name, []byte(doc))).must(w, "PUT of the hook "+name)
	}
	hook("stripe", `{"verify": {"scheme": "stripe", "secret": "tok"}, "deliver": {"label": "Paid", "case": {"json": "case"}}}`)
	hook("open", `{"deliver": {"label": "Called", "case": {"json": "case"}}}`)
	id := sam.startCase(`{"route": "order"}`)
	for label, want := range map[string]string{
		"Check": `You may not write the message "Check" of this case: a step of the route writes it. The administrators of the route may.`,
		"Paid":  `You may not write the message "Paid" of this case: the hook stripe delivers it. The administrators of the route may.`,
	} {
		_, err := sam.putLabel(id, label, "forged")
		w.refused(err, errs.NotAllowed)
		if err != nil {
			same(t, label, err.Error(), want)
		}
	}
	before := len(sam.logTexts(id))
	for _, label := range []string{"Note", "Note", "Called"} {
		try(sam.putLabel(id, label, "x")).must(w, label)
	}
	try(admin.putLabel(id, "Check", "by hand")).must(w, "the administrator's")
	var written []string
	for _, line := range sam.logTexts(id)[before:] {
		if strings.HasPrefix(line, "message: ") {
			written = append(written, line)
		}
	}
	same(t, "the log", strings.Join(written, "\n"), "message: Wrote Note, 1 byte\nmessage: Replaced Note, 1 byte\nmessage: Wrote Called, 1 byte\nmessage: Replaced Check, 7 bytes")
}

// TestDeclaredMessages: those roles write a message that a route names for it, in place of
// the starter and who has a task; and nobody but administrators of the route what the
// engine writes.
func TestDeclaredMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann, bob, admin := w.as("sam"), w.as("ann"), w.as("bob"), w.as("admin")
	admin.mustPutRoute("verdict", `access: {start: [everyone], read: [everyone]}
roles: {judge: {assign: ["user:ann"]}, clerk: {assign: [starter]}, witness: {}}
messages: {Verdict: {edit: [judge, witness]}, Check: {edit: [judge]}, Sealed: {edit: []}, Note: {}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, onFire: [{message: {label: Check, text: no}}]}
  end: {in: [open], role: clerk, to: done}
  close: {in: [open], trigger: message, message: Verdict, to: done}
`)
	id := sam.startCase(`{"route": "verdict"}`)
	for _, try := range []struct {
		by    user
		label string
		why   string // "": it is written
	}{
		{sam, "Sealed", "the route leaves it to steps and hooks"},
		{sam, "Verdict", `the route leaves it to the role "judge" (ann), the role "witness" (nobody)`},
		{sam, "Check", `the route leaves it to the role "judge" (ann)`},
		{sam, "error", "the engine writes it"},
		{sam, "Stdout-3-1-1", "the engine writes it"},
		{sam, "Stderr-3-1-1", "the engine writes it"},
		{ann, "Outbox-3-1", "the engine writes it"},
		{sam, "Note", ""},
		{ann, "Check", ""}, // though a step writes it, too
		{admin, "Sealed", ""},
		{admin, "Outbox-3-1", ""},
		{ann, "Verdict", ""},
	} {
		_, err := try.by.putLabel(id, try.label, "x")
		switch {
		case try.why == "" && err != nil:
			t.Errorf("%s writes %s: %v", try.by.name, try.label, err)
		case try.why != "":
			w.refused(err, errs.NotAllowed)
			if err != nil {
				same(t, try.label, err.Error(), `You may not write the message "`+try.label+`" of this case: `+try.why+`. The administrators of the route may.`)
			}
		}
	}
	if got := sam.caseForm(id).get("status"); !strings.Contains(got, "done") {
		t.Errorf("the case is %s", got)
	}
	_, err := bob.putLabel(sam.startCase(`{"route": "verdict"}`), "Note", "x")
	w.refused(err, errs.NotFound)
}
