package engine

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// Locks (RFC 4918, sections 6 and 7; docs/contract/drive.md#locks). One is on a
// resource, whatever name it was found under, and keeps other writers of the
// drive from changing it; the engine itself asks for none. Locks are a matter
// of real time, in a sandbox too: they protect what a person is just doing.

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
)

func entryKey(uuid UUID) LockKey { return LocksOnEntries + LockKey(uuid.String()) }

func caseKey(id int64) LockKey { return LocksOnCases + LockKey(fmt.Sprint(id)) }

func routeKey(id int64) LockKey { return LocksOnRoutes + LockKey(fmt.Sprint(id)) }

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

func taskKey(caseID int64, action string) LockKey { return LocksOnTasksOf(caseID) + LockKey(action) }

func labelKey(caseID int64, label string) LockKey { return LocksOnLabelsOf(caseID) + LockKey(label) }

func timerKey(caseID int64, timer string) LockKey { return LocksOnTimersOf(caseID) + LockKey(timer) }

func rootKey(root identity.ID) LockKey {
	return LocksOnDocuments + LockKey(fmt.Sprintf("%d/", root))
}

func documentKey(root identity.ID, id int64) LockKey {
	return rootKey(root) + LockKey(fmt.Sprint(id))
}

// Lock is a write lock.
type Lock struct {
	Token    UUID
	On       LockKey
	HolderID identity.ID // who has taken it: nobody else can use its token
	Shared   bool
	Deep     bool          // on a folder, with all that is below it
	Owner    string        // what the holder says of itself: an XML fragment, well-formed by itself
	Root     string        // the path that was locked, decoded
	Lasts    time.Duration // from when it was taken or refreshed
	Expires  time.Time
}

// LockReader reads locks. Those that have expired by now are none.
type LockReader interface {
	LocksOn(keys []LockKey, now time.Time) ([]Lock, error)    // in order of creation
	LocksBelow(prefix LockKey, now time.Time) ([]Lock, error) // in order of creation
	LockByToken(token UUID, now time.Time) (*Lock, error)
	CountLocks(holder identity.ID, now time.Time) (int64, error)

	// DocumentsBelow returns those of the documents that are below the folder
	// at any depth, or are it.
	DocumentsBelow(folder int64, documents []int64) ([]int64, error)
}

// LockWriter writes locks.
type LockWriter interface {
	InsertLock(l *Lock) error
	RefreshLock(token UUID, lasts time.Duration, expires time.Time) error
	DeleteLock(token UUID) error            // deletes nothing where there is none
	DeleteLocksOn(key LockKey) error        // all there are, if any
	DeleteLocksOf(holder identity.ID) error // all there are, if any
	DeleteLocksBefore(expired time.Time) error
	MoveLocks(from, to LockKey) error // what was locked is known by another key now
}

// maxLock is how long a lock lasts unless it is refreshed.
const maxLock = time.Hour

// DefaultLocks bounds how many locks a user may have.
const DefaultLocks = 1000

// scene is a resource as a change finds it: what it is locked by, and in
// which folders it lies, the nearest first.
type scene struct {
	self    LockKey // "" where nothing is there
	folders []LockKey
	joins   bool // the change makes, moves or deletes it: a member of the folder comes or goes
}

// covering returns the locks that cover the scene: those on the resource, and
// the deep ones on the folders that it lies in; and where a member comes or
// goes, apart, those that are on nothing but the folder (RFC 4918, section 7.4).
func (s *scene) covering(r LockReader, now time.Time) (covers, ofFolder []Lock, err error) {
	keys := s.folders
	if s.self != "" {
		keys = append([]LockKey{s.self}, keys...)
	}
	if len(keys) == 0 {
		return nil, nil, nil
	}
	all, err := r.LocksOn(keys, now)
	for _, l := range all {
		switch {
		case l.On == s.self || l.Deep:
			covers = append(covers, l)
		case s.joins && len(s.folders) > 0 && l.On == s.folders[0]:
			ofFolder = append(ofFolder, l)
		}
	}
	return covers, ofFolder, err
}

// admit judges a change: the condition of its request, 412, and then the
// locks, 423 (docs/contract/drive.md#order-of-checks). Every use case that a
// WebDAV method leads to asks it in the unit of the change.
func (e *Engine) admit(r LockReader, req Request, v Version, s scene) error {
	if err := e.judgeAt(r, req, v, s); err != nil {
		return err
	}
	return e.free(r, req, s)
}

// judgeAt judges the condition of a request, which may be about locks.
func (e *Engine) judgeAt(r LockReader, req Request, v Version, s scene) error {
	if req.If == nil {
		return nil
	}
	covers, _, err := s.covering(r, e.wall())
	if err != nil {
		return err
	}
	v.Tokens = tokensOf(covers)
	return req.If(v)
}

// free answers errs.Locked where the scene is locked for the request. What was
// decided outside of the unit of a change asks it again inside: meanwhile
// somebody may have been given a lock.
func (e *Engine) free(r LockReader, req Request, s scene) error {
	covers, ofFolder, err := s.covering(r, e.wall())
	if err != nil {
		return err
	}
	if err := req.passes(covers); err != nil {
		return err
	}
	return req.passes(ofFolder)
}

// on is the scene of a resource that lies in no folder that can be locked.
func on(key LockKey) scene { return scene{self: key} }

// passes answers errs.Locked where locks cover something and the request
// submits the token of none of them. Of shared locks any one will do.
func (req Request) passes(covers []Lock) error {
	if len(covers) == 0 || slices.ContainsFunc(covers, req.holds) {
		return nil
	}
	return locked(&covers[0])
}

// holds reports whether the request submits the lock's token, and is its
// holder's (RFC 4918, section 6.4).
func (req Request) holds(l Lock) bool {
	return l.HolderID == req.By.ID && slices.Contains(req.Tokens, l.Token)
}

func locked(by *Lock) error {
	return &errs.Error{
		Kind:   errs.Locked,
		Detail: fmt.Sprintf("%q is locked until %s; wait, or ask who is working on it.", by.Root, by.Expires.UTC().Format(time.RFC3339)),
		Extra:  map[string]any{"href": (&url.URL{Path: by.Root}).EscapedPath()}, // RFC 4918, section 16
	}
}

func tokensOf(locks []Lock) []UUID {
	out := make([]UUID, len(locks))
	for i := range locks {
		out[i] = locks[i].Token
	}
	return out
}

// LocksBelow returns the locks on everything of a kind, for listings of what
// the caller sees.
func (e *Engine) LocksBelow(ctx context.Context, prefix LockKey) ([]Lock, error) {
	var out []Lock
	err := e.store.View(ctx, func(r Reader) (err error) {
		out, err = r.LocksBelow(prefix, e.wall())
		return err
	})
	return out, err
}
