package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/clock"
)

// routeJob starts a command, with what the step has beside it, and ends with its
// answer.
func routeJob(step string) string {
	return `
access: {start: [everyone], read: [everyone]}
states: {running: {type: start}, done: {type: complete}}
actions:
  run: {trigger: init, sideEffects: [{exec: {command: sort, into: Answer` + step + `}}]}
  answer: {trigger: message, message: Answer, in: [running], to: done}
`
}

// exits ends every command with that exit status.
func exits(status int64) func(context.Context, *outbox.Delivery) (*outbox.Reply, error) {
	return func(_ context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
		return nil, &outbox.Failed{Kind: machine.FailureExit, Status: status, Output: "disk full", Err: &outbox.Final{Reason: fmt.Sprintf("%s ended with exit status %d: disk full", d.Exec.Name, status)}}
	}
}

func late(context.Context, *outbox.Delivery) (*outbox.Reply, error) {
	return nil, &outbox.Failed{Kind: machine.FailureTimeout, Err: &outbox.Final{Reason: "sort took longer than 2s"}}
}

// A command that fails has failed, and so has its case; one whose time is over is not
// started again. An administrator mends it by a retry of the action or of the entry
// in Worklist/Escalated/.
func TestACommandThatFailsIsFinal(t *testing.T) {
	t.Parallel()
	for _, way := range []func(context.Context, *outbox.Delivery) (*outbox.Reply, error){exits(3), exits(75), late} {
		synctest.Test(t, func(t *testing.T) {
			outside := &outsideWorld{answer: way}
			w, stop := realTime(t, reaching(outside, nil))
			defer stop()
			w.clock.Set(clock.Real{}.Now())
			admin, sam := w.as("admin"), w.as("sam")
			admin.mustPutRoute("job", routeJob(""))
			id := sam.startCase(`{"route": "job"}`)
			await(48 * time.Hour)
			same(t, "attempts", len(outside.seen()), 1)
			sam.caseForm(id).wants("state", `"failed"`, "status", `"running"`)
			name := strings.TrimPrefix(admin.work(engine.WorklistEscalated, engine.Filter{}), fmt.Sprintf("%d.", id))

			w.clock.Set(clock.Real{}.Now())
			admin.mustDo(id, "run", "retry")
			await(time.Second)
			same(t, "attempts", len(outside.seen()), 2)
			sam.caseForm(id).wants("state", `"failed"`)
			outside.set(replies(`{}`))
			w.clock.Set(clock.Real{}.Now())
			admin.mustDo(id, name, "retry")
			sam.caseForm(id).wants("state", `"active"`)
			await(time.Second)
			sam.caseForm(id).wants("state", `"completed"`, "status", `"done"`, "warnings", "[]")
		})
	}
}

// A step says when its command is run again. The log has each attempt.
func TestACommandIsRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{answer: exits(75)}
		w, stop := realTime(t, reaching(outside, nil))
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		sam := w.as("sam")
		w.as("admin").mustPutRoute("job", routeJob(`, retry: {times: 2, every: PT10M, backoff: 3}`))
		id := sam.startCase(`{"route": "job"}`)
		await(5 * time.Hour)
		outside.mu.Lock()
		at := outside.at
		outside.mu.Unlock()
		same(t, "attempts", len(at), 3)
		same(t, "the first pause", at[1].Sub(at[0]), 10*time.Minute)
		same(t, "the second pause", at[2].Sub(at[1]), 30*time.Minute)
		log := strings.Join(sam.logTexts(id), "\n")
		for n, want := range map[int]string{1: "Attempt 1 failed: exec: sort ended with exit status 75: disk full; again at ", 2: "Attempt 2 failed: exec: ", 3: "Not delivered: exec: sort ended with exit status 75: disk full"} {
			if strings.Count(log, want) != 1 {
				t.Errorf("attempt %d: the log is\n%s", n, log)
			}
		}
		sam.caseForm(id).wants("state", `"failed"`)
	})
}

// reboot begins another process on the data of a world whose own has lost its power
// between an attempt and its record.
func reboot(t *testing.T, w *world, outside *outsideWorld) (stop func()) {
	t.Helper()
	other := engine.New(engine.Config{Store: w.db, Clock: clock.Real{}, Outside: outside})
	if err := other.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = other.Run(ctx) })
	await(time.Second)
	return func() { cancel(); wg.Wait() }
}

// If the server ends between an attempt and its record, nobody knows whether the
// command did its work. It is run again only as often as its step says; services
// are called again, by the same key.
func TestServerEndsWhileACommandRuns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		route    string
		attempts []int // that have begun after each start of the server
		log      string
	}{
		"a command":              {routeJob(""), []int{1, 1, 1}, "Not delivered: exec: the server ended while it ran"},
		"a command with retries": {routeJob(`, retry: {times: 1, on: [timeout]}`), []int{1, 2, 2}, "Attempt 1 failed: exec: the server ended while it ran"},
		"a service":              {strings.Replace(routeJob(""), "{exec: {command: sort", `{http: {url: "https://api.example.org/"`, 1), []int{1, 2, 3}, "Attempt 2 failed: http: the server ended while it ran"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				hung := make(chan struct{})
				outside := &outsideWorld{answer: func(context.Context, *outbox.Delivery) (*outbox.Reply, error) {
					<-hung
					return nil, errors.New("the machine is gone")
				}}
				w, stop := realTime(t, reaching(outside, nil))
				w.clock.Set(clock.Real{}.Now())
				w.as("admin").mustPutRoute("job", test.route)
				id := w.as("sam").startCase(`{"route": "job"}`)
				await(time.Second)
				stops := []func(){stop}
				for i, want := range test.attempts {
					same(t, fmt.Sprintf("attempts after start %d", i+1), len(outside.seen()), want)
					stops = append(stops, reboot(t, w, outside))
				}
				log := strings.Join(w.as("sam").logTexts(id), "\n")
				if !strings.Contains(log, test.log) {
					t.Errorf("the log is\n%s", log)
				}
				if failed := strings.Contains(test.route, "exec"); failed {
					w.as("sam").caseForm(id).wants("state", `"failed"`)
				}
				for _, d := range outside.seen() {
					same(t, "key", d.Key, outside.seen()[0].Key)
				}
				close(hung)
				for _, stop := range stops[1:] {
					stop()
				}
				stop()
			})
		})
	}
}
