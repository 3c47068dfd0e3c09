package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
)

// A case that is archived while something of it is on its way hears what
// became of it, and stays archived.
func TestDeliveredToTheArchive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{}
		outside.answer = func(context.Context, *outbox.Delivery) (*outbox.Reply, error) {
			timer := time.NewTimer(5 * time.Second)
			<-timer.C
			return &outbox.Reply{MediaType: "text/plain", Content: []byte("late")}, nil
		}
		w, stop := realTime(t, reaching(outside, nil))
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutRoute("last", `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}, done: {type: complete}}
actions: {begin: {trigger: init, to: done, sideEffects: [{http: {url: "https://api.example.org/", into: Answer}}]}}
`)
		sam := w.as("sam")
		out := sam.mustPutCase("", `{"route": "last"}`)
		await(time.Second)
		if err := sam.deleteCase(out.Name); err != nil {
			t.Fatal(err)
		}
		await(time.Minute)
		same(t, "the answer", sam.content(out.CaseID, "Answer"), "late")
		if log := strings.Join(sam.logTexts(out.CaseID), "\n"); !strings.Contains(log, "Delivered: http, wrote Answer") {
			t.Errorf("the log is\n%s", log)
		}
		if listed := names(w.Cases.Cases(t.Context(), sam.by(), engine.Filter{})); listed != "" {
			t.Errorf("listed: %s", listed)
		}
	})
}

// What was not delivered stays with a case that is canceled, where it can be
// retried. In the archive it is on no worklist and nobody's to change; it is
// back when the case is reopened.
func TestUndeliveredInTheArchive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{}
		outside.set(func(context.Context, *outbox.Delivery) (*outbox.Reply, error) {
			return nil, &outbox.Final{Reason: "no"}
		})
		w, stop := realTime(t, reaching(outside, nil))
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		admin, sam := w.as("admin"), w.as("sam")
		admin.mustPutRoute("hook", `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, sideEffects: [{http: {url: "https://api.example.org/"}}], to: done}
`)
		out := sam.mustPutCase("", `{"route": "hook"}`)
		id := out.CaseID
		await(time.Second)
		listed := admin.work(engine.WorklistEscalated, engine.Filter{})
		_, name, _ := strings.Cut(listed, ".")
		const warned = `"Not delivered: http: no"`

		admin.mustDo(id, name, "retry")
		await(time.Second)
		same(t, "attempts", len(outside.seen()), 2)
		same(t, "escalated of the completed case", admin.work(engine.WorklistEscalated, engine.Filter{}), listed)
		sam.caseForm(id).wants("state", `"completed"`, "warnings/0/text", warned)

		if _, err := admin.putCase(out.Name, `{"do": "archive"}`); err != nil {
			t.Fatal(err)
		}
		same(t, "escalated of the archived case", admin.work(engine.WorklistEscalated, engine.Filter{}), "")
		for _, do := range []string{"retry", "abort"} {
			w.refused(admin.do(id, name, do), errs.ReadOnly)
		}
		await(time.Hour)
		same(t, "attempts", len(outside.seen()), 2)
	})
}
