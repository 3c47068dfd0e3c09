package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/errs"
)

// TestMissedInstants: what becomes of three instants while the server is
// down, by misfire, overlap and repeat, where the cases of the entry stay
// open. Outcomes are from the oldest instant on.
func TestMissedInstants(t *testing.T) {
	t.Parallel()
	const none = "skipped skipped skipped"
	for _, test := range []struct {
		misfire, overlap, repeat string
		outcomes, cases          string
		performed                string // "" for an entry that has ended
	}{
		{"once", "allow", "null", "skipped skipped late", "active", "1"},
		{"once", "skip", "null", "skipped skipped late", "active", "1"},
		{"once", "bufferOne", "null", "skipped skipped late", "active", "1"},
		{"once", "bufferAll", "null", "skipped skipped late", "active", "1"},
		{"once", "cancelOther", "null", "skipped skipped late", "active", "1"},
		{"once", "allow", "1", "skipped skipped late", "active", ""},
		{"once", "skip", "2", "skipped skipped late", "active", "1"},

		{"skip", "allow", "null", none, "", "0"},
		{"skip", "skip", "1", none, "", "0"},
		{"skip", "bufferOne", "2", none, "", "0"},
		{"skip", "bufferAll", "3", none, "", "0"},
		{"skip", "cancelOther", "null", none, "", "0"},

		{"all", "allow", "null", "late late late", "active active active", "3"},
		{"all", "skip", "null", "late skipped skipped", "active", "1"},
		{"all", "bufferOne", "null", "late late skipped", "active queued", "2"},
		{"all", "bufferAll", "null", "late late late", "active queued queued", "3"},
		{"all", "cancelOther", "null", "late late late", "canceled canceled active", "3"},
		{"all", "allow", "2", "late late", "active active", ""},
		{"all", "allow", "4", "late late late", "active active active", "3"},
		{"all", "skip", "2", "late skipped skipped", "active", "1"},
		{"all", "skip", "1", "late", "active", ""},
		{"all", "bufferOne", "2", "late late", "active queued", ""},
		{"all", "bufferAll", "2", "late late", "active queued", ""},
		{"all", "cancelOther", "2", "late late", "canceled active", ""},
	} {
		t.Run(test.misfire+" "+test.overlap+" "+test.repeat, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.as("admin").mustPutRoute("task", `
access: {start: [everyone], read: [everyone]}
roles: {clerk: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions: {begin: {trigger: init}, finish: {in: [open], role: clerk, to: done}}
`)
			sam := w.as("sam")
			out := sam.mustPutEntry("e.json", `{"type": "interval", "minutes": 10, "route": "task",
				"misfire": "`+test.misfire+`", "overlap": "`+test.overlap+`", "repeat": `+test.repeat+`}`)
			w.off("2012-11-09T13:10:00Z")
			var outcomes, cases []string
			for _, line := range slices.Backward(sam.occurrences(out.Name)) {
				outcomes = append(outcomes, strings.Fields(line)[0])
			}
			for _, c := range w.cases() {
				cases = append(cases, unquote(c.get("state")))
			}
			same(t, "outcomes", strings.Join(outcomes, " "), test.outcomes)
			same(t, "cases", strings.Join(cases, " "), test.cases)
			if test.performed == "" {
				same(t, "entries", len(w.entries()), 0)
				return
			}
			sam.entry("e.json").wants("iterationsPerformed", test.performed, "nextIteration", `"2012-11-09T13:14:56"`)
		})
	}
}

// TestClockSteps: a clock that steps back makes nothing happen twice, whoever
// changes the entry meanwhile, and none of its instants is left out; one that
// steps forward makes what became due happen in order.
func TestClockSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	const doc = `{"type": "interval", "minutes": 10, "date": "2012-11-09T12:40", "route": "auto", "misfire": "all"`
	plain, edited := sam.mustPutEntry("plain.json", doc+`}`), sam.mustPutEntry("edited.json", doc+`}`)
	w.advanceTo("2012-11-09T12:51:00Z")
	fired := []string{"fired 2012-11-09T12:50:00Z", "fired 2012-11-09T12:40:00Z"}
	same(t, "in time", sam.occurrences(plain.Name), fired)

	w.clock.Set(instant("2012-11-09T12:35:00Z"))
	w.advance(0)
	sam.mustPutEntry("edited.json", doc+`, "note": "the same recurrence"}`)
	sam.mustPutEntry("edited.json", strings.Replace(doc, `"minutes": 10`, `"minutes": 5`, 1)+`}`)
	sam.mustPutEntry("edited.json", `{"do": "pause"}`)
	sam.mustPutEntry("edited.json", `{"do": "resume"}`)
	sam.entry("edited.json").wants("nextIteration", `"2012-11-09T12:55:00"`)
	w.advanceTo("2012-11-09T12:52:00Z")
	same(t, "twice", sam.occurrences(plain.Name), fired)
	same(t, "twice, edited", sam.occurrences(edited.Name), fired)

	w.off("2012-11-09T13:00:30Z")
	same(t, "after all", sam.occurrences(plain.Name), slices.Concat([]string{"fired 2012-11-09T13:00:00Z"}, fired))
	same(t, "after all, edited", sam.occurrences(edited.Name), slices.Concat([]string{"fired 2012-11-09T13:00:00Z", "late 2012-11-09T12:55:00Z"}, fired))
	var order []time.Time
	for _, c := range w.cases() {
		order = append(order, instant(unquote(c.get("scheduledFor"))))
	}
	if !slices.IsSortedFunc(order, time.Time.Compare) {
		t.Errorf("cases were created in the order %s", order)
	}
}

// TestEditAroundTheInstant: an entry that is changed at its very instant, just
// before or just after it, fires for each instant that it has once.
func TestEditAroundTheInstant(t *testing.T) {
	t.Parallel()
	const (
		before, at, after = "2012-11-09T12:39:59Z", "2012-11-09T12:40:00Z", "2012-11-09T12:40:01Z"
		doc               = `{"type": "cron", "minute": "*/10", "route": "auto"}`
	)
	for name, test := range map[string]struct {
		now   string
		edits []string
		want  []string // within the hour
	}{
		"same, before":             {before, []string{`{"type": "cron", "minute": "*/10", "route": "auto", "note": "x"}`}, []string{"13:00", "12:50", "12:40"}},
		"same, at":                 {at, []string{`{"type": "cron", "minute": "*/10", "route": "auto", "note": "x"}`}, []string{"13:00", "12:50", "12:40"}},
		"another type, before":     {before, []string{`{"type": "interval", "minutes": 20, "date": "2012-11-09T12:40", "route": "auto"}`}, []string{"13:00", "12:40"}},
		"another type, at":         {at, []string{`{"type": "interval", "minutes": 20, "date": "2012-11-09T12:40", "route": "auto"}`}, []string{"13:00", "12:40"}},
		"another type, after":      {after, []string{`{"type": "crontab", "spec": "45 * * * *", "route": "auto"}`}, []string{"12:45", "12:40"}},
		"simple, before":           {before, []string{`{"type": "simple", "date": "2012-11-09T12:40", "route": "auto"}`}, []string{"12:40"}},
		"simple, after":            {after, []string{`{"type": "simple", "date": "2012-11-09T12:45", "route": "auto"}`}, []string{"12:45", "12:40"}},
		"paused and resumed, at":   {at, []string{`{"do": "pause"}`, `{"do": "resume"}`}, []string{"13:00", "12:50", "12:40"}},
		"paused before, resumed":   {before, []string{`{"do": "pause"}`, `{"do": "resume"}`}, []string{"13:00", "12:50", "12:40"}},
		"another context, before":  {before, []string{`{"type": "cron", "minute": "*/10", "route": "auto", "context": "core"}`}, []string{"13:00", "12:50", "12:40"}},
		"another context, after":   {after, []string{`{"type": "cron", "minute": "*/10", "route": "auto", "context": "core"}`}, []string{"13:00", "12:50", "12:40"}},
		"there and back, at":       {at, []string{`{"type": "cron", "minute": "*/5", "route": "auto"}`, doc}, []string{"13:00", "12:50", "12:40"}},
		"a later recurrence, at":   {at, []string{`{"type": "cron", "minute": "30", "route": "auto"}`}, []string{"12:40"}},
		"an earlier one, before":   {before, []string{`{"type": "cron", "minute": "39,45", "route": "auto"}`}, []string{"12:45"}},
		"renamed and edited, at":   {at, []string{"rename", doc}, []string{"13:00", "12:50", "12:40"}},
		"renamed before, as it is": {before, []string{"rename"}, []string{"13:00", "12:50", "12:40"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			sam := w.as("sam")
			out := sam.mustPutEntry("e.json", doc)
			w.advanceTo(test.now)
			called := "e.json"
			for _, edit := range test.edits {
				if edit == "rename" {
					called = "renamed.json"
					try(w.Schedules.RenameEntry(t.Context(), sam.request(nil), sam.ref("e.json"), called, false)).must(w, "rename")
					continue
				}
				sam.mustPutEntry(called, edit)
			}
			w.advanceTo("2012-11-09T13:00:01Z")
			var got []string
			for _, line := range sam.occurrences(out.Name) {
				got = append(got, strings.TrimSuffix(strings.TrimPrefix(line, "fired 2012-11-09T"), ":00Z"))
			}
			same(t, "fired", got, test.want)
			same(t, "cases", len(w.cases()), len(test.want))
		})
	}
}

// TestBackfillWithoutCalendar: an entry whose calendar is gone cannot say what
// it missed. That is a fault of what the entry names; the entry is there.
func TestBackfillWithoutCalendar(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutDocument("sam/off.ics", "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20121224\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
	sam.mustPutEntry("e.json", `{"type": "interval", "minutes": 10, "route": "auto", "excludeCalendar": "/dav/Documents/sam/off.ics"}`)
	w.advance(time.Hour)
	if err := sam.moveAway("sam/off.ics"); err != nil {
		t.Fatal(err)
	}
	_, err := sam.putEntry("e.json", `{"do": "backfill", "from": "2012-11-09T12:00", "to": "2012-11-09T13:00"}`)
	w.refused(err, errs.Invalid, "/do not-found")
}
