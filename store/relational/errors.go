package relational

import (
	"errors"

	"flowdrive/internal/errs"
)

// FaultKind is what an error of a database means.
type FaultKind int

// The kinds of faults.
const (
	FaultOther       FaultKind = iota
	FaultUnique                // another row has the key
	FaultReferred              // a reference would point to nothing
	FaultFull                  // there is no room
	FaultUnavailable           // the database does not answer, or not now
	FaultTooLong               // a name or path is too long for an index
	FaultCut                   // the connection to the database is lost; what it was asked may have been done
)

// fault is an error of a driver with what it means.
type fault struct {
	kind FaultKind
	err  error
}

// Error implements error.
func (f *fault) Error() string { return f.err.Error() }

// Unwrap returns the error of the driver.
func (f *fault) Unwrap() error { return f.err }

// What a client is told if the database cannot serve it.
const (
	detailFull        = "The server's disk is full. Nothing was stored; try again once there is room."
	detailUnavailable = "The server's database does not answer at the moment. Nothing was stored; try again."
	detailUnsure      = "The server's database has not said whether it has stored this. Look whether it has, or repeat the request with its Idempotency-Key."
	detailTooLong     = "A name or path is too long for the server's database; take a shorter one."
)

// Judged returns an error of a driver with its meaning, nil for nil. Failure looks at
// it.
func (d *Dialect) Judged(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault](err); ok {
		return err
	}
	return &fault{d.Judge(err), err}
}

// Failure translates an error that came up in op: what a database cannot do at the
// moment becomes errs.Full or errs.Unavailable. Errors that have a kind already pass
// through as they are. It returns nil for nil.
func Failure(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*errs.Error](err); ok {
		return err
	}
	switch kindOf(err) {
	case FaultFull:
		return &errs.Error{Kind: errs.Full, Detail: detailFull, Err: errs.Wrap(op, err)}
	case FaultUnavailable, FaultCut:
		return &errs.Error{Kind: errs.Unavailable, Detail: detailUnavailable, Err: errs.Wrap(op, err)}
	case FaultTooLong:
		return &errs.Error{Kind: errs.Invalid, Detail: detailTooLong, Err: errs.Wrap(op, err)}
	case FaultOther, FaultUnique, FaultReferred:
	}
	return errs.Wrap(op, err)
}

// commitFailure translates an error of a COMMIT. If the connection was lost meanwhile, it
// may have been done.
func commitFailure(err error) error {
	const op = "commit"
	if kindOf(err) == FaultCut {
		return &errs.Error{Kind: errs.Unavailable, Detail: detailUnsure, Err: errs.Wrap(op, err)}
	}
	return Failure(op, err)
}

func kindOf(err error) FaultKind {
	if f, ok := errors.AsType[*fault](err); ok {
		return f.kind
	}
	return FaultOther
}

// isUnique reports whether a row was refused because another one has its
// key.
func isUnique(err error) bool { return kindOf(err) == FaultUnique }

// isReferred reports whether a change was refused because a reference would
// point to nothing.
func isReferred(err error) bool { return kindOf(err) == FaultReferred }

// errShutDown answers units that come too late.
func errShutDown() error {
	return errs.New(errs.Unavailable, "The server is shutting down. Nothing was stored; try again in a moment.")
}
