package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// Waiting is the connection of a node that stands by, kept from one Open to the next: a new one
// each time costs the server a process and a log-in. Its methods may be called from any
// goroutine. The zero value has none.
type Waiting struct {
	mu   sync.Mutex
	pg   *pgconn.PgConn
	with *dialed // that it is one of
}

// take returns the connection, which is the caller's from now on; nil if there is none.
func (w *Waiting) take() (*pgconn.PgConn, *dialed) {
	if w == nil {
		return nil, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	pg, with := w.pg, w.with
	w.pg, w.with = nil, nil
	return pg, with
}

// keep keeps a connection, and reports whether it does.
func (w *Waiting) keep(pg *pgconn.PgConn, with *dialed) bool {
	if w == nil || pg.IsClosed() {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pg != nil {
		return false
	}
	w.pg, w.with = pg, with
	return true
}

// Close closes the connection if there is one.
func (w *Waiting) Close() error {
	pg, _ := w.take()
	if pg == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	return pg.Close(ctx)
}
