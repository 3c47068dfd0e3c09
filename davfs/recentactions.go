package davfs

import (
	"strings"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"

	"flowdrive/internal/identity"
)

// userPath is a path of the drive as one user sees it. Names that differ only in
// case or Unicode normal form are one.
type userPath struct {
	by     identity.ID
	folder string // folded path
	name   string // folded
}

// userPathOf returns the address as the user sees it.
func userPathOf(by identity.ID, a address) userPath {
	if len(a.Segments) == 0 {
		return userPath{by: by}
	}
	last := len(a.Segments) - 1
	at := userPath{by, foldedFolder(a.Segments[:last]), foldName(a.Segments[last])}
	if stem, isYML := strings.CutSuffix(at.name, ".yml"); isYML && at.folder == routesPath {
		at.name = stem + ".yaml"
	}
	return at
}

// routesPath is the folded path of Routes/, where a name that ends with .yml is another
// spelling of that with .yaml: what is done at one is done at the other.
const routesPath = "/dav/workflow/routes"

// userPath returns the address of the request as its caller sees it.
func (x *request) userPath() userPath { return userPathOf(x.by.ID, x.at) }

func foldedFolder(segments []string) string { return foldName(folderPath(segments)) }

func foldName(name string) string { return identity.Fold(norm.NFC.String(name)) }

// recentActions keeps for a short time what users have done at paths of the
// drive. Clients act on it within seconds, so that it is in memory and bounded:
// an action that is dropped early, or by a restart, costs a client a repetition
// and no user any data.
type recentActions[T any] struct {
	now      func() time.Time
	lifetime time.Duration
	most     int   // entries
	bytes    int64 // that they hold together

	mu      sync.Mutex
	folders map[userPath]map[string]*recentAction[T] // by path without name, then by name
	order   []*recentAction[T]                       // the oldest first, dropped ones among them
	held    int64                                    // bytes
}

// recentAction is what was done at a path. A dropped one holds nothing.
type recentAction[T any] struct {
	userPath
	at      time.Time
	what    T
	bytes   int64
	dropped bool
}

func newRecentActions[T any](now func() time.Time, lifetime time.Duration, most int, bytes int64) *recentActions[T] {
	return &recentActions[T]{now: now, lifetime: lifetime, most: most, bytes: bytes, folders: map[userPath]map[string]*recentAction[T]{}}
}

// add records what was done at a path, replacing an earlier record. If there are
// too many it drops the oldest. bytes is the size that counts against the limit;
// one above it is not recorded.
func (r *recentActions[T]) add(at userPath, what T, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.drop(at)
	if bytes > r.bytes {
		return
	}
	for len(r.order) > 0 {
		if oldest := r.order[0]; !oldest.dropped {
			if len(r.order) < r.most && r.held+bytes <= r.bytes && now.Sub(oldest.at) <= r.lifetime {
				break
			}
			r.drop(oldest.userPath)
		}
		r.order[0] = nil
		r.order = r.order[1:]
	}
	e := &recentAction[T]{userPath: at, at: now, what: what, bytes: bytes}
	folder := userPath{by: at.by, folder: at.folder}
	if r.folders[folder] == nil {
		r.folders[folder] = map[string]*recentAction[T]{}
	}
	r.folders[folder][at.name] = e
	r.order = append(r.order, e)
	r.held += bytes
}

// drop removes the record of a path. The mutex is locked.
func (r *recentActions[T]) drop(at userPath) {
	folder := userPath{by: at.by, folder: at.folder}
	e := r.folders[folder][at.name]
	if e == nil {
		return
	}
	delete(r.folders[folder], at.name)
	if len(r.folders[folder]) == 0 {
		delete(r.folders, folder)
	}
	r.held -= e.bytes
	*e = recentAction[T]{dropped: true}
}

// find returns what was done at a path, if it was not too long ago.
func (r *recentActions[T]) find(at userPath) (what T, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.folders[userPath{by: at.by, folder: at.folder}][at.name]
	if e == nil || r.now().Sub(e.at) > r.lifetime {
		return what, false
	}
	return e.what, true
}

// has reports whether something was done at a path.
func (r *recentActions[T]) has(at userPath) bool {
	_, found := r.find(at)
	return found
}

// in returns what was done in a folder, by folded name; nil for nothing.
func (r *recentActions[T]) in(by identity.ID, folder string) map[string]T {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	var out map[string]T
	for name, e := range r.folders[userPath{by: by, folder: folder}] {
		if now.Sub(e.at) > r.lifetime {
			continue
		}
		if out == nil {
			out = map[string]T{}
		}
		out[name] = e.what
	}
	return out
}

// forget removes the record of a path.
func (r *recentActions[T]) forget(at userPath) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(at)
}
