package relational

import (
	"bytes"
	"cmp"
	"database/sql/driver"
	"errors"
	"fmt"

	"flowdrive/store"
)

// Pipeline is a connection of a driver to a database that is far away. What is sent together
// waits for one answer.
type Pipeline interface {
	driver.Conn

	// Queue has a statement sent before the next one that runs. If it fails, that one does
	// not run, and its error is *Earlier.
	Queue(s driver.Stmt, args []driver.NamedValue) error

	// Flush sends what was queued, and returns when all of it has run.
	Flush() error

	// Ask runs queries that are sent together, after what was queued, and returns the rows of
	// each.
	Ask([]Question) ([]driver.Rows, error)
}

// Question is a query with its arguments.
type Question struct {
	Stmt driver.Stmt
	Args []driver.NamedValue
}

// Earlier is the error of a statement that was queued.
type Earlier struct{ Err error }

// Error implements error.
func (e *Earlier) Error() string { return e.Err.Error() }

// Unwrap returns the error of the statement.
func (e *Earlier) Unwrap() error { return e.Err }

// lateWrite is a statement whose outcome its unit does not ask for: it is sent with others.
type lateWrite struct {
	of   *unit
	s    *statement
	args []driver.NamedValue
}

// part is what the writer knows of the unit that runs.
type part struct {
	unit   *unit // nil: none runs
	alone  bool  // in its transaction, so that there is no savepoint
	opened bool  // its savepoint is, as something was to be sent at once
	later  bool  // what it writes waits
	failed error // why something that waited failed: then all that the unit does is in vain
	lost   error // what the whole transaction was lost by
}

// Later implements store.Writer.
func (t *tx) Later() { t.c.part.later = t.c.pipeline != nil }

// Settle implements store.Writer.
func (t *tx) Settle() error {
	c := t.c
	if c.part.unit == nil || len(c.waiting) == 0 || c.waiting[len(c.waiting)-1].of != c.part.unit {
		return nil
	}
	if err := c.arrive(); err != nil {
		return err
	}
	return c.part.note(c.dialect.Judged(c.pipeline.Flush()))
}

// note looks whether the error of a statement is that of one that was sent with it.
func (p *part) note(err error) error {
	if _, ok := errors.AsType[*Earlier](err); !ok {
		return err
	}
	p.failed = again(err)
	return p.failed
}

// again returns what a unit fails with if something that waited failed by err.
func again(err error) error {
	switch kindOf(err) {
	case FaultFull, FaultUnavailable, FaultCut:
		return Failure("write", err)
	case FaultOther, FaultUnique, FaultReferred, FaultTooLong:
	}
	return fmt.Errorf("%w (%w)", store.ErrAgain, err)
}

// put has a statement wait. Its arguments may be changed afterwards.
func (c *Conn) put(query string, args []any) error {
	if c.part.failed != nil {
		return c.part.failed
	}
	s, err := c.prepared(query)
	if err != nil {
		return err
	}
	if err := s.take(args); err != nil {
		return err
	}
	c.ahead.wrote(query, args)
	kept := make([]driver.NamedValue, len(s.args))
	for i, arg := range s.args {
		if data, ok := arg.Value.([]byte); ok {
			arg.Value = bytes.Clone(data)
		}
		kept[i] = arg
	}
	clear(s.args)
	c.waiting = append(c.waiting, lateWrite{c.part.unit, s, kept})
	return nil
}

// expecting returns a statement that fails unless query changes a row. Only databases of a
// Pipeline are asked it.
func expecting(query string) string {
	return `WITH changed AS (` + query + ` RETURNING 1) SELECT 1 / count(*) FROM changed`
}

// arrive is called before something is sent at once, in whose unit the savepoint must be by
// then, and what it has written.
func (c *Conn) arrive() error {
	p := &c.part
	if p.unit == nil {
		return nil
	}
	if p.failed != nil {
		return p.failed
	}
	if !p.opened {
		first := len(c.waiting)
		for first > 0 && c.waiting[first-1].of == p.unit {
			first--
		}
		own := c.waiting[first:]
		c.waiting = c.waiting[:first]
		if p.lost = c.settle(); p.lost != nil {
			p.failed = p.lost
			return p.failed
		}
		c.waiting = own
		p.opened = true
		if !p.alone {
			if err := c.control(beginPart); err != nil {
				return err
			}
		}
	}
	p.failed = c.queueAll()
	return p.failed
}

// queueAll gives what waits to the driver.
func (c *Conn) queueAll() error {
	all := c.waiting
	c.waiting = nil
	return c.queue(all)
}

func (c *Conn) queue(all []lateWrite) error {
	for _, w := range all {
		if err := c.pipeline.Queue(w.s.prepared, w.args); err != nil {
			return c.dialect.Judged(err)
		}
	}
	return nil
}

// control runs a statement that opens or ends something, whatever waits.
func (c *Conn) control(query string) error {
	s, err := c.prepared(query)
	if err != nil {
		return err
	}
	_, err = s.exec(nil)
	return err
}

// settle sends what waits, of units that have ended. One whose statements fail has that as its
// error; the others are as if it had not been. What is returned fails all.
func (c *Conn) settle() error {
	all := c.waiting
	c.waiting = nil
	if len(all) == 0 {
		return nil
	}
	err := c.together(all, c.pipeline.Flush)
	if _, ok := errors.AsType[*Earlier](err); !ok {
		return err
	}
	return c.oneByOne(all)
}

// together sends statements in a savepoint, by what is called last.
func (c *Conn) together(all []lateWrite, last func() error) error {
	if err := c.control(beginPart); err != nil {
		return err
	}
	if err := c.queue(all); err != nil {
		return err
	}
	if err := c.control(endPart); err != nil {
		return err
	}
	return c.dialect.Judged(last())
}

// oneByOne undoes what together has sent, of which something has failed, and sends it again, unit
// by unit.
func (c *Conn) oneByOne(all []lateWrite) error {
	if err := c.undo(); err != nil {
		return err
	}
	for len(all) > 0 {
		u, n := all[0].of, 1
		for n < len(all) && all[n].of == u {
			n++
		}
		err := c.together(all[:n], c.pipeline.Flush)
		if _, ok := errors.AsType[*Earlier](err); ok {
			u.err = again(err)
			err = c.undo()
		}
		if err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// Parts implements store.Writer. What parts write later waits for the end of all, if none of those that
// follow reads: so they cost one round trip together. A part is a unit within the unit, whose
// outcome it has by then.
func (t *tx) Parts(fs []func() error) []error {
	c := t.c
	results := make([]error, len(fs))
	if c.pipeline == nil {
		for i, f := range fs {
			results[i] = t.savepoint(f)
		}
		return results
	}
	if err := cmp.Or(t.lost, t.Settle(), c.arrive()); err != nil {
		for i := range results {
			results[i] = err
		}
		return results
	}
	whole, hooks := c.part, t.hooks
	parts := make([]unit, len(fs))
	for i, f := range fs {
		t.hooks = nil
		parts[i].f = func(*tx) error { return f() }
		if t.lost = c.perform(t, &parts[i], false); t.lost != nil {
			break
		}
		if parts[i].err != nil {
			parts[i].err = joined(parts[i].err, parts[i].undone())
		}
	}
	if t.lost == nil {
		t.lost = c.settle()
	}
	c.part, c.waiting, t.hooks = whole, nil, hooks
	for i := range parts {
		if results[i] = cmp.Or(parts[i].err, t.lost); results[i] == nil {
			t.hooks = append(t.hooks, parts[i].hooks...)
		} else {
			results[i] = joined(results[i], parts[i].undone())
		}
	}
	return results
}

// undo undoes what was written in the savepoint, and ends it.
func (c *Conn) undo() error {
	c.ahead = ahead{} // it may be what is undone
	if err := c.control(undoPart); err != nil {
		return err
	}
	return c.control(endPart)
}

// perform runs a unit, as attempt does, over a Pipeline. What it has written may wait then.
func (c *Conn) perform(t *tx, u *unit, alone bool) error {
	before := len(c.waiting)
	c.part = part{unit: u, alone: alone, opened: alone}
	err := protect(func() error { return u.f(t) })
	p := c.part
	c.part = part{}
	u.hooks, u.cases = t.hooks, t.cases
	if err == nil {
		err = p.failed
	}
	u.err = err
	switch {
	case cmp.Or(t.lost, p.lost) != nil:
		return cmp.Or(t.lost, p.lost)
	case !p.opened:
		if err != nil { // nothing of it was sent
			c.waiting = c.waiting[:before]
		}
		return nil
	case alone:
		if err != nil { // the transaction is rolled back
			c.waiting = nil
		}
		return nil
	case err != nil:
		c.waiting = nil
		if undoErr := c.undo(); undoErr != nil {
			return lost(err, undoErr)
		}
		return nil
	case len(c.waiting) == 0:
		return c.control(endPart)
	}
	err = c.queueAll()
	if err == nil {
		err = c.control(endPart)
	}
	if err == nil {
		err = c.dialect.Judged(c.pipeline.Flush())
	}
	if _, ok := errors.AsType[*Earlier](err); ok {
		u.err = again(err)
		return c.undo()
	}
	return err
}

// commit sends what waits with the COMMIT. If something of it fails, the transaction is open
// still, some of the units have failed, and done is false.
func (c *Conn) commit(alone bool) (done bool, err error) {
	all := c.waiting
	c.waiting = nil
	commit := func() error { return c.control(c.dialect.Commit) }
	if len(all) == 0 {
		return true, commit()
	}
	if alone {
		if err = c.queue(all); err == nil {
			err = commit()
		}
	} else {
		err = c.together(all, commit)
	}
	_, failed := errors.AsType[*Earlier](err)
	switch {
	case !failed || kindOf(err) == FaultCut:
		return true, err
	case alone:
		all[0].of.err = again(err)
		return false, nil
	}
	return false, c.oneByOne(all)
}
