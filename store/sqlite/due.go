package sqlite

import (
	"math"
	"slices"
	"time"

	"flowdrive/store"
)

const (
	selectDueEntries = `SELECT due, uuid FROM entries WHERE due <= ?1 ORDER BY due, seq LIMIT ?2`
	selectDueCases   = `SELECT due, id FROM cases WHERE due <= ?1 ORDER BY due, id LIMIT ?2`
	selectRetired    = `SELECT retires, id FROM cases WHERE retires <= ?1 ORDER BY retires, id LIMIT ?2`
	// What expires at an instant is gone at it.
	selectDueAttachments = `SELECT expires, uuid FROM attachments WHERE expires <= ?1 ORDER BY expires, id LIMIT ?2`
	selectDuePurges      = `SELECT due, case_id FROM purges WHERE due <= ?1 ORDER BY due, case_id LIMIT ?2`

	// selectHeads finds the first instant of each kind after one, by the
	// indexes alone, in the order of dueKinds.
	selectHeads = `
		SELECT
			(SELECT min(due) FROM entries WHERE due > ?1),
			(SELECT min(due) FROM cases WHERE due > ?1),
			(SELECT min(expires) FROM attachments WHERE expires > ?1),
			(SELECT min(retires) FROM cases WHERE retires > ?1),
			(SELECT min(due) FROM purges WHERE due > ?1),
			(SELECT min(due) FROM troubles WHERE due > ?1),
			(SELECT min(due) FROM held_mails WHERE due > ?1)`
)

// dueKind is a kind of things that become due.
type dueKind struct {
	kind  store.DueKind
	query string
	id    func(*store.DueRow) any // the column next to the instant
}

// dueKinds returns the kinds, in the order in which they come at one instant.
func dueKinds() [7]dueKind {
	uuid := func(d *store.DueRow) any { return bits(d.UUID[:]) }
	id := func(d *store.DueRow) any { return &d.ID }
	return [...]dueKind{
		{store.DueEntry, selectDueEntries, uuid},
		{store.DueCase, selectDueCases, id},
		{store.DueAttachment, selectDueAttachments, uuid},
		{store.DueRetirement, selectRetired, id},
		{store.DuePurge, selectDuePurges, id},
		{store.DueTrouble, selectDueTroubles, id},
		{store.DueMail, selectDueHeldMails, id},
	}
}

// heads returns the first instant of each kind after one, zero for none.
func (r *reader) heads(after int64) (heads [7]time.Time, err error) {
	var columns [len(heads)]any
	for i := range heads {
		columns[i] = millis{&heads[i]}
	}
	_, err = r.c.row(selectHeads, after).scan(columns[:]...)
	return heads, err
}

// ever is before every instant.
const ever = math.MinInt64

// Due returns what is due at or before upTo, at most limit, by instant;
// at the same instant entries come first, then cases, then attachments that
// expire, then cases whose retention is over and what is left of deleted ones,
// then what people are told again and what waited for them, each kind in the order of creation. next is when something else is due, zero
// for never.
func (r queueReader) Due(upTo time.Time, limit int) (rows []store.DueRow, next time.Time, err error) {
	const op = "read what is due"
	heads, err := r.heads(ever)
	if err != nil {
		return nil, time.Time{}, failure(op, err)
	}
	for i, kind := range dueKinds() {
		if heads[i].IsZero() || heads[i].After(upTo) {
			continue
		}
		err := r.c.each(kind.query, func(scan scan) error {
			d := store.DueRow{Kind: kind.kind}
			err := scan(millis{&d.Due}, kind.id(&d))
			rows = append(rows, d)
			return err
		}, upTo.UnixMilli(), min(limit, math.MaxInt-1)+1)
		if err != nil {
			return nil, time.Time{}, failure(op, err)
		}
	}
	if len(rows) == 0 {
		return nil, first(heads), nil
	}
	slices.SortStableFunc(rows, func(a, b store.DueRow) int { return a.Due.Compare(b.Due) })
	if len(rows) > limit {
		return slices.Clip(rows[:limit]), rows[limit].Due, nil
	}
	heads, err = r.heads(upTo.UnixMilli())
	return rows, first(heads), failure(op, err)
}

// NextDue returns the earliest due instant of all, zero for none.
func (r queueReader) NextDue() (due time.Time, err error) {
	heads, err := r.heads(ever)
	return first(heads), failure("read what is due next", err)
}

// first returns the earliest of the instants, zero for none.
func first(heads [7]time.Time) (earliest time.Time) {
	for _, head := range heads {
		if earliest.IsZero() || !head.IsZero() && head.Before(earliest) {
			earliest = head
		}
	}
	return earliest
}
