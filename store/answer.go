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
	Answer(user identity.ID, key string) (*Answer, error)
}

// AnswerWriter writes idempotency answers.
type AnswerWriter interface {
	PutAnswer(a *Answer) error // a key in use is errs.NameTaken
	// AmendAnswer replaces what was answered to a key, if it is known still.
	AmendAnswer(user identity.ID, key string, answer []byte) error
	DeleteAnswersBefore(t time.Time) error
}
