package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// The limit writes the rows that the engine writes. What those are is read from
// the database: the rows of a case before and after something is done with it.

// op is one statement with its arguments. The first argument is a case's id.
type op struct {
	query string
	args  []any
	reads bool // one row
}

// caseTable is a table with rows of a case that no trigger writes.
type caseTable struct {
	name     string
	key      string // the column that says which case
	within   string // the column that tells apart the rows of a case, "" for the case itself
	numbered string // a column that SQLite fills in, "" for none
	timed    string // a column with the instant at which the row is written, "" for none
}

func caseTables() []caseTable {
	return []caseTable{
		{name: "cases", key: "id"},
		{name: "case_log", key: "case_id", within: "seq"},
		{name: "messages", key: "case_id", within: "label", numbered: "id"},
		{name: "tasks", key: "case_id", within: "party_id"},
		{name: "done_tasks", key: "case_id", within: "seq", timed: "time"},
	}
}

// columns returns the columns of the table that can be written.
func (t caseTable) columns(ctx context.Context, db *sql.DB) (names []string, err error) {
	rows, err := db.QueryContext(ctx, `SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0`, t.name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// row is one of a table, by column.
type row map[string]any

// caseRows are the rows of a case, by table and by their key.
type caseRows map[string]map[any]row

// rowsOf reads the rows of a case from the database in a data folder.
func rowsOf(ctx context.Context, data string, id int64) (_ caseRows, err error) {
	db, err := openRaw(data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	out := caseRows{}
	for _, t := range caseTables() {
		names, err := t.columns(ctx, db)
		if err != nil {
			return nil, err
		}
		if out[t.name], err = t.rows(ctx, db, names, id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (t caseTable) rows(ctx context.Context, db *sql.DB, names []string, id int64) (map[any]row, error) {
	rows, err := db.QueryContext(ctx, `SELECT `+strings.Join(names, ", ")+` FROM `+t.name+` WHERE `+t.key+` = ?1`, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[any]row{}
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		r := row{}
		for i, name := range names {
			r[name] = values[i]
		}
		out[r[t.within]] = r
	}
	return out, rows.Err()
}

// written returns the statements that make the rows of a case of before those
// of after. A case that was there is read first, and changed only if its
// revision is still the one of before.
func written(before, after caseRows) (ops []op) {
	for _, t := range caseTables() {
		for _, at := range sorted(after[t.name]) {
			now := after[t.name][at]
			was, known := before[t.name][at]
			switch {
			case !known:
				ops = append(ops, t.insert(now))
			case t.within == "":
				ops = append(ops, op{query: `SELECT * FROM cases WHERE id = ?1`, args: []any{now[t.key]}, reads: true}, t.update(was, now))
			case !reflect.DeepEqual(was, now):
				ops = append(ops, t.update(was, now))
			}
		}
		for _, at := range sorted(before[t.name]) {
			if _, left := after[t.name][at]; !left {
				was := before[t.name][at]
				ops = append(ops, op{query: `DELETE FROM ` + t.name + ` WHERE ` + t.key + ` = ?1 AND ` + t.within + ` = ?2`, args: []any{was[t.key], at}})
			}
		}
	}
	return ops
}

// sorted are the keys of rows in the order of their texts.
func sorted(rows map[any]row) []any {
	return slices.SortedFunc(maps.Keys(rows), func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

func (t caseTable) insert(r row) op {
	names, args := []string{t.key}, []any{r[t.key]}
	places := []string{"?1"}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if name != t.key && name != t.numbered {
			value := r[name]
			if name == t.timed {
				value = present{}
			}
			names, args = append(names, name), append(args, value)
			places = append(places, fmt.Sprintf("?%d", len(args)))
		}
	}
	return op{query: `INSERT INTO ` + t.name + ` (` + strings.Join(names, ", ") + `) VALUES (` + strings.Join(places, ", ") + `)`, args: args}
}

func (t caseTable) update(was, now row) op {
	same := "revision"
	if t.within != "" {
		same = t.within
	}
	args := []any{now[t.key], was[same]}
	var set []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if !reflect.DeepEqual(was[name], now[name]) {
			args = append(args, now[name])
			set = append(set, fmt.Sprintf("%s = ?%d", name, len(args)))
		}
	}
	return op{query: `UPDATE ` + t.name + ` SET ` + strings.Join(set, ", ") + ` WHERE ` + t.key + ` = ?1 AND ` + same + ` = ?2`, args: args}
}

// present is an argument that is the instant at which its statement runs: rows in the
// order of time are written beside each other.
type present struct{}

// given returns what is bound for an argument.
func given(arg any) any {
	if _, timed := arg.(present); timed {
		return time.Now().UnixMilli()
	}
	return arg
}

// bind returns the operations for another case.
func bind(ops []op, id int64) []op {
	out := slices.Clone(ops)
	for i := range out {
		out[i].args = slices.Clone(out[i].args)
		out[i].args[0] = id
	}
	return out
}

// series is a unit that is written again and again on the same case: its
// numbers grow.
type series struct {
	ops  []op
	nth  int64     // of those on a case
	grow [][]int64 // each argument of each operation, from one to the next
}

// seriesOf finds out from the last two of the units, which were written on
// one case one after the other, how a series goes on.
func seriesOf(units [][]op) (*series, error) {
	last, before := units[len(units)-1], units[len(units)-2]
	if len(last) != len(before) {
		return nil, errors.New("what is done again is not written as it was before")
	}
	s := &series{ops: last, nth: int64(len(units))}
	for i := range last {
		if last[i].query != before[i].query {
			return nil, fmt.Errorf("what is done again is not written as it was before: %s", last[i].query)
		}
		grow := make([]int64, len(last[i].args))
		for k := range last[i].args {
			a, isNumber := before[i].args[k].(int64)
			b, isToo := last[i].args[k].(int64)
			if isNumber && isToo {
				grow[k] = b - a
			}
		}
		s.grow = append(s.grow, grow)
	}
	return s, nil
}

// unit returns the n-th of the series on a case, beginning with 1.
func (s *series) unit(id, n int64) []op {
	out := bind(s.ops, id)
	for i := range out {
		for k, by := range s.grow[i] {
			if value, ok := out[i].args[k].(int64); ok && by != 0 {
				out[i].args[k] = value + by*(n-s.nth)
			}
		}
	}
	return out
}
