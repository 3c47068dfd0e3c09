package relational

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

// maxBatch is the most units of one commit.
const maxBatch = 256

// tx reads and writes within one unit.
type tx struct {
	reader
	db      *DB
	hooks   []hook
	cases   []int64 // that were changed, perhaps some that were not
	earlier []int64 // likewise, by units of the transaction before this one
	lost    error   // what the whole transaction was lost by
}

// AfterCommit registers f to run once the unit is durable, in order and
// before Update returns. f must not block: the writer waits for it.
func (t *tx) AfterCommit(f func()) { t.hooks = append(t.hooks, hook{f: f}) }

// IfUndone registers f to run once what was written by then is undone, in order and before
// Update returns. f must not block: the writer waits for it.
func (t *tx) IfUndone(f func()) { t.hooks = append(t.hooks, hook{f, true}) }

// hook is what runs after the commit, or if there is none.
type hook struct {
	f      func()
	undone bool // it runs if what its unit wrote is undone
}

// savepoint runs f. If f fails or panics, or what it wrote later does not come out, it
// undoes what f wrote and registered, and nothing else.
func (t *tx) savepoint(f func() error) error {
	if t.lost != nil {
		return t.lost
	}
	if err := cmp.Or(t.Settle(), t.c.part.failed); err != nil {
		return err
	}
	later := t.c.part.later
	t.c.part.later = false // an error of f is its own, unless f says otherwise
	defer func() { t.c.part.later = later }()
	if _, t.lost = t.c.Exec(beginPart); t.lost != nil {
		return t.lost
	}
	hooks := len(t.hooks)
	err := protect(f)
	if err == nil {
		err = cmp.Or(t.Settle(), t.c.part.failed)
	}
	t.lost = cmp.Or(t.lost, t.c.part.lost)
	if err != nil && t.lost == nil {
		err = joined(err, runHooks(t.hooks[hooks:], true))
		t.hooks = t.hooks[:hooks]
		t.c.waiting, t.c.part.failed, t.c.ahead = nil, nil, ahead{}
		if _, undoErr := t.c.Exec(undoPart); undoErr != nil {
			t.lost = lost(err, undoErr)
		}
	}
	if t.lost == nil {
		_, t.lost = t.c.Exec(endPart)
	}
	return cmp.Or(err, t.lost)
}

// unit is one thing that a caller wants done, whole or not at all.
type unit struct {
	f     func(*tx) error
	state atomic.Int32
	done  chan struct{} // closed once err is the answer
	err   error
	hooks []hook
	cases []int64 // that it has changed
}

// The states of a unit: it waits until the writer takes it or its caller
// gives up, whichever is first.
const (
	waiting int32 = iota
	taken
	withdrawn
)

func newUnit(f func(store.Tx) error) *unit {
	return &unit{f: func(t *tx) error { return f(t) }, done: make(chan struct{})}
}

// undone runs what is to run as the unit has failed. That is at once, so that the next unit
// finds it done, and not again if the whole transaction fails.
func (u *unit) undone() error {
	hooks := u.hooks
	u.hooks = nil
	return runHooks(hooks, true)
}

func (u *unit) answer(err error) {
	u.err = err
	close(u.done)
}

// Update runs f in a unit of its own within the next group commit, and returns
// when the commit is durable. An error or panic of f rolls back this unit only.
// A commit that fails fails all its units. If ctx ends before the unit was
// taken, f does not run and ctx's error is returned; after that Update waits
// for the outcome. f runs in the writer's goroutine: it must not block on
// anything but its Tx, and must not call Update.
func (db *DB) Update(ctx context.Context, f func(store.Tx) error) error {
	u := newUnit(f)
	if err := db.submit(ctx, u); err != nil {
		return err
	}
	return db.await(ctx, u)
}

// submit queues the unit.
func (db *DB) submit(ctx context.Context, u *unit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-db.stopping:
		return errShutDown()
	default:
	}
	select {
	case db.queue <- u:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-db.stopping:
		return errShutDown()
	}
}

// await returns the unit's outcome, or withdraws the unit if ctx ends before it
// was taken.
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
	if db.beside.Idle != nil {
		idle.Go(func() { db.beside.Idle(ctx) })
	}
	defer idle.Wait()
	defer close(db.stopped)
	db.writeUntil(ctx)
	for {
		batch := db.gather(nil)
		if len(batch) == 0 {
			return db.ids.settle(db.writer)
		}
		db.commit(batch)
	}
}

// writeUntil writes until ctx ends, and then lets nothing more into the
// queue.
func (db *DB) writeUntil(ctx context.Context) {
	defer close(db.stopping)
	batch := make([]*unit, 0, maxBatch)
	for {
		select {
		case u := <-db.queue:
			batch = db.gather(append(batch[:0], u))
			db.commit(batch)
			clear(batch)
		case <-ctx.Done():
			return
		}
	}
}

// gather adds what waits already, as long as there is room in the next
// commit; it never lingers for more.
func (db *DB) gather(batch []*unit) []*unit {
	for len(batch) < maxBatch {
		select {
		case u := <-db.queue:
			batch = append(batch, u)
		default:
			return batch
		}
	}
	return batch
}

const (
	beginPart = `SAVEPOINT part`
	undoPart  = `ROLLBACK TO part`
	endPart   = `RELEASE part`
)

// commit runs the units in one transaction, but those that were withdrawn
// meanwhile, and answers them.
func (db *DB) commit(batch []*unit) {
	units := slices.DeleteFunc(batch, func(u *unit) bool { return !u.state.CompareAndSwap(waiting, taken) })
	if len(units) == 0 {
		return
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
}

// answer answers the units of a transaction: failed is what failed all.
func (db *DB) answer(units []*unit, failed error) {
	if failed == nil {
		db.noteCommit(units)
	}
	for _, u := range units {
		switch {
		case u.err != nil:
			u.answer(joined(u.err, u.undone()))
		case failed != nil:
			u.answer(joined(failed, u.undone()))
		default:
			u.answer(runHooks(u.hooks, false))
		}
	}
}

func (db *DB) noteCommit(units []*unit) {
	committed := int64(0)
	var cases []int64
	for _, u := range units {
		if u.err == nil {
			committed++
			cases = append(cases, u.cases...)
		}
	}
	if committed > 0 {
		db.stats.units.Add(committed)
		db.changed.add(db.stats.commits.Load()+1, cases) // before Changes says so
		db.stats.commits.Add(1)
		if db.beside.Committed != nil {
			db.beside.Committed(committed)
		}
	}
}

// transact runs the units in a transaction and commits it. What fails a unit
// alone is left in its err; what fails all is returned.
func (db *DB) transact(units []*unit) error {
	w := db.writer
	if _, err := w.Exec(db.dialect.BeginWrite); err != nil {
		return Failure("begin to write", err)
	}
	defer func() {
		w.part, w.waiting = part{}, nil
		db.memory.settle(w)
	}()
	err := db.fill(units)
	if err == nil {
		return nil
	}
	// The driver may have rolled back by itself already: after some errors
	// SQLite does. So this one's error says nothing.
	_, _ = w.Exec(db.dialect.Rollback)
	return err
}

// fill runs the units within the open transaction and commits it.
func (db *DB) fill(units []*unit) error {
	w := db.writer
	alone := len(units) == 1
	var changed []int64
	for _, u := range units {
		if err := attempt(&tx{reader: reader{c: w}, db: db, earlier: changed}, u, alone); err != nil {
			return Failure("write", err)
		}
		if u.err != nil {
			u.err = joined(u.err, u.undone())
		}
		changed = append(changed, u.cases...)
	}
	reserved, err := db.ids.reserve(w)
	if err != nil {
		return Failure("reserve ids", err)
	}
	for {
		if !slices.ContainsFunc(units, func(u *unit) bool { return u.err == nil }) {
			_, err := w.Exec(db.dialect.Rollback)
			return Failure("roll back", err)
		}
		switch done, err := w.commit(alone); {
		case err != nil && done:
			return commitFailure(err)
		case err != nil:
			return Failure("write", err)
		case done:
			db.ids.reserved = reserved
			return nil
		}
	}
}

// attempt runs one unit and undoes it if it fails: within a savepoint, or with
// the whole transaction if it is alone in that. It returns only errors that
// lose the whole transaction.
func attempt(t *tx, u *unit, alone bool) error {
	if t.c.pipeline != nil {
		defer func() { t.c.ahead = ahead{} }()
		return t.c.perform(t, u, alone)
	}
	f := func() error { return u.f(t) }
	if alone {
		u.err = protect(f)
	} else {
		u.err = t.savepoint(f)
	}
	u.hooks, u.cases = t.hooks, t.cases
	return t.lost
}

// lost picks the error to report when SQLite has rolled back the whole
// transaction: the unit's own error if it names the cause, else that of the
// transaction.
func lost(unit, undo error) error {
	if errs.Is(unit, errs.Full) || errs.Is(unit, errs.Unavailable) {
		return unit
	}
	return undo
}

// runHooks runs the hooks of a unit after its commit, or those that run if there is none. What
// the unit wrote is durable even if a hook panics.
func runHooks(hooks []hook, undone bool) (err error) {
	for _, hook := range hooks {
		if hook.undone == undone {
			err = errors.Join(err, protect(func() error { hook.f(); return nil }))
		}
	}
	return err
}

// joined returns err as it is, unless there is another one.
func joined(err, other error) error {
	if other == nil {
		return err
	}
	return errors.Join(err, other)
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
