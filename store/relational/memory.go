package relational

import (
	"slices"
	"strings"
	"sync/atomic"

	"flowdrive/store"
)

// memory is what changes ask for again and again, and what hardly ever
// changes itself: which locks there are, which holds, and the versions of the
// routes. It is known without a statement while there are few.
type memory struct {
	locks  memo[lockedKeys]
	holds  memo[[]store.Hold]
	stamps memo[map[int64]int64]
}

// forget says that nothing is known yet: the first commit finds out.
func (m *memory) forget() {
	m.locks.move()
	m.holds.move()
	m.stamps.move()
}

// settle finds out what has become of it in a transaction that has ended.
func (m *memory) settle(c *Conn) {
	m.locks.settle(c, readLockedKeys)
	m.holds.settle(c, readHolds)
	m.stamps.settle(c, readStamps)
}

// memo is something of the database, kept in memory. While a unit changes it
// nothing is known, and the database is asked.
type memo[T any] struct {
	known atomic.Pointer[T] // nil: nothing is known
	moved bool              // the writer's own
}

// move says that the writer is about to change it.
func (m *memo[T]) move() {
	m.known.Store(nil)
	m.moved = true
}

// settle reads the rows again after a transaction that changed them, committed
// or not. If that fails, or if there are too many rows, the database is asked
// each time until they change again.
func (m *memo[T]) settle(c *Conn, read func(*Conn) (what T, few bool, err error)) {
	if !m.moved {
		return
	}
	m.moved = false
	if what, few, err := read(c); few && err == nil {
		m.known.Store(&what)
	}
}

// few is how many rows are kept in memory, fewStamps how many of those that
// are two numbers.
const (
	few       = 256
	fewStamps = 4096
)

// lockedKeys are the keys that locks are on. There may be more keys than
// locks, as of those that have expired, never fewer.
type lockedKeys map[store.LockKey]struct{}

const selectLockedKeys = `SELECT target FROM locks LIMIT ?1`

func readLockedKeys(c *Conn) (keys lockedKeys, fit bool, err error) {
	keys = lockedKeys{}
	rows := 0
	err = c.Each(selectLockedKeys, func(scan Scan) error {
		var key store.LockKey
		err := scan(&key)
		keys[key] = struct{}{}
		rows++
		return err
	}, few+1)
	return keys, rows <= few, err
}

// none reports whether certainly none of the keys is locked.
func (k *lockedKeys) none(keys []store.LockKey) bool {
	return k != nil && !slices.ContainsFunc(keys, func(key store.LockKey) bool {
		_, locked := (*k)[key]
		return locked
	})
}

// noneBelow reports the same of all keys that begin with the prefix.
func (k *lockedKeys) noneBelow(prefix store.LockKey) bool {
	if k == nil {
		return false
	}
	for key := range *k {
		if strings.HasPrefix(string(key), string(prefix)) {
			return false
		}
	}
	return true
}

func readHolds(c *Conn) (all []store.Hold, fit bool, err error) {
	all, err = (&reader{c: c}).storedHolds()
	return all, len(all) <= few, err
}

const selectStamps = `SELECT id, version FROM routes LIMIT ?1`

// readStamps returns the versions of all routes, by id.
func readStamps(c *Conn) (stamps map[int64]int64, fit bool, err error) {
	stamps = map[int64]int64{}
	err = c.Each(selectStamps, func(scan Scan) error {
		var id, version int64
		err := scan(&id, &version)
		stamps[id] = version
		return err
	}, fewStamps+1)
	return stamps, len(stamps) <= fewStamps, err
}
