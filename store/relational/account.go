package relational

import (
	"strings"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

// Each kind of secrets has a table of its own; they are alike.
var secretTable = table[store.Secret]{"app_passwords", "secret", func(s *store.Secret, to []column) []column {
	return append(to, []column{
		{"id", selected, &s.ID},
		{"user_id", fixed, (*int64)(&s.UserID)},
		{"folded", inserted, folded{&s.Label}},
		{"label", fixed, &s.Label},
		{"sha256", fixed, bits(s.SHA256[:])},
		{"created", fixed, millis{&s.Created}},
		{"last_used", fixed, millis{&s.LastUsed}},
		{"scope", fixed, (*string)(&s.Scope)},
		{"expires", fixed, millis{&s.Expires}},
		{"tell_at", fixed, millis{&s.TellAt}},
	}...)
}}

var (
	insertSecret  = secretTable.insert()
	selectSecrets = `SELECT ` + secretTable.list("") + ` FROM app_passwords ORDER BY id`
	selectSecret  = `SELECT ` + secretTable.list("") + ` FROM app_passwords WHERE id = ?1`
)

const (
	touchSecret  = `UPDATE app_passwords SET last_used = ?2 WHERE id = ?1`
	tellOfSecret = `UPDATE app_passwords SET tell_at = ?2 WHERE id = ?1`
	deleteSecret = `DELETE FROM app_passwords WHERE id = ?1`

	selectDueSecrets = `SELECT tell_at, id FROM app_passwords WHERE tell_at <= ?1 ORDER BY tell_at, id LIMIT ?2`
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
	err = secretTable.add(r.c, &all, ofKind(kind, selectSecrets))
	return all, Failure("read the secrets", err)
}

// AppPassword returns an app password by its ID.
func (r partyReader) AppPassword(id int64) (*store.Secret, error) {
	return secretTable.one(r.c, selectSecret, id)
}

// TellOfAppPassword sets when the owner of an app password is told next that it ends.
func (t partyWriter) TellOfAppPassword(id int64, tellAt time.Time) error {
	n, err := t.c.Change(tellOfSecret, id, at(tellAt))
	return found(n, err, string(store.AppPassword))
}

// InsertSecret stores a new secret and sets its ID. It returns errs.NameTaken
// if the user already has a secret of that label, in any case.
func (t partyWriter) InsertSecret(kind store.SecretKind, s *store.Secret) error {
	insert := insertSecret.of(ofKind(kind, insertSecret.query))
	err := insert.added(t.c, s, &s.ID)
	if isUnique(err) {
		return errs.New(errs.NameTaken, "There is the %s %q already; delete it to get another of that name.", kind, s.Label)
	}
	return Failure("store a secret", err)
}

// TouchSecret notes when a secret was used.
func (t partyWriter) TouchSecret(kind store.SecretKind, id int64, used time.Time) error {
	n, err := t.c.Change(ofKind(kind, touchSecret), id, at(used))
	return found(n, err, string(kind))
}

// DeleteSecret deletes a secret.
func (t partyWriter) DeleteSecret(kind store.SecretKind, id int64) error {
	n, err := t.c.Change(ofKind(kind, deleteSecret), id)
	return found(n, err, string(kind))
}
