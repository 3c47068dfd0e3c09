package relational

import (
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

var entryTable = table[store.Entry]{"entries", "schedule entry", func(e *store.Entry, to []column) []column {
	return append(to, []column{
		{"seq", selected, &e.Seq},
		{"uuid", fixed, bits(e.UUID[:])},
		{"context_id", full, (*int64)(&e.ContextID)},
		{"author_id", full, (*int64)(&e.AuthorID)},
		{"route_id", full, &e.RouteID},
		{"type", full, &e.Type},
		{"definition", full, &e.Definition},
		{"revision", full, &e.Revision},
		{"due", full, millis{&e.Due}},
		{"form", full, &e.Form},
		{"created", fixed, millis{&e.Created}},
		{"modified", full, millis{&e.Modified}},
		{"attachment", full, someBits(e.Attachment[:])},
		{"paused", full, millis{&e.Paused}},
	}...)
}}

var occurrenceTable = table[store.Occurrence]{"occurrences", "occurrence", func(o *store.Occurrence, to []column) []column {
	return append(to, []column{
		{"entry", fixed, bits(o.Entry[:])},
		{"context_id", full, (*int64)(&o.ContextID)},
		{"instant", fixed, millis{&o.Instant}},
		{"outcome", full, &o.Outcome},
		{"reason", full, &o.Reason},
		{"case_id", full, number{&o.CaseID}},
		{"fired_at", full, millis{&o.FiredAt}},
		{"COALESCE((SELECT state FROM cases WHERE id = occurrences.case_id), '')", selected, &o.State},
		{"COALESCE((SELECT status FROM cases WHERE id = occurrences.case_id), '')", selected, &o.Status},
		{"(SELECT modified FROM cases WHERE id = occurrences.case_id AND state = 'completed')", selected, millis{&o.Completed}},
	}...)
}}

var (
	insertEntry = entryTable.insert()
	updateEntry = entryTable.update(condition{where: `uuid = ?1`, given: 1})
	// A firing changes no column that has an index but due; naming the others
	// would write their indexes again.
	advanceEntry = entryTable.update(condition{where: `uuid = ?1`, given: 1, same: []string{"context_id", "author_id", "route_id", "attachment"}})

	selectEntry       = `SELECT ` + entryTable.list("") + ` FROM entries WHERE uuid = ?1`
	selectEntries     = `SELECT ` + entryTable.list("") + ` FROM entries WHERE seq IN (SELECT value FROM json_each(?1))` + entriesThat
	selectEntriesSeen = `
		SELECT ` + entryTable.list("") + ` FROM entries WHERE seq IN (
			SELECT seq FROM entries WHERE context_id IN (SELECT value FROM json_each(?1)))` + entriesThat

	selectHolding     = `SELECT ` + entryTable.list("") + ` FROM entries WHERE instr(CAST(form AS TEXT), ?1) > 0 ORDER BY seq`
	selectOccurrences = `SELECT ` + occurrenceTable.list("") + ` FROM occurrences WHERE entry = ?1 ORDER BY instant DESC LIMIT ?2`
	occurrencesBefore = `SELECT ` + occurrenceTable.list("") + ` FROM occurrences WHERE entry = ?1 AND instant < ?2 ORDER BY instant DESC LIMIT ?3`
	selectFailedCases = `SELECT id FROM cases WHERE id IN (SELECT value FROM json_each(?1)) AND state = 'failed' ORDER BY id`
	insertOccurrence  = occurrenceTable.insert()
	deleteThatEntry   = expecting(deleteEntry)
	redoOccurrence    = occurrenceTable.upsert("entry, instant").with(` WHERE occurrences.case_id IS NULL`)
)

const (
	// ?1 is a chunk of the sequence, or the contexts whose entries a whole
	// listing has, with one statement however many they are. The others are
	// filters, off when empty.
	entriesThat = `
			AND (?2 = 0 OR route_id = ?2) AND (?3 = '' OR type = ?3)
		ORDER BY seq`

	allEntries       = `SELECT seq FROM entries WHERE seq > ?2 AND ?1 = 0 ORDER BY seq LIMIT ?3`
	entriesOfContext = `SELECT seq FROM entries WHERE context_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3`

	countEntries = `SELECT count(*) FROM entries WHERE author_id = ?1`
	deleteEntry  = `DELETE FROM entries WHERE uuid = ?1`
)

// Get returns the schedule entry.
func (r entryReader) Get(uuid store.UUID) (*store.Entry, error) {
	return entryTable.one(r.c, selectEntry, uuid[:])
}

// List returns the entries that the filter selects, in the order in which
// they were created.
func (r entryReader) List(f store.EntryFilter) (all []store.Entry, err error) {
	sources := sourcesOf(entriesOfContext, f.Contexts)
	if f.Contexts == nil {
		sources = []source{{query: allEntries}}
	}
	if f.Limit == 0 && f.After == 0 && f.Contexts != nil {
		err = entryTable.add(r.c, &all, selectEntriesSeen, array(f.Contexts), f.RouteID, f.Type)
		return all, Failure("read the schedule entries", err)
	}
	all, err = walk[store.Entry]{&entryTable, sources, selectEntries, []any{f.RouteID, f.Type}}.rows(r.reader, f.After, f.Limit)
	return all, Failure("read the schedule entries", err)
}

// Holding returns the entries in whose forms the text stands, by Seq.
func (r entryReader) Holding(text string) (all []store.Entry, err error) {
	err = entryTable.add(r.c, &all, selectHolding, text)
	return all, Failure("read the schedule entries", err)
}

// Count returns how many entries the author has.
func (r entryReader) Count(author identity.ID) (n int64, err error) {
	_, err = r.c.Row(countEntries, int64(author)).Scan(&n)
	return n, Failure("count schedule entries", err)
}

// Insert stores a new entry and sets its Seq.
func (t entryWriter) Insert(e *store.Entry) error {
	err := insertEntry.added(t.c, e, &e.Seq)
	return Failure("store a schedule entry", err)
}

// Update changes the entry of that UUID.
func (t entryWriter) Update(e *store.Entry) error {
	if t.c.part.later {
		return Failure("store a schedule entry", updateEntry.expect(t.c, e, e.UUID[:]))
	}
	n, err := advanceEntry.change(t.c, e, e.UUID[:])
	if n == 0 && err == nil {
		n, err = updateEntry.change(t.c, e, e.UUID[:])
	}
	return found(n, err, "schedule entry")
}

// Delete deletes an entry with its given name. Its occurrences stay.
func (t entryWriter) Delete(uuid store.UUID) error {
	if t.c.part.later {
		return Failure("delete a schedule entry", t.c.put(deleteThatEntry, []any{uuid[:]}))
	}
	n, err := t.c.Change(deleteEntry, uuid[:])
	return found(n, err, "schedule entry")
}

// Occurrences returns the newest occurrences of the entry, newest first.
func (r entryReader) Occurrences(entry store.UUID, limit int) (all []store.Occurrence, err error) {
	if limit <= 0 {
		limit = -1
	}
	err = occurrenceTable.add(r.c, &all, selectOccurrences, entry[:], orAll(limit))
	return all, Failure("read the occurrences", err)
}

// OccurrencesBefore returns the newest occurrences before an instant, newest first.
func (r entryReader) OccurrencesBefore(entry store.UUID, before time.Time, limit int) (all []store.Occurrence, err error) {
	err = occurrenceTable.add(r.c, &all, occurrencesBefore, entry[:], before.UnixMilli(), limit)
	return all, Failure("read the occurrences", err)
}

// FailedCases returns those of the cases that have failed, by ID.
func (r entryReader) FailedCases(ids []int64) (failed []int64, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	failed, err = values[int64](r.c, selectFailedCases, array(ids))
	return failed, Failure("read which cases have failed", err)
}

// InsertOccurrence records what became of an instant. The pair (entry,
// instant) is unique: a second one is errs.NameTaken.
func (t entryWriter) InsertOccurrence(o *store.Occurrence) error {
	err := insertOccurrence.exec(t.c, o)
	if isUnique(err) {
		return errDealtWith()
	}
	return Failure("record an occurrence", err)
}

// RedoOccurrence is InsertOccurrence, but it replaces an occurrence that has no
// case.
func (t entryWriter) RedoOccurrence(o *store.Occurrence) error {
	if t.c.part.later {
		return Failure("record an occurrence again", redoOccurrence.expect(t.c, o))
	}
	n, err := redoOccurrence.change(t.c, o)
	if err == nil && n == 0 {
		return errDealtWith()
	}
	return Failure("record an occurrence again", err)
}

func errDealtWith() error {
	return errs.New(errs.NameTaken, "This instant of the schedule entry has been fired before.")
}
