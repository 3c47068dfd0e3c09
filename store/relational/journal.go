package relational

import "flowdrive/store"

var journalTable = table[store.Journal]{"deliveries", "journal of a delivery", func(j *store.Journal, to []column) []column {
	return append(to, []column{
		{"case_id", fixed, &j.CaseID},
		{"seq", fixed, &j.Seq},
		{"step", fixed, &j.Step},
		{"name", fixed, &j.Name},
		{"created", fixed, millis{&j.Created}},
		{"modified", full, millis{&j.Modified}},
		{"form", full, &j.Form},
	}...)
}}

var (
	selectJournal  = `SELECT ` + journalTable.list("") + ` FROM deliveries WHERE case_id = ?1 AND seq = ?2 AND step = ?3`
	selectJournals = `SELECT ` + journalTable.list("") + ` FROM deliveries WHERE case_id = ?1 ORDER BY seq, step`
	newestJournals = `SELECT ` + journalTable.list("") + ` FROM deliveries WHERE case_id = ?1 ORDER BY seq DESC, step DESC LIMIT ?2`
)

const (
	putJournal = `
		INSERT INTO deliveries (case_id, seq, step, name, created, modified, form) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
		ON CONFLICT (case_id, seq, step) DO UPDATE SET modified = ?6, form = ?7`
	dropJournals = `
		DELETE FROM deliveries WHERE case_id = ?1
		AND seq < (SELECT seq FROM deliveries WHERE case_id = ?1 ORDER BY seq DESC, step DESC LIMIT 1 OFFSET ?2)`
)

// Journal returns what became of a delivery.
func (r outboxReader) Journal(caseID, seq, step int64) (*store.Journal, error) {
	return journalTable.one(r.c, selectJournal, caseID, seq, step)
}

// Journals returns what became of the deliveries of a case, in the order in which
// they were asked for.
func (r outboxReader) Journals(caseID int64) (all []store.Journal, err error) {
	err = journalTable.add(r.c, &all, selectJournals, caseID)
	return all, Failure("read the journals of deliveries", err)
}

// NewestJournals returns what became of the newest deliveries of a case, the newest first.
func (r outboxReader) NewestJournals(caseID int64, limit int) (all []store.Journal, err error) {
	err = journalTable.add(r.c, &all, newestJournals, caseID, limit)
	return all, Failure("read the newest journals of deliveries", err)
}

// PutJournal stores what became of a delivery. Of the journals of a case the oldest
// are dropped if there are too many.
func (t outboxWriter) PutJournal(j *store.Journal) error {
	_, err := t.c.Exec(putJournal, j.CaseID, j.Seq, j.Step, j.Name, at(j.Created), at(j.Modified), j.Form)
	if err == nil {
		_, err = t.c.Exec(dropJournals, j.CaseID, store.MostJournals-1)
	}
	return Failure("store the journal of a delivery", err)
}
