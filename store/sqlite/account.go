package sqlite

import (
	"strings"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Each kind of secrets has a table of its own; they are alike.
const (
	selectSecrets = `SELECT id, user_id, label, sha256, created, last_used FROM app_passwords ORDER BY id`
	insertSecret  = `
		INSERT INTO app_passwords (user_id, folded, label, sha256, created, last_used)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6)`
	touchSecret  = `UPDATE app_passwords SET last_used = ?2 WHERE id = ?1`
	deleteSecret = `DELETE FROM app_passwords WHERE id = ?1`
)

// ofKind returns the statement for the table of the kind.
func ofKind(kind store.SecretKind, query string) string {
	if kind == store.CalendarLink {
		return strings.Replace(query, "app_passwords", "calendar_links", 1)
	}
	return query
}

// Secrets returns the secrets of the kind of all users by ID. They are read
// whole: all are held in memory.
func (r partyReader) Secrets(kind store.SecretKind) (all []store.Secret, err error) {
	err = r.c.each(ofKind(kind, selectSecrets), func(scan scan) error {
		var s store.Secret
		err := scan(&s.ID, &s.UserID, &s.Label, bits(s.SHA256[:]), millis{&s.Created}, millis{&s.LastUsed})
		all = append(all, s)
		return err
	})
	return all, failure("read the secrets", err)
}

// InsertSecret stores a new secret and sets its ID. A label that the user has
// given already, whatever its case, is errs.NameTaken.
func (t partyWriter) InsertSecret(kind store.SecretKind, s *store.Secret) error {
	res, err := t.c.exec(ofKind(kind, insertSecret), int64(s.UserID), identity.Fold(s.Label), s.Label, s.SHA256[:], at(s.Created), at(s.LastUsed))
	if isUnique(err) {
		return errs.New(errs.NameTaken, "There is the %s %q already; delete it to get another of that name.", kind, s.Label)
	}
	if err == nil {
		s.ID, err = res.LastInsertId()
	}
	return failure("store a secret", err)
}

// TouchSecret notes when a secret was used.
func (t partyWriter) TouchSecret(kind store.SecretKind, id int64, used time.Time) error {
	n, err := t.c.change(ofKind(kind, touchSecret), id, at(used))
	return found(n, err, string(kind))
}

// DeleteSecret deletes a secret.
func (t partyWriter) DeleteSecret(kind store.SecretKind, id int64) error {
	n, err := t.c.change(ofKind(kind, deleteSecret), id)
	return found(n, err, string(kind))
}
