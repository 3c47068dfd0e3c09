package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// statusEntry returns the text of the status file of a schedule entry.
func (u user) statusEntry(name string) (string, error) {
	f, err := u.Status.Entry(u.Context(), u.by(), []engine.Ref{u.ref(name)})
	if err != nil {
		return "", err
	}
	return string(f.Text), nil
}

func (u user) statusCase(id int64) (string, error) {
	f, err := u.Status.Case(u.Context(), u.by(), id)
	if err != nil {
		return "", err
	}
	return string(f.Text), nil
}

// wantsLines wants every one of the lines in the text, as far as they go.
func wantsLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, line) {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

// TestStatusOfFinishedEntry: what became of a one-off job is found under its name for
// thirty days, with the reason if it failed; only by those who saw the entry.
func TestStatusOfFinishedEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	out := sam.mustPutEntry("once.json", `{"type": "simple", "date": "2012-11-09T13:00:00", "route": "auto", "title": "Payroll"}`)
	text := try(sam.statusEntry("once.json")).must(w, "before")
	wantsLines(t, text, "Payroll\n", "State          in force", "It starts a case of the route auto at 2012-11-09 13:00 UTC, and is finished then.")
	if err := admin.deleteRoute("auto"); err == nil {
		t.Fatal("a route that an entry names is deleted")
	}
	admin.mustPutRoute("auto", strings.Replace(routeAuto, `"access": {`, `"access": {"start": ["ops"], `, 1))
	w.advanceTo("2012-11-09T13:00:30Z")
	for _, name := range []string{"once.json", out.Name + ".json"} {
		text = try(sam.statusEntry(name)).must(w, "after")
		wantsLines(t, text, "State          finished at 2012-11-09 13:00 UTC", "Fired so far   1", "2012-11-09 13:00 UTC   ")
	}
	for _, who := range []string{"ann", "bob"} {
		_, err := w.as(who).statusEntry(out.Name + ".json")
		w.refused(err, errs.NotFound)
	}
	same(t, "listed", len(try(w.Status.Entries(t.Context(), sam.by())).must(w, "list")), 1)
	w.advance(31 * 24 * time.Hour)
	_, err := sam.statusEntry("once.json")
	w.refused(err, errs.NotFound)
	same(t, "listed", len(try(w.Status.Entries(t.Context(), sam.by())).must(w, "list")), 0)
}

// TestStatusOfDeletedEntry: a deleted entry says who deleted it; the file of its name is
// that of the new entry, once there is one; a restored entry has not ended.
func TestStatusOfDeletedEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	const doc = `{"type": "cron", "hour": 22, "minute": 0, "route": "auto"}`
	out := sam.mustPutEntry("nightly.yaml", doc)
	if err := sam.deleteEntry("nightly.yaml"); err != nil {
		t.Fatal(err)
	}
	wantsLines(t, try(sam.statusEntry("nightly.yaml")).must(w, "deleted"), "deleted by sam at 2012-11-09 12:34 UTC", "this file stays until 2012-12-09 12:34 UTC")
	res := try(w.Schedules.Occurrences(t.Context(), sam.by(), sam.ref(out.Name+".json").Entry)).must(w, "occurrences")
	same(t, "occurrences", string(res.Form), "[]\n")
	sam.mustPutEntry("nightly.yaml", doc) // within a minute: it is restored
	wantsLines(t, try(sam.statusEntry("nightly.yaml")).must(w, "restored"), "in force", out.Name)
	same(t, "listed", len(try(w.Status.Entries(t.Context(), sam.by())).must(w, "list")), 1)
}

// TestStatusOfCase: where a case is, whom it waits for, until when, and what happens
// then; for those who see the case.
func TestStatusOfCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	w.as("admin").mustPutRoute("timed", routeTimers)
	id := sam.startCase(`{"route": "timed", "title": "A question"}`)
	text := try(sam.statusCase(id)).must(w, "the file")
	wantsLines(t, text, fmt.Sprintf("Case %d: A question", id), "active, in the state open", "answer    waits for core      to be accepted by 2012-11-09 13:34 UTC, due 2012-11-10 12:34 UTC",
		"2012-11-09 13:34 UTC   Warning: answer was to be accepted by 2012-11-09 13:34 UTC", "2012-11-10 12:34 UTC   The time for “answer” runs out", "2012-12-09 12:34 UTC   give-up → done", "With that the case has ended.", "The timer “review” runs out")
	before := sam.logTexts(id)
	_, err := w.as("eve").statusCase(id)
	w.refused(err, errs.NotFound)
	w.advance(2 * 24 * time.Hour)
	wantsLines(t, try(sam.statusCase(id)).must(w, "later"), "Warnings\n  2012-11-11 12:34 UTC   The case was to leave \"open\" by 2012-11-11 12:34 UTC")
	if len(sam.logTexts(id)) <= len(before) {
		t.Error("nothing has happened")
	}
	w.advance(40 * 24 * time.Hour)
	wantsLines(t, try(sam.statusCase(id)).must(w, "at the end"), "completed, in the state done, since 2012-12-09 12:34 UTC", "Nobody: it has ended.", "Nothing: the case has ended.")
	same(t, "listed", len(try(w.Status.Cases(t.Context(), sam.by())).must(w, "list")), 0)
}

// TestStatusOfAGuard: that a guard cannot be evaluated is said with the reason, and not
// as if it did not hold.
func TestStatusOfAGuard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	w.as("admin").mustPutRoute("guarded", `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}, done: {type: complete}}
roles: {owner: {assign: [starter]}}
actions:
  begin: {trigger: init}
  pay: {title: Pay, in: [open], role: owner, guard: xattr.amount > 10, to: done}
  waive: {title: Waive, in: [open], role: owner, enableIf: '"free" in xattr', to: done}
`)
	id := sam.startCase(`{"route": "guarded"}`)
	const why = "no such key: amount"
	wantsLines(t, try(sam.statusCase(id)).must(w, "the file"), "Pay   cannot be done yet: its condition could not be evaluated ("+why+")")
	if log := strings.ReplaceAll(strings.Join(sam.logTexts(id), "\n"), `\`, ""); !strings.Contains(log, `warning: guard of "pay" could not be evaluated: `+why) {
		t.Errorf("the log: %q", log)
	}
	sam.mustPutCase(ref(id), `{"xattrDict": {"amount": 1}}`)
	wantsLines(t, try(sam.statusCase(id)).must(w, "the file"), "Pay   cannot be done yet: its condition does not hold")
	wantsLines(t, try(sam.statusCase(id)).must(w, "the file"), "What its condition (enableIf) does not allow now", "Waive")
	if text := try(w.as("admin").statusCase(sam.startCase(`{"route": "guarded", "xattrDict": {"free": true}}`))).must(w, "the file"); strings.Contains(text, "does not allow now") {
		t.Errorf("what is enabled is refused:\n%s", text)
	}
}

// TestStatusListingIsBounded: however many cases there are, a listing writes the files
// of a bounded number, the newest; the others are found by their ids. Unchanged files
// are the same bytes.
func TestStatusListingIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	first := sam.startCase(`{"route": "ask"}`)
	for range engine.MostStatusFiles {
		sam.startCase(`{"route": "ask"}`)
	}
	files := try(w.Status.Cases(t.Context(), sam.by())).must(w, "list")
	if len(files) != engine.MostStatusFiles || files[0].Name == fmt.Sprint(first) {
		t.Errorf("%d files, the first is %s", len(files), files[0].Name)
	}
	if _, err := sam.statusCase(first); err != nil {
		t.Error(err)
	}
	again := try(w.Status.Cases(t.Context(), sam.by())).must(w, "list again")
	same(t, "the same bytes", &again[0].Text[0] == &files[0].Text[0], true)
}

// statusPage returns the text of a page.
func (u user) statusPage(name string) string {
	u.Helper()
	return string(try(u.Status.Page(u.Context(), u.by(), name)).must(u.world, name).Text)
}

// TestStatusPages: the overview, the week and what is late, of what each user has a
// part in.
func TestStatusPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam, eve := w.as("admin"), w.as("sam"), w.as("eve")
	admin.mustPutRoute("lists", routeLists)
	sam.mustPutEntry("nightly.json", `{"type": "cron", "hour": 22, "minute": 15, "route": "auto", "title": "Nightly"}`)
	sam.mustPutEntry("often.json", `{"type": "interval", "seconds": 1, "date": "2012-11-09T23:59:50", "route": "auto"}`)
	sam.mustPutEntry("twice.json", `{"type": "interval", "minutes": 40, "repeat": 2, "date": "2012-11-10T08:05:00", "route": "auto", "context": "core"}`)
	sam.mustPutEntry("paused.json", `{"type": "cron", "hour": 1, "route": "auto", "paused": true}`)
	id := sam.startCase(`{"route": "lists", "title": "Order chairs"}`)
	w.advance(2 * time.Hour) // ann's task is due

	week := sam.statusPage(engine.StatusWeek)
	wantsLines(t, week, "from 2012-11-09 to 2012-11-15. Times are those of UTC.", "Fri 2012-11-09", "22:00", "22:15 nightly", "over 60× often", "10× often", "08:05 08:45 twice")
	if strings.Contains(week, "paused") || strings.Count(week, "twice") != 1 {
		t.Errorf("the week is\n%s", week)
	}
	wantsLines(t, w.as("ann").statusPage(engine.StatusWeek), "08:05 08:45 twice@sam")
	wantsLines(t, w.as("bob").statusPage(engine.StatusWeek), "Nothing fires in this week.")

	for who, lines := range map[string][]string{
		"ann": {"since 2012-11-09 13:34 UTC", "Take it first, waits for ann", "Do it soon, waits for ann", fmt.Sprintf("case %d: Order chairs", id)},
		"sam": {"Overdue\n  since 2012-11-09 13:34 UTC", "Take it first was to be accepted by 2012-11-09 13:34 UTC", "Do it soon was to be performed by 2012-11-09 14:34 UTC", "No case has failed."},
		"eve": {"Do it soon was to be performed by"},
		"bob": {"Nothing is overdue.", "There are no warnings.", "The server could do everything.", "No case has failed."},
	} {
		wantsLines(t, w.as(who).statusPage(engine.StatusLate), lines...)
	}
	wantsLines(t, sam.statusPage(engine.StatusOverview), "How things stand for sam.", "open                        1", "in force         3", "paused           1: paused", "2012-11-09 22:15 UTC   nightly   Nightly", "warnings                          2")
	wantsLines(t, w.as("ann").statusPage(engine.StatusOverview), "offered to you            3", "due by the end of today   2")
	_, err := w.Status.Page(t.Context(), eve.by(), "nothere")
	w.refused(err, errs.NotFound)

	first := try(w.Status.Page(t.Context(), sam.by(), engine.StatusWeek)).must(w, "week")
	admin.mustPutRoute("another", routeAsk)
	again := try(w.Status.Page(t.Context(), sam.by(), engine.StatusWeek)).must(w, "week")
	same(t, "unchanged in spite of a commit", again.Modified.Equal(first.Modified) && again.TextETag == first.TextETag, true)
}

// TestOwnWithdrawIsNotOffered: the overview does not count what only takes a case back.
func TestOwnWithdrawIsNotOffered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("leave", `
access: {start: [everyone]}
roles: {requester: {assign: [starter]}, head: {assign: ["team:ops"]}}
states: {asked: {type: start}, granted: {type: complete}, withdrawn: {type: cancelled}}
actions:
  ask: {trigger: init}
  grant: {in: [asked], role: head, to: granted}
  withdraw: {in: [asked], type: cancel, role: requester, to: withdrawn}
`)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "leave"}`)
	same(t, "it is on the list", sam.work(engine.WorklistOffered, engine.Filter{}), fmt.Sprintf("%d.withdraw", id))
	wantsLines(t, sam.statusPage(engine.StatusOverview), "offered to you            0")
	wantsLines(t, w.as("bob").statusPage(engine.StatusOverview), "offered to you            1")
}

// TestStatusOfWhatFiresOnce: the date of an entry that fires once is told in the zone of who
// looks, like the other times of its file, before and after it has fired.
func TestStatusOfWhatFiresOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withZones)
	sam := w.as("sam")
	sam.mustPutMe(`{"timezone": "Europe/Berlin"}`)
	out := sam.mustPutEntry("once.json", `{"type": "simple", "date": "2012-11-09T14:00:00", "route": "auto"}`)
	for _, state := range []string{"in force", "finished at 2012-11-09 15:00 Europe/Berlin"} {
		wantsLines(t, try(sam.statusEntry(out.Name)).must(w, "the file"), "Once at 2012-11-09 15:00 (Europe/Berlin)", state)
		w.advance(2 * time.Hour)
	}
}

// TestStatusOfADisabledOwner: the schedule entry of a user who is disabled is not in force any
// more, and has no next instant, until the user is enabled.
func TestStatusOfADisabledOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	out := w.as("sam").mustPutEntry("nightly.json", `{"type": "cron", "hour": 22, "minute": 15, "route": "auto", "title": "Nightly"}`)
	file := func() string { return try(admin.statusEntry(out.Name)).must(w, "the file of the entry") }
	const next = "2012-11-09 22:15 UTC   nightly@sam   Nightly"
	wantsLines(t, admin.statusPage(engine.StatusOverview), "in force         1", next, "What fires next, of all users")
	wantsLines(t, file(), "in force")

	admin.mustPutParty(identity.User, "sam", `{"disabled": true}`)
	overview := admin.statusPage(engine.StatusOverview)
	wantsLines(t, overview, "in force         0", "owner disabled   1: nightly@sam", "No firing is to come.")
	if strings.Contains(overview, next) {
		t.Errorf("the overview is\n%s", overview)
	}
	wantsLines(t, file(), "owner disabled: it starts no cases until sam is enabled or the entry has another context", "Its next firing fails, because")

	admin.mustPutParty(identity.User, "sam", `{"disabled": false}`)
	wantsLines(t, admin.statusPage(engine.StatusOverview), "in force         1", next)
}

// TestStatusOfFailures: what the server could not do is told with its reason.
func TestStatusOfFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	w.as("admin").mustPutRoute("weak", `{"access": {"start": ["everyone"]}, "states": {"open": {"type": "start"}, "done": {}},
		"actions": {"begin": {"trigger": "init"}, "robot": {"title": "Work it out", "in": ["open"], "trigger": "auto", "decide": "xattr.none", "outputs": {"something": "done"}}}}`)
	id := sam.startCase(`{"route": "weak", "title": "Odd"}`)
	late := sam.statusPage(engine.StatusLate)
	wantsLines(t, late, "Could not be done by the server\n  2012-11-09 12:34 UTC   "+fmt.Sprintf("case %d: Odd", id), "Work it out, waits for the administrators of the route")
	wantsLines(t, try(sam.statusCase(id)).must(w, "the file"), fmt.Sprintf("Work it out   has failed (The route is at fault: decide of \"robot\": no such key: none) and waits for the administrators of the route to retry it (flowdrive resume %d) or give it up", id))
}
