package sqlite

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// checkpointFrom is the number of pages in the log from which an idle
	// moment is used to bring them into the database file.
	checkpointFrom = 1000
	// lookAfter is after how many units it is worth to wait for an idle moment
	// and to look how long the log has become: most write some twenty pages,
	// and what fires once in a while is not to wake the machine twice.
	lookAfter = 16
)

// checkpointer moves the pages of the log into the database file while
// nothing else is to do, so that a commit under load rarely has to. It has a
// connection of its own: a unit that comes meanwhile does not wait for it.
// Between a quiet moment and the next commit it neither wakes nor asks.
type checkpointer struct {
	wake  chan struct{}
	armed atomic.Bool
	count atomic.Int64 // commits
	units atomic.Int64 // since the log was looked at
	done  atomic.Int64 // checkpoints
}

// committed counts a commit of that many units, and wakes the checkpointer if
// it sleeps and there may be something to do.
func (c *checkpointer) committed(units int64) {
	c.count.Add(1)
	if c.units.Add(units) >= lookAfter && c.armed.CompareAndSwap(false, true) {
		c.wake <- struct{}{}
	}
}

// checkpointWhenIdle runs until ctx ends. A checkpoint that fails is not
// reported: the next idle moment tries again, and the writer's own remains.
func (db *DB) checkpointWhenIdle(ctx context.Context) {
	var c *conn
	defer func() {
		if c != nil {
			_ = c.close()
		}
	}()
	for db.awaitIdle(ctx) {
		if c == nil {
			var err error
			if c, err = db.connect(ctx, db.checkPool, "", db.opts.checkpointPragmas()); err != nil {
				continue
			}
		}
		_ = db.runCheckpoint(c)
	}
}

// awaitIdle returns once there were commits worth it and then none for a
// while. It returns false when ctx ends.
func (db *DB) awaitIdle(ctx context.Context) bool {
	select {
	case <-db.checkpoint.wake:
	case <-ctx.Done():
		return false
	}
	timer := time.NewTimer(db.opts.Idle)
	defer timer.Stop()
	for {
		seen := db.checkpoint.count.Load()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return false
		}
		if seen == db.checkpoint.count.Load() {
			db.checkpoint.units.Store(0)
			db.checkpoint.armed.Store(false)
			return true
		}
		timer.Reset(db.opts.Idle)
	}
}

const (
	measureLog     = `PRAGMA wal_checkpoint(NOOP)`
	passCheckpoint = `PRAGMA wal_checkpoint(PASSIVE)`
)

// runCheckpoint checkpoints as much as it can without waiting, if the log has
// grown enough.
func (db *DB) runCheckpoint(c *conn) error {
	var busy, logged, done int
	if _, err := c.Row(measureLog).Scan(&busy, &logged, &done); err != nil || logged-done < checkpointFrom {
		return err
	}
	if _, err := c.Row(passCheckpoint).Scan(&busy, &logged, &done); err != nil {
		return err
	}
	db.checkpoint.done.Add(1)
	return nil
}
