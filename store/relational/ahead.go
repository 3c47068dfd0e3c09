package relational

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"flowdrive/store"
)

// ahead is what a unit has read before it asks for it, in one round trip. What the unit writes
// afterwards is forgotten, so that it is read again.
type ahead struct {
	rows  map[string][][]driver.Value // by query and arguments
	about map[about][]string          // the keys of rows
}

// about is something that rows which were read ahead are about.
type about struct {
	what subject
	key  string // the UUID of a schedule entry or the ID of a case
}

// subject is a kind of things that rows are about. What is stored of one thing of a kind does
// not depend on any other.
type subject uint8

const (
	entryRow     subject = iota // of a schedule entry
	entryName                   // its given name
	entryTrouble                // what is wrong with it
	entryEnded                  // what is kept of it after its end
	entryPast                   // its occurrences, with the states of their cases
	entryWaiting                // its cases that wait for earlier ones
	caseRow                     // of a case, and which entry has made it
	caseTrouble                 // what is wrong with it
	whatIsDue                   // of all kinds
)

// every is the key of all things of a kind.
const every = ""

func ofID(id int64) string { return string(binary.BigEndian.AppendUint64(nil, uint64(id))) } //nolint:gosec // its bits

// question is a query that is asked ahead, and what its rows are about.
type question struct {
	about about
	query string
	args  []any
}

const (
	entryOfCase   = `SELECT entry FROM cases WHERE id = ?1`
	waitsForEntry = `SELECT 1 FROM cases WHERE entry = ?1 AND open = 1 AND waits = 1 LIMIT 1`
)

// Ahead implements store.QueueReader.
func (r queueReader) Ahead(of store.Ahead) error {
	c := r.c
	if c.pipeline == nil {
		return nil
	}
	const op = "read ahead"
	var all []question
	for _, uuid := range of.Entries {
		key := string(uuid[:])
		all = append(all,
			question{about{entryRow, key}, selectEntry, []any{uuid[:]}},
			question{about{entryName, key}, selectNameOfEntry, []any{uuid[:]}},
			question{about{entryTrouble, key}, selectTroublesOfEntry, []any{uuid[:]}},
			question{about{entryPast, key}, selectOccurrences, []any{uuid[:], of.Occurrences}})
	}
	for _, id := range of.Cases {
		all = append(all,
			question{about{caseRow, ofID(id)}, selectCase, []any{id}},
			question{about{caseRow, ofID(id)}, entryOfCase, []any{id}},
			question{about{caseTrouble, ofID(id)}, selectTroublesOfCase, []any{id}})
	}
	if err := c.askAhead(all); err != nil {
		return Failure(op, err)
	}
	all = all[:0]
	makers := map[store.UUID]bool{}
	for _, id := range of.Cases {
		var uuid store.UUID
		if _, err := c.Row(entryOfCase, id).Scan(bits(uuid[:])); err != nil {
			return Failure(op, err)
		}
		if uuid == (store.UUID{}) || makers[uuid] {
			continue
		}
		makers[uuid] = true
		key := string(uuid[:])
		all = append(all,
			question{about{entryRow, key}, selectEntry, []any{uuid[:]}},
			question{about{entryEnded, key}, selectEnded, []any{uuid[:]}},
			question{about{entryWaiting, key}, waitsForEntry, []any{uuid[:]}})
	}
	return Failure(op, c.askAhead(all))
}

// askAhead asks questions in one round trip.
func (c *Conn) askAhead(all []question) error {
	if len(all) == 0 {
		return nil
	}
	if err := c.arrive(); err != nil {
		return err
	}
	asked := make([]Question, len(all))
	statements := make([]*statement, len(all))
	for i, q := range all {
		s, err := c.prepared(q.query)
		if err != nil {
			return err
		}
		if err := s.take(q.args); err != nil {
			return err
		}
		asked[i], statements[i] = Question{s.prepared, slices.Clone(s.args)}, s
		clear(s.args)
	}
	found, err := c.pipeline.Ask(asked)
	if err != nil {
		return c.part.note(c.dialect.Judged(err))
	}
	for i, q := range all {
		rows, err := statements[i].keep(found[i])
		if err != nil {
			return err
		}
		c.ahead.add(q, rows)
	}
	return nil
}

// keep reads all rows of a result.
func (s *statement) keep(from driver.Rows) (all [][]driver.Value, err error) {
	if len(s.row) == 0 {
		s.row = make([]driver.Value, len(from.Columns()))
	}
	for {
		row := make([]driver.Value, len(s.row))
		switch err := from.Next(row); {
		case err == nil:
			all = append(all, row)
		case errors.Is(err, io.EOF):
			return all, s.judge(from.Close())
		default:
			return nil, s.judge(err)
		}
	}
}

func (a *ahead) add(q question, rows [][]driver.Value) {
	if a.rows == nil {
		a.rows, a.about = map[string][][]driver.Value{}, map[about][]string{}
	}
	key := keyOf(q.query, q.args)
	a.rows[key] = rows
	for _, of := range []about{q.about, {q.about.what, every}} { // twice for what has no key, which is harmless
		a.about[of] = append(a.about[of], key)
	}
}

// keyOf is the key of the rows of a query.
func keyOf(query string, args []any) string {
	key := []byte(query)
	for _, arg := range args {
		switch arg := arg.(type) {
		case int64:
			key = append(append(key, 0, 'n'), ofID(arg)...)
		case int:
			key = append(append(key, 0, 'n'), ofID(int64(arg))...)
		case []byte:
			key = append(append(key, 0, 'b'), arg...)
		default:
			return "" // nothing is asked ahead by it
		}
	}
	return string(key)
}

// wrote forgets what a statement writes: everything, if that is not known.
func (a *ahead) wrote(query string, args []any) {
	if len(a.rows) == 0 {
		return
	}
	switch query {
	case insertLog, upsertMessage.query, upsertTask, upsertTasks, deleteTasks, deleteAllTasks, upsertRouteTasks, deleteRouteTasks, insertDone.query, unlessStoredMore:
		// None of it is read ahead.
	case insertOccurrence.query:
		a.forget(entryPast, args[0])
	case updateEntry.query, updateEntry.expects, advanceEntry.query:
		a.forget(entryRow, args[0])
	case deleteEntry, deleteThatEntry:
		a.forget(entryRow, args[0])
		a.forget(entryName, args[0])
	case deleteThatName:
		a.forget(entryName, nil)
	case putEnded.query:
		a.forget(entryEnded, args[0])
	case deleteEndedBefore:
		a.forget(entryEnded, nil)
	case insertCase.query:
		a.forget(caseRow, args[0])
		if entry := args[insertCase.argument("entry")]; entry != nil {
			a.forget(entryPast, entry)
			a.forget(entryWaiting, entry)
		}
	case updateCase.query, updateCase.expects, advanceCase.query:
		a.forget(caseRow, args[0])
		a.forget(entryPast, nil) // of which the case may be one; it waits for others only from its beginning
	default:
		*a = ahead{}
	}
}

// forget forgets what is about one thing, or with nil what is about all of a kind.
func (a *ahead) forget(what subject, of any) {
	key := every
	switch of := of.(type) {
	case int64:
		key = ofID(of)
	case []byte:
		key = string(of)
	}
	for _, kept := range a.about[about{what, key}] {
		delete(a.rows, kept)
	}
}

// readAhead returns the rows of a query if they were read ahead.
func (c *Conn) readAhead(query string, args []any) (rows *keptRows, s *statement) {
	if len(c.ahead.rows) == 0 {
		return nil, nil
	}
	kept, known := c.ahead.rows[keyOf(query, args)]
	if !known {
		return nil, nil
	}
	return &keptRows{rows: kept}, c.stmts[query]
}

// keptRows are rows that were read before.
type keptRows struct{ rows [][]driver.Value }

// Columns implements driver.Rows.
func (*keptRows) Columns() []string { return nil }

// Close implements driver.Rows.
func (*keptRows) Close() error { return nil }

// Next implements driver.Rows.
func (k *keptRows) Next(to []driver.Value) error {
	if len(k.rows) == 0 {
		return io.EOF
	}
	copy(to, k.rows[0])
	k.rows = k.rows[1:]
	return nil
}
