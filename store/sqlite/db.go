// Package sqlite keeps everything in one SQLite database: the store of a server
// that runs on one machine. One goroutine writes, and gathers waiting units
// into group commits. A few connections read at the same time
// (docs/contract/storage.md#1-sqlite). It has no rules of the engine: it stores
// what it is given and finds it again.
package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/schema"
	"flowdrive/store"
)

var _ store.Store = (*DB)(nil)

// Options are the settings of a database; zero fields take their defaults.
type Options struct {
	WriterCache int // of pages, in KiB; 32 MiB, which with the rest keeps a busy server below 80
	ReaderCache int // of pages, in KiB, each; 4 MiB
	Readers     int // connections that read; 4

	// Idle is how long no commit must have happened before what the log
	// holds is brought into the database file; a second.
	Idle time.Duration

	// Volatile leaves it to the operating system when commits reach the disk: for a
	// database that is thrown away, and that nobody misses if the machine stops.
	Volatile bool

	migrations fs.FS // those of package schema
}

func (o Options) withDefaults() Options {
	if o.WriterCache == 0 {
		o.WriterCache = 32 << 10
	}
	if o.ReaderCache == 0 {
		o.ReaderCache = 4 << 10
	}
	if o.Readers == 0 {
		o.Readers = 4
	}
	if o.Idle == 0 {
		o.Idle = time.Second
	}
	if o.migrations == nil {
		o.migrations = schema.Migrations()
	}
	return o
}

// DB is an open database. Its methods may be called from any goroutine.
// Update needs Run to be running.
type DB struct {
	path string
	opts Options

	writePool *sql.DB // holds the one connection of writer
	readPool  *sql.DB // holds those of readers
	checkPool *sql.DB // holds that of the checkpointer, once there is one
	writer    *conn
	readers   chan *conn // those that are free

	queue    chan *unit
	stopping chan struct{} // closed: no unit is taken any more
	stopped  chan struct{} // closed: no unit will run any more
	started  atomic.Bool

	opened     uint64 // a random number, told apart from other starts
	ids        sequence
	memory     memory
	checkpoint checkpointer
	stats      counters
}

// Open opens the database file at path. It creates the file if it does not
// exist, and brings its schema up to date. It refuses a file whose schema is
// newer than this program, or that is not a Flowdrive database. Nothing else
// may have the file open for writing.
func Open(ctx context.Context, path string, opts Options) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, errs.Wrap("find the database file", err)
	}
	db := &DB{
		path:     path,
		opts:     opts.withDefaults(),
		queue:    make(chan *unit, maxBatch),
		stopping: make(chan struct{}),
		stopped:  make(chan struct{}),
	}
	db.opened = randomStart()
	db.checkpoint.wake = make(chan struct{}, 1)
	if err := db.open(ctx); err != nil {
		return nil, errors.Join(err, db.closePools())
	}
	return db, nil
}

func (db *DB) open(ctx context.Context) error {
	if err := create(db.path); err != nil {
		return err
	}
	var err error
	if db.writePool, err = openPool(db.opts.writerDSN(db.path, db.opts.WriterCache), 1); err != nil {
		return err
	}
	if err := migrate(ctx, db.writePool, db.opts.migrations); err != nil {
		return err
	}
	if db.writer, err = db.connect(ctx, db.writePool, writerSettings, db.opts.writerPragmas()); err != nil {
		return err
	}
	if err := db.ids.load(db.writer); err != nil {
		return err
	}
	db.memory.forget()
	if db.readPool, err = openPool(readerDSN(db.path, db.opts.ReaderCache), db.opts.Readers); err != nil {
		return err
	}
	if db.checkPool, err = openPool(db.opts.writerDSN(db.path, db.opts.ReaderCache), 1); err != nil {
		return err
	}
	db.readers = make(chan *conn, db.opts.Readers)
	for range db.opts.Readers {
		r, err := db.connect(ctx, db.readPool, "", readerPragmas())
		if err != nil {
			return err
		}
		db.readers <- r
	}
	return nil
}

// create creates the file if it does not exist, readable only by its owner:
// SQLite gives its log the same mode. The name is durable on return.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return failure("create the database file", err)
	}
	if err := f.Close(); err != nil {
		return failure("create the database file", err)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return failure("create the database file", err)
	}
	err = dir.Sync()
	return failure("create the database file", errors.Join(err, dir.Close()))
}

// Close closes the database. It must not be called before Run has returned
// and every View has. Units that wait are answered with errs.Unavailable.
func (db *DB) Close() error {
	if db.started.CompareAndSwap(false, true) {
		close(db.stopping)
		close(db.stopped)
	}
	return db.closePools()
}

// closePools closes the writer last: the last connection that may write
// brings the log into the database file and removes it.
func (db *DB) closePools() error {
	var all []error
	if db.readPool != nil {
		for range len(db.readers) {
			all = append(all, (<-db.readers).close())
		}
		all = append(all, db.readPool.Close())
	}
	if db.checkPool != nil {
		all = append(all, db.checkPool.Close())
	}
	if db.writePool != nil {
		if db.writer != nil {
			all = append(all, db.writer.close())
		}
		all = append(all, db.writePool.Close())
	}
	return failure("close the database", errors.Join(all...))
}

// Stats are figures since the database was opened.
type Stats struct {
	Units       int64 // that were committed
	Commits     int64 // durable ones, of one or more units each
	Statements  int64 // of any kind
	Views       int64 // snapshots that were read; each begins and ends with a statement
	Checkpoints int64 // in idle moments
}

type counters struct{ units, commits, statements, views, checkpoints atomic.Int64 }

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
		Units:       db.stats.units.Load(),
		Commits:     db.stats.commits.Load(),
		Statements:  db.stats.statements.Load(),
		Views:       db.stats.views.Load(),
		Checkpoints: db.stats.checkpoints.Load(),
	}
}
