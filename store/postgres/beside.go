package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// Beside returns how this node connects to the database, for others that keep something
// there, and a statement that fails once another node is the active one. It ends each of
// their transactions that writes: the active node's own wait for it.
func (db *DB) Beside() (to *pgconn.Config, guard string, err error) {
	to, err = db.opts.direct().config()
	return to, fmt.Sprintf(`SELECT hold_tenure(%d)`, db.tenure.epoch), err
}

// Connection returns how connections to the database are made.
func (o Options) Connection() (*pgconn.Config, error) { return o.withDefaults().config() }

// OpenAlone opens the database as it is, as one connection that keeps nodes from being active
// until what it returns is closed. It returns ErrStandby if a node is active, and else what
// Open does.
func OpenAlone(ctx context.Context, o Options) (pool *sql.DB, err error) {
	switch pooled, err := o.pooled(); {
	case err != nil:
		return nil, err
	case pooled:
		return nil, refused{refusal("This needs a session of the database, which there is not by PgBouncer in transaction mode (%s=exec); give the address of the database itself.", execMode)}
	}
	if pool, err = OpenBeside(ctx, o); err != nil {
		return nil, err
	}
	for _, statement := range []string{`SET lock_timeout = '2s'`, waitLock, `RESET lock_timeout`} {
		_, err := pool.ExecContext(ctx, statement)
		if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "55P03" { // lock_not_available
			return nil, errors.Join(ErrStandby, pool.Close())
		}
		if err != nil {
			return nil, errors.Join(failure("take the lock of the database", err), pool.Close())
		}
	}
	return pool, nil
}

// OpenBeside opens the database as it is, as one connection, beside nodes that may be active.
// It returns an error for which IsRefusal is true if waiting mends nothing, and otherwise
// errs.Unavailable if the database does not answer.
func OpenBeside(ctx context.Context, o Options) (pool *sql.DB, err error) {
	to, err := o.Connection()
	if err != nil {
		return nil, err
	}
	cfg, err := pgx.ParseConfig(o.Address)
	if err != nil {
		return nil, refused{err}
	}
	cfg.Config = *to
	pool = stdlib.OpenDB(*cfg)
	pool.SetMaxOpenConns(1)
	pool.SetMaxIdleConns(1)
	if err := onConnection(ctx, pool, func(pg *pgconn.PgConn) error { return suits(pg, to) }); err != nil {
		if !IsRefusal(err) {
			err = o.judgeConnect(to, err)
		}
		return nil, errors.Join(err, pool.Close())
	}
	return pool, nil
}

// onConnection calls f with a connection of a pool.
func onConnection(ctx context.Context, pool *sql.DB, f func(pg *pgconn.PgConn) error) (err error) {
	c, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return c.Raw(func(driver any) error {
		own, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("a connection is a %T", driver)
		}
		return f(own.Conn().PgConn())
	})
}

// waitLock takes the lock of nodes. It waits a moment for that of a node that has just
// closed its connection: the server may notice that later.
const waitLock = `SELECT pg_advisory_lock(1178882646, hashtext(current_schema()))`
