package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

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
	err = e.Store.Update(ctx, func(tx store.Tx) error {
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

// firesDue reports whether the row is of what is counted as fired: not of what
// only comes to its end.
func firesDue(row store.DueRow) bool { return row.CaseID != 0 || row.Entry != (store.UUID{}) }

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
	store.DueRow
	fired bool
	err   error
}

// passes reports whether something that became due meanwhile comes before
// the row, which then waits for the next batch.
func (v *volley) passes(row store.DueRow) bool { return !v.again.IsZero() && !row.Due.Before(v.again) }

// became notes when a row that was fired is due next.
func (v *volley) became(due time.Time) {
	if !due.IsZero() && !due.After(v.now) && (v.again.IsZero() || due.Before(v.again)) {
		v.again = due
	}
}

// fireVolley fires due rows one after the other.
func (e *Engine) fireVolley(tx store.Tx, v *volley, limit int) error {
	rows, next, err := tx.Queue().Due(v.now, limit)
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
		return e.Store.Update(ctx, func(tx store.Tx) (err error) {
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
	s.fired = firesDue(s.DueRow)
	return nil
}

// fireRow fires one due row; fired is false where nothing of it was due any
// more, and for what expires.
func (e *Engine) fireRow(tx store.Tx, v *volley, row store.DueRow, trouble error) (fired bool, err error) {
	var due time.Time
	switch {
	case row.Attachment != (store.UUID{}):
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
func (e *Engine) fireFailed(ctx context.Context, row store.DueRow, now time.Time, cause error) error {
	if ctx.Err() != nil || unserved(cause) {
		return cause
	}
	e.log.Error().Err(cause).Str("entry", row.Entry.String()).Int64("case", row.CaseID).Str("attachment", row.Attachment.String()).Int64("retired", row.Retired).Int64("purge", row.Purge).Msg("sweeper: a due row failed")
	if row.Entry != (store.UUID{}) {
		err := e.Store.Update(ctx, func(tx store.Tx) error {
			_, err := e.fireRow(tx, &volley{now: now}, row, cause)
			return err
		})
		if err == nil || ctx.Err() != nil || unserved(err) {
			return err
		}
		e.log.Error().Err(err).Str("entry", row.Entry.String()).Msg("sweeper: a schedule entry cannot continue; it stops until it is saved again")
	}
	return e.Store.Update(ctx, func(tx store.Tx) error { return stopDue(tx, row) })
}

// stopDue takes the due time of a row away.
func stopDue(tx store.Tx, row store.DueRow) error {
	switch {
	case row.Attachment != (store.UUID{}):
		return ifThere(tx.Write().Attachments().SetExpiry(row.Attachment, time.Time{}))
	case row.Retired != 0:
		return ifThere(tx.Write().Cases().SetRetires(row.Retired, time.Time{}))
	case row.Purge != 0:
		return tx.Write().Cases().DeletePurge(row.Purge)
	case row.CaseID != 0:
		stored, err := tx.Cases().Get(row.CaseID)
		if err != nil {
			return ifThere(err)
		}
		stored.Due = time.Time{}
		return tx.Write().Cases().Update(stored, stored.Revision)
	}
	stored, err := tx.Entries().Get(row.Entry)
	if err != nil {
		return ifThere(err)
	}
	stored.Due = time.Time{}
	return tx.Write().Entries().Update(stored)
}

// ifThere returns the error, unless it says that there is no such thing.
func ifThere(err error) error {
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}
