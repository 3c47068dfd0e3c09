package store

import (
	"time"

	"flowdrive/internal/identity"
)

// Answer is the first answer to a request with an idempotency key.
type Answer struct {
	User    identity.ID
	Key     string
	Request Digest // of method, URL and body
	URL     Digest
	Answer  []byte
	Created time.Time
}

// AnswerReader reads idempotency answers.
type AnswerReader interface {
	Get(user identity.ID, key string) (*Answer, error)
}

// AnswerWriter writes idempotency answers.
type AnswerWriter interface {
	Put(a *Answer) error // a key in use is errs.NameTaken
	// Amend replaces what was answered to a key, if it is known still.
	Amend(user identity.ID, key string, answer []byte) error
	// DeleteBefore deletes the answer to the key if it is older than that, and at most
	// limit others that are, the oldest first.
	DeleteBefore(t time.Time, user identity.ID, key string, limit int) error
}
