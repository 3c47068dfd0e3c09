package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/engine/quota"
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
			tx.AfterCommit(func() { e.dispatcher.Note(now) })
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
			row.Due = time.Time{} // its Dispatcher begins it
			return tx.Write().Outbox().Insert(row)
		}
	}
	if err := tx.Write().Outbox().Insert(row); err != nil {
		return err
	}
	due := row.Due
	tx.AfterCommit(func() { e.dispatcher.Note(due) })
	return nil
}

// Take implements outbox.Cases.
func (e *deliveries) Take(r store.Reader, row *store.OutboxRow, event machine.Event, now time.Time) (outbox.Write, error) {
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
	if err != nil {
		return nil, errs.Wrap(fmt.Sprintf("%T of case %d", event, row.CaseID), err)
	}
	return func(tx store.Tx) (bool, error) {
		err := e.decider.write(tx, c)
		return slices.ContainsFunc(c.after.Outbox, func(o machine.Outgoing) bool { return o.Seq == row.Seq && o.Step == row.Step }), err
	}, nil
}

// NoteAttempt implements outbox.Cases.
func (e *deliveries) NoteAttempt(tx store.Tx, row *store.OutboxRow, failure error, now time.Time) error {
	return e.decider.noteAttempt(tx, row, failure, now)
}

// PutMessage implements outbox.Cases.
func (e *deliveries) PutMessage(tx store.Tx, c *store.Case, n machine.NewMessage, now time.Time) error {
	return e.decider.putMessage(tx, c, n, now)
}

// HasRoom implements outbox.Cases.
func (e *deliveries) HasRoom(tx store.Tx, c *store.Case, size int64) (bool, error) {
	err := e.checkQuota(tx, c.StarterID, size)
	if errors.Is(err, quota.ErrUsedUp) {
		return false, nil
	}
	return err == nil, err
}
