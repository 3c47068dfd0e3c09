package engine

import (
	"context"
	"errors"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// Filters runs jq filters and bounds the time and memory that each takes.
// What is wrong with a filter, or too much for it, is in what it yields; the
// error is of what keeps filters from being run.
type Filters interface {
	Filter(ctx context.Context, f machine.Filter) (machine.Filtered, error)
}

// filterAhead is the error of a decision that needs to know what a filter
// yields. A filter may take a second, in which neither the writer nor a
// reader shall wait: the decision is given up, the filter is run, and the
// decision is made again.
type filterAhead struct{ filter machine.Filter }

// Error implements error.
func (f *filterAhead) Error() string { return "a jq filter is to be run first" }

// Unwrap says that it is no defect: the same thing succeeds later.
func (f *filterAhead) Unwrap() error {
	return errs.New(errs.Unavailable, "A jq filter of the route has not been run yet; try again.")
}

// mostAhead bounds how often a change is begun anew for filters and callbacks:
// an event has fewer, but what one decision needs may be pushed out of the cache by others.
const mostAhead = 30

// runAhead runs the filters and callbacks, and reads the calendars, that a
// change needs. err is what it
// ended with, and again makes it again.
func (e *base) runAhead(ctx context.Context, err error, again func() error) error {
	for range mostAhead {
		if call, ok := errors.AsType[*callAhead](err); ok {
			e.called.Put(call.call, e.ask(ctx, call.call))
			defer e.called.Drop(call.call)
			err = again()
			continue
		}
		if calendar, ok := errors.AsType[*calendarAhead](err); ok {
			if failed := e.readCalendar(calendar); failed != nil {
				return failed
			}
			err = again()
			continue
		}
		ahead, ok := errors.AsType[*filterAhead](err)
		if !ok {
			return err
		}
		result := machine.Filtered{Fault: "filters cannot be run here"}
		if e.filters != nil {
			var failed error
			if result, failed = e.filters.Filter(ctx, ahead.filter); failed != nil {
				return failed
			}
		}
		e.filtered.Put(ahead.filter, result)
		err = again()
	}
	return err
}

// attempt is a decision that was given up for a filter. When it is made again
// it gets the identities of new cases that it had: a filter may see them, and
// for others would have to be run anew, without end.
type attempt struct {
	id       int64 // of the event's case, 0 for one that is to be
	revision int64
	starter  identity.ID // of one that is to be
	route    int64
	now      time.Time
	judged   bool // decided on only to judge who may start it
}

// giveUp keeps the identities that an attempt had where err is why it was
// given up.
func (e *base) giveUp(a attempt, err error, identities ...machine.Identity) {
	_, filter := errors.AsType[*filterAhead](err)
	_, call := errors.AsType[*callAhead](err)
	if filter || call {
		e.givenUp.Put(a, identities...)
	}
}
