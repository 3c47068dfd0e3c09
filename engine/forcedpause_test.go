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
