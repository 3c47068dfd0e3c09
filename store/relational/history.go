package relational

import (
	"time"

	"flowdrive/internal/identity"
	"flowdrive/store"
)

// pastTable is only read.
var pastTable = table[store.HistoryEntry]{"history", "document", func(p *store.HistoryEntry, to []column) []column {
	return append(to, []column{
		{"id", selected, &p.ID},
		{"folder", selected, (*string)(&p.Folder)},
		{"author_id", selected, (*int64)(&p.AuthorID)},
		{"name", selected, &p.Name},
		{"replaced", selected, millis{&p.Replaced}},
		{"etag", selected, &p.ETag},
		{"length(source)", selected, &p.Size},
		{"source", selected, &p.Source},
	}...)
}}

var (
	selectHistory = `SELECT ` + pastTable.list("", "source") + ` FROM history
		WHERE folder = ?1 AND author_id = ?2 AND replaced > ?3 ORDER BY folder, author_id, folded, replaced`
	selectAllHistory = `SELECT ` + pastTable.list("", "source") + ` FROM history
		WHERE folder = ?1 AND replaced > ?2 ORDER BY folder, author_id, folded, replaced`
	selectAnyHistory = `SELECT EXISTS (SELECT 1 FROM history WHERE folder = ?1 AND (?2 = 0 OR author_id = ?2) AND replaced > ?3)`
	selectPast       = `SELECT ` + pastTable.list("") + ` FROM history WHERE id = ?1`
)

const (
	// A second one within a second comes a second later.
	insertPast = `
		INSERT INTO history (folder, author_id, folded, name, replaced, etag, source)
		SELECT ?1, ?2, ?3, ?4, (
			SELECT CASE WHEN max(replaced) + 1000 > ?5 THEN max(replaced) + 1000 ELSE ?5 END FROM history
			WHERE folder = ?1 AND author_id = ?2 AND folded = ?3), ?6, ?7`
	deleteHistory = `DELETE FROM history WHERE id IN (SELECT id FROM history WHERE replaced < ?1 ORDER BY replaced LIMIT ?2)`

	selectTombstone = `SELECT remains FROM departed WHERE author_id = ?1 AND folder = ?2 AND folded = ?3 AND deleted >= ?4`
	upsertTombstone = `
		INSERT INTO departed (author_id, folder, folded, deleted, remains) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (author_id, folder, folded) DO UPDATE SET deleted = ?4, remains = ?5`
	deleteTombstone        = `DELETE FROM departed WHERE author_id = ?1 AND folder = ?2 AND folded = ?3`
	deleteTombstonesBefore = `DELETE FROM departed WHERE deleted < ?1`
)

// List returns what was replaced in the folder after the instant, without
// Source. If author is 0 it returns that of all authors.
func (r historyReader) List(folder store.Folder, author identity.ID, after time.Time) (all []store.HistoryEntry, err error) {
	if author == 0 {
		err = pastTable.add(r.c, &all, selectAllHistory, string(folder), after.UnixMilli())
	} else {
		err = pastTable.add(r.c, &all, selectHistory, string(folder), int64(author), after.UnixMilli())
	}
	return all, Failure("read what was stored before", err)
}

// Any reports whether List would return something.
func (r historyReader) Any(folder store.Folder, author identity.ID, after time.Time) (some bool, err error) {
	_, err = r.c.Row(selectAnyHistory, string(folder), int64(author), after.UnixMilli()).Scan(&some)
	return some, Failure("look for what was stored before", err)
}

// Get returns one that was replaced, with its Source.
func (r historyReader) Get(id int64) (*store.HistoryEntry, error) {
	return pastTable.one(r.c, selectPast, id)
}

// Insert stores a source, in the next second that the name has free.
func (t historyWriter) Insert(p *store.HistoryEntry) error {
	_, err := t.c.Exec(insertPast, string(p.Folder), int64(p.AuthorID), identity.Fold(p.Name), p.Name,
		p.Replaced.Truncate(time.Second).UnixMilli(), p.ETag, blob(p.Source))
	return Failure("store what was stored before", err)
}

// DeleteBefore deletes what was replaced before, at most limit rows.
func (t historyWriter) DeleteBefore(before time.Time, limit int) error {
	_, err := t.c.Exec(deleteHistory, before.UnixMilli(), limit)
	return Failure("delete what was stored before", err)
}

// Tombstone returns the tombstone of what the user deleted under the name after
// the instant.
func (r historyReader) Tombstone(user identity.ID, folder store.Folder, name string, after time.Time) (kept []byte, err error) {
	var text string
	found, err := r.c.Row(selectTombstone, int64(user), string(folder), identity.Fold(name), after.UnixMilli()).Scan(&text)
	return []byte(text), read(found, err, "deleted resource")
}

// PutTombstone stores a tombstone, and deletes those from before the instant.
func (t historyWriter) PutTombstone(of *store.Tombstone, before time.Time) error {
	if _, err := t.c.Exec(deleteTombstonesBefore, before.UnixMilli()); err != nil {
		return Failure("forget what was deleted", err)
	}
	_, err := t.c.Exec(upsertTombstone, int64(of.User), string(of.Folder), identity.Fold(of.Name), of.Deleted.UnixMilli(), string(of.Kept))
	return Failure("note what was deleted", err)
}

// DeleteTombstone deletes the tombstone of the name.
func (t historyWriter) DeleteTombstone(user identity.ID, folder store.Folder, name string) error {
	_, err := t.c.Exec(deleteTombstone, int64(user), string(folder), identity.Fold(name))
	return Failure("forget what was deleted", err)
}
