package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"time"

	"flowdrive/engine/core"
	"flowdrive/errs"
	"flowdrive/identity"
)

// Filters runs jq filters and bounds the time and memory that each takes.
// What is wrong with a filter, or too much for it, is in what it yields; the
// error is of what keeps filters from being run.
type Filters interface {
	Filter(ctx context.Context, f core.Filter) (core.Filtered, error)
}

// filterAhead is the error of a decision that needs to know what a filter
// yields. A filter may take a second, in which neither the writer nor a
// reader shall wait: the decision is given up, the filter is run, and the
// decision is made again.
type filterAhead struct{ filter core.Filter }

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
func (e *Engine) runAhead(ctx context.Context, err error, again func() error) error {
	for range mostAhead {
		if call, ok := errors.AsType[*callAhead](err); ok {
			e.called.put(call.call, e.ask(ctx, call.call))
			defer e.called.drop(call.call)
			err = again()
			continue
		}
		if calendar, ok := errors.AsType[*calendarAhead](err); ok {
			if failed := e.readAhead(calendar); failed != nil {
				return failed
			}
			err = again()
			continue
		}
		ahead, ok := errors.AsType[*filterAhead](err)
		if !ok {
			return err
		}
		result := core.Filtered{Fault: "filters cannot be run here"}
		if e.filters != nil {
			var failed error
			if result, failed = e.filters.Filter(ctx, ahead.filter); failed != nil {
				return failed
			}
		}
		e.filtered.put(ahead.filter, result)
		err = again()
	}
	return err
}

// filterCache holds what filters yielded, as much as there is room for, until
// the decisions that need it are made. They are pure, so that it never goes
// stale.
type filterCache struct {
	mu      sync.Mutex
	results map[filterKey]core.Filtered
	order   []filterKey // oldest first
	size    int
}

type filterKey [sha256.Size]byte

const filterRoom = 32 << 20 // bytes

func keyOf(f core.Filter) filterKey {
	h := sha256.New()
	for _, part := range []string{f.Filter, f.Input, f.Xattr, f.Case} {
		sum := sha256.Sum256([]byte(part))
		h.Write(sum[:])
	}
	return filterKey(h.Sum(nil))
}

func (c *filterCache) get(f core.Filter) (core.Filtered, bool) {
	key := keyOf(f)
	c.mu.Lock()
	defer c.mu.Unlock()
	result, ok := c.results[key]
	return result, ok
}

func (c *filterCache) put(f core.Filter, result core.Filtered) {
	const overhead = 256
	key, size := keyOf(f), len(result.Output)+overhead
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.results[key]; known {
		return
	}
	for c.size+size > filterRoom && len(c.order) > 0 {
		c.size -= len(c.results[c.order[0]].Output) + overhead
		delete(c.results, c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
	keep(&c.results, key, result)
	c.order = append(c.order, key)
	c.size += size
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

// givenUp holds the identities of decisions that were given up until they are
// made again. Whoever makes one takes them out, so that no two get the same.
type givenUp struct {
	mu         sync.Mutex
	identities map[attempt][]core.Identity
}

func (g *givenUp) take(a attempt) []core.Identity {
	g.mu.Lock()
	defer g.mu.Unlock()
	identities := g.identities[a]
	delete(g.identities, a)
	return identities
}

// put keeps the identities where err is why the decision was given up.
func (g *givenUp) put(a attempt, err error, identities ...core.Identity) {
	_, filter := errors.AsType[*filterAhead](err)
	_, call := errors.AsType[*callAhead](err)
	if !filter && !call || len(identities) == 0 {
		return
	}
	const most = 1000 // what was never tried again is forgotten
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.identities) >= most {
		clear(g.identities)
	}
	keep(&g.identities, a, identities)
}
