package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/internal/errs"
)

// TestServerWasAway: after a time without server administrators are told in one mail what
// came due in it, and everybody in one mail of their own schedule entries
// (docs/contract/routes.md#when-the-server-was-away).
func TestServerWasAway(t *testing.T) {
	t.Parallel()
	w, all, _ := deedsWorld(t) // ann has an entry that skips each hour since 12:34:56
	ann, bob := w.as("ann"), w.as("bob")
	letters := func(address string) []*machine.Mail {
		return slices.DeleteFunc(all(address), func(m *machine.Mail) bool {
			return !strings.HasPrefix(m.Subject, "Flowdrive ") && !strings.HasPrefix(m.Subject, "Skipped: ")
		})
	}
	alive := func(stopped bool) {
		t.Helper()
		if err := w.Server.Alive(t.Context(), stopped); err != nil {
			t.Fatal(err)
		}
	}
	back := func(at string, seen time.Time) {
		t.Helper()
		w.reopen()
		w.clock.Set(instant(at))
		if err := w.Return(t.Context(), seen); err != nil {
			t.Fatal(err)
		}
		w.advance(0)
	}
	for i := range 25 {
		bob.mustPutEntry(fmt.Sprintf("e%d.json", i), `{"type": "interval", "hours": 1, "route": "auto", "title": "Bob's"}`)
	}
	w.as("eve").mustPutEntry("yearly.json", `{"type": "crontab", "spec": "0 0 1 1 *", "route": "auto"}`)
	letters("root@example.org")

	back(start, time.Time{}) // the first start
	back("2012-11-09T12:37:00Z", instant("2012-11-09T12:36:00Z"))
	same(t, "a minute", len(letters("root@example.org")), 0)
	back("2012-11-09T12:47:00Z", time.Time{})
	same(t, "a copy of a running server", len(letters("root@example.org")), 0)

	back("2012-11-09T16:00:00Z", instant("2012-11-09T12:48:00Z"))
	const subject = "Flowdrive was away from 2012-11-09 12:48 UTC to 2012-11-09 16:00 UTC (no clean stop)"
	wantsMail(t, "root", letters("root@example.org"), subject,
		"Schedule entries with instants in that time: 26", "Instants that start late: 25", "Instants that are skipped: 53", "What is late: /late", "On the drive: /dav/Admin/Status.json",
		"It was not stopped in good order", "You get this because you administer the server.")
	wantsMail(t, "ann", letters("ann@example.org"), subject, "Hourly: 3 skipped, the first at 2012-11-09 13:34 UTC, /schedule/", "flowdrive schedule backfill", "You get this because the schedule entry is yours.")
	wantsMail(t, "bob", letters("bob@example.org"), subject, "Bob's: 1 late, 2 skipped, the first at 2012-11-09 13:34 UTC", "And 5 more schedule entries of yours.")
	same(t, "eve", len(letters("eve@example.org")), 0)
	status := try(w.Server.Status(t.Context(), w.as("admin").by())).must(w, "the status")
	if want := `"from": "2012-11-09T12:48:00Z"`; !strings.Contains(string(status.Form), want) {
		t.Errorf("no %s in %s", want, status.Form)
	}

	w.advance(23 * time.Hour)
	same(t, "nothing more of the same", len(letters("ann@example.org"))+len(letters("bob@example.org")), 0)
	if err := w.Server.Ended(t.Context(), instant("2012-11-10T14:00:00Z")); err != nil { // as a command on the folder
		t.Fatal(err)
	}
	back("2012-11-10T15:10:00Z", time.Time{})
	wantsMail(t, "root", letters("root@example.org"), "Flowdrive was away from 2012-11-10 14:00 UTC to 2012-11-10 15:10 UTC (no clean stop)")
	letters("ann@example.org")
	letters("bob@example.org")
	alive(true)
	back("2012-11-10T15:20:00Z", time.Time{})
	wantsMail(t, "root", letters("root@example.org"), "Flowdrive was away from 2012-11-10 15:10 UTC to 2012-11-10 15:20 UTC (stopped)", "Schedule entries with instants in that time: 0")
	same(t, "nobody else", len(letters("ann@example.org"))+len(letters("bob@example.org")), 0)
	_, err := w.Server.Status(t.Context(), ann.by())
	w.refused(err, errs.NotFound)
}

// TestAwayPayload: services get one notice of the absence.
func TestAwayPayload(t *testing.T) {
	t.Parallel()
	n := &notice.Notice{
		Kind: notice.KindOverdue, Time: instant(start),
		Away: &notice.Away{From: instant(start).Add(-time.Hour), To: instant(start), Late: 2, Skipped: 3},
	}
	p := n.Payload()
	same(t, "type", p.Type, "server.overdue")
	same(t, "server", *p.Data.Server, notice.ServerData{Part: "away", From: "2012-11-09T11:34:56Z", To: start, Late: 2, Skipped: 3})
	same(t, "text", p.Data.Text, "Flowdrive was away from 2012-11-09 11:34 UTC to 2012-11-09 12:34 UTC (no clean stop)")
}
