package engine

import (
	"context"
	"errors"
	"time"

	"flowdrive/engine/calendar"
	"flowdrive/engine/contents"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// Filters runs jq filters and limits the time and memory of each. Faults of a
// filter, and what exceeds its limits, are in its result. It returns an error
// if filters cannot be run. Owner is the user or team whose case it is for: those that
// wait are served in turns, so that nobody's filters keep others waiting for long.
type Filters interface {
	Filter(ctx context.Context, owner identity.ID, f machine.Filter) (machine.Filtered, error)
}

// filterAhead is the error of a decision that needs the result of a filter. A
// filter may take a second, and neither the writer nor a reader may wait for
// it: the decision is given up, the filter is run, and the decision is made
// again.
type filterAhead struct {
	filter machine.Filter
	owner  identity.ID // in whose context its case is
}

// Error implements error.
func (f *filterAhead) Error() string { return "a jq filter is to be run first" }

// Unwrap says that it is not a defect: the same change succeeds later.
func (f *filterAhead) Unwrap() error {
	return errs.New(errs.Unavailable, "A jq filter of the route has not been run yet; try again.")
}

// mostAhead limits how often a change is begun again for filters and callbacks.
// An event has fewer, but the result for one decision may be pushed out of the
// cache by others.
const mostAhead = 30

// runPrefetched runs the filters and callbacks, reads the calendars, and plays the
// scenarios that a change needs. err is the error with which the change ended, and again makes
// the change again.
func (e *base) runPrefetched(ctx context.Context, err error, again func() error) error {
	for range mostAhead {
		if call, ok := errors.AsType[*callAhead](err); ok {
			e.called.Put(call.call, e.ask(ctx, call.call))
			defer e.called.Drop(call.call)
			err = again()
			continue
		}
		if search, ok := errors.AsType[*searchAhead](err); ok {
			found, failed := e.searchContent(search)
			if failed != nil && !errors.Is(failed, contents.ErrGone) {
				return failed
			}
			if failed == nil { // else the message was replaced, and is looked up again
				e.searched.Put(search.key, found)
			}
			err = again()
			continue
		}
		if unread, ok := errors.AsType[*calendar.Ahead](err); ok {
			if failed := e.readCalendar(unread); failed != nil {
				return failed
			}
			err = again()
			continue
		}
		if story, ok := errors.AsType[*playAhead](err); ok {
			if failed := e.playStory(ctx, story); failed != nil {
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
			if result, failed = e.filters.Filter(ctx, ahead.owner, ahead.filter); failed != nil {
				return failed
			}
		}
		e.filtered.Put(ahead.filter, result)
		err = again()
	}
	return err
}

// attempt is a decision that was given up for a filter. When it is made again,
// new cases get the same identities. Filters may see these, so with others they
// would have to be run again, without end.
type attempt struct {
	id       int64 // of the event's case, 0 for one that is to be
	revision int64
	starter  identity.ID // of a case to be created
	route    int64
	now      time.Time
	judged   bool // it was made only to check who may start the case
}

// giveUp keeps the identities of an attempt if err is the reason why it was
// given up.
func (e *base) giveUp(a attempt, err error, identities ...machine.Identity) {
	if isAhead(err) {
		e.givenUp.Put(a, identities...)
	}
}

// isAhead reports whether a decision was given up only to be made again.
func isAhead(err error) bool {
	_, filter := errors.AsType[*filterAhead](err)
	_, call := errors.AsType[*callAhead](err)
	_, search := errors.AsType[*searchAhead](err)
	return filter || call || search
}
