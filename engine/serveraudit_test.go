package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// TestServerVerifiesTheAuditLog: administrators are told once that the audit log is not as it
// was written, daily, and once when it is; the whole log is read once a day
// (docs/contract/storage.md#9-the-chain-of-the-audit-log).
func TestServerVerifiesTheAuditLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := &mailRoom{down: map[string]error{}}
		room.answer = room.deliver
		w, stop := realTime(t, func(w *world) {
			w.config = func(c *engine.Config) { c.Outside, c.Channels = room, engine.Channels{Mail: true} }
		})
		defer stop()
		w.as("admin").mustPutParty(identity.User, "admin", `{"email": "root@example.org"}`)
		parts := 0
		verify := func() (told string) {
			w.clock.Set(clock.Real{}.Now())
			parts = 0
			if err := w.Server.VerifyAudit(t.Context(), func(context.Context) error { parts++; return nil }); err != nil {
				t.Fatal(err)
			}
			if err := w.Server.Again(t.Context()); err != nil {
				t.Fatal(err)
			}
			await(time.Second)
			room.mu.Lock()
			defer room.mu.Unlock()
			told, room.told = strings.Join(room.told, "\n"), nil
			return told
		}
		setNumber := func(to int64) {
			w.update(func(tx store.Tx) error {
				head, err := tx.Audit().Head()
				if err != nil {
					return err
				}
				head.Number += to
				return tx.Write().Audit().PutHead(head)
			})
		}
		same(t, "as it was written", verify(), "")
		if parts == 0 {
			t.Error("the whole log was not read at first")
		}
		same(t, "as it was written, again", verify(), "")
		same(t, "parts of the log that were read on the same day", parts, 0)
		setNumber(1)
		if told := verify(); !strings.HasPrefix(told, "root@example.org: Failed: the audit log: line ") || strings.Contains(told, "\n") {
			t.Errorf("told %q", told)
		}
		same(t, "not twice", verify(), "")
		if status := try(w.Server.Status(t.Context(), w.as("admin").by())).must(w, "the status"); !strings.Contains(string(status.Form), `"part": "audit"`) {
			t.Errorf("status: %s", status.Form)
		}
		if wrong, err := w.Server.Wrong(t.Context()); err != nil || !wrong[engine.ServerAudit] || wrong[engine.ServerBackup] {
			t.Errorf("wrong: %v, %v", wrong, err)
		}
		await(24 * time.Hour)
		if told := verify(); !strings.HasPrefix(told, "root@example.org: Still failed: the audit log: line ") {
			t.Errorf("a day later: told %q", told)
		}
		setNumber(-1)
		same(t, "the newest part alone does not end it", verify(), "")
		await(24 * time.Hour)
		same(t, "over", verify(), "root@example.org: Mended: the audit log")
	})
}
