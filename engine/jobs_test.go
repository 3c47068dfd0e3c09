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
	"flowdrive/internal/errs"
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
			outside.set(func(context.Context, *outbox.Delivery) (*outbox.Reply, error) {
				<-time.After(time.Second / 2) // the case is looked at meanwhile
				return &outbox.Reply{MediaType: "application/json", Content: []byte(`{}`)}, nil
			})
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
func reboot(t *testing.T, w *world, outside outbox.Outside, channels engine.Channels) (stop func()) {
	t.Helper()
	other := engine.New(engine.Config{Store: w.db, Clock: clock.Real{}, Outside: outside, Channels: channels})
	if err := other.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = other.Run(ctx) })
	await(10 * time.Second) // longer than the pause after an attempt or two
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
		"a command that retries": {routeJob(`, retry: {times: 1, on: [timeout]}`), []int{1, 1, 1}, "Not delivered: exec: the server ended while it ran"},
		"a command with retries": {routeJob(`, retry: {times: 1, every: PT5S, on: [interrupted]}`), []int{1, 2, 2}, "Attempt 1 failed: exec: the server ended while it ran"},
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
					stops = append(stops, reboot(t, w, outside, engine.Channels{}))
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

// TestStopOfTheServerEndsACommand: a command that runs longer than a server that stops waits
// is not told as if it had failed by its own fault. The case says that the stop ended it and
// whether it is run again, Outbox/ says when, and the log how many were cut off.
func TestStopOfTheServerEndsACommand(t *testing.T) {
	t.Parallel()
	const forGood = "ended by the stop of the server, and not run again by itself: nobody knows what it had done by then"
	for name, test := range map[string]struct {
		retry    string
		attempts int
		log      string
		state    string
	}{
		"is not run again": {"", 1, "Not delivered: exec: " + forGood, `"failed"`},
		"is run again":     {", retry: {times: 1, every: PT5S, on: [interrupted]}", 2, "Attempt 1 failed: exec: ended by the stop of the server; again at ", `"completed"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				outside := &outsideWorld{answer: func(ctx context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
					if d.Attempt == 2 {
						return &outbox.Reply{MediaType: "application/json", Content: []byte("1")}, nil
					}
					<-ctx.Done()
					return nil, ctx.Err()
				}}
				w, stop := realTime(t, reaching(outside, nil))
				w.clock.Set(clock.Real{}.Now())
				w.as("admin").mustPutRoute("job", routeJob(test.retry))
				sam := w.as("sam")
				id := sam.startCase(`{"route": "job"}`)
				await(time.Second)
				closeStore, stopped := w.stop, clock.Real{}.Now().Add(6*time.Second).UTC().Format(time.RFC3339)
				w.stop = func() {}
				stop()
				same(t, "lines of the log", w.log.count(fmt.Sprintf(`"deliveries":1,"commands":1,"cases":[%d]`, id)), 1)
				await(time.Hour)
				again := reboot(t, w, outside, engine.Channels{})
				same(t, "attempts", len(outside.seen()), test.attempts)
				if log := strings.Join(sam.logTexts(id), "\n"); !strings.Contains(log, test.log) {
					t.Errorf("the log is\n%s", log)
				}
				sam.caseForm(id).wants("state", test.state)
				r, err := w.Cases.Delivery(t.Context(), sam.by(), id, "run.3-1")
				if err != nil {
					t.Fatal(err)
				}
				w.form(r.Form).wants("attempts/0/ended", fmt.Sprintf("%q", stopped))
				again()
				closeStore()
			})
		})
	}
}

// What became of each attempt is below Outbox/ of the case, also when it is over, and
// what a command writes is kept as messages while it runs.
func TestOutboxOfACase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{}
		outside.answer = func(_ context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
			d.Wrote(outbox.Output{Stdout: []byte("begun\n")})
			await := time.NewTimer(time.Minute)
			<-await.C
			d.Wrote(outbox.Output{Stdout: []byte("begun\ndone\n"), Stderr: []byte("disk \xff full\n")})
			if d.Attempt < 2 {
				return nil, &outbox.Failed{Kind: machine.FailureExit, Status: 75, Output: "disk full", Err: &outbox.Final{Reason: "sort ended with exit status 75"}}
			}
			return &outbox.Reply{MediaType: "application/json", Content: []byte("1")}, nil
		}
		w, stop := realTime(t, reaching(outside, nil))
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutRoute("job", routeJob(`, retry: {times: 2, every: PT10M}`))
		sam := w.as("sam")
		id := sam.startCase(`{"route": "job"}`)
		await(10 * time.Second)
		shown := func(name string) form {
			t.Helper()
			r, err := w.Cases.Delivery(t.Context(), sam.by(), id, name)
			if err != nil {
				t.Fatal(err)
			}
			return w.form(r.Form)
		}
		all, err := w.Cases.Outbox(t.Context(), sam.by(), id)
		if err != nil || len(all) != 1 || all[0].Name != "run.3-1" {
			t.Fatalf("%v, %v", all, err)
		}
		shown("run.3-1").wants("state", `"running"`, "what", `"exec sort"`, "into", `"Answer"`, "result", "null", "next", "null", "count", "1", "attempts/0/ended", "null", "attempts/0/stdout", `"Stdout-3-1-1"`, "attempts/0/stderr", "null")
		same(t, "what it has written so far", sam.content(id, "Stdout-3-1-1"), "begun\n")
		page := func() *engine.CaseDetail {
			t.Helper()
			return try(w.Cases.CaseDetail(t.Context(), sam.by(), id, nil)).must(w, "its page")
		}
		if got := page(); len(got.Deliveries) != 1 || got.MoreDeliveries || got.Deliveries[0].State != outbox.StateRunning || got.Deliveries[0].Attempts[0].Stdout == nil {
			t.Errorf("the page has the deliveries %+v", got.Deliveries)
		}

		await(time.Minute)
		shown("run.3-1").wants("state", `"waiting"`, "result", `"sort ended with exit status 75"`, "attempts/0/kind", `"exit"`, "attempts/0/status", "75", "attempts/0/stderr", `"Stderr-3-1-1"`)
		wantsLines(t, try(sam.statusCase(id)).must(w, "its status"), "What commands wrote, and what services answered that failed (at most 20, newest last)\n",
			"/dav/Workflow/Cases/14/Labels/Stdout-3-1-1   11 bytes\n", "/dav/Workflow/Cases/14/Labels/Stderr-3-1-1   12 bytes\n")
		same(t, "what it has written", sam.content(id, "Stdout-3-1-1")+sam.content(id, "Stderr-3-1-1"), "begun\ndone\ndisk \xff full\n")
		if next := shown("run.3-1").get("next"); next == "null" {
			t.Error("it does not say when it is tried next")
		}
		await(12 * time.Minute)
		shown("run.3-1").wants("state", `"delivered"`, "result", `"delivered"`, "next", "null", "count", "2", "attempts/1/result", `"delivered"`, "attempts/1/kind", "null")
		sam.caseForm(id).wants("state", `"completed"`)

		_, err = w.Cases.Delivery(t.Context(), sam.by(), id, "run.3-2")
		w.refused(err, errs.NotFound)
		_, err = w.Cases.Outbox(t.Context(), w.as("eve").by(), id)
		w.refused(err, errs.NotFound)
	})
}

// A delivery that somebody gives up or retries says so; one of a sandbox that it was
// recorded.
func TestOutboxSaysHowItEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{answer: exits(3)}
		w, stop := realTime(t, reaching(outside, nil))
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		admin := w.as("admin")
		admin.mustPutRoute("job", routeJob(""))
		id := admin.startCase(`{"route": "job"}`)
		await(time.Second)
		state := func() string {
			t.Helper()
			r, err := w.Cases.Delivery(t.Context(), admin.by(), id, "run.3-1")
			if err != nil {
				t.Fatal(err)
			}
			return w.form(r.Form).get("state") + w.form(r.Form).get("count")
		}
		same(t, "failed", state(), `"failed"1`)
		w.clock.Set(clock.Real{}.Now())
		admin.mustDo(id, "run", "retry")
		switch got := state(); got { // the sweeper may have been here
		case `"waiting"1`, `"running"2`, `"failed"2`:
		default:
			t.Errorf("retried: %s", got)
		}
		await(time.Second)
		same(t, "failed again", state(), `"failed"2`)
		admin.mustDo(id, "run", "abort")
		same(t, "given up", state(), `"given up"2`)
	})
	w := newWorld(t, reaching(&outsideWorld{}, nil))
	w.as("admin").mustPutRoute("job", routeJob(""))
	id := w.as("admin").startCase(`{"route": "job"}`)
	r, err := w.Cases.Delivery(t.Context(), w.as("admin").by(), id, "run.3-1")
	if err != nil {
		t.Fatal(err)
	}
	w.form(r.Form).wants("state", `"recorded"`, "count", "0", "next", "null")
}

// The occurrence of an entry says what has become of its case.
func TestOccurrenceSaysWhatBecameOfItsCase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{answer: exits(3)}
		w, stop := realTime(t, reaching(outside, nil))
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutRoute("job", routeJob(""))
		sam := w.as("sam")
		entry := sam.mustPutEntry("nightly.json", `{"type": "interval", "hours": 1, "repeat": 2, "overlap": "skip", "route": "job"}`)
		await(150 * time.Minute)
		r, err := w.Schedules.Occurrences(t.Context(), sam.by(), sam.ref(entry.Name).Entry)
		if err != nil {
			t.Fatal(err)
		}
		// A case that has failed does not keep the next one from starting.
		w.form(r.Form).wants("0/outcome", `"fired"`, "0/state", `"failed"`, "0/status", `"running"`, "1/outcome", `"fired"`, "1/state", `"failed"`)
		wantsLines(t, try(sam.statusEntry("nightly.json")).must(w, "its status"),
			"   case 15, failed   ", "   case 14, failed   ", "2 of these 2 failed. The last one, at ", "its case has failed. /dav/Workflow/Status/cases/15.txt says why.")
	})
}

// TestCancelStopsCommands: to cancel a case, or to abort the action, ends its command.
// Nobody is told that this has failed (docs/contract/routes.md#what-is-canceled).
func TestCancelStopsCommands(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		retry string // "": the command runs when it is stopped; else it waits for another attempt
		stop  func(k *inbox, id int64)
		state string
		log   string
	}{
		{"case", "", func(k *inbox, id int64) { k.as("sam").mustPutCase(ref(id), `{"state": "canceled"}`) }, `"canceled"`, "Stopped: exec of run"},
		{"case that retries", ", retry: {times: 3, every: PT1H, on: [exit]}", func(k *inbox, id int64) { k.as("sam").mustPutCase(ref(id), `{"state": "canceled"}`) }, `"canceled"`, "Stopped: exec of run"},
		{"action", "", func(k *inbox, id int64) { k.as("dora").mustDo(id, "run", "abort") }, `"active"`, "Stopped: exec"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			source := strings.Replace(fmt.Sprintf(routeTrier, ""), "into: Answer}}", "into: Answer"+tt.retry+"}}", 1)
			withInbox(t, source, func(k *inbox) {
				runs, ended := 0, 0
				k.outside.set(func(ctx context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
					if d.Exec == nil {
						return nil, nil
					}
					if runs++; tt.retry == "" {
						<-ctx.Done()
						ended++
						return nil, ctx.Err()
					}
					return nil, &outbox.Failed{Kind: machine.FailureExit, Status: 1, Err: &outbox.Final{Reason: "exit status 1"}}
				})
				id := k.as("sam").startCase(`{"route": "job", "title": "One"}`)
				k.wait(time.Second)
				same(t, "runs", runs, 1)
				k.news()
				tt.stop(k, id)
				k.wait(48 * time.Hour)
				if tt.retry == "" {
					same(t, "ended", ended, 1)
				}
				same(t, "runs in the end", runs, 1)
				got, _ := k.news()
				for _, line := range got {
					if strings.Contains(strings.ToLower(line), "fail") {
						t.Errorf("told: %s", line)
					}
				}
				k.as("sam").caseForm(id).wants("state", tt.state)
				if log := strings.Join(k.as("sam").logTexts(id), "\n"); !strings.Contains(log, tt.log) {
					t.Errorf("log:\n%s", log)
				}
				rows := try(k.Cases.Outbox(k.Context(), k.as("sam").by(), id)).must(k.world, "outbox")
				k.form(rows[0].Form).wants("state", `"canceled"`, "next", "null")
				if strings.Contains(string(rows[0].Form), `"ended": null`) {
					t.Errorf("outbox: %s", rows[0].Form)
				}
			})
		})
	}
}

// The page of a case has what failed, however much was done since: first what has not ended,
// then the newest of the rest.
func TestDeliveriesOfAPage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{answer: func(ctx context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
			if len(d.Exec.Args) == 0 {
				fails := time.NewTimer(time.Minute)
				<-fails.C
				return exits(3)(ctx, d)
			}
			return &outbox.Reply{MediaType: "application/json", Content: []byte("1")}, nil
		}}
		w, stop := realTime(t, reaching(outside, nil))
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutRoute("job", strings.Replace(routeJob(""), "actions:", `actions:
  more: {in: [running], allowed: everyone, sideEffects: [`+strings.TrimSuffix(strings.Repeat(`{exec: {command: sort, args: [-n]}}, `, 11), ", ")+`]}`, 1))
		sam := w.as("sam")
		id := sam.startCase(`{"route": "job"}`)
		await(time.Second)
		sam.mustPerform(id, "more")
		await(5 * time.Minute)
		got := try(w.Cases.CaseDetail(t.Context(), sam.by(), id, nil)).must(w, "its page")
		if len(got.Deliveries) != 10 || !got.MoreDeliveries || got.Deliveries[0].Name != "run.3-1" || got.Deliveries[0].State != outbox.StateFailed {
			t.Fatalf("the page has %d deliveries, more %t, first %+v", len(got.Deliveries), got.MoreDeliveries, got.Deliveries[0])
		}
		for _, j := range got.Deliveries[1:] {
			if j.Action != "more" || j.Open() {
				t.Errorf("after it is %+v", j)
			}
		}
	})
}
