package engine_test

import (
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// TestDocumentsAreFoundAsTheyAre: what is remembered of a path ends with
// every commit, and is only ever told to whom it was found for.
func TestDocumentsAreFoundAsTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, eve, admin := w.as("sam"), w.as("eve"), w.as("admin")
	sam.mustPutDocument("core/x.txt", "one")
	for range 3 {
		same(t, "at first", sam.readDocument("core/x.txt"), "text/plain: one")
	}
	if _, err := eve.document("core/x.txt"); !errs.Is(err, errs.NotFound) {
		t.Errorf("a stranger finds it: %v", err)
	}
	sam.mustPutDocument("core/x.txt", "two")
	same(t, "replaced", sam.readDocument("core/x.txt"), "text/plain: two")
	admin.mustPutParty(identity.Team, "core", `{"members": ["ann"], "admins": ["ann"]}`)
	if _, err := sam.document("core/x.txt"); !errs.Is(err, errs.NotFound) {
		t.Errorf("who has left the team finds it: %v", err)
	}
	if err := w.as("ann").deleteDocument("core/x.txt"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.as("ann").document("core/x.txt"); !errs.Is(err, errs.NotFound) {
		t.Errorf("what was deleted is found: %v", err)
	}
}
