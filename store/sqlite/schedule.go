package sqlite

import (
	"slices"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	entryColumns = `seq, uuid, context_id, author_id, route_id, type, definition, revision, due, form, created, modified, attachment, paused`

	selectEntry = `SELECT ` + entryColumns + ` FROM entries WHERE uuid = ?1`

	// ?1 is a chunk of the sequence, or the contexts whose entries a whole
	// listing has, with one statement however many they are. The others are
	// filters, off when empty.
	entriesThat = `
			AND (?2 = 0 OR route_id = ?2) AND (?3 = '' OR type = ?3)
		ORDER BY seq`
	selectEntries     = `SELECT ` + entryColumns + ` FROM entries WHERE seq IN (SELECT value FROM json_each(?1))` + entriesThat
	selectEntriesSeen = `
		SELECT ` + entryColumns + ` FROM entries WHERE seq IN (
			SELECT seq FROM entries WHERE context_id IN (SELECT value FROM json_each(?1)))` + entriesThat

	allEntries       = `SELECT seq FROM entries WHERE seq > ?2 AND ?1 = 0 ORDER BY seq LIMIT ?3`
	entriesOfContext = `SELECT seq FROM entries WHERE context_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3`

	countEntries = `SELECT count(*) FROM entries WHERE author_id = ?1`

	insertEntry = `
		INSERT INTO entries (uuid, context_id, author_id, route_id, type, definition, revision, due, form, created, modified, attachment, paused)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)`

	// A firing changes no column that has an index but due; naming the others
	// would write their indexes again.
	advanceEntry = `
		UPDATE entries SET type = ?5, definition = ?6, revision = ?7, due = ?8, form = ?9, modified = ?10, paused = ?12
		WHERE uuid = ?1 AND context_id = ?2 AND author_id = ?3 AND route_id = ?4 AND attachment IS ?11`
	updateEntry = `
		UPDATE entries SET context_id = ?2, author_id = ?3, route_id = ?4,
			type = ?5, definition = ?6, revision = ?7, due = ?8, form = ?9, modified = ?10, attachment = ?11, paused = ?12
		WHERE uuid = ?1`
	deleteEntry = `DELETE FROM entries WHERE uuid = ?1`

	selectOccurrences = `
		SELECT entry, context_id, instant, outcome, reason, case_id, fired_at
		FROM occurrences WHERE entry = ?1 ORDER BY instant DESC LIMIT ?2`
	insertOccurrence = `
		INSERT INTO occurrences (entry, context_id, instant, outcome, reason, case_id, fired_at)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`
	redoOccurrence = insertOccurrence + `
		ON CONFLICT (entry, instant) DO UPDATE
		SET context_id = ?2, outcome = ?4, reason = ?5, case_id = ?6, fired_at = ?7
		WHERE case_id IS NULL`
)

func scanEntry(scan scan, e *store.Entry) error {
	return scan(&e.Seq, bits(e.UUID[:]), &e.ContextID, &e.AuthorID, &e.RouteID, &e.Type, &e.Definition, &e.Revision,
		millis{&e.Due}, &e.Form, millis{&e.Created}, millis{&e.Modified}, bits(e.Attachment[:]), millis{&e.Paused})
}

// Get returns the schedule entry.
func (r entryReader) Get(uuid store.UUID) (*store.Entry, error) {
	e := &store.Entry{}
	found, err := r.c.row(selectEntry, uuid[:]).read(func(scan scan) error { return scanEntry(scan, e) })
	if err := read(found, err, "schedule entry"); err != nil {
		return nil, err
	}
	return e, nil
}

// List returns the entries that the filter selects, in the order in which
// they were created.
func (r entryReader) List(f store.EntryFilter) (all []store.Entry, err error) {
	sources := sourcesOf(entriesOfContext, f.Contexts)
	if f.Contexts == nil {
		sources = []source{{query: allEntries}}
	}
	take := func(scan scan) error {
		var e store.Entry
		err := scanEntry(scan, &e)
		all = append(all, e)
		return err
	}
	if f.Limit == 0 && f.After == 0 && f.Contexts != nil {
		err = r.c.each(selectEntriesSeen, take, array(f.Contexts), f.RouteID, f.Type)
		return all, failure("read the schedule entries", err)
	}
	err = r.walk(sources, f.After, func(seqs []int64) (bool, error) {
		err := r.c.each(selectEntries, take, array(seqs), f.RouteID, f.Type)
		return f.Limit > 0 && len(all) >= f.Limit, err
	})
	if f.Limit > 0 && len(all) > f.Limit {
		all = slices.Clip(all[:f.Limit])
	}
	return all, failure("read the schedule entries", err)
}

// Count returns how many entries the author has.
func (r entryReader) Count(author identity.ID) (n int64, err error) {
	_, err = r.c.row(countEntries, int64(author)).scan(&n)
	return n, failure("count schedule entries", err)
}

// Insert stores a new entry and sets its Seq.
func (t entryWriter) Insert(e *store.Entry) error {
	res, err := t.c.exec(insertEntry, e.UUID[:], int64(e.ContextID), int64(e.AuthorID), e.RouteID, e.Type,
		e.Definition, e.Revision, at(e.Due), blob(e.Form), at(e.Created), at(e.Modified), orNone(e.Attachment), at(e.Paused))
	if err == nil {
		e.Seq, err = res.LastInsertId()
	}
	return failure("store a schedule entry", err)
}

// Update changes the entry of that UUID.
func (t entryWriter) Update(e *store.Entry) error {
	args := []any{
		e.UUID[:], int64(e.ContextID), int64(e.AuthorID), e.RouteID, e.Type,
		e.Definition, e.Revision, at(e.Due), blob(e.Form), at(e.Modified),
		orNone(e.Attachment), at(e.Paused),
	}
	n, err := t.c.change(advanceEntry, args...)
	if n == 0 && err == nil {
		n, err = t.c.change(updateEntry, args...)
	}
	return found(n, err, "schedule entry")
}

// Delete deletes an entry with its given name. Its occurrences stay.
func (t entryWriter) Delete(uuid store.UUID) error {
	n, err := t.c.change(deleteEntry, uuid[:])
	return found(n, err, "schedule entry")
}

// Occurrences returns the newest occurrences of the entry, newest first.
func (r entryReader) Occurrences(entry store.UUID, limit int) (all []store.Occurrence, err error) {
	if limit <= 0 {
		limit = -1
	}
	err = r.c.each(selectOccurrences, func(scan scan) error {
		var o store.Occurrence
		err := scan(bits(o.Entry[:]), &o.ContextID, millis{&o.Instant}, &o.Outcome, &o.Reason, number{&o.CaseID}, millis{&o.FiredAt})
		all = append(all, o)
		return err
	}, entry[:], limit)
	return all, failure("read the occurrences", err)
}

// InsertOccurrence records what became of an instant. The pair (entry,
// instant) is unique: a second one is errs.NameTaken.
func (t entryWriter) InsertOccurrence(o *store.Occurrence) error {
	_, err := t.c.exec(insertOccurrence, occurrenceArgs(o)...)
	if isUnique(err) {
		return errDealtWith()
	}
	return failure("record an occurrence", err)
}

// RedoOccurrence is InsertOccurrence, but in place of one that has no case.
func (t entryWriter) RedoOccurrence(o *store.Occurrence) error {
	n, err := t.c.change(redoOccurrence, occurrenceArgs(o)...)
	if err == nil && n == 0 {
		return errDealtWith()
	}
	return failure("record an occurrence again", err)
}

func occurrenceArgs(o *store.Occurrence) []any {
	return []any{o.Entry[:], int64(o.ContextID), at(o.Instant), o.Outcome, o.Reason, orNull(o.CaseID), at(o.FiredAt)}
}

func errDealtWith() error {
	return errs.New(errs.NameTaken, "This instant of the schedule entry was dealt with before.")
}
