package engine_test

import (
	"strings"
	"testing"

	"flowdrive/internal/errs"
)

// TestErasingNamesTheUser: if a user cannot be erased, the answer has the name that was
// asked for.
func TestErasingNamesTheUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("desk", routeTold)
	w.as("ann").mustPutEntry("e.json", `{"type": "interval", "hours": 1, "route": "desk"}`)
	err := w.Accounts.ErasePerson(t.Context(), w.as("admin").request(nil), "Ann", "")
	w.refused(err, errs.InUse)
	if err != nil && (!strings.Contains(err.Error(), `"ann"`) || strings.Contains(err.Error(), "erased-")) {
		t.Errorf("got %v", err)
	}
}
