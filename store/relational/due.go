package relational

import (
	"cmp"
	"maps"
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
			(SELECT min(due) FROM held_mails WHERE due > ?1),
			(SELECT min(tell_at) FROM app_passwords WHERE tell_at > ?1)`
)

// What is due of each context is found by the indexes that calendars use.
const (
	selectDueContexts = `
		WITH RECURSIVE owning (id) AS (
			SELECT min(context_id) FROM entries WHERE due IS NOT NULL
			UNION ALL SELECT (SELECT min(context_id) FROM entries WHERE due IS NOT NULL AND context_id > owning.id) FROM owning WHERE id IS NOT NULL
		), running (id) AS (
			SELECT min(context_id) FROM cases WHERE due IS NOT NULL
			UNION ALL SELECT (SELECT min(context_id) FROM cases WHERE due IS NOT NULL AND context_id > running.id) FROM running WHERE id IS NOT NULL
		)
		SELECT id, (SELECT min(due) FROM entries e WHERE e.context_id = owning.id AND due IS NOT NULL) FROM owning WHERE id IS NOT NULL
		UNION ALL SELECT id, (SELECT min(due) FROM cases c WHERE c.context_id = running.id AND due IS NOT NULL) FROM running WHERE id IS NOT NULL`
	selectDueEntriesOf = `SELECT due, uuid FROM entries WHERE context_id = ?3 AND due <= ?1 ORDER BY due, seq LIMIT ?2`
	selectDueCasesOf   = `SELECT due, id FROM cases WHERE context_id = ?3 AND due <= ?1 ORDER BY due, id LIMIT ?2`
)

// dueKind is a kind of things that become due.
type dueKind struct {
	kind  store.DueKind
	query string
	id    func(*store.DueRow) any // the column next to the instant
}

// dueKinds returns the kinds, in the order in which they come at one instant.
func dueKinds() [8]dueKind {
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
		{store.DueSecret, selectDueSecrets, id},
	}
}

// heads returns the first instant of each kind after one, zero for none.
func (r *reader) heads(after int64) (heads [8]time.Time, err error) {
	var columns [len(heads)]any
	for i := range heads {
		columns[i] = millis{&heads[i]}
	}
	_, err = r.c.Row(selectHeads, after).Scan(columns[:]...)
	return heads, err
}

// ever is before every instant.
const ever = math.MinInt64

// Due returns what is due at or before upTo, at most limit, by instant;
// at the same instant entries come first, then cases, then attachments that
// expire, then cases whose retention is over and what is left of deleted ones,
// then what people are told again, what waited for them, and what of theirs ends soon,
// each kind in the order of creation. next is when something else is due, zero for never.
func (r queueReader) Due(upTo time.Time, limit int) (rows []store.DueRow, next time.Time, err error) {
	const op = "read what is due"
	if err := r.c.askDue(upTo, limit); err != nil {
		return nil, time.Time{}, Failure(op, err)
	}
	defer r.c.ahead.forget(whatIsDue, nil)
	heads, err := r.heads(ever)
	if err != nil {
		return nil, time.Time{}, Failure(op, err)
	}
	for i, kind := range dueKinds() {
		if heads[i].IsZero() || heads[i].After(upTo) {
			continue
		}
		err := r.c.Each(kind.query, func(scan Scan) error {
			d := store.DueRow{Kind: kind.kind}
			err := scan(millis{&d.Due}, kind.id(&d))
			rows = append(rows, d)
			return err
		}, upTo.UnixMilli(), oneMore(limit))
		if err != nil {
			return nil, time.Time{}, Failure(op, err)
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
	return rows, first(heads), Failure(op, err)
}

// oneMore is how many rows are read of a kind: one more than are taken says when that is due.
func oneMore(limit int) int { return min(limit, math.MaxInt-1) + 1 }

// askDue reads ahead what Due asks for, in one round trip instead of one for each.
func (c *Conn) askDue(upTo time.Time, limit int) error {
	if c.pipeline == nil {
		return nil
	}
	due := about{what: whatIsDue}
	all := []question{{due, selectHeads, []any{int64(ever)}}, {due, selectHeads, []any{upTo.UnixMilli()}}}
	for _, kind := range dueKinds() {
		all = append(all, question{due, kind.query, []any{upTo.UnixMilli(), oneMore(limit)}})
	}
	return c.askAhead(all)
}

// DueShares returns of more than limit things that are due at or before upTo at most
// limit, so that each user and team has an equal share, by (due, row). What belongs to
// nobody, as the ends of attachments, has the share of one.
func (r queueReader) DueShares(upTo time.Time, limit int) (rows []store.DueRow, err error) {
	const op = "share what is due"
	contexts, err := r.dueContexts(upTo, limit)
	if err != nil {
		return nil, Failure(op, err)
	}
	// Those who need less than their share leave the rest to the others, which take up to
	// four times theirs.
	most := min(limit, 4*limit/len(contexts)+1)
	shares := make([][]store.DueRow, len(contexts))
	for i, context := range contexts {
		if shares[i], err = r.dueOf(context, upTo, most); err != nil {
			return nil, Failure(op, err)
		}
	}
	for n := 0; len(rows) < limit; n++ {
		before := len(rows)
		for _, share := range shares {
			if n < len(share) && len(rows) < limit {
				rows = append(rows, share[n])
			}
		}
		if len(rows) == before {
			break
		}
	}
	slices.SortStableFunc(rows, func(a, b store.DueRow) int { return a.Due.Compare(b.Due) })
	return rows, nil
}

// dueContexts returns whose entries and cases are due, at most limit, the longest due
// first, and before them 0, which stands for what belongs to nobody.
func (r queueReader) dueContexts(upTo time.Time, limit int) ([]int64, error) {
	heads := map[int64]int64{0: ever}
	err := r.c.Each(selectDueContexts, func(scan Scan) error {
		var id, due int64
		err := scan(&id, &due)
		if earlier, known := heads[id]; due <= upTo.UnixMilli() && (!known || due < earlier) {
			heads[id] = due
		}
		return err
	})
	contexts := slices.SortedFunc(maps.Keys(heads), func(a, b int64) int {
		return cmp.Or(cmp.Compare(heads[a], heads[b]), cmp.Compare(a, b))
	})
	return contexts[:min(len(contexts), limit+1)], err
}

// dueOf returns what is due of a context, at most limit, or if that is 0, what belongs
// to nobody.
func (r queueReader) dueOf(context int64, upTo time.Time, limit int) (rows []store.DueRow, err error) {
	for _, kind := range dueKinds() {
		query, args := kind.query, []any{upTo.UnixMilli(), limit}
		if owned := kind.kind == store.DueEntry || kind.kind == store.DueCase; owned != (context != 0) {
			continue
		}
		switch kind.kind {
		case store.DueEntry:
			query, args = selectDueEntriesOf, append(args, context)
		case store.DueCase:
			query, args = selectDueCasesOf, append(args, context)
		default: // belongs to nobody
		}
		err := r.c.Each(query, func(scan Scan) error {
			d := store.DueRow{Kind: kind.kind, Context: context}
			err := scan(millis{&d.Due}, kind.id(&d))
			rows = append(rows, d)
			return err
		}, args...)
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(rows, func(a, b store.DueRow) int { return a.Due.Compare(b.Due) })
	return rows[:min(limit, len(rows))], nil
}

// NextDue returns the earliest due instant of all, zero for none.
func (r queueReader) NextDue() (due time.Time, err error) {
	heads, err := r.heads(ever)
	return first(heads), Failure("read what is due next", err)
}

// first returns the earliest of the instants, zero for none.
func first(heads [8]time.Time) (earliest time.Time) {
	for _, head := range heads {
		if earliest.IsZero() || !head.IsZero() && head.Before(earliest) {
			earliest = head
		}
	}
	return earliest
}
