package postgres

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// tenure is that this node is the active one: a session of the database that holds the
// lock, and the number that tells it from those before. The server ends a session that
// says nothing, as that of a node that was stopped, and frees its lock. What such a node
// writes when it wakes is refused by the number.
type tenure struct {
	c     *conn
	epoch int64
	now   func() time.Time
	said  atomic.Pointer[time.Time] // when this node last began to say that it is there
}

const (
	// The lock is one of Flowdrive ("FDRV"), in this schema of the database.
	takeLock = `SELECT pg_try_advisory_lock(1178882646, hashtext(current_schema()))::int`

	isFlowdrive = `SELECT count(*), count(*) FILTER (WHERE relname = 'goose_db_version'), count(*) FILTER (WHERE relname = 'tenure')
		FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')`

	beginTenure = `UPDATE tenure SET epoch = epoch + 1, node = $1, since = now() WHERE one = 1 RETURNING epoch`
	sayTenure   = `SELECT epoch FROM tenure WHERE one = 1`
)

// takeTenure takes the lock. It returns ErrStandby if another session has it.
func takeTenure(ctx context.Context, to *pgconn.Config, o Options) (*tenure, error) {
	lasting := to.Copy()
	lasting.RuntimeParams["idle_session_timeout"] = strconv.FormatInt(tenureLasts.Milliseconds(), 10)
	pg, err := pgconn.ConnectConfig(ctx, lasting)
	if err != nil {
		return nil, judgeConnect(to, err)
	}
	t := &tenure{c: &conn{pg: pg, lost: func(error) {}}, now: o.Now}
	t.heard(t.now())
	taken, err := t.number(ctx, takeLock)
	if err == nil && taken == 0 {
		err = ErrStandby
	}
	if err != nil {
		return nil, errors.Join(failure("take the lock of the database", err), t.c.Close())
	}
	return t, nil
}

func (t *tenure) heard(at time.Time) { t.said.Store(&at) }

// begin takes the next number. It waits for a transaction of the node before.
func (t *tenure) begin(ctx context.Context, node string) (err error) {
	t.epoch, err = t.number(ctx, beginTenure, node)
	return failure("become the active node", err)
}

// say says that this node is there, and looks whether it still is the active one.
func (t *tenure) say(ctx context.Context) error {
	at := t.now()
	epoch, err := t.number(ctx, sayTenure)
	if err != nil {
		return err
	}
	if epoch != t.epoch {
		return errors.New("another node has become the active one")
	}
	t.heard(at)
	return nil
}

// number runs a query that yields a number.
func (t *tenure) number(ctx context.Context, query string, args ...string) (int64, error) {
	values := make([][]byte, len(args))
	for i, arg := range args {
		values[i] = []byte(storable(arg))
	}
	result := t.c.pg.ExecParams(ctx, query, values, nil, nil, nil).Read()
	if result.Err != nil {
		return 0, result.Err
	}
	if len(result.Rows) != 1 {
		return 0, errors.New("the database has no row that says which node is active")
	}
	return strconv.ParseInt(string(result.Rows[0][0]), 10, 64)
}
