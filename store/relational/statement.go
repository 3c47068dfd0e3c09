package relational

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// statement is prepared on a connection, for one goroutine at a time. It asks
// the driver itself: what package sql does around that, for pools and for
// connections that are lost, costs a third of a small statement, and there is
// neither.
type statement struct {
	dialect  *Dialect
	prepared driver.Stmt
	runs     driver.StmtExecContext
	asks     driver.StmtQueryContext
	inputs   int
	args     []driver.NamedValue
	row      []driver.Value // the present one
}

func prepare(on *Conn, query string) (*statement, error) {
	prepared, err := on.driver.Prepare(on.dialect.text(query))
	if err != nil {
		return nil, on.dialect.Judged(err)
	}
	s := &statement{dialect: on.dialect, prepared: prepared, inputs: prepared.NumInput()}
	var runs, asks bool
	s.runs, runs = prepared.(driver.StmtExecContext)
	s.asks, asks = prepared.(driver.StmtQueryContext)
	if !runs || !asks {
		return nil, fmt.Errorf("the driver's statement is a %T", prepared)
	}
	return s, nil
}

// exec runs a statement that yields no rows.
func (s *statement) exec(args []any) (driver.Result, error) {
	if err := s.take(args); err != nil {
		return nil, err
	}
	defer clear(s.args)
	res, err := s.runs.ExecContext(context.Background(), s.args)
	return res, s.judge(err)
}

// query runs a statement that yields rows, which must be closed before it is
// run again.
func (s *statement) query(args []any) (driver.Rows, error) {
	if err := s.take(args); err != nil {
		return nil, err
	}
	defer clear(s.args)
	rows, err := s.asks.QueryContext(context.Background(), s.args)
	if err == nil && len(s.row) == 0 { // the columns may be known only once there is a row
		s.row = make([]driver.Value, len(rows.Columns()))
	}
	return rows, s.judge(err)
}

// judge returns an error of the driver with its meaning.
func (s *statement) judge(err error) error {
	if err == nil {
		return nil
	}
	return s.dialect.Judged(err)
}

// take makes the arguments ready to be bound.
func (s *statement) take(args []any) error {
	if len(args) != s.inputs {
		return fmt.Errorf("%d arguments are given to a statement with %d", len(args), s.inputs)
	}
	s.args = s.args[:0]
	for i, arg := range args {
		value, err := bound(arg)
		if err != nil {
			return fmt.Errorf("argument %d: %w", i+1, err)
		}
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: value})
	}
	return nil
}

// bound is what the driver binds for an argument.
func bound(arg any) (driver.Value, error) {
	switch arg := arg.(type) {
	case nil, int64, string, []byte, bool:
		return arg, nil
	case int:
		return int64(arg), nil
	}
	return driver.DefaultParameterConverter.ConvertValue(arg)
}

// next makes the next row the present one; io.EOF is the end.
func (s *statement) next(rows driver.Rows) error {
	err := rows.Next(s.row)
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return s.dialect.Judged(err)
}

// scan reads the columns of the present row.
func (s *statement) scan(dest ...any) error {
	if len(dest) != len(s.row) {
		return fmt.Errorf("%d columns are read of %d", len(dest), len(s.row))
	}
	for i := range dest {
		if err := assign(dest[i], s.row[i]); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return nil
}

// assign stores a column's value, which is a copy already.
func assign(dest any, value driver.Value) error {
	switch dest := dest.(type) {
	case sql.Scanner:
		return dest.Scan(value)
	case *int64:
		if n, ok := value.(int64); ok {
			*dest = n
			return nil
		}
	case *string:
		if text, ok := value.(string); ok {
			*dest = text
			return nil
		}
	case *[]byte:
		switch value := value.(type) {
		case []byte, nil:
			*dest, _ = value.([]byte)
			return nil
		case string:
			*dest = []byte(value)
			return nil
		}
	case *bool:
		if n, ok := value.(int64); ok {
			*dest = n != 0
			return nil
		}
	}
	return assignKind(dest, value)
}

// assignKind stores a value in a variable of a type of our own.
func assignKind(dest any, value driver.Value) error {
	to := reflect.ValueOf(dest).Elem()
	switch value := value.(type) {
	case int64:
		if to.CanInt() && !to.OverflowInt(value) {
			to.SetInt(value)
			return nil
		}
		if to.CanUint() && value >= 0 && !to.OverflowUint(uint64(value)) {
			to.SetUint(uint64(value))
			return nil
		}
	case string:
		if to.Kind() == reflect.String {
			to.SetString(value)
			return nil
		}
	}
	return fmt.Errorf("a %T cannot be read into a %s", value, to.Type())
}
