package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// TestNoticesAreBounded: what a user is told beyond so many mails in an hour comes in one at
// the end of the hour, also after quiet hours (docs/contract/routes.md#how-many-mails).
func TestNoticesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, boundedNotices(3))
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

// refusingStore undoes what is changed while refuse is set, when all of it has been done.
type refusingStore struct {
	store.Store
	refuse bool
}

// Update implements store.Store.
func (s *refusingStore) Update(ctx context.Context, f func(store.Tx) error) error {
	return s.Store.Update(ctx, func(tx store.Tx) error {
		if err := f(tx); err != nil || !s.refuse {
			return err
		}
		return broken()
	})
}

// TestNoticesThatAreUndoneDoNotCount: nor do those of a dry run, and the hour begins with the first
// that counts.
func TestNoticesThatAreUndoneDoNotCount(t *testing.T) {
	t.Parallel()
	s := &refusingStore{}
	w := newWorld(t, overStore(func(of store.Store) store.Store { s.Store = of; return s }), boundedNotices(3))
	w.as("admin").mustPutRoute("desk", strings.Replace(routeTold, "notify: {remind: P2D}", "", 1))
	sam := w.as("sam")
	s.refuse = true
	for range 5 {
		_, err := sam.putCase("", `{"route": "desk", "title": "undone"}`)
		w.refused(err, errs.Internal)
	}
	s.refuse = false
	for range 5 {
		try(sam.putCase("", `{"route": "desk", "title": "dry"}`, dryRun())).must(w, "a dry run")
	}
	w.advance(50 * time.Minute)
	for i := range 4 {
		sam.startCase(fmt.Sprintf(`{"route": "desk", "title": "%d"}`, i))
	}
	w.advance(50 * time.Minute) // the hour has begun with the first
	sam.startCase(`{"route": "desk", "title": "4"}`)
	same(t, "bob, in the hour", w.sentTo("bob@example.org"), []string{"09 13:24 To do: Check it (0)", "09 13:24 To do: Check it (1)", "09 13:24 To do: Check it (2)"})
	w.advance(10 * time.Minute)
	same(t, "bob, after it", w.sentTo("bob@example.org")[3:], []string{"09 14:24 2 more notices: To do: Check it (4)"})
}

// TestNoticesOfManyAtOnce: the bound is kept to the last notice by units that share commits with
// others that are undone.
func TestNoticesOfManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, boundedNotices(7))
	w.as("admin").mustPutRoute("desk", strings.Replace(routeTold, "notify: {remind: P2D}", "", 1))
	sam := w.as("sam")
	var all errgroup.Group
	for i := range 40 {
		all.Go(func() (err error) {
			if i%2 == 0 {
				_, err = sam.putCase("", `{"route": "desk", "title": "stored"}`)
			} else {
				_, err = sam.putCase("", `{"route": "desk", "title": "dry"}`, dryRun())
			}
			return err
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	same(t, "at once", len(w.sentTo("bob@example.org")), 7)
	w.advance(time.Hour)
	same(t, "after the hour", w.sentTo("bob@example.org")[7:], []string{"09 13:34 13 more notices: To do: Check it (stored)"})
}

// boundedNotices has a world send mails, and at most so many notices an hour to a user.
func boundedNotices(most int64) func(*world) {
	return func(w *world) {
		w.config = func(cfg *engine.Config) {
			cfg.Sandbox = false
			cfg.Channels = engine.Channels{Mail: true}
			cfg.Limits.Notices = most
		}
	}
}

// TestMailsThatCannotBeSentDoNotCount: as long as nothing can be stored nothing is sent, and each
// attempt to begin counts nothing.
func TestMailsThatCannotBeSentDoNotCount(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s), func(w *world) { w.config = func(cfg *engine.Config) { cfg.Limits.Mails = 2 } })
	sam := w.as("sam")
	sam.mustPutRoute("letters", `
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  tell: {trigger: time, timeout: PT1H, in: [open], to: done, sideEffects: [{mail: {to: [ann], subject: Hello}}, {mail: {to: [bob], subject: Hello}}, {mail: {to: [sam], subject: Hello}}]}
`)
	id := sam.startCase(`{"route": "letters"}`)
	recorded := func() int {
		return len(slices.DeleteFunc(w.as("admin").logTexts(id), func(line string) bool { return !strings.Contains(line, "Recorded") }))
	}
	refuse := func(from int) func(write) error {
		updates := 0
		return func(wrote write) error {
			if wrote.method == "UpdateCase" {
				if updates++; updates >= from {
					return unavailable()
				}
			}
			return nil
		}
	}
	s.before = refuse(2) // the first is of the timer
	for range 5 {
		_, err := w.Advance(t.Context(), to(instant("2012-11-09T13:34:56Z")), w.clock.Set)
		w.refused(err, errs.Unavailable)
		s.before = refuse(1)
	}
	s.before = nil
	w.advanceTo("2012-11-09T13:34:56Z")
	same(t, "in the first hour", recorded(), 2)
	s.before = refuse(1)
	for range 5 { // the third keeps its place
		_, err := w.Advance(t.Context(), to(instant("2012-11-09T14:10:00Z")), w.clock.Set)
		w.refused(err, errs.Unavailable)
	}
	s.before = nil
	w.advanceTo("2012-11-09T14:10:01Z")
	same(t, "then", recorded(), 3)
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
