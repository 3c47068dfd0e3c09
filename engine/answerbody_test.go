package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

const routeAnswerBody = `
access: {start: [everyone]}
states: {open: {type: start}, asked: {}, done: {type: complete}}
actions:
  begin: {trigger: init, to: asked, sideEffects: [{http: {url: "https://api.example.org/orders", value: {id: 1}, into: Answer}}]}
  end: {trigger: message, message: Answer, in: [asked], to: done}
`

// TestAnswerOfFailedRequest: what a service answers with an error is a message of the case,
// that of the last attempt; the journal and the status file name it.
func TestAnswerOfFailedRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{}
		outside.set(func(_ context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
			body := &outbox.Reply{MediaType: "application/json", Content: []byte(`{"attempt": ` + string(rune('0'+d.Attempt)) + `}`)}
			if d.Attempt < 3 {
				return nil, &outbox.Failed{Kind: machine.FailureStatus, Status: 503, Body: body, Err: errors.New("answered 503")}
			}
			return nil, &outbox.Failed{Kind: machine.FailureStatus, Status: 400, Body: body, Err: &outbox.Final{Reason: "answered 400"}}
		})
		w, stop := realTime(t, reaching(outside, nil))
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutRoute("ask-service", routeAnswerBody)
		sam := w.as("sam")
		id := sam.startCase(`{"route": "ask-service"}`)
		await(24 * time.Hour)
		sam.caseForm(id).wants("state", `"failed"`)
		all := try(w.Cases.Outbox(t.Context(), sam.by(), id)).must(w, "the outbox")
		journal := w.form(all[0].Form)
		label := unquote(journal.get("attempts/2/body"))
		journal.wants("attempts/0/body", "absent", "attempts/1/body", "absent", "attempts/2/status", "400")
		same(t, "the answer", sam.content(id, label), `{"attempt": 3}`)
		if text := try(sam.statusCase(id)).must(w, "its status"); !strings.Contains(text, "/Labels/"+label) {
			t.Errorf("the status file does not name %s: %s", label, text)
		}
		_, err := sam.putLabel(id, label, "mine")
		w.kind("the engine writes it", err, errs.NotAllowed)
	})
}

// TestAnswerWithoutRoom: an answer for which the quota of the starter has no room is not kept;
// the case says all the same what has failed.
func TestAnswerWithoutRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{}
		outside.set(func(context.Context, *outbox.Delivery) (*outbox.Reply, error) {
			body := &outbox.Reply{MediaType: "text/plain", Content: []byte(strings.Repeat("x", 5000))}
			return nil, &outbox.Failed{Kind: machine.FailureStatus, Status: 400, Body: body, Err: &outbox.Final{Reason: "answered 400"}}
		})
		w, stop := realTime(t, reaching(outside, nil), withRoomFor(4000))
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutRoute("ask-service", routeAnswerBody)
		sam := w.as("sam")
		id := sam.startCase(`{"route": "ask-service"}`)
		await(time.Hour)
		sam.caseForm(id).wants("state", `"failed"`)
		w.form(try(w.Cases.Outbox(t.Context(), sam.by(), id)).must(w, "the outbox")[0].Form).wants("attempts/0/body", "absent", "attempts/0/result", `"answered 400"`)
		w.view(func(r store.Reader) error {
			messages, err := r.Cases().Messages().List(id)
			for _, m := range messages {
				if m.Size > 0 {
					t.Errorf("%s is kept", m.Label)
				}
			}
			return err
		})
	})
}

// withRoomFor gives each user a quota, beside what else is set.
func withRoomFor(bytes int64) func(*world) {
	return func(w *world) {
		inner := w.config
		w.config = func(c *engine.Config) {
			inner(c)
			c.Limits.Quota = bytes
		}
	}
}
