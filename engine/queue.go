package engine

import (
	"context"
	"slices"
	"sync"
	"time"
)

// stuckCases are queued cases that a defect keeps from starting. They are
// not tried again by this process.
type stuckCases struct {
	mu  sync.Mutex
	ids map[int64]bool
}

func (s *stuckCases) add(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = map[int64]bool{}
	}
	s.ids[id] = true
}

func (s *stuckCases) has(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids[id]
}

func (s *stuckCases) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ids)
}

// startsNow reports whether a case of the priority may be started where it
// is created: it overtakes no queued one that could start. Creating never
// waits for starting, yet what a person starts should be there when the
// answer is (design: the engine, section 1).
func (e *Engine) startsNow(r Reader, priority int) (bool, error) {
	if !e.sweeper.queued.Load() {
		return true, nil
	}
	ids, err := r.QueuedCases(1 + e.sweeper.stuck.len())
	if err != nil {
		return false, err
	}
	for _, id := range ids {
		if e.sweeper.stuck.has(id) {
			continue
		}
		first, err := r.Case(id)
		return err == nil && first.Priority < priority, err
	}
	return true, nil
}

// startQueue starts a batch of the queued cases, higher priority first. One
// that a defect keeps from starting stays queued and is not tried again by
// this process.
func (e *Engine) startQueue(ctx context.Context, now time.Time) error {
	if !e.sweeper.queued.Swap(false) {
		return nil
	}
	more, err := e.startSome(ctx, now)
	if more || err != nil {
		e.sweeper.queued.Store(true)
	}
	return err
}

// startSome starts a batch of queued cases, and reports whether there may be
// more.
func (e *Engine) startSome(ctx context.Context, now time.Time) (more bool, err error) {
	s := &e.sweeper
	var ids []int64
	err = e.store.View(ctx, func(r Reader) (err error) {
		ids, err = r.QueuedCases(batch + s.stuck.len())
		return err
	})
	if err != nil {
		return false, err
	}
	ids = slices.DeleteFunc(ids, s.stuck.has)
	ids = ids[:min(len(ids), batch)]
	if len(ids) == 0 {
		return false, nil
	}
	units := make([]func(Tx) error, len(ids))
	for i, id := range ids {
		units[i] = func(tx Tx) error { return e.startQueued(tx, id, now) }
	}
	for i, err := range e.store.UpdateAll(ctx, units) {
		err = e.withFilters(ctx, err, func() error { return e.store.Update(ctx, units[i]) })
		switch {
		case err == nil:
		case ctx.Err() != nil || unserved(err):
			return false, err
		default:
			e.log.Error().Err(err).Int64("case", ids[i]).Msg("a queued case could not be started")
			s.stuck.add(ids[i])
		}
	}
	return len(ids) == batch, nil
}
