package relational

import (
	"database/sql/driver"
	"errors"
	"io"
	"sync/atomic"
)

// Conn is a connection with the statements that were prepared on it. It is for
// one goroutine at a time.
//
// Its statements run without a deadline: under a context that can end, a
// driver starts a goroutine for each one. Waiting is bounded at the places
// where it can be long: in the queue of the writer and before a free reader.
type Conn struct {
	dialect *Dialect
	driver  driver.Conn
	stmts   map[string]*statement // by text
	ran     *atomic.Int64         // statements
	memory  *memory               // of the whole database

	pipeline Pipeline // the driver, if it is one and the connection is the writer's
	part     part
	waiting  []lateWrite // what is sent with the next that is sent at once
	ahead    ahead

	// What the arguments of the next statement are made in.
	columns []column
	args    []any
	view    viewState
	untried error // why the savepoint of a try could not be made
}

// viewState is how far the snapshot of a View is: many decisions rest on what
// is in memory alone and never ask for one.
type viewState int

const (
	noView   viewState = iota
	viewing            // it begins with the first statement
	snapshot           // it has begun
	unended            // it could not be ended
)

// Driver returns what the connection is made of.
func (c *Conn) Driver() driver.Conn { return c.driver }

// Close closes the statements, and not what the connection is made of.
func (c *Conn) Close() error {
	var all []error
	for _, s := range c.stmts {
		all = append(all, s.prepared.Close())
	}
	return errors.Join(all...)
}

// stmt returns a statement that is sent at once.
func (c *Conn) stmt(query string) (*statement, error) {
	if err := c.arrive(); err != nil {
		return nil, err
	}
	if c.view == viewing {
		c.view = snapshot
		if _, err := c.Exec(c.dialect.BeginRead); err != nil {
			c.view = viewing
			return nil, Failure("begin to read", err)
		}
	}
	return c.prepared(query)
}

// prepared returns the statement, prepared on its first use. The texts are
// constants of this package, so their number is bounded.
func (c *Conn) prepared(query string) (*statement, error) {
	c.ran.Add(1)
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	s, err := prepare(c, query)
	if err != nil {
		return nil, err
	}
	c.stmts[query] = s
	return s, nil
}

// Exec runs a statement that yields no rows. In a unit that writes later it waits, and its
// result says nothing.
func (c *Conn) Exec(query string, args ...any) (driver.Result, error) {
	if c.part.later && !isControl(query) {
		return driver.RowsAffected(0), c.put(query, args)
	}
	return c.run(query, args)
}

// isControl reports whether a statement opens or ends a part of a transaction.
func isControl(query string) bool {
	switch query {
	case beginPart, undoPart, endPart, beginTry, undoTry, endTry:
		return true
	}
	return false
}

// run runs a statement at once that yields no rows.
func (c *Conn) run(query string, args []any) (driver.Result, error) {
	if !isControl(query) {
		c.ahead.wrote(query, args)
	}
	s, err := c.stmt(query)
	if err != nil {
		return nil, err
	}
	res, err := s.exec(args)
	return res, c.part.note(err)
}

// Change runs a statement and returns how many rows it changed.
func (c *Conn) Change(query string, args ...any) (int64, error) {
	res, err := c.run(query, args)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// insert runs a statement that adds at most one row, and returns its number, which the
// database has given, in the column key, and how many were added.
func (c *Conn) insert(query, key string, args ...any) (id, added int64, err error) {
	if c.dialect.Returning {
		c.ahead.wrote(query, args)
		c.try()
		found, err := c.Row(query+` RETURNING `+key, args...).Scan(&id)
		if err := c.tried(err); err != nil || !found {
			return 0, 0, err
		}
		return id, 1, nil
	}
	res, err := c.run(query, args)
	if err != nil {
		return 0, 0, err
	}
	if added, err = res.RowsAffected(); err != nil || added == 0 {
		return 0, 0, err
	}
	id, err = res.LastInsertId()
	return id, added, err
}

// What surrounds a statement whose failure the unit survives, if the database would end
// the transaction with it.
const (
	beginTry = `SAVEPOINT try`
	undoTry  = `ROLLBACK TO try`
	endTry   = `RELEASE try`
)

// try is called before a statement that may be refused by a key or a reference, tried
// with its error after it.
func (c *Conn) try() {
	if c.dialect.FailsWhole {
		_, c.untried = c.Exec(beginTry)
	}
}

func (c *Conn) tried(err error) error {
	if !c.dialect.FailsWhole {
		return err
	}
	if c.untried != nil {
		return c.untried
	}
	if err != nil {
		if _, undoErr := c.Exec(undoTry); undoErr != nil {
			return undoErr
		}
	}
	if _, endErr := c.Exec(endTry); endErr != nil {
		return endErr
	}
	return err
}

// Row is the outcome of a query for at most one row.
type Row struct {
	s    *statement
	rows driver.Rows
	err  error
}

// Row runs a query for at most one row, which must be read or scanned.
func (c *Conn) Row(query string, args ...any) Row {
	rows, s, err := c.ask(query, args)
	return Row{s, rows, err}
}

// Scan reads the columns of the present row.
type Scan func(dest ...any) error

// read lets f scan the row, and says whether there was one.
func (r Row) read(f func(Scan) error) (found bool, err error) {
	if r.err != nil {
		return false, r.err
	}
	defer func() {
		if err = errors.Join(err, r.s.judge(r.rows.Close())); err != nil {
			found = false
		}
	}()
	if err := r.s.next(r.rows); err != nil {
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		return false, err
	}
	return true, f(r.s.scan)
}

// Scan reads the row's columns, and says whether there was one.
func (r Row) Scan(dest ...any) (found bool, err error) {
	return r.read(func(scan Scan) error { return scan(dest...) })
}

// ask runs a query, unless its rows were read ahead.
func (c *Conn) ask(query string, args []any) (driver.Rows, *statement, error) {
	if rows, s := c.readAhead(query, args); rows != nil {
		return rows, s, nil
	}
	s, err := c.stmt(query)
	if err != nil {
		return nil, nil, err
	}
	rows, err := s.query(args)
	return rows, s, c.part.note(err)
}

// errEnough is what a function returns to Each to read no more rows.
var errEnough = errors.New("the rows that follow are not needed")

// Each runs a query and calls f for each of its rows, until f fails or returns errEnough.
func (c *Conn) Each(query string, f func(Scan) error, args ...any) (err error) {
	rows, s, err := c.ask(query, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.judge(rows.Close())) }()
	for {
		err := s.next(rows)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(s.scan); err != nil {
			if errors.Is(err, errEnough) {
				return nil
			}
			return err
		}
	}
}
