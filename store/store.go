// Package store is the contract between the use cases and a database: the rows
// that are kept, and the interfaces that read and write them, one file a noun.
//
// A row is what a table holds, decoded; it knows no rule. A package that keeps
// rows (store/sqlite) implements [Store]; a package that needs some takes the
// narrowest of the interfaces. docs/contract/storage.md says what a store must
// guarantee.
package store

import (
	"context"
	"time"

	"flowdrive/internal/errs"
)

// Store keeps everything durably. Nothing above it knows which database it
// is, and no rule rests on there being one process.
//
// Errors are of errs.NotFound if the record asked for does not exist, of
// errs.Unavailable and errs.Full if the database cannot serve, else
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

	// ReturnID takes an id back of which nothing was made and which nobody was told, if no
	// other was given since. Else it stays a gap.
	ReturnID(id int64)

	// PeekID returns what NextID would, and does not give it.
	PeekID() int64

	// Changes returns a number that is another after every commit. It is
	// asked before something is read, and costs nothing.
	Changes() uint64

	// ChangedCases returns the cases that were changed after Changes returned since:
	// inserted, updated, archived or deleted, each once, by id, and perhaps some that
	// were not. all says that this is not known, since that was too long ago.
	ChangedCases(since uint64) (ids []int64, all bool)

	// Figures returns the figures at an instant. It costs a walk through the indexes
	// of what is open: some 0.1 µs a case.
	Figures(ctx context.Context, now time.Time) (*Figures, error)
}

// Reader reads from one snapshot. Slices and byte slices it returns belong to
// the caller.
type Reader interface {
	Parties() PartyReader
	Routes() RouteReader
	Entries() EntryReader
	Cases() CaseReader
	Queue() QueueReader
	Names() NameReader
	Attachments() AttachmentReader
	Documents() DocumentReader
	Scratch() ScratchReader
	Blobs() BlobReader
	History() HistoryReader
	Locks() LockReader
	Outbox() OutboxReader
	Answers() AnswerReader
	Settings() SettingReader
	Troubles() TroubleReader
	Audit() AuditReader
}

// Writer writes within a unit.
type Writer interface {
	Parties() PartyWriter
	Routes() RouteWriter
	Entries() EntryWriter
	Cases() CaseWriter
	Queue() QueueWriter
	Names() NameWriter
	Attachments() AttachmentWriter
	Documents() DocumentWriter
	Scratch() ScratchWriter
	Blobs() BlobWriter
	History() HistoryWriter
	Locks() LockWriter
	Outbox() OutboxWriter
	Answers() AnswerWriter
	Settings() SettingWriter
	Troubles() TroubleWriter
	Audit() AuditWriter

	// Later says that the unit does not ask how what it writes comes out: that a key is
	// in use, or that a row has another revision. Update returns ErrAgain then, and has
	// stored nothing. A store that is far away sends such writes with the commit.
	Later()

	// Settle returns ErrAgain if something that was written later did not come out.
	Settle() error

	// Parts runs functions, each as Savepoint does, and returns their errors when all have
	// run. A store that is far away sends what several of them write later together.
	Parts(fs []func() error) []error
}

// Tx reads and writes within one unit.
type Tx interface {
	Reader
	Write() Writer

	// AfterCommit registers f to run once the unit is durable, in order and
	// before Update returns. f must not block.
	AfterCommit(f func())

	// IfUndone registers f to run once what was written by then is undone: the part
	// fails in which it was registered, or the unit, or the commit. f must not block.
	IfUndone(f func())
}

// ErrAgain says that what a unit wrote later did not come out as it was decided. Code that decides
// again looks for it; a person who meets it is told to try again.
var ErrAgain = errs.New(errs.Unavailable, "Something else was stored at the same moment; try again.")

// OrNil turns errs.NotFound into nil.
func OrNil[T any](found *T, err error) (*T, error) {
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	return found, err
}
