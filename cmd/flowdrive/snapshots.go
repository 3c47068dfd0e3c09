package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"flowdrive/attach"
	"flowdrive/store/transfer"
)

// snapshots are copies of the tables of a PostgreSQL database, for what looks at those of a
// data folder.
type snapshots struct {
	where  transfer.Where
	folder string
	taken  int
	place  attach.Place // of the contents
	home   func() error
}

// openSnapshots looks where the contents of the database lie, and makes a folder for
// snapshots. It refuses a database that is not one of Flowdrive.
func openSnapshots(ctx context.Context, db *databaseSettings) (s *snapshots, err error) {
	if err := db.fault(); err != nil {
		return nil, err
	}
	password, err := db.secret()
	if err != nil {
		return nil, err
	}
	end := &copyEnd{at: db.address, password: password}
	s = &snapshots{}
	if s.where, err = end.where(); err != nil {
		return nil, err
	}
	if err := transfer.CheckSource(ctx, s.where.Postgres); err != nil {
		return nil, fmt.Errorf("--db: %w", err)
	}
	if s.place, s.home, err = end.sharedPlace(ctx, s.where); err != nil {
		return nil, fmt.Errorf("--db: %w", err)
	}
	if s.folder, err = os.MkdirTemp("", "flowdrive-snapshot-"); err != nil {
		return nil, errors.Join(fmt.Errorf("make a temporary folder: %w", err), s.home())
	}
	return s, nil
}

// take makes a snapshot and returns its path.
func (s *snapshots) take(ctx context.Context) (string, error) {
	s.taken++
	path := filepath.Join(s.folder, strconv.Itoa(s.taken)+".db")
	return path, transfer.Snapshot(ctx, s.where.Postgres, path)
}

func (s *snapshots) close() error { return errors.Join(s.home(), os.RemoveAll(s.folder)) }
