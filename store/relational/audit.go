package relational

import (
	"time"

	"flowdrive/store"
)

const (
	// The first and the last row of a day tell all that there is to know of
	// it.
	auditDay = `
		SELECT day,
			(SELECT start + length(line) FROM audit l WHERE l.day = d.day ORDER BY start DESC LIMIT 1),
			(SELECT time FROM audit l WHERE l.day = d.day ORDER BY start LIMIT 1),
			(SELECT time FROM audit l WHERE l.day = d.day ORDER BY start DESC LIMIT 1)
		FROM days d WHERE day IS NOT NULL`
	// Each day is found by the one before, without reading its rows.
	selectAuditDays = `
		WITH RECURSIVE days (day) AS (
			SELECT min(day) FROM audit
			UNION ALL SELECT (SELECT min(day) FROM audit a WHERE a.day > days.day) FROM days WHERE day IS NOT NULL
		)` + auditDay
	selectAuditDay  = `WITH days (day) AS (SELECT day FROM audit WHERE day = ?1 LIMIT 1)` + auditDay
	selectAuditText = `
		SELECT start, line FROM audit
		WHERE day = ?1 AND start >= (SELECT max(start) FROM audit WHERE day = ?1 AND start <= ?2)
		ORDER BY start LIMIT ?3`
	selectAuditLines = `SELECT start, line FROM audit WHERE day = ?1 AND start >= ?2 ORDER BY start LIMIT ?3`
	insertAudit      = `
		INSERT INTO audit (day, start, time, line) VALUES (?1,
			coalesce((SELECT start + length(line) FROM audit WHERE day = ?1 ORDER BY start DESC LIMIT 1), 0), ?2, ?3)`
)

const (
	selectAuditHead = `SELECT number, sha256, unnumbered FROM audit_head`
	putAuditHead    = `
		INSERT INTO audit_head (one, number, sha256, unnumbered) VALUES (1, ?1, ?2, ?3)
		ON CONFLICT (one) DO UPDATE SET number = excluded.number, sha256 = excluded.sha256`
)

func scanAuditDay(scan Scan, d *store.AuditDay) error {
	return scan(&d.Day, &d.Size, millis{&d.First}, millis{&d.Last})
}

// Days returns the days that have an audit log, ascending.
func (r auditReader) Days() (all []store.AuditDay, err error) {
	err = r.c.Each(selectAuditDays, func(scan Scan) error {
		var d store.AuditDay
		err := scanAuditDay(scan, &d)
		all = append(all, d)
		return err
	})
	return all, Failure("read the days of the audit log", err)
}

// Day returns what there is of a day.
func (r auditReader) Day(day int64) (*store.AuditDay, error) {
	d := &store.AuditDay{}
	found, err := r.c.Row(selectAuditDay, day).read(func(scan Scan) error { return scanAuditDay(scan, d) })
	if err := read(found, err, "day of the audit log"); err != nil {
		return nil, err
	}
	return d, nil
}

// Text returns a part of a day's text that begins at the offset, of at
// most that many lines; nothing at its end.
func (r auditReader) Text(day, offset int64, lines int) (text []byte, err error) {
	err = r.c.Each(selectAuditText, func(scan Scan) error {
		var start int64
		var line []byte
		if err := scan(&start, &line); err != nil {
			return err
		}
		text = append(text, line[min(max(offset-start, 0), int64(len(line))):]...)
		return nil
	}, day, offset, lines)
	return text, Failure("read the audit log", err)
}

// Lines returns at most n lines of a day that begin at the offset or behind it.
func (r auditReader) Lines(day, from int64, n int) (all []store.AuditLine, err error) {
	err = r.c.Each(selectAuditLines, func(scan Scan) error {
		var l store.AuditLine
		err := scan(&l.Start, &l.Text)
		all = append(all, l)
		return err
	}, day, from, n)
	return all, Failure("read the audit log", err)
}

// Append appends a line to the text of its day.
func (t auditWriter) Append(when time.Time, line []byte) error {
	_, err := t.c.Exec(insertAudit, store.AuditDayOf(when), at(when), line)
	return Failure("write the audit log", err)
}

// Head returns how far the audit log goes. It returns errs.NotFound if that has been
// removed from the database.
func (r auditReader) Head() (head store.AuditHead, err error) {
	found, err := r.c.Row(selectAuditHead).Scan(&head.Number, bits(head.SHA256[:]), &head.Unnumbered)
	return head, read(found, err, "end of the audit log")
}

// PutHead stores how far the audit log goes.
func (t auditWriter) PutHead(head store.AuditHead) error {
	_, err := t.c.Exec(putAuditHead, head.Number, head.SHA256[:], head.Unnumbered)
	return Failure("write how far the audit log goes", err)
}
