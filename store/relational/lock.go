package relational

import (
	"time"

	"flowdrive/internal/identity"
	"flowdrive/store"
)

var lockTable = table[store.Lock]{"locks", "lock", func(l *store.Lock, to []column) []column {
	return append(to, []column{
		{"token", fixed, bits(l.Token[:])},
		{"target", fixed, (*string)(&l.On)},
		{"holder_id", fixed, (*int64)(&l.HolderID)},
		{"shared", fixed, &l.Shared},
		{"deep", fixed, &l.Deep},
		{"owner", fixed, &l.Owner},
		{"root", fixed, &l.Root},
		{"seconds", fixed, seconds{&l.Lasts}},
		{"expires", fixed, millis{&l.Expires}},
	}...)
}}

var (
	insertLock    = lockTable.insert()
	selectLocksOn = `SELECT ` + lockTable.list("") + ` FROM locks
		WHERE target IN (SELECT CAST(value AS TEXT) FROM json_each(?1)) AND expires > ?2 ORDER BY id`
	// What begins with a prefix is a range: after the slash at its end comes
	// the character "0".
	selectLocksBelow  = `SELECT ` + lockTable.list("") + ` FROM locks WHERE target > ?1 AND target < ?2 AND expires > ?3 ORDER BY id`
	selectLockByToken = `SELECT ` + lockTable.list("") + ` FROM locks WHERE token = ?1 AND expires > ?2`
)

const (
	countLocks = `SELECT count(*) FROM locks WHERE holder_id = ?1 AND expires > ?2`

	// It climbs from each document to its root: there are few, and they lie
	// a few folders deep.
	selectDocumentsBelow = `
		WITH RECURSIVE up (document, at) AS (
			SELECT value, value FROM json_each(?1)
			UNION ALL
			SELECT up.document, folder.parent_id FROM up
				JOIN documents folder ON folder.id = up.at WHERE folder.parent_id IS NOT NULL
		)
		SELECT document FROM up WHERE at = ?2`

	refreshLock       = `UPDATE locks SET seconds = ?2, expires = ?3 WHERE token = ?1`
	deleteLock        = `DELETE FROM locks WHERE token = ?1`
	deleteLocksOn     = `DELETE FROM locks WHERE target = ?1`
	deleteLocksOf     = `DELETE FROM locks WHERE holder_id = ?1`
	deleteLocksBefore = `DELETE FROM locks WHERE expires <= ?1`
	moveLocks         = `UPDATE locks SET target = ?2 WHERE target = ?1`
)

func (r *reader) locks(query string, args ...any) (all []store.Lock, err error) {
	err = lockTable.add(r.c, &all, query, args...)
	return all, Failure("read locks", err)
}

// On returns the locks on any of the keys.
func (r lockReader) On(keys []store.LockKey, now time.Time) ([]store.Lock, error) {
	if r.c.memory.locks.known.Load().none(keys) {
		return nil, nil
	}
	return r.locks(selectLocksOn, array(keys), at(now))
}

// Below returns the locks on all keys that begin with the prefix, which
// ends with a slash.
func (r lockReader) Below(prefix store.LockKey, now time.Time) ([]store.Lock, error) {
	if r.c.memory.locks.known.Load().noneBelow(prefix) {
		return nil, nil
	}
	end := prefix[:len(prefix)-1] + "0"
	return r.locks(selectLocksBelow, string(prefix), string(end), at(now))
}

// ByToken returns the lock that has the token.
func (r lockReader) ByToken(token store.UUID, now time.Time) (*store.Lock, error) {
	return lockTable.one(r.c, selectLockByToken, token[:], at(now))
}

// Count returns how many locks the holder has.
func (r lockReader) Count(holder identity.ID, now time.Time) (n int64, err error) {
	_, err = r.c.Row(countLocks, int64(holder), at(now)).Scan(&n)
	return n, Failure("count locks", err)
}

// DocumentsBelow returns the documents that are the folder or below it at any
// depth.
func (r lockReader) DocumentsBelow(folder int64, documents []int64) (below []int64, err error) {
	below, err = values[int64](r.c, selectDocumentsBelow, array(documents), folder)
	return below, Failure("find documents below a folder", err)
}

// Insert stores a new lock.
func (t lockWriter) Insert(l *store.Lock) error {
	t.c.memory.locks.move()
	err := insertLock.exec(t.c, l)
	return Failure("store a lock", err)
}

// Refresh extends a lock.
func (t lockWriter) Refresh(token store.UUID, lasts time.Duration, expires time.Time) error {
	n, err := t.c.Change(refreshLock, token[:], int64(lasts/time.Second), at(expires))
	return found(n, err, "lock")
}

// Delete deletes the lock that has the token, if there is one.
func (t lockWriter) Delete(token store.UUID) error {
	t.c.memory.locks.move()
	_, err := t.c.Exec(deleteLock, token[:])
	return Failure("delete a lock", err)
}

// DeleteOn deletes all locks on the key.
func (t lockWriter) DeleteOn(key store.LockKey) error {
	t.c.memory.locks.move()
	_, err := t.c.Exec(deleteLocksOn, string(key))
	return Failure("delete locks", err)
}

// DeleteOf deletes all locks of the holder.
func (t lockWriter) DeleteOf(holder identity.ID) error {
	t.c.memory.locks.move()
	_, err := t.c.Exec(deleteLocksOf, int64(holder))
	return Failure("delete locks", err)
}

// DeleteBefore deletes the locks that had expired by then.
func (t lockWriter) DeleteBefore(expired time.Time) error {
	t.c.memory.locks.move()
	_, err := t.c.Exec(deleteLocksBefore, at(expired))
	return Failure("delete locks", err)
}

// Move puts the locks on one key on another.
func (t lockWriter) Move(from, to store.LockKey) error {
	t.c.memory.locks.move()
	_, err := t.c.Exec(moveLocks, string(from), string(to))
	return Failure("move locks", err)
}
