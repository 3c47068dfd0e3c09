package change

import (
	"slices"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Taken is what a MOVE takes its content from, as it was read: a document, or
// a side file.
type Taken struct {
	Document DocumentPath
	Scratch  *store.ScratchPlace // nil: a document
	ID       int64
	Revision int64        // of a document
	Content  store.Digest // of a side file
}

// HasToken reports whether the request submits the lock's token, and is its
// holder's (RFC 4918, section 6.4).
func (req Request) HasToken(l store.Lock) bool {
	return l.HolderID == req.By.ID && slices.Contains(req.Tokens, l.Token)
}

// Request is what every change carries in addition to its document: who makes
// it, when, on what condition, and the key under which its answer is kept.
type Request struct {
	By  identity.Principal
	Now time.Time

	// If is called with the stored version before anything is changed; nil
	// stands for no condition. Its error, an errs.Precondition, is the answer.
	If Condition

	// Tokens are the lock tokens that the request submits, all of them.
	Tokens []store.UUID

	// Takes is what the request takes its content from, to be deleted in the
	// unit of the change: a MOVE does. nil: nothing.
	Takes *Taken

	// MustAct refuses a document that asks for nothing: its client means what it
	// sends.
	MustAct bool

	// DryRun asks for what would result: nothing is stored.
	DryRun bool

	// Key is the idempotency key, nil for none. The answer that Answer makes
	// of the outcome is stored in the transaction of the change.
	Key    *IdempotencyKey
	Answer func(*Outcome) []byte
}

// Condition judges a conditional request against what is stored.
type Condition func(Version) error

// CheckVersion asks the condition, if there is one.
func CheckVersion(c Condition, v Version) error {
	if c == nil {
		return nil
	}
	return c(v)
}

// Version is what is stored under the request's URL. Definition is the part
// of a form's ETag that stays the same while only counters move: an If-Match
// holds for every ETag that begins with it.
type Version struct {
	Exists     bool
	ETag       string // of the bytes that GET of the URL returns, quoted
	Definition string // "" if If-Match is strict
	Modified   time.Time
	Tokens     []store.UUID // of the locks that cover it
}

// IdempotencyKey names a request that may come twice
// (docs/contract/drive.md#idempotency-keys).
type IdempotencyKey struct {
	Key     string
	URL     store.Digest // of method and URL
	Request store.Digest // of the body

	// Longer is how much longer than the answers of other keys its answer is kept.
	Longer time.Duration
}

// Outcome is what a change did.
type Outcome struct {
	Created  bool
	Changed  bool   // false if the change was empty
	Idle     bool   // the document asked for nothing
	Name     string // the identity: 32 hex digits, digits, a route's or party's name
	Form     []byte // complete form afterwards
	FormETag string
	ETag     string // of the bytes that GET of the request's URL now returns; "" if they are not those that were sent
	Modified time.Time
	Report   []byte // a body that says what became of a route's cases; nil: nothing to be told
	Told     []byte // complete form with what is told of this request alone, for who asks for the form; nil: as Form
	Once     []byte // a body that is shown this once: it holds a new secret

	Warnings []string // of a route or an entry: what is allowed and may not be meant

	// Of a performance and of changes to a case:
	CaseID int64
	Life   machine.Life
	Status string
	LogSeq int64
	Action string // the action that was performed; the request may name its type

	// Restarted names the fields of a case that a start document, saved under the name that
	// has started it, has changed: its author may have meant another case.
	Restarted []string

	// Of a dropped file:
	Route   string     // the name of the route
	Message store.UUID // the input message
	Draft   []byte     // the task that asks for what is missing, if the case is a draft; else nil
	Lacks   []string   // of a hook: the XATTRs that the draft lacks
	Retried bool       // its case had failed, and is tried again with it
}

// Ref names a schedule entry or case as a path does: by its identity, or by
// a name that Author gave it. The zero Ref is a resource that does not exist
// and whose name is not kept.
type Ref struct {
	Entry  store.UUID // identity of a schedule entry
	CaseID int64      // identity of a case
	Author identity.ID
	Name   string // with its extension
}

// Identity reports whether the reference is by identity.
func (r Ref) Identity() bool { return r.Entry != store.UUID{} || r.CaseID != 0 }

// Resource is a resource of the drive as it is stored: what a listing, a
// GET and a PROPFIND need.
type Resource struct {
	Name       string        // identity: 32 hex digits, digits, a route's or party's name
	Given      string        // the given name with its extension, "" for none
	Author     identity.Name // who gave it
	AuthorID   identity.ID
	Seq        int64 // order of creation, for paging
	Form       []byte
	FormETag   string
	Definition string // see Version
	Source     []byte // what was PUT under the given name; for a route as stored
	SourceETag string
	SourceSize int64         // if Source was left out
	YAML       bool          // a route whose source is YAML
	Lock       store.LockKey // the key of locks on it, "" if it cannot be locked
	MediaType  string        // of an attachment
	State      string        // of a case: its life
	Status     string        // of a case
	Title      string        // of a task: the title of its case
	Archived   store.Month   // of a case: in which it has ended, 0 for one that is not archived
	Created    time.Time
	Modified   time.Time
	Own        bool // of one of the caller's contexts, or visible without being an administrator
}

// XattrFilter selects cases that have an XATTR with that value, in the words of JSON if
// it is not a string.
type XattrFilter struct{ Key, Value string }

// Filter selects resources of a folder, as the query of .contents does.
type Filter struct {
	Route   string
	State   string
	Status  string
	OnBoard bool   // cases that a board shows: all but canceled ones
	Role    string // cases in which one of my contexts plays it
	Context string // name, id or "mine"
	Parent  int64
	Type    string // of a schedule entry
	Paused  string // schedule entries that are, "true", or are not, "false"; "" for all
	CaseID  int64  // attachments bound to it
	Query   string // part of a title or note
	After   int64  // Seq
	Limit   int    // 0: all
	OwnOnly bool   // what a mounted folder shows

	// Each is told of the resources as they are read, some at a time, and may take from them
	// what is not to be held; nil: nothing is. It returns whether that is enough: no more are
	// read then, and fewer than Limit may be returned. Lists of cases, tasks and
	// schedule entries do so.
	Each func(r *Resource) (enough bool)

	// Of cases.
	Unfinished               bool // that have not ended, or that have failed
	Warnings                 bool // that have warnings
	Xattrs                   []XattrFilter
	CreatedFrom, CreatedTo   string // dates, both included; "" for none
	ModifiedFrom, ModifiedTo string // likewise

	Archived bool        // cases of the archive, instead of those of Cases/
	Month    store.Month // in which they have ended, 0 for any
}

// ErrStale says that what a change was decided on has moved meanwhile.
var ErrStale = errs.New(errs.Unavailable, "The resource changed at the same moment; try again.")
