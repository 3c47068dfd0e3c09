package relational

import (
	"fmt"
	"strings"

	"flowdrive/internal/identity"
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

// found selects the keys of the rows with a word.
func (w *wording) found() string {
	return fmt.Sprintf(`SELECT %s FROM %s WHERE instr(lower(CAST(%s AS TEXT)), ?1) > 0`, strings.Join(w.keys, ", "), w.table, w.column)
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
	deleteDoneOf = `DELETE FROM done_tasks WHERE user_id = ?1`
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

// Erase forgets what is kept for the user alone, says who has ended entries and made holds,
// and has texts written again in which one of the words stands.
func (t partyWriter) Erase(id identity.ID, from, to string, words []string, reword func(text []byte) []byte) error {
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
	for _, w := range wordings() {
		for _, word := range words {
			if err := t.reword(&w, identity.Fold(word), reword); err != nil {
				return Failure(op, err)
			}
		}
	}
	return nil
}

// reword has the texts of a column written again in which the word stands. Their keys are
// read first: there may be many, and they may be long.
func (t partyWriter) reword(w *wording, word string, reword func(text []byte) []byte) error {
	var keys [][]any
	into, read := w.key()
	err := t.c.Each(w.found(), func(scan Scan) error {
		if err := scan(into...); err != nil {
			return err
		}
		keys = append(keys, read())
		return nil
	}, word)
	if err != nil {
		return err
	}
	for _, key := range keys {
		var text []byte
		query := fmt.Sprintf(`SELECT %s FROM %s WHERE %s`, w.column, w.table, w.at(1))
		if _, err := t.c.Row(query, key...).Scan(&text); err != nil {
			return err
		}
		update := fmt.Sprintf(`UPDATE %s SET %s = ?1 WHERE %s`, w.table, w.column, w.at(2))
		if _, err := t.c.Exec(update, append([]any{blob(reword(text))}, key...)...); err != nil {
			return err
		}
	}
	return nil
}
