package davfs

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/davfs/dav"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// lockHolder is a node that can be locked, or whose members can.
type lockHolder interface {
	node
	lockArea() store.LockKey // what the keys of those locks begin with
}

// lockBook holds the locks that a PROPFIND may tell of: they are read with one
// question, however many resources it is about.
type lockBook struct {
	now   time.Time
	by    identity.ID
	on    map[store.LockKey][]*store.Lock
	above []*store.Lock // that cover the resource asked about, and all below it
}

// locksOf reads the locks on the node and its members.
func (x *request) locksOf(ctx context.Context, n node) (*lockBook, error) {
	book := &lockBook{now: x.wall, by: x.by.ID}
	holder, ok := n.(lockHolder)
	if !ok {
		return book, nil
	}
	locks, err := x.engine.Locks.LocksBelow(ctx, holder.lockArea())
	if err != nil {
		return nil, err
	}
	book.on = make(map[store.LockKey][]*store.Lock, len(locks))
	for i := range locks {
		l := &locks[i]
		key := l.On
		if rest, ok := strings.CutPrefix(string(key), string(store.LocksOnDocuments)); ok {
			// A document is listed by its own id, without its root's.
			key = store.LocksOnDocuments + store.LockKey(rest[strings.IndexByte(rest, '/')+1:])
			if l.Deep && x.at.below(pathAddress(l.Root)) {
				book.above = append(book.above, l)
			}
		}
		book.on[key] = append(book.on[key], l)
	}
	return book, nil
}

// addScratchLocks reads the locks on the caller's side files and drafts.
func (x *request) addScratchLocks(ctx context.Context, book *lockBook) error {
	locks, err := x.engine.Locks.LocksBelow(ctx, store.LocksOnScratchOf(x.by.ID))
	if err != nil {
		return err
	}
	if book.on == nil {
		book.on = map[store.LockKey][]*store.Lock{}
	}
	for i := range locks {
		book.on[locks[i].On] = append(book.on[locks[i].On], &locks[i])
	}
	return nil
}

// documentLock is what a document is known by in a lockBook.
func documentLock(d *store.Document) store.LockKey {
	return store.LocksOnDocuments + store.LockKey(strconv.FormatInt(d.ID, 10))
}

// supports reports whether what is described can be locked.
func (b *lockBook) supports(about *info) bool { return b != nil && b.on != nil && about.lockKey != "" }

// of returns the locks that cover what is described. inherited are those of the
// folders above it.
func (b *lockBook) of(about *info, inherited []*store.Lock) []*store.Lock {
	if !b.supports(about) {
		return nil
	}
	if own := b.on[about.lockKey]; len(own) > 0 {
		return append(slices.Clip(inherited), own...)
	}
	return inherited
}

// deep returns those of the locks that cover what is below.
func deep(locks []*store.Lock) []*store.Lock {
	return slices.DeleteFunc(slices.Clone(locks), func(l *store.Lock) bool { return !l.Deep })
}

// tell returns the locks as the caller is told of them: a token only to the
// holder of the lock.
func (b *lockBook) tell(locks []*store.Lock) []dav.ActiveLock {
	if len(locks) == 0 {
		return nil
	}
	out := make([]dav.ActiveLock, len(locks))
	for i, l := range locks {
		out[i] = activeLock(l, b.by, b.now)
	}
	return out
}

// activeLock returns a lock as a client of to is told of it.
func activeLock(l *store.Lock, to identity.ID, now time.Time) dav.ActiveLock {
	told := dav.ActiveLock{Shared: l.Shared, Deep: l.Deep, Owner: l.Owner, Timeout: l.Expires.Sub(now), Root: l.Root}
	if l.HolderID == to {
		told.Token = dav.Token(l.Token)
	}
	return told
}

// pathAddress returns the address of a path that is decoded.
func pathAddress(path string) address { return addressOf(strings.Split(strings.Trim(path, "/"), "/")) }

func (n documentsFolder) lockArea() store.LockKey { return store.LocksOnDocuments }
func (n documentPath) lockArea() store.LockKey    { return store.LocksOnDocuments }
func (n documentTarget) lockArea() store.LockKey  { return store.LocksOnDocuments }
func (n scheduleFolder) lockArea() store.LockKey  { return store.LocksOnEntries }
func (n entryFile) lockArea() store.LockKey       { return store.LocksOnEntries }
func (n casesFolder) lockArea() store.LockKey     { return store.LocksOnCases }
func (n caseFile) lockArea() store.LockKey        { return store.LocksOnCases }
func (n routesFolder) lockArea() store.LockKey    { return store.LocksOnRoutes }
func (n routeFile) lockArea() store.LockKey       { return store.LocksOnRoutes }
func (n actionsFolder) lockArea() store.LockKey   { return store.LocksOnTasksOf(n.id) }
func (n actionFile) lockArea() store.LockKey      { return store.LocksOnTasksOf(n.id) }
func (n timersFolder) lockArea() store.LockKey    { return store.LocksOnTimersOf(n.id) }
func (n timerFile) lockArea() store.LockKey       { return store.LocksOnTimersOf(n.id) }
func (n labelsFolder) lockArea() store.LockKey    { return store.LocksOnLabelsOf(n.id) }
func (n labelFile) lockArea() store.LockKey       { return store.LocksOnLabelsOf(n.id) }
