package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// nightly returns an entry that comes on Thursdays and Sundays at 23:00, with
// more fields.
func nightly(more string) string {
	return `{"type": "cron", "weekday": "3,6", "hour": "23", "minute": "0", "route": "auto"` + more + `}`
}

// sunday is when the nightly entry comes first.
const sunday = "2012-11-11T23:00:00Z"

// firedLabels are all labels (docs/contract/labels-attachments.md#1-labels), with
// what they stand for on sunday: <id> and <uuid> are the case's own.
func firedLabels() [][2]string {
	return [][2]string{
		{"DATE", "20121111"},
		{"TODAY", "2012-11-11"},
		{"YESTERDAY", "2012-11-10"},
		{"TOMORROW", "2012-11-12"},
		{"WEEKAGO", "2012-11-04"},
		{"FORTNIGHTAGO", "2012-10-28"},
		{"MONTHAGO", "2012-10-12"},
		{"USCIVILIANDATE", "11/11/2012"},
		{"OMPHALOSDATE", "2012-11-11"},
		{"MONTHSTART", "2012-11-01"},
		{"DATETIME", "20121111T23:00"},
		{"OMPHALOSDATETIME", "2012-11-11 23:00"},
		{"NOW_Y2", "12"},
		{"NOW_Y4", "2012"},
		{"NOW_M2", "11"},
		{"INITDATE", "2012-11-11"},
		{"PID", "<id>"},
		{"PARENTPID", ""},
		{"UUID", "{<uuid>}"},
		{"GUID", "<uuid>"},
		{"TASK", ""},
		{"EMAIL", "sam@example.org"},
		{"LOGIN", "sam"},
		{"WEEKOFMONTH", "05-11"},
		{"ROUTE", "auto"},
		{"MONTHEND", "2012-11-30"},
		{"LASTMONTHSTART", "2012-10-01"},
		{"LASTMONTHEND", "2012-10-31"},
		{"YEARSTART", "2012-01-01"},
		{"QUARTERSTART", "2012-10-01"},
		{"WEEKSTART", "2012-11-05"},
		{"SCHEDULEDFOR", sunday},
		{"ITERATION", "1"},
		{"TITLE", "The nightly run"},
		{"TODAY+3D", "2012-11-14"},
		{"MONTHSTART-1M", "2012-10-01"},
		{"XATTR_plain", "2012-11-11"},
		{"FOO", "$__FOO__;"},
	}
}

// Labels in the dictionary of an entry stand for what they mean at the
// firing.
func TestLabelsAtAFiring(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	dict := []string{`"plain": "$__TODAY__;"`, `"twice": "$__FOO__;$__FOO__;"`, `"number": 7.50`, `"truth": true`, `"Big Key": "$__TODAY__;"`}
	for i, row := range firedLabels() {
		dict = append(dict, fmt.Sprintf(`"label%d": "a $__%s__; b"`, i, row[0]))
	}
	sam.mustPutEntry("nightly.json", nightly(`, "title": "The nightly run", "xattrDict": {`+strings.Join(dict, ", ")+`}`))
	w.advanceTo(sunday)

	c := w.cases()[0]
	id := sam.ref(c.get("id")).CaseID
	guid, ok := store.ParseUUID(unquote(c.get("guid")))
	if !ok {
		t.Fatalf("guid %s", c.get("guid"))
	}
	own := strings.NewReplacer("<id>", c.get("id"), "<uuid>", strings.Trim(guid.Braced(), "{}"))
	for i, row := range firedLabels() {
		if got, want := c.get(fmt.Sprintf("xattrDict/label%d", i)), own.Replace(`"a `+row[1]+` b"`); got != want {
			t.Errorf("%s is %s; want %s", row[0], got, want)
		}
	}
	c.wants("xattrDict/number", "7.50", "xattrDict/truth", "true", "xattrDict/bigkey", `"2012-11-11"`, "xattrDict/twice", `"$__FOO__;$__FOO__;"`)

	// An unknown label is reported once.
	log := strings.Join(sam.logTexts(id), "\n")
	if n := strings.Count(log, "FOO"); n != 1 || !strings.Contains(log, "warning: ") {
		t.Errorf("FOO is in the log %d times:\n%s", n, log)
	}
	// The entry itself keeps its labels.
	sam.entry("nightly.json").wants("xattrDict/label0", `"a $__DATE__; b"`)
}

// The entry of seed and manual: what is passed on to the case, and what the
// entry says afterwards.
func TestFiring(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := sam.mustPutEntry("nightly.json", nightly(`, "priority": 300, "context": "core", "title": "Collect",
		"xattrDict": {"start": "$__MONTHSTART__;", "end": "$__TODAY__;", "n": "$__ITERATION__;"}`))
	sam.entry("nightly.json").wants("nextIteration", `"2012-11-11T23:00:00"`, "dayOfWeek", `"3,6"`,
		"upcoming", `["2012-11-11T23:00:00","2012-11-15T23:00:00","2012-11-18T23:00:00","2012-11-22T23:00:00","2012-11-25T23:00:00"]`)
	if done := w.advanceTo("2012-11-11T22:59:59Z"); done.Fired != 0 {
		t.Errorf("fired %d before its time", done.Fired)
	}
	done := w.advanceTo(sunday)
	same(t, "advanced", done, engine.Advanced{Now: instant(sunday), Fired: 1, Complete: true})

	cases := w.cases()
	same(t, "cases", len(cases), 1)
	cases[0].wants("route", `"auto"`, "title", `"Collect"`, "priority", "300", "context", `"core"`, "starter", `"core"`,
		"state", `"completed"`, "scheduleUUID", `"`+store.UUID(sam.ref(out.Name).Entry).Braced()+`"`, "scheduledFor", `"`+sunday+`"`,
		"created", `"`+sunday+`"`, "xattrDict", `{"end":"2012-11-11","n":"1","start":"2012-11-01"}`)
	sam.entry("nightly.json").wants("iterationsPerformed", "1", "iterationsRemaining", "-1", "lastIteration", `"2012-11-11T23:00:00"`,
		"lastCase", cases[0].get("id"), "lastError", "null", "nextIteration", `"2012-11-15T23:00:00"`)
	id := sam.ref(cases[0].get("id")).CaseID
	input := try(w.Cases.Message(t.Context(), sam.by(), id, store.UUID{}, engine.OwnInput)).must(w, "input")
	same(t, "input", fmt.Sprint(input.MediaType, input.Size, input.Label), "text/plain0InputMessage")
	same(t, "log", sam.logTexts(id)[0], "life: Created")

	w.advanceTo("2012-11-30T00:00:00Z")
	w.cases()[4].wants("xattrDict/n", `"6"`, // the first one is in the archive
		"xattrDict/end", `"2012-11-29"`)
	same(t, "occurrences", sam.occurrences(out.Name)[:2], []string{"fired 2012-11-29T23:00:00Z", "fired 2012-11-25T23:00:00Z"})
}

// An exhausted entry is gone, with its name; what it did is remembered.
func TestEntryEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	twice := sam.mustPutEntry("twice.json", `{"type": "interval", "minutes": 2, "repeat": 2, "route": "auto"}`)
	once := sam.mustPutEntry("once.json", `{"type": "simple", "date": "2012-11-09T12:40", "route": "auto"}`)
	year := sam.mustPutEntry("", `{"type": "cron", "year": 2012, "month": 11, "day": 9, "hour": 12, "minute": 50, "route": "auto"}`)
	w.advanceTo("2012-11-09T12:36:56Z")
	sam.entry("twice.json").wants("iterationsPerformed", "1", "iterationsRemaining", "1", "upcoming", `["2012-11-09T12:38:56"]`)
	w.advanceTo("2012-11-09T13:00:00Z")
	same(t, "cases", len(w.cases()), 4)
	same(t, "entries", len(w.entries()), 0)
	for _, gone := range []string{"twice.json", "once.json", twice.Name + ".json", once.Name + ".json", year.Name + ".json"} {
		w.refused(try(sam.Schedules.Entry(t.Context(), sam.by(), sam.ref(gone))).err, errs.NotFound)
	}
	same(t, "occurrences", sam.occurrences(twice.Name), []string{"fired 2012-11-09T12:38:56Z", "fired 2012-11-09T12:36:56Z"})
	same(t, "occurrences", sam.occurrences(once.Name), []string{"fired 2012-11-09T12:40:00Z"})
	if out := sam.mustPutEntry("twice.json", every); !out.Created {
		t.Error("the name of an entry that ended is still taken")
	}
}

// Instants that were missed by more than the grace: one case for all.
func TestMisfireOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := sam.mustPutEntry("nightly.json", `{"type": "interval", "minutes": 10, "route": "auto", "xattrDict": {"for": "$__DATETIME__;"}}`)
	w.clock.Set(instant("2012-11-09T13:10:00Z")) // as a server that was off
	done := w.advance(0)
	same(t, "fired", done.Fired, 1)
	same(t, "occurrences", sam.occurrences(out.Name), []string{
		"late 2012-11-09T13:04:56Z", "skipped 2012-11-09T12:54:56Z", "skipped 2012-11-09T12:44:56Z",
	})
	w.cases()[0].wants("scheduledFor", `"2012-11-09T13:04:56Z"`, "created", `"2012-11-09T13:10:00Z"`, "xattrDict/for", `"20121109T13:04"`)
	sam.entry("nightly.json").wants("iterationsPerformed", "1", "nextIteration", `"2012-11-09T13:14:56"`)
	res := try(w.Schedules.Occurrences(t.Context(), sam.by(), sam.ref(out.Name).Entry)).must(w, "occurrences")
	w.form(res.Form).wants("0/lagSeconds", "304", "0/reason", `"misfire: once"`, "1/case", "null")

	// Within the grace an instant is in time, and the grid does not drift.
	w.clock.Set(instant("2012-11-09T13:15:54Z"))
	w.advance(0)
	same(t, "in time", sam.occurrences(out.Name)[0], "fired 2012-11-09T13:14:56Z")
	sam.entry("nightly.json").wants("nextIteration", `"2012-11-09T13:24:56"`)
	w.clock.Set(instant("2012-11-09T13:25:55Z"))
	w.advance(0)
	same(t, "late", sam.occurrences(out.Name)[0], "late 2012-11-09T13:24:56Z")

	// Only cases that are created consume repeat, and a late one is one.
	end := sam.mustPutEntry("end.json", `{"type": "interval", "minutes": 1, "repeat": 1, "route": "auto"}`)
	w.clock.Set(instant("2012-11-09T14:00:00Z"))
	w.advance(0)
	if got := sam.occurrences(end.Name); got[0] != "late 2012-11-09T13:58:55Z" || len(got) != 33 {
		t.Errorf("%d occurrences, the newest %q", len(got), got[0])
	}
	same(t, "entries", len(w.entries()), 1)
}

// Whatever the clock jumps: what a firing costs is bounded.
func TestFarJump(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := sam.mustPutEntry("", `{"type": "interval", "seconds": 1, "route": "auto"}`)
	w.clock.Set(w.clock.Now().Add(1_000_000 * time.Second))
	done := w.advance(0)
	outcomes := map[string]int{}
	for _, o := range sam.occurrences(out.Name) {
		kind, _, _ := strings.Cut(o, " ")
		outcomes[kind]++
	}
	same(t, "outcomes", outcomes, map[string]int{"late": 1, "skipped": 1000, "fired": 59})
	same(t, "fired", done.Fired, 60)
	sam.entry(out.Name+".json").wants("iterationsPerformed", "60", "nextIteration", `"`+w.clock.Now().Add(time.Second).Format("2006-01-02T15:04:05")+`"`)
}

// trouble is what keeps an entry of sam's from creating its case.
type trouble struct {
	name   string
	arise  func(w *world)
	reason string
	remedy func(w *world) // nil: there is none
}

func troubles() []trouble {
	const noRoute = `"There is no route \"auto\" that sam may start cases of."`
	deleteRoute := func(w *world) { w.update(func(tx store.Tx) error { return tx.Write().Routes().Delete(autoID(w)) }) }
	return []trouble{
		{name: "route deleted", arise: deleteRoute, reason: noRoute},
		{
			name:   "route deleted before a restart",
			arise:  func(w *world) { deleteRoute(w); w.reopen() },
			reason: noRoute,
		},
		{
			name:   "context disabled",
			arise:  func(w *world) { w.as("admin").mustPutParty(identity.User, "sam", `{"disabled": true}`) },
			reason: `"The user or team that the entry belongs to is disabled or deleted; give it another context."`,
			remedy: func(w *world) { w.as("admin").mustPutParty(identity.User, "sam", `{"disabled": false}`) },
		},
		{
			name:   "right withdrawn",
			arise:  func(w *world) { w.as("admin").mustPutRoute("auto", "access: {start: [ann]}\n"+plainStates) },
			reason: noRoute,
			remedy: func(w *world) { w.as("admin").mustPutRoute("auto", routeAuto) },
		},
	}
}

// Trouble at an instant: no case, a reason, and the entry goes on.
func TestFiringFails(t *testing.T) {
	t.Parallel()
	for _, test := range troubles() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			out := w.as("sam").mustPutEntry("nightly.json", `{"type": "interval", "minutes": 2, "repeat": 3, "route": "auto"}`)
			w.as("ann").mustPutEntry("other.json", `{"type": "interval", "minutes": 2, "route": "own", "context": "core"}`)
			test.arise(w)
			if done := w.advanceTo("2012-11-09T12:36:56Z"); done.Fired != 2 || !done.Complete {
				t.Errorf("%+v", done)
			}
			same(t, "cases", len(w.cases()), 1) // ann's
			admin := w.as("admin")
			admin.entry(out.Name+".json").wants("lastError", test.reason, "lastCase", "null", "iterationsPerformed", "1",
				"iterationsRemaining", "2", "nextIteration", `"2012-11-09T12:38:56"`, "lastIteration", `"2012-11-09T12:36:56"`)
			same(t, "occurrences", admin.occurrences(out.Name), []string{"failed 2012-11-09T12:36:56Z"})
			same(t, "lines in the server's log", w.log.count("could not create its case"), 1)
			if test.remedy == nil {
				return
			}
			test.remedy(w)
			w.advanceTo("2012-11-09T12:38:56Z")
			admin.entry(out.Name+".json").wants("lastError", "null", "iterationsPerformed", "2")
			if admin.entry(out.Name+".json").get("lastCase") == "null" {
				t.Error("no case after the remedy")
			}
		})
	}
}

func autoID(w *world) (id int64) {
	w.view(func(r store.Reader) error {
		stored, err := r.Routes().GetByName("auto")
		if err == nil {
			id = stored.ID
		}
		return err
	})
	return id
}

// The pair of entry and instant guards: what was dealt with before makes no
// second case, and does not keep the sweeper busy.
func TestInstantDealtWithBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := sam.mustPutEntry("nightly.json", every)
	by := sam.by()
	row := func(at, outcome string, caseID int64) *store.Occurrence {
		return &store.Occurrence{Entry: sam.ref(out.Name).Entry, ContextID: by.ID, Instant: instant(at), Outcome: outcome, CaseID: caseID, FiredAt: instant(at)}
	}
	w.update(func(tx store.Tx) error {
		return tx.Write().Entries().InsertOccurrence(row("2012-11-09T12:36:56Z", "fired", 77))
	})
	if done := w.advanceTo("2012-11-09T12:36:56Z"); !done.Complete {
		t.Errorf("%+v", done)
	}
	same(t, "cases", len(w.cases()), 0)
	same(t, "occurrences", sam.occurrences(out.Name), []string{"fired 2012-11-09T12:36:56Z"})
	sam.entry("nightly.json").wants("nextIteration", `"2012-11-09T12:38:56"`, "lastCase", "null")

	// Neither does a row of one that is to be skipped stand in the way.
	w.update(func(tx store.Tx) error {
		return tx.Write().Entries().InsertOccurrence(row("2012-11-09T12:40:56Z", "failed", 0))
	})
	w.clock.Set(instant("2012-11-09T12:44:00Z"))
	w.advance(0)
	same(t, "occurrences", sam.occurrences(out.Name), []string{
		"late 2012-11-09T12:42:56Z", "failed 2012-11-09T12:40:56Z", "skipped 2012-11-09T12:38:56Z", "fired 2012-11-09T12:36:56Z",
	})
	same(t, "cases", len(w.cases()), 1)
}

// What a defect does to one entry or case stays there.
func TestDefectsStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	w.mayBeUnsound = true
	sam := w.as("sam")
	bad := sam.mustPutEntry("bad.json", every)
	good := sam.mustPutEntry("good.json", every)
	first := true
	s.before = func(wr write) error {
		if wr.method == "InsertCase" && first {
			first = false
			return broken()
		}
		return nil
	}
	w.advanceTo("2012-11-09T12:36:56Z")
	same(t, "occurrences", sam.occurrences(bad.Name), []string{"failed 2012-11-09T12:36:56Z"})
	same(t, "occurrences", sam.occurrences(good.Name), []string{"fired 2012-11-09T12:36:56Z"})
	sam.entry("bad.json").wants("lastError", `"an internal error; the server's log has it"`, "nextIteration", `"2012-11-09T12:38:56"`)

	// An entry that cannot be read stops; the others go on.
	w.update(func(tx store.Tx) error {
		stored, err := tx.Entries().Get(sam.ref(bad.Name).Entry)
		if err != nil {
			return err
		}
		stored.Form = []byte(`{"type": 5}`)
		return tx.Write().Entries().Update(stored)
	})
	if done := w.advanceTo("2012-11-09T12:40:56Z"); !done.Complete {
		t.Errorf("%+v", done)
	}
	same(t, "occurrences", sam.occurrences(good.Name)[0], "fired 2012-11-09T12:40:56Z")
	same(t, "lines in the server's log", w.log.count("a schedule entry cannot continue"), 1)

	// A timed case that cannot be read stops as well.
	w.as("admin").mustPutRoute("timed", routeTimed)
	id, other := sam.startCase(`{"route": "timed"}`), sam.startCase(`{"route": "timed"}`)
	w.update(func(tx store.Tx) error {
		stored, err := tx.Cases().Get(id)
		if err != nil {
			return err
		}
		base := stored.Revision
		stored.Marking = []byte("{")
		return tx.Write().Cases().Update(stored, base)
	})
	if err := sam.deleteEntry("good.json"); err != nil {
		t.Fatal(err)
	}
	if done := w.advance(3 * time.Hour); !done.Complete {
		t.Errorf("%+v", done)
	}
	same(t, "log", sam.logTexts(other)[2], "action: Reminded")
}

// An attachment that cannot be removed stays, and stops nobody.
func TestExpiryThatFails(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	sam := w.as("sam")
	bad := sam.upload(engine.NewAttachment{Lifetime: clock.Duration{Exact: time.Minute}}, "bad")
	good := sam.upload(engine.NewAttachment{Lifetime: clock.Duration{Exact: 2 * time.Minute}}, "good")
	out := sam.mustPutEntry("", every)
	first := true
	s.before = func(wr write) error {
		if wr.method == "DeleteAttachment" && first {
			first = false
			return broken()
		}
		return nil
	}
	done := w.advance(3 * time.Minute)
	same(t, "advanced", done, engine.Advanced{Now: w.clock.Now(), Fired: 1, Complete: true})
	same(t, "occurrences", sam.occurrences(out.Name), []string{"fired 2012-11-09T12:36:56Z"})
	w.cases()[0].wants("state", `"completed"`)
	same(t, "bad, good", fmt.Sprint(sam.seesAttachment(bad), sam.seesAttachment(good)), "true false")
	same(t, "lines in the server's log", w.log.count(bad.String()), 1)
}

// A store that is away for a while loses nothing and doubles nothing.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"InsertCase", "InsertOccurrence", "UpdateEntry", "UpdateCase", "AppendLog", "PutMessage"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			s := &spy{}
			w := newWorld(t, spied(s))
			sam := w.as("sam")
			out := sam.mustPutEntry("nightly.json", every)
			sam.mustPutEntry("another.json", every) // so that their cases are queued
			s.before = func(wr write) error {
				if wr.method == method {
					return unavailable()
				}
				return nil
			}
			_, err := w.Advance(t.Context(), to(instant("2012-11-09T12:36:56Z")), w.clock.Set)
			w.refused(err, errs.Unavailable)
			s.before = nil
			w.advance(0)
			same(t, "occurrences", sam.occurrences(out.Name), []string{"fired 2012-11-09T12:36:56Z"})
			same(t, "cases", len(w.cases()), 2)
			for _, c := range w.cases() {
				c.wants("state", `"completed"`)
			}
		})
	}
}
