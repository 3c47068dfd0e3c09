package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestSuspendedCasesAreNotForgotten: people are told of a case that stays suspended a day
// after somebody has suspended it, again daily, and once that it is over; late.txt has it
// from the beginning. One that resumes by itself is not forgotten
// (docs/contract/routes.md#cases-that-stay-suspended).
func TestSuspendedCasesAreNotForgotten(t *testing.T) {
	t.Parallel()
	w := troubleWorld(t)
	w.as("admin").mustPutRoute("desk", "context: ann\n"+strings.Replace(strings.TrimPrefix(routeTrouble, "\n"), ", dueIn: P1D", "", 1))
	sam, id := w.as("sam"), w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	until := sam.startCase(`{"route": "desk", "title": "Two"}`)
	since, others := w.toldSince(id), w.toldSince(until)
	since()
	others()
	sam.mustPutCase(fmt.Sprint(id), `{"state": "suspended"}`)
	sam.mustPutCase(fmt.Sprint(until), `{"state": "suspended", "suspendedUntil": "2012-11-12T12:00:00Z"}`)
	w.wantLate("at once", "It stays suspended until it is resumed: sam has suspended it.", "admin", "ann", "dora", "sam")
	w.wantLate("with a date", "case "+fmt.Sprint(until))
	others()
	same(t, "at once", since(), []string{"bob@example.org: Suspended: One"})
	w.advance(23 * time.Hour)
	want := []string{"ann@example.org", "dora@example.org", "sam@example.org"}
	w.advance(time.Hour)
	same(t, "a day later", prefixed(since(), "Still suspended: One"), want)
	w.advance(24 * time.Hour)
	same(t, "and again", prefixed(since(), "Still suspended: One"), want)
	same(t, "with a date", others(), []string(nil))
	sam.mustPutCase(fmt.Sprint(id), `{"state": "active"}`)
	same(t, "the end", since(), []string{"ann@example.org: Resumed: One", "bob@example.org: Resumed: One", "dora@example.org: Resumed: One"}) // it was sam who did it
	w.wantLate("afterwards", "It stays suspended")
	w.advance(72 * time.Hour)
	sam.mustPutCase(fmt.Sprint(id), `{"state": "suspended"}`)
	sam.mustPutCase(fmt.Sprint(id), `{"state": "active"}`)
	since()
	w.advance(20 * time.Hour)
	same(t, "not for long", since(), []string(nil))
}
