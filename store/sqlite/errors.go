package sqlite

import (
	"errors"
	"os"
	"syscall"

	"github.com/mattn/go-sqlite3"

	"flowdrive/internal/errs"
)

// What a client is told if the database cannot serve it.
const (
	detailFull        = "The server's disk is full. Nothing was stored; try again once there is room."
	detailUnavailable = "The server's database does not answer at the moment. Nothing was stored; try again."
)

// failure translates an error of the driver, of the file system or of
// database/sql that came up in op. Errors that have a kind already pass
// through as they are. It returns nil for nil.
func failure(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*errs.Error](err); ok {
		return err
	}
	switch {
	case isFull(err):
		return &errs.Error{Kind: errs.Full, Detail: detailFull, Err: errs.Wrap(op, err)}
	case isUnavailable(err):
		return &errs.Error{Kind: errs.Unavailable, Detail: detailUnavailable, Err: errs.Wrap(op, err)}
	}
	return errs.Wrap(op, err)
}

// code returns the primary and the extended code of a driver's error.
func code(err error) (sqlite3.ErrNo, sqlite3.ErrNoExtended) {
	if e, ok := errors.AsType[sqlite3.Error](err); ok {
		return e.Code, e.ExtendedCode
	}
	return 0, 0
}

// isUnique reports whether a row was refused because another one has its
// key.
func isUnique(err error) bool {
	_, extended := code(err)
	return extended == sqlite3.ErrConstraintUnique ||
		extended == sqlite3.ErrConstraintPrimaryKey ||
		extended == sqlite3.ErrConstraintRowID
}

// isReferred reports whether a change was refused because a reference would
// point to nothing.
func isReferred(err error) bool {
	_, extended := code(err)
	return extended == sqlite3.ErrConstraintForeignKey
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

// errShutDown answers units that come too late.
func errShutDown() error {
	return errs.New(errs.Unavailable, "The server is shutting down. Nothing was stored; try again in a moment.")
}
