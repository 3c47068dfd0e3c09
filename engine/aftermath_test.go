package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"flowdrive/engine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/identity"
)

// routeAhead is complete before its command has ended.
const routeAhead = `
title: Ahead
access: {start: [everyone], read: [everyone], admin: [dora]}
states: {running: {type: start}, done: {type: complete}}
actions: {begin: {trigger: init, onFire: [{exec: {command: sort}}], to: done}}
`

// TestCommandFailsAfterItsCase: a1, a command that fails after its case has ended is a failure of
// the schedule entry; a12, and what the file of the case offers is done by resuming it.
func TestCommandFailsAfterItsCase(t *testing.T) {
	t.Parallel()
	withInbox(t, routeAhead, func(k *inbox) {
		k.works(&outbox.Final{Reason: "disk full"})
		sam, dora := k.as("sam"), k.as("dora")
		sam.mustPutEntry("nightly.json", `{"type": "crontab", "spec": "0 * * * *", "route": "job", "title": "Nightly"}`)
		k.wait(time.Minute)
		id := slices.Max(k.caseIDs())
		sam.caseForm(id).wants("state", `"completed"`)
		wantsLines(t, try(sam.statusEntry("nightly.json")).must(k.world, "the entry"),
			fmt.Sprintf("case %d, completed, but something in it has failed", id), "1 of these 1 failed.", "its case has ended, and yet something in it has failed: disk full")
		wantsLines(t, try(sam.statusCase(id)).must(k.world, "the case"), fmt.Sprintf("to retry it (flowdrive resume %d) or give it up", id), "Nothing, unless somebody tries again what has failed.")
		f := try(sam.Status.Entry(sam.Context(), sam.by(), []engine.Ref{sam.ref("nightly.json")})).must(k.world, "the entry")
		if got := string(f.JSON); !strings.Contains(got, `"failed": "disk full"`) {
			t.Errorf("the entry as JSON has no failure: %s", got)
		}
		same(t, "metrics are told", k.kinds.list(), []string{"fault"})
		k.works(nil)
		dora.mustPutCase(fmt.Sprintf("%d.json", id), `{"state": "active"}`)
		k.wait(time.Minute)
		wantsLines(t, try(sam.statusEntry("nightly.json")).must(k.world, "the entry"), "None of these failed.")
		wantsLines(t, try(sam.statusCase(id)).must(k.world, "the case"), "Nobody: it has ended.")
		if _, err := dora.putCase(fmt.Sprintf("%d.json", id), `{"state": "active"}`); err == nil {
			t.Error("a completed case in which nothing has failed is active again")
		}
	})
}

// TestUnstartedSaysWhy: a8, the files of a case that could not start have the reason, and agree
// on whom it waits for.
func TestUnstartedSaysWhy(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	w.as("admin").mustPutRoute("table", strings.Replace(routeUnreadable, "context: dora\n", "", 1))
	w.as("admin").mustPutRoute("table", `
access: {start: [everyone], read: [everyone]}
states: {read: {type: start}, done: {type: complete}}
actions: {take: {trigger: init, onFire: [{jq: {from: InputMessage, filter: .a, to: Rows}}]}, end: {trigger: auto, in: [read], to: done}}
`)
	ann := w.as("ann")
	id := ann.startCase(`{"route": "table", "title": "Rows"}`)
	const why = `The route is at fault: jq: the message "InputMessage"`
	wantsLines(t, try(ann.statusCase(id)).must(w, "the case"), "it could not start: "+why,
		fmt.Sprintf("its start   waits for the administrators of the route to retry it (flowdrive resume %[1]d) or cancel it (flowdrive cancel %[1]d)", id))
	if late := ann.late(); !strings.Contains(late, "waits for the administrators of the route   "+why) {
		t.Errorf("late.txt has no reason: %s", late)
	}
}

// TestRetryThatFailsAgain: a13, a case that was tried again and fails again is told as a failure
// with its reason.
func TestRetryThatFailsAgain(t *testing.T) {
	t.Parallel()
	withInbox(t, fmt.Sprintf(routeTrier, ""), func(k *inbox) {
		k.works(&outbox.Final{Reason: "disk full"})
		id := k.as("sam").startCase(`{"route": "job", "title": "By hand"}`)
		k.wait(time.Minute)
		got, _ := k.news()
		same(t, "it fails", got, []string{"dora: Failed: By hand: disk full", "sam: Failed: By hand: disk full"})
		k.as("dora").mustDo(id, "run", "retry")
		k.wait(time.Minute)
		got, _ = k.news()
		same(t, "it fails again", got, []string{"dora: Still failed: By hand: disk full", "sam: Still failed: By hand: disk full"})
	})
}

// TestMendedWhileAnotherIsFailed: a3, who is told that a case is mended is told which other one
// of its entry is failed still, for another reason.
func TestMendedWhileAnotherIsFailed(t *testing.T) {
	t.Parallel()
	withInbox(t, fmt.Sprintf(routeTrier, ""), func(k *inbox) {
		k.works(&outbox.Final{Reason: "disk full"})
		k.as("sam").mustPutEntry("", `{"type": "crontab", "spec": "0 * * * *", "route": "job", "title": "Hourly"}`)
		k.wait(time.Minute)
		k.works(&outbox.Final{Reason: "no network"})
		k.wait(time.Hour)
		ids := k.caseIDs()
		k.news()
		k.works(nil)
		k.as("admin").mustDo(ids[0], "run", "retry")
		k.wait(time.Minute)
		got, _ := k.news()
		if want := fmt.Sprintf("dora: Mended: Hourly (case %d is still failed)", ids[len(ids)-1]); !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	})
}

// TestOverviewOfAdministrators: a17, an administrator's overview counts the entries of all users.
func TestOverviewOfAdministrators(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	w.as("admin").mustPutParty(identity.User, "olga", `{"password": "olga olga olga"}`)
	w.as("admin").mustPutRoute("job", routeIdle)
	olga := w.as("olga")
	olga.mustPutEntry("minutely.json", `{"type": "crontab", "spec": "* * * * *", "route": "job"}`)
	olga.mustPutEntry("paused.json", `{"type": "crontab", "spec": "* * * * *", "route": "job", "paused": true}`)
	w.as("admin").mustPutParty(identity.User, "olga", `{"disabled": true}`)
	w.advance(2 * time.Minute)
	text := string(try(w.Status.Page(t.Context(), w.as("admin").by(), engine.StatusOverview)).must(w, "overview.txt").Text)
	wantsLines(t, text, "Schedule entries of all users (schedule/)", "paused           1: paused@olga", "could not fire   1: minutely@olga")
}

// routeIdle does nothing outside.
const routeIdle = `
access: {start: [everyone]}
states: {open: {type: start}, done: {type: complete}}
actions: {begin: {trigger: init}, end: {in: [open], trigger: auto, to: done}}
`

// TestRouteLacksCommand: a7, a command that the settings do not have any more is told before a
// case needs it.
func TestRouteLacksCommand(t *testing.T) {
	t.Parallel()
	withInbox(t, routeAhead, func(k *inbox) {
		late := func(name string) string { return k.as(name).late() }
		if text := late("dora"); strings.Contains(text, "route job") {
			t.Errorf("all is there: %s", text)
		}
		k.outside.refuse = `there is no command "sort"`
		k.as("sam").startCase(`{"route": "job"}`) // the page is made again when something has changed
		if text := late("dora"); !strings.Contains(text, `route job`) || !strings.Contains(text, `there is no command "sort"`) {
			t.Errorf("who administers the route: %s", text)
		}
		if text := late("sam"); strings.Contains(text, "route job") {
			t.Errorf("who does not: %s", text)
		}
	})
}

// TestRouteLacksCommandIsTold: a7, administrators are told once of what routes name and the
// settings lack, again a day later, and once when it is over, also by another route.
func TestRouteLacksCommandIsTold(t *testing.T) {
	t.Parallel()
	withInbox(t, routeAhead, func(k *inbox) {
		admin := k.as("admin")
		admin.mustPutParty(identity.User, "admin", `{"email": "root@example.org"}`)
		told := func(when string, want ...string) {
			t.Helper()
			k.wait(time.Minute)
			if err := k.Server.Again(k.Context()); err != nil {
				t.Fatal(err)
			}
			k.wait(time.Minute)
			got, _ := k.news()
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		const lacks = `settings that routes need: there is no command "sort" (route job, /actions/begin/onFire/0/exec/command)`
		told("all is there")
		k.outside.refuse = `there is no command "sort"`
		told("before the settings are read")
		k.Server.SettingsRead()
		told("it is missing", "root: Failed: "+lacks)
		told("it still is")
		if text := admin.late(); strings.Count(text, `there is no command "sort"`) != 1 {
			t.Errorf("late.txt: %s", text)
		}
		status := try(k.Server.Status(k.Context(), admin.by())).must(k.world, "the status")
		if !strings.Contains(string(status.Form), `"part": "routes"`) {
			t.Errorf("Status.json: %s", status.Form)
		}
		k.wait(24 * time.Hour)
		told("a day later", "root: Still failed: "+lacks)
		admin.mustPutRoute("job", "context: dora\n"+strings.TrimPrefix(routeIdle, "\n"))
		told("the route does not name it any more", "root: Mended: settings that routes need")
		told("afterwards")
		same(t, "lines in the log", k.log.count("a route names what they lack"), 1)
	})
}

// TestLeftOutDays: the file of an entry and its occurrences name the day off that leaves an
// instant out, the former before another instant has fired.
func TestLeftOutDays(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t) // 2012-11-09 12:34:56
	w.as("admin").mustPutRoute("job", routeIdle)
	ann := w.as("ann")
	ann.mustPutDocument("ann/holidays.ics", strings.ReplaceAll("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20121110\nSUMMARY:Founder's day\\, again\nEND:VEVENT\nEND:VCALENDAR\n", "\n", "\r\n"))
	out := ann.mustPutEntry("daily.json", `{"type": "crontab", "spec": "0 14 * * *", "route": "job", "exclude": ["2012-11-09", "2012-11-12"], "excludeCalendar": "Documents/ann/holidays.ics"}`)
	text := try(ann.statusEntry("daily.json")).must(w, "the entry")
	wantsLines(t, text, "What is left out", "2012-11-09 14:00 UTC   Friday     2012-11-09 (exclude)", "2012-11-10 14:00 UTC   Saturday   Founder's day, again (holidays.ics)", "2012-11-12 14:00 UTC   Monday     2012-11-12 (exclude)")
	w.advance(50 * time.Hour)
	text = try(ann.statusEntry("daily.json")).must(w, "the entry")
	wantsLines(t, text, "2012-11-09 14:00 UTC   skipped   no case                        excluded: 2012-11-09 (exclude)", "2012-11-10 14:00 UTC   skipped   no case                        excluded: Founder's day, again (holidays.ics)")
	same(t, "occurrences", len(ann.occurrences(out.Name)), 3)
}
