package postgres

import (
	"context"
	"errors"
	"time"
)

// Looked is what there is to know of a database that nodes use.
type Looked struct {
	Version string        // of PostgreSQL
	Schema  int64         // 0: the database is empty
	Newest  int64         // the schema of this program
	Node    string        // the active one, "" for none
	Ahead   time.Duration // how much the clock of this machine is ahead of the database's
	TLS     bool
	Unsafe  string // the setting by which what is acknowledged can be lost, "" for none
}

const (
	lookServer = `SELECT current_setting('server_version'), extract(epoch FROM clock_timestamp())::text,
		coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false),
		CASE WHEN current_setting('fsync') = 'off' THEN 'fsync' WHEN current_setting('synchronous_commit') = 'off' THEN 'synchronous_commit'
			WHEN current_setting('full_page_writes') = 'off' THEN 'full_page_writes' ELSE '' END`
	lookNode = `SELECT coalesce((SELECT node FROM tenure WHERE EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND classid = 1178882646)), '')`
)

// Look looks at a database as it is. It takes and changes nothing, and returns what
// OpenBeside does if it cannot.
func Look(ctx context.Context, o Options) (l *Looked, err error) {
	pool, err := OpenBeside(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	const op = "look at the database"
	l = &Looked{}
	if l.Newest, err = newestMigration(); err != nil {
		return nil, err
	}
	var at float64
	before := o.Now()
	if err := pool.QueryRowContext(ctx, lookServer).Scan(&l.Version, &at, &l.TLS, &l.Unsafe); err != nil {
		return nil, failure(op, err)
	}
	here := before.Add(o.Now().Sub(before) / 2)
	l.Ahead = here.Sub(time.UnixMicro(int64(at * 1e6))).Round(time.Millisecond)
	var tables, versions, tenures, cut int64
	if err := pool.QueryRowContext(ctx, isFlowdrive).Scan(&tables, &versions, &tenures, &cut); err != nil {
		return nil, failure(op, err)
	}
	if tables == 0 {
		return l, nil
	}
	if cut > 0 {
		return nil, unfinished()
	}
	if versions == 0 || tenures == 0 {
		return nil, foreign()
	}
	if err := pool.QueryRowContext(ctx, selectVersion).Scan(&l.Schema); err != nil {
		return nil, failure(op, err)
	}
	return l, failure(op, pool.QueryRowContext(ctx, lookNode).Scan(&l.Node))
}
