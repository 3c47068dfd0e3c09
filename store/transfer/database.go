package transfer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"flowdrive/store/postgres"
)

// Database is a store as tables with rows. It is for one goroutine.
type Database struct {
	pool     *sql.DB
	conn     *sql.Conn
	postgres bool
	path     string // of a SQLite database that is written, under its later name
	tables   []table
}

// The tables that belong to a database and not to what is stored. Which part of a copy is
// done is noted in the one that it has until it is finished.
const (
	copyingTable = postgres.CopyingTable

	sqliteTables = `
		SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) c
		WHERE m.type = 'table' AND c.hidden = 0 AND m.name NOT LIKE 'sqlite%' ORDER BY m.name, c.name`
	postgresTables = `
		SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND a.attnum > 0
			AND NOT a.attisdropped AND a.attgenerated = ''
		ORDER BY c.relname COLLATE "C", a.attname COLLATE "C"`
	foreignKeys = `
		SELECT f.relname, t.relname FROM pg_constraint JOIN pg_class f ON f.oid = conrelid JOIN pg_class t ON t.oid = confrelid
		WHERE contype = 'f' AND f.relnamespace = current_schema()::regnamespace AND f.oid <> t.oid`
	createCopying = `CREATE TABLE flowdrive_copying (kind text NOT NULL, name text NOT NULL, body text NOT NULL, PRIMARY KEY (kind, name))`
)

// isOwn reports whether a table belongs to the database: the notes of goose, which node is
// active, and contents, which are copied from place to place.
func isOwn(name string) bool {
	return slices.Contains([]string{"goose_db_version", versionsAside, "tenure", "nodes", "content_parts", "content_location", copyingTable}, name)
}

// isSeeded reports whether a table has a row from the beginning.
func isSeeded(name string) bool { return name == "sequence" || name == "audit_head" }

// Close closes the database.
func (d *Database) Close() error {
	var err error
	if d.conn != nil && d.postgres {
		// The end of the connection frees the lock, too, but the server may notice that later.
		_, _ = d.conn.ExecContext(context.Background(), `SELECT pg_advisory_unlock_all()`)
	}
	if d.conn != nil {
		err = errors.Join(err, d.conn.Close())
	}
	return errors.Join(err, d.pool.Close())
}

// use takes the connection, and looks which tables there are.
func (d *Database) use(ctx context.Context) (err error) {
	if d.conn, err = d.pool.Conn(ctx); err != nil {
		return err
	}
	query := sqliteTables
	if d.postgres {
		query = postgresTables
	}
	d.tables = nil
	return d.pairs(ctx, query, func(name, column string) {
		if isOwn(name) {
			return
		}
		if n := len(d.tables); n > 0 && d.tables[n-1].name == name {
			d.tables[n-1].columns = append(d.tables[n-1].columns, column)
			return
		}
		d.tables = append(d.tables, table{name, []string{column}})
	})
}

// pairs calls f for each row of a query that has two texts in each.
func (d *Database) pairs(ctx context.Context, query string, f func(a, b string)) (err error) {
	rows, err := d.conn.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var a, b string
		if err := rows.Scan(&a, &b); err != nil {
			return err
		}
		f(a, b)
	}
	return rows.Err()
}

// inOrder returns tables so that a row comes after those that it refers to.
func (d *Database) inOrder(ctx context.Context, tables []table) (ordered []table, err error) {
	refers := map[string][]string{}
	if d.postgres {
		if err := d.pairs(ctx, foreignKeys, func(from, to string) { refers[from] = append(refers[from], to) }); err != nil {
			return nil, err
		}
	}
	there := map[string]bool{}
	for len(ordered) < len(tables) {
		before := len(ordered)
		for _, t := range tables {
			waits := slices.ContainsFunc(refers[t.name], func(name string) bool { return !there[name] })
			if !there[t.name] && !waits {
				there[t.name] = true
				ordered = append(ordered, t)
			}
		}
		if len(ordered) == before {
			return nil, errors.New("the tables of the target refer to one another in a circle")
		}
	}
	return ordered, nil
}

func (d *Database) count(ctx context.Context, t table) (n int64, err error) {
	err = d.conn.QueryRowContext(ctx, `SELECT count(*) FROM "`+t.name+`"`).Scan(&n)
	return n, err
}

// isDone reports whether a table was copied.
func (d *Database) isDone(ctx context.Context, t table) (bool, error) {
	var n int
	err := d.conn.QueryRowContext(ctx, `SELECT count(*) FROM flowdrive_copying WHERE kind = 'done' AND name = $1`, t.name).Scan(&n)
	return n > 0, err
}

// write writes the rows that next returns, and that the table is done, or nothing.
func (d *Database) write(ctx context.Context, t table, next func() ([]any, error)) error {
	return d.inTransaction(ctx, func() (err error) {
		if d.postgres {
			err = d.writePostgres(ctx, t, next)
		} else {
			err = d.writeSQLite(ctx, t, next)
		}
		if err != nil {
			return err
		}
		_, err = d.conn.ExecContext(ctx, `INSERT INTO flowdrive_copying (kind, name, body) VALUES ('done', $1, '')`, t.name)
		return err
	})
}

// inTransaction runs f in a transaction, which it undoes if f fails.
func (d *Database) inTransaction(ctx context.Context, f func() error) error {
	if _, err := d.conn.ExecContext(ctx, `BEGIN`); err != nil {
		return err
	}
	if err := f(); err != nil {
		_, undone := d.conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
		return errors.Join(err, undone)
	}
	_, err := d.conn.ExecContext(ctx, `COMMIT`)
	return err
}

// run runs statements one after the other.
func (d *Database) run(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := d.conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", strings.Fields(s)[0], err)
		}
	}
	return nil
}

func (d *Database) writeSQLite(ctx context.Context, t table, next func() ([]any, error)) (err error) {
	insert, err := d.conn.PrepareContext(ctx, `INSERT INTO "`+t.name+`" (`+t.quoted()+`) VALUES (?`+strings.Repeat(`, ?`, len(t.columns)-1)+`)`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	for {
		values, err := next()
		if err != nil || values == nil {
			return err
		}
		if _, err := insert.ExecContext(ctx, values...); err != nil {
			return err
		}
	}
}

// writePostgres writes by COPY.
func (d *Database) writePostgres(ctx context.Context, t table, next func() ([]any, error)) error {
	return d.conn.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("a connection is a %T", driver)
		}
		_, err := c.Conn().CopyFrom(ctx, pgx.Identifier{t.name}, t.columns, pgx.CopyFromFunc(func() ([]any, error) {
			values, err := next()
			for i, v := range values {
				if text, ok := v.(string); ok {
					values[i] = storable(text)
				}
			}
			return values, err
		}))
		return err
	})
}

// contents returns the SHA-256 of all contents that are not in the database itself.
func (d *Database) contents(ctx context.Context) (all [][32]byte, err error) {
	rows, err := d.conn.QueryContext(ctx, `SELECT sha256 FROM blobs ORDER BY sha256`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var sum []byte
		if err := rows.Scan(&sum); err != nil {
			return nil, err
		}
		if len(sum) != 32 {
			return nil, fmt.Errorf("the name of a content has %d bytes", len(sum))
		}
		all = append(all, [32]byte(sum))
	}
	return all, rows.Err()
}
