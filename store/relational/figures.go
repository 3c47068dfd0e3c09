package relational

import (
	"context"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/store"
)

// Each walks through one index, and reads no row of a table with contents.
const (
	countStates = `SELECT state, count(*) FROM cases INDEXED BY cases_open WHERE open = 1 GROUP BY state`
	countLists  = `SELECT count(*) FILTER (WHERE lists & ?1 <> 0), count(*) FILTER (WHERE lists & ?2 <> 0) FROM route_tasks`
	// Few things are wrong.
	countOverdue = `SELECT count(DISTINCT case_id) FROM troubles WHERE case_id IS NOT NULL AND substr(name, 1, length(?1)) = ?1`
	countOutbox  = `
		SELECT (SELECT count(*) FROM outbox WHERE due IS NOT NULL),
			(SELECT count(*) FROM outbox),
			(SELECT created FROM outbox WHERE due IS NOT NULL ORDER BY id LIMIT 1)`
	countLate  = `SELECT count(*) FROM entries WHERE due < ?1`
	countHolds = `SELECT count(*) FROM holds`
	sumStored  = `SELECT coalesce(sum(n), 0) FROM stored_bytes`
)

// Figures implements store.Store.
func (db *DB) Figures(ctx context.Context, now time.Time) (f *store.Figures, err error) {
	err = db.ViewConn(ctx, func(c *Conn) (err error) {
		f, err = (&reader{c: c}).figures(now)
		return err
	})
	return f, err
}

func (r *reader) figures(now time.Time) (*store.Figures, error) {
	f := &store.Figures{Cases: make(map[string]int64)}
	err := r.c.Each(countStates, func(scan Scan) error {
		var state string
		var n int64
		err := scan(&state, &n)
		f.Cases[state] = n
		return err
	})
	if err != nil {
		return nil, Failure("count the cases", err)
	}
	var all int64
	for _, one := range []struct {
		query     string
		arguments []any
		into      []any
	}{
		{countLists, []any{int64(machine.WatchedWarnings), int64(machine.WatchedEscalated)}, []any{&f.Warned, &f.Escalated}},
		{countOverdue, []any{store.OverdueTrouble}, []any{&f.Overdue}},
		{countOutbox, nil, []any{&f.Pending, &all, millis{&f.Oldest}}},
		{countLate, []any{now.UnixMilli()}, []any{&f.Late}},
		{countHolds, nil, []any{&f.Holds}},
		{sumStored, nil, []any{&f.Stored}},
	} {
		if _, err := r.c.Row(one.query, one.arguments...).Scan(one.into...); err != nil {
			return nil, Failure("count what there is", err)
		}
	}
	f.Undelivered = all - f.Pending
	f.Due, err = queueReader{r}.NextDue()
	return f, err
}
