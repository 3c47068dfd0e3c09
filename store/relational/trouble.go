package relational

import (
	"flowdrive/internal/errs"
	"flowdrive/store"
)

var troubleTable = table[store.Trouble]{"troubles", "trouble", func(t *store.Trouble, to []column) []column {
	return append(to, []column{
		{"id", selected, &t.ID},
		{"case_id", full, number{&t.CaseID}},
		{"case_entry", fixed, someBits(t.CaseEntry[:])},
		{"entry", fixed, someBits(t.Entry[:])},
		{"hook", fixed, number{&t.Hook}},
		{"hold", fixed, number{&t.Hold}},
		{"name", fixed, &t.Name},
		{"due", full, millis{&t.Due}},
		{"data", full, &t.Data},
	}...)
}}

var (
	insertTrouble         = troubleTable.insert()
	updateTrouble         = troubleTable.update(condition{where: `id = ?1`, given: 1})
	selectTrouble         = `SELECT ` + troubleTable.list("") + ` FROM troubles WHERE id = ?1`
	selectTroublesOfCase  = `SELECT ` + troubleTable.list("") + ` FROM troubles WHERE case_id = ?1 ORDER BY name`
	selectTroublesOfEntry = `SELECT ` + troubleTable.list("") + ` FROM troubles WHERE entry = ?1 ORDER BY name`
	selectTroublesNamed   = `SELECT ` + troubleTable.list("") + ` FROM troubles WHERE name = ?1 ORDER BY due, id LIMIT ?2`
	selectNewestTroubles  = `SELECT ` + troubleTable.list("") + ` FROM troubles WHERE case_entry = ?1 AND name = ?2 ORDER BY case_id DESC LIMIT ?3`
	selectTroublesFrom    = `SELECT ` + troubleTable.list("") + ` FROM troubles WHERE case_entry = ?1 AND name = ?2 AND case_id >= ?3 ORDER BY case_id LIMIT ?4`
	selectTroublesOfHook  = `SELECT ` + troubleTable.list("") + ` FROM troubles WHERE hook = ?1 ORDER BY name`
	selectTroublesOfHold  = `SELECT ` + troubleTable.list("") + ` FROM troubles WHERE hold = ?1 ORDER BY name`
)

const (
	selectOfFailed = `SELECT DISTINCT t.case_id FROM troubles t JOIN cases c ON c.id = t.case_id
		WHERE t.case_entry = ?1 AND t.case_id < ?2 AND c.state = 'failed' ORDER BY t.case_id DESC LIMIT ?3`
	deleteTrouble     = `DELETE FROM troubles WHERE id = ?1`
	selectDueTroubles = `SELECT due, id FROM troubles WHERE due <= ?1 ORDER BY due, id LIMIT ?2`
)

// Get returns one of the things that are wrong.
func (r troubleReader) Get(id int64) (*store.Trouble, error) {
	return troubleTable.one(r.c, selectTrouble, id)
}

// OfCase returns what is wrong with a case.
func (r troubleReader) OfCase(id int64) (all []store.Trouble, err error) {
	err = troubleTable.add(r.c, &all, selectTroublesOfCase, id)
	return all, Failure("read what is wrong with a case", err)
}

// OfEntry returns what is wrong with a schedule entry.
func (r troubleReader) OfEntry(uuid store.UUID) (all []store.Trouble, err error) {
	err = troubleTable.add(r.c, &all, selectTroublesOfEntry, uuid[:])
	return all, Failure("read what is wrong with a schedule entry", err)
}

// OfHook returns what is wrong with a hook.
func (r troubleReader) OfHook(id int64) (all []store.Trouble, err error) {
	err = troubleTable.add(r.c, &all, selectTroublesOfHook, id)
	return all, Failure("read what is wrong with a hook", err)
}

// OfHold returns what is wrong with a hold.
func (r troubleReader) OfHold(id int64) (all []store.Trouble, err error) {
	err = troubleTable.add(r.c, &all, selectTroublesOfHold, id)
	return all, Failure("read what is wrong with a hold", err)
}

// OfFailed returns the failed cases of a schedule entry with which something is wrong.
func (r troubleReader) OfFailed(entry store.UUID, below int64, limit int) (ids []int64, err error) {
	ids, err = values[int64](r.c, selectOfFailed, entry[:], below, limit)
	return ids, Failure("read with which failed cases something is wrong", err)
}

// Newest returns what is wrong under that name with the newest cases of a schedule entry.
func (r troubleReader) Newest(entry store.UUID, name string, limit int) (all []store.Trouble, err error) {
	err = troubleTable.add(r.c, &all, selectNewestTroubles, entry[:], name, limit)
	return all, Failure("read what is wrong with the newest cases of a schedule entry", err)
}

// From returns what is wrong under that name with cases of a schedule entry, from one on.
func (r troubleReader) From(entry store.UUID, name string, id int64, limit int) (all []store.Trouble, err error) {
	err = troubleTable.add(r.c, &all, selectTroublesFrom, entry[:], name, id, limit)
	return all, Failure("read what is wrong with the cases of a schedule entry", err)
}

// Named returns what is wrong under that name.
func (r troubleReader) Named(name string, limit int) (all []store.Trouble, err error) {
	err = troubleTable.add(r.c, &all, selectTroublesNamed, name, limit)
	return all, Failure("read what is wrong", err)
}

// Insert stores something that is wrong. If it is known already, that is
// errs.NameTaken.
func (t troubleWriter) Insert(trouble *store.Trouble) error {
	err := insertTrouble.added(t.c, trouble, &trouble.ID)
	if isUnique(err) {
		return errs.New(errs.NameTaken, "It is known already that %s is wrong.", trouble.Name)
	}
	return Failure("store what is wrong", err)
}

// Update changes something that is wrong.
func (t troubleWriter) Update(trouble *store.Trouble) error {
	n, err := updateTrouble.change(t.c, trouble, trouble.ID)
	if err == nil && n == 0 {
		return errs.New(errs.NotFound, "There is no trouble %d.", trouble.ID)
	}
	return Failure("change what is wrong", err)
}

// Delete deletes something that was wrong, if it is there.
func (t troubleWriter) Delete(id int64) error {
	_, err := t.c.Exec(deleteTrouble, id)
	return Failure("delete what was wrong", err)
}
