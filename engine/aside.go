package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"flowdrive/engine/quota"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// The sweeper waits for nobody's filter or callback, each of which may take seconds.
// What needs one is put aside: it is decided beside the sweeper, and is neither fired nor
// started by it meanwhile. In a sandbox nothing is put aside, as all that is due at an
// instant is done before the clock goes on.

// The most that is put aside. What is beyond stays due, or queued, and is looked at
// again when something that was put aside is done.
const (
	mostAside        = 512
	mostAsideOfOwner = 16
)

// asideKey names what can be put aside: a due row, or a queued case.
type asideKey struct {
	queued bool
	kind   store.DueKind
	uuid   store.UUID
	id     int64
}

func keyOfRow(row store.DueRow) asideKey {
	return asideKey{kind: row.Kind, uuid: row.UUID, id: row.ID}
}

func keyOfQueued(id int64) asideKey { return asideKey{queued: true, id: id} }

// asides are what is put aside at the moment. The zero value is ready. It is safe for
// concurrent use.
type asides struct {
	mu     sync.Mutex
	keys   map[asideKey]struct{}
	owners map[identity.ID]int // how many of each
	groups map[string]int      // of queued cases, how many of each
	all    sync.WaitGroup
}

// work is what is done aside.
type work struct {
	key   asideKey
	owner identity.ID // whose filter or callback it waits for
	group string      // of a queued case, "" for none: no other of it is started meanwhile
	do    func()
}

// put does work beside its caller and reports whether there was room for it.
func (a *asides) put(w work) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.keys) >= mostAside || a.owners[w.owner] >= mostAsideOfOwner {
		return false
	}
	keep(&a.keys, w.key, struct{}{})
	keep(&a.owners, w.owner, a.owners[w.owner]+1)
	if w.group != "" {
		keep(&a.groups, w.group, a.groups[w.group]+1)
	}
	a.all.Go(w.do)
	return true
}

// done says that something is aside no longer.
func (a *asides) done(w work) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.keys, w.key)
	if a.owners[w.owner]--; a.owners[w.owner] == 0 {
		delete(a.owners, w.owner)
	}
	if w.group == "" {
		return
	}
	if a.groups[w.group]--; a.groups[w.group] == 0 {
		delete(a.groups, w.group)
	}
}

// has reports whether something is aside.
func (a *asides) has(key asideKey) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, is := a.keys[key]
	return is
}

// holds reports whether a queued case of the group is aside.
func (a *asides) holds(group string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return group != "" && a.groups[group] > 0
}

// waitsForOthers returns whose filter or callback a decision waits for that ended with
// err, false if for none.
func waitsForOthers(err error) (owner identity.ID, waits bool) {
	if f, is := errors.AsType[*filterAhead](err); is {
		return f.owner, true
	}
	if c, is := errors.AsType[*callAhead](err); is {
		return c.owner, true
	}
	return 0, false
}

// putAside does something beside the sweeper if it waits for a filter or a callback, and
// reports whether the sweeper has nothing more to do with it now: it is aside, or waits
// until there is room. do returns an error if it is to be tried again later.
func (e *Engine) putAside(ctx context.Context, err error, w work, do func() error) bool {
	owner, waits := waitsForOthers(err)
	if !waits || e.sandbox {
		return false
	}
	w.owner = owner
	w.do = func() {
		if err := do(); err != nil && ctx.Err() == nil {
			e.log.Error().Err(err).Msg("sweeper: failed; it will try again")
			pause(ctx, retryAfter)
		}
		e.sweeper.aside.done(w)
		if ctx.Err() != nil {
			return
		}
		if w.key.queued {
			e.sweeper.noteQueued()
		} else {
			e.sweeper.note(e.Clock.Now())
			e.sweeper.rouse()
		}
	}
	e.sweeper.aside.put(w)
	return true
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// startAside is what startSome does of a queued case that was put aside.
func (e *Engine) startAside(ctx context.Context, id int64, now time.Time, err error) error {
	err = e.runPrefetched(ctx, err, func() error {
		return e.Store.Update(ctx, func(tx store.Tx) error {
			_, err := e.startQueued(tx, id, now, nil)
			return err
		})
	})
	if err == nil || ctx.Err() != nil || quota.Unserved(err) {
		return err
	}
	e.stick(id, err)
	return nil
}

// stick notes a queued case that a defect keeps from starting.
func (e *Engine) stick(id int64, err error) {
	e.log.Error().Err(err).Int64("case", id).Msg("manager: could not start a queued case")
	e.sweeper.stuck.add(id)
}
