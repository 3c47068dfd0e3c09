package engine

import (
	"encoding/json"
	"errors"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/store"
)

// rehearsal is what would have become of a delivery in a sandbox.
type rehearsal struct {
	event   machine.Event
	failure error
	output  outbox.Output
	again   time.Time // when it is tried again, zero for never
}

// askOutside asks the outside what would become of a delivery; nil if it cannot say.
func (e *deliveries) askOutside(row *store.OutboxRow, now time.Time) *rehearsal {
	with, can := e.outside.(outbox.Rehearser)
	var request machine.Request
	if !can || row.Step == 0 || json.Unmarshal(row.Request, &request) != nil {
		return nil
	}
	out := &rehearsal{}
	reply, failure, known := with.Rehearse(&outbox.Delivery{
		Key: row.Key, Attempt: int(row.Attempts) + 1, Mail: request.Mail, HTTP: request.HTTP, Exec: request.Exec, Call: request.Call,
		Wrote: func(o outbox.Output) { out.output = o },
	})
	if !known {
		return nil
	}
	row.Attempts++
	out.failure = failure
	if failure == nil {
		event := machine.Delivered{Seq: row.Seq, Step: row.Step, Attempts: row.Attempts}
		if reply != nil {
			event.MediaType, event.Content = outbox.CleanType(reply.MediaType), reply.Content
		}
		out.event = event
		return out
	}
	how := outbox.HowFailed(failure)
	if pause, again := outbox.NextAttempt(&request, row.Key, row.Attempts, failure); again {
		out.again = now.Add(pause)
		out.event = machine.Attempted{Seq: row.Seq, Step: row.Step, Attempt: row.Attempts, Reason: failure.Error(), Again: out.again}
		return out
	}
	out.event = machine.Undelivered{Seq: row.Seq, Step: row.Step, Attempts: row.Attempts, Reason: failure.Error(), Kind: how.Kind, Status: how.Status, Output: how.Output}
	return out
}

// writeRehearsal writes what would have become of a delivery.
func (e *deliveries) writeRehearsal(tx store.Tx, row *store.OutboxRow, r *rehearsal, now time.Time) error {
	err := journalOf(tx, deliveryOf(row), now, func(j *outbox.Journal) {
		j.Begin(now)
		j.Ended(now, r.failure, r.again)
	})
	if err == nil {
		err = e.keepOutput(tx, row, r.output, now)
	}
	if err != nil {
		return err
	}
	c, err := e.prepareReply(tx, row, r.event, now)
	if err != nil {
		return err
	}
	if r.again.IsZero() {
		return e.writeReply(tx, row, r.event, c)
	}
	if c == nil {
		return errors.New("engine: a delivery is rehearsed that no case waits for")
	}
	if err := e.decider.write(tx, c); err != nil {
		return err
	}
	tx.AfterCommit(func() { e.sweeper.noteOutbox(r.again) })
	return tx.Write().Outbox().Put(row.Key, r.again, row.Attempts)
}
