package sqlite

import (
	"strings"
	"sync/atomic"

	"flowdrive/engine"
)

// lockedKeys are the keys that locks are on, kept in memory while they are
// few: every change asks whether what it changes is locked, and hardly ever
// is it. There may be more keys than locks, as of those that have expired,
// never fewer. While a unit changes locks nothing is known, and the database
// is asked.
type lockedKeys struct {
	known atomic.Pointer[map[engine.LockKey]struct{}] // nil: nothing is known
	moved bool                                        // the writer's own
}

// fewLocks is of up to how many locks the keys are kept in memory.
const fewLocks = 256

const selectLockedKeys = `SELECT target FROM locks LIMIT ?1`

// none reports whether certainly none of the keys is locked.
func (l *lockedKeys) none(keys []engine.LockKey) bool {
	known := l.known.Load()
	if known == nil {
		return false
	}
	for _, key := range keys {
		if _, locked := (*known)[key]; locked {
			return false
		}
	}
	return true
}

// noneBelow reports the same of all keys that begin with the prefix.
func (l *lockedKeys) noneBelow(prefix engine.LockKey) bool {
	known := l.known.Load()
	if known == nil {
		return false
	}
	for key := range *known {
		if strings.HasPrefix(string(key), string(prefix)) {
			return false
		}
	}
	return true
}

// move says that the writer is about to change locks.
func (l *lockedKeys) move() {
	l.known.Store(nil)
	l.moved = true
}

// settle finds out what is locked after a transaction that changed locks,
// whatever became of it. Where that fails the database is asked each time,
// until locks change again.
func (l *lockedKeys) settle(c *conn) {
	if !l.moved {
		return
	}
	l.moved = false
	keys, locks := map[engine.LockKey]struct{}{}, 0
	err := c.each(selectLockedKeys, func(scan scan) error {
		var key engine.LockKey
		err := scan(&key)
		keys[key] = struct{}{}
		locks++
		return err
	}, fewLocks+1)
	if err == nil && locks <= fewLocks {
		l.known.Store(&keys)
	}
}
