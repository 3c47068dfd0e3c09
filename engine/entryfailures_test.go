package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/identity"
)

// routeUnreadable fails in each case at once: what it reads is no JSON.
const routeUnreadable = `
title: Import
context: dora
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  run: {in: [open], trigger: auto, to: done, onFire: [{jq: {from: InputMessage, filter: .x, to: Rows}}]}
`

// TestCasesOfAnEntryFailAlike: of a job that fails every five minutes people are told
// once a day, also when some of the cases have been given up in between.
func TestCasesOfAnEntryFailAlike(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	w.as("admin").mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	w.as("admin").mustPutRoute("import", routeUnreadable)
	w.as("ann").mustPutEntry("", `{"type": "crontab", "spec": "*/5 * * * *", "route": "import", "title": "Import"}`)
	const what = "Import: The route is at fault: jq: the message \"InputMessage\" is empty: the case was given no input."
	w.advance(3 * time.Hour) // from 12:34:56
	want := []string{"09 12:35 Failed: " + what}
	for _, address := range []string{"ann@example.org", "dora@example.org"} {
		same(t, address, w.sentTo(address), want)
	}
	w.as("dora").mustDo(w.caseIDs()[0], "run", "abort")
	w.advance(5 * time.Minute)
	same(t, "the first given up, and failed again", w.sentTo("ann@example.org"), want)
	w.advance(25 * time.Hour)
	var second []string
	for _, line := range w.sentTo("dora@example.org")[1:] {
		line, _, _ = strings.Cut(line, ": The route")
		second = append(second, line)
	}
	same(t, "in the second day", second, []string{"10 12:00 Still failed: Import (280 cases)"})
}

// TestNightlyJobFailsAlike: a job that fails each night is told at once of the first night
// alone. The daily mail of that says in how many cases it has happened.
func TestNightlyJobFailsAlike(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	w.as("admin").mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	w.as("admin").mustPutRoute("import", routeUnreadable)
	w.as("ann").mustPutEntry("", `{"type": "crontab", "spec": "20 3 * * *", "route": "import", "title": "Import"}`)
	const what = "The route is at fault"
	w.advance(4 * 24 * time.Hour)
	want := []string{
		"10 03:20 Failed: Import: " + what,
		"11 03:00 Still failed: Import: " + what, // the second night follows
		"12 03:00 Still failed: Import (2 cases): " + what,
		"13 03:00 Still failed: Import (3 cases): " + what,
	}
	var got []string
	for _, line := range w.sentTo("ann@example.org") {
		line, _, _ = strings.Cut(line, ": jq")
		got = append(got, line)
	}
	same(t, "four nights", got, want)
	same(t, "in each case", len(w.caseIDs()), 4)
	w.as("dora").mustDo(slices.Min(w.caseIDs()), "run", "abort")
	w.advance(24 * time.Hour)
	var after []string
	for _, line := range w.sentTo("ann@example.org")[len(want):] {
		line, _, _ = strings.Cut(line, ": Import")
		after = append(after, line)
	}
	same(t, "the first is given up", after, []string{"14 03:00 Still failed"})
}

// TestCasesOfAnEntryAreOverdueAlike: that the same task of the cases of an entry is not done in
// time is told once a day, but of another user's task that user is told.
func TestCasesOfAnEntryAreOverdueAlike(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	admin := w.as("admin")
	admin.mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	const desk = "title: Desk\ncontext: dora\naccess: {start: [everyone], read: [everyone]}\nroles: {clerk: {assign: [\"user:bob\"]}}\n" +
		"states: {open: {type: start}, done: {type: complete}}\nactions:\n  begin: {trigger: init}\n  check: {in: [open], role: clerk, to: done, dueIn: PT30M}\n"
	admin.mustPutRoute("hourly", desk)
	w.as("dora").mustPutEntry("", `{"type": "crontab", "spec": "0 * * * *", "route": "hourly", "title": "Hourly"}`)
	told := func(name string) (out []string) {
		for _, line := range w.sentTo(name + "@example.org") {
			if strings.Contains(line, "verdue") {
				out = append(out, line)
			}
		}
		return out
	}
	w.advance(24*time.Hour - 5*time.Minute) // from 12:34:56
	want := []string{"09 13:30 Overdue: check (Hourly)"}
	same(t, "bob", told("bob"), want)
	same(t, "dora", told("dora"), want)
	admin.mustPutRoute("hourly", strings.Replace(desk, "user:bob", "user:eve", 1))
	w.advance(2 * time.Hour)
	same(t, "another user", told("eve"), []string{"10 13:30 Overdue: check (Hourly)"})
	if got := told("dora"); len(got) > 4 {
		t.Errorf("dora is told %d times:\n%s", len(got), strings.Join(got, "\n"))
	}
	w.as("bob").mustPerform(w.caseIDs()[0], "check")
	w.advance(24 * time.Hour)
	if got := told("bob"); len(got) != 3 || !strings.Contains(got[2], "Still overdue: check (Hourly (23 cases))") {
		t.Errorf("bob is told\n%s", strings.Join(got, "\n"))
	}
}

// TestCasesOfAnEntryFailAlikeAfterAGap: a failure is the same one also if the server was
// away for more instants than are looked at first, and if cases of several instants that
// are made up for fail one after the other.
func TestCasesOfAnEntryFailAlikeAfterAGap(t *testing.T) {
	t.Parallel()
	for _, misfire := range []string{"once", "all"} {
		w := mailsWorld(t)
		w.as("admin").mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
		w.as("admin").mustPutRoute("import", routeUnreadable)
		w.as("ann").mustPutEntry("", `{"type": "crontab", "spec": "* * * * *", "route": "import", "title": "Import", "misfire": "`+misfire+`"}`)
		w.advance(time.Minute)
		want := w.sentTo("ann@example.org")
		same(t, misfire+": of the first", len(want), 1)
		w.clock.Set(w.clock.Now().Add(2 * time.Hour))
		w.advance(5 * time.Minute)
		same(t, misfire+": after two hours", w.sentTo("ann@example.org"), want)
	}
}

// TestLaterCaseMendsOneThatHung: a case that fails when many later ones have gone well is mended
// by the next one, as in an entry that fires each minute and hangs for an hour once.
func TestLaterCaseMendsOneThatHung(t *testing.T) {
	t.Parallel()
	source := strings.Replace(fmt.Sprintf(routeTrier, ""), ", onError: {steps: [], to: failed}", "", 1)
	withInbox(t, source, func(k *inbox) {
		hung := false
		k.outside.set(func(_ context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
			if d.Mail != nil {
				return nil, nil
			}
			k.outside.mu.Lock()
			hang := !hung
			hung = true
			k.outside.mu.Unlock()
			if hang {
				<-time.NewTimer(time.Hour).C
				return nil, &outbox.Final{Reason: "disk full"}
			}
			return &outbox.Reply{MediaType: "application/json", Content: []byte(`{}`)}, nil
		})
		k.as("sam").mustPutEntry("", `{"type": "crontab", "spec": "* * * * *", "route": "job", "title": "Often"}`)
		k.wait(59 * time.Minute)
		got, _ := k.news()
		same(t, "meanwhile", slices.Compact(got), []string{"sam: Done: Often"})
		k.wait(2*time.Minute + 30*time.Second)
		got, _ = k.news()
		same(t, "it fails, and the next one is good", slices.Compact(got), []string{"dora: Failed: Often: disk full", "dora: Mended: Often", "sam: Done: Often", "sam: Failed: Often: disk full", "sam: Mended: Often"})
	})
}

// TestLaterCaseMendsEarlierOnes: who knows that cases of a schedule entry have failed hears
// once, and in one mail, that a later one went well, also if nobody has retried them. They
// are failed still, and nobody is told of them again.
func TestLaterCaseMendsEarlierOnes(t *testing.T) {
	t.Parallel()
	source := strings.Replace(fmt.Sprintf(routeTrier, ""), ", onError: {steps: [], to: failed}", "", 1)
	withInbox(t, source, func(k *inbox) {
		k.works(&outbox.Final{Reason: "disk full"})
		k.as("sam").mustPutEntry("", `{"type": "crontab", "spec": "0 * * * *", "route": "job", "title": "Hourly"}`)
		k.wait(21*time.Hour + 30*time.Minute) // more cases than the engine looks at at first
		got, _ := k.news()
		same(t, "it fails", got, []string{"dora: Failed: Hourly: disk full", "sam: Failed: Hourly: disk full"})
		k.works(&outbox.Final{Reason: "no network"})
		k.wait(time.Hour)
		got, _ = k.news()
		same(t, "it fails in another way", got, []string{"dora: Failed: Hourly: no network", "sam: Failed: Hourly: no network"})
		last := slices.Max(k.caseIDs())

		k.works(nil)
		k.wait(time.Hour)
		got, texts := k.news()
		same(t, "it works", got, []string{"dora: Mended: Hourly", "sam: Mended: Hourly"})
		for line, more := range map[string]string{
			"dora: Mended: Hourly": fmt.Sprintf(" With the command line: flowdrive resume %[1]d, or flowdrive cancel %[1]d if it is not needed any more.", last),
			"sam: Mended: Hourly":  "",
		} {
			for _, want := range []string{
				fmt.Sprintf("Case %d, a later one of the same schedule entry, went well: Done. What had been wrong since 2000-01-01 22:00 UTC: no network", slices.Max(k.caseIDs())),
				fmt.Sprintf("Case %d itself is failed still; nobody is told of it again.%s This also ends what had been wrong since 2000-01-01 00:00 UTC: disk full. You get", last, more),
			} {
				if !strings.Contains(texts[line], want) {
					t.Errorf("%s: no %q in %s", line, want, texts[line])
				}
			}
		}
		if left := strings.Count(k.as("dora").work(engine.WorklistEscalated, engine.Filter{}), "run"); left != 23 {
			t.Errorf("%d of 23 cases can still be mended", left)
		}
		k.wait(2 * time.Hour)
		got, _ = k.news()
		same(t, "afterwards", got, []string{"sam: Done: Hourly", "sam: Done: Hourly"})
		k.wait(48 * time.Hour)
		got, _ = k.news()
		same(t, "in the next days", slices.Compact(got), []string{"sam: Done: Hourly"})
		k.works(&outbox.Final{Reason: "disk full"})
		k.wait(time.Hour)
		got, _ = k.news()
		same(t, "it fails again", got, []string{"dora: Failed: Hourly: disk full", "sam: Failed: Hourly: disk full"})
	})
}
