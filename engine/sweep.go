package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	// batch is how many due rows are taken at once.
	batch = 256
	// longestSleep bounds a wait, so that a machine's clock that was set
	// forward is noticed. Waking costs no query while nothing is due.
	longestSleep = 30 * time.Second
	// retryAfter is the wait after the store failed.
	retryAfter = time.Second
	// saidFailed is how often the log says that it fails.
	saidFailed = time.Minute
)

// sweeper knows when something is due next, so that nothing polls: the
// index on the due times is the heap, and memory holds only its head.
type sweeper struct {
	next   clock.Earliest // the earliest due time
	outbox clock.Earliest // the same of the outbox, as far as its deliveries could be begun
	queued atomic.Bool    // cases may be waiting to be started
	crowd  atomic.Bool    // mails wait until all cases have followed a change of a user or team
	wake   chan struct{}

	// mu is held while things are fired and started: two at a time would
	// take the head of the due times away from each other. A move of the
	// sandbox clock holds it for one instant at a time, so that requests,
	// which settle under it, are answered on the way; moves is held for the
	// whole of it, so that moves come one after the other.
	mu     sync.Mutex
	moves  sync.Mutex
	stuck  blockedCases
	aside  asides
	failed time.Time  // when the log said last that a round has failed, zero if none has since; under mu
	turn   store.Lane // from which a case was started last; under mu
}

// note says that something is due then.
func (s *sweeper) note(due time.Time) {
	if !due.IsZero() && s.next.Lower(due) {
		s.rouse()
	}
}

// head returns the earliest due time of all, zero for none.
func (s *sweeper) head() time.Time {
	next, outbox := s.next.At(), s.outbox.At()
	if next.IsZero() || !outbox.IsZero() && outbox.Before(next) {
		return outbox
	}
	return next
}

// noteQueued says that a case was queued.
func (s *sweeper) noteQueued() {
	s.queued.Store(true)
	s.rouse()
}

// passesOver reports whether a queued case is not to be started now: a defect keeps it
// from that, or it is being started beside the sweeper.
func (s *sweeper) passesOver(id int64) bool { return s.stuck.has(id) || s.aside.has(keyOfQueued(id)) }

func (s *sweeper) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// due reports whether there is something to do at now.
func (s *sweeper) due(now time.Time) bool {
	return s.queued.Load() || s.next.Reached(now) || s.outbox.Reached(now)
}

// loadSweeper reads the head of the due times at start, and whether cases
// wait.
func (e *Engine) loadSweeper(r store.Reader) error {
	next, err := r.Queue().NextDue()
	if err != nil {
		return err
	}
	waiting, err := r.Queue().Lanes()
	if err != nil {
		return err
	}
	lanes, err := r.Outbox().Lanes()
	if err != nil {
		return err
	}
	e.sweeper.next.Forget()
	e.sweeper.outbox.Forget()
	e.sweeper.note(next)
	for _, lane := range lanes {
		e.dispatcher.Note(lane.Due)
	}
	e.sweeper.queued.Store(len(waiting) > 0)
	return nil
}

// EarliestDue returns the earliest instant at which something of anybody is due, the zero time for
// none.
func (e *Engine) EarliestDue(ctx context.Context) (at time.Time, err error) {
	err = e.Store.View(ctx, func(r store.Reader) error {
		at, err = r.Queue().NextDue()
		return err
	})
	return at, err
}

// ErrDeliveriesCut is in the error of Engine.Run if deliveries were cut off.
var ErrDeliveriesCut = errors.New("cut off when the server stopped")

// Run fires what becomes due until ctx ends. In a sandbox time stands still:
// it only finishes what was left, and requests do the rest.
//
// The error is ErrDeliveriesCut if deliveries were under way that did not end in
// some seconds.
func (e *Engine) Run(ctx context.Context) (err error) {
	var collecting sync.WaitGroup
	collecting.Go(func() { e.collectWhenRoused(ctx) })
	collecting.Go(func() { e.audit.Run(ctx) })
	collecting.Go(func() { e.finishLeft(ctx) })
	collecting.Go(func() { e.Files.DeleteExpired(ctx) })
	collecting.Go(func() { e.Scratch.DeleteExpired(ctx) })
	defer collecting.Wait()
	defer e.sweeper.aside.all.Wait()
	drain := e.dispatcher.Begin(ctx)
	defer func() {
		if cut := drain(); cut.Deliveries > 0 {
			e.log.Warn().Int("deliveries", cut.Deliveries).Int("commands", cut.Commands).Ints64("cases", cut.Cases).Msg("outbox: cut off the deliveries that had not ended when the server stopped; at the next start requests and mails are sent again, and commands are run again if their step lists interrupted in retry.on, else their cases have failed")
			err = fmt.Errorf("deliveries %w: %d, of which commands: %d", ErrDeliveriesCut, cut.Deliveries, cut.Commands)
		}
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.sweeper.wake:
		case <-timer.C:
		}
		timer.Reset(e.sweep(ctx))
	}
}

// sweep does one round of what is due now, and returns how long nothing else
// will be due. Time goes on while cases are started. Each round asks the clock
// again, so that what becomes due does not wait for all of them.
func (e *Engine) sweep(ctx context.Context) (wait time.Duration) {
	e.sweeper.mu.Lock()
	defer e.sweeper.mu.Unlock()
	if err := e.turnRound(ctx, e.Clock.Now()); err != nil {
		if now := e.Clock.Now(); ctx.Err() == nil && (e.sweeper.failed.IsZero() || now.Sub(e.sweeper.failed) >= saidFailed || now.Before(e.sweeper.failed)) {
			e.sweeper.failed = now
			e.log.Error().Err(err).Msg("sweeper: failed; it will try again")
		}
		return retryAfter
	}
	if !e.sweeper.failed.IsZero() {
		e.sweeper.failed = time.Time{}
		e.log.Info().Msg("sweeper: goes on")
	}
	now := e.Clock.Now()
	switch {
	case e.sweeper.due(now):
		return 0
	case e.sandbox || e.sweeper.head().IsZero():
		return longestSleep
	}
	return min(e.sweeper.head().Sub(now), longestSleep)
}

// turnRound fires one batch of what is due and starts one batch of what is queued. What
// becomes due meanwhile is looked for before the next: if more is due than can be done,
// nobody waits for what others have left undone.
func (e *Engine) turnRound(ctx context.Context, now time.Time) error {
	fired, _, err := e.round(ctx, now, batch)
	if err != nil || fired < batch {
		return err
	}
	_, err = e.startQueue(ctx, now)
	return err
}

// runOnce does everything that is due at now: due rows in order, then queued
// cases by priority, until nothing is left or so many rows were fired as the
// limit says. It returns how many. Starts are bounded as well: cases that
// start each other by way of the queue could go on for ever. The sweeper's
// lock must be held.
func (e *Engine) runOnce(ctx context.Context, now time.Time, limit int) (fired int, err error) {
	for started := 0; fired < limit && started < e.firings && e.sweeper.due(now); {
		n, starts, err := e.round(ctx, now, limit-fired)
		fired, started = fired+n, started+starts
		if err != nil {
			return fired, err
		}
	}
	return fired, nil
}

// round fires the due rows, at most limit, then starts a batch of queued
// cases: what is due at one instant is all there before the first starts, so
// that priority decides, and a group has no work that is due. It returns how
// many rows it fired and how many cases it tried to start.
func (e *Engine) round(ctx context.Context, now time.Time, limit int) (fired, started int, err error) {
	for fired < limit && e.sweeper.next.Reached(now) {
		n, err := e.fireDue(ctx, now, min(batch, limit-fired))
		fired += n
		if err != nil {
			return fired, 0, err
		}
	}
	if e.sweeper.outbox.Reached(now) {
		if err := e.dispatcher.Dispatch(ctx, now); err != nil {
			return fired, 0, err
		}
	}
	if fired >= limit {
		return fired, 0, nil
	}
	started, err = e.startQueue(ctx, now)
	return fired, started, err
}

// runDueNow does, in a sandbox, what a request made due, before its answer. The
// request itself is durable: what fails here is tried again, not told.
func (e *base) runDueNow(ctx context.Context) {
	if !e.sandbox {
		return
	}
	e.sweeper.mu.Lock()
	defer e.sweeper.mu.Unlock()
	if err := e.runDue(change.Committed(ctx), e.Clock.Now()); err != nil {
		e.log.Error().Err(err).Msg("sweeper: could not do what a request made due; it will be tried again")
	}
}

// Advanced is what moving the sandbox clock did.
type Advanced struct {
	Now      time.Time
	Fired    int
	Complete bool // false if it stopped on the way and is to be asked again
}

// Advance moves the sandbox clock to an instant, through every due instant in
// order. It calls set with each before it fires what is due then. Moves come
// one after the other; target computes the end of this one from the time when
// its turn comes. Requests are served between two instants. Errors:
// errs.Invalid if the end is in the past; those of target.
func (e *Engine) Advance(ctx context.Context, target func(now time.Time) (time.Time, error), set func(time.Time)) (Advanced, error) {
	e.sweeper.moves.Lock()
	defer e.sweeper.moves.Unlock()
	now := e.Clock.Now()
	to, err := target(now)
	if err != nil {
		return Advanced{}, err
	}
	if to = clock.Trim(to); to.Before(now) {
		return Advanced{}, errs.New(errs.Invalid, "The clock is at %s and moves forward only.", now.Format(time.RFC3339))
	}
	m := move{Advanced: Advanced{Now: now}, to: to, set: set}
	for {
		if over, err := e.advanceStep(ctx, &m); over || err != nil {
			return m.Advanced, err
		}
	}
}

// move is a move of the sandbox clock on its way.
type move struct {
	Advanced
	to    time.Time
	set   func(time.Time)
	begun bool // what was due at its start is done
}

// advanceStep moves the clock to the next instant and does everything that is
// due there, so that nothing is left to others in between.
func (e *Engine) advanceStep(ctx context.Context, m *move) (over bool, err error) {
	e.sweeper.mu.Lock()
	defer e.sweeper.mu.Unlock()
	if m.begun {
		m.Now = e.nextInstant(m)
		m.set(m.Now)
	}
	m.begun = true
	fired, err := e.runOnce(ctx, m.Now, e.firings-m.Fired)
	m.Fired += fired
	if err != nil {
		return true, err
	}
	left := e.sweeper.due(m.Now)
	if m.Now.Equal(m.to) || left || m.Fired >= e.firings {
		m.Complete = m.Now.Equal(m.to) && !left
		return true, e.Store.Update(ctx, func(tx store.Tx) error { return putClock(tx, m.Now) })
	}
	return false, nil
}

// nextInstant returns the next instant of a move: the next due one, or the end.
// What a request made due meanwhile is done at the clock's time, which never
// goes back.
func (e *Engine) nextInstant(m *move) time.Time {
	next := e.sweeper.head()
	if next.IsZero() || !next.Before(m.to) {
		return m.to
	}
	if next.After(m.Now) {
		return next
	}
	return m.Now
}

// settingClock is the setting that keeps the sandbox clock.
const settingClock = "sandbox-clock"

func putClock(tx store.Tx, now time.Time) error {
	return tx.Write().Settings().Put(settingClock, now.UTC().Format(time.RFC3339Nano))
}

// NoteClock notes in the audit log that by has moved the sandbox clock to an instant.
func (e *Engine) NoteClock(ctx context.Context, by identity.Principal, to time.Time) {
	e.audit.Did(ctx, by, audit.ClockSet, to.UTC().Format(time.RFC3339))
}

// SandboxClock returns the instant at which a sandbox's clock was left, zero
// for a new one.
func SandboxClock(ctx context.Context, s store.Store) (time.Time, error) {
	var text string
	err := s.View(ctx, func(r store.Reader) (err error) {
		text, err = r.Settings().Get(settingClock)
		return err
	})
	if err != nil || text == "" {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	return t, errs.Wrap("read the sandbox clock", err)
}
