package sqlite

import (
	"time"

	"flowdrive/engine"
	"flowdrive/errs"
	"flowdrive/identity"
)

const (
	selectAppPasswords = `SELECT id, user_id, label, sha256, created, last_used FROM app_passwords ORDER BY id`
	insertAppPassword  = `
		INSERT INTO app_passwords (user_id, folded, label, sha256, created, last_used)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6)`
	touchAppPassword  = `UPDATE app_passwords SET last_used = ?2 WHERE id = ?1`
	deleteAppPassword = `DELETE FROM app_passwords WHERE id = ?1`
)

// AppPasswords returns the app passwords of all users by ID. They are read
// whole: all are held in memory.
func (r *reader) AppPasswords() (all []engine.AppPassword, err error) {
	err = r.c.each(selectAppPasswords, func(scan scan) error {
		var p engine.AppPassword
		err := scan(&p.ID, &p.UserID, &p.Label, bits(p.SHA256[:]), millis{&p.Created}, millis{&p.LastUsed})
		all = append(all, p)
		return err
	})
	return all, failure("read the app passwords", err)
}

// InsertAppPassword stores a new app password and sets its ID. A label that
// the user has given already, whatever its case, is errs.NameTaken.
func (t *tx) InsertAppPassword(p *engine.AppPassword) error {
	res, err := t.c.exec(insertAppPassword, int64(p.UserID), identity.Fold(p.Label), p.Label, p.SHA256[:], at(p.Created), at(p.LastUsed))
	if isUnique(err) {
		return errs.New(errs.NameTaken, "There is an app password %q already; delete it to get another of that name.", p.Label)
	}
	if err == nil {
		p.ID, err = res.LastInsertId()
	}
	return failure("store an app password", err)
}

// TouchAppPassword notes when an app password was used.
func (t *tx) TouchAppPassword(id int64, used time.Time) error {
	n, err := t.c.change(touchAppPassword, id, at(used))
	return found(n, err, "app password")
}

// DeleteAppPassword deletes an app password.
func (t *tx) DeleteAppPassword(id int64) error {
	n, err := t.c.change(deleteAppPassword, id)
	return found(n, err, "app password")
}
