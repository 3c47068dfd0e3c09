// Package sqlite keeps everything in one SQLite database: the store of a server
// that runs on one machine (docs/contract/storage.md#1-sqlite). The statements
// are those of store/relational; what is here is the file: how it is opened,
// brought up to date, copied, and looked through.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/schema"
	"flowdrive/store"
	"flowdrive/store/relational"
)

var _ store.Store = (*DB)(nil)

// Options are the settings of a database; zero fields take their defaults.
type Options struct {
	WriterCache int // of pages, in KiB; 12 MiB, which with the rest keeps a busy server below 80
	ReaderCache int // of pages, in KiB, each; 2 MiB
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
		o.WriterCache = 12 << 10
	}
	if o.ReaderCache == 0 {
		o.ReaderCache = 2 << 10
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
	*relational.DB
	path string
	opts Options

	writePool *sql.DB // holds the one connection of writer
	readPool  *sql.DB // holds those of readers
	checkPool *sql.DB // holds that of the checkpointer, once there is one
	writer    *conn
	readers   []*conn

	checkpoint checkpointer
}

func newDB(path string, opts Options) *DB {
	db := &DB{path: path, opts: opts.withDefaults()}
	db.DB = relational.New(dialect(), relational.Beside{Committed: db.checkpoint.committed, Idle: db.checkpointWhenIdle})
	db.checkpoint.wake = make(chan struct{}, 1)
	return db
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
	db := newDB(path, opts)
	if err := db.open(ctx); err != nil {
		return nil, errors.Join(err, db.closePools())
	}
	return db, nil
}

func (db *DB) open(ctx context.Context) error {
	keepMallocSmall()
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
	if err := db.UseWriter(db.writer.Conn); err != nil {
		return err
	}
	if db.readPool, err = openPool(readerDSN(db.path, db.opts.ReaderCache), db.opts.Readers); err != nil {
		return err
	}
	if db.checkPool, err = openPool(db.opts.writerDSN(db.path, db.opts.ReaderCache), 1); err != nil {
		return err
	}
	readers := make([]*relational.Conn, 0, db.opts.Readers)
	for range db.opts.Readers {
		r, err := db.connect(ctx, db.readPool, "", readerPragmas())
		if err != nil {
			return err
		}
		db.readers = append(db.readers, r)
		readers = append(readers, r.Conn)
	}
	db.UseReaders(readers)
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

// Connections returns how many connections the database has: one that writes, and those
// that read.
func (db *DB) Connections() int { return 1 + db.opts.Readers }

// Close closes the database. It must not be called before Run has returned
// and every View has. Units that wait are answered with errs.Unavailable.
func (db *DB) Close() error {
	return errors.Join(failure("close the database", db.DB.Close()), db.closePools())
}

// closePools closes the writer last: the last connection that may write
// brings the log into the database file and removes it.
func (db *DB) closePools() error {
	var all []error
	if db.readPool != nil {
		for _, r := range db.readers {
			all = append(all, r.raw.Close())
		}
		all = append(all, db.readPool.Close())
	}
	if db.checkPool != nil {
		all = append(all, db.checkPool.Close())
	}
	if db.writePool != nil {
		if db.writer != nil {
			all = append(all, db.writer.raw.Close())
		}
		all = append(all, db.writePool.Close())
	}
	return failure("close the database", errors.Join(all...))
}

// Stats are figures since the database was opened.
type Stats struct {
	relational.Stats
	Checkpoints int64 // in idle moments
}

// Stats returns the figures at this moment.
func (db *DB) Stats() Stats {
	return Stats{Stats: db.DB.Stats(), Checkpoints: db.checkpoint.done.Load()}
}
