package relational

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"flowdrive/internal/identity"
	"flowdrive/store"
)

// wording is a column of texts about cases and schedule entries, in which names of users
// can stand.
type wording struct {
	table, column string
	keys          []string // of the table; "uuid" is of bytes, the others are numbers
}

func wordings() []wording {
	return []wording{
		{"case_log", "entries", []string{"case_id", "seq"}},
		{"done_tasks", "form", []string{"user_id", "time", "case_id", "seq"}},
		{"ended_entries", "form", []string{"uuid"}},
		{"deliveries", "form", []string{"case_id", "seq", "step"}},
		{"troubles", "data", []string{"id"}},
	}
}

// found selects the keys of the rows with one of so many words. Of those of a case it selects
// those of the cases of the argument behind the words, if some are wanted alone.
func (w *wording) found(words int, some bool) string {
	conditions := make([]string, words)
	for i := range conditions {
		conditions[i] = fmt.Sprintf("instr(lower(CAST(%s AS TEXT)), ?%d) > 0", w.column, i+1)
	}
	query := fmt.Sprintf(`SELECT %s FROM %s WHERE (%s)`, strings.Join(w.keys, ", "), w.table, strings.Join(conditions, " OR "))
	if some {
		query += fmt.Sprintf(" AND case_id IN (SELECT value FROM json_each(?%d))", words+1)
	}
	return query
}

// at is the condition that finds a row by its keys, which begin with that argument.
func (w *wording) at(first int) string {
	conditions := make([]string, len(w.keys))
	for i, key := range w.keys {
		conditions[i] = fmt.Sprintf("%s = ?%d", key, first+i)
	}
	return strings.Join(conditions, " AND ")
}

// key returns where the keys of a row are read into, and what they are then.
func (w *wording) key() (into []any, read func() []any) {
	numbers, bits := make([]int64, len(w.keys)), make([][]byte, len(w.keys))
	for i, name := range w.keys {
		if name == "uuid" {
			into = append(into, &bits[i])
		} else {
			into = append(into, &numbers[i])
		}
	}
	return into, func() (out []any) {
		for i, name := range w.keys {
			if name == "uuid" {
				out = append(out, bits[i])
			} else {
				out = append(out, numbers[i])
			}
		}
		return out
	}
}

const (
	deleteDoneOf   = `DELETE FROM done_tasks WHERE user_id = ?1`
	deleteSomeDone = `DELETE FROM done_tasks WHERE user_id = ?1 AND time <= (
		SELECT max(time) FROM (SELECT time FROM done_tasks WHERE user_id = ?1 ORDER BY time LIMIT ?2) AS oldest)`
	// The rows of what is written in the folders of the workflow before it was written anew.
	deleteHistoryOf = `DELETE FROM history WHERE author_id = ?1`
	renameEnded     = `UPDATE ended_entries SET actor = ?2 WHERE lower(actor) = ?1`
	renameHolds     = `UPDATE holds SET author = ?2 WHERE lower(author) = ?1`
	// Nobody waits for a notice, so it need not be sent.
	deleteNoticesTo = `DELETE FROM outbox WHERE step = 0 AND instr(lower(CAST(request AS TEXT)), ?1) > 0`
)

// DeleteNoticesTo deletes the mails to an address that no case waits for.
func (t outboxWriter) DeleteNoticesTo(address string) error {
	_, err := t.c.Exec(deleteNoticesTo, `"`+identity.Fold(address)+`"`)
	return Failure("delete the mails to an address", err)
}

// Erase forgets what is kept for the user alone, and says who has ended entries and made
// holds.
func (t partyWriter) Erase(id identity.ID, from, to string) error {
	const op = "erase a user"
	for _, statement := range []string{renameEnded, renameHolds} {
		if _, err := t.c.Exec(statement, identity.Fold(from), to); err != nil {
			return Failure(op, err)
		}
	}
	for _, statement := range []string{deleteDoneOf, deleteHistoryOf} {
		if _, err := t.c.Exec(statement, int64(id)); err != nil {
			return Failure(op, err)
		}
	}
	return nil
}

// ForgetDone deletes some of what is kept of what the user has done, and returns how much.
func (t partyWriter) ForgetDone(id identity.ID, most int) (int64, error) {
	result, err := t.c.Exec(deleteSomeDone, int64(id), most)
	if err != nil {
		return 0, Failure("forget what a user has done", err)
	}
	return result.RowsAffected()
}

// Worded returns where one of the words stands, in any case.
func (r partyReader) Worded(words []string, cases []int64) (found []store.Wording, err error) {
	args := make([]any, len(words), len(words)+1)
	for i, word := range words {
		args[i] = identity.Fold(word)
	}
	for _, w := range wordings() {
		into, read := w.key()
		some, with := cases != nil && slices.Contains(w.keys, "case_id"), args
		if some {
			with = append(with, array(cases))
		}
		err := r.c.Each(w.found(len(words), some), func(scan Scan) error {
			if err := scan(into...); err != nil {
				return err
			}
			found = append(found, store.Wording{Place: w.table, Key: read()})
			return nil
		}, with...)
		if err != nil {
			return nil, Failure("look for a name in texts", err)
		}
	}
	return found, nil
}

// Reword has texts written again.
func (t partyWriter) Reword(texts []store.Wording, reword func(text []byte) []byte) error {
	const op = "write a text again"
	places := wordings()
	for _, one := range texts {
		w := &places[slices.IndexFunc(places, func(w wording) bool { return w.table == one.Place })]
		var text []byte
		query := fmt.Sprintf(`SELECT %s FROM %s WHERE %s`, w.column, w.table, w.at(1))
		if there, err := t.c.Row(query, one.Key...).Scan(&text); err != nil {
			return Failure(op, err)
		} else if !there {
			continue
		}
		again := reword(text)
		if bytes.Equal(again, text) {
			continue
		}
		update := fmt.Sprintf(`UPDATE %s SET %s = ?1 WHERE %s`, w.table, w.column, w.at(2))
		if _, err := t.c.Exec(update, append([]any{blob(again)}, one.Key...)...); err != nil {
			return Failure(op, err)
		}
	}
	return nil
}
