package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"flowdrive/engine/quota"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// fireDue fires one batch of due rows in one unit, in which each is rolled back
// alone if it fails, and finds out what is due next.
func (e *Engine) fireDue(ctx context.Context, now time.Time, limit int) (fired int, err error) {
	e.sweeper.next.Forget() // commits from here on lower it again
	defer func() {
		if err != nil {
			e.sweeper.next.Lower(now) // try again, but not at once
		}
	}()
	var b dueBatch
	err = e.Store.Update(ctx, func(tx store.Tx) error {
		b = dueBatch{now: now, spent: spending{shared: !e.sandbox}}
		return e.fireBatch(tx, &b, limit)
	})
	if err != nil && !b.ownUnit {
		return 0, err
	}
	aside := 0
	for i := range b.items {
		item := &b.items[i]
		item.err = cmp.Or(item.err, err)
		if err := e.finishItem(ctx, &b, item); err != nil {
			return fired, err
		}
		switch {
		case item.fired:
			fired++
		case item.aside:
			aside++
		default:
			b.next = now // it may be due as it was
		}
	}
	if aside > 0 && aside == len(b.items) && !b.next.IsZero() && !b.next.After(now) {
		b.next = now.Add(retryAfter) // what is aside must not keep the sweeper awake
	}
	e.sweeper.note(b.next)
	return fired, nil
}

// dueBatch is a batch of due rows on its way through the writer.
type dueBatch struct {
	now     time.Time
	items   []dueItem
	next    time.Time // when something else is due, now for at once
	ownUnit bool      // the unit is that of its one item, and fails with it
	single  bool      // there is one item, and no case waits to be started
	spent   spending

	// nextWithin is the earliest instant that became due within it: of all, or of each
	// context if the rows are equal shares of theirs.
	nextWithin map[int64]time.Time
}

// dueItem is one due row, and what became of it.
type dueItem struct {
	store.DueRow
	cause error // why its case cannot be created, which is recorded instead; nil: nothing is known to stand in the way
	fired bool
	aside bool // it is fired beside the sweeper, or waits for that
	err   error
}

// mustWait reports whether something that became due meanwhile comes before
// the item, which then waits for the next batch.
func (b *dueBatch) mustWait(item *dueItem) bool {
	next, due := b.nextWithin[item.Context]
	return due && !item.Due.Before(next)
}

// noteNext notes when an item that was fired is due next.
func (b *dueBatch) noteNext(item *dueItem, due time.Time) {
	if due.IsZero() || due.After(b.now) {
		return
	}
	if next, known := b.nextWithin[item.Context]; !known || due.Before(next) {
		keep(&b.nextWithin, item.Context, due)
	}
}

// dueKind is how things of one kind are fired and stopped.
type dueKind struct {
	name string // in the log

	// fire does what is due of an item, and returns when it is due next, zero
	// for never. fired is false if nothing of it was due any more, and for what
	// only comes to its end.
	fire func(e *Engine, tx store.Tx, b *dueBatch, item *dueItem) (next time.Time, fired bool, err error)
	// stop takes the due time away.
	stop func(tx store.Tx, row store.DueRow) error
	// counts says that an item which failed is counted as fired.
	counts bool
	// recordsFailure says that fire can record the cause of a failure.
	recordsFailure bool
}

// dueKindOf returns how things of the kind are fired and stopped.
func dueKindOf(kind store.DueKind) dueKind {
	return [...]dueKind{
		store.DueEntry:      {name: "entry", fire: (*Engine).fireEntry, stop: stopEntry, counts: true, recordsFailure: true},
		store.DueCase:       {name: "case", fire: (*Engine).fireCase, stop: stopCase, counts: true},
		store.DueAttachment: {name: "attachment", fire: (*Engine).fireExpiry, stop: stopExpiry},
		store.DueRetirement: {name: "retirement", fire: (*Engine).fireRetirement, stop: stopRetirement},
		store.DuePurge:      {name: "purge", fire: (*Engine).firePurge, stop: stopPurge},
		store.DueTrouble:    {name: "trouble", fire: (*Engine).fireTrouble, stop: stopTrouble},
		store.DueMail:       {name: "mail", fire: (*Engine).fireMail, stop: stopMail},
		store.DueSecret:     {name: "app password", fire: (*Engine).fireEnding, stop: stopEnding},
	}[kind]
}

func (e *Engine) fireEntry(tx store.Tx, b *dueBatch, item *dueItem) (time.Time, bool, error) {
	return e.Schedules.fireEntry(tx, b, item)
}

func (e *Engine) fireCase(tx store.Tx, b *dueBatch, item *dueItem) (time.Time, bool, error) {
	return e.decider.fireCase(tx, b, item)
}

func (e *Engine) fireExpiry(tx store.Tx, b *dueBatch, item *dueItem) (time.Time, bool, error) {
	return time.Time{}, false, e.Attachments.expire(tx, item.UUID, b.now)
}

func (e *Engine) fireRetirement(tx store.Tx, b *dueBatch, item *dueItem) (time.Time, bool, error) {
	return time.Time{}, false, e.Archive.retire(tx, item.ID, b.now)
}

func (e *Engine) firePurge(tx store.Tx, b *dueBatch, item *dueItem) (time.Time, bool, error) {
	return time.Time{}, false, e.Archive.purgeBelow(tx, item.ID, b.now)
}

// fireBatch fires due rows one after the other.
func (e *Engine) fireBatch(tx store.Tx, b *dueBatch, limit int) error {
	rows, next, err := tx.Queue().Due(b.now, limit)
	if err != nil || len(rows) == 0 {
		b.next = next
		return err
	}
	if len(rows) == limit && !next.IsZero() && !next.After(b.now) && !e.sandbox {
		if rows, err = tx.Queue().DueShares(b.now, limit); err != nil {
			return err
		}
	}
	if e.sandbox {
		// What was fired at an instant must not be in the future of a sandbox
		// that was killed on its way.
		if err := putClock(tx, b.now); err != nil {
			return err
		}
	}
	if err := aheadOf(tx, rows); err != nil {
		return err
	}
	b.next, b.items = next, make([]dueItem, len(rows))
	b.ownUnit = len(rows) == 1 && !e.sandbox
	b.single = len(rows) == 1 && !e.sweeper.queued.Load()
	parts := make([]func() error, len(rows))
	for i := range rows {
		item := &b.items[i]
		item.DueRow = rows[i]
		parts[i] = func() error {
			if b.mustWait(item) {
				return nil
			}
			if item.aside = e.sweeper.aside.has(keyOfRow(item.DueRow)); item.aside {
				return nil
			}
			tx.Write().Later() // what does not come out is fired again
			return e.fireItem(tx, b, item)
		}
	}
	if b.ownUnit {
		return parts[0]()
	}
	for i, err := range tx.Write().Parts(parts) {
		b.items[i].err = err
	}
	return nil
}

// aheadOf says what is about to be fired.
func aheadOf(tx store.Tx, rows []store.DueRow) error {
	of := store.Ahead{Occurrences: lastFired}
	for i := range rows {
		switch rows[i].Kind {
		case store.DueEntry:
			of.Entries = append(of.Entries, rows[i].UUID)
		case store.DueCase:
			of.Cases = append(of.Cases, rows[i].ID)
		case store.DueAttachment, store.DueRetirement, store.DuePurge, store.DueTrouble, store.DueMail, store.DueSecret:
		}
	}
	return tx.Queue().Ahead(of)
}

// finishItem does what is left to do of an item: if it failed for want of
// something that is found outside the writer it is fired again, and what
// cannot be done is recorded as failed.
func (e *Engine) finishItem(ctx context.Context, b *dueBatch, item *dueItem) error {
	if item.err == nil {
		return nil
	}
	item.fired = false
	own, fresh := *item, dueBatch{now: b.now, single: b.single}
	if e.putAside(ctx, item.err, work{key: keyOfRow(item.DueRow)}, func() error { return e.finishHere(ctx, &fresh, &own) }) {
		item.aside = true
		return nil
	}
	return e.finishHere(ctx, b, item)
}

// finishHere is finishItem of what is not put aside.
func (e *Engine) finishHere(ctx context.Context, b *dueBatch, item *dueItem) error {
	fire := func() error {
		return e.Store.Update(ctx, func(tx store.Tx) error {
			return e.fireItem(tx, &dueBatch{now: b.now, single: b.single}, item)
		})
	}
	if errors.Is(item.err, store.ErrAgain) {
		item.err = fire()
	}
	item.err = e.runPrefetched(ctx, item.err, fire)
	if item.err == nil {
		return nil
	}
	b.next = b.now
	if err := e.fireFailed(ctx, item.DueRow, b.now, item.err); err != nil {
		return err
	}
	item.fired = dueKindOf(item.Kind).counts
	return nil
}

// fireItem fires one item and says in it whether something was fired.
func (e *Engine) fireItem(tx store.Tx, b *dueBatch, item *dueItem) error {
	next, fired, err := dueKindOf(item.Kind).fire(e, tx, b, item)
	item.fired = fired
	if err == nil {
		b.noteNext(item, next)
	}
	return err
}

// fireFailed handles a due row whose unit failed, so that it neither stops
// the others nor is due for ever: an entry's instant is recorded as failed
// and the entry goes on. What cannot even be recorded has its due time taken
// away, as has everything of another kind.
func (e *Engine) fireFailed(ctx context.Context, row store.DueRow, now time.Time, cause error) error {
	if ctx.Err() != nil || quota.Unserved(cause) {
		return cause
	}
	kind := dueKindOf(row.Kind)
	e.log.Error().Err(cause).Str("kind", kind.name).Stringer("uuid", row.UUID).Int64("id", row.ID).Msg("sweeper: a due row failed")
	if kind.recordsFailure {
		err := e.Store.Update(ctx, func(tx store.Tx) error {
			return e.fireItem(tx, &dueBatch{now: now}, &dueItem{DueRow: row, cause: cause})
		})
		if err == nil || ctx.Err() != nil || quota.Unserved(err) {
			return err
		}
		e.log.Error().Err(err).Str("entry", row.UUID.String()).Msg("sweeper: a schedule entry cannot continue; it stops until it is saved again")
	}
	return e.Store.Update(ctx, func(tx store.Tx) error { return ifThere(kind.stop(tx, row)) })
}

func stopEntry(tx store.Tx, row store.DueRow) error {
	stored, err := tx.Entries().Get(row.UUID)
	if err != nil {
		return err
	}
	stored.Due = time.Time{}
	return tx.Write().Entries().Update(stored)
}

func stopCase(tx store.Tx, row store.DueRow) error {
	stored, err := tx.Cases().Get(row.ID)
	if err != nil {
		return err
	}
	stored.Due = time.Time{}
	return tx.Write().Cases().Update(stored, stored.Revision)
}

func stopExpiry(tx store.Tx, row store.DueRow) error {
	return tx.Write().Attachments().SetExpiry(row.UUID, time.Time{})
}

func stopRetirement(tx store.Tx, row store.DueRow) error {
	return tx.Write().Cases().SetRetires(row.ID, time.Time{})
}

func stopPurge(tx store.Tx, row store.DueRow) error {
	return tx.Write().Cases().DeletePurge(row.ID)
}

// ifThere returns the error, or nil if it says that a thing does not exist.
func ifThere(err error) error {
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}
