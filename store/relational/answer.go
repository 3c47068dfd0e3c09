package relational

import (
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

var answerTable = table[store.Answer]{"answers", "answer", func(a *store.Answer, to []column) []column {
	return append(to, []column{
		{"user_id", fixed, (*int64)(&a.User)},
		{"key", fixed, &a.Key},
		{"request", fixed, bits(a.Request[:])},
		{"url", fixed, bits(a.URL[:])},
		{"answer", fixed, &a.Answer},
		{"created", fixed, millis{&a.Created}},
	}...)
}}

var (
	insertAnswer = answerTable.insert()
	selectAnswer = `SELECT ` + answerTable.list("") + ` FROM answers WHERE user_id = ?1 AND key = ?2`
)

const (
	amendAnswer   = `UPDATE answers SET answer = ?3 WHERE user_id = ?1 AND key = ?2`
	deleteAnswer  = `DELETE FROM answers WHERE user_id = ?1 AND key = ?2 AND created < ?3`
	deleteAnswers = `DELETE FROM answers WHERE (user_id, key) IN (SELECT user_id, key FROM answers WHERE created < ?1 ORDER BY created LIMIT ?2)`
)

// Get returns the first answer to the user's request with that key.
func (r answerReader) Get(user identity.ID, key string) (*store.Answer, error) {
	return answerTable.one(r.c, selectAnswer, int64(user), key)
}

// Put stores an answer. A key in use is errs.NameTaken.
func (t answerWriter) Put(a *store.Answer) error {
	err := insertAnswer.exec(t.c, a)
	if isUnique(err) {
		return errs.New(errs.NameTaken, "The Idempotency-Key is in use.")
	}
	return Failure("store an answer", err)
}

// Amend replaces what was answered to a key, if it is known still.
func (t answerWriter) Amend(user identity.ID, key string, answer []byte) error {
	_, err := t.c.Exec(amendAnswer, int64(user), key, blob(answer))
	return Failure("amend an answer", err)
}

// DeleteBefore deletes the answer to the user's key if it is older than that, and at
// most limit others that are, the oldest first.
func (t answerWriter) DeleteBefore(before time.Time, user identity.ID, key string, limit int) error {
	_, err := t.c.Exec(deleteAnswer, int64(user), key, before.UnixMilli())
	if err == nil {
		_, err = t.c.Exec(deleteAnswers, before.UnixMilli(), limit)
	}
	return Failure("delete old answers", err)
}
