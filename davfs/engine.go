package davfs

import (
	"context"
	"io"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/contents"
	"flowdrive/engine/files"
	"flowdrive/engine/scratch"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Engine is what the drive needs of the use cases, noun by noun. Every
// method judges the caller's rights itself: what the caller may not see is
// errs.NotFound.
type Engine struct {
	Schedules   Schedules
	Cases       Cases
	Archive     Archive
	Actions     Actions
	Worklists   Worklists
	Timers      Timers
	Routes      Routes
	Scenarios   Scenarios
	Parties     Parties
	Holds       Holds
	Hooks       Hooks
	Attachments Attachments
	Drops       Drops
	Accounts    Accounts
	Calendars   Calendars
	Status      Status
	Pictures    Pictures
	Audit       AuditLog
	Letters     Letters
	Server      Server
	Documents   Documents
	Versions    Versions
	Scratch     ScratchArea
	Histories   Histories
	Locks       Locks
	Changes     Changes
}

// EngineOf returns all of it as one engine has it.
func EngineOf(e *engine.Engine) Engine {
	return Engine{
		Schedules:   e.Schedules,
		Cases:       e.Cases,
		Archive:     e.Archive,
		Actions:     e.Cases,
		Worklists:   e.Worklists,
		Timers:      e.Cases,
		Routes:      e.Routes,
		Scenarios:   e.Scenarios,
		Parties:     e.Accounts,
		Holds:       e.Holds,
		Hooks:       e.Hooks,
		Attachments: e.Attachments,
		Drops:       e.Drops,
		Accounts:    e.Accounts,
		Calendars:   e.Calendars,
		Status:      e.Status,
		Pictures:    e.Pictures,
		Audit:       e,
		Letters:     e.Letters,
		Server:      e.Server,
		Documents:   e.Files,
		Versions:    e.Files,
		Scratch:     e.Scratch,
		Histories:   e.History,
		Locks:       e.Locks,
		Changes:     e,
	}
}

// Changes are what all requests share.
type Changes interface {
	// ChangeTag is an entity tag, quoted, of everything that is stored.
	ChangeTag() string

	// Replay returns the first answer to a request with that key; nil if there
	// was none. The same key with another URL or body is
	// errs.IdempotencyMismatch.
	Replay(ctx context.Context, by identity.Principal, key engine.IdempotencyKey) ([]byte, error)
}

// Schedules are the schedule entries (docs/contract/schedule.md).
type Schedules interface {
	Entry(ctx context.Context, by identity.Principal, ref engine.Ref) (*engine.Resource, error)
	Entries(ctx context.Context, by identity.Principal, f engine.Filter) ([]engine.Resource, error)
	Occurrences(ctx context.Context, by identity.Principal, uuid store.UUID) (*engine.Resource, error) // Form is the JSON array
	PutEntry(ctx context.Context, req engine.Request, ref engine.Ref, body []byte) (*engine.Outcome, error)
	DeleteEntry(ctx context.Context, req engine.Request, ref engine.Ref) error
	RenameEntry(ctx context.Context, req engine.Request, ref engine.Ref, name string, overwrite bool) (*engine.Outcome, error)
}

// Cases are the cases with their logs and messages.
type Cases interface {
	ZoneOf(by identity.Principal) (zone *time.Location, own bool) // of what the user reads
	Case(ctx context.Context, by identity.Principal, ref engine.Ref) (*engine.Resource, error)
	Cases(ctx context.Context, by identity.Principal, f engine.Filter) ([]engine.Resource, error)
	PutCase(ctx context.Context, req engine.Request, ref engine.Ref, body []byte) (*engine.Outcome, error)
	PatchXattrs(ctx context.Context, req engine.Request, ref engine.Ref, changes []engine.XattrChange) error
	MoveOnBoard(ctx context.Context, req engine.Request, move engine.BoardMove) (*engine.Outcome, error)
	RenameCase(ctx context.Context, req engine.Request, ref engine.Ref, name string, overwrite bool) (*engine.Outcome, error)
	CaseLog(ctx context.Context, by identity.Principal, id int64, room engine.LogRoom) (*engine.Resource, error)     // Form is log.json
	CaseLogText(ctx context.Context, by identity.Principal, id int64, room engine.LogRoom) (*engine.Resource, error) // Form is log.txt
	Messages(ctx context.Context, by identity.Principal, id int64) ([]store.Message, error)
	Outbox(ctx context.Context, by identity.Principal, id int64) ([]engine.Resource, error)
	Delivery(ctx context.Context, by identity.Principal, id int64, name string) (*engine.Resource, error)

	// Message opens a message by its UUID, or by its label if that is not
	// "": engine.OwnInput and its like are the case's own.
	Message(ctx context.Context, by identity.Principal, id int64, uuid store.UUID, label string) (*engine.Content, error)
	PutLabel(ctx context.Context, req engine.Request, id int64, given engine.NewMessage) (*engine.Outcome, error)
	Remark(ctx context.Context, req engine.Request, id int64, text string) (*engine.Outcome, error)
	Board(ctx context.Context, by identity.Principal, route string) ([]engine.BoardState, error)
	BoardState(ctx context.Context, by identity.Principal, route, state string) (string, error)
}

// Archive ends cases, and lists the months of those that have ended.
type Archive interface {
	DeleteCase(ctx context.Context, req engine.Request, ref engine.Ref) error
	// PurgeCase deletes a case of the archive that has ended in that month.
	PurgeCase(ctx context.Context, req engine.Request, month store.Month, id int64) error
	ArchiveMonths(ctx context.Context, by identity.Principal, own bool) ([]store.Month, error) // in order
}

// Actions are the enabled actions of cases.
type Actions interface {
	Tasks(ctx context.Context, by identity.Principal, id int64) ([]engine.Resource, error) // Name is the action's
	Task(ctx context.Context, by identity.Principal, id int64, action string) (*engine.Resource, error)
	Perform(ctx context.Context, req engine.Request, id int64, action string, body []byte) (*engine.Outcome, error)
}

// Worklists are the lists of tasks, across cases.
type Worklists interface {
	Worklist(ctx context.Context, by identity.Principal, list engine.Worklist, f engine.Filter) ([]engine.Resource, error) // Name is the case's id, a dot, the action's name
	HeadedTeams(by identity.Principal) []string                                                                            // of which by is an administrator, in order
	// MoveTask moves a task from a worklist to another, which accepts or
	// releases it; else it is errs.NotMovable.
	MoveTask(ctx context.Context, req engine.Request, move engine.TaskMove) (*engine.Outcome, error)
	WorklistTask(ctx context.Context, by identity.Principal, list engine.Worklist, id int64, action string) (*engine.Resource, error)
}

// Timers are the timers of a case and its tasks.
type Timers interface {
	Timers(ctx context.Context, by identity.Principal, id int64) ([]engine.Resource, error) // Name is the timer's
	Timer(ctx context.Context, by identity.Principal, id int64, name string) (*engine.Resource, error)
	MaySetTimer(ctx context.Context, by identity.Principal, id int64, name string) error
	PutTimer(ctx context.Context, req engine.Request, id int64, name string, body []byte) (*engine.Outcome, error)
}

// Routes are the definitions.
type Routes interface {
	Route(ctx context.Context, by identity.Principal, name string) (*engine.Resource, error)
	Routes(ctx context.Context, by identity.Principal, f engine.Filter) ([]engine.Resource, error)
	RouteVersions(ctx context.Context, by identity.Principal, name string) ([]engine.Resource, error) // Name is the number
	RouteVersion(ctx context.Context, by identity.Principal, name string, version int64) (*engine.Resource, error)
	PutRoute(ctx context.Context, req engine.Request, name string, yaml bool, body []byte) (*engine.Outcome, error)
	MigrateRoute(ctx context.Context, req engine.Request, name string, yaml bool, body []byte) (*engine.Outcome, error)
	DeleteRoute(ctx context.Context, req engine.Request, name string, force bool) error
	RenameRoute(ctx context.Context, req engine.Request, name, newName string) (*engine.Outcome, error)
}

// Scenarios are the stories beside routes, each by the name of its route.
type Scenarios interface {
	Scenario(ctx context.Context, by identity.Principal, route string) (*engine.Resource, error)
	Scenarios(ctx context.Context, by identity.Principal) ([]engine.Resource, error)
	PutScenario(ctx context.Context, req engine.Request, route string, yaml bool, body []byte) (*engine.Outcome, error)
	KeepScenario(ctx context.Context, req engine.Request, route string, yaml bool, body []byte) (*engine.Outcome, error)
	DeleteScenario(ctx context.Context, req engine.Request, route string) error
	MoveScenario(ctx context.Context, req engine.Request, route, to string, overwrite bool) (*engine.Outcome, error)
}

// Drops are the files dropped into the folders of routes, and the boards
// beside them.
type Drops interface {
	MayDrop(ctx context.Context, by identity.Principal, route string) error
	Drop(ctx context.Context, req engine.Request, d engine.Drop, up contents.Upload) (*engine.Outcome, error)
	Alias(ctx context.Context, by identity.Principal, route, name string) (*store.Alias, error)
	Aliases(ctx context.Context, by identity.Principal, route string) ([]store.Alias, error)
	OpenAlias(ctx context.Context, by identity.Principal, route, name string) (*engine.Content, error)
	DeleteAlias(ctx context.Context, req engine.Request, route, name string) error
}

// Parties are the users and teams, for administrators.
type Parties interface {
	Party(ctx context.Context, by identity.Principal, kind identity.Kind, name string) (*engine.Resource, error)
	Parties(ctx context.Context, by identity.Principal, kind identity.Kind) ([]engine.Resource, error)
	PutParty(ctx context.Context, req engine.Request, kind identity.Kind, name string, body []byte) (*engine.Outcome, error)
	DeleteParty(ctx context.Context, req engine.Request, kind identity.Kind, name, handOver string) error
	ErasePerson(ctx context.Context, req engine.Request, name, handOver string) error
	RenameParty(ctx context.Context, req engine.Request, kind identity.Kind, name, newName string) (*engine.Outcome, error)

	// PartyID returns the id of the user or team of that name, 0 for none.
	PartyID(name string) identity.ID
}

// Hooks are the hooks of a route, for those who administer it.
type Hooks interface {
	Hooks(ctx context.Context, by identity.Principal, route string) ([]engine.Resource, error)
	Hook(ctx context.Context, by identity.Principal, route, name string) (*engine.Resource, error)
	PutHook(ctx context.Context, req engine.Request, route, name string, body []byte) (*engine.Outcome, error)
	DeleteHook(ctx context.Context, req engine.Request, route, name string) error
}

// Holds are the holds, for administrators.
type Holds interface {
	Hold(ctx context.Context, by identity.Principal, name string) (*engine.Resource, error)
	Holds(ctx context.Context, by identity.Principal) ([]engine.Resource, error)
	PutHold(ctx context.Context, req engine.Request, name string, body []byte) (*engine.Outcome, error)
	DeleteHold(ctx context.Context, req engine.Request, name string) error
}

// Attachments are the files of /attachfs/
// (docs/contract/labels-attachments.md#4-attachfs).
type Attachments interface {
	Attachment(ctx context.Context, by identity.Principal, uuid store.UUID) (*store.Attachment, error)
	OpenAttachment(ctx context.Context, by identity.Principal, uuid store.UUID) (*engine.OpenAttachment, error)
	Attachments(ctx context.Context, by identity.Principal, f engine.Filter) ([]engine.Resource, error) // Name is the UUID, Given the name
	PutAttachment(ctx context.Context, req engine.Request, given engine.NewAttachment, body io.Reader) (*engine.Outcome, error)
	DeleteAttachment(ctx context.Context, req engine.Request, uuid store.UUID) error
	CaseFiles(ctx context.Context, by identity.Principal, id int64) (engine.CaseFiles, error)
	RenameCaseFile(ctx context.Context, req engine.Request, f engine.CaseFileRename) (*engine.Outcome, error)
}

// Accounts are what users know and change of themselves.
type Accounts interface {
	Me(ctx context.Context, by identity.Principal) (*engine.Resource, error)
	PutMe(ctx context.Context, req engine.Request, body []byte) (*engine.Outcome, error)
	People(ctx context.Context, by identity.Principal) (*engine.Resource, error)

	Secrets(ctx context.Context, by identity.Principal, kind store.SecretKind) ([]engine.Resource, error) // Name is the label
	Secret(ctx context.Context, by identity.Principal, kind store.SecretKind, label string) (*engine.Resource, error)
	PutSecret(ctx context.Context, req engine.Request, kind store.SecretKind, label string, body []byte) (*engine.Outcome, error)
	DeleteSecret(ctx context.Context, req engine.Request, kind store.SecretKind, label string) error

	// With all these are the sessions of all users, for administrators, otherwise the
	// caller's. The name is the session's id.
	SessionFiles(ctx context.Context, by identity.Principal, all bool) ([]engine.Resource, error)
	SessionFile(ctx context.Context, by identity.Principal, all bool, name string) (*engine.Resource, error)
	DeleteSession(ctx context.Context, req engine.Request, all bool, name string) error
}

// Calendars are what is to come for a user.
type Calendars interface {
	Upcoming(ctx context.Context, by identity.Principal) (*engine.Resource, error) // Form is the iCalendar object
}

// Status are the files that tell where entries and cases are, and what comes next.
// Listings have at most engine.MostStatusFiles.
type Status interface {
	Entry(ctx context.Context, by identity.Principal, refs []engine.Ref) (*engine.StatusFile, error) // of the first that there is
	Entries(ctx context.Context, by identity.Principal) ([]engine.StatusFile, error)
	Case(ctx context.Context, by identity.Principal, id int64) (*engine.StatusFile, error)
	Cases(ctx context.Context, by identity.Principal) ([]engine.StatusFile, error)
	Page(ctx context.Context, by identity.Principal, name string) (*engine.StatusFile, error) // engine.StatusOverview and its like
}

// Server says how the server is.
type Server interface {
	Status(ctx context.Context, by identity.Principal) (*engine.Resource, error)
	Usage(ctx context.Context, by identity.Principal, text bool) (*engine.Resource, error)
	Nodes(ctx context.Context, by identity.Principal) ([]engine.Resource, error)
	Node(ctx context.Context, by identity.Principal, name string) (*engine.Resource, error)
}

// Letters are the mails that a sandbox would have sent.
type Letters interface {
	Kept() bool // false: this is not a sandbox
	Letters(ctx context.Context, by identity.Principal) ([]engine.Resource, error)
	Letter(ctx context.Context, by identity.Principal, name string) (*engine.Resource, error)
	DeleteLetter(ctx context.Context, req engine.Request, name string) error
}

// AuditLog is what administrators read of what was done and refused.
type AuditLog interface {
	AuditDays(ctx context.Context, by identity.Principal) ([]engine.Resource, error) // Name is the date
	AuditDay(ctx context.Context, by identity.Principal, date string) (*engine.Resource, io.ReadSeekCloser, error)
}

// Documents are the trees of files below Documents/
// (docs/contract/labels-attachments.md#5-documents).
type Documents interface {
	Document(ctx context.Context, by identity.Principal, path engine.DocumentPath) (*store.Document, error)
	// OpenFound opens the document that Document has found at the path.
	OpenFound(ctx context.Context, by identity.Principal, path engine.DocumentPath, found *store.Document) (*files.OpenDocument, error)
	DocumentRoots(ctx context.Context, by identity.Principal, own bool) ([]store.Document, error)
	DocumentListing(ctx context.Context, by identity.Principal, path engine.DocumentPath, o store.Under) (*files.Listing, error)
	Documents(ctx context.Context, by identity.Principal, path engine.DocumentPath, f engine.Filter) ([]engine.Resource, error)
	PutDocument(ctx context.Context, req engine.Request, path engine.DocumentPath, up contents.Upload) (*engine.Outcome, error)
	MakeFolder(ctx context.Context, req engine.Request, path engine.DocumentPath) (*engine.Outcome, error)
	DeleteDocument(ctx context.Context, req engine.Request, path engine.DocumentPath) error
	CopyDocument(ctx context.Context, req engine.Request, from, to engine.DocumentPath, t files.Transfer) (*engine.Outcome, error)
	MoveDocument(ctx context.Context, req engine.Request, from, to engine.DocumentPath, t files.Transfer) (*engine.Outcome, error)
	MayTake(ctx context.Context, req engine.Request, path engine.DocumentPath) (*engine.Taken, error)

	// KeepUnsaved keeps what a PUT was refused.
	KeepUnsaved(ctx context.Context, req engine.Request, path engine.DocumentPath, u files.Unsaved) error

	// PatchDocument sets properties, and removes those without XML. Where it
	// is one of them that fails, failed is its index.
	PatchDocument(ctx context.Context, req engine.Request, path engine.DocumentPath, p files.Patch) (failed int, err error)

	// Quota returns how much by has stored and may still store, anywhere.
	Quota(ctx context.Context, by identity.Principal) (engine.Quota, error)
}

// Versions are what was overwritten and deleted in Documents/, by paths through
// .history/ of a folder.
type Versions interface {
	HasVersions(ctx context.Context, by identity.Principal, folder engine.DocumentPath) (bool, error)
	Version(ctx context.Context, by identity.Principal, path files.VersionPath) (*files.VersionSpot, error)
	VersionsBelow(ctx context.Context, by identity.Principal, path files.VersionPath) (*files.VersionListing, error)
	VersionPage(ctx context.Context, by identity.Principal, path files.VersionPath, f engine.Filter) ([]engine.Resource, error)
	OpenVersion(ctx context.Context, by identity.Principal, path files.VersionPath) (*files.OpenDocument, error)
	DeleteVersion(ctx context.Context, req engine.Request, path files.VersionPath) error
	RestoreVersion(ctx context.Context, req engine.Request, from files.VersionPath, to engine.DocumentPath, t files.Transfer) (*engine.Outcome, error)
}

// ScratchArea is what callers keep beside the documents of the workflow, each
// for themselves (docs/contract/drive.md#side-files). now, and the time of
// requests, are the machine's.
type ScratchArea interface {
	Get(ctx context.Context, by identity.Principal, now time.Time, at store.ScratchPlace) (*store.Scratch, error)
	Open(ctx context.Context, by identity.Principal, now time.Time, at store.ScratchPlace) (*scratch.Opened, error)
	In(ctx context.Context, by identity.Principal, now time.Time, folders ...string) ([]store.Scratch, error)
	Put(ctx context.Context, req engine.Request, at store.ScratchPlace, up contents.Upload) (*engine.Outcome, error)
	PutSecret(ctx context.Context, req engine.Request, at store.ScratchPlace, up contents.Upload) (*engine.Outcome, error)
	MakeFolder(ctx context.Context, req engine.Request, at store.ScratchPlace) (*engine.Outcome, error)
	Delete(ctx context.Context, req engine.Request, at store.ScratchPlace) error
	MakeDraft(ctx context.Context, req engine.Request, at store.ScratchPlace) (created bool, err error)
	Reject(ctx context.Context, req engine.Request, r scratch.Refusal) error
	NoteIdle(ctx context.Context, req engine.Request, at store.ScratchPlace, text string) error
	KeepAnswer(ctx context.Context, req engine.Request, a scratch.KeptAnswer) error
	FindAnswer(ctx context.Context, by identity.Principal, now time.Time, kind scratch.KeptKind, at store.ScratchPlace) ([]byte, error)
	DropAnswer(ctx context.Context, by identity.Principal, kind scratch.KeptKind, at store.ScratchPlace) error
	Move(ctx context.Context, req engine.Request, from, to store.ScratchPlace, overwrite bool) (*engine.Outcome, error)
	MayTake(ctx context.Context, req engine.Request, at store.ScratchPlace) (*engine.Taken, error)
}

// Locks are the write locks (docs/contract/drive.md#locks).
type Locks interface {
	Lock(ctx context.Context, req engine.Request, t engine.Target, want engine.NewLock) (lock *store.Lock, created bool, err error)
	RefreshLock(ctx context.Context, req engine.Request, t engine.Target, lifetime time.Duration) (*store.Lock, error)
	Unlock(ctx context.Context, req engine.Request, t engine.Target, token store.UUID) error
	BreakLocks(ctx context.Context, req engine.Request, t engine.Target) error
	LocksCovering(ctx context.Context, by identity.Principal, t engine.Target) ([]store.Lock, error)
	OwnLock(ctx context.Context, by identity.Principal, token store.UUID) (*store.Lock, error)
	LocksBelow(ctx context.Context, prefix store.LockKey) ([]store.Lock, error)
	Locked(by identity.Principal, l *store.Lock) error                                                       // what one is answered whom a lock keeps out
	EndDraft(ctx context.Context, by identity.Principal, at store.ScratchPlace, became *engine.Target) error // nil: nothing
}

// Histories are the source documents that were overwritten and deleted.
type Histories interface {
	History(ctx context.Context, by identity.Principal, folder store.Folder) ([]engine.Resource, error) // Seq is the id, Name the file's
	HasHistory(ctx context.Context, by identity.Principal, folder store.Folder) (bool, error)
	Past(ctx context.Context, by identity.Principal, folder store.Folder, id int64) (*engine.Resource, error)
}

// Clock says what time it is on the drive: the machine's or the sandbox's.
type Clock interface{ Now() time.Time }
