package relational

import (
	"time"

	"flowdrive/internal/identity"
	"flowdrive/store"
)

var doneTable = table[store.DoneTask]{"done_tasks", "performed action", func(d *store.DoneTask, to []column) []column {
	return append(to, []column{
		{"user_id", fixed, (*int64)(&d.User)},
		{"time", fixed, millis{&d.Time}},
		{"case_id", fixed, &d.CaseID},
		{"seq", fixed, &d.Seq},
		{"action", full, &d.Action},
		{"form", full, &d.Form},
	}...)
}}

var (
	insertDone = doneTable.insert()
	selectDone = `SELECT ` + doneTable.list("") + ` FROM done_tasks WHERE user_id = ?1 AND time > ?2 ORDER BY time DESC, case_id DESC, seq DESC LIMIT ?3`
)

// deleteDoneBefore costs one look at the index if nothing is old. A row-value IN costs a
// table of its own each time.
const deleteDoneBefore = `
	DELETE FROM done_tasks WHERE time <= coalesce(
		(SELECT time FROM done_tasks WHERE time < ?1 ORDER BY time LIMIT 1 OFFSET ?2), ?1 - 1)`

// Done returns what the user has performed after an instant, the newest first.
func (r caseReader) Done(user identity.ID, after time.Time, limit int) (all []store.DoneTask, err error) {
	err = doneTable.add(r.c, &all, selectDone, int64(user), after.UnixMilli(), limit)
	return all, Failure("read what a user has performed", err)
}

// InsertDone notes that a user has performed an action.
func (t caseWriter) InsertDone(d *store.DoneTask) error {
	err := insertDone.exec(t.c, d)
	return Failure("note what a user has performed", err)
}

// DeleteDoneBefore forgets what users have performed before, at most limit rows and
// those of the same instant as the last of them.
func (t caseWriter) DeleteDoneBefore(before time.Time, limit int) error {
	_, err := t.c.Exec(deleteDoneBefore, before.UnixMilli(), limit-1)
	return Failure("forget what users have performed", err)
}
