package outbox

import (
	"context"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/store"
)

// finishDelivery takes in what became of an attempt.
func (e *Dispatcher) finishDelivery(ctx context.Context, row *store.OutboxRow, request *machine.Request, reply *Reply, failure error) error {
	if failure == nil {
		event := machine.Delivered{Seq: row.Seq, Step: row.Step, Attempts: row.Attempts}
		if reply != nil {
			event.MediaType, event.Content = CleanType(reply.MediaType), reply.Content
		}
		return e.conclude(ctx, row, event, nil)
	}
	how := HowFailed(failure)
	pause, again := NextAttempt(request, row.Key, row.Attempts, failure)
	if isLost(failure) {
		pause, again = afterLost(request, row.Attempts)
	}
	if !again {
		return e.conclude(ctx, row, machine.Undelivered{
			Seq: row.Seq, Step: row.Step, Attempts: row.Attempts, Reason: failure.Error(), Kind: how.Kind, Status: how.Status, Output: how.Output,
		}, failure)
	}
	due := e.Clock.Now().Add(pause)
	e.Log.Info().Err(failure).Str("key", row.Key).Str("lane", row.Lane).Int64("attempt", row.Attempts).Time("again", due).Msg("outbox: an attempt failed; it will be repeated")
	event := machine.Attempted{Seq: row.Seq, Step: row.Step, Attempt: row.Attempts, Reason: failure.Error(), Again: due, Until: LastAttempt(request, row.Key, row.Attempts, due)}
	return e.Change(ctx, func(r store.Reader) (change.Decision, error) {
		write, err := e.Cases.Take(r, row, event, e.Clock.Now())
		if err != nil {
			return nil, err
		}
		return func(tx store.Tx) error {
			row.Due = due
			if !isLost(failure) { // which says nothing of who did not get it
				if err := e.Cases.NoteAttempt(tx, row, failure, e.Clock.Now()); err != nil {
					return err
				}
			}
			if write != nil {
				if _, err := write(tx); err != nil {
					return err
				}
			}
			tx.AfterCommit(func() { e.Note(due) })
			if err := tx.Write().Outbox().Put(row.Key, due, row.Attempts); err != nil {
				return err
			}
			return e.endAttempt(tx, row, failure, due)
		}, nil
	})
}

// conclude gives the case the result of a delivery, and removes the delivery
// from the outbox unless it may be retried, all in one unit: an answer is used
// once. failure is why the delivery was given up, nil if it got through.
func (e *Dispatcher) conclude(ctx context.Context, row *store.OutboxRow, event machine.Event, failure error) error {
	return e.Change(ctx, func(r store.Reader) (change.Decision, error) {
		now := e.Clock.Now()
		write, err := e.Cases.Take(r, row, event, now)
		if err != nil {
			return nil, err
		}
		return func(tx store.Tx) error {
			if err := e.Cases.NoteAttempt(tx, row, failure, now); err != nil {
				return err
			}
			if err := e.endAttempt(tx, row, failure, time.Time{}); err != nil {
				return err
			}
			return e.writeReply(tx, row, event, write)
		}, nil
	})
}

// endAttempt writes into the journal what became of an attempt, and keeps what a service
// has answered if it has failed. again is when there is another one, zero for never.
func (e *Dispatcher) endAttempt(tx store.Tx, row *store.OutboxRow, failure error, again time.Time) error {
	now := e.Clock.Now()
	body, err := e.keepBody(tx, row, failure, now)
	if err != nil {
		return err
	}
	return JournalOf(tx, stepOf(row), now, func(j *Journal) {
		j.Ended(now, failure, again)
		j.answered(body)
	})
}

// writeReply writes what an event of a delivery does to its case, and takes the
// delivery out of the outbox unless the case keeps it for a retry.
func (e *Dispatcher) writeReply(tx store.Tx, row *store.OutboxRow, event machine.Event, write Write) error {
	keeps := false
	if write != nil {
		var err error
		if keeps, err = write(tx); err != nil {
			return err
		}
	}
	if undelivered, is := event.(machine.Undelivered); is {
		tx.AfterCommit(func() {
			e.Log.Warn().Str("key", row.Key).Str("lane", row.Lane).Str("reason", undelivered.Reason).Int64("case", row.CaseID).Msg("outbox: a delivery failed for good")
		})
	}
	if keeps {
		return nil
	}
	return e.endRow(tx, row)
}

// endRow takes out of the outbox what has ended. If it was a notice, the next one about
// the same to the same recipient is due.
func (e *Dispatcher) endRow(tx store.Tx, row *store.OutboxRow) error {
	if err := tx.Write().Outbox().Delete(row.Key); err != nil || row.Step != 0 {
		return err
	}
	next, err := tx.Outbox().First(PrefixOfNotice(row.Key))
	if err != nil || next == nil || !next.Due.IsZero() {
		return err
	}
	now := e.Clock.Now()
	tx.AfterCommit(func() { e.Note(now) })
	return tx.Write().Outbox().Put(next.Key, now, 0)
}
