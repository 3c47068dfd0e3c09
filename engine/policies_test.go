package engine_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

func withZones(w *world) {
	w.config = func(cfg *engine.Config) { cfg.Zones = new(clock.Zones).Zone }
}

// off lets time pass as for a server that is not running.
func (w *world) off(until string) {
	w.Helper()
	w.clock.Set(instant(until))
	w.advance(0)
}

func TestMisfirePolicies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		policy string
		until  string
		want   []string
		next   string
	}{
		{"once", "2012-11-09T13:10:00Z", []string{"late 2012-11-09T13:04:56Z", "skipped 2012-11-09T12:54:56Z", "skipped 2012-11-09T12:44:56Z"}, "2012-11-09T13:14:56"},
		{"skip", "2012-11-09T13:10:00Z", []string{"skipped 2012-11-09T13:04:56Z", "skipped 2012-11-09T12:54:56Z", "skipped 2012-11-09T12:44:56Z"}, "2012-11-09T13:14:56"},
		{"all", "2012-11-09T13:10:00Z", []string{"late 2012-11-09T13:04:56Z", "late 2012-11-09T12:54:56Z", "late 2012-11-09T12:44:56Z"}, "2012-11-09T13:14:56"},
		{"once", "2012-11-09T13:05:00Z", []string{"fired 2012-11-09T13:04:56Z", "late 2012-11-09T12:54:56Z", "skipped 2012-11-09T12:44:56Z"}, "2012-11-09T13:14:56"},
		{"skip", "2012-11-09T13:05:00Z", []string{"fired 2012-11-09T13:04:56Z", "skipped 2012-11-09T12:54:56Z", "skipped 2012-11-09T12:44:56Z"}, "2012-11-09T13:14:56"},
		{"all", "2012-11-09T13:05:00Z", []string{"fired 2012-11-09T13:04:56Z", "late 2012-11-09T12:54:56Z", "late 2012-11-09T12:44:56Z"}, "2012-11-09T13:14:56"},
	} {
		t.Run(test.policy+" "+test.until, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			sam := w.as("sam")
			out := sam.mustPutEntry("e.json", `{"type": "interval", "minutes": 10, "route": "auto", "misfire": "`+test.policy+`"}`)
			w.off(test.until)
			same(t, "occurrences", sam.occurrences(out.Name), test.want)
			created := strings.Count(strings.Join(test.want, ""), "late") + strings.Count(strings.Join(test.want, ""), "fired")
			same(t, "cases", len(w.cases()), created)
			sam.entry("e.json").wants("nextIteration", `"`+test.next+`"`)
		})
	}
}

// Of very many missed ones a thousand have a case each, and the others a row
// or a word.
func TestMisfireAllIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := sam.mustPutEntry("e.json", `{"type": "interval", "minutes": 1, "route": "auto", "misfire": "all"}`)
	w.clock.Set(instant("2012-11-10T12:34:56Z"))
	w.advance(0)
	counts := map[string]int{}
	for _, line := range sam.occurrences(out.Name) {
		outcome, _, _ := strings.Cut(line, " ")
		counts[outcome]++
	}
	same(t, "outcomes", counts, map[string]int{"late": 1000, "skipped": 439, "fired": 1})
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	const doc = `{"type": "interval", "minutes": 10, "route": "auto", "misfire": "once", "note": "as it was"}`
	out := sam.mustPutEntry("e.json", doc)
	w.advance(10 * time.Minute)
	if paused := sam.mustPutEntry("e.json", `{"do": "pause", "note": "holidays"}`); paused.ETag != "" {
		t.Errorf("the ETag is %s", paused.ETag)
	}
	sam.entry("e.json").wants("paused", "true", "note", `"holidays"`, "nextIteration", "null", "upcoming", "[]")
	sam.mustPutEntry("e.json", `{"do": "pause"}`) // again: the reason stays
	sam.entry("e.json").wants("paused", "true", "note", `"holidays"`)
	if source := string(sam.entryResource("e.json").Source); !strings.Contains(source, `"paused": true`) || strings.Contains(source, "upcoming") {
		t.Errorf("the source is %s", source)
	}
	w.advance(35 * time.Minute)
	same(t, "while paused", sam.occurrences(out.Name), []string{"fired 2012-11-09T12:44:56Z"})
	sam.mustPutEntry("e.json", `{"do": "resume"}`)
	same(t, "after", sam.occurrences(out.Name), []string{
		"late 2012-11-09T13:14:56Z", "skipped 2012-11-09T13:04:56Z", "skipped 2012-11-09T12:54:56Z", "fired 2012-11-09T12:44:56Z",
	})
	sam.entry("e.json").wants("paused", "false", "nextIteration", `"2012-11-09T13:24:56"`, "iterationsPerformed", "2", "note", `""`)
	sam.mustPutEntry("e.json", `{"do": "resume"}`) // of one that runs changes nothing
	sam.entry("e.json").wants("nextIteration", `"2012-11-09T13:24:56"`)

	// The same by a document.
	sam.mustPutEntry("e.json", strings.Replace(doc, `"note"`, `"paused": true, "note"`, 1))
	w.advance(time.Hour)
	sam.mustPutEntry("e.json", doc)
	same(t, "by a document", sam.occurrences(out.Name)[0], "late 2012-11-09T14:14:56Z")
	_, err := sam.putEntry("e.json", `{"do": "pause", "note": 5}`)
	same(t, "faults", faultsOf(err), []string{"/note type"})
	if _, err := w.as("eve").putEntry(out.Name+".json", `{"do": "pause"}`); !errs.Is(err, errs.NotFound) {
		t.Errorf("a stranger: %v", err)
	}
}

// TestResumeSkipsMissed: with "missed": "skip" nothing is started for the instants that passed
// while the entry was paused, whatever its misfire says; each leaves its row.
func TestResumeSkipsMissed(t *testing.T) {
	t.Parallel()
	for _, misfire := range []string{"once", "all", "skip"} {
		t.Run(misfire, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			sam := w.as("sam")
			out := sam.mustPutEntry("e.json", `{"type": "interval", "minutes": 10, "route": "auto", "misfire": "`+misfire+`"}`)
			sam.mustPutEntry("e.json", `{"do": "pause"}`)
			w.advance(20 * time.Minute) // the second instant is this very moment
			sam.mustPutEntry("e.json", `{"do": "resume", "missed": "skip"}`)
			w.advance(0)
			same(t, "skipped", sam.occurrences(out.Name), []string{"skipped 2012-11-09T12:54:56Z", "skipped 2012-11-09T12:44:56Z"})
			rows := string(try(w.Schedules.Occurrences(t.Context(), sam.by(), sam.ref(out.Name).Entry)).must(w, "occurrences").Form)
			same(t, "reasons", strings.Count(rows, `"paused: missed while the entry was paused"`), 2)
			sam.entry("e.json").wants("paused", "false", "nextIteration", `"2012-11-09T13:04:56"`, "iterationsPerformed", "0")
			w.advance(10 * time.Minute)
			same(t, "goes on", sam.occurrences(out.Name)[0], "fired 2012-11-09T13:04:56Z")
			sam.mustPutEntry("e.json", `{"do": "pause"}`)
			sam.mustPutEntry("e.json", `{"do": "resume", "missed": "skip"}`) // nothing was missed
			sam.entry("e.json").wants("nextIteration", `"2012-11-09T13:14:56"`)

			sam.mustPutEntry("last.json", `{"type": "simple", "date": "2012-11-09T14:00", "route": "auto", "misfire": "`+misfire+`", "paused": true}`)
			w.advance(2 * time.Hour)
			_, err := sam.putEntry("last.json", `{"do": "resume", "missed": "skip"}`)
			same(t, "the last instant", faultsOf(err), []string{"/do never-fires"})
			sam.entry("last.json").wants("paused", "true")
		})
	}
}

func TestTrigger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := sam.mustPutEntry("e.json", `{"type": "interval", "minutes": 10, "route": "auto", "repeat": 3}`)
	sam.mustPutEntry("e.json", `{"do": "trigger"}`)
	sam.mustPutEntry("e.json", `{"do": "trigger"}`)
	same(t, "occurrences", sam.occurrences(out.Name), []string{"triggered 2012-11-09T12:34:56Z", "triggered 2012-11-09T12:34:56Z"})
	sam.entry("e.json").wants("iterationsPerformed", "2", "iterationsRemaining", "1", "nextIteration", `"2012-11-09T12:44:56"`)
	if rows := string(try(w.Schedules.Occurrences(t.Context(), sam.by(), sam.ref(out.Name).Entry)).must(w, "occurrences").Form); strings.Count(rows, `"lagSeconds":0,`) != 2 {
		t.Errorf("triggered cases lag: %s", rows)
	}
	w.cases()[1].wants("scheduledFor", `"2012-11-09T12:34:56Z"`, "state", `"completed"`)
	sam.mustPutEntry("e.json", `{"do": "trigger"}`)
	same(t, "entries", len(w.entries()), 0)
	same(t, "cases", len(w.cases()), 3)
	_, err := sam.putEntry(out.Name+".json", `{"do": "trigger"}`)
	w.refused(err, errs.NotFound)

	// One at the very instant of an entry that is paused takes nothing away.
	out = sam.mustPutEntry("paused.json", `{"type": "interval", "minutes": 10, "route": "auto", "paused": true}`)
	w.advance(10 * time.Minute)
	sam.mustPutEntry("paused.json", `{"do": "trigger"}`)
	sam.mustPutEntry("paused.json", `{"do": "resume"}`)
	same(t, "of both", sam.occurrences(out.Name), []string{"triggered 2012-11-09T12:44:56Z", "fired 2012-11-09T12:44:56Z"})
	sam.entry("paused.json").wants("iterationsPerformed", "2")
}

// TestTriggerOfNothing: an entry that names what is gone is there all the same.
func TestTriggerOfNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := sam.mustPutEntry("e.json", `{"type": "interval", "minutes": 10, "route": "auto"}`)
	w.update(func(tx store.Tx) error { return tx.Write().Routes().Delete(autoID(w)) })
	_, err := sam.putEntry("e.json", `{"do": "trigger"}`)
	w.refused(err, errs.Invalid)
	same(t, "faults", faultsOf(err), []string{"/do not-found"})
	same(t, "occurrences", len(sam.occurrences(out.Name)), 0)
	sam.entry("e.json").wants("iterationsPerformed", "0")
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]string{
		"allow":       "active active active",
		"skip":        "active",
		"bufferOne":   "active queued",
		"bufferAll":   "active queued queued",
		"cancelOther": "canceled canceled active",
	} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.as("admin").mustPutRoute("task", `
access: {start: [everyone], read: [everyone]}
roles: {clerk: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions: {begin: {trigger: init}, finish: {in: [open], role: clerk, to: done}}
`)
			sam := w.as("sam")
			out := sam.mustPutEntry("e.json", `{"type": "interval", "minutes": 10, "route": "task", "repeat": 9, "overlap": "`+policy+`"}`)
			w.advance(30 * time.Minute)
			states := func() string {
				var all []string
				for _, c := range w.cases() {
					all = append(all, strings.Trim(c.get("state"), `"`))
				}
				return strings.Join(all, " ")
			}
			same(t, "states", states(), want)
			performed := len(strings.Fields(want))
			sam.entry("e.json").wants("iterationsPerformed", []string{"", "1", "2", "3"}[performed])
			if got := sam.occurrences(out.Name); len(got) != 3 || (performed < 3) != strings.Contains(strings.Join(got, " "), "skipped") {
				t.Errorf("occurrences %q", got)
			}
			if !strings.HasPrefix(policy, "buffer") {
				return
			}
			second := number(t, w.cases()[1].get("id"))
			same(t, "why", try(sam.perform(second, "finish", `{}`)).err.Error(),
				"The case is queued; this can be done once it has started. It waits for earlier cases of its schedule entry to end.")
			first := w.cases()[0].get("id")
			sam.mustPerform(number(t, first), "finish")
			same(t, "after the first", strings.HasPrefix(states(), "completed active"), true)
		})
	}
}

func TestBackfill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := sam.mustPutEntry("e.json", `{"type": "cron", "hour": "6", "minute": "0", "route": "auto", "repeat": 5}`)
	sam.mustPutEntry("e.json", `{"do": "backfill", "from": "2012-11-06T06:00", "to": "2012-11-09T06:00"}`)
	want := []string{"backfilled 2012-11-08T06:00:00Z", "backfilled 2012-11-07T06:00:00Z", "backfilled 2012-11-06T06:00:00Z"}
	same(t, "occurrences", sam.occurrences(out.Name), want)
	sam.mustPutEntry("e.json", `{"do": "backfill", "from": "2012-11-06T06:00", "to": "2012-11-09T06:00"}`)
	same(t, "again", sam.occurrences(out.Name), want)
	sam.entry("e.json").wants("iterationsPerformed", "3", "nextIteration", `"2012-11-10T06:00:00"`)
	for doc, fault := range map[string]string{
		`{"do": "backfill", "from": "2012-11-06", "to": "2012-11-06"}`: "/to range",
		`{"do": "backfill", "from": "2012-11-06", "to": "2012-12-06"}`: "/to range",
		`{"do": "backfill", "to": "2012-11-06"}`:                       "/from required",
	} {
		_, err := sam.putEntry("e.json", doc)
		w.refused(err, errs.Invalid, fault)
	}
	often := sam.mustPutEntry("often.json", `{"type": "interval", "seconds": 1, "date": "2012-11-01", "route": "auto"}`)
	_, err := sam.putEntry("often.json", `{"do": "backfill", "from": "2012-11-01", "to": "2012-11-02"}`)
	w.refused(err, errs.Invalid, "/to range")
	same(t, "nothing", len(sam.occurrences(often.Name)), 1)
}

// TestBackfillIsReported: a backfill says what became of each instant, a dry run of it what
// would, and however often it is repeated each instant has one case.
func TestBackfillIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutEntry("e.json", `{"type": "cron", "hour": "6", "minute": "0", "route": "auto", "repeat": 3}`)
	report := func(from, to string, o ...option) string {
		t.Helper()
		out := sam.mustPutEntry("e.json", `{"do": "backfill", "from": "`+from+`", "to": "`+to+`"}`, o...)
		var told struct {
			Backfill struct {
				Instants, Backfilled, Done, Left int
				List                             []struct {
					Instant, Outcome string
					Case             *int64
				}
			}
		}
		if err := json.Unmarshal(out.Told, &told); err != nil {
			t.Fatal(err)
		}
		b := told.Backfill
		lines := []string{fmt.Sprintf("%d: %d new, %d done, %d left", b.Instants, b.Backfilled, b.Done, b.Left)}
		for _, of := range b.List {
			lines = append(lines, fmt.Sprintf("%s %s %t", of.Instant[:10], of.Outcome, of.Case != nil))
		}
		return strings.Join(lines, "; ")
	}
	same(t, "a dry run", report("2012-11-06", "2012-11-08", dryRun()), "2: 2 new, 0 done, 0 left; 2012-11-06 backfilled false; 2012-11-07 backfilled false")
	same(t, "cases of a dry run", len(w.cases()), 0)
	same(t, "a backfill", report("2012-11-06", "2012-11-08"), "2: 2 new, 0 done, 0 left; 2012-11-06 backfilled true; 2012-11-07 backfilled true")
	same(t, "a larger one", report("2012-11-06", "2012-11-09", dryRun()), "3: 1 new, 2 done, 0 left; 2012-11-06 done true; 2012-11-07 done true; 2012-11-08 backfilled false")
	same(t, "repeat ends it", report("2012-11-05", "2012-11-09"), "4: 1 new, 2 done, 1 left; 2012-11-05 backfilled true; 2012-11-06 done true; 2012-11-07 done true; 2012-11-08 left false")
	same(t, "cases", len(w.cases()), 3)
}

// What had no case, because the server was off or the route was away, gets
// one by a backfill; what has one gets no other when the entry comes to it.
func TestBackfillMakesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := sam.mustPutEntry("e.json", `{"type": "interval", "minutes": 10, "route": "auto", "misfire": "skip", "repeat": 9}`)
	w.off("2012-11-09T13:00:00Z")
	same(t, "cases", len(w.cases()), 0)
	sam.mustPutEntry("e.json", `{"do": "backfill", "from": "2012-11-09T12:40", "to": "2012-11-09T13:00"}`)
	same(t, "occurrences", sam.occurrences(out.Name), []string{"backfilled 2012-11-09T12:54:56Z", "backfilled 2012-11-09T12:44:56Z"})
	same(t, "cases", len(w.cases()), 2)
	sam.entry("e.json").wants("iterationsPerformed", "2", "iterationsRemaining", "7", "nextIteration", `"2012-11-09T13:04:56"`)

	// While it is paused: the entry does not count anew what it finds done.
	sam.mustPutEntry("e.json", `{"do": "pause"}`)
	w.advanceTo("2012-11-09T13:30:00Z")
	sam.mustPutEntry("e.json", `{"do": "backfill", "from": "2012-11-09T13:00", "to": "2012-11-09T13:30"}`)
	sam.entry("e.json").wants("iterationsPerformed", "5")
	redefined := sam.mustPutEntry("once.json", `{"type": "interval", "minutes": 10, "date": "2012-11-09T13:04:56", "route": "auto", "repeat": 9}`)
	sam.mustPutEntry("once.json", `{"do": "pause"}`)
	w.advanceTo("2012-11-09T13:50:00Z")
	sam.mustPutEntry("once.json", `{"do": "backfill", "from": "2012-11-09T13:40", "to": "2012-11-09T13:50"}`)
	sam.mustPutEntry("once.json", `{"do": "resume"}`)
	same(t, "occurrences", sam.occurrences(redefined.Name), []string{"backfilled 2012-11-09T13:44:56Z", "skipped 2012-11-09T13:34:56Z"})
	sam.entry("once.json").wants("iterationsPerformed", "1", "iterationsRemaining", "8", "nextIteration", `"2012-11-09T13:54:56"`, "paused", "false")
}

// A pause loses nothing, though the entry may have come to its end. What a new recurrence would have
// had before it was there was not missed.
func TestPauseLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	w.advanceTo("2012-11-10T00:34:56Z")
	const ending = `{"type": "interval", "minutes": 10, "route": "auto", "end": "2012-11-10T01:00", "misfire": "all"}`
	byDocument, byCommand := sam.mustPutEntry("document.json", ending), sam.mustPutEntry("do.json", ending)
	sam.mustPutEntry("document.json", strings.Replace(ending, "{", `{"paused": true, `, 1))
	sam.mustPutEntry("do.json", `{"do": "pause"}`)
	w.advanceTo("2012-11-10T01:30:00Z")
	sam.mustPutEntry("document.json", ending)
	sam.mustPutEntry("do.json", `{"do": "resume"}`)
	for _, ended := range []string{byDocument.Name, byCommand.Name} {
		same(t, "what was missed", sam.occurrences(ended), []string{"late 2012-11-10T00:54:56Z", "late 2012-11-10T00:44:56Z"})
	}
	same(t, "entries", len(w.entries()), 0)

	sam.mustPutEntry("over.json", `{"type": "cron", "minute": 50, "route": "auto", "end": "2012-11-10T02:00"}`)
	w.advanceTo("2012-11-10T01:45:00Z")
	sam.mustPutEntry("over.json", `{"type": "cron", "minute": 50, "route": "auto", "end": "2012-11-10T01:48", "paused": true}`)
	_, err := sam.putEntry("over.json", `{"do": "resume"}`)
	w.refused(err, errs.Invalid, "/do never-fires")

	sam.mustPutEntry("new.json", `{"type": "interval", "hours": 1, "route": "auto", "paused": true}`)
	w.advance(time.Hour)
	again := sam.mustPutEntry("new.json", `{"type": "cron", "minute": "*/10", "route": "auto", "paused": true}`)
	w.advance(20 * time.Minute)
	sam.mustPutEntry("new.json", `{"do": "resume"}`)
	same(t, "since the new recurrence", sam.occurrences(again.Name), []string{"late 2012-11-10T03:00:00Z", "skipped 2012-11-10T02:50:00Z"})
	if text := string(try(w.Schedules.Occurrences(t.Context(), sam.by(), sam.ref(again.Name).Entry)).must(w, "occurrences").Form); !strings.Contains(text, `"reason":"paused: `) {
		t.Errorf("no reason says that it was paused: %s", text)
	}
}

func TestBoundsExclusionsAndZones(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withZones)
	sam := w.as("sam")
	out := sam.mustPutEntry("e.json", `{"type": "cron", "hour": "0", "minute": "30", "route": "auto", "timezone": "Europe/Berlin",
		"start": "2012-11-11", "end": "2012-11-16", "exclude": ["2012-11-13", {"from": "2012-11-14T23:00", "to": "2012-11-14T23:31"}]}`)
	sam.entry("e.json").wants("nextIteration", `"2012-11-10T23:30:00"`, "next", `"2012-11-11T00:30:00+01:00"`, "upcoming", `["2012-11-10T23:30:00","2012-11-11T23:30:00","2012-11-13T23:30:00","2012-11-15T23:30:00"]`)
	w.advanceTo("2012-11-20T00:00:00Z")
	same(t, "occurrences", sam.occurrences(out.Name), []string{
		"fired 2012-11-15T23:30:00Z", "skipped 2012-11-14T23:30:00Z", "fired 2012-11-13T23:30:00Z", "skipped 2012-11-12T23:30:00Z", "fired 2012-11-11T23:30:00Z",
		"fired 2012-11-10T23:30:00Z",
	})
	same(t, "entries", len(w.entries()), 0)
	_, err := sam.putEntry("x.json", `{"type": "cron", "hour": 1, "route": "auto", "timezone": "Europe/Berlinn"}`)
	w.refused(err, errs.Invalid, "/timezone not-found")
}

// Jitter delays a case, by chance and always alike, and nothing else.
func TestJitter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := sam.mustPutEntry("e.json", `{"type": "interval", "minutes": 1, "route": "auto", "jitterSeconds": 50, "repeat": 20}`)
	w.advance(30 * time.Minute)
	got := sam.occurrences(out.Name)
	same(t, "occurrences", len(got), 20)
	delays := map[time.Duration]bool{}
	for i, c := range w.cases() {
		planned, created := instant(strings.Trim(c.get("scheduledFor"), `"`)), instant(strings.Trim(c.get("created"), `"`))
		delay := created.Sub(planned)
		if want := instant(start).Add(time.Duration(i+1) * time.Minute); !planned.Equal(want) || delay < 0 || delay > 50*time.Second {
			t.Errorf("planned %s, created %s", planned, created)
		}
		delays[delay] = true
	}
	if len(delays) < 5 {
		t.Errorf("delays %v", delays)
	}
}

// Jitter makes no instant late or passed over, however long it is, for the
// next one waits for none.
func TestJitterLongerThanTheInterval(t *testing.T) {
	t.Parallel()
	for _, misfire := range []string{"once", "skip", "all"} {
		w := newWorld(t)
		sam := w.as("sam")
		out := sam.mustPutEntry("e.json", `{"type": "interval", "minutes": 2, "route": "auto", "jitterSeconds": 3600, "graceSeconds": 0, "misfire": "`+misfire+`", "repeat": 30}`)
		w.advance(2 * time.Hour)
		var want []string
		for i := 30; i > 0; i-- {
			want = append(want, "fired "+instant(start).Add(time.Duration(2*i)*time.Minute).Format(time.RFC3339))
		}
		same(t, misfire, sam.occurrences(out.Name), want)
	}
}

// What is excluded among instants that were missed has its row too.
func TestExcludedAmongMissed(t *testing.T) {
	t.Parallel()
	for misfire, want := range map[string][]string{
		"once": {"late 13:20", "skipped 13:10", "skipped 13:00", "skipped 12:50", "skipped 12:40"},
		"skip": {"skipped 13:20", "skipped 13:10", "skipped 13:00", "skipped 12:50", "skipped 12:40"},
		"all":  {"late 13:20", "skipped 13:10", "skipped 13:00", "late 12:50", "late 12:40"},
	} {
		w := newWorld(t)
		sam := w.as("sam")
		out := sam.mustPutEntry("e.json", `{"type": "cron", "minute": "*/10", "route": "auto", "misfire": "`+misfire+`",
			"exclude": [{"from": "2012-11-09T13:00", "to": "2012-11-09T13:20"}]}`)
		w.off("2012-11-09T13:25:00Z")
		var got []string
		for _, line := range sam.occurrences(out.Name) {
			got = append(got, strings.NewReplacer("2012-11-09T", "", ":00Z", "").Replace(line))
		}
		same(t, misfire, got, want)
	}
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
