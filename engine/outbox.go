package engine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/mediatype"
	"flowdrive/store"
)

// outboxKey is the idempotency key of what a step of a case asks for
// (docs/contract/engine.md#the-machine-is-a-pure-function).
func outboxKey(guid string, seq, step int64) string { return fmt.Sprintf("%s-%d-%d", guid, seq, step) }

// post does to the outbox what an event of a case says.
func (e *decider) post(tx store.Tx, c *caseChange) error {
	for i := range c.postings {
		p := &c.postings[i]
		key, now := outboxKey(c.after.GUID, p.Seq, p.Step), c.after.Modified
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
	row.Lane, row.Request = laneOf(request), form
	if err := tx.Write().Outbox().Insert(row); err != nil {
		return err
	}
	due := row.Due
	tx.AfterCommit(func() { e.sweeper.noteOutbox(due) })
	return nil
}

// laneOf returns the lane of a request: the mail server, a host, a command or a
// callback. A slow lane does not delay the others.
func laneOf(r *machine.Request) string {
	switch {
	case r.Mail != nil:
		return "mail"
	case r.HTTP != nil:
		if u, err := url.Parse(r.HTTP.URL); err == nil {
			return "http:" + strings.ToLower(u.Host)
		}
		return "http:"
	case r.Exec != nil:
		return "exec:" + r.Exec.Name
	}
	return "call:" + r.Call.Name
}

// What is not delivered is tried again with growing pauses, for about a day.
const (
	firstPause   = 5 * time.Second
	longestPause = time.Hour
	mostAttempts = 33
	longestLater = 24 * time.Hour // that the outside may ask for
)

// pauseAfter returns how long to wait after so many attempts. Each pause is
// twice the one before, up to an hour; a part of it that key and attempt give
// is added or taken away, so that what failed together does not come back
// together.
func pauseAfter(key string, attempts int64) time.Duration {
	pause := longestPause
	if shift := attempts - 1; shift < 16 {
		pause = min(pause, firstPause<<shift)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", key, attempts))
	const share = 5 // a fifth more or less
	spread := int64(2 * pause / share)
	return pause - pause/share + time.Duration(int64(binary.BigEndian.Uint64(sum[:8])>>1)%spread)
}

// landed takes in what became of an attempt.
func (e *outbox) landed(ctx context.Context, row *store.OutboxRow, reply *Reply, failure error) error {
	if failure == nil {
		event := machine.Delivered{Seq: row.Seq, Step: row.Step, Attempts: row.Attempts}
		if reply != nil {
			event.MediaType, event.Content = cleanType(reply.MediaType), reply.Content
		}
		return e.conclude(ctx, row, event)
	}
	if final, is := errors.AsType[*Final](failure); is || row.Attempts >= mostAttempts {
		reason := failure.Error()
		if is {
			reason = final.Reason
		}
		return e.conclude(ctx, row, machine.Undelivered{Seq: row.Seq, Step: row.Step, Attempts: row.Attempts, Reason: reason})
	}
	pause := pauseAfter(row.Key, row.Attempts)
	if later, asks := errors.AsType[*Later](failure); asks {
		pause = max(pause, min(later.After, longestLater))
	}
	due := e.Clock.Now().Add(pause)
	e.log.Info().Err(failure).Str("key", row.Key).Str("lane", row.Lane).Int64("attempt", row.Attempts).Time("again", due).Msg("outbox: an attempt failed; it will be repeated")
	return e.Store.Update(ctx, func(tx store.Tx) error {
		tx.AfterCommit(func() { e.sweeper.noteOutbox(due) })
		return tx.Write().Outbox().Put(row.Key, due, row.Attempts)
	})
}

// conclude gives the case the result of a delivery, and removes the delivery
// from the outbox unless it may be retried, all in one unit: an answer is used
// once.
func (e *outbox) conclude(ctx context.Context, row *store.OutboxRow, event machine.Event) error {
	return e.Change(ctx, func(r store.Reader) (change.Decision, error) {
		c, err := e.heard(r, row, event, e.Clock.Now())
		if err != nil {
			return nil, err
		}
		return func(tx store.Tx) error { return e.putHeard(tx, row, event, c) }, nil
	})
}

// heard decides what an event of a delivery does to its case. It returns nil if
// no case waits for it.
func (e *outbox) heard(r store.Reader, row *store.OutboxRow, event machine.Event, now time.Time) (*caseChange, error) {
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

// putHeard writes what heard decided.
func (e *outbox) putHeard(tx store.Tx, row *store.OutboxRow, event machine.Event, c *caseChange) error {
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
	return tx.Write().Outbox().Delete(row.Key)
}

// cleanType returns the media type of an answer, as far as it is one.
func cleanType(text string) string {
	const longest = 200
	main, sub, found := strings.Cut(text, "/")
	legal := found && main != "" && sub != "" && len(text) <= longest
	for i := range len(text) {
		legal = legal && text[i] >= ' ' && text[i] < 0x7f
	}
	if !legal {
		return mediatype.Unknown
	}
	return text
}
