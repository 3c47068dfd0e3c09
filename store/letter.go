package store

import "time"

// Letter is a mail that a sandbox would have sent
// (docs/contract/drive.md#mails-of-a-sandbox).
type Letter struct {
	ID      int64  // order of creation, set by the store
	Name    string // of its file
	Created time.Time
	Size    int64
	Content []byte // an RFC 5322 message; left out of listings
}

// LetterReader reads the mails that a sandbox would have sent.
type LetterReader interface {
	All() ([]Letter, error) // by ID, without content
	Get(name string) (*Letter, error)
}

// LetterWriter writes the mails that a sandbox would have sent.
type LetterWriter interface {
	// Insert stores a mail and sets its ID. It returns errs.NameTaken if there is
	// one of that name.
	Insert(l *Letter) error
	// Keep deletes the oldest mails, so that so many are left.
	Keep(most int64) error
	Delete(id int64) error
}
