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
	Scope    identity.Scope
	Expires  time.Time // zero: never
	TellAt   time.Time // when its owner is told next that it ends, zero: not any more
}

// Session is a log-in to the pages, as stored. It ends with the password that it
// was made by, and when its user is disabled.
type Session struct {
	ID       int64 // order of creation, set by the store
	UserID   identity.ID
	SHA256   [sha256.Size]byte // of what the browser keeps
	Agent    string            // what the browser says it is
	Lasting  bool              // it was asked to last
	Created  time.Time         // by the machine's clock
	LastUsed time.Time         // likewise
	Address  string            // from where it was begun, "" if that is not known
	Kind     SessionKind       // "" if that is not known
}

// SessionKind is by what a session was begun.
type SessionKind string

// The kinds of sessions.
const (
	ByPassword SessionKind = "password"      // that the user has here
	ByFactor   SessionKind = "second-factor" // and the code of a second factor
	ByLDAP     SessionKind = "ldap"          // a password that the directory has checked
	ByOIDC     SessionKind = "oidc"          // the provider of OpenID Connect
)

// AccountReader reads the secrets and sessions of users.
type AccountReader interface {
	Secrets(kind SecretKind) ([]Secret, error) // of all users, by ID
	Sessions() ([]Session, error)              // likewise
	AppPassword(id int64) (*Secret, error)     // errs.NotFound
}

// AccountWriter writes the secrets and sessions of users.
type AccountWriter interface {
	// InsertSecret sets ID. It returns errs.NameTaken if the user already has a
	// secret of that kind and label, in any case.
	InsertSecret(kind SecretKind, s *Secret) error
	TouchSecret(kind SecretKind, id int64, used time.Time) error
	DeleteSecret(kind SecretKind, id int64) error
	// TellOfAppPassword sets when the owner of an app password is told next that it
	// ends, zero for not any more.
	TellOfAppPassword(id int64, at time.Time) error

	InsertSession(s *Session) error // sets ID
	TouchSession(id int64, used time.Time) error
	DeleteSession(id int64) error // not an error if there is none of that id
}
