package engine_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-ical"

	"flowdrive/engine"
	"flowdrive/internal/identity"
)

var updateGolden = flag.Bool("update", false, "write the golden files anew")

func (u user) feed() *engine.Resource {
	u.Helper()
	return try(u.Calendars.Upcoming(u.Context(), u.by())).must(u.world, "the calendar")
}

// events returns the events of a user's calendar as another's reader sees
// them, "start summary" each.
func (u user) events() []string {
	u.Helper()
	c, err := ical.NewDecoder(bytes.NewReader(u.feed().Form)).Decode()
	if err != nil {
		u.Fatalf("%v\n%s", err, u.feed().Form)
	}
	out := []string{}
	uids := map[string]bool{}
	for _, e := range c.Events() {
		uid, summary := e.Props.Get(ical.PropUID).Value, e.Props.Get(ical.PropSummary).Value
		if uids[uid] {
			u.Errorf("two events have the UID %s", uid)
		}
		uids[uid] = true
		out = append(out, e.Props.Get(ical.PropDateTimeStart).Value+" "+summary)
	}
	return out
}

// The calendar has what is to come of one's own contexts, and nothing else.
func TestUpcoming(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam, ann, bob, eve := w.as("admin"), w.as("sam"), w.as("ann"), w.as("bob"), w.as("eve")
	admin.mustPutRoute("timed", routeTimers)
	same(t, "nothing", sam.events(), []string{})
	sam.mustPutEntry("a.json", `{"route": "auto", "type": "simple", "date": "2012-11-12T08:00:00", "title": "Mine, once"}`)
	sam.mustPutEntry("b.json", `{"route": "auto", "type": "cron", "weekday": "sun", "hour": 23, "minute": 0, "context": "core", "end": "2012-11-20"}`)
	sam.mustPutEntry("c.json", `{"route": "auto", "type": "interval", "minutes": 5, "paused": true}`)
	sam.mustPutEntry("d.json", `{"route": "auto", "type": "simple", "date": "2012-12-09"}`)
	bob.mustPutEntry("e.json", `{"route": "auto", "type": "interval", "hours": 12, "title": "Often", "repeat": 3}`)
	id := eve.startCase(`{"route": "timed", "title": "A question"}`)

	firings := []string{"20121111T230000Z auto", "20121112T080000Z Mine\\, once", "20121118T230000Z auto"}
	tasks := []string{"20121109T133456Z To be accepted: answer: A question", "20121110T123456Z Due: answer: A question"}
	same(t, "of the team", ann.events(), []string{tasks[0], tasks[1], firings[0], firings[2]})
	same(t, "of sam", sam.events(), []string{tasks[0], tasks[1], firings[0], firings[1], firings[2]})
	same(t, "of bob", bob.events(), []string{"20121110 Often", "20121111 Often"})
	same(t, "of eve", eve.events(), []string{
		"20121109T123956Z Timer review: A question",
		"20121111T123456Z Time limit of the state: A question",
		"20121116T123456Z Time limit of the case: A question",
		"20121209T123456Z Performed by itself: give-up: A question",
	})
	same(t, "of the administrator", admin.events(), []string{})

	try(ann.perform(id, "answer", `{"do": "accept"}`)).must(w, "accept")
	same(t, "of the team", sam.events(), []string{firings[0], firings[1], firings[2]})
	same(t, "of who has accepted", ann.events(), []string{tasks[1], firings[0], firings[2]})
	ann.mustSetTimer(id, "answer.due", `{"limit": null}`)
	same(t, "without a limit", ann.events(), []string{firings[0], firings[2]})
	try(eve.putCase(fmt.Sprint(id), `{"state": "suspended"}`)).must(w, "suspend")
	same(t, "suspended", eve.events(), []string{})
	try(eve.putCase(fmt.Sprint(id), `{"state": "active"}`)).must(w, "resume")
	w.advance(5 * time.Minute)
	same(t, "one has expired", len(eve.events()), 3)
	sam.mustPutEntry("b.json", `{"do": "pause"}`)
	same(t, "paused", ann.events(), []string{})
	admin.mustPutParty(identity.Team, "core", `{"members": ["ann"]}`)
	same(t, "who has left the team", sam.events(), []string{firings[1]})
	if err := eve.deleteCase(fmt.Sprint(id)); err != nil {
		t.Fatal(err)
	}
	same(t, "canceled", eve.events(), []string{})
}

// A case that waits for its startAt is in the calendars of its context, until
// it has started or will not.
func TestUpcomingStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	w.as("admin").mustPutRoute("timed", routeTimers)
	id := sam.startCase(`{"route": "timed", "title": "A question", "startAt": "2012-11-12T08:00:00Z"}`)
	never := sam.startCase(`{"route": "timed", "title": "Never", "startAt": "2012-11-13T08:00:00Z"}`)
	same(t, "of sam", sam.events(), []string{"20121112T080000Z Starts: A question", "20121113T080000Z Starts: Never"})
	same(t, "of ann", ann.events(), []string{})
	sam.mustPutCase(fileOf(id), `{"startAt": "2012-11-12T09:00:00Z"}`)
	if err := sam.deleteCase(fileOf(never)); err != nil {
		t.Fatal(err)
	}
	same(t, "at another time", sam.events(), []string{"20121112T090000Z Starts: A question"})
	w.as("admin").mustPutHold("all", `{"engine": true}`)
	w.advanceTo("2012-11-12T09:00:00Z")
	sam.caseForm(id).wants("state", `"queued"`)
	same(t, "held", sam.events(), []string{})
	w.as("admin").mustDeleteHold("all")
	if events := sam.events(); len(events) == 0 || strings.Contains(events[0], "Starts") {
		t.Errorf("started, and the calendar has %q", events)
	}
}

// The calendar stays as it is until something changes in it, or the day ends.
func TestUpcomingIsStable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, bob := w.as("sam"), w.as("bob")
	sam.mustPutEntry("a.json", `{"route": "auto", "type": "cron", "hour": 23, "minute": 0}`)
	w.advance(time.Second)
	before := sam.feed()
	stays := func(what string) {
		t.Helper()
		after := sam.feed()
		if after.FormETag != before.FormETag || !bytes.Equal(after.Form, before.Form) || !after.Modified.Equal(before.Modified) {
			t.Errorf("%s: the calendar is another:\n%s", what, after.Form)
		}
	}
	w.advance(time.Hour)
	stays("time has passed")
	bob.mustPutEntry("b.json", `{"route": "auto", "type": "cron", "hour": 22, "minute": 0}`)
	sam.startCase(`{"route": "ask"}`)
	stays("what is no concern of it")
	w.reopen()
	before.Modified = w.clock.Now()
	stays("another process")

	days := func(n int, last string) {
		t.Helper()
		events := sam.events()
		if len(events) != n || events[n-1] != last {
			t.Errorf("%d events, the last %s, want %d and %s", len(events), events[len(events)-1], n, last)
		}
	}
	days(30, "20121208T230000Z auto")
	w.advanceTo("2012-11-09T23:30:00Z")
	days(29, "20121208T230000Z auto")
	w.advanceTo("2012-11-10T00:00:00Z")
	days(30, "20121209T230000Z auto")
	if after := sam.feed(); after.FormETag == before.FormETag || !after.Modified.Equal(w.clock.Now()) {
		t.Error("another day, the same calendar")
	}
}

func TestUpcomingGolden(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	w.as("admin").mustPutRoute("timed", routeTimers)
	uuids := []string{
		sam.mustPutEntry("a.json", `{"route": "auto", "type": "cron", "weekday": "thu,sun", "hour": 23, "minute": 0, "title": "Nightly rates", "end": "2012-11-16"}`).Name,
		sam.mustPutEntry("b.json", `{"route": "auto", "type": "interval", "minutes": 5, "end": "2012-11-10T06:00:00"}`).Name,
	}
	id := sam.startCase(`{"route": "timed", "title": "Ümläute; and, more"}`)
	uuids = append(uuids, unquote(sam.caseForm(id).get("guid")))
	text := strings.ReplaceAll(string(sam.feed().Form), "\r\n ", "") // a UUID may go on in the next line
	for i, uuid := range uuids {
		text = strings.ReplaceAll(text, uuid, strings.Repeat(string('a'+rune(i)), 32))
	}
	text = strings.ReplaceAll(text, fmt.Sprintf("/cases/%d#", id), "/cases/17#")
	text = strings.ReplaceAll(text, fmt.Sprintf("Case %d ", id), "Case 17 ")
	path := filepath.Join("testdata", "upcoming.ics")
	if *updateGolden {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // it is committed
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the calendar", strings.Split(text, "\r\n"), strings.Split(string(want), "\r\n"))
}

// However much is to come, the calendar is bounded, and has what comes first.
func TestUpcomingBounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	for i := range 90 {
		sam.mustPutEntry("", fmt.Sprintf(`{"route": "auto", "type": "cron", "hour": 23, "minute": %d, "title": "e%02d"}`, i%60, i))
	}
	events := sam.events()
	if len(events) != 2000 {
		t.Fatalf("%d events", len(events))
	}
	starts := make([]string, len(events))
	for i := range events {
		starts[i], _, _ = strings.Cut(events[i], " ")
	}
	if !slices.IsSorted(starts) || starts[0] != "20121109T230000Z" {
		t.Errorf("the first are %q", events[:3])
	}
	if last := events[1999]; !strings.HasPrefix(last, "20121201T23") {
		t.Errorf("the last is %s", last)
	}
}
