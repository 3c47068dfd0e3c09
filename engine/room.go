package engine

import (
	"context"
	"errors"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/engine/quota"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// What steps write counts against the quota of who has started the case. The core asks how much
// room there is, and a step for which there is too little fails. The unit looks again: cases
// that were decided at the same time had the same room.

// room is what a decision asks of the starter's quota, and what its unit takes of it.
type room struct{ *decider }

// need looks up how much the starter of the tree may store beside what the same change
// stores already.
func (e room) need(in *machine.Input, l *lookup) (err error) {
	starter := e.accounts.PartyID(in.Case.Starter)
	var left int64
	look := func(r store.Reader) (err error) {
		left, err = e.roomInQuota(r, starter, 0, -1)
		return err
	}
	switch {
	case l.reader != nil:
		err = look(l.reader)
	case l.holds != nil:
		err = look(l.holds)
	default:
		err = e.Store.View(context.Background(), look)
	}
	left -= l.stores
	for _, c := range l.after {
		left -= c.stores
	}
	in.Facts.Room = &left
	return err
}

// size looks up how long a message is, as the decision finds it.
func (e room) size(in *machine.Input, l *lookup, of machine.InputRef) error {
	find := l.find
	if of.Case != in.Case.ID {
		find = func(label string) (*store.Message, error) {
			if l.reader == nil {
				return nil, nil
			}
			return store.OrNil(l.reader.Cases().Messages().GetByLabel(of.Case, label))
		}
	}
	m, err := find(of.Label)
	if err != nil {
		return err
	}
	var size machine.Size
	var version int64
	if m != nil {
		size.Bytes, version = m.Size, m.Version
		if m.AuthorID == e.accounts.PartyID(in.Case.Starter) {
			size.Own = m.Size
		}
	}
	keep(&in.Facts.Sizes, of, size)
	l.messages = append(l.messages, readFact{of.Case, of.Label, version})
	return nil
}

// fullIfNoRoom makes the error of a decision that there is no room for one that says that the
// quota is used up: who waits for the answer can delete something.
func fullIfNoRoom(err error) error {
	var fault *errs.Error
	if !errors.Is(err, machine.ErrRoom) || !errors.As(err, &fault) {
		return err
	}
	return errNoRoom(fault.Detail + ".")
}

func errNoRoom(detail string) error {
	return &errs.Error{Kind: errs.Full, Detail: detail, Err: quota.ErrUsedUp}
}

// stillFits returns change.ErrStale if there is no room any more for what the steps of a
// change write.
func (e room) stillFits(tx store.Tx, c *caseChange) error {
	var steps, all int64
	add := func(c *caseChange) {
		steps += c.stores
		for _, m := range c.messages {
			all += m.Size
		}
	}
	add(c)
	for _, other := range c.others {
		add(other)
	}
	if steps == 0 {
		return nil
	}
	all += steps
	err := e.checkQuota(tx, c.row.StarterID, all)
	if !errors.Is(err, quota.ErrUsedUp) {
		return err
	}
	left, err := e.roomInQuota(tx, c.row.StarterID, 0, -1)
	if err == nil && left < all {
		return change.ErrStale
	}
	return err // there are more versions than give way at once
}

// admits returns errs.Full if a person asks for a case of which nothing can be stored any more,
// or whose steps have failed for lack of room as it started.
func (e room) admits(tx store.Tx, c *caseChange) error {
	if c.was != nil || c.base != 0 {
		return nil
	}
	if c.full {
		return errNoRoom("The case was not started: what its steps write would be more than you may store; delete something first, or ask an administrator.")
	}
	return e.checkQuota(tx, c.row.StarterID, 1)
}
