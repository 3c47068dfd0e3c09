package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/route"
	"flowdrive/store"
)

// rehearsal is what would have become of a delivery in a sandbox.
type rehearsal struct {
	event   machine.Event
	failure error
	output  Output
	again   time.Time // when it is tried again, zero for never
}

// askOutside asks the outside what would become of a delivery; nil if it cannot say.
func (e *Dispatcher) askOutside(ctx context.Context, row *store.OutboxRow, now time.Time) (*rehearsal, error) {
	with, can := e.Reach.Outside.(Rehearser)
	var request machine.Request
	if readable := row.Step != 0 && json.Unmarshal(row.Request, &request) == nil; !readable {
		return nil, nil // what it is about says so when it is recorded
	}
	out := &rehearsal{}
	if !can {
		by, err := e.authorOf(ctx, row, &request)
		if err != nil {
			return nil, err
		}
		if reason := e.refusedSecret(by, &request); reason != "" {
			row.Attempts++
			out.failed(row, &request, &Final{Reason: reason}, now)
			return out, nil
		}
		return nil, nil
	}
	reply, failure, known := with.Rehearse(&Delivery{
		Key: row.Key, Attempt: int(row.Attempts) + 1, Mail: request.Mail, HTTP: request.HTTP, Exec: request.Exec, Call: request.Call,
		Wrote: func(o Output) { out.output = o },
	})
	if !known {
		return nil, nil
	}
	row.Attempts++
	if failure == nil {
		event := machine.Delivered{Seq: row.Seq, Step: row.Step, Attempts: row.Attempts}
		if reply != nil {
			event.MediaType, event.Content = CleanType(reply.MediaType), reply.Content
		}
		out.event = event
		return out, nil
	}
	out.failed(row, &request, failure, now)
	return out, nil
}

// authorOf returns who answers for the secrets that a request of a step uses. It is nil
// if the request uses none, or no step asks for it.
func (e *Dispatcher) authorOf(ctx context.Context, row *store.OutboxRow, request *machine.Request) (by *Author, err error) {
	if row.Step == 0 || !request.UsesSecrets() {
		return nil, nil
	}
	err = e.Store.View(ctx, func(r store.Reader) error {
		by, err = e.Reach.AuthorOf(r, row.CaseID)
		return err
	})
	return by, err
}

// failed says what becomes of a delivery whose attempt has failed.
func (r *rehearsal) failed(row *store.OutboxRow, request *machine.Request, failure error, now time.Time) {
	r.failure = failure
	how := HowFailed(failure)
	if pause, again := NextAttempt(request, row.Key, row.Attempts, failure); again {
		r.again = now.Add(pause)
		r.event = machine.Attempted{
			Seq: row.Seq, Step: row.Step, Attempt: row.Attempts, Reason: failure.Error(), Again: r.again,
			Until: LastAttempt(request, row.Key, row.Attempts, r.again),
		}
		return
	}
	r.event = machine.Undelivered{Seq: row.Seq, Step: row.Step, Attempts: row.Attempts, Reason: failure.Error(), Kind: how.Kind, Status: how.Status, Output: how.Output}
}

// refusedSecret says why a secret that a request names cannot be put in, "" if all can
// be. A sandbox asks it so that a route which would fail outside for want of a secret
// fails there, too.
func (e *Dispatcher) refusedSecret(by *Author, request *machine.Request) string {
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
		add(route.ReachSecretBody, m.TextSecret)
	}
	for _, use := range uses {
		if reason, _ := e.Reach.refuses(by, use); reason != "" {
			return reason
		}
	}
	return ""
}

// writeRehearsal writes what would have become of a delivery.
func (e *Dispatcher) writeRehearsal(tx store.Tx, row *store.OutboxRow, r *rehearsal, now time.Time) error {
	err := JournalOf(tx, stepOf(row), now, func(j *Journal) {
		j.Begin(now)
		j.Ended(now, r.failure, r.again)
	})
	if err == nil {
		err = e.keepOutput(tx, row, r.output, now)
	}
	if err != nil {
		return err
	}
	write, err := e.Cases.Take(tx, row, r.event, now)
	if err != nil {
		return err
	}
	if r.again.IsZero() {
		return e.writeReply(tx, row, r.event, write)
	}
	if write == nil {
		return errors.New("outbox: a delivery is rehearsed that no case waits for")
	}
	if _, err := write(tx); err != nil {
		return err
	}
	tx.AfterCommit(func() { e.Note(r.again) })
	return tx.Write().Outbox().Put(row.Key, r.again, row.Attempts)
}
