package sqlite

import (
	"math"
	"slices"
	"time"

	"flowdrive/engine"
)

const (
	selectDueEntries = `SELECT due, uuid FROM entries WHERE due <= ?1 ORDER BY due, seq LIMIT ?2`
	selectDueCases   = `SELECT due, id FROM cases WHERE due <= ?1 ORDER BY due, id LIMIT ?2`
	selectRetired    = `SELECT retires, id FROM cases WHERE retires <= ?1 ORDER BY retires, id LIMIT ?2`
	// What expires at an instant is gone at it.
	selectDueAttachments = `SELECT expires, uuid FROM attachments WHERE expires <= ?1 ORDER BY expires, id LIMIT ?2`
	selectDuePurges      = `SELECT due, case_id FROM purges WHERE due <= ?1 ORDER BY due, case_id LIMIT ?2`
	selectNextDue        = `
		SELECT min(due) FROM (
			SELECT min(due) AS due FROM entries WHERE due > ?1
			UNION ALL SELECT min(due) FROM cases WHERE due > ?1
			UNION ALL SELECT min(expires) FROM attachments WHERE expires > ?1
			UNION ALL SELECT min(retires) FROM cases WHERE retires > ?1
			UNION ALL SELECT min(due) FROM purges WHERE due > ?1)`
)

// DueRows returns what is due at or before upTo, at most limit, by instant;
// at the same instant entries come first, then cases, then attachments that
// expire, then cases whose retention is over and what is left of deleted ones,
// each kind in the order of creation.
func (r *reader) DueRows(upTo time.Time, limit int) ([]engine.DueRow, error) {
	const op = "read what is due"
	var rows []engine.DueRow
	collect := func(query string, column func(*engine.DueRow) any) error {
		return r.c.each(query, func(scan scan) error {
			var d engine.DueRow
			err := scan(millis{&d.Due}, column(&d))
			rows = append(rows, d)
			return err
		}, upTo.UnixMilli(), limit)
	}
	if err := collect(selectDueEntries, func(d *engine.DueRow) any { return bits(d.Entry[:]) }); err != nil {
		return nil, failure(op, err)
	}
	if err := collect(selectDueCases, func(d *engine.DueRow) any { return &d.CaseID }); err != nil {
		return nil, failure(op, err)
	}
	if err := collect(selectDueAttachments, func(d *engine.DueRow) any { return bits(d.Attachment[:]) }); err != nil {
		return nil, failure(op, err)
	}
	if err := collect(selectRetired, func(d *engine.DueRow) any { return &d.Retired }); err != nil {
		return nil, failure(op, err)
	}
	if err := collect(selectDuePurges, func(d *engine.DueRow) any { return &d.Purge }); err != nil {
		return nil, failure(op, err)
	}
	slices.SortStableFunc(rows, func(a, b engine.DueRow) int { return a.Due.Compare(b.Due) })
	if len(rows) > limit {
		rows = slices.Clip(rows[:limit])
	}
	return rows, nil
}

// NextDue returns the earliest due instant after another, or of all where that
// is zero; zero for none.
func (r *reader) NextDue(after time.Time) (due time.Time, err error) {
	from := int64(math.MinInt64)
	if !after.IsZero() {
		from = after.UnixMilli()
	}
	_, err = r.c.row(selectNextDue, from).scan(millis{&due})
	return due, failure("read what is due next", err)
}
