package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"flowdrive/internal/errs"
	"flowdrive/store/relational"
)

// roomWithin is how long it may take to try whether the server has room.
const roomWithin = 10 * time.Second

// takeRoom writes a table of a MiB, which no compression makes smaller, on the disk of the
// other tables. The end of its transaction removes it.
const takeRoom = `BEGIN READ WRITE;
	CREATE UNLOGGED TABLE flowdrive_room (data text);
	ALTER TABLE flowdrive_room ALTER COLUMN data SET STORAGE EXTERNAL;
	INSERT INTO flowdrive_room SELECT repeat('x', 1048576);
	ROLLBACK`

// IsFull reports whether an error says that the disk of the server is full.
func IsFull(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "53100" // disk_full
}

// IsReadOnly reports whether an error says that the server takes no changes: it is a replica
// that follows another one, or was set so.
func IsReadOnly(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "25006" // read_only_sql_transaction
}

// LacksRoom reports whether the disk of the server may be full: a statement has failed for that
// since TryRoom has last found room.
func (db *DB) LacksRoom() bool { return db.full.Load() }

// NoteFull says that the disk of the server is full, which something beside this store has found.
func (db *DB) NoteFull() { db.full.Store(true) }

// judge is judge, and notes that the disk of the server is full.
func (db *DB) judge(err error) relational.FaultKind {
	kind := judge(err)
	if kind == relational.FaultFull {
		db.NoteFull()
	}
	return kind
}

// TryRoom looks whether the disk of the server has room for a MiB. It returns errs.Full if it
// has not, and errs.Unavailable if that could not be found out.
func (db *DB) TryRoom(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, roomWithin)
	defer cancel()
	to, err := db.opts.direct().config()
	if err != nil {
		return err
	}
	pg, err := pgconn.ConnectConfig(ctx, to)
	if err != nil {
		return db.opts.judgeConnect(to, err)
	}
	defer func() { err = errors.Join(err, failure("end the connection", pg.Close(ctx))) }()
	db.full.Store(false) // what fails from here on counts
	_, err = pg.Exec(ctx, takeRoom).ReadAll()
	if err = failure("look whether the database has room", err); errs.Is(err, errs.Full) {
		db.full.Store(true)
	}
	return err
}
