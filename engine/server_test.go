package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/notice"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// TestServerTroubles: administrators are told of what is wrong with the server once,
// again a day later, and once when it is over
// (docs/contract/routes.md#what-is-wrong-with-the-server).
func TestServerTroubles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := &mailRoom{down: map[string]error{}}
		room.answer = room.deliver
		w, stop := realTime(t, func(w *world) {
			w.config = func(c *engine.Config) {
				c.Outside = room
				c.Channels = engine.Channels{Mail: true, Destinations: []notice.Destination{{ID: "ntfy", Name: "ntfy at ntfy.sh", Least: notice.Serious}}}
			}
		})
		defer stop()
		admin := w.as("admin")
		admin.mustPutParty(identity.User, "admin", `{"email": "root@example.org"}`)
		told := func() string {
			w.clock.Set(clock.Real{}.Now())
			if err := w.Server.Again(t.Context()); err != nil {
				t.Fatal(err)
			}
			await(time.Second)
			room.mu.Lock()
			defer room.mu.Unlock()
			lines := strings.Join(room.told, "\n")
			room.told = nil
			return lines
		}
		note := func(text string) {
			w.clock.Set(clock.Real{}.Now())
			if err := w.Server.Note(t.Context(), engine.ServerBackup, text); err != nil {
				t.Fatal(err)
			}
		}
		both := func(line string) string { return "root@example.org: " + line + "\nntfy: " + line }
		sorted := func(text string) string {
			lines := strings.Split(text, "\n")
			if len(lines) == 2 && strings.HasPrefix(lines[0], "ntfy") {
				lines[0], lines[1] = lines[1], lines[0]
			}
			return strings.Join(lines, "\n")
		}
		note("")
		same(t, "nothing is wrong", told(), "")
		note("disk full")
		same(t, "once", sorted(told()), both("Failed: the automatic backup: disk full"))
		note("no space left")
		same(t, "not twice", told(), "")
		await(24 * time.Hour)
		same(t, "a day later", sorted(told()), both("Still failed: the automatic backup: no space left"))
		status := try(w.Server.Status(t.Context(), admin.by())).must(w, "the status")
		if !strings.Contains(string(status.Form), `"text": "no space left"`) {
			t.Errorf("status: %s", status.Form)
		}
		_, err := w.Server.Status(t.Context(), w.as("sam").by())
		w.refused(err, errs.NotFound)
		note("")
		same(t, "over", sorted(told()), both("Mended: the automatic backup"))
		await(48 * time.Hour)
		same(t, "afterwards", told(), "")

		if err := w.Server.NoteDamage(t.Context(), [32]byte{1}, "its file has 3 bytes"); err != nil {
			t.Fatal(err)
		}
		if got := told(); !strings.Contains(got, "Failed: stored contents: the content 0100") {
			t.Errorf("told of damage: %s", got)
		}
		await(24 * time.Hour) // it is gone
		same(t, "a content that is gone", sorted(told()), both("Mended: stored contents"))
	})
}
