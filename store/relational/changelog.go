package relational

import (
	"slices"
	"sync"
)

// mostChanges is how many changes of cases are remembered.
const mostChanges = 4096

// changeLog remembers which cases the latest commits have changed.
type changeLog struct {
	mu     sync.Mutex
	oldest int64 // the commit before the first that is remembered
	last   int64
	cases  []changedCase // in the order of the commits
}

type changedCase struct{ commit, id int64 }

// add notes what a commit has changed. If that is too much, it and the commits before it
// are forgotten.
func (l *changeLog) add(commit int64, ids []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = commit
	for _, id := range ids {
		l.cases = append(l.cases, changedCase{commit, id})
	}
	if extra := len(l.cases) - mostChanges; extra > 0 {
		l.oldest = l.cases[extra-1].commit
		kept := slices.IndexFunc(l.cases, func(c changedCase) bool { return c.commit > l.oldest })
		if kept < 0 {
			kept = len(l.cases)
		}
		l.cases = append(l.cases[:0], l.cases[kept:]...)
	}
}

// since returns the cases that commits after one have changed, each once, by id; all says
// that this is not known: any may have changed.
func (l *changeLog) since(commit int64) (ids []int64, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if commit < l.oldest || commit > l.last {
		return nil, true
	}
	first, _ := slices.BinarySearchFunc(l.cases, commit+1, func(c changedCase, at int64) int { return int(c.commit - at) })
	for _, c := range l.cases[first:] {
		ids = append(ids, c.id)
	}
	slices.Sort(ids)
	return slices.Compact(ids), false
}

// ChangedCases returns the cases that were changed after Changes returned since, each
// once, by id, and perhaps some that were not. all says that this is not known any more.
func (db *DB) ChangedCases(since uint64) (ids []int64, all bool) {
	return db.changed.since(int64(since - db.opened)) //nolint:gosec // a number of commits
}

// Changed is ChangedCases, with what earlier units of the same commit have changed.
func (t caseWriter) Changed(since uint64) (ids []int64, all bool) {
	ids, all = t.db.ChangedCases(since)
	if all {
		return nil, true
	}
	ids = append(ids, t.earlier...)
	slices.Sort(ids)
	return slices.Compact(ids), false
}

// touch notes that the unit changes a case.
func (t *tx) touch(id int64) { t.cases = append(t.cases, id) }
