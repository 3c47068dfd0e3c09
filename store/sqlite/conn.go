package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"flowdrive/internal/errs"
	"flowdrive/store/relational"
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

// conn is a connection that is pinned in its pool.
type conn struct {
	*relational.Conn
	raw *sql.Conn
}

// connect pins a connection of the pool, makes the settings and checks all.
func (db *DB) connect(ctx context.Context, pool *sql.DB, settings string, pragmas []pragma) (*conn, error) {
	raw, err := pool.Conn(ctx)
	if err != nil {
		return nil, failure("open the database", err)
	}
	c := &conn{raw: raw}
	if c.Conn, err = db.pinned(raw); err != nil {
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

// pinned returns the connection over the driver's, which nothing else uses until close.
func (db *DB) pinned(raw *sql.Conn) (c *relational.Conn, err error) {
	err = raw.Raw(func(pinned any) error {
		over, ok := pinned.(driver.Conn)
		if !ok {
			return fmt.Errorf("a connection is a %T", pinned)
		}
		c = db.DB.Conn(over)
		return nil
	})
	return c, err
}

func (c *conn) close() error {
	var err error
	if c.Conn != nil {
		err = c.Close()
	}
	return errors.Join(err, c.raw.Close())
}
