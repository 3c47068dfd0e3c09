// Package relational is the store over SQL: the statements of all nouns, one
// file a noun, and one goroutine that writes and gathers waiting units into
// group commits, while a few connections read. It works over the interfaces of
// database/sql/driver and knows no database by itself: what one does
// differently from another stands in its [Dialect]. It has no rules of the
// engine: it stores what it is given and finds it again.
package relational

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"

	"flowdrive/store"
)

var _ store.Store = (*DB)(nil)

// Dialect is what is different between databases.
type Dialect struct {
	BeginRead  string // begins a transaction that reads one snapshot
	EndRead    string
	BeginWrite string
	Commit     string
	Rollback   string

	// Text returns a statement, which is written as SQLite understands it, in the words
	// of the database; nil if that is SQLite.
	Text func(query string) string

	Returning  bool // an INSERT says the number of the row by RETURNING, not in its result
	FailsWhole bool // a statement that fails ends its transaction
	EndsBeside bool // nobody waits for the end of a transaction that reads

	// Judge returns what a driver's error means, FaultOther for what it does
	// not know.
	Judge func(error) FaultKind
}

// DB is an open database. Its methods may be called from any goroutine.
// Update needs Run to be running.
type DB struct {
	dialect *Dialect
	writer  *Conn
	readers chan *Conn // those that are free

	ending sync.WaitGroup // of transactions that read

	queue    chan *unit
	stopping chan struct{} // closed: no unit is taken any more
	stopped  chan struct{} // closed: no unit will run any more
	started  atomic.Bool

	opened uint64 // a random number, told apart from other starts
	ids    sequence
	memory memory
	stats  counters

	changed changeLog
	beside  Beside
}

// Beside is what a database does beside the writer. A field may be nil.
type Beside struct {
	Committed func(units int64)     // is told of each commit, by the goroutine that writes
	Idle      func(context.Context) // runs while the database does, until its context ends
}

// New returns a database of the dialect, which has no connections yet.
func New(dialect *Dialect, beside Beside) *DB {
	db := &DB{
		dialect:  dialect,
		queue:    make(chan *unit, maxBatch),
		stopping: make(chan struct{}),
		stopped:  make(chan struct{}),
		beside:   beside,
	}
	db.opened = randomStart()
	return db
}

// Conn returns a connection to the database over that of a driver.
func (db *DB) Conn(over driver.Conn) *Conn {
	return &Conn{dialect: db.dialect, driver: over, stmts: map[string]*statement{}, ran: &db.stats.statements, memory: &db.memory}
}

// UseWriter makes a connection the one that writes, and reads with it what must be
// known before anything is written.
func (db *DB) UseWriter(writer *Conn) error {
	db.writer = writer
	writer.pipeline, _ = writer.driver.(Pipeline)
	db.memory.forget()
	return db.ids.load(writer)
}

// UseReaders makes connections those that read.
func (db *DB) UseReaders(readers []*Conn) {
	db.readers = make(chan *Conn, len(readers))
	for _, r := range readers {
		db.readers <- r
	}
}

// Close closes the connections: first those that read, last the one that writes. It
// must not be called before Run has returned and every View has. Units that wait
// are answered with errs.Unavailable.
func (db *DB) Close() error {
	if db.started.CompareAndSwap(false, true) {
		close(db.stopping)
		close(db.stopped)
	}
	db.ending.Wait()
	var all []error
	for range len(db.readers) {
		all = append(all, (<-db.readers).Close())
	}
	if db.writer != nil {
		all = append(all, db.writer.Close())
	}
	return errors.Join(all...)
}

// Stats are figures since the database was opened.
type Stats struct {
	Units      int64 // that were committed
	Commits    int64 // durable ones, of one or more units each
	Statements int64 // of any kind
	Views      int64 // snapshots that were read; each begins and ends with a statement
}

type counters struct{ units, commits, statements, views atomic.Int64 }

// Changes returns a number that is another after every commit and every start.
func (db *DB) Changes() uint64 { return db.opened + uint64(db.stats.commits.Load()) }

func randomStart() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (package crypto/rand)
	return binary.BigEndian.Uint64(b[:])
}

// Stats returns the figures at this moment.
func (db *DB) Stats() Stats {
	return Stats{
		Units:      db.stats.units.Load(),
		Commits:    db.stats.commits.Load(),
		Statements: db.stats.statements.Load(),
		Views:      db.stats.views.Load(),
	}
}

// text returns a statement in the words of the database.
func (d *Dialect) text(query string) string {
	if d.Text == nil {
		return query
	}
	return d.Text(query)
}
