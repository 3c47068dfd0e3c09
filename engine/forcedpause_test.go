package engine_test

import (
	"strings"
	"testing"
	"time"

	"flowdrive/internal/identity"
)

// TestEntryPausedWithItsRoute: the author of an entry is told that it was paused because
// its route was deleted, and who has deleted it is not. Resumed, it has missed what has
// passed by since then, and nothing earlier.
func TestEntryPausedWithItsRoute(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	admin, ann := w.as("admin"), w.as("ann")
	admin.mustPutParty(identity.User, "admin", `{"email": "root@example.org"}`)
	entry := ann.mustPutEntry("e.json", `{"type": "interval", "hours": 1, "route": "desk", "title": "Hourly", "misfire": "skip"}`)
	ann.mustPutEntry("own.json", `{"type": "interval", "hours": 1, "route": "desk", "title": "Paused before", "paused": true}`)
	if err := admin.Routes.DeleteRoute(t.Context(), admin.request(nil), "desk", true); err != nil {
		t.Fatal(err)
	}
	w.advance(3*time.Hour + 30*time.Minute)
	same(t, "ann", w.sentTo("ann@example.org"), []string{"09 12:34 Paused: Hourly"})
	same(t, "root", w.sentTo("root@example.org"), []string(nil))
	admin.mustPutRoute("desk", strings.Replace(routeTold, "notify: {remind: P2D}", "", 1))
	ann.mustPutEntry("e.json", `{"do": "resume"}`)
	w.advance(time.Second)
	same(t, "occurrences", ann.occurrences(entry.Name), []string{"skipped 2012-11-09T15:34:56Z", "skipped 2012-11-09T14:34:56Z", "skipped 2012-11-09T13:34:56Z"})
	ann.entry("e.json").wants("nextIteration", `"2012-11-09T16:34:56"`)
}

// TestEntriesPausedWithTheirRouteAreNotForgotten: whom it concerns is told in one mail of all
// entries that were paused because their route was deleted, again daily, and once of each
// that it goes on or is deleted; late.txt has them
// (docs/contract/routes.md#what-is-wrong).
func TestEntriesPausedWithTheirRouteAreNotForgotten(t *testing.T) {
	t.Parallel()
	w, letters, entry := deedsWorld(t)
	admin, ann := w.as("admin"), w.as("ann")
	ann.mustPutEntry("d.json", `{"type": "interval", "days": 1, "route": "desk", "title": "Daily"}`)
	ann.mustPutEntry("w.json", `{"type": "interval", "days": 7, "route": "desk", "title": "Weekly"}`)
	if err := admin.Routes.DeleteRoute(t.Context(), admin.request(nil), "desk", true); err != nil {
		t.Fatal(err)
	}
	wantsMail(t, "at once", letters("ann@example.org"), "Paused: Hourly and 2 other schedule entries",
		"These schedule entries were paused by Root at 2012-11-09 12:34 UTC, and start no cases:", "The route desk was deleted.",
		"Hourly: would have fired next at 2012-11-09 13:34 UTC", "Daily: would have fired next", "Weekly: would", "once a day until it goes on or is deleted")
	same(t, "who did it", len(letters("root@example.org")), 0)
	if late := ann.late(); !strings.Contains(late, "Hourly   It is paused, and starts no cases: The route desk was deleted.") {
		t.Errorf("late.txt: %s", late)
	}
	w.advance(24 * time.Hour)
	wantsMail(t, "a day later", letters("ann@example.org"), "3 things are still wrong: Still paused: Weekly", "Still paused: Hourly", "has been paused since")
	wantsMail(t, "who did it, a day later", letters("root@example.org"), "3 things are still wrong: Still paused: Weekly")
	admin.mustPutRoute("desk", strings.Replace(routeTold, "notify: {remind: P2D}", "", 1))
	admin.mustPutEntry(entry, `{"do": "resume"}`)
	wantsMail(t, "resumed", letters("ann@example.org"), "Resumed: Hourly", "was resumed by Root. It had been paused since 2012-11-09 12:34 UTC")
	ann.mustPutEntry("d.json", `{"do": "trigger"}`)
	letters("ann@example.org")
	w.advance(24 * time.Hour)
	wantsMail(t, "the others", letters("ann@example.org"), "2 things are still wrong: Still paused: Weekly")
	letters("root@example.org")
	for _, name := range []string{"d.json", "w.json"} {
		if err := ann.Schedules.DeleteEntry(t.Context(), ann.request(nil), ann.ref(name)); err != nil {
			t.Fatal(err)
		}
	}
	var told []string
	for _, m := range letters("root@example.org") {
		told = append(told, m.Subject)
	}
	same(t, "deleted", told, []string{"Deleted: Daily", "Deleted: Weekly"})
	w.advance(72 * time.Hour)
	same(t, "afterwards", len(letters("ann@example.org")), 0)
}
