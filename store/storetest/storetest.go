// Package storetest opens stores for tests: on SQLite, or on PostgreSQL if the environment
// says so (package internal/pgtest). At the end of a test its store must be consistent.
package storetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"flowdrive/internal/pgtest"
	"flowdrive/store/postgres"
	"flowdrive/store/relational"
	"flowdrive/store/sqlite"
)

// DB is an open store of either kind.
type DB struct {
	*relational.DB
	opened opened
}

type opened interface {
	Run(ctx context.Context) error
	Close() error
}

// Run writes what Update is given until ctx ends.
func (db *DB) Run(ctx context.Context) error { return db.opened.Run(ctx) }

// Close closes the store.
func (db *DB) Close() error { return db.opened.Close() }

// Place is where a store is: it can be opened several times, one after the other.
type Place struct {
	path    string // of a file
	address string // of a PostgreSQL database, "" for a file
}

// NewPlace returns a place for a new store: a file below dir, or a database.
func NewPlace(tb testing.TB, dir string) Place {
	tb.Helper()
	if !pgtest.Wanted() {
		return Place{path: filepath.Join(dir, "flowdrive.db")}
	}
	return Place{address: pgtest.From(tb, &migrated)}
}

//nolint:gochecknoglobals // made once for all tests of a process
var migrated = pgtest.Template{Fill: func(address string) error {
	db, err := postgres.Open(context.Background(), postgres.Options{Address: address, Now: time.Now})
	if err != nil {
		return err
	}
	return db.Close()
}}

// Open opens the store at the place.
func (p Place) Open(ctx context.Context) (*DB, error) {
	if p.address != "" {
		// Tests let days pass in which nothing is to be said.
		o := postgres.Options{Address: p.address, Readers: 2, Answer: time.Minute, Silence: 15 * 24 * time.Hour, Now: time.Now}
		if pgtest.Pooled() {
			o.Address, o.Direct = p.address+"&default_query_exec_mode=exec", p.address
		}
		db, err := postgres.Open(ctx, o)
		for range 100 { // the session of the one before ends a moment after it was closed
			if !errors.Is(err, postgres.ErrStandby) {
				break
			}
			db, err = postgres.Open(ctx, o)
		}
		if err != nil {
			return nil, err
		}
		return &DB{db.DB, db}, nil
	}
	db, err := sqlite.Open(ctx, p.path, sqlite.Options{WriterCache: 2048, ReaderCache: 512})
	if err != nil {
		return nil, err
	}
	return &DB{db.DB, db}, nil
}

// Faults returns what is not as it should be between the rows.
func (db *DB) Faults(ctx context.Context) (all []relational.Fault, err error) {
	err = db.ViewConn(ctx, func(c *relational.Conn) error {
		return relational.NewSource(c).Check(func(f relational.Fault) error {
			all = append(all, f)
			return nil
		})
	})
	return all, err
}

// Run opens a new store and runs it as long as the test lasts.
func Run(tb testing.TB) *DB {
	tb.Helper()
	db, err := NewPlace(tb, tb.TempDir()).Open(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx) }()
	tb.Cleanup(func() {
		faults, err := db.Faults(ctx)
		for _, f := range faults {
			tb.Errorf("%s: %s", f.What, f.Row)
		}
		cancel()
		if err := errors.Join(err, <-ended, db.Close()); err != nil {
			tb.Errorf("close the store: %v", err)
		}
	})
	return db
}

// Kept is what a store was when it was kept.
type Kept struct {
	file     []byte
	template *pgtest.Template
}

// Keep returns what the store at the place, which must be closed, is now.
func (p Place) Keep(tb testing.TB) Kept {
	tb.Helper()
	if p.address != "" {
		return Kept{template: pgtest.Snapshot(tb, p.address)}
	}
	file, err := os.ReadFile(p.path)
	if err != nil {
		tb.Fatal(err)
	}
	return Kept{file: file}
}

// Place returns a place for a copy: a file below dir, or a database.
func (k Kept) Place(tb testing.TB, dir string) Place {
	tb.Helper()
	if k.template != nil {
		return Place{address: pgtest.From(tb, k.template)}
	}
	p := Place{path: filepath.Join(dir, "flowdrive.db")}
	if err := os.WriteFile(p.path, k.file, 0o600); err != nil {
		tb.Fatal(err)
	}
	return p
}
