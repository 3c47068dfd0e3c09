package relational

import "flowdrive/store"

const (
	openOfEntry = `SELECT id FROM cases WHERE entry = ?1 AND open = 1 ORDER BY id LIMIT ?2`

	// The first case that waits, if no other of the entry is open.
	releaseNext = `
		UPDATE cases SET waits = 0
		WHERE id = (SELECT id FROM cases WHERE entry = ?1 AND open = 1 ORDER BY id LIMIT 1) AND waits = 1`
)

// OpenOf returns the ids of the open cases of a schedule entry, at most
// limit.
func (r caseReader) OpenOf(entry store.UUID, limit int) (ids []int64, err error) {
	ids, err = values[int64](r.c, openOfEntry, entry[:], limit)
	return ids, Failure("read the open cases of a schedule entry", err)
}

// ReleaseNext lets the next case of an entry that waits be started, if no
// earlier one is open, and reports whether there was one.
func (t caseWriter) ReleaseNext(entry store.UUID) (bool, error) {
	if t.c.pipeline != nil { // it may have been read ahead that none waits
		var one int
		if waits, err := t.c.Row(waitsForEntry, entry[:]).Scan(&one); err != nil || !waits {
			return false, Failure("look which case of a schedule entry waits", err)
		}
	}
	n, err := t.c.Change(releaseNext, entry[:])
	return n > 0, Failure("let a case of a schedule entry start", err)
}
