package davfs

import (
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"

	"flowdrive/internal/identity"
)

// spot is a place on the drive as one user sees it: names that are equal but
// for case, or composed otherwise, are one.
type spot struct {
	by     identity.ID
	folder string // folded path
	name   string // folded
}

// spotOf returns the spot of an address.
func spotOf(by identity.ID, a address) spot {
	if len(a.Segments) == 0 {
		return spot{by: by}
	}
	last := len(a.Segments) - 1
	return spot{by, foldedFolder(a.Segments[:last]), foldName(a.Segments[last])}
}

func foldedFolder(segments []string) string { return foldName(folderPath(segments)) }

func foldName(name string) string { return identity.Fold(norm.NFC.String(name)) }

// recent remembers for a short while what users have done to places on the
// drive. The habits of clients that it answers are a matter of seconds, so it
// is kept in memory, and bounded: what is forgotten early, by a restart too,
// costs a client a repetition and nobody any data.
type recent[T any] struct {
	now   func() time.Time
	lasts time.Duration
	most  int   // entries
	bytes int64 // that they hold together

	mu      sync.Mutex
	folders map[spot]map[string]*event[T] // by spot without name, then by name
	order   []*event[T]                   // the oldest first, spent ones among them
	held    int64                         // bytes
}

// event is what was done to a spot; a spent one holds nothing any more.
type event[T any] struct {
	spot
	at    time.Time
	what  T
	bytes int64
	spent bool
}

func newRecent[T any](now func() time.Time, lasts time.Duration, most int, bytes int64) *recent[T] {
	return &recent[T]{now: now, lasts: lasts, most: most, bytes: bytes, folders: map[spot]map[string]*event[T]{}}
}

// add remembers what was done to a spot, in the place of what was remembered
// of it and of the oldest where there is much. It holds so many bytes.
func (r *recent[T]) add(at spot, what T, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.spend(at)
	if bytes > r.bytes {
		return
	}
	for len(r.order) > 0 {
		if oldest := r.order[0]; !oldest.spent {
			if len(r.order) < r.most && r.held+bytes <= r.bytes && now.Sub(oldest.at) <= r.lasts {
				break
			}
			r.spend(oldest.spot)
		}
		r.order[0] = nil
		r.order = r.order[1:]
	}
	e := &event[T]{spot: at, at: now, what: what, bytes: bytes}
	folder := spot{by: at.by, folder: at.folder}
	if r.folders[folder] == nil {
		r.folders[folder] = map[string]*event[T]{}
	}
	r.folders[folder][at.name] = e
	r.order = append(r.order, e)
	r.held += bytes
}

// spend forgets what is remembered of a spot; the lock is held.
func (r *recent[T]) spend(at spot) {
	folder := spot{by: at.by, folder: at.folder}
	e := r.folders[folder][at.name]
	if e == nil {
		return
	}
	delete(r.folders[folder], at.name)
	if len(r.folders[folder]) == 0 {
		delete(r.folders, folder)
	}
	r.held -= e.bytes
	*e = event[T]{spent: true}
}

// find returns what is remembered of a spot.
func (r *recent[T]) find(at spot) (what T, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.folders[spot{by: at.by, folder: at.folder}][at.name]
	if e == nil || r.now().Sub(e.at) > r.lasts {
		return what, false
	}
	return e.what, true
}

// has reports whether anything is remembered of a spot.
func (r *recent[T]) has(at spot) bool {
	_, found := r.find(at)
	return found
}

// in returns what is remembered of a folder, by folded name; nil for nothing.
func (r *recent[T]) in(by identity.ID, folder string) map[string]T {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	var out map[string]T
	for name, e := range r.folders[spot{by: by, folder: folder}] {
		if now.Sub(e.at) > r.lasts {
			continue
		}
		if out == nil {
			out = map[string]T{}
		}
		out[name] = e.what
	}
	return out
}

// forget forgets what is remembered of a spot.
func (r *recent[T]) forget(at spot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spend(at)
}
