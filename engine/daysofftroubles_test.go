package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/files"
	"flowdrive/internal/clock"
	"flowdrive/internal/identity"
)

const calendarOff = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20991224\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"

// TestCalendarThatChanges: who has a schedule entry is told when its calendar is moved, deleted
// or has something else in it, not only at its next instant; again a day later, and when it can
// be used again (docs/contract/routes.md#calendars-that-cannot-be-used).
func TestCalendarThatChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := &mailRoom{down: map[string]error{}}
		room.answer = room.deliver
		w, stop := realTime(t, func(w *world) {
			w.config = func(c *engine.Config) { c.Outside, c.Channels = room, engine.Channels{Mail: true} }
		})
		defer stop()
		now := func() { w.clock.Set(clock.Real{}.Now()) }
		now()
		w.as("admin").mustPutParty(identity.User, "sam", `{"email": "sam@example.org"}`)
		sam := w.as("sam")
		if err := sam.makeFolder("sam/days"); err != nil {
			t.Fatal(err)
		}
		sam.mustPutDocument("sam/days/off.ics", calendarOff)
		sam.mustPutDocument("sam/days/other.ics", calendarOff)
		entry := func(name, more string) string {
			return fmt.Sprintf(`{"title": %q, "type": "crontab", "spec": "0 12 1 6 *", "route": "auto", "excludeCalendar": "/dav/Documents/sam/days/off.ics"%s}`, name, more)
		}
		sam.mustPutEntry("nightly.json", entry("Nightly", ""))
		sam.mustPutEntry("paused.json", entry("Paused", ""))
		sam.mustPutEntry("paused.json", `{"do": "pause"}`)
		sam.mustPutEntry("other.json", strings.Replace(entry("Other", ""), "off.ics", "other.ics", 1))
		told := func() string {
			await(2 * time.Second)
			now()
			room.mu.Lock()
			defer room.mu.Unlock()
			slices.Sort(room.told)
			lines := strings.Join(room.told, "\n")
			room.told = nil
			return lines
		}
		same(t, "at the beginning", told(), "")
		const (
			wrong = `sam@example.org: Days off are not known: Nightly: The calendar that the entry excludes cannot be used: /dav/Documents/sam/days/off.ics: `
			still = `sam@example.org: Still days off are not known: Nightly: The calendar that the entry excludes cannot be used: /dav/Documents/sam/days/off.`
			over  = "sam@example.org: Mended: Nightly"
		)
		checkTold := func(what, want string) {
			t.Helper()
			if got := told(); want == "" && got != "" || !strings.HasPrefix(got, want) || strings.Count(got, "\n") > 0 {
				t.Errorf("%s: told %q, want %q", what, got, want)
			}
		}
		sam.mustPutDocument("sam/days/off.ics", calendarOff+"\r\n")
		checkTold("a calendar that is as good", "")
		sam.mustPutDocument("sam/days/off.ics", "garbage")
		checkTold("garbage", wrong)
		sam.mustPutDocument("sam/days/off.ics", "other garbage")
		checkTold("other garbage", "")
		await(24 * time.Hour)
		now()
		checkTold("a day later", still)
		checkLate := func(what string, lines int) {
			t.Helper()
			late := strings.Join(strings.Fields(sam.late()), " ")
			if got := strings.Count(late, "cannot be used"); got != lines {
				t.Errorf("%s: %d lines in late.txt: %s", what, got, late)
			}
		}
		checkLate("while it is wrong", 1)
		if _, err := sam.putEntry("nightly.json", `{"do": "trigger"}`); err != nil {
			t.Fatal(err)
		}
		if got := told(); !strings.HasPrefix(got, "sam@example.org: Done: ") {
			t.Errorf("a case that comes to be otherwise: told %q", got)
		}
		sam.mustPutDocument("sam/days/off.ics", calendarOff)
		checkTold("a calendar again", over)
		checkLate("afterwards", 0)
		if _, err := sam.moveDocument("sam/days/off.ics", "sam/days/away.ics", files.Transfer{}); err != nil {
			t.Fatal(err)
		}
		checkTold("moved", wrong)
		if _, err := sam.moveDocument("sam/days/away.ics", "sam/days/off.ics", files.Transfer{}); err != nil {
			t.Fatal(err)
		}
		checkTold("moved back", over)
		sam.mustPutDocument("sam/days/off.ics", "BEGIN:VCALENDAR\r\n"+strings.Repeat("x", 300_000)) // a file
		checkTold("a large one", wrong)
		sam.mustPutEntry("nightly.json", strings.Replace(entry("Nightly", ""), "off.ics", "other.ics", 1))
		checkTold("another calendar", over)
		sam.mustPutEntry("nightly.json", strings.Replace(entry("Nightly", ""), "off.ics", "other.ics", 1))
		if _, err := sam.moveDocument("sam/days", "sam/gone", files.Transfer{}); err != nil {
			t.Fatal(err)
		}
		if got := told(); strings.Count(got, "Days off are not known") != 2 || !strings.Contains(got, "Other") || !strings.Contains(got, "Nightly") {
			t.Errorf("the folder is moved: told %q", got)
		}
	})
}
