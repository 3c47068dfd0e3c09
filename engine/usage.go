package engine

import (
	"sync"

	"flowdrive/errs"
	"flowdrive/identity"
)

// usage counts what each user has, so that the limits of the contract cost
// no query: a count is read once and kept in step by the commits. On several
// nodes it is an estimate, which is enough for a limit.
type usage struct {
	mu     sync.Mutex
	counts map[usageKey]int64
}

type usageKey struct {
	what string
	user identity.ID
}

const (
	usedEntries   = "schedule entries"
	usedOpenCases = "open cases"
)

// check answers errs.TooMany where the user has as many as the limit. count
// is asked once per user and kind.
func (u *usage) check(what string, user identity.ID, limit int64, count func(identity.ID) (int64, error)) error {
	key := usageKey{what, user}
	u.mu.Lock()
	n, known := u.counts[key]
	u.mu.Unlock()
	if !known {
		var err error
		if n, err = count(user); err != nil {
			return err
		}
		u.mu.Lock()
		if u.counts == nil {
			u.counts = map[usageKey]int64{}
		}
		if since, raced := u.counts[key]; raced {
			n = since
		} else {
			u.counts[key] = n
		}
		u.mu.Unlock()
	}
	return withinLimit(what, n, limit)
}

// withinLimit answers errs.TooMany where somebody has as many as the limit.
func withinLimit(what string, n, limit int64) error {
	if n >= limit {
		return errs.New(errs.TooMany, "You have %d %s already, and the limit is %d; delete some first or ask an administrator.", n, what, limit)
	}
	return nil
}

// add changes a count that is known; an unknown one will be read when it is
// asked for.
func (u *usage) add(what string, user identity.ID, n int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	key := usageKey{what, user}
	if _, known := u.counts[key]; known {
		u.counts[key] += n
	}
}
