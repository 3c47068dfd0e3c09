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
	if c.view == unended { // beside what read before
		if err := db.endView(c)(); err != nil {
			db.readers <- c
			return err
		}
	}
	c.view = viewing
	defer func() {
		if c.view == viewing {
			c.view = noView
			db.readers <- c
			return
		}
		db.stats.views.Add(1)
		end := db.endView(c)
		if db.dialect.EndsBeside {
			db.ending.Go(func() {
				_ = end() // the next View tries again, and is told
				db.readers <- c
			})
			return
		}
		if endErr := end(); err == nil {
			err = endErr
		}
		db.readers <- c
	}()
	return f(c)
}

// endView returns what ends the transaction of a View.
func (*DB) endView(c *Conn) func() error {
	c.view = unended
	s, err := c.prepared(c.dialect.EndRead)
	return func() error {
		if err == nil {
			_, err = s.exec(nil)
		}
		if err == nil {
			c.view = noView
		}
		return Failure("end reading", err)
	}
}
