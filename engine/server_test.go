package engine_test

import (
	"errors"
	"slices"
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

// TestDiskTrouble: administrators are told of a full disk although nothing can be stored
// on it, once, again a day later, and once when there is room
// (docs/contract/routes.md#what-is-wrong-with-the-server).
func TestDiskTrouble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := &mailRoom{down: map[string]error{}}
		room.answer = room.deliver
		var full error
		disk := &spy{}
		w, stop := realTime(t, spied(disk), func(w *world) {
			w.config = func(c *engine.Config) {
				c.Outside = room
				c.Channels = engine.Channels{Mail: true, Destinations: []notice.Destination{{ID: "ntfy", Name: "ntfy at ntfy.sh", Least: notice.Serious}}}
			}
		})
		defer stop()
		admin, sam := w.as("admin"), w.as("sam")
		admin.mustPutParty(identity.User, "admin", `{"email": "root@example.org"}`)
		admin.mustPutParty(identity.User, "eve", `{"email": "eve@example.org", "admin": true}`)
		w.as("eve").mustPutMe(`{"mail": {"digest": "07:30"}}`)
		synctest.Wait()
		disk.first = func() error { return full }
		told := func() string {
			await(time.Second)
			room.mu.Lock()
			defer room.mu.Unlock()
			slices.Sort(room.told)
			lines := strings.Join(room.told, "\n")
			room.told = nil
			return lines
		}
		now := func() { w.clock.Set(clock.Real{}.Now()) }
		note := func(text string) {
			now()
			if err := w.Server.Note(t.Context(), engine.ServerDisk, text); err != nil {
				t.Fatal(err)
			}
		}
		again := func() {
			now()
			if err := w.Server.Again(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		all := func(line string) string {
			return "eve@example.org: " + line + "\nntfy: " + line + "\nroot@example.org: " + line
		}
		shown := func(what, want string) {
			t.Helper()
			status := try(w.Server.Status(t.Context(), admin.by())).must(w, "the status")
			if got := strings.Contains(string(status.Form), `"part": "disk"`); got != (want != "") || !strings.Contains(string(status.Form), want) {
				t.Errorf("%s: the status is %s", what, status.Form)
			}
			if late := admin.late(); strings.Contains(late, "the disk") != (want != "") || !strings.Contains(late, want) {
				t.Errorf("%s: late.txt says %s", what, late)
			}
			if late := sam.late(); strings.Contains(late, "the disk") {
				t.Errorf("%s: late.txt tells others: %s", what, late)
			}
		}
		note("")
		same(t, "nothing is wrong", told(), "")

		full = errs.New(errs.Full, "The server's disk is full.")
		room.set("ntfy", errors.New("no route to host"))
		note("it is full")
		same(t, "once, also who has a digest", told(), "eve@example.org: Failed: the disk: it is full\nroot@example.org: Failed: the disk: it is full")
		shown("unstored", "it is full")
		note("it is read-only")
		again()
		same(t, "not twice", told(), "")
		room.set("ntfy", nil)
		again()
		same(t, "whom it did not reach", told(), "ntfy: Failed: the disk: it is full")
		shown("another reason", "it is read-only")
		await(24 * time.Hour)
		again()
		same(t, "a day later", told(), all("Still failed: the disk: it is read-only"))
		again()
		same(t, "not twice a day", told(), "")
		if err := w.Server.Note(t.Context(), engine.ServerDisk, ""); !errs.Is(err, errs.Full) {
			t.Errorf("there is room, but nothing can be stored yet: %v", err)
		}
		shown("not over", "it is read-only")
		full = nil
		note("")
		same(t, "over", told(), "ntfy: Mended: the disk\nroot@example.org: Mended: the disk") // eve's is for her digest
		shown("over", "")
		await(24 * time.Hour)
		again()
		told()

		note("it is full")
		same(t, "with room for what is known", told(), "ntfy: Failed: the disk: it is full\nroot@example.org: Failed: the disk: it is full")
		shown("stored", "it is full")
	})
}
