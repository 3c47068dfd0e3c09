package engine_test

import (
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/scratch"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// TestMakeDraft: a draft lives a day, or until the lock ends that made it.
func TestMakeDraft(t *testing.T) {
	t.Parallel()
	var now time.Time
	w := newWorld(t, func(w *world) {
		w.config = func(c *engine.Config) { c.Wall = func() time.Time { return now } }
	})
	sam := w.as("sam")
	now = w.clock.Now()
	pass := func(d time.Duration) { // on both clocks
		now = now.Add(d)
		w.clock.Set(now)
	}
	at := beside(inSchedule, "a.json")
	target := engine.Target{Kind: engine.OnScratch, Scratch: at, Draft: true, URL: inSchedule + "/a.json"}
	draft := func() bool { return try(w.Scratch.MakeDraft(t.Context(), sam.request(nil), at)).must(w, "draft") }
	lock := func(lasts time.Duration) (*store.Lock, bool) {
		l, created, err := w.Locks.Lock(t.Context(), sam.request(nil), target, engine.NewLock{Lasts: lasts})
		w.kind("LOCK", err, "")
		return l, created
	}
	unlock := func(l *store.Lock) {
		w.kind("UNLOCK", w.Locks.Unlock(t.Context(), sam.request(nil), target, l.Token), "")
	}
	end := func(became *engine.Target) { w.kind("end", w.Locks.EndDraft(t.Context(), sam.by(), at, became), "") }

	same(t, "a draft", draft(), true)
	same(t, "is there", sam.scratch(at), "draft:")
	same(t, "for its author", w.as("ann").scratch(at), "")
	same(t, "another", draft(), false)
	l, created := lock(time.Minute)
	same(t, "one that a lock made", created, false)
	unlock(l)
	same(t, "outlives the lock", sam.scratch(at), "draft:")
	end(nil)
	end(nil)
	same(t, "gone", sam.scratch(at), "")

	l, created = lock(time.Minute)
	same(t, "one by a lock", created, true)
	pass(30 * time.Second)
	_, err := w.Locks.RefreshLock(t.Context(), sam.request([]option{submits(l)}), target, time.Minute)
	w.kind("refresh", err, "")
	pass(45 * time.Second)
	same(t, "lasts as long", sam.scratch(at), "draft:")
	pass(15 * time.Second)
	same(t, "ends with it", sam.scratch(at), "")

	l, _ = lock(time.Minute)
	unlock(l)
	same(t, "one that was unlocked", sam.scratch(at), "")
	l, _ = lock(time.Minute)
	same(t, "one that an empty PUT keeps", draft(), false)
	unlock(l)
	same(t, "outlives its lock", sam.scratch(at), "draft:")
	end(nil)

	// The lock on a draft is on what it becomes.
	l, _ = lock(time.Hour)
	sam.mustPutEntry("a.json", `{"type": "interval", "days": 1, "route": "auto"}`)
	entry := engine.Target{Kind: engine.OnEntry, Ref: sam.ref("a.json"), URL: target.URL}
	end(&entry)
	_, err = sam.putEntry("a.json", `{"type": "interval", "days": 2, "route": "auto"}`)
	w.kind("without the token", err, errs.Locked)
	_, err = sam.putEntry("a.json", `{"type": "interval", "days": 2, "route": "auto"}`, submits(l))
	w.kind("with the token", err, "")
	w.kind("UNLOCK", w.Locks.Unlock(t.Context(), sam.request(nil), entry, l.Token), "")

	try(sam.putScratch(beside(inSchedule, ".x"), "x")).must(w, "PUT")
	_, err = w.Scratch.MakeDraft(t.Context(), sam.request(nil), beside(inSchedule, ".x"))
	w.kind("in the place of a side file", err, errs.NameTaken)
}

// submits submits the token of a lock.
func submits(l *store.Lock) option {
	return func(req *engine.Request) { req.Tokens = append(req.Tokens, l.Token) }
}

// TestLockedScratch: the lock on a side file keeps its author's other clients
// out; what a lock makes of a side file is one.
func TestLockedScratch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.config = func(c *engine.Config) { c.Wall = w.clock.Now }
	})
	sam := w.as("sam")
	at := beside(inSchedule, ".a.swp")
	target := engine.Target{Kind: engine.OnScratch, Scratch: at, URL: inSchedule + "/.a.swp"}
	l, created, err := w.Locks.Lock(t.Context(), sam.request(nil), target, engine.NewLock{})
	w.kind("LOCK", err, "")
	same(t, "created", created, true)
	same(t, "what it made", sam.scratch(at), "side:")
	_, err = sam.putScratch(at, "x")
	w.kind("PUT without token", err, errs.Locked)
	w.kind("DELETE without token", w.Scratch.Delete(t.Context(), sam.request(nil), at), errs.Locked)
	_, err = w.Scratch.Move(t.Context(), sam.request(nil), at, beside(inSchedule, ".b"), true)
	w.kind("MOVE without token", err, errs.Locked)
	_, err = w.Scratch.MayTake(t.Context(), sam.request(nil), at)
	w.kind("MOVE onto a document without token", err, errs.Locked)
	_, err = sam.putScratch(at, "x", submits(l))
	w.kind("PUT with token", err, "")
	_, err = w.Scratch.Move(t.Context(), sam.request([]option{submits(l)}), at, beside(inSchedule, ".b"), true)
	w.kind("MOVE with token", err, "")
	_, err = sam.putScratch(at, "y")
	w.kind("the lock is gone with it", err, "")

	taken := try(w.Scratch.MayTake(t.Context(), sam.request(nil), at)).must(w, "take")
	takes := func(req *engine.Request) { req.Takes = taken }
	_, err = sam.putEntry("a.json", `{"type": 1}`, takes)
	w.kind("refused", err, errs.Invalid)
	same(t, "what was not taken", sam.scratch(at), "side:y")
	sam.mustPutEntry("a.json", `{"type": "interval", "days": 1, "route": "auto"}`, takes)
	same(t, "what was taken", sam.scratch(at), "")
	_, err = sam.putEntry("a.json", `{"type": "interval", "days": 2, "route": "auto"}`, takes)
	w.kind("twice", err, errs.InUse)
}

// TestReject: content and reasons are kept under names that tell the time, the
// same content once.
func TestReject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	path := inSchedule
	reject := func(name, body string) {
		w.kind("reject "+name, w.Scratch.Reject(t.Context(), sam.request(nil), scratch.Refusal{
			At: beside(inSchedule, name), Path: path, MediaType: "application/json", Body: []byte(body), Reasons: path + " was not saved, for " + body,
		}), "")
	}
	reject("a.json", "1")
	reject("a.json", "1")
	reject("a.json", "2")
	reject(`a:b?.json`, "3")
	reject(strings.Repeat("ä", 60)+".json", "4")
	in := inSchedule + "/Rejected"
	same(t, "names", sam.scratchIn(in), strings.Join([]string{
		"20121109T123456Z a.json", "20121109T123456Z a.json.txt", "20121109T123456Z a_b_.json", "20121109T123456Z a_b_.json.txt",
		"20121109T123456Z " + strings.Repeat("ä", 60) + ".json", "20121109T123456Z " + strings.Repeat("ä", 60) + ".json.txt",
		"20121109T123457Z a.json", "20121109T123457Z a.json.txt",
	}, " "))
	same(t, "content", sam.scratch(beside(in, "20121109T123457Z a.json")), "rejected:2")
	same(t, "reasons", sam.scratch(beside(in, "20121109T123457Z a.json.txt")), "rejected:"+inSchedule+" was not saved, for 2")
	path = "/dav/Workflow"
	reject("a.json", "1")
	same(t, "the same to another address", sam.scratch(beside(in, "20121109T123458Z a.json.txt")), "rejected:/dav/Workflow was not saved, for 1")
	same(t, "of somebody else", w.as("ann").scratchIn(in), "")
	w.clock.Set(w.clock.Now().Add(24 * time.Hour))
	same(t, "after a day", sam.scratchIn(in), "")
}
