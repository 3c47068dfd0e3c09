package relational

import (
	"fmt"
	"slices"
	"strings"
)

// table says which columns the rows of a noun have, and which field of an R
// belongs to each. What is selected, scanned, inserted and updated follows from
// it.
type table[R any] struct {
	name    string
	what    string                           // what a row is, in messages
	columns func(r *R, to []column) []column // appends them
}

// column is a column of a table and the field of one row that it holds. Its
// name can be an expression if it is only selected; {} in it stands for the
// alias of the table and a dot. The field is where the value is read into and
// taken from: a pointer, or one of the types that say how it is stored.
type column struct {
	name  string
	use   use
	field any
}

// use says what is done with a column.
type use uint8

const (
	selected use = 1 << iota
	inserted
	updated

	fixed  = selected | inserted
	full   = selected | inserted | updated
	unread = inserted | updated
)

// list is what is selected of the table that has the alias, "" for none. The
// columns without are NULL.
func (t *table[R]) list(alias string, without ...string) string {
	if alias != "" {
		alias += "."
	}
	var out []string
	for _, c := range t.columns(new(R), nil) {
		switch {
		case c.use&selected == 0:
		case slices.Contains(without, c.name):
			out = append(out, "NULL")
		case strings.ContainsAny(c.name, "{( "):
			out = append(out, strings.ReplaceAll(c.name, "{}", alias))
		default:
			out = append(out, alias+c.name)
		}
	}
	return strings.Join(out, ", ")
}

// into returns the destinations of the columns of a row, and of those that
// follow them.
func (t *table[R]) into(c *Conn, r *R, more ...any) []any {
	c.columns = t.columns(r, c.columns[:0])
	out := make([]any, 0, len(c.columns)+len(more))
	for _, column := range c.columns {
		if column.use&selected != 0 {
			out = append(out, column.field)
		}
	}
	clear(c.columns)
	return append(out, more...)
}

// one returns the row that a query finds; none is errs.NotFound.
func (t *table[R]) one(c *Conn, query string, args ...any) (*R, error) {
	out := new(R)
	found, err := c.Row(query, args...).Scan(t.into(c, out)...)
	if err := read(found, err, t.what); err != nil {
		return nil, err
	}
	return out, nil
}

// add adds the rows that a query finds to all.
func (t *table[R]) add(c *Conn, all *[]R, query string, args ...any) error {
	return t.addUpTo(0, c, all, query, args...)
}

// addUpTo adds the rows that a query finds to all, until all has limit of them; 0 for every
// row. The rows that follow are not read: one may have a million bytes.
func (t *table[R]) addUpTo(limit int, c *Conn, all *[]R, query string, args ...any) error {
	var r R
	into := t.into(c, &r) // making it costs more than reading a row
	return c.Each(query, func(scan Scan) error {
		if err := scan(into...); err != nil {
			return err
		}
		if *all = append(*all, r); len(*all) == limit {
			return errEnough
		}
		return nil
	}, args...)
}

// write is a statement that has columns of a row as its arguments, after those
// that are given in addition.
type write[R any] struct {
	query   string
	expects string // the same, which fails unless it changes a row
	key     string // the column that numbers the rows
	columns func(r *R, to []column) []column
	takes   []int // which of them
}

// of returns the same with another text.
func (w *write[R]) of(query string) *write[R] {
	return &write[R]{query: query, key: w.key, columns: w.columns, takes: w.takes}
}

// arguments returns the arguments of the statement for a row. They are valid
// until the next call.
func (w *write[R]) arguments(c *Conn, r *R, given []any) []any {
	c.columns = w.columns(r, c.columns[:0])
	c.args = append(c.args[:0], given...)
	for _, i := range w.takes {
		c.args = append(c.args, valueOf(c.columns[i].field))
	}
	clear(c.columns)
	return c.args
}

// argument returns which argument of the statement has a column's value.
func (w *write[R]) argument(column string) int {
	all := w.columns(new(R), nil)
	return slices.IndexFunc(w.takes, func(i int) bool { return all[i].name == column })
}

// exec runs the statement for a row, as Conn.Exec does.
func (w *write[R]) exec(c *Conn, r *R, given ...any) error {
	args := w.arguments(c, r, given)
	defer clear(args)
	return insertRow(c, w.query, args...)
}

// insertRow runs a statement that may be refused by a key or a reference, as Conn.Exec does.
func insertRow(c *Conn, query string, args ...any) error {
	if c.part.later {
		return c.put(query, args)
	}
	c.try()
	_, err := c.run(query, args)
	return c.tried(err)
}

// expect has the statement wait, for a unit that writes later. The unit fails unless it changes
// the row.
func (w *write[R]) expect(c *Conn, r *R, given ...any) error {
	args := w.arguments(c, r, given)
	defer clear(args)
	return c.put(w.expects, args)
}

// added runs the statement for a new row, and returns the number that the row was given
// in number.
func (w *write[R]) added(c *Conn, r *R, number *int64) error {
	args := w.arguments(c, r, nil)
	defer clear(args)
	id, _, err := c.insert(w.query, w.key, args...)
	if err == nil {
		*number = id
	}
	return err
}

// numbered runs a statement that returns the number of the row.
func (w *write[R]) numbered(c *Conn, r *R, number *int64) error {
	args := w.arguments(c, r, nil)
	defer clear(args)
	c.ahead.wrote(w.query, args)
	c.try()
	_, err := c.Row(w.query, args...).Scan(number)
	return c.tried(err)
}

// change runs the statement for a row and returns how many rows it changed.
func (w *write[R]) change(c *Conn, r *R, given ...any) (int64, error) {
	args := w.arguments(c, r, given)
	defer clear(args)
	c.try()
	n, err := c.Change(w.query, args...)
	return n, c.tried(err)
}

// insert is the statement that stores a new row.
func (t *table[R]) insert() *write[R] {
	w := &write[R]{columns: t.columns}
	var names, places []string
	for i, c := range t.columns(new(R), nil) {
		if i == 0 {
			w.key = c.name
		}
		if c.use&inserted != 0 {
			names = append(names, c.name)
			places = append(places, w.place(i, c, 0))
		}
	}
	w.query = `INSERT INTO ` + t.name + ` (` + strings.Join(names, ", ") + `) VALUES (` + strings.Join(places, ", ") + `)`
	return w
}

// upsert is the statement that stores a new row, or updates the one that has
// the same key. Of a table in which nothing is updated it leaves that one.
func (t *table[R]) upsert(key string) *write[R] {
	w := t.insert()
	var set []string
	for _, c := range t.columns(new(R), nil) {
		if c.use&updated != 0 {
			set = append(set, c.name+` = excluded.`+c.name)
		}
	}
	w.query += ` ON CONFLICT (` + key + `) DO `
	if len(set) == 0 {
		return w.with(`NOTHING`)
	}
	return w.with(`UPDATE SET ` + strings.Join(set, ", "))
}

// with returns the statement with something at its end.
func (w *write[R]) with(end string) *write[R] {
	w.query += end
	w.expects = expecting(w.query)
	return w
}

// condition says which row an update changes.
type condition struct {
	where string   // with the arguments that are given in addition to the row
	given int      // how many those are
	same  []string // columns that are not updated: they have the values of the row already
	also  string   // what else is set, "" for nothing
}

// update is the statement that changes a row. Not to name a column that has an
// index or is looked at by a trigger saves what that costs.
func (t *table[R]) update(of condition) *write[R] {
	w := &write[R]{columns: t.columns}
	var set []string
	where := of.where
	for i, c := range t.columns(new(R), nil) {
		switch {
		case c.use&updated == 0:
		case slices.Contains(of.same, c.name):
			where += ` AND ` + c.name + ` IS NOT DISTINCT FROM ` + w.place(i, c, of.given)
		default:
			set = append(set, c.name+` = `+w.place(i, c, of.given))
		}
	}
	if of.also != "" {
		set = append(set, of.also)
	}
	w.query = `UPDATE ` + t.name + ` SET ` + strings.Join(set, ", ") + ` WHERE ` + where
	w.expects = expecting(w.query)
	return w
}

// place makes the i-th column the next argument and returns how the statement
// refers to it.
func (w *write[R]) place(i int, c column, given int) string {
	w.takes = append(w.takes, i)
	place := fmt.Sprintf("?%d", given+len(w.takes))
	if f, ok := c.field.(interface{ expression(place string) string }); ok {
		return f.expression(place)
	}
	return place
}

// values returns the first column of the result of a query.
func values[V any](c *Conn, query string, args ...any) (all []V, err error) {
	var v V
	err = c.Each(query, func(scan Scan) error {
		err := scan(&v)
		all = append(all, v)
		return err
	}, args...)
	return all, err
}
