package engine

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/route"
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
	if row.Step == 0 || json.Unmarshal(row.Request, &request) != nil {
		return nil
	}
	out := &rehearsal{}
	if !can {
		if reason := e.refusedSecret(&request); reason != "" {
			row.Attempts++
			out.failed(row, &request, &outbox.Final{Reason: reason}, now)
			return out
		}
		return nil
	}
	reply, failure, known := with.Rehearse(&outbox.Delivery{
		Key: row.Key, Attempt: int(row.Attempts) + 1, Mail: request.Mail, HTTP: request.HTTP, Exec: request.Exec, Call: request.Call,
		Wrote: func(o outbox.Output) { out.output = o },
	})
	if !known {
		return nil
	}
	row.Attempts++
	if failure == nil {
		event := machine.Delivered{Seq: row.Seq, Step: row.Step, Attempts: row.Attempts}
		if reply != nil {
			event.MediaType, event.Content = outbox.CleanType(reply.MediaType), reply.Content
		}
		out.event = event
		return out
	}
	out.failed(row, &request, failure, now)
	return out
}

// failed says what becomes of a delivery whose attempt has failed.
func (r *rehearsal) failed(row *store.OutboxRow, request *machine.Request, failure error, now time.Time) {
	r.failure = failure
	how := outbox.HowFailed(failure)
	if pause, again := outbox.NextAttempt(request, row.Key, row.Attempts, failure); again {
		r.again = now.Add(pause)
		r.event = machine.Attempted{
			Seq: row.Seq, Step: row.Step, Attempt: row.Attempts, Reason: failure.Error(), Again: r.again,
			Until: outbox.LastAttempt(request, row.Key, row.Attempts, r.again),
		}
		return
	}
	r.event = machine.Undelivered{Seq: row.Seq, Step: row.Step, Attempts: row.Attempts, Reason: failure.Error(), Kind: how.Kind, Status: how.Status, Output: how.Output}
}

// refusedSecret says why a secret that a request names cannot be put in, "" if all can
// be. A sandbox asks it so that a route which would fail outside for want of a secret
// fails there, too.
func (e *deliveries) refusedSecret(request *machine.Request) string {
	var uses []route.Reach
	add := func(kind route.ReachKind, names ...string) {
		for _, name := range names {
			if name != "" {
				uses = append(uses, route.Reach{Kind: kind, Name: name})
			}
		}
	}
	if c := request.HTTP; c != nil {
		add(route.ReachSecretURL, c.URLSecret)
		add(route.ReachSecret, c.Secret)
		add(route.ReachSecretText, slices.Sorted(maps.Values(c.HeaderSecrets))...)
	}
	if m := request.Mail; m != nil {
		add(route.ReachSecretMail, m.ToSecrets...)
		add(route.ReachSecretText, m.TextSecret)
	}
	for _, use := range uses {
		if reason, _ := e.refuses(use); reason != "" {
			return reason
		}
	}
	return ""
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
