package relational

import (
	"context"

	"flowdrive/store"
)

// reader reads over one connection. It serves a View, and a unit of the
// writer as part of its tx.
type reader struct{ c *Conn }

// NewReader returns what reads over a connection on which a snapshot has begun.
func NewReader(c *Conn) store.Reader { return &reader{c: c} }

// ConnOf returns the connection of a reader or unit that this package made, nil of
// another.
func ConnOf(r store.Reader) *Conn {
	switch r := r.(type) {
	case *reader:
		return r.c
	case *tx:
		return r.c
	}
	return nil
}

// View runs f on one snapshot: what was durable when it read first. It waits
// for a free connection no longer than ctx lasts.
func (db *DB) View(ctx context.Context, f func(store.Reader) error) error {
	return db.ViewConn(ctx, func(c *Conn) error { return f(&reader{c: c}) })
}

// ViewConn runs f as View does, with the connection.
func (db *DB) ViewConn(ctx context.Context, f func(*Conn) error) (err error) {
	var c *Conn
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
		if _, endErr := c.Exec(c.dialect.EndRead); err == nil {
			err = Failure("end reading", endErr)
		}
	}()
	return f(c)
}
