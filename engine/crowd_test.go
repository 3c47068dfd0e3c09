package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/engine/outbox"
	"flowdrive/internal/identity"
)

// TestManyTasksAreOneMail: that a user is disabled who alone could do the tasks of many
// cases is one event: each person gets one mail of all of them, and one when there is
// somebody again (docs/contract/routes.md#what-is-wrong).
func TestManyTasksAreOneMail(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	admin := w.as("admin")
	admin.mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	admin.mustPutRoute("desk", "context: ann\n"+strings.TrimPrefix(routeTrouble, "\n"))
	for i := range 5 {
		w.as("sam").startCase(fmt.Sprintf(`{"route": "desk", "title": "C%d"}`, i+1))
	}
	before := len(w.sentTo("dora@example.org"))
	admin.mustPutParty(identity.User, "bob", `{"disabled": true}`)
	w.advance(time.Minute)
	admin.mustPutParty(identity.User, "bob", `{"disabled": false}`)
	w.advance(time.Minute)
	same(t, "told", w.sentTo("dora@example.org")[before:], []string{
		"09 12:34 5 tasks cannot be done: Nobody can do it: Check it (bob is disabled) (C5)",
		"09 12:35 5 tasks are no longer without those who can do them: Somebody can do it: Check it (C5)",
	})
	id := w.as("sam").startCase(`{"route": "desk", "title": "Accepted"}`)
	w.as("bob").mustDo(id, "check", "accept")
	before = len(w.sentTo("dora@example.org"))
	admin.mustPutParty(identity.User, "bob", `{"disabled": true}`)
	w.advance(time.Minute)
	if told := w.sentTo("dora@example.org")[before:]; len(told) != 1 || !slices.Contains(told, "09 12:36 6 tasks cannot be done: Nobody can do it: Check it (bob is disabled) (C5)") {
		t.Errorf("with one that bob has accepted: %q", told)
	}
}

// TestServiceIsToldOfManyTasksAtOnce: a service gets one call of all cases whose tasks nobody can
// do because of one event, and one when there is somebody again; one of a case alone if it is one.
func TestServiceIsToldOfManyTasksAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.config = func(cfg *engine.Config) {
			cfg.Sandbox = false
			cfg.Channels = engine.Channels{Destinations: []notice.Destination{{ID: "standard-1", Name: "standard", Least: notice.Serious}}}
		}
	})
	admin := w.as("admin")
	admin.mustPutRoute("desk", "context: ann\n"+strings.TrimPrefix(routeTrouble, "\n"))
	const cases, listed = 120, 100
	for i := range cases {
		w.as("sam").startCase(fmt.Sprintf(`{"route": "desk", "title": "C%d"}`, i+1))
	}
	seen := 0
	calls := func() (calls []notice.Payload) {
		t.Helper()
		rows := w.outboxRows(outbox.NewsLane("standard-1"))
		for i := range rows[seen:] {
			var r machine.Request
			var p notice.Payload
			if err := errors.Join(json.Unmarshal(rows[seen+i].Request, &r), json.Unmarshal(r.News.Body, &p)); err != nil {
				t.Fatal(err)
			}
			calls = append(calls, p)
		}
		seen = len(rows)
		return calls
	}
	check := func(kind string, want string) {
		t.Helper()
		got := calls()
		if len(got) != 1 {
			t.Fatalf("%s: %d calls, want 1", kind, len(got))
		}
		d := got[0].Data
		if got[0].Type != kind || d.Count != cases || len(d.Cases) != listed || d.Case != nil || !strings.HasPrefix(d.Text, want) || len(d.People) == 0 {
			t.Errorf("%s: it is told %s of %d cases, %d of them listed, to %d people: %s", kind, got[0].Type, d.Count, len(d.Cases), len(d.People), d.Text)
		}
		if first := d.Cases[0]; first.Title != "C1" || first.Route != "desk" || first.Href == "" || !strings.Contains(first.Text, "Check it") {
			t.Errorf("%s: the first is %+v", kind, first)
		}
	}
	calls()
	admin.mustPutParty(identity.User, "bob", `{"disabled": true}`)
	check("cases.failed", "120 tasks cannot be done: Nobody can do it: Check it (bob is disabled) (C120)")
	w.advance(time.Minute)
	admin.mustPutParty(identity.User, "bob", `{"disabled": false}`)
	check("cases.mended", "120 tasks are no longer without those who can do them: Somebody can do it: Check it (C120)")
	admin.mustPutRoute("desk2", "context: ann\n"+strings.Replace(strings.TrimPrefix(routeTrouble, "\n"), "user:bob", "user:eve", 1))
	id := w.as("sam").startCase(`{"route": "desk2", "title": "Alone"}`)
	calls()
	admin.mustPutParty(identity.User, "eve", `{"disabled": true}`)
	if got := calls(); len(got) != 1 || got[0].Type != "case.failed" || got[0].Data.Case == nil || got[0].Data.Case.ID != id || got[0].Data.Count != 0 {
		t.Errorf("of one case: %+v", got)
	}
}

// TestTwoFailuresOfOneEvent: who is told of two things that went wrong in one event gets one mail
// with both, which is of the thread of the case, and one of what is wrong alone.
func TestTwoFailuresOfOneEvent(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	admin := w.as("admin")
	admin.mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	const run = "{in: [open], trigger: auto, to: done, onFire: [{jq: {from: InputMessage, filter: .x, to: Rows}}]}\n"
	const begin = "title: Import\naccess: {start: [everyone], read: [everyone], admin: [dora]}\nstates: {open: {type: start}, done: {type: complete}}\nactions:\n  begin: {trigger: init}\n  one: " + run
	admin.mustPutRoute("both", begin+"  two: "+run)
	admin.mustPutRoute("alone", begin)
	sam := w.as("sam")
	sam.startCase(`{"route": "both", "title": "Both"}`)
	w.advance(time.Minute)
	const why = `: The route is at fault: jq: the message "InputMessage" is empty: the case was given no input.`
	for _, name := range []string{"sam", "dora"} {
		told := w.sentTo(name + "@example.org")
		if len(told) != 1 || !strings.HasPrefix(told[0], "09 12:34 2 things are wrong: Failed: Both") {
			t.Errorf("%s is told\n%s", name, strings.Join(told, "\n"))
		}
	}
	for _, row := range w.outboxRows(outbox.MailLane) {
		var request machine.Request
		if err := json.Unmarshal(row.Request, &request); err != nil {
			t.Fatal(err)
		}
		if m := request.Mail; m.Thread == "" || strings.Count(m.Text, "\nFailed: Both"+why) != 2 {
			t.Errorf("the mail of the thread %q says\n%s", m.Thread, m.Text)
		}
	}
	before := len(w.sentTo("dora@example.org"))
	sam.startCase(`{"route": "alone", "title": "Alone"}`)
	w.advance(time.Minute)
	same(t, "alone", w.sentTo("dora@example.org")[before:], []string{"09 12:35 Failed: Alone" + why})
}

// TestCasesOfAnEntryWithoutAnybody: that nobody can do the task of the cases that an entry
// starts every hour is one thing: people are told of the first of a day, and once a day in one
// mail, which names the cases.
func TestCasesOfAnEntryWithoutAnybody(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	admin := w.as("admin")
	admin.mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	admin.mustPutRoute("desk", "context: ann\n"+strings.TrimPrefix(routeTrouble, "\n"))
	admin.mustPutParty(identity.User, "bob", `{"disabled": true}`)
	w.as("sam").mustPutEntry("e.json", `{"type": "interval", "hours": 1, "route": "desk", "title": "Hourly"}`)
	w.advance(71 * time.Hour)
	var told []string
	for _, line := range w.sentTo("dora@example.org") {
		if strings.Contains(line, "obody can do it") || strings.Contains(line, "things are still wrong") { // once the first are overdue, too
			told = append(told, line)
		}
	}
	if len(told) > 6 || len(told) < 3 || !strings.HasSuffix(told[0], " Nobody can do it: Check it (bob is disabled) (Hourly)") {
		t.Errorf("told %d times:\n%s", len(told), strings.Join(told, "\n"))
	}
}
