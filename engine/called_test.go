package engine_test

import (
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// TestFullNamesOfOthers: nobody gives themselves what another is called, and where two are
// called the same the user name tells them apart (docs/contract/drive.md#full-names).
func TestFullNamesOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutParty(identity.User, "ann", `{"fullName": "Ann Example"}`)
	for _, name := range []string{"ann example", "  Ann\u00a0 EXAMPLE", "Bob", "core", "\uff21nn Example", "Admin"} {
		_, err := w.as("sam").putMe(`{"fullName": "` + name + `"}`)
		w.refused(err, errs.Invalid, "/fullName conflict")
	}
	w.as("sam").mustPutMe(`{"fullName": "SAM"}`)
	w.as("ann").mustPutMe(`{"fullName": "Ann EXAMPLE"}`)
	table := w.Accounts.Table()
	same(t, "one", table.Called(table.ByName(identity.User, "ann")), "Ann EXAMPLE")
	w.as("admin").mustPutParty(identity.User, "bob", `{"fullName": "Ann Example"}`)
	table = w.Accounts.Table()
	same(t, "the first of two", table.Called(table.ByName(identity.User, "ann")), "Ann EXAMPLE (ann)")
	same(t, "the other", table.Called(table.ByName(identity.User, "bob")), "Ann Example (bob)")
	same(t, "of no full name", table.Called(table.ByName(identity.User, "eve")), "eve")
	w.as("bob").mustPutMe(`{"fullName": "Ann Example", "timezone": null}`) // as it is
}
