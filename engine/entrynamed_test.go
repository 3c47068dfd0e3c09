package engine_test

import (
	"fmt"
	"testing"

	"flowdrive/internal/identity"
)

// TestEntryWithoutATitle: people are told of a schedule entry without a title by the name
// that its author has given it, also when it is deleted.
func TestEntryWithoutATitle(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	w.as("admin").mustPutParty(identity.Team, "night", `{"members": ["ann", "bob"], "admins": ["ann"]}`)
	w.as("ann").mustPutEntry("nachtlauf.json", fmt.Sprintf(`{"type": "interval", "hours": 1, "route": "desk", "contextId": %d}`, w.Accounts.PartyID("night")))
	const name = "nachtlauf@ann.json"
	before := len(w.sentTo("ann@example.org"))
	w.as("admin").mustPutEntry(name, `{"do": "pause"}`)
	if err := w.as("admin").deleteEntry(name); err != nil {
		t.Fatal(err)
	}
	same(t, "ann", w.sentTo("ann@example.org")[before:], []string{"09 12:34 Paused: nachtlauf", "09 12:34 Deleted: nachtlauf"})
}
