package engine_test

import (
	"strconv"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// TestUndoCancel: who started and canceled a case reopens it for a while. What others have
// canceled they do not reopen, and nobody else does.
func TestUndoCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("buy", `{access: {start: [everyone]}, states: {a: {type: start}, b: {type: complete}}, actions: {begin: {trigger: init},
		note: {in: [a], allowed: everyone, to: b}}}`)
	sam, admin := w.as("sam"), w.as("admin")
	edit := func(u user, id int64, state string) error {
		_, err := u.putCase(strconv.FormatInt(id, 10), `{"state": "`+state+`"}`)
		return err
	}
	done := func(u user, id int64, state string) {
		t.Helper()
		if err := edit(u, id, state); err != nil {
			t.Fatalf("%s by %s: %v", state, u.name, err)
		}
	}
	id := sam.startCase(`{"route": "buy"}`)
	done(sam, id, "canceled")
	w.refused(edit(w.as("ann"), id, "active"), errs.NotFound)
	done(sam, id, "active")
	sam.caseForm(id).wants("state", `"active"`, "status", `"a"`)

	done(admin, id, "canceled")
	w.refused(edit(sam, id, "active"), errs.NotAllowed)
	done(admin, id, "active")

	done(sam, id, "canceled")
	w.clock.Set(w.clock.Now().Add(engine.UndoCancel))
	w.refused(edit(sam, id, "active"), errs.NotAllowed)
	sam.caseForm(id).wants("state", `"canceled"`)
}
