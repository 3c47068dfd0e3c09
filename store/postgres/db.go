// Package postgres keeps everything in a PostgreSQL database, for teams that outgrow one
// machine or may not lose one. The statements are those of store/relational. Any number of
// nodes know the database, and one of them is active: it holds a lock of the database's,
// and each transaction that writes looks that no other has taken over meanwhile.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"flowdrive/internal/errs"
	"flowdrive/store"
	"flowdrive/store/relational"
)

var _ store.Store = (*DB)(nil)

const (
	closeWithin   = time.Second
	connectWithin = 5 * time.Second

	// clockStep is by how much two clocks may differ more or less than before until it counts.
	clockStep = 500 * time.Millisecond
)

// Options are the settings of a database; zero fields take their defaults.
type Options struct {
	Address  string        // postgres://user@host/database
	Direct   string        // the same database, if no session reaches it by Address; "": Address
	Password string        // "": as libpq finds it
	Flag     string        // the flag by which people give Address, in what they are told; "--db"
	Node     string        // the name of this node, which others are told; "" for what is not listed as one
	Readers  int           // connections that read; 7
	Answer   time.Duration // within which the database must answer; 5 s
	Silence  time.Duration // after which the lock of a node that says nothing is free; 15 s
	Now      func() time.Time

	// Offer returns how other nodes reach this one, when it becomes the active one; nil:
	// they do not. It is given the address by which this node reaches the database.
	Offer func(local net.Addr) (*Leader, error)

	Version string    // of the program, which others are told
	Started time.Time // when the program was, which others are told
	Retries int64     // how often the database had to be tried again, which others are told

	// Waiting keeps the connection of a node that stands by; nil: each Open makes its own. All
	// that are given it have the same addresses.
	Waiting *Waiting

	dialed *dialed // nil: connections are not closed together
}

// Leader is how the active node is reached.
type Leader struct {
	Address          string // host and port
	Certificate, Key []byte
}

func (o Options) withDefaults() Options {
	if o.Readers == 0 {
		o.Readers = 7
	}
	if o.Answer == 0 {
		o.Answer = 5 * time.Second
	}
	if o.Silence == 0 {
		o.Silence = 15 * time.Second
	}
	return o
}

// silence is Silence in milliseconds.
func (o Options) silence() string { return strconv.FormatInt(o.Silence.Milliseconds(), 10) }

// sayEvery is how often an active node says something: three times before its lock is free.
func (o Options) sayEvery() time.Duration { return o.Silence * 4 / 15 }

// ownTenure is after what a node that could say nothing regards its own tenure as over, which is
// before the lock is free.
func (o Options) ownTenure() time.Duration { return o.Silence * 12 / 15 }

// DB is an open database, of which this node is the active one. Its methods may be called
// from any goroutine. Update needs Run to be running. Once the database is lost, to
// another node or because it does not answer, everything is errs.Unavailable, and it must
// be closed and opened again.
type DB struct {
	*relational.DB
	opts   Options
	pooled bool // a pooler is on the way
	tenure *tenure
	conns  []*conn

	lost     chan struct{} // closed: see cause
	loseOnce sync.Once
	cause    atomic.Pointer[error]
	full     atomic.Bool // see LacksRoom
}

// ErrStandby says that another node is active.
var ErrStandby = errs.New(errs.Unavailable, "Another node is active; this one stands by.")

// standby is ErrStandby with the node that is active.
type standby struct {
	leader  *Leader
	unheard error // why others do not know of this node: the program of the active one is an older one
}

// Error implements error.
func (s standby) Error() string {
	if s.unheard != nil {
		return fmt.Sprintf("%v (it does not know of this one: %v)", ErrStandby, s.unheard)
	}
	return ErrStandby.Error()
}

// Unwrap returns ErrStandby.
func (s standby) Unwrap() error { return ErrStandby }

// LeaderOf returns how the active node is reached, of an error that is ErrStandby; nil if
// that is not known.
func LeaderOf(err error) *Leader {
	if s, ok := errors.AsType[standby](err); ok {
		return s.leader
	}
	return nil
}

// Open opens the database and makes this node the active one. It brings the schema up to
// date. It returns ErrStandby if another node is active, an error for which IsRefusal is
// true if waiting mends nothing, and otherwise errs.Unavailable if the database does not
// answer.
func Open(ctx context.Context, opts Options) (*DB, error) {
	opts = opts.withDefaults()
	kept, with := opts.Waiting.take()
	if opts.dialed = with; with == nil {
		opts.dialed = &dialed{all: map[*impatient]bool{}}
	}
	db := &DB{opts: opts, lost: make(chan struct{})}
	d := dialect()
	d.Judge = db.judge
	db.DB = relational.New(d, relational.Beside{Idle: db.keep})
	if err := db.open(ctx, kept); err != nil {
		if kept != nil && !errors.Is(err, ErrStandby) {
			_ = kept.Close(ctx) // it is useless anyway
		}
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (db *DB) open(ctx context.Context, kept *pgconn.PgConn) error {
	to, err := db.opts.config()
	if err != nil {
		return err
	}
	if db.pooled, err = db.opts.pooled(); err != nil {
		return err
	}
	switch pooled, err := db.opts.direct().pooled(); {
	case err != nil:
		return err
	case pooled:
		return refused{refusal("The lock of the active node needs a session, which there is not by PgBouncer in transaction mode (%s=exec); give the address of the database itself with --db-direct.", execMode)}
	}
	session, err := db.opts.direct().config()
	if err != nil {
		return err
	}
	if kept != nil {
		db.tenure, err = tenureBy(ctx, kept, session, db.opts)
	}
	if kept == nil || err != nil && !errors.Is(err, ErrStandby) { // the server may have ended the one that was kept
		db.tenure, err = takeTenure(ctx, session, db.opts)
	}
	if err != nil {
		return err
	}
	if err := migrate(ctx, db.opts.direct(), db.tenure.c); err != nil {
		return denied(session, err)
	}
	if err := db.tenure.begin(ctx, db.opts); err != nil {
		return denied(session, err)
	}
	if err := db.same(ctx, to); err != nil {
		return err
	}
	writer, err := db.connect(ctx, to)
	if err != nil {
		return err
	}
	if err := db.UseWriter(writer); err != nil {
		return err
	}
	readers := make([]*relational.Conn, 0, db.opts.Readers)
	for range db.opts.Readers {
		r, err := db.connect(ctx, to)
		if err != nil {
			return err
		}
		readers = append(readers, r)
	}
	db.UseReaders(readers)
	return nil
}

func (db *DB) connect(ctx context.Context, to *pgconn.Config) (*relational.Conn, error) {
	pg, err := pgconn.ConnectConfig(ctx, to)
	if err != nil {
		return nil, db.opts.judgeConnect(to, err)
	}
	c := &conn{
		pg: pg, lost: db.lose,
		began:  fmt.Sprintf(`SELECT hold_tenure(%d)`, db.tenure.epoch),
		looked: fmt.Sprintf(`SELECT look_at_tenure(%d)`, db.tenure.epoch),
	}
	if db.pooled {
		c.pooled, c.bounds = true, db.opts.setBounds()
	}
	db.conns = append(db.conns, c)
	return db.Conn(c), nil
}

// same returns an error if the two addresses are not of one database.
func (db *DB) same(ctx context.Context, to *pgconn.Config) error {
	if db.opts.Direct == "" {
		return nil
	}
	pg, err := pgconn.ConnectConfig(ctx, to)
	if err != nil {
		return db.opts.judgeConnect(to, err)
	}
	other := &tenure{c: &conn{pg: pg}}
	there, err := other.number(ctx, tenureMark)
	err = errors.Join(err, other.c.Close())
	if err != nil && judge(err) == relational.FaultCut {
		return away(err)
	}
	here, ownErr := db.tenure.number(ctx, tenureMark)
	if ownErr != nil {
		return failure("look at the database", ownErr)
	}
	if err != nil || here != there {
		return refused{refusal("The addresses in --db and --db-direct are not of one database.")}
	}
	return nil
}

// lose says that the database is lost, and why.
func (db *DB) lose(cause error) {
	db.loseOnce.Do(func() {
		db.cause.Store(&cause)
		close(db.lost)
		db.opts.dialed.cut()
	})
}

// Lost is closed once the database is lost; Cause says why then.
func (db *DB) Lost() <-chan struct{} { return db.lost }

// Cause returns why the database was lost, nil if it was not.
func (db *DB) Cause() error {
	if cause := db.cause.Load(); cause != nil {
		return *cause
	}
	return nil
}

// Ahead returns by how much the clock of this machine is ahead of the database's, 0 if that is
// less than half a second.
func (db *DB) Ahead() time.Duration { return time.Duration(db.tenure.ahead.Load()) }

// own returns an error if this node is not certainly the active one.
func (db *DB) own() error {
	if cause := db.Cause(); cause != nil {
		return &errs.Error{Kind: errs.Unavailable, Detail: detailLost, Err: cause}
	}
	if now := db.opts.Now(); now.Sub(*db.tenure.said.Load()) > db.opts.ownTenure() {
		db.lose(errors.New("nothing was heard of the database for too long"))
		return db.own()
	}
	return nil
}

const detailLost = "The server's database does not answer at the moment. Nothing was stored; try again."

// View runs f on one snapshot, as store.Store says.
func (db *DB) View(ctx context.Context, f func(store.Reader) error) error {
	if err := db.own(); err != nil {
		return err
	}
	return db.DB.View(ctx, f)
}

// Update runs f in a unit, as store.Store says.
func (db *DB) Update(ctx context.Context, f func(store.Tx) error) error {
	if err := db.own(); err != nil {
		return err
	}
	return db.DB.Update(ctx, f)
}

// keep says to the database that this node is there, until ctx ends or the database is
// lost.
func (db *DB) keep(ctx context.Context) {
	ticker := time.NewTicker(db.opts.sayEvery())
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-db.lost:
			return
		case <-ticker.C:
			if err := db.tenure.say(ctx, db.opts, 1+len(db.conns)); err != nil && ctx.Err() == nil {
				db.lose(err)
			}
		}
	}
}

// Close closes the database, and lets another node take over. It must not be called before
// Run has returned and every View has. Units that wait are answered with
// errs.Unavailable.
func (db *DB) Close() error {
	err := db.DB.Close()
	for _, c := range db.conns {
		if closeErr := c.Close(); db.Cause() == nil {
			err = errors.Join(err, closeErr)
		}
	}
	if db.tenure != nil {
		if closeErr := db.tenure.c.Close(); db.Cause() == nil {
			err = errors.Join(err, closeErr)
		}
	}
	return failure("close the database", err)
}
