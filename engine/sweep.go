package engine

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"flowdrive/clock"
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
)

// sweeper knows when something is due next, so that nothing polls: the
// index on the due times is the heap, and memory holds only its head.
type sweeper struct {
	next   atomic.Int64 // Unix milliseconds of the earliest due time; never: none
	outbox atomic.Int64 // likewise of the outbox, as far as it could be begun
	queued atomic.Bool  // cases may be waiting to be started
	wake   chan struct{}

	// mu is held while things are fired and started: two at a time would
	// take the head of the due times away from each other. A move of the
	// sandbox clock holds it for one instant at a time, so that requests,
	// which settle under it, are answered on the way; moves is held for the
	// whole of it, so that moves come one after the other.
	mu    sync.Mutex
	moves sync.Mutex
	stuck stuckCases
	turn  Lane // of which a case was started last; under mu
}

const never = math.MaxInt64

// note says that something is due then.
func (s *sweeper) note(due time.Time) {
	if !due.IsZero() && s.lower(due) {
		s.rouse()
	}
}

// noteOutbox says that something of the outbox is due then.
func (s *sweeper) noteOutbox(due time.Time) {
	if !due.IsZero() && s.lowerOutbox(due) {
		s.rouse()
	}
}

// lower moves the head of the due times to an earlier instant, and reports
// whether it did.
func (s *sweeper) lower(due time.Time) bool { return lowerHead(&s.next, due) }

// lowerOutbox is lower for the outbox.
func (s *sweeper) lowerOutbox(due time.Time) bool { return lowerHead(&s.outbox, due) }

func lowerHead(head *atomic.Int64, due time.Time) bool {
	at := due.UnixMilli()
	for {
		held := head.Load()
		if held <= at {
			return false
		}
		if head.CompareAndSwap(held, at) {
			return true
		}
	}
}

// head returns the earliest due time of all.
func (s *sweeper) head() int64 { return min(s.next.Load(), s.outbox.Load()) }

// noteQueued says that a case was queued.
func (s *sweeper) noteQueued() {
	s.queued.Store(true)
	s.rouse()
}

func (s *sweeper) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// due reports whether there is something to do at now.
func (s *sweeper) due(now time.Time) bool {
	return s.queued.Load() || s.head() <= now.UnixMilli()
}

// loadSweeper reads the head of the due times at start, and whether cases
// wait.
func (e *Engine) loadSweeper(r Reader) error {
	next, err := r.NextDue()
	if err != nil {
		return err
	}
	waiting, err := r.QueuedLanes()
	if err != nil {
		return err
	}
	lanes, err := r.OutboxLanes()
	if err != nil {
		return err
	}
	e.sweeper.next.Store(never)
	e.sweeper.outbox.Store(never)
	e.sweeper.note(next)
	for _, lane := range lanes {
		e.sweeper.noteOutbox(lane.Due)
	}
	e.sweeper.queued.Store(len(waiting) > 0)
	return nil
}

// Run fires what becomes due until ctx ends. In a sandbox time stands still:
// it only finishes what was left, and requests do the rest.
func (e *Engine) Run(ctx context.Context) error {
	var collecting sync.WaitGroup
	collecting.Go(func() { e.collectWhenRoused(ctx) })
	collecting.Go(func() { e.background.run(ctx) })
	collecting.Go(func() { e.finishMigrations(ctx) })
	collecting.Go(func() { e.dropExpired(ctx) })
	defer collecting.Wait()
	defer e.openOutbox(ctx)()
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
// will be. Time goes on while cases are started, however many there are: each
// round asks the clock anew, so that what becomes due does not wait for them.
func (e *Engine) sweep(ctx context.Context) (wait time.Duration) {
	e.sweeper.mu.Lock()
	defer e.sweeper.mu.Unlock()
	if _, _, err := e.round(ctx, e.clock.Now(), e.firings); err != nil {
		if ctx.Err() == nil {
			e.log.Error().Err(err).Msg("the sweeper failed; it tries again")
		}
		return retryAfter
	}
	now := e.clock.Now()
	switch {
	case e.sweeper.due(now):
		return 0
	case e.sandbox || e.sweeper.head() == never:
		return longestSleep
	}
	return min(time.UnixMilli(e.sweeper.head()).Sub(now), longestSleep)
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
	for fired < limit && e.sweeper.next.Load() <= now.UnixMilli() {
		n, err := e.fireDue(ctx, now, min(batch, limit-fired))
		fired += n
		if err != nil {
			return fired, 0, err
		}
	}
	if e.sweeper.outbox.Load() <= now.UnixMilli() {
		if err := e.dispatch(ctx, now); err != nil {
			return fired, 0, err
		}
	}
	if fired >= limit {
		return fired, 0, nil
	}
	started, err = e.startQueue(ctx, now)
	return fired, started, err
}

// fireDue fires one batch of due rows in one unit, each undone alone where it
// fails, and finds out what is due next.
func (e *Engine) fireDue(ctx context.Context, now time.Time, limit int) (fired int, err error) {
	e.sweeper.next.Store(never) // commits from here on lower it again
	defer func() {
		if err != nil {
			e.sweeper.lower(now) // try again, but not at once
		}
	}()
	var v volley
	err = e.store.Update(ctx, func(tx Tx) error {
		v = volley{now: now}
		return e.fireVolley(tx, &v, limit)
	})
	if err != nil && !v.bare {
		return 0, err
	}
	for i := range v.shots {
		s := &v.shots[i]
		s.err = cmp.Or(s.err, err)
		if err := e.settleShot(ctx, &v, s); err != nil {
			return fired, err
		}
		if s.fired {
			fired++
		} else {
			v.next = now // it may be due as it was
		}
	}
	e.sweeper.note(v.next)
	return fired, nil
}

// fires reports whether the row is of what is counted as fired: not of what
// only comes to its end.
func (row DueRow) fires() bool { return row.CaseID != 0 || row.Entry != (UUID{}) }

// volley is a batch of due rows on its way through the writer.
type volley struct {
	now   time.Time
	shots []shot
	next  time.Time // when something else is due, now for at once
	bare  bool      // the unit is its one shot, and fails with it
	alone bool      // there is one row, and no case waits to be started
	again time.Time // the earliest instant that became due within it, zero for none
}

// shot is one due row, and what became of it.
type shot struct {
	DueRow
	fired bool
	err   error
}

// passes reports whether something that became due meanwhile comes before
// the row, which then waits for the next batch.
func (v *volley) passes(row DueRow) bool { return !v.again.IsZero() && !row.Due.Before(v.again) }

// became notes when a row that was fired is due next.
func (v *volley) became(due time.Time) {
	if !due.IsZero() && !due.After(v.now) && (v.again.IsZero() || due.Before(v.again)) {
		v.again = due
	}
}

// fireVolley fires due rows one after the other.
func (e *Engine) fireVolley(tx Tx, v *volley, limit int) error {
	rows, next, err := tx.DueRows(v.now, limit)
	if err != nil || len(rows) == 0 {
		v.next = next
		return err
	}
	if e.sandbox {
		// What was fired at an instant must not be in the future of a sandbox
		// that was killed on its way.
		if err := putClock(tx, v.now); err != nil {
			return err
		}
	}
	v.next, v.shots = next, make([]shot, len(rows))
	v.bare = len(rows) == 1 && !e.sandbox
	v.alone = len(rows) == 1 && !e.sweeper.queued.Load()
	for i := range rows {
		s := &v.shots[i]
		s.DueRow = rows[i]
		if v.passes(s.DueRow) {
			continue
		}
		shoot := func() (err error) {
			s.fired, err = e.fireRow(tx, v, s.DueRow, nil)
			return err
		}
		if v.bare {
			return shoot()
		}
		s.err = tx.Savepoint(shoot)
	}
	return nil
}

// settleShot does what is left to do of a shot: what failed for want of
// something that is found outside the writer is done again, what cannot be
// done is recorded as failed.
func (e *Engine) settleShot(ctx context.Context, v *volley, s *shot) error {
	if s.err == nil {
		return nil
	}
	s.fired = false
	s.err = e.runAhead(ctx, s.err, func() error {
		return e.store.Update(ctx, func(tx Tx) (err error) {
			s.fired, err = e.fireRow(tx, &volley{now: v.now, alone: v.alone}, s.DueRow, nil)
			return err
		})
	})
	if s.err == nil {
		return nil
	}
	v.next = v.now
	if err := e.fireFailed(ctx, s.DueRow, v.now, s.err); err != nil {
		return err
	}
	s.fired = s.fires()
	return nil
}

// fireRow fires one due row; fired is false where nothing of it was due any
// more, and for what expires.
func (e *Engine) fireRow(tx Tx, v *volley, row DueRow, trouble error) (fired bool, err error) {
	var due time.Time
	switch {
	case row.Attachment != (UUID{}):
		err = e.expire(tx, row.Attachment, v.now)
	case row.Retired != 0:
		err = e.retire(tx, row.Retired, v.now)
	case row.Purge != 0:
		err = e.purgeBelow(tx, row.Purge, v.now)
	case row.CaseID != 0:
		due, fired, err = e.fireCase(tx, row.CaseID, v.now)
	default:
		due, fired, err = e.fireEntry(tx, row.Entry, v, trouble)
	}
	if err == nil {
		v.became(due)
	}
	return fired, err
}

// unserved reports whether an error is the store's, which cannot serve now:
// the same thing is tried again later, in the same order.
func unserved(err error) bool {
	kind := errs.KindOf(err)
	return kind == errs.Unavailable || kind == errs.Full && !errors.Is(err, errQuota)
}

// fireFailed handles a due row whose unit failed, so that it neither stops
// the others nor is due for ever: an entry's instant is recorded as failed
// and the entry goes on. What cannot even be recorded has its due time taken
// away, as has a case or an attachment.
func (e *Engine) fireFailed(ctx context.Context, row DueRow, now time.Time, cause error) error {
	if ctx.Err() != nil || unserved(cause) {
		return cause
	}
	e.log.Error().Err(cause).Str("entry", row.Entry.String()).Int64("case", row.CaseID).Str("attachment", row.Attachment.String()).Int64("retired", row.Retired).Int64("purge", row.Purge).Msg("something due failed")
	if row.Entry != (UUID{}) {
		err := e.store.Update(ctx, func(tx Tx) error {
			_, err := e.fireRow(tx, &volley{now: now}, row, cause)
			return err
		})
		if err == nil || ctx.Err() != nil || unserved(err) {
			return err
		}
		e.log.Error().Err(err).Str("entry", row.Entry.String()).Msg("a schedule entry cannot go on; it stops until it is stored anew")
	}
	return e.store.Update(ctx, func(tx Tx) error { return stopDue(tx, row) })
}

// stopDue takes the due time of a row away.
func stopDue(tx Tx, row DueRow) error {
	switch {
	case row.Attachment != (UUID{}):
		return ifThere(tx.SetExpiry(row.Attachment, time.Time{}))
	case row.Retired != 0:
		return ifThere(tx.SetRetires(row.Retired, time.Time{}))
	case row.Purge != 0:
		return tx.DeletePurge(row.Purge)
	case row.CaseID != 0:
		stored, err := tx.Case(row.CaseID)
		if err != nil {
			return ifThere(err)
		}
		stored.Due = time.Time{}
		return tx.UpdateCase(stored, stored.Revision)
	}
	stored, err := tx.Entry(row.Entry)
	if err != nil {
		return ifThere(err)
	}
	stored.Due = time.Time{}
	return tx.UpdateEntry(stored)
}

// ifThere returns the error, unless it says that there is no such thing.
func ifThere(err error) error {
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}

// settle does, in a sandbox, what a request made due, before its answer. The
// request itself is durable: what fails here is tried again, not told.
func (e *Engine) settle(ctx context.Context) {
	if !e.sandbox {
		return
	}
	e.sweeper.mu.Lock()
	defer e.sweeper.mu.Unlock()
	if _, err := e.runOnce(context.WithoutCancel(ctx), e.clock.Now(), e.firings); err != nil {
		e.log.Error().Err(err).Msg("what a request made due was not done; it is tried again")
	}
}

// Advanced is what moving the sandbox clock did.
type Advanced struct {
	Now      time.Time
	Fired    int
	Complete bool // false where it stopped on the way, to be asked again
}

// Advance moves the sandbox clock to an instant through every due one, in
// order: set is told of each before what is due at it is fired. Moves come
// one after the other; target says where this one leads from where the clock
// stands when its turn comes. Requests are served between two instants.
func (e *Engine) Advance(ctx context.Context, target func(now time.Time) (time.Time, error), set func(time.Time)) (Advanced, error) {
	e.sweeper.moves.Lock()
	defer e.sweeper.moves.Unlock()
	now := e.clock.Now()
	to, err := target(now)
	if err != nil {
		return Advanced{}, err
	}
	if to = clock.Trim(to); to.Before(now) {
		return Advanced{}, errs.New(errs.Invalid, "The clock stands at %s and moves forward only.", now.Format(time.RFC3339))
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
	begun bool // what was due where it begins is done
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
		return true, e.store.Update(ctx, func(tx Tx) error { return putClock(tx, m.Now) })
	}
	return false, nil
}

// nextInstant returns the next instant of a move: the next due one, or where
// it leads. What a request made due while it was on its way is done where the
// clock stands, which never goes back.
func (e *Engine) nextInstant(m *move) time.Time {
	next := e.sweeper.head()
	if next >= m.to.UnixMilli() {
		return m.to
	}
	if at := time.UnixMilli(next).UTC(); at.After(m.Now) {
		return at
	}
	return m.Now
}

// settingClock is the setting that keeps the sandbox clock.
const settingClock = "sandbox-clock"

func putClock(tx Tx, now time.Time) error {
	return tx.PutSetting(settingClock, now.UTC().Format(time.RFC3339Nano))
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
