package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestReminders: assignees are reminded of open tasks again and again, while
// there is something to be reminded of (docs/contract/routes.md#reminders).
func TestReminders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("desk", `
access: {start: [everyone]}
notify: {remind: P2D}
roles: {clerk: {assign: ["team:core"]}, boss: {assign: [admins]}}
states: {open: {type: start}, checked: {}, done: {type: complete}}
actions:
  begin: {trigger: init}
  check: {in: [open], role: clerk, to: checked}
  look: {in: [open], role: clerk, guard: "xattr.ok == 'yes'"}
  help: {enabledIn: [open], allowed: [everyone]}
  sign: {in: [checked], role: boss, to: done}
  again: {in: [done], role: clerk, to: open}
`)
	const day = 24 * time.Hour
	id := w.as("sam").startCase(`{"route": "desk"}`)
	sam := w.as("sam").listen("")
	reminded := func() (out []string) {
		for _, line := range w.as("sam").logTexts(id) {
			if strings.Contains(line, "Reminded") {
				out = append(out, line)
			}
		}
		return out
	}
	w.advance(2*day - time.Second)
	same(t, "before the first reminder", reminded(), nil)
	w.advance(time.Second)
	same(t, "after two days", reminded(), []string{"task: Reminded core"})
	sam.hears("the reminder", "case changed", "task reminded check")
	same(t, "the task's event and the log agree", w.as("sam").caseForm(id).get("version"), "3")

	w.as("ann").mustDo(id, "check", "accept")
	w.advance(2 * day)
	same(t, "of what ann has accepted", reminded()[1:], []string{"task: Reminded ann"})
	try(w.as("ann").perform(id, "check", `{"do": "delegate", "to": "bob"}`)).must(w, "delegating")
	w.advance(2 * day)
	same(t, "of what bob has got", reminded()[2:], []string{"task: Reminded bob"})

	w.as("sam").mustPutCase(fmt.Sprint(id), `{"state": "suspended"}`)
	w.advance(20 * day)
	same(t, "of a suspended case", len(reminded()), 3)
	w.as("sam").mustPutCase(fmt.Sprint(id), `{"state": "active"}`)
	same(t, "at the resume instant", reminded()[3:], []string{"task: Reminded bob"})
	w.advance(2 * day)
	same(t, "two days later", len(reminded()), 5)

	w.as("bob").mustPerform(id, "check")
	w.advance(2 * day)
	same(t, "of the next task", reminded()[5:], []string{"task: Reminded the administrators of the route"})
	w.as("admin").mustPerform(id, "sign")
	w.advance(10 * day)
	same(t, "of a completed case", len(reminded()), 6)
	w.as("ann").mustPerform(id, "again")
	w.as("sam").mustPutCase(fmt.Sprint(id), `{"xattrDict": {"ok": "yes"}}`)
	w.advance(2 * day)
	same(t, "of both tasks", reminded()[6:], []string{"task: Reminded core", "task: Reminded core"})
	if err := w.as("sam").deleteCase(fmt.Sprint(id)); err != nil {
		t.Fatal(err)
	}
	w.advance(20 * day)
	same(t, "of a canceled case", len(reminded()), 8)
}

func TestReminderMigrates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const desk = `
access: {start: [everyone]}
roles: {clerk: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  check: {in: [open], role: clerk, to: done}
`
	w.as("admin").mustPutRoute("desk", desk)
	id := w.as("sam").startCase(`{"route": "desk"}`)
	count := func() int { return strings.Count(strings.Join(w.as("sam").logTexts(id), "\n"), "Reminded") }
	if _, err := w.as("admin").migrate("desk", desk+"notify: {remind: PT1H}\n"); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Hour)
	same(t, "with reminders", count(), 1)
	if _, err := w.as("admin").migrate("desk", desk); err != nil {
		t.Fatal(err)
	}
	w.advance(5 * time.Hour)
	same(t, "without reminders again", count(), 1)
}
