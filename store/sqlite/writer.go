package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"flowdrive/engine"
	"flowdrive/errs"
)

// maxBatch is the most units of one commit.
const maxBatch = 256

// tx reads and writes within one unit.
type tx struct {
	reader
	hooks []func()
}

// AfterCommit registers f to run once the unit is durable, in order and
// before Update returns. f must not block: the writer waits for it.
func (t *tx) AfterCommit(f func()) { t.hooks = append(t.hooks, f) }

// unit is one thing that a caller wants done, whole or not at all.
type unit struct {
	f     func(*tx) error
	state atomic.Int32
	done  chan struct{} // closed once err is the answer
	err   error
	hooks []func()
}

// The states of a unit: it waits until the writer takes it or its caller
// gives up, whichever is first.
const (
	waiting int32 = iota
	taken
	withdrawn
)

func newUnit(f func(engine.Tx) error) *unit {
	return &unit{f: func(t *tx) error { return f(t) }, done: make(chan struct{})}
}

func (u *unit) answer(err error) {
	u.err = err
	close(u.done)
}

// Update runs f in a unit of its own within the next group commit, and
// returns when the commit is durable. An error or panic of f rolls the unit
// back, alone; a commit that fails fails all its units. Where ctx ends before
// the unit was taken, f does not run and ctx's error is returned; after that
// the outcome is waited for. f runs in the writer's goroutine: it must not
// block on anything but its Tx, nor call Update.
func (db *DB) Update(ctx context.Context, f func(engine.Tx) error) error {
	u := newUnit(f)
	if err := db.submit(ctx, []*unit{u}); err != nil {
		return err
	}
	return db.await(ctx, u)
}

// UpdateAll runs each f as Update does, each in a unit of its own, in the
// order given and with no other unit between them. The result has an error,
// or nil, for each.
func (db *DB) UpdateAll(ctx context.Context, fs []func(engine.Tx) error) []error {
	results := make([]error, len(fs))
	units := make([]*unit, len(fs))
	for i, f := range fs {
		units[i] = newUnit(f)
	}
	if err := db.submit(ctx, units); err != nil {
		for i := range results {
			results[i] = err
		}
		return results
	}
	for i, u := range units {
		results[i] = db.await(ctx, u)
	}
	return results
}

// submit queues the units, next to each other.
func (db *DB) submit(ctx context.Context, units []*unit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-db.stopping:
		return errShutDown()
	default:
	}
	select {
	case db.queue <- units:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-db.stopping:
		return errShutDown()
	}
}

// await returns the unit's outcome, or withdraws the unit where ctx ends
// before it was taken.
func (db *DB) await(ctx context.Context, u *unit) error {
	select {
	case <-u.done:
		return u.err
	case <-ctx.Done():
		if u.state.CompareAndSwap(waiting, withdrawn) {
			return ctx.Err()
		}
	case <-db.stopped:
		if u.state.CompareAndSwap(waiting, withdrawn) {
			return errShutDown()
		}
	}
	<-u.done
	return u.err
}

// Run writes what Update is given until ctx ends, then what waits by then,
// and returns when all is done. It runs once in the life of a DB.
func (db *DB) Run(ctx context.Context) error {
	if !db.started.CompareAndSwap(false, true) {
		return errs.Wrap("run the database", errors.New("it was run before, or closed"))
	}
	var idle sync.WaitGroup
	idle.Go(func() { db.checkpointWhenIdle(ctx) })
	defer idle.Wait()
	defer close(db.stopped)
	db.writeUntil(ctx)
	var backlog []*unit
	for {
		if backlog = db.gather(backlog); len(backlog) == 0 {
			return db.ids.settle(db.writer)
		}
		backlog = db.commit(backlog)
	}
}

// writeUntil writes until ctx ends, and then lets nothing more into the
// queue.
func (db *DB) writeUntil(ctx context.Context) {
	defer close(db.stopping)
	backlog := make([]*unit, 0, maxBatch)
	for {
		select {
		case units := <-db.queue:
			backlog = append(backlog, units...)
		case <-ctx.Done():
			return
		}
		for len(backlog) > 0 {
			backlog = db.commit(db.gather(backlog))
		}
	}
}

// gather adds what waits already, as long as there is room in the next
// commit; it never lingers for more.
func (db *DB) gather(backlog []*unit) []*unit {
	for len(backlog) < maxBatch {
		select {
		case units := <-db.queue:
			backlog = append(backlog, units...)
		default:
			return backlog
		}
	}
	return backlog
}

const (
	beginWrite  = `BEGIN IMMEDIATE`
	commitWrite = `COMMIT`
	rollback    = `ROLLBACK`
	beginUnit   = `SAVEPOINT unit`
	undoUnit    = `ROLLBACK TO unit`
	endUnit     = `RELEASE unit`
)

// commit runs the first units of the backlog in one transaction and answers
// them. It returns the rest.
func (db *DB) commit(backlog []*unit) []*unit {
	units := make([]*unit, 0, min(len(backlog), maxBatch))
	next := 0
	for ; next < len(backlog) && len(units) < maxBatch; next++ {
		if u := backlog[next]; u.state.CompareAndSwap(waiting, taken) {
			units = append(units, u)
		}
	}
	rest := append(backlog[:0], backlog[next:]...)
	if len(units) == 0 {
		return rest
	}
	ended := true
	defer func() { // a unit that ends its goroutine, as a test's Fatal does, ends the writer
		if ended {
			db.answer(units, errs.Wrap("write", errors.New("a unit has ended the writer")))
		}
	}()
	err := db.transact(units)
	ended = false
	db.answer(units, err)
	return rest
}

// answer answers the units of a transaction: failed is what failed all.
func (db *DB) answer(units []*unit, failed error) {
	if failed == nil {
		db.noteCommit(units)
	}
	for _, u := range units {
		switch {
		case u.err != nil:
			u.answer(u.err)
		case failed != nil:
			u.answer(failed)
		default:
			u.answer(runHooks(u.hooks))
		}
	}
}

func (db *DB) noteCommit(units []*unit) {
	committed := int64(0)
	for _, u := range units {
		if u.err == nil {
			committed++
		}
	}
	if committed > 0 {
		db.stats.units.Add(committed)
		db.stats.commits.Add(1)
		db.checkpoint.committed(committed)
	}
}

// transact runs the units in a transaction and commits it. What fails a unit
// alone is left in its err; what fails all is returned.
func (db *DB) transact(units []*unit) error {
	w := db.writer
	if _, err := w.exec(beginWrite); err != nil {
		return failure("begin to write", err)
	}
	defer db.memory.settle(w)
	err := db.fill(units)
	if err == nil {
		return nil
	}
	// The driver may have rolled back by itself already: after some errors
	// SQLite does. So this one's error says nothing.
	_, _ = w.exec(rollback)
	return err
}

// fill runs the units within the open transaction and commits it.
func (db *DB) fill(units []*unit) error {
	w := db.writer
	succeeded := 0
	for _, u := range units {
		if err := attempt(w, u, len(units) == 1); err != nil {
			return failure("write", err)
		}
		if u.err == nil {
			succeeded++
		}
	}
	if succeeded == 0 {
		_, err := w.exec(rollback)
		return failure("roll back", err)
	}
	reserved, err := db.ids.reserve(w)
	if err != nil {
		return failure("reserve ids", err)
	}
	if _, err := w.exec(commitWrite); err != nil {
		return failure("commit", err)
	}
	db.ids.reserved = reserved
	return nil
}

// attempt runs one unit, which is undone where it fails: within a savepoint,
// or with the whole transaction where it is alone in that. The error it
// returns is one that loses the whole transaction.
func attempt(w *conn, u *unit, alone bool) error {
	t := tx{reader: reader{c: w}}
	if alone {
		u.err = protect(func() error { return u.f(&t) })
		u.hooks = t.hooks
		return nil
	}
	if _, err := w.exec(beginUnit); err != nil {
		return err
	}
	if err := protect(func() error { return u.f(&t) }); err != nil {
		u.err = err
		if _, undoErr := w.exec(undoUnit); undoErr != nil {
			return lost(err, undoErr)
		}
	}
	u.hooks = t.hooks
	_, err := w.exec(endUnit)
	return err
}

// lost returns the error of a transaction that is gone, as it is after some
// errors of the machine below: what a unit met, where that explains it.
func lost(unit, undo error) error {
	if errs.Is(unit, errs.Full) || errs.Is(unit, errs.Unavailable) {
		return unit
	}
	return undo
}

// runHooks runs what a unit has asked for after its commit. What it wrote is
// durable even where one of them panics.
func runHooks(hooks []func()) (err error) {
	for _, hook := range hooks {
		err = errors.Join(err, protect(func() error { hook(); return nil }))
	}
	return err
}

// protect turns a panic of f into an internal error that holds the stack.
func protect(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errs.Wrap("write", fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	return f()
}
