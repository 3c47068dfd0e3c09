package outbox

import (
	"context"
	"errors"

	"flowdrive/engine/machine"
)

// Failed is the error of an attempt with what is known of how it failed. Err may be
// a *Final or a *Later.
type Failed struct {
	Kind   machine.FailureKind
	Status int64  // as in machine.Failure
	Output string // the end of what a command wrote, of bounded length
	Body   *Reply // the beginning of what a service has answered, at most MostKept bytes; nil: nothing
	Err    error
}

// Error implements error.
func (f *Failed) Error() string { return f.Err.Error() }

// Unwrap returns the error of the attempt.
func (f *Failed) Unwrap() error { return f.Err }

// HowFailed returns what is known of the error of an attempt. What says nothing of
// its kind is a fault if it is final, else a failure of the network.
func HowFailed(err error) Failed {
	if f, is := errors.AsType[*Failed](err); is {
		return *f
	}
	f := Failed{Kind: machine.FailureNetwork, Err: err}
	if _, is := errors.AsType[*Final](err); is {
		f.Kind = machine.FailureFault
	} else if errors.Is(err, context.DeadlineExceeded) {
		f.Kind = machine.FailureTimeout
	}
	return f
}
