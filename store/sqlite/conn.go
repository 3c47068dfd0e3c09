package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"sync/atomic"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"flowdrive/internal/errs"
)

// autoCheckpoint is the length of the log, in pages, at which the writer
// checkpoints within a commit. Idle moments usually come first. Under load,
// everything waits for it now and then: with 16000 pages, what became due in
// that moment was up to 53 ms late, with this 46.
const autoCheckpoint = "10000"

// writerSettings are those that the driver knows no parameter for.
const writerSettings = `PRAGMA wal_autocheckpoint = ` + autoCheckpoint + `; PRAGMA temp_store = MEMORY`

// pragma is a setting and what it must be once a connection is open. It is
// checked because a wrong one is silent: the driver's own default under WAL
// is synchronous NORMAL, which loses acknowledged work when the power goes.
type pragma struct {
	name string
	want string
}

func (o Options) writerPragmas() []pragma {
	return append(o.checkpointPragmas(), []pragma{
		{"foreign_keys", "1"}, {"temp_store", "2"}, {"wal_autocheckpoint", autoCheckpoint},
	}...)
}

func (o Options) checkpointPragmas() []pragma {
	synchronous := "2"
	if o.Volatile {
		synchronous = "0"
	}
	return []pragma{{"journal_mode", "wal"}, {"synchronous", synchronous}}
}

func readerPragmas() []pragma {
	return []pragma{{"journal_mode", "wal"}, {"query_only", "1"}}
}

func (o Options) writerDSN(path string, cacheKiB int) string {
	synchronous := "FULL"
	if o.Volatile {
		synchronous = "OFF"
	}
	return dsn(path, cacheKiB, url.Values{
		"mode": {"rw"}, "_journal_mode": {"WAL"}, "_synchronous": {synchronous},
		"_foreign_keys": {"1"}, "_txlock": {"immediate"},
	})
}

func readerDSN(path string, cacheKiB int) string {
	return dsn(path, cacheKiB, url.Values{"mode": {"ro"}, "_query_only": {"1"}})
}

// copyDSN is of a file that is being written for the first time: nothing of it
// counts before it is whole, so that it needs neither a journal nor to be synced
// on the way.
func copyDSN(path string) string {
	return dsn(path, 1<<10, url.Values{"mode": {"rw"}, "_journal_mode": {"OFF"}, "_synchronous": {"OFF"}})
}

// dsn spares SQLite its own locking of a connection: each of ours is used by
// one goroutine at a time. A cache size below zero is in KiB.
func dsn(path string, cacheKiB int, params url.Values) string {
	params.Set("_mutex", "no")
	params.Set("_busy_timeout", "5000")
	params.Set("_cache_size", strconv.Itoa(-cacheKiB))
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + params.Encode()
}

func openPool(dsn string, connections int) (*sql.DB, error) {
	pool, err := sql.Open("sqlite3", dsn)
	if err != nil {
		return nil, failure("open the database", err)
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return pool, nil
}

// conn is a connection with the statements that were prepared on it. It is for
// one goroutine at a time.
//
// Its statements run without a deadline: under a context that can end, the
// driver starts a goroutine for each one. Waiting is bounded at the places
// where it can be long: in the queue of the writer and before a free reader.
type conn struct {
	raw    *sql.Conn
	driver driver.Conn           // that raw has pinned
	stmts  map[string]*statement // by text
	ran    *atomic.Int64         // statements
	memory *memory               // of the whole database

	// What the arguments of the next statement are made in.
	columns []column
	args    []any
	view    viewState
}

// viewState is how far the snapshot of a View is: many decisions rest on what
// is in memory alone and never ask for one.
type viewState int

const (
	noView   viewState = iota
	viewing            // it begins with the first statement
	snapshot           // it has begun
)

// connect pins a connection of the pool, makes the settings and checks all.
func (db *DB) connect(ctx context.Context, pool *sql.DB, settings string, pragmas []pragma) (*conn, error) {
	raw, err := pool.Conn(ctx)
	if err != nil {
		return nil, failure("open the database", err)
	}
	c := &conn{raw: raw, stmts: map[string]*statement{}, ran: &db.stats.statements, memory: &db.memory}
	if err := raw.Raw(func(pinned any) error { return c.pin(pinned) }); err != nil {
		return nil, errors.Join(failure("open the database", err), c.close())
	}
	if settings != "" {
		if _, err := raw.ExecContext(context.Background(), settings); err != nil {
			return nil, errors.Join(failure("set up the database", err), c.close())
		}
	}
	for _, p := range pragmas {
		var got string
		if err := raw.QueryRowContext(context.Background(), "PRAGMA "+p.name).Scan(&got); err != nil {
			return nil, errors.Join(failure("check the database's settings", err), c.close())
		}
		if got != p.want {
			err := errs.Wrap("check the database's settings", fmt.Errorf("%s is %q, not %q", p.name, got, p.want))
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

// pin keeps the driver's connection, which nothing else uses until close.
func (c *conn) pin(pinned any) error {
	var ok bool
	if c.driver, ok = pinned.(driver.Conn); !ok {
		return fmt.Errorf("a connection is a %T", pinned)
	}
	return nil
}

func (c *conn) close() error {
	all := make([]error, 0, len(c.stmts)+1)
	for _, s := range c.stmts {
		all = append(all, s.prepared.Close())
	}
	return errors.Join(append(all, c.raw.Close())...)
}

// stmt returns the statement, prepared on its first use. The texts are
// constants of this package, so their number is bounded.
func (c *conn) stmt(query string) (*statement, error) {
	if c.view == viewing {
		c.view = snapshot
		if _, err := c.exec(beginRead); err != nil {
			c.view = viewing
			return nil, failure("begin to read", err)
		}
	}
	c.ran.Add(1)
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	s, err := prepare(c.driver, query)
	if err != nil {
		return nil, err
	}
	c.stmts[query] = s
	return s, nil
}

// exec runs a statement that yields no rows.
func (c *conn) exec(query string, args ...any) (driver.Result, error) {
	s, err := c.stmt(query)
	if err != nil {
		return nil, err
	}
	return s.exec(args)
}

// change runs a statement and returns how many rows it changed.
func (c *conn) change(query string, args ...any) (int64, error) {
	res, err := c.exec(query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// row is the outcome of a query for at most one row.
type row struct {
	s    *statement
	rows driver.Rows
	err  error
}

func (c *conn) row(query string, args ...any) row {
	s, err := c.stmt(query)
	if err != nil {
		return row{err: err}
	}
	rows, err := s.query(args)
	return row{s, rows, err}
}

// scan reads the columns of the present row.
type scan func(dest ...any) error

// read lets f scan the row, and says whether there was one.
func (r row) read(f func(scan) error) (found bool, err error) {
	if r.err != nil {
		return false, r.err
	}
	defer func() {
		if err = errors.Join(err, r.rows.Close()); err != nil {
			found = false
		}
	}()
	if err := r.s.next(r.rows); err != nil {
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		return false, err
	}
	return true, f(r.s.scan)
}

// scan reads the row's columns, and says whether there was one.
func (r row) scan(dest ...any) (found bool, err error) {
	return r.read(func(scan scan) error { return scan(dest...) })
}

// each runs a query and calls f for each of its rows.
func (c *conn) each(query string, f func(scan) error, args ...any) (err error) {
	s, err := c.stmt(query)
	if err != nil {
		return err
	}
	rows, err := s.query(args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for {
		err := s.next(rows)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(s.scan); err != nil {
			return err
		}
	}
}
