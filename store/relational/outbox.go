package relational

import (
	"time"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

var outboxTable = table[store.OutboxRow]{"outbox", "row of the outbox", func(o *store.OutboxRow, to []column) []column {
	return append(to, []column{
		{"id", selected, &o.ID},
		{"key", fixed, &o.Key},
		{"case_id", fixed, number{&o.CaseID}},
		{"seq", fixed, &o.Seq},
		{"step", fixed, &o.Step},
		{"lane", fixed, &o.Lane},
		{"request", fixed, &o.Request},
		{"due", fixed, millis{&o.Due}},
		{"attempts", fixed, &o.Attempts},
		{"flying", selected, &o.Flying},
		{"created", fixed, millis{&o.Created}},
	}...)
}}

var (
	insertOutbox    = outboxTable.insert()
	selectOutbox    = `SELECT ` + outboxTable.list("") + ` FROM outbox WHERE key = ?1`
	firstOutbox     = `SELECT ` + outboxTable.list("") + ` FROM outbox WHERE id = (SELECT min(id) FROM outbox WHERE key >= ?1 AND key < ?2)`
	selectDueOutbox = `SELECT ` + outboxTable.list("") + ` FROM outbox WHERE lane = ?1 AND due <= ?2 ORDER BY due, id LIMIT ?3`
)

const (
	// From lane to lane by the index: what waits in each is not looked at.
	selectLanes = `
		WITH RECURSIVE lanes (lane) AS (
			SELECT min(lane) FROM outbox WHERE due IS NOT NULL
			UNION ALL
			SELECT (SELECT min(lane) FROM outbox WHERE due IS NOT NULL AND outbox.lane > lanes.lane) FROM lanes WHERE lanes.lane IS NOT NULL)
		SELECT lane, (SELECT min(due) FROM outbox WHERE due IS NOT NULL AND outbox.lane = lanes.lane) FROM lanes WHERE lane IS NOT NULL`

	leaseOutbox  = `UPDATE outbox SET due = ?3, attempts = ?4, flying = 1 WHERE id = ?1 AND due = ?2`
	updateOutbox = `UPDATE outbox SET due = ?2, attempts = ?3, flying = 0 WHERE key = ?1`
	deleteOutbox = `DELETE FROM outbox WHERE key = ?1`
	landOutbox   = `UPDATE outbox SET due = ?1 WHERE flying = 1`
)

// Get returns one thing to be done outside.
func (r outboxReader) Get(key string) (*store.OutboxRow, error) {
	return outboxTable.one(r.c, selectOutbox, key)
}

// First returns the first of the rows whose key has that prefix, nil for none.
func (r outboxReader) First(prefix string) (*store.OutboxRow, error) {
	return store.OrNil(outboxTable.one(r.c, firstOutbox, prefix, prefix+last))
}

// Lanes returns the lanes in which something is due sometime, by name.
func (r outboxReader) Lanes() (lanes []store.OutboxLane, err error) {
	err = r.c.Each(selectLanes, func(scan Scan) error {
		var l store.OutboxLane
		err := scan(&l.Name, millis{&l.Due})
		lanes = append(lanes, l)
		return err
	})
	return lanes, Failure("read what is due in the outbox", err)
}

// Due returns what is due in a lane, by instant, then in the order of
// creation.
func (r outboxReader) Due(lane string, upTo time.Time, limit int) (rows []store.OutboxRow, err error) {
	err = outboxTable.add(r.c, &rows, selectDueOutbox, lane, upTo.UnixMilli(), limit)
	return rows, Failure("read what is due in the outbox", err)
}

// Insert stores a new row. A key in use is errs.NameTaken.
func (t outboxWriter) Insert(o *store.OutboxRow) error {
	err := insertOutbox.added(t.c, o, &o.ID)
	if isUnique(err) {
		return errs.New(errs.NameTaken, "The outbox has the key %s already.", o.Key)
	}
	return Failure("store a delivery", err)
}

// Lease says that a row is being tried.
func (t outboxWriter) Lease(o *store.OutboxRow, until time.Time) (bool, error) {
	n, err := t.c.Change(leaseOutbox, o.ID, at(o.Due), at(until), o.Attempts)
	return n == 1, Failure("begin a delivery", err)
}

// Put says when a row is tried again.
func (t outboxWriter) Put(key string, due time.Time, attempts int64) error {
	_, err := t.c.Exec(updateOutbox, key, at(due), attempts)
	return Failure("postpone a delivery", err)
}

// Delete deletes a row, if there is one.
func (t outboxWriter) Delete(key string) error {
	_, err := t.c.Exec(deleteOutbox, key)
	return Failure("end a delivery", err)
}

// Release makes due what was being tried.
func (t outboxWriter) Release(now time.Time) error {
	_, err := t.c.Exec(landOutbox, at(now))
	return Failure("begin deliveries again", err)
}
