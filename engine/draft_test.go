package engine_test

import (
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/errs"
)

// TestMakeDraft: a draft lives a day, or until the lock ends that made it.
func TestMakeDraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	at := beside(inSchedule, "a.json")
	start := w.clock.Now()
	draft := func(until time.Duration) bool {
		var end time.Time
		if until > 0 {
			end = w.clock.Now().Add(until)
		}
		return try(w.MakeDraft(t.Context(), sam.request(nil), at, end)).must(w, "draft")
	}
	end := func(unlocked bool) {
		w.kind("end", w.EndDraft(t.Context(), sam.by(), at, unlocked), "")
	}
	same(t, "a draft", draft(0), true)
	same(t, "is there", sam.scratch(at), "draft:")
	same(t, "for its author", w.as("ann").scratch(at), "")
	same(t, "another", draft(0), false)
	same(t, "another by a lock", draft(time.Minute), false)
	end(true)
	same(t, "outlives the lock", sam.scratch(at), "draft:")
	end(false)
	end(false)
	same(t, "gone", sam.scratch(at), "")

	same(t, "one by a lock", draft(time.Minute), true)
	w.clock.Set(start.Add(time.Minute))
	same(t, "ends with it", sam.scratch(at), "")
	same(t, "a further one by a lock", draft(time.Minute), true)
	end(true)
	same(t, "which ends early", sam.scratch(at), "")
	same(t, "one that a lock made", draft(time.Minute), true)
	same(t, "and an empty PUT keeps", draft(0), false)
	w.clock.Set(start.Add(3 * time.Minute))
	same(t, "outlives it", sam.scratch(at), "draft:")

	try(sam.putScratch(beside(inSchedule, ".x"), "x")).must(w, "PUT")
	_, err := w.MakeDraft(t.Context(), sam.request(nil), beside(inSchedule, ".x"), time.Time{})
	w.kind("in the place of a side file", err, errs.NameTaken)
}

// TestReject: content and reasons are kept under names that tell the time, the
// same content once.
func TestReject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	reject := func(name, body string) {
		w.kind("reject "+name, w.Reject(t.Context(), sam.request(nil), engine.Refusal{
			At: beside(inSchedule, name), MediaType: "application/json", Body: []byte(body), Reasons: "why " + body,
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
		"20121109T123456Z " + strings.Repeat("ä", 37) + ".json", "20121109T123456Z " + strings.Repeat("ä", 37) + ".json.txt",
		"20121109T123457Z a.json", "20121109T123457Z a.json.txt",
	}, " "))
	same(t, "content", sam.scratch(beside(in, "20121109T123457Z a.json")), "rejected:2")
	same(t, "reasons", sam.scratch(beside(in, "20121109T123457Z a.json.txt")), "rejected:why 2")
	same(t, "of somebody else", w.as("ann").scratchIn(in), "")
	w.clock.Set(w.clock.Now().Add(24 * time.Hour))
	same(t, "after a day", sam.scratchIn(in), "")
}
