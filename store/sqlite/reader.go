package sqlite

import (
	"context"

	"flowdrive/store"
)

// reader reads over one connection. It serves a View, and a unit of the
// writer as part of its tx.
type reader struct{ c *conn }

const (
	beginRead = `BEGIN DEFERRED`
	endRead   = `ROLLBACK`
)

// View runs f on one snapshot: what was durable when it read first. It waits
// for a free connection no longer than ctx lasts.
func (db *DB) View(ctx context.Context, f func(store.Reader) error) error {
	return db.view(ctx, func(r *reader) error { return f(r) })
}

func (db *DB) view(ctx context.Context, f func(*reader) error) (err error) {
	var c *conn
	select {
	case c = <-db.readers:
	default:
		select {
		case c = <-db.readers:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer func() { db.readers <- c }()
	c.view = viewing
	defer func() {
		begun := c.view == snapshot
		if c.view = noView; !begun {
			return
		}
		db.stats.views.Add(1)
		if _, endErr := c.exec(endRead); err == nil {
			err = failure("end reading", endErr)
		}
	}()
	return f(&reader{c: c})
}
