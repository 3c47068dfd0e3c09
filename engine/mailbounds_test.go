package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
)

// TestNoticesAreBounded: what a user is told beyond so many mails in an hour comes in one at
// the end of the hour, also after quiet hours (docs/contract/routes.md#how-many-mails).
func TestNoticesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.config = func(cfg *engine.Config) {
			cfg.Sandbox = false
			cfg.Channels = engine.Channels{Mail: true}
			cfg.Limits.Notices = 3
		}
	})
	w.as("admin").mustPutRoute("desk", strings.Replace(routeTold, "notify: {remind: P2D}", "", 1))
	start := func(titles ...string) {
		for _, title := range titles {
			w.as("sam").startCase(fmt.Sprintf(`{"route": "desk", "title": %q}`, title))
		}
	}
	start("1", "2", "3", "4")
	w.advance(30 * time.Minute)
	start("5")
	same(t, "bob, in the first hour", w.sentTo("bob@example.org"), []string{"09 12:34 To do: Check it (1)", "09 12:34 To do: Check it (2)", "09 12:34 To do: Check it (3)"})
	w.reopen()
	w.advance(30 * time.Minute)
	start("6")
	same(t, "bob, after it", w.sentTo("bob@example.org")[3:], []string{"09 13:34 2 more notices: To do: Check it (5)", "09 13:34 To do: Check it (6)"})

	w.as("bob").mustPutMe(`{"mail": {"quiet": {"from": "13:00", "to": "15:00"}}}`)
	start("7", "8", "9", "10", "11")
	w.advance(2 * time.Hour)
	same(t, "bob, after quiet hours", w.sentTo("bob@example.org")[5:], []string{"09 15:00 To do: Check it (7)", "09 15:00 To do: Check it (8)", "09 15:00 To do: Check it (9)", "09 15:00 2 more notices: To do: Check it (11)"})
}

const routeOfMails = `
name: letters
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, to: done, sideEffects: [{mail: {to: [ann], subject: Hello}}, {mail: {to: [ann, bob], subject: Hello}}]}
`

// TestMailsOfAuthorsAreBounded: the mails of steps of one author's routes wait for each other,
// at most a day, and their cases say so. Those of administrators do not.
func TestMailsOfAuthorsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.config = func(cfg *engine.Config) { cfg.Limits.Mails = 4 } })
	w.as("sam").mustPutRoute("letters", routeOfMails)
	lines := func(id int64) []string { return w.as("admin").logTexts(id) }
	recorded := func(id int64) int {
		return len(slices.DeleteFunc(lines(id), func(line string) bool { return !strings.Contains(line, "Recorded") }))
	}
	first, second := w.as("sam").startCase(`{"route": "letters"}`), w.as("sam").startCase(`{"route": "letters"}`)
	same(t, "the first case", recorded(first), 2)
	same(t, "the second case", recorded(second), 1)
	if got := strings.Join(lines(second), "\n"); !strings.Contains(got, "Waits until 2012-11-09T12:49:57Z") || !strings.Contains(got, "more than 4 mails in an hour (--max-mails-by-author)") {
		t.Errorf("the log says\n%s", got)
	}
	w.advance(14 * time.Minute)
	same(t, "the second case, too early", recorded(second), 1)
	w.advance(2 * time.Minute)
	same(t, "the second case, later", recorded(second), 2)

	var last int64
	for range 40 {
		last = w.as("sam").startCase(`{"route": "letters"}`)
	}
	if got := strings.Join(lines(last), "\n"); !strings.Contains(got, "would wait for more than a day") {
		t.Errorf("the log of the last case says\n%s", got)
	}
	w.as("admin").mustPutRoute("more", strings.Replace(routeOfMails, "letters", "more", 1))
	for range 3 {
		same(t, "of an administrator", recorded(w.as("admin").startCase(`{"route": "more"}`)), 2)
	}
}
