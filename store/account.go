package store

import (
	"crypto/sha256"
	"time"

	"flowdrive/internal/identity"
)

// SecretKind is what a secret opens.
type SecretKind string

// The kinds of secrets.
const (
	AppPassword  SecretKind = "app password"  // logs a device or program in
	CalendarLink SecretKind = "calendar link" // is the address of the user's calendar
)

// SecretKinds are all kinds there are.
func SecretKinds() []SecretKind { return []SecretKind{AppPassword, CalendarLink} }

// Secret is what a user has made for a device or a program, as stored. It is
// random, so that only the device or program needs to keep it.
type Secret struct {
	ID       int64 // order of creation, set by the store
	UserID   identity.ID
	Label    string
	SHA256   [sha256.Size]byte // of the secret itself
	Created  time.Time
	LastUsed time.Time // zero: never
}

// AccountReader reads the secrets of users.
type AccountReader interface {
	Secrets(kind SecretKind) ([]Secret, error) // of all users, by ID
}

// AccountWriter writes the secrets of users.
type AccountWriter interface {
	// InsertSecret sets ID. It returns errs.NameTaken if the user already has a
	// secret of that kind and label, in any case.
	InsertSecret(kind SecretKind, s *Secret) error
	TouchSecret(kind SecretKind, id int64, used time.Time) error
	DeleteSecret(kind SecretKind, id int64) error
}
