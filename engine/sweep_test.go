package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// Queued cases start by priority, higher first, then in the order of their
// ids.
func TestQueueByPriority(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	sam := w.as("sam")
	for i, priority := range []int{200, 0, 65535, 200, 300} {
		sam.mustPutEntry("", fmt.Sprintf(`{"type": "simple", "date": "2012-11-09T13:00", "route": "auto", "priority": %d, "title": "%d"}`, priority, i))
	}
	s.seen()
	w.advanceTo("2012-11-09T13:00:00Z")
	var created, started []string
	title := map[int64]string{}
	for _, c := range w.cases() {
		title[sam.ref(c.get("id")).CaseID] = unquote(c.get("title"))
	}
	for _, wr := range s.seen() {
		switch wr.method {
		case "InsertCase":
			created = append(created, title[wr.caseID])
		case "UpdateCase":
			started = append(started, title[wr.caseID])
		}
	}
	same(t, "created", created, []string{"0", "1", "2", "3", "4"})
	same(t, "started", started, []string{"2", "4", "0", "3", "1"})
}

// A case that cannot start does not keep others from starting.
func TestCasesThatDoNotStart(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	w.mayBeUnsound = true
	sam := w.as("sam")
	w.as("admin").mustPutRoute("loop", routeLoop)

	// One that sets itself off without end has failed.
	id := sam.startCase(`{"route": "loop"}`)
	sam.caseForm(id).wants("state", `"failed"`, "status", "null", "enabledActions", "[]")
	log := sam.logTexts(id)
	if last := log[len(log)-1]; last != "life: Failed" || !strings.Contains(log[len(log)-2], "without end") {
		t.Errorf("log: %q", log)
	}

	// One that a defect keeps from starting stays queued; there may be many,
	// and of the highest priority.
	var stuck []int64
	w.update(func(tx store.Tx) error {
		stored, err := tx.Cases().Get(id)
		for range 300 {
			if err != nil {
				return err
			}
			c := *stored
			c.ID, c.State, c.Priority, c.Marking = w.db.NextID(), "queued", 9999, []byte("{")
			stuck = append(stuck, c.ID)
			err = tx.Write().Cases().Insert(&c)
		}
		return err
	})
	for range 2 { // what is due with others waits in the queue
		sam.mustPutEntry("", `{"type": "interval", "minutes": 1, "route": "auto"}`)
	}
	if done := w.advance(3 * time.Minute); done.Fired != 6 || !done.Complete {
		t.Errorf("%+v", done)
	}
	completed := 0
	for _, c := range w.cases() {
		if c.get("state") == `"completed"` {
			completed++
		}
	}
	same(t, "completed", completed, 6)
	same(t, "lines in the server's log", w.log.count("could not start a queued case"), len(stuck))
	sam.caseForm(sam.startCase(`{"route": "auto"}`)).wants("state", `"completed"`)
}

// The clock moves through every due instant in order, whatever is due.
func TestAdvanceInOrder(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	sam := w.as("sam")
	w.as("admin").mustPutRoute("timed", routeTimed)
	id := sam.startCase(`{"route": "timed"}`) // due at 14:34:56, 16:34:56, …
	sam.mustPutEntry("", `{"type": "interval", "hours": 1, "date": "2012-11-09T13:34:56", "route": "auto"}`)
	sam.mustPutEntry("", `{"type": "simple", "date": "2012-11-09T16:34", "route": "auto"}`)
	s.seen()
	done := w.advanceTo("2012-11-09T17:00:00Z")
	same(t, "advanced", done, engine.Advanced{Now: instant("2012-11-09T17:00:00Z"), Fired: 7, Complete: true})
	var order []string
	for _, wr := range s.seen() {
		switch row := wr.row.(type) {
		case *store.Occurrence:
			order = append(order, row.Instant.Format("15:04:05")+" entry")
		case *store.Case:
			if wr.method == "UpdateCase" && wr.caseID == id {
				order = append(order, row.Modified.Format("15:04:05")+" case")
			}
		}
	}
	same(t, "order", order, []string{
		"13:34:56 entry", "14:34:56 entry", "14:34:56 case", "15:34:56 entry", "16:34:00 entry", "16:34:56 entry", "16:34:56 case",
	})
	for _, c := range w.cases()[1:] { // created and finished at their instants
		same(t, "completed", c.get("completed"), c.get("scheduledFor"))
	}
	w.advance(24 * time.Hour)
	sam.caseForm(id).wants("state", `"completed"`, "completed", `"2012-11-10T12:34:56Z"`)
	log := sam.logTexts(id)
	same(t, "log", log[len(log)-2:], []string{"action: Expired", "life: Completed"})
}

// What a firing makes due comes before what was due later, also where both
// were missed.
func TestMissedInOrder(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	sam := w.as("sam")
	sam.mustPutEntry("", `{"type": "interval", "seconds": 10, "route": "auto"}`)
	sam.mustPutEntry("", `{"type": "interval", "seconds": 25, "route": "auto"}`)
	s.seen()
	w.clock.Set(w.clock.Now().Add(50 * time.Second))
	w.advance(0)
	var order []string
	for _, wr := range s.seen() {
		if o, is := wr.row.(*store.Occurrence); is {
			order = append(order, strconv.Itoa(int(o.Instant.Sub(instant(start)).Seconds())))
		}
	}
	same(t, "instants", order, []string{"10", "20", "25", "30", "40", "50", "50"})
}

func TestAdvanceIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.config = func(c *engine.Config) { c.Firings = 5 } })
	sam := w.as("sam")
	out := sam.mustPutEntry("", `{"type": "interval", "minutes": 1, "route": "auto"}`)
	end := w.clock.Now().Add(7 * time.Minute)
	done := try(w.Advance(t.Context(), to(end), w.clock.Set)).must(w, "advance")
	same(t, "advanced", done, engine.Advanced{Now: instant("2012-11-09T12:39:56Z"), Fired: 5})
	same(t, "clock", w.clock.Now(), done.Now)
	done = try(w.Advance(t.Context(), to(end), w.clock.Set)).must(w, "advance")
	same(t, "advanced", done, engine.Advanced{Now: end, Fired: 2, Complete: true})
	same(t, "occurrences", len(sam.occurrences(out.Name)), 7)

	// At one instant as well.
	for range 7 {
		sam.mustPutEntry("", `{"type": "simple", "date": "2012-11-09T12:42:00", "route": "auto"}`)
	}
	end = instant("2012-11-09T12:42:00Z")
	done = try(w.Advance(t.Context(), to(end), w.clock.Set)).must(w, "advance")
	same(t, "advanced", done, engine.Advanced{Now: end, Fired: 5})
	done = try(w.Advance(t.Context(), to(end), w.clock.Set)).must(w, "advance")
	same(t, "advanced", done, engine.Advanced{Now: end, Fired: 2, Complete: true})
	same(t, "cases", len(w.cases()), 14)
}

func TestClockMovesForwardAndIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.Advance(t.Context(), to(w.clock.Now().Add(-time.Millisecond)), w.clock.Set)
	w.refused(err, errs.Invalid)
	same(t, "clock", w.clock.Now(), instant(start))
	w.as("sam").mustPutEntry("", `{"type": "interval", "minutes": 1, "route": "auto"}`)

	kept := func() time.Time { return try(engine.SandboxClock(t.Context(), w.db)).must(w, "the kept clock") }
	if at := kept(); !at.IsZero() {
		t.Errorf("a new sandbox stands at %s", at)
	}
	w.advance(90*time.Second + 500*time.Microsecond)
	same(t, "kept", kept(), instant("2012-11-09T12:36:26Z"))

	// A move that is cut short keeps what it fired: nothing is fired after
	// the clock of a sandbox that was killed.
	ctx, cancel := context.WithCancel(t.Context())
	_, err = w.Advance(ctx, to(w.clock.Now().Add(time.Hour)), func(now time.Time) {
		w.clock.Set(now)
		if now.Equal(instant("2012-11-09T12:40:56Z")) {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled move: %v", err)
	}
	at := kept()
	for _, c := range w.cases() {
		if created := instant(unquote(c.get("created"))); created.After(at) {
			t.Errorf("a case was created at %s, and the clock is kept at %s", created, at)
		}
	}
	same(t, "kept", at, instant("2012-11-09T12:39:56Z"))
	w.reopen()
	same(t, "kept", kept(), at)
}

// In a sandbox what a request makes due is done before its answer.
func TestRequestsSettle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	running, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := w.Engine.Run(running); err != nil {
			t.Error(err)
		}
	})
	for i := range 50 {
		sam.mustPutEntry("", `{"type": "interval", "minutes": 1, "date": "`+start+`", "repeat": 1, "route": "auto"}`)
		cases := w.cases()
		if len(cases) != i+1 || cases[i].get("state") != `"completed"` {
			t.Fatalf("%d cases after %d requests: %s", len(cases), i+1, cases[len(cases)-1].text)
		}
	}
	stop()
	wg.Wait()
}

// What was created and not started, when a process ended, the next starts.
func TestQueuedCasesSurvive(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	sam := w.as("sam")
	out := sam.mustPutEntry("nightly.json", every)
	sam.mustPutEntry("another.json", every) // what is due with others waits for them
	s.before = func(wr write) error {
		if wr.method == "UpdateCase" {
			return unavailable()
		}
		return nil
	}
	if _, err := w.Advance(t.Context(), to(instant("2012-11-09T12:36:56Z")), w.clock.Set); !errs.Is(err, errs.Unavailable) {
		t.Fatal(err)
	}
	for _, c := range w.cases() {
		c.wants("state", `"queued"`)
	}
	s.before = nil
	w.reopen()
	// A case of a person does not overtake them: it is started with them.
	id := w.as("sam").startCase(`{"route": "auto"}`)
	same(t, "cases", len(w.cases()), 3)
	for _, c := range w.cases() {
		c.wants("state", `"completed"`)
	}
	sam = w.as("sam")
	sam.caseForm(id).wants("state", `"completed"`)
	same(t, "occurrences", sam.occurrences(out.Name), []string{"fired 2012-11-09T12:36:56Z"})
}

// realTime opens a world of real time, for use in a bubble of synctest, and runs
// it until stop is called.
func realTime(t *testing.T, options ...func(*world)) (w *world, stop func()) {
	t.Helper()
	w = newWorld(t, append(options, func(w *world) {
		inner := w.config
		w.config = func(c *engine.Config) {
			c.Sandbox, c.Clock = false, clock.Real{}
			if inner != nil {
				inner(c)
			}
		}
	})...)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := w.Engine.Run(ctx); err != nil && !errors.Is(err, engine.ErrDeliveriesCut) {
			t.Error(err)
		}
	})
	return w, func() {
		cancel()
		wg.Wait()
		w.stop()
	}
}

// await lets time pass, and everything that it sets off.
func await(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
	synctest.Wait()
}

// The loop itself, over days that pass in a moment.
func TestLoopSleepsUntilTheNextDueTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, stop := realTime(t)
		defer stop()
		sam := w.as("sam")
		begun := clock.Real{}.Now()
		w.clock.Set(begun) // what requests say
		hourly := sam.mustPutEntry("hourly.json", `{"type": "interval", "hours": 1, "route": "auto"}`)
		await(10 * time.Second)

		// Idle, it asks the store nothing.
		before := w.db.Stats().Statements
		await(50 * time.Minute)
		same(t, "statements while idle", w.db.Stats().Statements-before, 0)

		// An earlier due time wakes it.
		w.clock.Set(clock.Real{}.Now())
		soon := sam.mustPutEntry("", `{"type": "interval", "seconds": 30, "repeat": 1, "route": "auto"}`)
		await(31 * time.Second)
		same(t, "occurrences", len(sam.occurrences(soon.Name)), 1)

		await(3*24*time.Hour - 51*time.Minute)
		same(t, "occurrences", len(sam.occurrences(hourly.Name)), 71)
		for _, o := range w.cases() {
			o.wants("state", `"completed"`)
			created, due := instant(unquote(o.get("created"))), instant(unquote(o.get("scheduledFor")))
			if late := created.Sub(due); late < 0 || late > time.Second {
				t.Errorf("%s was created at %s", due, created)
			}
		}
	})
}

// A store that fails is asked again after a while, not at once and for ever.
func TestRunWhenTheStoreFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &spy{}
		w, stop := realTime(t, spied(s))
		defer stop()
		sam := w.as("sam")
		w.clock.Set(clock.Real{}.Now())
		out := sam.mustPutEntry("", `{"type": "interval", "minutes": 1, "repeat": 1, "route": "auto"}`)
		s.mu.Lock()
		s.before = func(write) error { return unavailable() }
		s.mu.Unlock()
		s.seen()
		await(time.Minute + 10*time.Second)
		if n := len(s.seen()); n < 5 || n > 15 {
			t.Errorf("%d attempts in 10 seconds", n)
		}
		s.mu.Lock()
		s.before = nil
		s.mu.Unlock()
		await(2 * time.Second)
		same(t, "occurrences", len(sam.occurrences(out.Name)), 1)
		same(t, "cases", len(w.cases()), 1)
		w.cases()[0].wants("state", `"completed"`)
		lines := w.log.count("sweeper: failed")
		if lines < 1 || lines > 2 || w.log.count("sweeper: goes on") != 1 {
			t.Errorf("%d lines in the server's log, which are to be one a minute: %v", lines, w.log.lines)
		}
	})
}

// A person's case is active when its PUT answers; while others wait it takes
// its turn.
func TestStartsAtOnceWhenIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, stop := realTime(t)
		defer stop()
		synctest.Wait()
		sam := w.as("sam")
		w.clock.Set(clock.Real{}.Now())
		out := sam.mustPutCase("", `{"route": "ask"}`)
		same(t, "state", string(out.Life), "active")
	})
}

func TestAdvanceByManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	const entries = 600 // more than a batch
	var names []string
	for range entries {
		names = append(names, sam.mustPutEntry("", `{"type": "interval", "minutes": 1, "date": "2012-11-09T13:00:00", "repeat": 2, "route": "auto"}`).Name)
	}
	var wg sync.WaitGroup
	fired := make([]int, 4)
	for i := range fired {
		wg.Go(func() {
			done, err := w.Advance(t.Context(), to(instant("2012-11-09T13:01:00Z")), w.clock.Set)
			if err != nil || !done.Complete {
				t.Errorf("%+v, %v", done, err)
			}
			fired[i] = done.Fired
		})
	}
	wg.Wait()
	slices.Sort(fired)
	same(t, "fired", fired, []int{0, 0, 0, 2 * entries})
	same(t, "cases", len(w.cases()), 2*entries)
	for _, name := range names {
		if got := sam.occurrences(name); len(got) != 2 {
			t.Fatalf("%s: %q", name, got)
		}
	}
}

// A long move keeps no request waiting for its end.
func TestRequestsWhileTheClockMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	const minutes = 400
	long := sam.mustPutEntry("", `{"type": "interval", "minutes": 1, "route": "auto"}`)
	last := w.clock.Now().Add(minutes * time.Minute)
	var answered atomic.Pointer[time.Time]
	var wg sync.WaitGroup
	begun := false
	done := try(w.Advance(t.Context(), to(last), func(now time.Time) {
		w.clock.Set(now)
		if begun {
			return
		}
		begun = true
		wg.Go(func() {
			out, err := sam.putCase("", `{"route": "auto"}`)
			at := w.clock.Now()
			answered.Store(&at)
			if err != nil || !out.Created {
				t.Errorf("%+v, %v", out, err)
			}
		})
	})).must(w, "advance")
	wg.Wait()
	same(t, "complete", done.Complete, true)
	same(t, "occurrences", len(sam.occurrences(long.Name)), minutes)
	if at := answered.Load(); !at.Before(last) {
		t.Error("the request was answered after the move")
	}
	same(t, "clock", w.clock.Now(), last)
	seen := map[string]bool{}
	for _, c := range w.cases() {
		key := c.get("scheduleUUID") + c.get("scheduledFor")
		if seen[key] {
			t.Errorf("an instant fired twice: %s", key)
		}
		seen[key] = true
		c.wants("state", `"completed"`)
	}
}

// Two moves by some minutes each move by the sum of both.
func TestMovesAddUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out := w.as("sam").mustPutEntry("", `{"type": "interval", "minutes": 1, "route": "auto"}`)
	begun := w.clock.Now()
	const moves, minutes = 5, 7
	var wg sync.WaitGroup
	for range moves {
		wg.Go(func() {
			done, err := w.Advance(t.Context(), func(now time.Time) (time.Time, error) { return now.Add(minutes * time.Minute), nil }, w.clock.Set)
			if err != nil || !done.Complete || done.Fired != minutes {
				t.Errorf("%+v, %v", done, err)
			}
		})
	}
	wg.Wait()
	same(t, "clock", w.clock.Now(), begun.Add(moves*minutes*time.Minute))
	same(t, "occurrences", len(w.as("sam").occurrences(out.Name)), moves*minutes)
	_, err := w.Advance(t.Context(), func(time.Time) (time.Time, error) { return time.Time{}, broken() }, w.clock.Set)
	w.refused(err, errs.Internal)
}
