package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/store"
)

// Millions of rows are copied from a few that the engine has stored, within
// the database, each with an identity of its own in row and documents.

// bulkChunk is how many rows a statement copies. SQLite gathers them before it
// writes the first, because triggers are about to look at the table.
const bulkChunk = 10_000

// scrambled spreads the numbers from 1 on over 48 bits, as hexadecimal text:
// the beginning of a UUID. random is a whole UUID.
const (
	scrambled = `printf('%012x', n.i * 123456789123 & 0xffffffffffff)`
	random    = scrambled + ` || '40008000000000000000'`
)

// The numbers of a chunk, and with each the original that it is a copy of.
const numbers = `WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2) `

const copyEntries = numbers + `
	INSERT INTO entries (uuid, context_id, author_id, route_id, type, definition, revision, due, form, created, modified)
	SELECT unhex(` + random + `),
		e.context_id, e.author_id, e.route_id, e.type, e.definition, e.revision,
		e.due + n.i % 31536000 * 1000,
		CAST(replace(CAST(e.form AS TEXT), ?4,
			'{' || substr(` + scrambled + `, 1, 8) || '-' || substr(` + scrambled + `, 9) || '-4000-8000-000000000000}') AS BLOB),
		e.created, e.modified
	FROM n, entries e WHERE e.uuid = ?3`

// kind is a sort of stored cases: their route, and what was done with them.
type kind struct {
	route   string
	actions []string
}

// kinds are what a drive has that has been used for long: cases on which
// something can be done, cases that wait for a person or a date, and cases that
// have ended.
func kinds() []kind {
	return []kind{{route: routeMany}, {route: routeOnce, actions: []string{"finish"}}, {route: routeTime}, {route: routeOnce}}
}

// originals are the cases that others are copied from: the k-th is the original
// of the numbers with the remainder k. What is stored of a case contains its
// id, its GUID and, if it waits for a date, that date as texts.
const originals = `CREATE TEMP TABLE originals (k INTEGER PRIMARY KEY, id INTEGER, id_text TEXT, guid TEXT, due_text TEXT)`

const insertOriginal = `
	INSERT INTO originals
	SELECT ?1, id, printf('"id":%d,', id), CAST(form AS TEXT) ->> 'guid', coalesce(strftime('%Y-%m-%dT%H:%M:%SZ', due / 1000, 'unixepoch'), '')
	FROM cases WHERE id = ?2`

// If copies have due times of their own, these are whole seconds from ?3 on,
// with the numbers below ?4 in another order. Otherwise ?3 is NULL, and so is
// this.
const spread = `(?3 + n.i * 7919 % ?4)`

func copied(column string) string {
	return `CAST(replace(replace(CAST(c.` + column + ` AS TEXT), o.id_text, '"id":' || n.i || ','), o.guid, ` + random + `) AS BLOB)`
}

// caseTable is a table with rows of a case that no trigger writes.
type caseTable struct {
	name     string
	key      string            // the column that says which case
	within   string            // the column that tells apart the rows of a case, "" for the case itself
	numbered string            // a column that SQLite fills in, "" for none
	differs  map[string]string // what differs from copy to copy in addition to the key
}

func caseTables() []caseTable {
	marking := `CAST(replace(CAST(` + copied("marking") + ` AS TEXT), o.due_text, coalesce(strftime('%Y-%m-%dT%H:%M:%SZ', ` + spread + `, 'unixepoch'), o.due_text)) AS BLOB)`
	return []caseTable{
		{"cases", "id", "", "", map[string]string{"due": `coalesce(` + spread + ` * 1000, c.due)`, "marking": marking, "form": copied("form")}},
		{"case_log", "case_id", "seq", "", nil},
		{"messages", "case_id", "label", "id", map[string]string{"id": `NULL`, "uuid": `unhex(` + random + `)`}},
		{"tasks", "case_id", "party_id", "", nil},
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

// copying returns the statement that copies the rows of the originals, with all
// columns that the table has.
func (t caseTable) copying(ctx context.Context, db *sql.DB) (string, error) {
	names, err := t.columns(ctx, db)
	if err != nil {
		return "", err
	}
	var values []string
	for _, name := range names {
		value, ok := t.differs[name]
		switch {
		case name == t.key:
			value = "n.i"
		case !ok:
			value = "c." + name
		}
		values = append(values, value)
	}
	return numbers + `INSERT INTO ` + t.name + ` (` + strings.Join(names, ", ") + `) SELECT ` + strings.Join(values, ", ") + `
		FROM n CROSS JOIN originals o ON o.k = n.i % (SELECT count(*) FROM originals) CROSS JOIN ` + t.name + ` c ON c.` + t.key + ` = o.id`, nil
}

// fillEntries makes a data folder that has n schedule entries, all due in the
// year 2099 or later.
func (r *run) fillEntries(ctx context.Context, data string, n int) error {
	r.progress("storing %s schedule entries", thousands(int64(n)))
	h, err := openHouse(ctx, data, houseOptions{})
	if err != nil {
		return err
	}
	out, err := h.putEntry(ctx, far)
	if err = errors.Join(err, h.close()); err != nil {
		return err
	}
	uuid, ok := store.ParseUUID(out.Name)
	if !ok {
		return fmt.Errorf("a schedule entry is named %q", out.Name)
	}
	return bulk(ctx, data, func(db *sql.DB) error {
		return inChunks(ctx, db, 1, int64(n), []string{copyEntries}, uuid[:], uuid.Braced())
	})
}

// fillCases makes a data folder with n cases, the same number of each kind, and
// returns those of the first kind.
func (r *run) fillCases(ctx context.Context, data string, n int, kinds ...kind) (stock, error) {
	r.progress("storing %s cases", thousands(int64(n)))
	return r.fillCopies(ctx, data, n, clock.Real{}, kinds, nil)
}

// fillTimers makes a data folder that has n cases with a timer, due a second
// after the other, the first at the epoch.
func (r *run) fillTimers(ctx context.Context, data string, n int) error {
	r.progress("storing %s timers", thousands(int64(n)))
	_, err := r.fillCopies(ctx, data, n, standing(epoch()), []kind{{route: routeTime}}, epoch().Unix())
	return err
}

// stock are cases of a kind among others: every step-th.
type stock struct{ first, step, n int64 }

// at returns the i-th of them, and after the last the first again. What
// follows each other lies apart.
func (s stock) at(i int64) int64 { return s.first + i*7919%s.n*s.step }

// fillCopies stores a case of each kind, and copies of them. from is when the
// first of them is due, nil: when its original is.
func (r *run) fillCopies(ctx context.Context, data string, n int, now engine.Clock, kinds []kind, from any) (stock, error) {
	h, err := openHouse(ctx, data, houseOptions{clock: now})
	if err != nil {
		return stock{}, err
	}
	ids, err := h.startKinds(ctx, kinds)
	if err = errors.Join(err, h.close()); err != nil {
		return stock{}, err
	}
	step := int64(len(kinds))
	end := ids[0] + int64(n)
	return stock{ids[0], step, (int64(n) + step - 1) / step}, bulk(ctx, data, func(db *sql.DB) error {
		if _, err := db.ExecContext(ctx, originals); err != nil {
			return err
		}
		for _, id := range ids {
			if _, err := db.ExecContext(ctx, insertOriginal, id%step, id); err != nil {
				return err
			}
		}
		var statements []string
		for _, c := range caseTables() {
			s, err := c.copying(ctx, db)
			if err != nil {
				return err
			}
			statements = append(statements, s)
		}
		if err := inChunks(ctx, db, ids[0]+step, end, statements, from, n); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, `UPDATE sequence SET next = max(next, ?1)`, end)
		return err
	})
}

// startKinds starts a case of each kind. Their ids follow each other.
func (h *house) startKinds(ctx context.Context, kinds []kind) (ids []int64, err error) {
	for i, k := range kinds {
		id, err := h.startCase(ctx, k.route)
		if err != nil {
			return nil, err
		}
		if ids = append(ids, id); id != ids[0]+int64(i) {
			return nil, fmt.Errorf("after the case %d comes the case %d", ids[i-1], id)
		}
		for _, action := range k.actions {
			if err := h.perform(ctx, id, action); err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}

// bulk opens the database in a data folder that is not in use, for f to write
// much into it: with no log and no temporary files, so that nothing is written
// twice.
func bulk(ctx context.Context, data string, f func(*sql.DB) error) (err error) {
	db, err := openRaw(data, "OFF")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, `PRAGMA foreign_keys = OFF; PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY`); err != nil {
		return err
	}
	if err := f(db); err != nil {
		return err
	}
	if _, err = db.ExecContext(ctx, `PRAGMA journal_mode = WAL`); err != nil {
		return err
	}
	return synced(filepath.Join(data, databaseFile))
}

// synced brings a file to the disk, so that this is over before anything is
// measured.
func synced(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(dataSync(f), f.Close())
}

// inChunks runs the statements for the numbers from first on, below end.
func inChunks(ctx context.Context, db *sql.DB, first, end int64, statements []string, args ...any) error {
	for at := first; at < end; at += bulkChunk {
		if err := bulkOne(ctx, db, statements, append([]any{at, min(at+bulkChunk, end)}, args...)); err != nil {
			return err
		}
	}
	return nil
}

func bulkOne(ctx context.Context, db *sql.DB, statements []string, args []any) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, s := range statements {
		if _, err := tx.ExecContext(ctx, s, args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}
