package engine

import (
	"context"
	"time"

	"flowdrive/engine/account"
	"flowdrive/internal/identity"
)

// UUID is 128 bits; its text is 32 hex digits.
type UUID [16]byte

// Digest is the SHA-256 of some bytes.
type Digest [32]byte

// Store keeps everything durably. Nothing above it knows which database it
// is, and no rule rests on there being one process.
//
// Errors are of errs.NotFound where the record asked for does not exist, of
// errs.Unavailable and errs.Full where the database cannot serve, else
// internal; each method says what else.
type Store interface {
	// View runs f on one snapshot. f must not keep the Reader.
	View(ctx context.Context, f func(Reader) error) error

	// Update runs f in a unit of its own within the next group commit, and
	// returns when the commit is durable. An error or panic of f rolls the
	// unit back, alone. f may run in another goroutine and must not block on
	// anything but the Tx.
	Update(ctx context.Context, f func(Tx) error) error

	// NextID returns an id that was never given before: one sequence for
	// cases, routes, users and teams. It may be called outside a transaction.
	NextID() int64

	// PeekID returns what NextID would, and does not give it.
	PeekID() int64

	// Changes returns a number that is another after every commit. It is
	// asked before something is read, and costs nothing.
	Changes() uint64
}

// Reader reads. Slices and byte slices it returns belong to the caller.
type Reader interface {
	PartyReader
	RouteReader
	ScheduleReader
	CaseReader
	NameReader
	AnswerReader
	SettingReader
	BlobReader
	AccountReader
	AuditReader
	AttachmentReader
	DocumentReader
	AliasReader
	BoardReader
	ScratchReader
	HistoryReader
	LockReader
	TaskReader
	QueueReader
	HoldReader
	OutboxReader
	ArchiveReader
}

// Tx reads and writes within one unit.
type Tx interface {
	Reader
	PartyWriter
	RouteWriter
	ScheduleWriter
	CaseWriter
	NameWriter
	AnswerWriter
	SettingWriter
	BlobWriter
	AccountWriter
	AuditWriter
	AttachmentWriter
	DocumentWriter
	AliasWriter
	ScratchWriter
	HistoryWriter
	LockWriter
	HoldWriter
	OutboxWriter
	ArchiveWriter

	// Savepoint runs f and returns its error. Where f fails or panics, what it
	// wrote and registered is undone, that alone. A unit in which nothing else
	// is written does without: undoing it whole is cheaper.
	Savepoint(f func() error) error

	// AfterCommit registers f to run once the unit is durable, in order and
	// before Update returns. f must not block.
	AfterCommit(f func())
}

// PartyReader reads users and teams.
type PartyReader interface {
	Parties() ([]account.Party, error) // by id
}

// PartyWriter writes users and teams.
type PartyWriter interface {
	// PutParty stores a new party or replaces the one of that id. A name that
	// another party bears, whatever its case, is errs.NameTaken.
	PutParty(p *account.Party) error
	DeleteParty(id identity.ID) error // errs.InUse where anything refers to it
}

// Route is a stored definition, its current version.
type Route struct {
	ID         int64
	Name       string
	ContextID  identity.ID
	AuthorID   identity.ID
	Version    int64
	YAML       bool   // what language Source is in
	Source     []byte // as it was PUT
	SourceSize int64  // also where Source is left out
	ETag       string // of Source
	Form       []byte // complete form, JSON
	Created    time.Time
	Modified   time.Time
}

// RouteReader reads routes.
type RouteReader interface {
	RouteByID(id int64) (*Route, error)
	RouteByName(name string) (*Route, error)               // whatever its case
	Routes() ([]Route, error)                              // by id, without Source
	RouteVersion(id, version int64) (*RouteVersion, error) // any version ever stored
	RouteVersions(id int64) ([]RouteVersion, error)        // ascending, without Source
	RouteInUse(id int64) (cases, entries int64, err error) // open cases, schedule entries that name it
	// StrandedCases returns cases of the route that can go on, by id, and whose
	// status is set and none of those; at most so many.
	StrandedCases(id int64, statuses []string, limit int) ([]Stranded, error)
	RouteStamp(id int64) (version int64, err error) // the current version, cheaply
}

// RouteVersion is one stored version of a route.
type RouteVersion struct {
	RouteID int64
	Name    string
	Version int64
	YAML    bool
	Source  []byte
	Form    []byte
	Created time.Time
}

// RouteWriter writes routes.
type RouteWriter interface {
	// PutRoute stores a new route or changes the one of that id; with a new
	// Version its source and form are kept as that version as well. A name in
	// use is errs.NameTaken.
	PutRoute(r *Route) error
	DeleteRoute(id int64) error // its versions stay for the cases that have them
}

// Entry is a stored schedule entry. Everything about it is in Form, the
// complete form; the other fields are what the store looks entries up by.
type Entry struct {
	Seq        int64 // order of creation, set by the store
	UUID       UUID
	ContextID  identity.ID
	AuthorID   identity.ID
	RouteID    int64
	Type       string
	Definition int64     // counts PUTs; If-Match compares it
	Revision   int64     // counts every change of Form
	Due        time.Time // zero: never again
	Attachment UUID      // that its cases take as their input, zero: none
	Paused     time.Time // since when, zero: it is not
	Form       []byte
	Created    time.Time
	Modified   time.Time
}

// EntryFilter selects schedule entries. Zero fields select all.
type EntryFilter struct {
	Contexts []identity.ID // nil: all
	RouteID  int64
	Type     string
	After    int64 // Seq
	Limit    int   // 0: all
}

// ScheduleReader reads schedule entries.
type ScheduleReader interface {
	Entry(uuid UUID) (*Entry, error)
	Entries(f EntryFilter) ([]Entry, error) // by Seq
	CountEntries(author identity.ID) (int64, error)
	// UpcomingEntries returns the entries of the contexts that are due before
	// an instant: those that are due first, by Seq.
	UpcomingEntries(contexts []identity.ID, before time.Time, limit int) ([]Entry, error)
	Occurrences(entry UUID, limit int) ([]Occurrence, error) // newest first
}

// ScheduleWriter writes schedule entries.
type ScheduleWriter interface {
	InsertEntry(e *Entry) error  // sets Seq
	UpdateEntry(e *Entry) error  // by UUID
	DeleteEntry(uuid UUID) error // with its given name

	// InsertOccurrence records what became of an instant. The pair (entry,
	// instant) is unique: a second one is errs.NameTaken. Occurrences outlive
	// their entry.
	InsertOccurrence(o *Occurrence) error
	// RedoOccurrence is InsertOccurrence, but in place of one that has no
	// case.
	RedoOccurrence(o *Occurrence) error
}

// Occurrence is what became of one instant of an entry.
type Occurrence struct {
	Entry     UUID
	ContextID identity.ID // of the entry: who may read the row
	Instant   time.Time
	Outcome   string // fired, late, skipped, failed
	Reason    string
	CaseID    int64 // 0: none
	FiredAt   time.Time
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
	Parent    int64     // case of which it is a child, 0: none
	ParentRow int64     // enablement that created it
	Entry     UUID      // of the schedule entry that fired, zero: none; written when it is created
	Waits     bool      // queued until earlier cases of the entry have ended; likewise, and see ReleaseNext
	Named     bool      // somebody gave it a name; a column
	Group     string    // of its route, "" for none
	Busy      bool      // it keeps others of the group from starting
	Retires   time.Time // when its retention is over, zero: never
	Archived  Month     // in which it has ended, 0: it is not archived; Archive writes it
	Marking   []byte    // the core's case
	Form      []byte    // complete form, JSON
	Created   time.Time
	Modified  time.Time
	Access    []identity.ID // whose contexts see it: context, starter, players, stakeholders; ascending
	Tasks     []TaskShare   // who may have tasks in it; nil where that is as it was
	Had       []TaskShare   // who had; nil where that is not known
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

// CaseReader reads cases with their logs and messages.
type CaseReader interface {
	Case(id int64) (*Case, error)       // without Access
	Cases(f CaseFilter) ([]Case, error) // by ID; without Marking and Access
	CaseRevision(id int64) (int64, error)
	OpenCasesOf(entry UUID, limit int) ([]int64, error) // by id

	// Children returns the ids of the children of an enablement that are
	// neither closed nor canceled: the first ones after an id.
	Children(parent, row, after int64, limit int) ([]int64, error)
	// ChildMarkings calls f for the marking of each child of an enablement, by
	// id.
	ChildMarkings(parent, row int64, f func(marking []byte) error) error
	Plan(caseID, row int64) ([]byte, error) // as PutPlan stored it

	// UpcomingCases returns the cases of the contexts of which something is
	// due: those that are due first, as TaskCases does.
	UpcomingCases(contexts []identity.ID, limit int) ([]Case, error)

	CaseSeenBy(id int64, parties []identity.ID) (bool, error)
	CountOpenCases(starter identity.ID) (int64, error)
	CaseLog(id int64) ([]byte, error) // a JSON array of log entries, oldest first
	Message(caseID int64, uuid UUID) (*Message, error)
	MessageByLabel(caseID int64, label string) (*Message, error)
	Messages(caseID int64) ([]Message, error) // in order of creation, without Content

	// DueRows returns what is due at or before upTo, by (due, row), at most
	// limit, and when something else is due next; NextDue the earliest due
	// instant of all. Zero is none.
	DueRows(upTo time.Time, limit int) (rows []DueRow, next time.Time, err error)
	NextDue() (time.Time, error)
}

// DueRow is a schedule entry or case of which something is due, an attachment
// that expires, a case whose retention is over, or a deleted one whose children
// are to go.
type DueRow struct {
	Due        time.Time
	Entry      UUID  // of a schedule entry, else zero
	CaseID     int64 // of a case, else 0
	Attachment UUID  // of an attachment, else zero
	Retired    int64 // of a case whose retention is over, else 0
	Purge      int64 // of a deleted case, else 0
}

// CaseWriter writes cases with their logs and messages.
type CaseWriter interface {
	InsertCase(c *Case) error // errs.NameTaken where the id is in use

	// UpdateCase stores c where the stored revision is still base and it is
	// archived as it was; else it is errs.Precondition and nothing is written.
	// Access and Tasks nil leave them as they are.
	UpdateCase(c *Case, base int64) error

	// AppendLog adds log entries, a JSON array, which begin at seq.
	AppendLog(caseID, seq int64, entries []byte) error

	// ReleaseNext lets the first case of an entry be started if it waits, and
	// reports whether it did.
	ReleaseNext(entry UUID) (bool, error)

	// PutPlan keeps which children an enablement shall have; nil drops it.
	PutPlan(caseID, row int64, plan []byte) error

	// PutMessage creates a message or replaces the one of that case and label.
	PutMessage(m *Message) error
}

// Message is a message of a case. Content is held here while it is small;
// else Blob names the file that holds it.
type Message struct {
	UUID      UUID
	CaseID    int64
	Label     string
	AuthorID  identity.ID // whose quota it counts against
	MediaType string
	Size      int64
	SHA256    Digest
	InFile    bool   // the content is the blob SHA256
	Content   []byte // when not InFile
	Version   int64
	Created   time.Time
	Modified  time.Time
}

// Folder says in which folder of the drive a name was given.
type Folder string

// The folders that keep given names.
const (
	FolderSchedule Folder = "schedule"
	FolderCases    Folder = "cases"
)

// GivenName is a name that a user gave a resource, with the bytes that were
// stored under it.
type GivenName struct {
	Folder   Folder
	Author   identity.ID
	Name     string // compared folded
	Entry    UUID   // in FolderSchedule
	CaseID   int64  // in FolderCases
	Source   []byte
	Size     int64  // of Source, also where it is left out
	ETag     string // of Source
	Modified time.Time
}

// NameReader reads given names.
type NameReader interface {
	GivenName(folder Folder, author identity.ID, name string) (*GivenName, error)
	GivenNameOf(folder Folder, entry UUID, caseID int64) (*GivenName, error)
	// GivenNames returns the names, without Source, of the resources whose
	// entries or cases are given; in no particular order.
	GivenNames(folder Folder, entries []UUID, cases []int64) ([]GivenName, error)
}

// NameWriter writes given names.
type NameWriter interface {
	PutGivenName(n *GivenName) error // by folder, author and folded name
	DeleteGivenName(folder Folder, author identity.ID, name string) error
}

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

// SettingReader reads settings of the whole store.
type SettingReader interface {
	Setting(key string) (string, error) // "" for none
}

// SettingWriter writes settings.
type SettingWriter interface {
	PutSetting(key, value string) error
}
