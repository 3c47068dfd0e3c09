package engine_test

import (
	"fmt"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// TestWatchedTasks: who started a case and who administers its route find its warnings
// and what the engine failed to do on their lists too, but can do no more with it than
// before. Deputies of the starter do not.
func TestWatchedTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, bob := w.as("admin"), w.as("bob")
	admin.mustPutRoute("watched", `
access: {start: [everyone], admin: [eve]}
timeout: PT2H
roles: {worker: {assign: ["user:ann"]}}
states: {a: {type: start}, b: {}}
actions:
  begin: {trigger: init}
  work: {title: Do the work, in: [a], role: worker, dueIn: PT1H}
  decide: {trigger: time, timeout: PT3H, in: [a], decide: 'xattr.none', outputs: {yes: b}}
`)
	id := bob.startCase(`{"route": "watched", "title": "Watch me"}`)
	admin.mustPutParty(identity.User, "bob", `{"deputy": {"user": "sam", "from": "2012-11-09T00:00:00Z", "to": "2012-12-09T00:00:00Z"}}`)
	lists := func(who string) string {
		u := w.as(who)
		return u.work(engine.WorklistOffered, engine.Filter{}) + " | " + u.work(engine.WorklistWarnings, engine.Filter{}) + " | " + u.work(engine.WorklistEscalated, engine.Filter{})
	}
	wants := func(when string, want map[string]string) {
		t.Helper()
		for who, list := range want {
			same(t, who+" "+when, lists(who), list)
		}
	}
	work, decide, self := fmt.Sprintf("%d.work", id), fmt.Sprintf("%d.decide", id), fmt.Sprint(id)
	wants("at first", map[string]string{"ann": work + " |  | ", "bob": " |  | ", "eve": " |  | ", "admin": " |  | ", "sam": " |  | "})
	w.advance(time.Hour)
	wants("once it is due", map[string]string{"ann": work + " | " + work + " | ", "bob": " | " + work + " | ", "eve": " | " + work + " | ", "admin": " | " + work + " | ", "sam": " |  | "})
	w.advance(time.Hour)
	wants("once the case is late", map[string]string{"ann": work + " | " + work + " | ", "bob": " | " + work + " " + self + " | ", "eve": " | " + work + " " + self + " | ", "sam": " |  | "})
	w.advance(time.Hour)
	wants("once it is escalated", map[string]string{"bob": " | " + work + " " + self + " | " + decide, "eve": " | " + work + " " + self + " | " + decide, "sam": " |  | "})
	_, err := w.Cases.Case(t.Context(), w.as("sam").by(), engine.Ref{CaseID: id})
	w.refused(err, errs.NotFound)
	_, err = bob.perform(id, "decide", `{"do": "retry"}`)
	w.refused(err, errs.NotAllowed)
	form := w.form(try(w.Worklists.WorklistTask(t.Context(), bob.by(), engine.WorklistWarnings, id, "")).must(w, "the case").Form)
	form.wants("id", self, "warnings/0/timer", `"work.due"`)
	if err := bob.deleteCase(self + ".json"); err != nil {
		t.Fatal(err)
	}
	wants("at the end", map[string]string{"ann": " |  | ", "bob": " |  | ", "eve": " |  | "})
}
