package sqlite

import (
	"errors"
	"os"
	"syscall"

	"github.com/mattn/go-sqlite3"

	"flowdrive/store/relational"
)

const (
	beginRead = `BEGIN DEFERRED`
	rollback  = `ROLLBACK`
)

// dialect is what SQLite does in its own way.
func dialect() *relational.Dialect {
	return &relational.Dialect{BeginRead: beginRead, EndRead: rollback, BeginWrite: `BEGIN IMMEDIATE`, Commit: `COMMIT`, Rollback: rollback, Judge: judge}
}

// judge returns what an error of the driver, of the file system or of database/sql means.
func judge(err error) relational.FaultKind {
	_, extended := code(err)
	switch {
	case extended == sqlite3.ErrConstraintUnique, extended == sqlite3.ErrConstraintPrimaryKey, extended == sqlite3.ErrConstraintRowID:
		return relational.FaultUnique
	case extended == sqlite3.ErrConstraintForeignKey:
		return relational.FaultReferred
	case isFull(err):
		return relational.FaultFull
	case isUnavailable(err):
		return relational.FaultUnavailable
	}
	return relational.FaultOther
}

// failure translates an error that came up in op, as relational.Failure does.
func failure(op string, err error) error {
	if err == nil {
		return nil
	}
	return relational.Failure(op, dialect().Judged(err))
}

// code returns the primary and the extended code of a driver's error.
func code(err error) (sqlite3.ErrNo, sqlite3.ErrNoExtended) {
	if e, ok := errors.AsType[sqlite3.Error](err); ok {
		return e.Code, e.ExtendedCode
	}
	return 0, 0
}

func isFull(err error) bool {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return true
	}
	e, ok := errors.AsType[sqlite3.Error](err)
	return ok && (e.Code == sqlite3.ErrFull || e.SystemErrno == syscall.ENOSPC || e.SystemErrno == syscall.EDQUOT)
}

func isUnavailable(err error) bool {
	if _, ok := errors.AsType[*os.PathError](err); ok {
		return true
	}
	switch primary, _ := code(err); primary {
	case sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrIoErr, sqlite3.ErrReadonly, sqlite3.ErrPerm,
		sqlite3.ErrCantOpen, sqlite3.ErrProtocol, sqlite3.ErrNomem, sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		return true
	}
	return false
}
