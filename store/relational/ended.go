package relational

import (
	"time"

	"flowdrive/internal/identity"
	"flowdrive/store"
)

var endedTable = table[store.EndedEntry]{"ended_entries", "ended schedule entry", func(e *store.EndedEntry, to []column) []column {
	return append(to, []column{
		{"uuid", fixed, bits(e.UUID[:])},
		{"context_id", full, (*int64)(&e.ContextID)},
		{"author_id", full, (*int64)(&e.Author)},
		{"name", full, &e.Name},
		{"actor", full, &e.Actor},
		{"ended", full, millis{&e.Ended}},
		{"form", full, &e.Form},
	}...)
}}

var (
	putEnded    = endedTable.upsert("uuid")
	selectEnded = `SELECT ` + endedTable.list("") + ` FROM ended_entries WHERE uuid = ?1`

	selectEndedOf = `SELECT ` + endedTable.list("") + ` FROM ended_entries
		WHERE context_id IN (SELECT value FROM json_each(?1)) AND ended > ?2 ORDER BY ended DESC, uuid DESC LIMIT ?3`
	selectAllEnded = `SELECT ` + endedTable.list("") + ` FROM ended_entries WHERE ended > ?1 ORDER BY ended DESC, uuid DESC LIMIT ?2`
)

const (
	deleteEnded       = `DELETE FROM ended_entries WHERE uuid = ?1`
	deleteEndedBefore = `DELETE FROM ended_entries WHERE uuid IN (SELECT uuid FROM ended_entries WHERE ended < ?1 ORDER BY ended LIMIT ?2)`
)

// Ended returns what is kept of the entry.
func (r entryReader) Ended(uuid store.UUID) (*store.EndedEntry, error) {
	return endedTable.one(r.c, selectEnded, uuid[:])
}

// AllEnded returns the entries of the contexts that have ended after an instant, the
// newest first.
func (r entryReader) AllEnded(contexts []identity.ID, after time.Time, limit int) (all []store.EndedEntry, err error) {
	if contexts == nil {
		err = endedTable.add(r.c, &all, selectAllEnded, after.UnixMilli(), limit)
	} else {
		err = endedTable.add(r.c, &all, selectEndedOf, array(contexts), after.UnixMilli(), limit)
	}
	return all, Failure("read the schedule entries that have ended", err)
}

// PutEnded keeps an entry that has ended.
func (t entryWriter) PutEnded(e *store.EndedEntry) error {
	err := putEnded.exec(t.c, e)
	return Failure("keep a schedule entry that has ended", err)
}

// DeleteEnded forgets an entry that had ended.
func (t entryWriter) DeleteEnded(uuid store.UUID) error {
	_, err := t.c.Exec(deleteEnded, uuid[:])
	return Failure("forget a schedule entry", err)
}

// DeleteEndedBefore forgets entries that had ended before, at most limit.
func (t entryWriter) DeleteEndedBefore(before time.Time, limit int) error {
	_, err := t.c.Exec(deleteEndedBefore, before.UnixMilli(), limit)
	return Failure("forget schedule entries", err)
}
