package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
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

	beginTenure = `UPDATE tenure SET epoch = epoch + 1, node = $1, since = now(), address = $2, certificate = decode($3, 'hex'), key = decode($4, 'hex') WHERE one = 1 RETURNING epoch`
	whoIsActive = `SELECT address, encode(certificate, 'hex'), encode(key, 'hex') FROM tenure WHERE one = 1`
	// endSilence is a statement, as a pooler would leave out a parameter of the session.
	endSilence = `SELECT length(set_config('idle_session_timeout', '%d', false))`
	// tenureMark is a number that no other database has.
	tenureMark = `SELECT hashtextextended(epoch::text || node || since::text || encode(certificate, 'hex'), 0) FROM tenure WHERE one = 1`
	sayTenure  = `SELECT epoch FROM tenure WHERE one = 1`
)

// takeTenure takes the lock. It returns ErrStandby if another session has it, with how its
// node is reached.
func takeTenure(ctx context.Context, to *pgconn.Config, o Options) (*tenure, error) {
	pg, err := pgconn.ConnectConfig(ctx, to)
	if err != nil {
		return nil, judgeConnect(to, err)
	}
	t := &tenure{c: &conn{pg: pg, lost: func(error) {}}, now: o.Now}
	t.heard(t.now())
	_, err = t.number(ctx, fmt.Sprintf(endSilence, tenureLasts.Milliseconds()))
	var taken int64
	if err == nil {
		taken, err = t.number(ctx, takeLock)
	}
	if err == nil && taken == 0 {
		unheard := t.register(ctx, o, 0, 1)
		err = standby{t.leader(ctx), unheard}
	}
	if err != nil {
		return nil, errors.Join(failure("take the lock of the database", err), t.c.Close())
	}
	return t, nil
}

func (t *tenure) heard(at time.Time) { t.said.Store(&at) }

// begin takes the next number, and says how this node is reached. It waits for a transaction
// of the node before.
func (t *tenure) begin(ctx context.Context, o Options) error {
	var way Leader
	if o.Offer != nil {
		offered, err := o.Offer(t.c.pg.Conn().LocalAddr())
		if err != nil {
			return err
		}
		way = *offered
	}
	var err error
	t.epoch, err = t.number(ctx, beginTenure, o.Node, way.Address, hex.EncodeToString(way.Certificate), hex.EncodeToString(way.Key))
	if err == nil {
		err = t.register(ctx, o, 1, 2+o.Readers)
	}
	return failure("become the active node", err)
}

// leader returns how the active node is reached, nil if nobody can tell: it is becoming
// that, or its program is an older one.
func (t *tenure) leader(ctx context.Context) *Leader {
	result := t.c.pg.ExecParams(ctx, whoIsActive, nil, nil, nil, nil).Read()
	if result.Err != nil || len(result.Rows) != 1 || len(result.Rows[0][0]) == 0 {
		return nil
	}
	l := &Leader{Address: string(result.Rows[0][0])}
	var certificateErr, keyErr error
	l.Certificate, certificateErr = hex.DecodeString(string(result.Rows[0][1]))
	l.Key, keyErr = hex.DecodeString(string(result.Rows[0][2]))
	if certificateErr != nil || keyErr != nil {
		return nil
	}
	return l
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
