package sqlite

import (
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	selectAnswer  = `SELECT user_id, key, request, url, answer, created FROM answers WHERE user_id = ?1 AND key = ?2`
	insertAnswer  = `INSERT INTO answers (user_id, key, request, url, answer, created) VALUES (?1, ?2, ?3, ?4, ?5, ?6)`
	amendAnswer   = `UPDATE answers SET answer = ?3 WHERE user_id = ?1 AND key = ?2`
	deleteAnswers = `DELETE FROM answers WHERE created < ?1`
)

// Get returns the first answer to the user's request with that key.
func (r answerReader) Get(user identity.ID, key string) (*store.Answer, error) {
	a := &store.Answer{}
	found, err := r.c.row(selectAnswer, int64(user), key).
		scan(&a.User, &a.Key, bits(a.Request[:]), bits(a.URL[:]), &a.Answer, millis{&a.Created})
	if err := read(found, err, "answer"); err != nil {
		return nil, err
	}
	return a, nil
}

// Put stores an answer. A key in use is errs.NameTaken.
func (t answerWriter) Put(a *store.Answer) error {
	_, err := t.c.exec(insertAnswer, int64(a.User), a.Key, a.Request[:], a.URL[:], blob(a.Answer), at(a.Created))
	if isUnique(err) {
		return errs.New(errs.NameTaken, "The Idempotency-Key is in use.")
	}
	return failure("store an answer", err)
}

// Amend replaces what was answered to a key, if it is known still.
func (t answerWriter) Amend(user identity.ID, key string, answer []byte) error {
	_, err := t.c.exec(amendAnswer, int64(user), key, blob(answer))
	return failure("amend an answer", err)
}

// DeleteBefore deletes the answers that are older than t.
func (t answerWriter) DeleteBefore(before time.Time) error {
	_, err := t.c.exec(deleteAnswers, before.UnixMilli())
	return failure("delete old answers", err)
}
