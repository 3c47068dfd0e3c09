package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/mattn/go-sqlite3"

	"flowdrive/internal/errs"
	"flowdrive/store/relational"
)

// Source is a database as it was at one instant, to be copied or checked as a
// whole. Others may write it meanwhile, also other processes; the log grows until
// the source is closed. It is for one goroutine at a time.
type Source struct {
	*relational.Source
	db      *DB
	c       *conn
	version int64
}

type (
	// Counts are how many there are of what people know.
	Counts = relational.Counts
	// Inline is a content that is in the database.
	Inline = relational.Inline
)

// OpenSource opens the database file at path for reading, as it is now. It
// creates nothing and brings nothing up to date. It returns errs.NotFound if there
// is no such file, and refuses a database whose schema is newer than this
// program, or that is not of Flowdrive.
func OpenSource(ctx context.Context, path string) (_ *Source, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, errs.Wrap("find the database file", err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, &errs.Error{Kind: errs.NotFound, Detail: fmt.Sprintf("There is no database %s; --data names the data folder, --db a PostgreSQL database", path), Err: fs.ErrNotExist}
	} else if err != nil {
		return nil, failure("find the database file", err)
	}
	s := &Source{db: newDB(path, Options{})}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Source) open(ctx context.Context) error {
	const op = "open the database"
	var err error
	if s.db.readPool, err = openPool(readerDSN(s.db.path, s.db.opts.ReaderCache), 1); err != nil {
		return err
	}
	newest, err := NewestSchema()
	if err != nil {
		return err
	}
	if s.version, err = schemaVersion(ctx, s.db.readPool); err != nil {
		return failure(op, err)
	}
	if s.version > newest {
		return newerSchema(s.version, newest)
	}
	if s.version == 0 {
		return errs.Wrap("open "+s.db.path, ErrEmpty)
	}
	if s.c, err = s.db.connect(ctx, s.db.readPool, "", readerPragmas()); err != nil {
		return err
	}
	if _, err := s.c.Exec(beginRead); err != nil {
		return failure(op, err)
	}
	s.Source = relational.NewSource(s.c.Conn)
	_, err = s.c.Row(selectVersion).Scan(&s.version) // begins the snapshot
	return failure(op, err)
}

// ErrEmpty says that a database has no schema: nothing was ever stored in it, or its
// log is lost.
var ErrEmpty = errs.New(errs.Unavailable, "The database is empty.")

// QuickCheck looks through the structure of the database and returns the first thing that
// is wrong, "" for nothing. Unlike the function it cannot write: what a killed server has
// left in the log stays there.
func (s *Source) QuickCheck() (found string, err error) {
	if _, err := s.c.Row(quickCheck).Scan(&found); err != nil {
		return "", failure("look through the database", err)
	}
	if found == "ok" {
		return "", nil
	}
	return found, nil
}

// Close ends the reading.
func (s *Source) Close() error {
	var all []error
	if s.c != nil {
		all = append(all, s.c.close())
	}
	if s.db.readPool != nil {
		all = append(all, s.db.readPool.Close())
	}
	return failure("close the database", errors.Join(all...))
}

// Schema returns the number of the last migration of the database.
func (s *Source) Schema() int64 { return s.version }

const (
	copyPages = 256 // of one step of a copy: a MiB
	// copyWait is how long a copy waits if a step could not copy anything, and
	// copyTries how often in a row it does.
	copyWait  = 10 * time.Millisecond
	copyTries = 500
)

// Copy writes the source into a new database file at the path to, in small steps,
// durably. After each step it calls progress with the bytes that are done and
// those of the whole. It fails if there is such a file. If it fails, or ctx ends,
// an unfinished file may be left.
func (s *Source) Copy(ctx context.Context, to string, progress func(done, all int64)) (err error) {
	if err := create(to); err != nil {
		return err
	}
	pool, err := openPool(copyDSN(to), 1)
	if err != nil {
		return err
	}
	err = s.copyInto(ctx, pool, progress)
	if err := errors.Join(failure("copy the database", err), failure("close the copy of the database", pool.Close())); err != nil {
		return err
	}
	return syncFile(to)
}

func (s *Source) copyInto(ctx context.Context, to *sql.DB, progress func(done, all int64)) (err error) {
	var size int64
	if _, err := s.c.Row(`PRAGMA page_size`).Scan(&size); err != nil {
		return err
	}
	copied, err := s.db.connect(ctx, to, "", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.close()) }()
	target, isTarget := copied.Driver().(*sqlite3.SQLiteConn)
	from, isSource := s.c.Driver().(*sqlite3.SQLiteConn)
	if !isTarget || !isSource {
		return fmt.Errorf("a connection is a %T, and a %T", copied.Driver(), s.c.Driver())
	}
	backup, err := target.Backup("main", from, "main")
	if err != nil {
		return err
	}
	err = runCopy(ctx, backup, func() {
		progress(int64(backup.PageCount()-backup.Remaining())*size, int64(backup.PageCount())*size)
	})
	return errors.Join(err, backup.Finish())
}

// runCopy runs the steps. The driver does not tell a step that could not copy
// anything from one that could.
func runCopy(ctx context.Context, backup *sqlite3.SQLiteBackup, progress func()) error {
	last, tries := -1, 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		done, err := backup.Step(copyPages)
		if err != nil {
			return err
		}
		progress()
		if done {
			return nil
		}
		if remaining := backup.Remaining(); remaining != last {
			last, tries = remaining, 0
			continue
		}
		if tries++; tries == copyTries {
			return sqlite3.Error{Code: sqlite3.ErrBusy}
		}
		timer := time.NewTimer(copyWait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

func syncFile(path string) error {
	const op = "write the copy of the database"
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return failure(op, err)
	}
	return failure(op, errors.Join(f.Sync(), f.Close()))
}
