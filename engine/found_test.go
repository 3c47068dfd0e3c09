package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/engine"
	"flowdrive/engine/outbox"
)

// countedOutside is an outside that takes everything, and counts it.
type countedOutside struct {
	outbox.Nowhere
	delivered *atomic.Int64
}

// Deliver implements outbox.Outside.
func (o countedOutside) Deliver(context.Context, *outbox.Delivery) (*outbox.Reply, error) {
	o.delivered.Add(1)
	return nil, nil
}

// RefusesAddress implements outbox.Outside.
func (countedOutside) RefusesAddress(string) string { return "" }

// TestSandboxOfWhatWasToBeSent: what waits in the outbox of a real server is recorded by a sandbox
// that is made of it, and not sent.
func TestSandboxOfWhatWasToBeSent(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	w.as("sam").mustPutRoute("letters", `
access: {start: [everyone]}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, sideEffects: [{mail: {to: [ann], subject: Hello}}]}
  end: {in: [open], to: done, allowed: [everyone]}
`)
	id := w.as("sam").startCase(`{"route": "letters"}`)
	w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
	if waiting := len(w.outboxRows(outbox.MailLane)); waiting < 2 {
		t.Fatalf("%d mails wait, want that of the step and those of the task", waiting)
	}
	if err := engine.MakeSandbox(t.Context(), w.db); err != nil {
		t.Fatal(err)
	}
	var delivered atomic.Int64
	w.config = func(cfg *engine.Config) {
		cfg.Channels, cfg.Outside = engine.Channels{Mail: true}, countedOutside{delivered: &delivered}
		cfg.Log = zerolog.New(w.log)
	}
	w.reopen()
	w.advance(48 * time.Hour)
	same(t, "mails that were sent", delivered.Load(), 0)
	same(t, "mails that still wait", len(w.outboxRows(outbox.MailLane)), 0)
	recorded := slices.DeleteFunc(w.as("admin").logTexts(id), func(line string) bool { return !strings.Contains(line, "Recorded") })
	same(t, "what was recorded of the step", len(recorded), 1)
	if _, err := w.Found(t.Context(), w.clock.Now(), "", nil); err != nil {
		t.Errorf("the sandbox is refused: %v", err)
	}
	w.config = func(cfg *engine.Config) { cfg.Sandbox = false }
	w.stop()
	w.open()
	if _, err := w.Found(t.Context(), w.clock.Now(), "", nil); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("a real server opens the sandbox: %v", err)
	}
}
