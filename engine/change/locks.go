package change

import (
	"fmt"
	"net/url"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

// Locks (RFC 4918, sections 6 and 7; docs/contract/drive.md#locks). A lock is
// on a resource, under all its names. It keeps other writers of the drive from
// changing the resource; the engine itself takes none. Locks are a matter of
// real time, in a sandbox too: they protect the work of a person.

// MaxLock is how long a lock lasts unless it is refreshed.
const MaxLock = time.Hour

// DefaultLocks bounds how many locks a user may have.
const DefaultLocks = 1000

// LockScope says which locks concern a change: those on a resource, and those on
// the folders that it lies in, the nearest first.
type LockScope struct {
	Self    store.LockKey // "" if nothing is there
	Folders []store.LockKey
	Joins   bool // the change makes, moves or deletes it: a member of the folder comes or goes
}

// Covering returns the locks that cover the scene: those on the resource, and
// the deep ones on the folders that it is in. If a member comes or goes,
// ofFolder has the locks that are on the folder alone (RFC 4918, section 7.4).
func (s *LockScope) Covering(r store.LockReader, now time.Time) (covers, ofFolder []store.Lock, err error) {
	keys := s.Folders
	if s.Self != "" {
		keys = append([]store.LockKey{s.Self}, keys...)
	}
	if len(keys) == 0 {
		return nil, nil, nil
	}
	all, err := r.On(keys, now)
	for _, l := range all {
		switch {
		case l.On == s.Self || l.Deep:
			covers = append(covers, l)
		case s.Joins && len(s.Folders) > 0 && l.On == s.Folders[0]:
			ofFolder = append(ofFolder, l)
		}
	}
	return covers, ofFolder, err
}

// ScopeOf is the scene of a resource that lies in no folder that can be locked.
func ScopeOf(key store.LockKey) LockScope { return LockScope{Self: key} }

// Locked returns the errs.Locked of something that by covers.
func Locked(by *store.Lock) error {
	return &errs.Error{
		Kind:   errs.Locked,
		Detail: fmt.Sprintf("%q is locked until %s; wait, or ask who is working on it.", by.Root, by.Expires.UTC().Format(time.RFC3339)),
		Extra:  map[string]any{"href": (&url.URL{Path: by.Root}).EscapedPath()}, // RFC 4918, section 16
	}
}

// TokensOf returns the tokens of the locks.
func TokensOf(locks []store.Lock) []store.UUID {
	out := make([]store.UUID, len(locks))
	for i := range locks {
		out[i] = locks[i].Token
	}
	return out
}
