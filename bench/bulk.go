package bench

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"flowdrive/clock"
	"flowdrive/engine"
)

// Millions of rows are copied from one that the engine has stored, within
// the database, each with an identity of its own in row and documents.

// bulkChunk is how many rows a transaction has.
const bulkChunk = 50_000

// scrambled spreads the numbers from 1 on over 48 bits, as hexadecimal text:
// the beginning of a UUID.
const scrambled = `printf('%012x', n.i * 123456789123 & 0xffffffffffff)`

const numbers = `WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2) `

const copyEntries = numbers + `
	INSERT INTO entries (uuid, context_id, author_id, route_id, type, definition, revision, due, form, created, modified)
	SELECT unhex(` + scrambled + ` || '40008000000000000000'),
		e.context_id, e.author_id, e.route_id, e.type, e.definition, e.revision,
		e.due + n.i % 31536000 * 1000,
		CAST(replace(CAST(e.form AS TEXT), ?4,
			'{' || substr(` + scrambled + `, 1, 8) || '-' || substr(` + scrambled + `, 9) || '-4000-8000-000000000000}') AS BLOB),
		e.created, e.modified
	FROM n, entries e WHERE e.uuid = ?3`

// In what is stored of a case its id and GUID occur as texts of their own.
const copiedText = `CAST(replace(replace(CAST(%s AS TEXT), ?4, '"id":' || n.i || ','), ?5, printf('%%032x', n.i)) AS BLOB)`

func copyCases() []string {
	return copies("c.due", text("c.marking"))
}

func text(column string) string { return fmt.Sprintf(copiedText, column) }

// copyTimers copies cases with a timer, each with another due time: whole
// seconds from ?7 on, the numbers below ?8 in an order of their own. ?6 is the
// original's due time.
func copyTimers() []string {
	const due = `(?7 + n.i * 7919 % ?8)`
	return copies(due+" * 1000", `CAST(replace(CAST(`+text("c.marking")+` AS TEXT), ?6, strftime('%Y-%m-%dT%H:%M:%SZ', `+due+`, 'unixepoch')) AS BLOB)`)
}

func copies(due, marking string) []string {
	return []string{
		numbers + `INSERT INTO cases (id, route_id, context_id, starter_id, state, status, priority, version, revision,
				due, named, access, created, modified, marking, form)
			SELECT n.i, c.route_id, c.context_id, c.starter_id, c.state, c.status, c.priority, c.version, c.revision,
				` + due + `, c.named, c.access, c.created, c.modified, ` + marking + `, ` + text("c.form") + `
			FROM n, cases c WHERE c.id = ?3`,
		numbers + `INSERT INTO case_log (case_id, seq, entries)
			SELECT n.i, l.seq, ` + text("l.entries") + ` FROM n, case_log l WHERE l.case_id = ?3`,
		numbers + `INSERT INTO messages (case_id, label, uuid, media_type, size, sha256, version, created, modified, content)
			SELECT n.i, m.label, unhex(printf('%032x', n.i)), m.media_type, m.size, m.sha256, m.version, m.created, m.modified, m.content
			FROM n, messages m WHERE m.case_id = ?3`,
	}
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
	uuid, ok := engine.ParseUUID(out.Name)
	if !ok {
		return fmt.Errorf("a schedule entry is named %q", out.Name)
	}
	return bulk(ctx, data, 1, n, []string{copyEntries}, uuid[:], uuid.Braced())
}

// fillCases makes a data folder that has n open cases.
func (r *run) fillCases(ctx context.Context, data string, n int) error {
	r.progress("storing %s cases", thousands(int64(n)))
	return r.fillCopies(ctx, data, n, clock.Real{}, routeOnce, copyCases())
}

// fillTimers makes a data folder that has n cases with a timer, due a second
// after the other, the first at the epoch.
func (r *run) fillTimers(ctx context.Context, data string, n int) error {
	r.progress("storing %s timers", thousands(int64(n)))
	original := epoch().Add(lasts)
	return r.fillCopies(ctx, data, n, standing(epoch()), routeTime, copyTimers(), original.Format(time.RFC3339), epoch().Unix(), n)
}

// fillCopies stores a case of the route, and copies of it.
func (r *run) fillCopies(ctx context.Context, data string, n int, now engine.Clock, route string, copying []string, more ...any) error {
	h, err := openHouse(ctx, data, houseOptions{clock: now})
	if err != nil {
		return err
	}
	id, err := h.startCase(ctx, route)
	var guid string
	if err == nil {
		var c *engine.Case
		err = h.store.View(ctx, func(rd engine.Reader) (err error) {
			c, err = rd.Case(id)
			return err
		})
		if err == nil {
			guid, err = guidOf(c.Form)
		}
	}
	if err = errors.Join(err, h.close()); err != nil {
		return err
	}
	return bulk(ctx, data, id+1, n, copying, append([]any{id, fmt.Sprintf(`"id":%d,`, id), guid}, more...)...)
}

// bulk runs the statements for the numbers from first on, n-1 of them, and
// gives them up to the sequence of ids.
func bulk(ctx context.Context, data string, first int64, n int, statements []string, args ...any) (err error) {
	db, err := openRaw(data, "OFF")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, `PRAGMA foreign_keys = OFF; PRAGMA wal_autocheckpoint = 16000`); err != nil {
		return err
	}
	end := first + int64(n) - 1
	for at := first; at < end; at += bulkChunk {
		if err := bulkOne(ctx, db, statements, append([]any{at, min(at+bulkChunk, end)}, args...)); err != nil {
			return err
		}
	}
	if _, err := db.ExecContext(ctx, `UPDATE sequence SET next = max(next, ?1)`, end); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return err
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

// guidOf is the GUID in a case's form.
func guidOf(form []byte) (string, error) {
	var f struct {
		GUID string `json:"guid"`
	}
	err := json.Unmarshal(form, &f)
	return f.GUID, err
}
