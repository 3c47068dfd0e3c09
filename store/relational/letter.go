package relational

import (
	"flowdrive/internal/errs"
	"flowdrive/store"
)

var letterTable = table[store.Letter]{"letters", "mail", func(l *store.Letter, to []column) []column {
	return append(to, []column{
		{"id", selected, &l.ID},
		{"name", fixed, &l.Name},
		{"created", fixed, millis{&l.Created}},
		{"size", fixed, &l.Size},
		{"content", fixed, &l.Content},
	}...)
}}

var (
	insertLetter = letterTable.insert()
	selectLetter = `SELECT ` + letterTable.list("") + ` FROM letters WHERE name = ?1`
)

const (
	selectLetters = `SELECT id, name, created, size FROM letters ORDER BY id`
	keepLetters   = `DELETE FROM letters WHERE id <= (SELECT max(id) FROM letters) - ?1`
	deleteLetter  = `DELETE FROM letters WHERE id = ?1`
)

// All returns all mails by ID, without content.
func (r letterReader) All() (all []store.Letter, err error) {
	err = r.c.Each(selectLetters, func(scan Scan) error {
		var l store.Letter
		err := scan(&l.ID, &l.Name, millis{&l.Created}, &l.Size)
		all = append(all, l)
		return err
	})
	return all, Failure("read the mails", err)
}

// Get returns the mail of that name.
func (r letterReader) Get(name string) (*store.Letter, error) {
	return letterTable.one(r.c, selectLetter, name)
}

// Insert stores a mail and sets its ID. It returns errs.NameTaken if there is one of
// that name.
func (t letterWriter) Insert(l *store.Letter) error {
	err := insertLetter.added(t.c, l, &l.ID)
	if isUnique(err) {
		return errs.New(errs.NameTaken, "There is a mail %q already.", l.Name)
	}
	return Failure("store a mail", err)
}

// Keep deletes the oldest mails, so that so many are left.
func (t letterWriter) Keep(most int64) error {
	_, err := t.c.Exec(keepLetters, most)
	return Failure("delete old mails", err)
}

// Delete deletes a mail.
func (t letterWriter) Delete(id int64) error {
	n, err := t.c.Change(deleteLetter, id)
	return found(n, err, "mail")
}
