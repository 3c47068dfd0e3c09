package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// post does to the outbox what an event of a case says.
func (e *decider) post(tx store.Tx, c *caseChange) error {
	for i := range c.postings {
		p := &c.postings[i]
		key, now := outbox.Key(c.after.GUID, p.Seq, p.Step), c.after.Modified
		var err error
		switch {
		case p.Request != nil:
			err = e.postRequest(tx, &store.OutboxRow{Key: key, CaseID: c.after.ID, Seq: p.Seq, Step: p.Step, Due: now, Created: now}, p.Request)
		case p.Again:
			err = tx.Write().Outbox().Put(key, now, 0)
			tx.AfterCommit(func() { e.sweeper.noteOutbox(now) })
		case p.Failed:
			err = tx.Write().Outbox().Put(key, time.Time{}, 0)
		case p.Over:
			err = tx.Write().Outbox().Delete(key)
			if p.End == machine.EndCanceled {
				tx.AfterCommit(func() { e.dispatcher.Cancel(key) })
			}
		}
		if err == nil {
			err = journal(tx, c, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// postRequest puts a request into the outbox: it is sent after the commit, at
// the row's Due.
func (e *decider) postRequest(tx store.Tx, row *store.OutboxRow, request *machine.Request) error {
	form, err := json.Marshal(request)
	if err != nil {
		return errs.Wrap("store a delivery", err)
	}
	row.Lane, row.Request = outbox.LaneOf(request), form
	if row.Step == 0 {
		prefix := outbox.NoticePrefix(request)
		row.Key = outbox.NoticeKey(prefix, row.Key)
		earlier, err := tx.Outbox().First(prefix)
		if err != nil {
			return err
		}
		if earlier != nil {
			row.Due = time.Time{} // endNotice begins it
			return tx.Write().Outbox().Insert(row)
		}
	}
	if err := tx.Write().Outbox().Insert(row); err != nil {
		return err
	}
	due := row.Due
	tx.AfterCommit(func() { e.sweeper.noteOutbox(due) })
	return nil
}

// finishDelivery takes in what became of an attempt.
func (e *deliveries) finishDelivery(ctx context.Context, row *store.OutboxRow, request *machine.Request, reply *outbox.Reply, failure error) error {
	if failure == nil {
		event := machine.Delivered{Seq: row.Seq, Step: row.Step, Attempts: row.Attempts}
		if reply != nil {
			event.MediaType, event.Content = outbox.CleanType(reply.MediaType), reply.Content
		}
		return e.conclude(ctx, row, event, nil)
	}
	how := outbox.HowFailed(failure)
	pause, again := outbox.NextAttempt(request, row.Key, row.Attempts, failure)
	if errors.Is(failure, errLost) {
		pause, again = 0, outbox.Restarts(request, row.Attempts)
	}
	if !again {
		return e.conclude(ctx, row, machine.Undelivered{
			Seq: row.Seq, Step: row.Step, Attempts: row.Attempts, Reason: failure.Error(), Kind: how.Kind, Status: how.Status, Output: how.Output,
		}, failure)
	}
	due := e.Clock.Now().Add(pause)
	e.log.Info().Err(failure).Str("key", row.Key).Str("lane", row.Lane).Int64("attempt", row.Attempts).Time("again", due).Msg("outbox: an attempt failed; it will be repeated")
	event := machine.Attempted{Seq: row.Seq, Step: row.Step, Attempt: row.Attempts, Reason: failure.Error(), Again: due, Until: outbox.LastAttempt(request, row.Key, row.Attempts, due)}
	return e.Change(ctx, func(r store.Reader) (change.Decision, error) {
		c, err := e.prepareReply(r, row, event, e.Clock.Now())
		if err != nil {
			return nil, err
		}
		return func(tx store.Tx) error {
			if err := e.decider.noteAttempt(tx, row, failure, e.Clock.Now()); err != nil {
				return err
			}
			if c != nil {
				if err := e.decider.write(tx, c); err != nil {
					return err
				}
			}
			tx.AfterCommit(func() { e.sweeper.noteOutbox(due) })
			if err := tx.Write().Outbox().Put(row.Key, due, row.Attempts); err != nil {
				return err
			}
			now := e.Clock.Now()
			return journalOf(tx, deliveryOf(row), now, func(j *outbox.Journal) { j.Ended(now, failure, due) })
		}, nil
	})
}

// conclude gives the case the result of a delivery, and removes the delivery
// from the outbox unless it may be retried, all in one unit: an answer is used
// once. failure is why the delivery was given up, nil if it got through.
func (e *deliveries) conclude(ctx context.Context, row *store.OutboxRow, event machine.Event, failure error) error {
	return e.Change(ctx, func(r store.Reader) (change.Decision, error) {
		now := e.Clock.Now()
		c, err := e.prepareReply(r, row, event, now)
		if err != nil {
			return nil, err
		}
		return func(tx store.Tx) error {
			if err := e.decider.noteAttempt(tx, row, failure, now); err != nil {
				return err
			}
			if err := journalOf(tx, deliveryOf(row), now, func(j *outbox.Journal) { j.Ended(now, failure, time.Time{}) }); err != nil {
				return err
			}
			return e.writeReply(tx, row, event, c)
		}, nil
	})
}

// prepareReply decides what an event of a delivery does to its case. It returns nil if
// no case waits for it.
func (e *deliveries) prepareReply(r store.Reader, row *store.OutboxRow, event machine.Event, now time.Time) (*caseChange, error) {
	if row.Step == 0 || row.CaseID == 0 {
		return nil, nil
	}
	stored, err := store.OrNil(r.Cases().Get(row.CaseID))
	if err != nil || stored == nil {
		return nil, err
	}
	h, err := e.decider.loadRow(r, identity.Principal{}, stored, nil)
	if err != nil {
		return nil, err
	}
	c, err := e.decider.decideOn(h, event, Request{Now: now})
	return c, errs.Wrap(fmt.Sprintf("%T of case %d", event, row.CaseID), err)
}

// writeReply writes what heard decided.
func (e *deliveries) writeReply(tx store.Tx, row *store.OutboxRow, event machine.Event, c *caseChange) error {
	keeps := false // the row, for a retry
	if c != nil {
		if err := e.decider.write(tx, c); err != nil {
			return err
		}
		for i := range c.after.Outbox {
			o := &c.after.Outbox[i]
			keeps = keeps || o.Seq == row.Seq && o.Step == row.Step
		}
	}
	if undelivered, is := event.(machine.Undelivered); is {
		tx.AfterCommit(func() {
			e.log.Warn().Str("key", row.Key).Str("lane", row.Lane).Str("reason", undelivered.Reason).Int64("case", row.CaseID).Msg("outbox: a delivery failed for good")
		})
	}
	if keeps {
		return nil
	}
	return e.endRow(tx, row)
}

// endRow takes out of the outbox what has ended. If it was a notice, the next one about
// the same to the same recipient is due.
func (e *deliveries) endRow(tx store.Tx, row *store.OutboxRow) error {
	if err := tx.Write().Outbox().Delete(row.Key); err != nil || row.Step != 0 {
		return err
	}
	next, err := tx.Outbox().First(outbox.PrefixOfNotice(row.Key))
	if err != nil || next == nil || !next.Due.IsZero() {
		return err
	}
	now := e.Clock.Now()
	tx.AfterCommit(func() { e.sweeper.noteOutbox(now) })
	return tx.Write().Outbox().Put(next.Key, now, 0)
}
