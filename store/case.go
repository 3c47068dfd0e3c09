package store

import (
	"time"

	"flowdrive/internal/identity"
)

// Stranded is a case in a status that a version of its route does not have.
type Stranded struct {
	Case   int64  `json:"case"`
	Status string `json:"status"`
}

// Case is a stored case.
type Case struct {
	ID        int64
	RouteID   int64
	ContextID identity.ID
	StarterID identity.ID
	State     string
	Status    string
	Priority  int
	Version   int64
	Revision  int64
	Due       time.Time // zero: nothing due
	Parent    int64     // the parent case, 0 for none
	ParentRow int64     // enablement that created it
	Entry     UUID      // of the schedule entry that fired, zero: none; written when it is created
	Waits     bool      // queued until earlier cases of the entry have ended; a column, and see ReleaseNext
	Named     bool      // it has a given name; a column
	Group     string    // of its route, "" for none
	Busy      bool      // it keeps others of the group from starting
	Retires   time.Time // when its retention is over, zero: never
	Archived  Month     // in which it has ended, 0: it is not archived; Archive writes it
	Marking   []byte    // the core's case
	Form      []byte    // complete form, JSON
	Created   time.Time
	Modified  time.Time
	Access    []identity.ID // whose contexts see it: context, starter, players, stakeholders; ascending
	Tasks     []TaskShare   // who may have tasks in it; nil if that has not changed
	Had       []TaskShare   // who had; nil if that is not known
	Linked    bool          // other cases have relations to it
	LogBytes  int64         // of its log; a column
	Logs      int64         // bytes that AppendLog adds to the log in the same unit; written only
}

// CaseFilter selects cases. Zero fields select all.
type CaseFilter struct {
	Access  []identity.ID // nil: all; else those that one of these sees …
	Routes  []int64       // … or that are of one of these routes
	RouteID int64
	State   string
	Status  string
	OnBoard bool // all but canceled ones
	Context identity.ID
	Parent  int64
	After   int64 // ID
	Limit   int   // 0: all

	Archived bool  // those in the archive, else those in Cases/
	Month    Month // in which archived ones have ended
}

// NewestFilter selects cases, the newest first. Zero fields select all.
type NewestFilter struct {
	Access   []identity.ID // as those of CaseFilter
	Routes   []int64       // likewise
	RouteID  int64
	States   []string
	Status   string
	Context  identity.ID
	Parent   int64
	Archived bool
	Before   int64 // ID; after it, if the oldest come first
	Oldest   bool  // the oldest come first
	Look     int   // at how many cases, at most; somewhat more are looked at

	Facts CaseFacts // of cases that are not read again; nil: none are known
}

// CaseState is a case with what a NewestFilter looks at.
type CaseState struct {
	ID      int64
	RouteID int64
	State   string
	Status  string
	Context identity.ID
	Parent  int64
}

// CaseFacts remembers what cases are like.
type CaseFacts interface {
	// Recall returns those of the cases that it knows, in their order, and the ids of the
	// others.
	Recall(ids []int64) (known []CaseState, others []int64)
	Learn(read []CaseState)
}

// CaseReader reads cases with their logs.
type CaseReader interface {
	Messages() MessageReader
	Tasks() TaskReader
	Archived() ArchiveReader

	Get(id int64) (*Case, error)       // without Access
	List(f CaseFilter) ([]Case, error) // by ID; without Marking and Access
	Revision(id int64) (int64, error)

	// Newest calls take with the cases that the filter selects, from the newest on, in
	// chunks, until take has enough or enough were looked at. It returns the id down to
	// which it has looked, or up to which if the filter wants the oldest first, 0 if that
	// were all.
	Newest(f NewestFilter, take func([]CaseState) (enough bool, err error)) (place int64, err error)

	// Mentioning returns the ids of the cases in whose markings the text stands, in any
	// case, archived ones included.
	Mentioning(text string) ([]int64, error)
	OpenOf(entry UUID, limit int) ([]int64, error) // by id

	// Children returns the ids of the children of an enablement that are
	// neither closed nor canceled: the first ones after an id.
	Children(parent, row, after int64, limit int) ([]int64, error)
	// ChildMarkings calls f for the marking of each child of an enablement, by
	// id.
	ChildMarkings(parent, row int64, f func(marking []byte) error) error
	Plan(caseID, row int64) ([]byte, error) // as PutPlan stored it

	// Upcoming returns cases of the contexts that are due, the earliest first,
	// as WithTasks does.
	Upcoming(contexts []identity.ID, limit int) ([]Case, error)

	SeenBy(id int64, parties []identity.ID) (bool, error)
	CountOpen(starter identity.ID) (int64, error)
	Log(id int64) ([]byte, error) // a JSON array of log entries, oldest first

	BoardReader
	DoneReader
	LinkReader
}

// CaseWriter writes cases with their logs.
type CaseWriter interface {
	Messages() MessageWriter

	// Changed is ChangedCases of the store, with what earlier units of the same commit
	// have changed. Nothing else can change until the unit ends.
	Changed(since uint64) (ids []int64, all bool)

	Insert(c *Case) error // errs.NameTaken if the id is in use

	// Update stores c if the stored revision is still base and the case is
	// archived as it was. Otherwise it returns errs.Precondition and writes
	// nothing. If Access or Tasks are nil they stay as they are.
	Update(c *Case, base int64) error

	// AppendLog adds log entries, a JSON array, which begin at seq.
	AppendLog(caseID, seq int64, entries []byte) error

	// ReleaseNext lets the first case of an entry be started if it waits, and
	// reports whether it did.
	ReleaseNext(entry UUID) (bool, error)

	// PutPlan stores the planned children of an enablement; nil deletes the
	// plan.
	PutPlan(caseID, row int64, plan []byte) error

	ArchiveWriter
	DoneWriter
	LinkWriter
}
