package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/identity"
)

// TestManyTasksAreOneMail: that a user is disabled who alone could do the tasks of many
// cases is one event: each person gets one mail of all of them, and one when there is
// somebody again (docs/contract/routes.md#what-is-wrong).
func TestManyTasksAreOneMail(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	admin := w.as("admin")
	admin.mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	admin.mustPutRoute("desk", "context: ann\n"+strings.TrimPrefix(routeTrouble, "\n"))
	for i := range 5 {
		w.as("sam").startCase(fmt.Sprintf(`{"route": "desk", "title": "C%d"}`, i+1))
	}
	before := len(w.sentTo("dora@example.org"))
	admin.mustPutParty(identity.User, "bob", `{"disabled": true}`)
	w.advance(time.Minute)
	admin.mustPutParty(identity.User, "bob", `{"disabled": false}`)
	w.advance(time.Minute)
	same(t, "told", w.sentTo("dora@example.org")[before:], []string{
		"09 12:34 5 tasks cannot be done: Nobody can do it: Check it (bob is disabled) (C5)",
		"09 12:35 5 tasks are no longer without those who can do them: Somebody can do it: Check it (C5)",
	})
	id := w.as("sam").startCase(`{"route": "desk", "title": "Accepted"}`)
	w.as("bob").mustDo(id, "check", "accept")
	before = len(w.sentTo("dora@example.org"))
	admin.mustPutParty(identity.User, "bob", `{"disabled": true}`)
	w.advance(time.Minute)
	if told := w.sentTo("dora@example.org")[before:]; len(told) != 1 || !slices.Contains(told, "09 12:36 6 tasks cannot be done: Nobody can do it: Check it (bob is disabled) (C5)") {
		t.Errorf("with one that bob has accepted: %q", told)
	}
}
