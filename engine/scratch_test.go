package engine_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/contents"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const inSchedule = "/dav/Workflow/Schedule"

func beside(folder, name string) store.ScratchPlace {
	return store.ScratchPlace{Folder: folder, Name: name}
}

func (u user) putScratch(at store.ScratchPlace, text string, options ...option) (*engine.Outcome, error) {
	return u.Scratch.Put(u.Context(), u.request(options), at, contents.Upload{Size: int64(len(text)), Body: strings.NewReader(text)})
}

// scratch returns what is at the place, "" for nothing.
func (u user) scratch(at store.ScratchPlace) string {
	u.Helper()
	open, err := u.Scratch.Open(u.Context(), u.by(), u.clock.Now(), at)
	if errs.Is(err, errs.NotFound) {
		return ""
	}
	if err != nil {
		u.Fatal(err)
	}
	text, err := io.ReadAll(open.Body)
	if err != nil {
		u.Fatal(err)
	}
	return string(open.Kind) + ":" + string(text)
}

// scratchIn returns the names in the folder.
func (u user) scratchIn(folder string) string {
	u.Helper()
	var names []string
	for _, s := range try(u.Scratch.In(u.Context(), u.by(), u.clock.Now(), folder)).must(u.world, "list") {
		names = append(names, s.Place.Name)
	}
	return strings.Join(names, " ")
}

// after makes a request so much later, by the machine's clock.
func after(d time.Duration) option { return func(req *engine.Request) { req.Now = req.Now.Add(d) } }

// TestScratch: a side file is its author's, is replaced whatever the case of
// its name, and goes after a day.
func TestScratch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	swp := beside(inSchedule, ".a.json.swp")
	big := large("swap")
	out := try(sam.putScratch(swp, "one")).must(w, "PUT")
	same(t, "a new one", out.Created, true)
	same(t, "read by its author", sam.scratch(swp), "side:one")
	same(t, "read by another", ann.scratch(swp), "")
	same(t, "listed for its author", sam.scratchIn(inSchedule), ".a.json.swp")
	same(t, "listed for another", ann.scratchIn(inSchedule), "")

	_, err := sam.putScratch(swp, "two", ifNew())
	w.kind("only where there is none", err, errs.Precondition)
	_, err = sam.putScratch(swp, "two", ifMatch(`"other"`))
	w.kind("only in the place of another", err, errs.Precondition)
	again := try(sam.putScratch(beside("/DAV/workflow/schedule", ".A.json.SWP"), big, ifMatch(out.ETag))).must(w, "PUT again")
	same(t, "one in its place", again.Created, false)
	same(t, "read again", sam.scratch(swp), "side:"+big)
	same(t, "its bytes count", sam.used(), int64(len(big)))

	_, err = sam.putScratch(beside(inSchedule, "a\x00.tmp"), "x")
	w.kind("a control character", err, errs.NameNotAllowed)
	_, err = sam.putScratch(beside(inSchedule, ".b"), "x", func(req *engine.Request) { req.DryRun = true })
	w.kind("a dry run", err, "")
	same(t, "stores nothing", sam.scratch(beside(inSchedule, ".b")), "")

	w.kind("another's", ann.Scratch.Delete(t.Context(), ann.request(nil), swp), errs.NotFound)
	w.kind("one that has changed", sam.Scratch.Delete(t.Context(), sam.request([]option{ifMatch(out.ETag)}), swp), errs.Precondition)
	w.kind("DELETE", sam.Scratch.Delete(t.Context(), sam.request(nil), swp), "")
	w.kind("DELETE again", sam.Scratch.Delete(t.Context(), sam.request(nil), swp), errs.NotFound)
	same(t, "nothing counts", sam.used(), 0)

	try(sam.putScratch(swp, "one")).must(w, "PUT")
	w.clock.Set(w.clock.Now().Add(24 * time.Hour))
	same(t, "after a day", sam.scratch(swp)+sam.scratchIn(inSchedule), "")
	w.kind("DELETE after a day", sam.Scratch.Delete(t.Context(), sam.request(nil), swp), errs.NotFound)
	out = try(sam.putScratch(swp, "two")).must(w, "PUT after a day")
	same(t, "is a new one", out.Created, true)
}

// TestScratchFolders: they hold what they hold, and move and go with it.
func TestScratchFolders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	trash := beside(inSchedule, ".Trash")
	in := inSchedule + "/.Trash"
	mkcol := func(at store.ScratchPlace) error {
		_, err := sam.Scratch.MakeFolder(t.Context(), sam.request(nil), at)
		return err
	}
	move := func(from, to store.ScratchPlace) error {
		_, err := sam.Scratch.Move(t.Context(), sam.request(nil), from, to, true)
		return err
	}
	w.kind("MKCOL", mkcol(trash), "")
	w.kind("MKCOL again", mkcol(trash), errs.Method)
	_, err := sam.putScratch(trash, "x")
	w.kind("PUT of a folder's name", err, errs.Method)
	w.kind("MKCOL in it", mkcol(beside(in, "deep")), "")
	big := large("deep")
	for _, at := range []store.ScratchPlace{beside(in, "a.json"), beside(in+"/deep", "b.json"), beside(inSchedule, ".Trash2")} {
		try(sam.putScratch(at, big)).must(w, "PUT "+at.Name)
	}
	same(t, "in it", sam.scratchIn(in), "a.json deep")

	w.kind("into itself", move(trash, beside(in+"/deep", "x")), errs.NotMovable)
	w.kind("nothing", move(beside(in, "none"), beside(in, "x")), errs.NotFound)
	w.kind("over another file", move(beside(in, "a.json"), beside(inSchedule, ".Trash2")), "")
	w.kind("the folder", move(trash, beside("/dav/Workflow/Cases", ".Papierkorb")), "")
	same(t, "where it was", sam.scratchIn(inSchedule)+sam.scratchIn(in)+sam.scratchIn(in+"/deep"), ".Trash2")
	same(t, "where it is", sam.scratch(beside("/dav/Workflow/Cases/.Papierkorb/deep", "b.json")), "side:"+big)
	same(t, "what counts", sam.used(), 2*int64(len(big)))

	w.kind("DELETE", sam.Scratch.Delete(t.Context(), sam.request(nil), beside("/dav/Workflow/Cases", ".Papierkorb")), "")
	same(t, "what was in it", sam.scratch(beside("/dav/Workflow/Cases/.Papierkorb/deep", "b.json")), "")
	w.kind("DELETE of the file", sam.Scratch.Delete(t.Context(), sam.request(nil), beside(inSchedule, ".Trash2")), "")
	same(t, "what counts in the end", sam.used(), 0)
	w.kind("the collector", w.Collect(t.Context()), "")
	names, _ := w.files()
	same(t, "files that are left", len(names), 0)
}

// TestScratchRoom: the oldest make room, within the quota; what is stored
// elsewhere never does.
func TestScratchRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withQuota(20_000))
	sam := w.as("sam")
	put := func(name string, size int, later time.Duration) error {
		_, err := sam.putScratch(beside(inSchedule, name), strings.Repeat("x", size), after(later))
		return err
	}
	w.kind("the first", put(".1", 5000, 0), "")
	w.kind("the second", put(".2", 5000, time.Second), "")
	w.kind("the third", put(".3", 5000, 2*time.Second), "")
	w.kind("the first again", put(".1", 5000, 3*time.Second), "")
	w.kind("the fourth", put(".4", 9000, 4*time.Second), "")
	same(t, "what is left", sam.scratchIn(inSchedule), ".1 .3 .4")
	w.kind("one that is too large", put(".5", 20_001, 5*time.Second), errs.Full)
	same(t, "what is left", sam.scratchIn(inSchedule), ".1 .3 .4")
	_, err := sam.Files.PutDocument(t.Context(), sam.request(nil), path("sam/a"), contents.Upload{Size: 1000, Body: strings.NewReader(strings.Repeat("x", 1000))})
	w.kind("a document", err, "")
	w.kind("one for which only the documents have room", put(".5", 19_500, 6*time.Second), errs.Full)
	same(t, "what is left", sam.scratchIn(inSchedule), ".1 .3 .4")
	same(t, "the same, not announced", try(sam.Scratch.Put(t.Context(), sam.request(nil), beside(inSchedule, ".5"), contents.Upload{
		Size: -1, Body: strings.NewReader(strings.Repeat("x", 19_500)),
	})).err != nil, true)
	same(t, "what is left", sam.scratchIn(inSchedule), ".1 .3 .4")
}

// TestScratchOfSomebodyWhoLeaves goes with them, contents and all.
func TestScratchOfSomebodyWhoLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eve := w.as("eve")
	try(eve.putScratch(beside(inSchedule, ".x"), large("eve"))).must(w, "PUT")
	w.kind("DELETE of the user", w.Accounts.DeleteParty(t.Context(), w.as("admin").request(nil), identity.User, "eve", ""), "")
	w.kind("the collector", w.Collect(t.Context()), "")
	names, _ := w.files()
	same(t, "files that are left", len(names), 0)
}

// TestScratchExpires: rows and contents go by themselves, and nothing polls.
func TestScratchExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, stop := realTime(t)
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		sam := w.as("sam")
		await(time.Hour)
		before := w.db.Stats().Statements
		await(time.Hour)
		same(t, "statements while there is nothing", w.db.Stats().Statements-before, 0)

		try(sam.putScratch(beside(inSchedule, ".x"), large("x"), after(2*time.Hour))).must(w, "PUT")
		await(24*time.Hour + 2*time.Minute)
		same(t, "what counts", sam.used(), 0)
		names, _ := w.files()
		same(t, "files that are left", len(names), 0)
	})
}
