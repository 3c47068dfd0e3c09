package store

import (
	"fmt"
	"time"

	"golang.org/x/text/unicode/norm"

	"flowdrive/internal/identity"
)

// LockKey names a resource that can be locked: its kind, a slash, and its
// identity. Of a document the root comes before it, so that all locks in a
// root are a range of keys.
type LockKey string

// The kinds that lock keys begin with.
const (
	LocksOnEntries   LockKey = "schedule/"
	LocksOnCases     LockKey = "case/"
	LocksOnRoutes    LockKey = "route/"
	LocksOnTasks     LockKey = "task/"
	LocksOnLabels    LockKey = "label/"
	LocksOnTimers    LockKey = "timer/"
	LocksOnDocuments LockKey = "document/"
	LocksOnAttached  LockKey = "attachment/"
	LocksOnHooks     LockKey = "hook/"
	LocksOnAccounts  LockKey = "account/"
	LocksOnSecrets   LockKey = "secret/"
	LocksOnParties   LockKey = "party/"
	LocksOnHolds     LockKey = "hold/"
)

// LocksOnTasksOf begins the keys of the tasks of a case.
func LocksOnTasksOf(caseID int64) LockKey { return LocksOnTasks + LockKey(fmt.Sprintf("%d/", caseID)) }

// LocksOnTimersOf begins the keys of the timers of a case.
func LocksOnTimersOf(caseID int64) LockKey {
	return LocksOnTimers + LockKey(fmt.Sprintf("%d/", caseID))
}

// LocksOnLabelsOf begins the keys of the labels of a case.
func LocksOnLabelsOf(caseID int64) LockKey {
	return LocksOnLabels + LockKey(fmt.Sprintf("%d/", caseID))
}

// LocksOnFilesOf begins the keys of what is attached to a case.
func LocksOnFilesOf(caseID int64) LockKey {
	return LocksOnAttached + LockKey(fmt.Sprintf("%d/", caseID))
}

// Lock is a write lock.
type Lock struct {
	Token    UUID
	On       LockKey
	HolderID identity.ID // who has taken it; no other user can use its token
	Shared   bool
	Deep     bool          // on a folder, with all that is below it
	Owner    string        // what the holder says of itself: an XML fragment, well-formed by itself
	Root     string        // the path that was locked, decoded
	Lasts    time.Duration // from when it was taken or refreshed
	Expires  time.Time
}

// LockReader reads locks. Expired locks are not returned.
type LockReader interface {
	On(keys []LockKey, now time.Time) ([]Lock, error)    // in order of creation
	Below(prefix LockKey, now time.Time) ([]Lock, error) // in order of creation
	ByToken(token UUID, now time.Time) (*Lock, error)
	Count(holder identity.ID, now time.Time) (int64, error)

	// DocumentsBelow returns the documents that are the folder or below it at
	// any depth.
	DocumentsBelow(folder int64, documents []int64) ([]int64, error)
}

// LockWriter writes locks.
type LockWriter interface {
	Insert(l *Lock) error
	Refresh(token UUID, lasts time.Duration, expires time.Time) error
	Delete(token UUID) error           // deletes nothing if there is none
	DeleteOn(key LockKey) error        // all there are, if any
	DeleteOf(holder identity.ID) error // all there are, if any
	DeleteBefore(expired time.Time) error
	Move(from, to LockKey) error // what was locked is known by another key now
}

// LocksOnScratch begins the keys of locks on side files and drafts.
const LocksOnScratch LockKey = "scratch/"

// ScratchKey is the key of the locks on a side file or draft of author.
func ScratchKey(author identity.ID, at ScratchPlace) LockKey {
	return LocksOnScratch + LockKey(fmt.Sprintf("%d%s", author, identity.Fold(norm.NFC.String(at.Path()))))
}

// LocksOnScratchOf begins the keys of locks on a user's side files and drafts.
func LocksOnScratchOf(author identity.ID) LockKey {
	return LocksOnScratch + LockKey(fmt.Sprintf("%d/", author))
}

// EntryKey returns the key of the locks on a schedule entry.
func EntryKey(uuid UUID) LockKey {
	return LocksOnEntries + LockKey(uuid.String())
}

// CaseKey returns the key of the locks on a case.
func CaseKey(id int64) LockKey { return LocksOnCases + LockKey(fmt.Sprint(id)) }

// RouteKey returns the key of the locks on a route.
func RouteKey(id int64) LockKey { return LocksOnRoutes + LockKey(fmt.Sprint(id)) }

// ScenarioKey returns the key of the locks on a scenario, which are among those of
// routes.
func ScenarioKey(id int64) LockKey { return LocksOnRoutes + LockKey(fmt.Sprintf("scenario-%d", id)) }

// TaskKey returns the key of the locks on a task of a case.
func TaskKey(caseID int64, action string) LockKey {
	return LocksOnTasksOf(caseID) + LockKey(action)
}

// LabelKey returns the key of the locks on a label of a case.
func LabelKey(caseID int64, label string) LockKey {
	return LocksOnLabelsOf(caseID) + LockKey(label)
}

// TimerKey returns the key of the locks on a timer of a case.
func TimerKey(caseID int64, timer string) LockKey {
	return LocksOnTimersOf(caseID) + LockKey(timer)
}

// AttachmentKey returns the key of the locks on what is attached to a case.
func AttachmentKey(caseID int64, uuid UUID) LockKey {
	return LocksOnFilesOf(caseID) + LockKey(uuid.String())
}

// HookKey returns the key of the locks on a hook.
func HookKey(id int64) LockKey { return LocksOnHooks + LockKey(fmt.Sprint(id)) }

// AccountKey returns the key of the locks on what a user says of themselves.
func AccountKey(user identity.ID) LockKey { return LocksOnAccounts + LockKey(fmt.Sprint(user)) }

// SecretKey returns the key of the locks on an app password or calendar link.
func SecretKey(kind SecretKind, id int64) LockKey {
	return LocksOnSecrets + LockKey(fmt.Sprintf("%s-%d", kind, id))
}

// PartyKey returns the key of the locks on a user or team, as administrators have it.
func PartyKey(id identity.ID) LockKey { return LocksOnParties + LockKey(fmt.Sprint(id)) }

// HoldKey returns the key of the locks on a hold.
func HoldKey(id int64) LockKey { return LocksOnHolds + LockKey(fmt.Sprint(id)) }

// RootKey begins the keys of the locks on what lies below the root of a context.
func RootKey(root identity.ID) LockKey {
	return LocksOnDocuments + LockKey(fmt.Sprintf("%d/", root))
}

// DocumentKey returns the key of the locks on a document or folder below a root.
func DocumentKey(root identity.ID, id int64) LockKey {
	return RootKey(root) + LockKey(fmt.Sprint(id))
}
