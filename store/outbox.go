package store

import "time"

// OutboxRow is one thing to be done outside.
type OutboxRow struct {
	ID       int64     // set by the store
	Key      string    // idempotency key, unique
	CaseID   int64     // 0: it is about none
	Seq      int64     // with Step what the case knows it by
	Step     int64     // 0: no case waits for what becomes of it
	Lane     string    // what goes the same way
	Request  []byte    // a machine.Request, JSON
	Due      time.Time // when it is tried, or while it is, tried again; zero: not by itself
	Attempts int64     // since it was asked for, or retried
	Flying   bool      // its last attempt has not been ended by Put; set by the store
	Created  time.Time
}

// OutboxLane is a lane in which something is due sometime.
type OutboxLane struct {
	Name string
	Due  time.Time // the earliest
}

// Journal is what became of a delivery that a step of a case has asked for. It
// outlives the row of the outbox.
type Journal struct {
	CaseID   int64
	Seq      int64
	Step     int64
	Name     string
	Created  time.Time
	Modified time.Time
	Form     []byte // an outbox.Journal, JSON
}

// MostJournals is how many journals of a case are kept: the newest.
const MostJournals = 1000

// OutboxReader reads the outbox.
type OutboxReader interface {
	HeldMails() HeldMailReader
	Letters() LetterReader

	Get(key string) (*OutboxRow, error)
	Lanes() ([]OutboxLane, error) // by name
	// Due returns what is due in a lane at or before upTo, by (due, id),
	// at most limit.
	Due(lane string, upTo time.Time, limit int) ([]OutboxRow, error)

	// First returns the row that was stored first of those whose key has that prefix,
	// nil for none.
	First(prefix string) (*OutboxRow, error)

	Journal(caseID, seq, step int64) (*Journal, error)
	Journals(caseID int64) ([]Journal, error)                  // in the order of creation
	NewestJournals(caseID int64, limit int) ([]Journal, error) // the newest first
}

// OutboxWriter writes the outbox.
type OutboxWriter interface {
	HeldMails() HeldMailWriter
	Letters() LetterWriter

	Insert(o *OutboxRow) error // sets ID; a key in use is errs.NameTaken

	// Lease marks a row as being tried until the given time, as its attempt
	// o.Attempts. It reports false if the row is no longer due at its Due.
	Lease(o *OutboxRow, until time.Time) (bool, error)
	// Put ends an attempt. It sets the next due time (zero: only a retry by a
	// person) and the number of attempts. An unknown key is ignored.
	Put(key string, due time.Time, attempts int64) error
	Delete(key string) error // if there is one
	// DeleteNoticesTo deletes the mails to an address that no case waits for.
	DeleteNoticesTo(address string) error

	// PutJournal stores a journal, in place of one of the same case, seq and
	// step. More than MostJournals of a case are not kept.
	PutJournal(j *Journal) error

	// Release makes due what was being tried when the server ended. It is still
	// Flying then.
	Release(now time.Time) error
}
