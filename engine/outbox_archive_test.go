package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/clock"
	"flowdrive/engine"
)

// A case that is archived while something of it is on its way hears what
// became of it, and stays archived.
func TestDeliveredToTheArchive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{}
		outside.answer = func(context.Context, *engine.Delivery) (*engine.Reply, error) {
			timer := time.NewTimer(5 * time.Second)
			<-timer.C
			return &engine.Reply{MediaType: "text/plain", Content: []byte("late")}, nil
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
		if listed := names(w.Cases(t.Context(), sam.by(), engine.Filter{})); listed != "" {
			t.Errorf("listed: %s", listed)
		}
	})
}
