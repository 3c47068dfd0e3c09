package engine

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"flowdrive/errs"
)

const (
	// batch is how many due rows are taken at once.
	batch = 256
	// longestSleep bounds a wait, so that a machine's clock that was set
	// forward is noticed. Waking costs no query while nothing is due.
	longestSleep = 30 * time.Second
	// retryAfter is the wait after the store failed.
	retryAfter = time.Second
	// maxFirings bounds one move of the sandbox clock (design: the drive,
	// section 8).
	maxFirings = 100_000
)

// sweeper knows when something is due next, so that nothing polls: the
// index on the due times is the heap, and memory holds only its head.
type sweeper struct {
	next   atomic.Int64 // Unix milliseconds of the earliest due time; never: none
	queued atomic.Bool  // cases may be waiting to be started
	wake   chan struct{}
}

const never = math.MaxInt64

// note says that something is due then.
func (s *sweeper) note(due time.Time) {
	if due.IsZero() {
		return
	}
	at := due.UnixMilli()
	for {
		held := s.next.Load()
		if held <= at {
			return
		}
		if s.next.CompareAndSwap(held, at) {
			s.rouse()
			return
		}
	}
}

// noteQueued says that a case was queued.
func (s *sweeper) noteQueued() {
	s.queued.Store(true)
	s.rouse()
}

// idle reports whether no case waits to be started, so that a new one may be
// started where it is created.
func (s *sweeper) idle() bool { return !s.queued.Load() }

func (s *sweeper) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// due reports whether there is something to do at now.
func (s *sweeper) due(now time.Time) bool {
	return s.queued.Load() || s.next.Load() <= now.UnixMilli()
}

// loadSweeper reads the head of the due times at start.
func (e *Engine) loadSweeper(r Reader) error {
	next, err := r.NextDue()
	if err != nil {
		return err
	}
	e.sweeper.next.Store(never)
	e.sweeper.note(next)
	e.sweeper.queued.Store(true)
	return nil
}

// Run fires what becomes due until ctx ends. In a sandbox time stands still:
// it only finishes what was left, and requests do the rest.
func (e *Engine) Run(ctx context.Context) error {
	var collecting sync.WaitGroup
	collecting.Go(func() { e.collectWhenRoused(ctx) })
	defer collecting.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.sweeper.wake:
		case <-timer.C:
		}
		wait := longestSleep
		if now := e.clock.Now(); e.sweeper.due(now) {
			if _, err := e.runOnce(ctx, now); err != nil && ctx.Err() == nil {
				e.log.Error().Err(err).Msg("the sweeper failed; it tries again")
				wait = retryAfter
			}
		}
		if until := time.UnixMilli(e.sweeper.next.Load()).Sub(e.clock.Now()); e.sweeper.next.Load() != never && !e.sandbox {
			wait = min(wait, max(until, 0))
		}
		if e.sweeper.queued.Load() {
			wait = min(wait, retryAfter)
		}
		timer.Reset(wait)
	}
}

// runOnce does everything that is due at now: due rows in order, then queued
// cases by priority, until nothing is left. It returns how many due rows it
// fired.
func (e *Engine) runOnce(ctx context.Context, now time.Time) (fired int, err error) {
	for e.sweeper.due(now) {
		n, err := e.fireDue(ctx, now)
		fired += n
		if err != nil {
			return fired, err
		}
		if err := e.startAll(ctx, now); err != nil {
			return fired, err
		}
		if fired >= maxFirings {
			break
		}
	}
	return fired, nil
}

// fireDue fires one batch of due rows, each in a unit of its own, and finds
// out what is due next.
func (e *Engine) fireDue(ctx context.Context, now time.Time) (int, error) {
	e.sweeper.next.Store(never) // commits from here on lower it again
	var rows []DueRow
	err := e.store.View(ctx, func(r Reader) (err error) {
		rows, err = r.DueRows(now, batch)
		return err
	})
	fired := 0
	if err == nil {
		fired, err = e.fireRows(ctx, rows, now)
	}
	var next time.Time
	if err == nil {
		err = e.store.View(ctx, func(r Reader) (err error) {
			next, err = r.NextDue()
			return err
		})
	}
	if err != nil {
		e.sweeper.note(now) // try again
		return fired, err
	}
	e.sweeper.note(next)
	return fired, nil
}

func (e *Engine) fireRows(ctx context.Context, rows []DueRow, now time.Time) (fired int, err error) {
	units := make([]func(Tx) error, len(rows))
	for i := range rows {
		units[i] = e.fireUnit(rows[i], now, nil)
	}
	for i, unitErr := range e.store.UpdateAll(ctx, units) {
		if unitErr != nil {
			if unitErr = e.fireFailed(ctx, rows[i], now, unitErr); unitErr != nil {
				return fired, unitErr
			}
		}
		if rows[i].Attachment == (UUID{}) { // what expires is not fired
			fired++
		}
	}
	return fired, nil
}

func (e *Engine) fireUnit(row DueRow, now time.Time, trouble error) func(Tx) error {
	return func(tx Tx) error {
		var err error
		switch {
		case row.Attachment != (UUID{}):
			err = e.expire(tx, row.Attachment, now)
		case row.CaseID != 0:
			_, err = e.fireCase(tx, row.CaseID, now)
		default:
			_, err = e.fireEntry(tx, row.Entry, now, trouble)
		}
		return err
	}
}

// fireFailed handles a due row whose unit failed, so that it neither stops
// the others nor is due for ever: an entry's instant is recorded as failed
// and the entry goes on; a case has its due time taken away.
func (e *Engine) fireFailed(ctx context.Context, row DueRow, now time.Time, cause error) error {
	switch errs.KindOf(cause) {
	case errs.Unavailable, errs.Full:
		return cause // the store cannot serve: later, in the same order
	default:
	}
	if row.Attachment != (UUID{}) {
		return cause
	}
	e.log.Error().Err(cause).Str("entry", row.Entry.String()).Int64("case", row.CaseID).Msg("something due failed")
	if row.CaseID == 0 {
		return e.store.Update(ctx, e.fireUnit(row, now, cause))
	}
	return e.store.Update(ctx, func(tx Tx) error {
		stored, err := orNil(tx.Case(row.CaseID))
		if err != nil || stored == nil {
			return err
		}
		base := stored.Revision
		stored.Due = time.Time{}
		return tx.UpdateCase(stored, base)
	})
}

// startAll starts the queued cases, higher priority first.
func (e *Engine) startAll(ctx context.Context, now time.Time) error {
	for e.sweeper.queued.Swap(false) {
		var ids []int64
		err := e.store.View(ctx, func(r Reader) (err error) {
			ids, err = r.QueuedCases(batch)
			return err
		})
		if err != nil {
			e.sweeper.queued.Store(true)
			return err
		}
		if len(ids) == 0 {
			return nil
		}
		units := make([]func(Tx) error, len(ids))
		for i, id := range ids {
			units[i] = func(tx Tx) error { return e.startQueued(tx, id, now) }
		}
		for i, err := range e.store.UpdateAll(ctx, units) {
			if err == nil {
				continue
			}
			if kind := errs.KindOf(err); kind == errs.Unavailable || kind == errs.Full {
				e.sweeper.queued.Store(true)
				return err
			}
			e.log.Error().Err(err).Int64("case", ids[i]).Msg("a queued case could not be started")
		}
		if len(ids) == batch {
			e.sweeper.queued.Store(true)
		}
	}
	return nil
}

// settle does, in a sandbox, what a request made due, before its answer.
func (e *Engine) settle(ctx context.Context) error {
	if !e.sandbox {
		return nil
	}
	now := e.clock.Now()
	if !e.sweeper.due(now) {
		return nil
	}
	e.advancing.Lock()
	defer e.advancing.Unlock()
	_, err := e.runOnce(ctx, now)
	return err
}

// Advanced is what moving the sandbox clock did.
type Advanced struct {
	Now      time.Time
	Fired    int
	Complete bool // false where it stopped on the way, to be asked again
}

// Advance moves the sandbox clock to the instant through every due one, in
// order: set is told of each before what is due at it is fired.
func (e *Engine) Advance(ctx context.Context, to time.Time, set func(time.Time)) (Advanced, error) {
	e.advancing.Lock()
	defer e.advancing.Unlock()
	now := e.clock.Now()
	if to.Before(now) {
		return Advanced{}, errs.New(errs.Invalid, "The clock stands at %s and moves forward only.", now.Format(time.RFC3339))
	}
	done := Advanced{}
	for {
		fired, err := e.runOnce(ctx, now)
		done.Now = now
		done.Fired += fired
		if err != nil {
			return done, err
		}
		if now.Equal(to) {
			done.Complete = !e.sweeper.due(now)
			return done, e.keepClock(ctx, now)
		}
		if done.Fired >= maxFirings {
			return done, e.keepClock(ctx, now)
		}
		if next := e.sweeper.next.Load(); next < to.UnixMilli() {
			now = time.UnixMilli(next).UTC()
		} else {
			now = to
		}
		set(now)
	}
}

// settingClock is the setting that keeps the sandbox clock.
const settingClock = "sandbox-clock"

func (e *Engine) keepClock(ctx context.Context, now time.Time) error {
	return e.store.Update(ctx, func(tx Tx) error {
		return tx.PutSetting(settingClock, now.UTC().Format(time.RFC3339Nano))
	})
}

// SandboxClock returns the instant at which a sandbox's clock was left, zero
// for a new one.
func SandboxClock(ctx context.Context, s Store) (time.Time, error) {
	var text string
	err := s.View(ctx, func(r Reader) (err error) {
		text, err = r.Setting(settingClock)
		return err
	})
	if err != nil || text == "" {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	return t, errs.Wrap("read the sandbox clock", err)
}
