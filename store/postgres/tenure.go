package postgres

import (
	"context"
	"encoding/hex"
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
	ahead atomic.Int64              // by how much this machine's clock is ahead of the database's, a time.Duration
	said  atomic.Pointer[time.Time] // when this node last began to say that it is there
}

const (
	// The lock is one of Flowdrive ("FDRV"), in this schema of the database.
	takeLock = `SELECT pg_try_advisory_lock(1178882646, hashtext(current_schema()))::int`

	isFlowdrive = `SELECT count(*), count(*) FILTER (WHERE relname = 'goose_db_version'), count(*) FILTER (WHERE relname = 'tenure'),
		count(*) FILTER (WHERE relname = '` + CopyingTable + `')
		FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')`

	beginTenure = `UPDATE tenure SET epoch = epoch + 1, node = $1, since = now(), address = $2, certificate = decode($3, 'hex'), key = decode($4, 'hex') WHERE one = 1 RETURNING epoch`
	whoIsActive = `SELECT address, encode(certificate, 'hex'), encode(key, 'hex') FROM tenure WHERE one = 1`
	// endSilence is a statement, as a pooler would leave out a parameter of the session. It is
	// given Options.Silence in milliseconds.
	endSilence = `SELECT length(set_config('idle_session_timeout', $1, false))`
	// tenureMark is a number that no other database has.
	tenureMark = `SELECT hashtextextended(epoch::text || node || since::text || encode(certificate, 'hex'), 0) FROM tenure WHERE one = 1`
	whatTime   = `SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`
	sayTenure  = `SELECT epoch FROM tenure WHERE one = 1`
)

// takeTenure takes the lock. It returns ErrStandby if another session has it, with how its
// node is reached.
func takeTenure(ctx context.Context, to *pgconn.Config, o Options) (*tenure, error) {
	pg, err := pgconn.ConnectConfig(ctx, to)
	if err != nil {
		return nil, o.judgeConnect(to, err)
	}
	if err := suits(pg, to); err != nil {
		return nil, errors.Join(err, pg.Close(ctx))
	}
	return tenureBy(ctx, pg, to, o)
}

// tenureBy takes the lock by a connection. If that is ErrStandby, o.Waiting keeps it.
func tenureBy(ctx context.Context, pg *pgconn.PgConn, to *pgconn.Config, o Options) (*tenure, error) {
	t := &tenure{c: &conn{pg: pg, lost: func(error) {}}, now: o.Now}
	t.heard(t.now())
	taken, leader, err := t.look(ctx, o)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && !isSuperseded(e) {
		// The tables are not there yet, or are those of an older program.
		unheard := err
		if taken, err = t.take(ctx, o); err == nil && taken == 0 {
			err = standby{t.leader(ctx), unheard}
		}
	} else if err == nil && taken == 0 {
		err = standby{leader, nil}
	}
	switch {
	case errors.Is(err, errNull):
		err = refused{refusal("There is no schema for tables in the database %q: create the one that search_path names, or change search_path.", to.Database)}
	case err != nil:
		err = failure("take the lock of the database", err)
	default:
		return t, nil
	}
	if errors.Is(err, ErrStandby) && o.Waiting.keep(pg, o.dialed) {
		return nil, err
	}
	return nil, errors.Join(err, t.c.Close())
}

// take tries to take the lock, and returns 1 if it has it.
func (t *tenure) take(ctx context.Context, o Options) (int64, error) {
	if _, err := t.number(ctx, endSilence, o.silence()); err != nil {
		return 0, err
	}
	return t.number(ctx, takeLock)
}

// look is take, and says that this node stands by and asks for the active one, in one
// transaction: a node that stands by does nothing else.
func (t *tenure) look(ctx context.Context, o Options) (taken int64, leader *Leader, err error) {
	var batch pgconn.Batch
	batch.ExecParams(endSilence, storables([]string{o.silence()}), nil, nil, nil)
	batch.ExecParams(takeLock, nil, nil, nil, nil)
	batch.ExecParams(whoIsActive, nil, nil, nil, nil)
	if o.Node != "" {
		args, err := o.registration(0, 1)
		if err != nil {
			return 0, nil, err
		}
		batch.ExecParams(registerNode, storables(args), nil, nil, nil)
	}
	results, err := t.c.pg.ExecBatch(ctx, &batch).ReadAll()
	if err != nil {
		return 0, nil, err
	}
	taken, err = numberIn(results[1])
	return taken, leaderIn(results[2]), err
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
		err = t.say(ctx, o, 2+o.Readers)
	}
	return failure("become the active node", err)
}

// leader returns how the active node is reached, nil if nobody can tell: it is becoming
// that, or its program is an older one.
func (t *tenure) leader(ctx context.Context) *Leader {
	return leaderIn(t.c.pg.ExecParams(ctx, whoIsActive, nil, nil, nil, nil).Read())
}

// leaderIn reads the answer to whoIsActive.
func leaderIn(result *pgconn.Result) *Leader {
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

// say says that this node is there, with so many connections, looks whether it still is the
// active one, and measures its clock, all in one transaction. If there is no room to say it, it
// does the rest.
func (t *tenure) say(ctx context.Context, o Options, pool int) error {
	var batch pgconn.Batch
	batch.ExecParams(sayTenure, nil, nil, nil, nil)
	batch.ExecParams(whatTime, nil, nil, nil, nil)
	if o.Node != "" {
		args, err := o.registration(1, pool)
		if err != nil {
			return err
		}
		batch.ExecParams(registerNode, storables(args), nil, nil, nil)
	}
	before := t.now()
	results, err := t.c.pg.ExecBatch(ctx, &batch).ReadAll()
	if o.Node != "" && IsFull(err) {
		o.Node = ""
		return t.say(ctx, o, pool)
	}
	if err != nil {
		return err
	}
	after := t.now()
	epoch, err := numberIn(results[0])
	if err != nil {
		return err
	}
	if epoch != t.epoch {
		return errors.New("another node has become the active one")
	}
	at, err := numberIn(results[1])
	if err != nil {
		return err
	}
	t.heard(before)
	t.measured(at, before, after)
	return nil
}

// number runs a query that yields a number.
func (t *tenure) number(ctx context.Context, query string, args ...string) (int64, error) {
	result := t.c.pg.ExecParams(ctx, query, storables(args), nil, nil, nil).Read()
	if result.Err != nil {
		return 0, result.Err
	}
	return numberIn(result)
}

// numberIn reads a result that is a number.
func numberIn(result *pgconn.Result) (int64, error) {
	if len(result.Rows) != 1 {
		return 0, errors.New("the database has no row that says which node is active")
	}
	if result.Rows[0][0] == nil {
		return 0, errNull
	}
	return strconv.ParseInt(string(result.Rows[0][0]), 10, 64)
}

// errNull says that a number is NULL, as that of the lock is in a database without a schema.
var errNull = errors.New("the database has no number for what was asked")

func storables(args []string) [][]byte {
	values := make([][]byte, len(args))
	for i, arg := range args {
		values[i] = []byte(storable(arg))
	}
	return values
}

// measured takes that the clock of the database was at so many microseconds between two
// instants of this machine's. What differs by less than clockStep from what was found before
// changes nothing, so that time goes on evenly.
func (t *tenure) measured(at int64, before, after time.Time) {
	ahead := before.Add(after.Sub(before) / 2).Sub(time.UnixMicro(at))
	if was := time.Duration(t.ahead.Load()); (ahead - was).Abs() >= clockStep {
		t.ahead.Store(int64(ahead))
	}
}
