package sqlite

import (
	"time"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

const (
	outboxColumns = `id, key, case_id, seq, step, lane, request, due, attempts, created`

	selectOutbox = `SELECT ` + outboxColumns + ` FROM outbox WHERE key = ?1`
	// From lane to lane by the index: what waits in each is not looked at.
	selectLanes = `
		WITH RECURSIVE lanes (lane) AS (
			SELECT min(lane) FROM outbox WHERE due IS NOT NULL
			UNION ALL
			SELECT (SELECT min(lane) FROM outbox WHERE due IS NOT NULL AND outbox.lane > lanes.lane) FROM lanes WHERE lanes.lane IS NOT NULL)
		SELECT lane, (SELECT min(due) FROM outbox WHERE due IS NOT NULL AND outbox.lane = lanes.lane) FROM lanes WHERE lane IS NOT NULL`
	selectDueOutbox = `SELECT ` + outboxColumns + ` FROM outbox WHERE lane = ?1 AND due <= ?2 ORDER BY due, id LIMIT ?3`

	insertOutbox = `
		INSERT INTO outbox (key, case_id, seq, step, lane, request, due, attempts, created)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`
	leaseOutbox  = `UPDATE outbox SET due = ?3, attempts = ?4, flying = 1 WHERE id = ?1 AND due = ?2`
	updateOutbox = `UPDATE outbox SET due = ?2, attempts = ?3, flying = 0 WHERE key = ?1`
	deleteOutbox = `DELETE FROM outbox WHERE key = ?1`
	landOutbox   = `UPDATE outbox SET due = ?1, flying = 0 WHERE flying = 1`
)

func scanOutbox(scan scan, o *store.OutboxRow) error {
	return scan(&o.ID, &o.Key, number{&o.CaseID}, &o.Seq, &o.Step, &o.Lane, &o.Request, millis{&o.Due}, &o.Attempts, millis{&o.Created})
}

// Get returns one thing to be done outside.
func (r outboxReader) Get(key string) (*store.OutboxRow, error) {
	o := &store.OutboxRow{}
	found, err := r.c.row(selectOutbox, key).read(func(scan scan) error { return scanOutbox(scan, o) })
	if err := read(found, err, "row of the outbox"); err != nil {
		return nil, err
	}
	return o, nil
}

// Lanes returns the lanes in which something is due sometime, by name.
func (r outboxReader) Lanes() (lanes []store.OutboxLane, err error) {
	err = r.c.each(selectLanes, func(scan scan) error {
		var l store.OutboxLane
		err := scan(&l.Name, millis{&l.Due})
		lanes = append(lanes, l)
		return err
	})
	return lanes, failure("read what is due in the outbox", err)
}

// Due returns what is due in a lane, by instant, then in the order of
// creation.
func (r outboxReader) Due(lane string, upTo time.Time, limit int) (rows []store.OutboxRow, err error) {
	err = r.c.each(selectDueOutbox, func(scan scan) error {
		var o store.OutboxRow
		err := scanOutbox(scan, &o)
		rows = append(rows, o)
		return err
	}, lane, upTo.UnixMilli(), limit)
	return rows, failure("read what is due in the outbox", err)
}

// Insert stores a new row. A key in use is errs.NameTaken.
func (t outboxWriter) Insert(o *store.OutboxRow) error {
	res, err := t.c.exec(insertOutbox, o.Key, orNull(o.CaseID), o.Seq, o.Step, o.Lane, blob(o.Request), at(o.Due), o.Attempts, at(o.Created))
	if isUnique(err) {
		return errs.New(errs.NameTaken, "The outbox has the key %s already.", o.Key)
	}
	if err == nil {
		o.ID, err = res.LastInsertId()
	}
	return failure("store what is to be done outside", err)
}

// Lease says that a row is being tried.
func (t outboxWriter) Lease(o *store.OutboxRow, until time.Time) (bool, error) {
	n, err := t.c.change(leaseOutbox, o.ID, at(o.Due), at(until), o.Attempts)
	return n == 1, failure("begin what is to be done outside", err)
}

// Put says when a row is tried again.
func (t outboxWriter) Put(key string, due time.Time, attempts int64) error {
	_, err := t.c.exec(updateOutbox, key, at(due), attempts)
	return failure("put off what is to be done outside", err)
}

// Delete deletes a row, where there is one.
func (t outboxWriter) Delete(key string) error {
	_, err := t.c.exec(deleteOutbox, key)
	return failure("end what is done outside", err)
}

// Release makes due what was being tried.
func (t outboxWriter) Release(now time.Time) error {
	_, err := t.c.exec(landOutbox, at(now))
	return failure("begin again what is to be done outside", err)
}
