package store

import "time"

// Trouble is something that is wrong with a case, a schedule entry, a hook or a hold, until
// it is mended. Exactly one of CaseID, Entry, Hook and Hold is set.
type Trouble struct {
	ID        int64
	CaseID    int64
	CaseEntry UUID // the schedule entry of the case; zero: it has none
	Entry     UUID
	Hook      int64     // its ID
	Hold      int64     // its ID
	Name      string    // tells it from others of the same case, entry, hook or hold
	Due       time.Time // when people are told of it again
	Data      []byte    // JSON
}

// OverdueTrouble begins the names of troubles of cases that something is overdue in them.
const OverdueTrouble = "timer "

// TroubleReader reads what is wrong.
type TroubleReader interface {
	Get(id int64) (*Trouble, error)
	OfCase(id int64) ([]Trouble, error)   // by Name
	OfEntry(uuid UUID) ([]Trouble, error) // by Name
	OfHook(id int64) ([]Trouble, error)   // by Name
	OfHold(id int64) ([]Trouble, error)   // by Name
	// OfFailed returns the failed cases of a schedule entry with an ID below the given one with
	// which something is wrong, the newest first.
	OfFailed(entry UUID, below int64, limit int) ([]int64, error)
	// Newest returns those of that name with cases of a schedule entry, the newest case first.
	Newest(entry UUID, name string, limit int) ([]Trouble, error)
	// From returns those of that name with cases of a schedule entry from an ID on, the oldest
	// case first.
	From(entry UUID, name string, id int64, limit int) ([]Trouble, error)
	// Named returns those of that name, in the order in which they are due.
	Named(name string, limit int) ([]Trouble, error)
}

// TroubleWriter writes what is wrong.
type TroubleWriter interface {
	// Insert stores a new one and sets its ID. It returns errs.NameTaken if the
	// case, entry, hook or hold has one of that name.
	Insert(t *Trouble) error
	Update(t *Trouble) error // CaseID, Due and Data
	Delete(id int64) error
}
