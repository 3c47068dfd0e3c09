package sqlite

import (
	"time"

	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	lockColumns = `token, target, holder_id, shared, deep, owner, root, seconds, expires`

	selectLocksOn = `SELECT ` + lockColumns + ` FROM locks
		WHERE target IN (SELECT value FROM json_each(?1)) AND expires > ?2 ORDER BY id`
	// What begins with a prefix is a range: after the slash at its end comes
	// the character "0".
	selectLocksBelow  = `SELECT ` + lockColumns + ` FROM locks WHERE target > ?1 AND target < ?2 AND expires > ?3 ORDER BY id`
	selectLockByToken = `SELECT ` + lockColumns + ` FROM locks WHERE token = ?1 AND expires > ?2`
	countLocks        = `SELECT count(*) FROM locks WHERE holder_id = ?1 AND expires > ?2`

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

	insertLock = `
		INSERT INTO locks (token, target, holder_id, shared, deep, owner, root, seconds, expires)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`
	refreshLock       = `UPDATE locks SET seconds = ?2, expires = ?3 WHERE token = ?1`
	deleteLock        = `DELETE FROM locks WHERE token = ?1`
	deleteLocksOn     = `DELETE FROM locks WHERE target = ?1`
	deleteLocksOf     = `DELETE FROM locks WHERE holder_id = ?1`
	deleteLocksBefore = `DELETE FROM locks WHERE expires <= ?1`
	moveLocks         = `UPDATE locks SET target = ?2 WHERE target = ?1`
)

func (r *reader) locks(query string, args ...any) (all []store.Lock, err error) {
	err = r.c.each(query, func(scan scan) error {
		var l store.Lock
		err := scanLock(scan, &l)
		all = append(all, l)
		return err
	}, args...)
	return all, failure("read locks", err)
}

func scanLock(scan scan, l *store.Lock) error {
	var seconds int64
	err := scan(bits(l.Token[:]), &l.On, &l.HolderID, &l.Shared, &l.Deep, &l.Owner, &l.Root, &seconds, millis{&l.Expires})
	l.Lasts = time.Duration(seconds) * time.Second
	return err
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
	l := &store.Lock{}
	found, err := r.c.row(selectLockByToken, token[:], at(now)).read(func(scan scan) error { return scanLock(scan, l) })
	if err := read(found, err, "lock"); err != nil {
		return nil, err
	}
	return l, nil
}

// Count returns how many locks the holder has.
func (r lockReader) Count(holder identity.ID, now time.Time) (n int64, err error) {
	_, err = r.c.row(countLocks, int64(holder), at(now)).scan(&n)
	return n, failure("count locks", err)
}

// DocumentsBelow returns those of the documents that are below the folder at
// any depth, or are it.
func (r lockReader) DocumentsBelow(folder int64, documents []int64) (below []int64, err error) {
	err = r.c.each(selectDocumentsBelow, func(scan scan) error {
		var id int64
		err := scan(&id)
		below = append(below, id)
		return err
	}, array(documents), folder)
	return below, failure("find documents below a folder", err)
}

// Insert stores a new lock.
func (t lockWriter) Insert(l *store.Lock) error {
	t.c.memory.locks.move()
	_, err := t.c.exec(insertLock, l.Token[:], string(l.On), int64(l.HolderID), l.Shared, l.Deep, l.Owner, l.Root,
		int64(l.Lasts/time.Second), at(l.Expires))
	return failure("store a lock", err)
}

// Refresh makes a lock last anew.
func (t lockWriter) Refresh(token store.UUID, lasts time.Duration, expires time.Time) error {
	n, err := t.c.change(refreshLock, token[:], int64(lasts/time.Second), at(expires))
	return found(n, err, "lock")
}

// Delete deletes the lock that has the token, if there is one.
func (t lockWriter) Delete(token store.UUID) error {
	t.c.memory.locks.move()
	_, err := t.c.exec(deleteLock, token[:])
	return failure("delete a lock", err)
}

// DeleteOn deletes all locks on the key.
func (t lockWriter) DeleteOn(key store.LockKey) error {
	t.c.memory.locks.move()
	_, err := t.c.exec(deleteLocksOn, string(key))
	return failure("delete locks", err)
}

// DeleteOf deletes all locks of the holder.
func (t lockWriter) DeleteOf(holder identity.ID) error {
	t.c.memory.locks.move()
	_, err := t.c.exec(deleteLocksOf, int64(holder))
	return failure("delete locks", err)
}

// DeleteBefore deletes the locks that had expired by then.
func (t lockWriter) DeleteBefore(expired time.Time) error {
	t.c.memory.locks.move()
	_, err := t.c.exec(deleteLocksBefore, at(expired))
	return failure("delete locks", err)
}

// Move puts the locks on one key on another.
func (t lockWriter) Move(from, to store.LockKey) error {
	t.c.memory.locks.move()
	_, err := t.c.exec(moveLocks, string(from), string(to))
	return failure("move locks", err)
}
