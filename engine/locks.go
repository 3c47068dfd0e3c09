package engine

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Locks (RFC 4918, sections 6 and 7; docs/contract/drive.md#locks). One is on a
// resource, whatever name it was found under, and keeps other writers of the
// drive from changing it; the engine itself asks for none. Locks are a matter
// of real time, in a sandbox too: they protect what a person is just doing.

func entryKey(uuid store.UUID) store.LockKey {
	return store.LocksOnEntries + store.LockKey(uuid.String())
}

func caseKey(id int64) store.LockKey { return store.LocksOnCases + store.LockKey(fmt.Sprint(id)) }

func routeKey(id int64) store.LockKey { return store.LocksOnRoutes + store.LockKey(fmt.Sprint(id)) }

func taskKey(caseID int64, action string) store.LockKey {
	return store.LocksOnTasksOf(caseID) + store.LockKey(action)
}

func labelKey(caseID int64, label string) store.LockKey {
	return store.LocksOnLabelsOf(caseID) + store.LockKey(label)
}

func timerKey(caseID int64, timer string) store.LockKey {
	return store.LocksOnTimersOf(caseID) + store.LockKey(timer)
}

func rootKey(root identity.ID) store.LockKey {
	return store.LocksOnDocuments + store.LockKey(fmt.Sprintf("%d/", root))
}

func documentKey(root identity.ID, id int64) store.LockKey {
	return rootKey(root) + store.LockKey(fmt.Sprint(id))
}

// maxLock is how long a lock lasts unless it is refreshed.
const maxLock = time.Hour

// DefaultLocks bounds how many locks a user may have.
const DefaultLocks = 1000

// scene is a resource as a change finds it: what it is locked by, and in
// which folders it lies, the nearest first.
type scene struct {
	self    store.LockKey // "" where nothing is there
	folders []store.LockKey
	joins   bool // the change makes, moves or deletes it: a member of the folder comes or goes
}

// covering returns the locks that cover the scene: those on the resource, and
// the deep ones on the folders that it lies in; and where a member comes or
// goes, apart, those that are on nothing but the folder (RFC 4918, section 7.4).
func (s *scene) covering(r store.LockReader, now time.Time) (covers, ofFolder []store.Lock, err error) {
	keys := s.folders
	if s.self != "" {
		keys = append([]store.LockKey{s.self}, keys...)
	}
	if len(keys) == 0 {
		return nil, nil, nil
	}
	all, err := r.On(keys, now)
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
func (e *base) admit(r store.LockReader, req Request, v Version, s scene) error {
	if err := e.judgeAt(r, req, v, s); err != nil {
		return err
	}
	return e.free(r, req, s)
}

// judgeAt judges the condition of a request, which may be about locks.
func (e *base) judgeAt(r store.LockReader, req Request, v Version, s scene) error {
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
func (e *base) free(r store.LockReader, req Request, s scene) error {
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
func on(key store.LockKey) scene { return scene{self: key} }

// passes answers errs.Locked where locks cover something and the request
// submits the token of none of them. Of shared locks any one will do.
func (req Request) passes(covers []store.Lock) error {
	if len(covers) == 0 || slices.ContainsFunc(covers, req.holds) {
		return nil
	}
	return locked(&covers[0])
}

// holds reports whether the request submits the lock's token, and is its
// holder's (RFC 4918, section 6.4).
func (req Request) holds(l store.Lock) bool {
	return l.HolderID == req.By.ID && slices.Contains(req.Tokens, l.Token)
}

func locked(by *store.Lock) error {
	return &errs.Error{
		Kind:   errs.Locked,
		Detail: fmt.Sprintf("%q is locked until %s; wait, or ask who is working on it.", by.Root, by.Expires.UTC().Format(time.RFC3339)),
		Extra:  map[string]any{"href": (&url.URL{Path: by.Root}).EscapedPath()}, // RFC 4918, section 16
	}
}

func tokensOf(locks []store.Lock) []store.UUID {
	out := make([]store.UUID, len(locks))
	for i := range locks {
		out[i] = locks[i].Token
	}
	return out
}

// LocksBelow returns the locks on everything of a kind, for listings of what
// the caller sees.
func (e *Locking) LocksBelow(ctx context.Context, prefix store.LockKey) ([]store.Lock, error) {
	var out []store.Lock
	err := e.store.View(ctx, func(r store.Reader) (err error) {
		out, err = r.Locks().Below(prefix, e.wall())
		return err
	})
	return out, err
}

// OwnLock returns the lock with that token if the caller holds it. A token of
// no lock, or of another user's, is errs.NotFound.
func (e *Locking) OwnLock(ctx context.Context, by identity.Principal, token store.UUID) (*store.Lock, error) {
	var out *store.Lock
	err := e.store.View(ctx, func(r store.Reader) (err error) {
		out, err = r.Locks().ByToken(token, e.wall())
		return err
	})
	if err == nil && out.HolderID != by.ID {
		return nil, absent("lock")
	}
	return out, err
}
