package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	_ "github.com/mattn/go-sqlite3" // the driver that the store uses
)

// bareWriter is the limit for everything that stores. It is one goroutine with
// one connection and prepared statements. It takes what waits, at most as much
// as the store does, commits that at once and answers all. It has no rules,
// rights, documents or savepoints: one failure fails the whole commit.
type bareWriter struct {
	pool     *sql.DB
	conn     *sql.Conn
	driver   driver.Conn // that conn has pinned; as the store, it asks the driver itself
	stmts    map[string]*bareStmt
	args     []driver.NamedValue
	queue    chan *bareUnit
	ended    chan struct{}
	reserved int64 // the first id that is not, in the database
}

// bareUnit is what one caller wants written.
type bareUnit struct {
	id   int64 // of the case that it is about
	ops  []op
	done chan error
}

const (
	bareBatch   = 256  // as the store's
	bareReserve = 1024 // ids reserved at a time, as the store's
)

const (
	bareBegin    = `BEGIN IMMEDIATE`
	bareCommit   = `COMMIT`
	bareRollback = `ROLLBACK`
)

// openBare opens the database in an existing data folder that is not in use.
func openBare(ctx context.Context, data string) (_ *bareWriter, err error) {
	w := &bareWriter{stmts: map[string]*bareStmt{}, queue: make(chan *bareUnit, bareBatch), ended: make(chan struct{})}
	if w.pool, err = openRaw(data); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.pool.Close())
		}
	}()
	if w.conn, err = w.pool.Conn(ctx); err != nil {
		return nil, err
	}
	if err = w.conn.Raw(func(pinned any) error { w.driver, _ = pinned.(driver.Conn); return nil }); err != nil {
		return nil, err
	}
	if _, err = w.conn.ExecContext(ctx, `PRAGMA wal_autocheckpoint = 10000; PRAGMA temp_store = MEMORY`); err != nil {
		return nil, err
	}
	if err = w.conn.QueryRowContext(ctx, `SELECT next FROM sequence`).Scan(&w.reserved); err != nil {
		return nil, err
	}
	var synchronous int
	if err = w.conn.QueryRowContext(ctx, `PRAGMA synchronous`).Scan(&synchronous); err != nil {
		return nil, err
	}
	if synchronous != 2 {
		return nil, fmt.Errorf("the limit does not commit as durably as the store: synchronous is %d", synchronous)
	}
	go w.run()
	return w, nil
}

// openRaw opens the database in a data folder with one connection and the
// settings of the store's writer.
func openRaw(data string) (*sql.DB, error) {
	pool, err := sql.Open("sqlite3", "file:"+filepath.Join(data, databaseFile)+"?mode=rw&_journal_mode=WAL&_synchronous=FULL"+
		"&_foreign_keys=1&_txlock=immediate&_mutex=no&_busy_timeout=5000&_cache_size=-65536")
	if err == nil {
		pool.SetMaxOpenConns(1)
	}
	return pool, err
}

// close ends the writer. No unit may be waiting.
func (w *bareWriter) close() error {
	close(w.queue)
	<-w.ended
	var err error
	for _, s := range w.stmts {
		err = errors.Join(err, s.Close())
	}
	return errors.Join(err, w.conn.Close(), w.pool.Close())
}

// bareCaller is one of those who write by a bareWriter.
type bareCaller struct {
	w *bareWriter
	u bareUnit
}

func (w *bareWriter) callers(n int) []*bareCaller {
	out := make([]*bareCaller, n)
	for i := range out {
		out[i] = &bareCaller{w: w, u: bareUnit{done: make(chan error, 1)}}
	}
	return out
}

// do writes the operations on a case and returns when they are durable.
func (c *bareCaller) do(id int64, ops []op) error {
	c.u.id, c.u.ops = id, ops
	c.w.queue <- &c.u
	return <-c.u.done
}

func (w *bareWriter) run() {
	defer close(w.ended)
	batch := make([]*bareUnit, 0, bareBatch)
	for u := range w.queue {
		batch = w.gather(append(batch[:0], u))
		err := w.write(batch)
		for _, u := range batch {
			u.done <- err
		}
	}
}

// gather adds what waits already.
func (w *bareWriter) gather(batch []*bareUnit) []*bareUnit {
	for len(batch) < bareBatch {
		select {
		case u, open := <-w.queue:
			if !open {
				return batch
			}
			batch = append(batch, u)
		default:
			return batch
		}
	}
	return batch
}

func (w *bareWriter) write(batch []*bareUnit) error {
	if err := w.exec(op{query: bareBegin}); err != nil {
		return err
	}
	err := w.fill(batch)
	if err == nil {
		err = w.exec(op{query: bareCommit})
	}
	if err != nil {
		err = errors.Join(err, w.exec(op{query: bareRollback}))
	}
	return err
}

func (w *bareWriter) fill(batch []*bareUnit) error {
	last := int64(0)
	for _, u := range batch {
		last = max(last, u.id)
		for _, o := range u.ops {
			if err := w.exec(o); err != nil {
				return err
			}
		}
	}
	if last < w.reserved {
		return nil
	}
	w.reserved = last + bareReserve
	return w.exec(op{query: `UPDATE sequence SET next = ?1`, args: []any{w.reserved}})
}

// bareStmt is a statement that the driver has prepared.
type bareStmt struct {
	io.Closer
	driver.StmtExecContext
	driver.StmtQueryContext
}

func (w *bareWriter) prepare(query string) (*bareStmt, error) {
	prepared, err := w.driver.Prepare(query)
	if err != nil {
		return nil, err
	}
	runs, canRun := prepared.(driver.StmtExecContext)
	asks, canAsk := prepared.(driver.StmtQueryContext)
	if !canRun || !canAsk {
		return nil, fmt.Errorf("the driver's statement is a %T", prepared)
	}
	return &bareStmt{prepared, runs, asks}, nil
}

func (w *bareWriter) exec(o op) error {
	ctx := context.Background() // under one that can end the driver starts a goroutine for each statement
	s, ok := w.stmts[o.query]
	if !ok {
		var err error
		if s, err = w.prepare(o.query); err != nil {
			return err
		}
		w.stmts[o.query] = s
	}
	w.args = w.args[:0]
	for i, arg := range o.args {
		w.args = append(w.args, driver.NamedValue{Ordinal: i + 1, Value: given(arg)})
	}
	if o.reads {
		rows, err := s.QueryContext(ctx, w.args)
		if err != nil {
			return err
		}
		return errors.Join(rows.Next(make([]driver.Value, len(rows.Columns()))), rows.Close())
	}
	res, err := s.ExecContext(ctx, w.args)
	if err != nil || len(o.args) == 0 {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, fmt.Errorf("the limit changed %d rows, not one, by %s", n, o.query))
	}
	return nil
}

// rest brings the log into the database file, as the store does in a quiet
// moment. No unit may be waiting.
func (w *bareWriter) rest(ctx context.Context) error {
	_, _, err := checkpoint(ctx, w.conn)
	return err
}
